"""`ArmMotion`: commands an arm through a process of its own, `command_process`, and hears from it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from iparam.arrays import FloatArray
from iparam.child_process import python_command, safe_path_variables
from iparam.errors import IparamError, MissingExtraError

CONNECT_TIME = 20.0
"""Time for the control program to start on the controller [s]."""

STOP_TIME = 6.0
"""Time for the process to stop the arm and end; afterwards it is killed, and the controller ends its program [s]."""

BEATS = 10
"""Proofs that the guard looks, in the time that it may be silent: so few that they cannot fill a pipe."""

PORTS = (29999, 30003, 30004)
"""Of the controller that ur_rtde connects to: dashboard, scripts, RTDE."""

LOOKAHEAD, GAIN = 0.05, 300.0
"""Of the controller's servo: how far it looks ahead to smooth the set points [s], and how hard it follows them."""


NEWEST_PYTHON = (3, 12)
"""That ur_rtde has wheels for, as in the extra ``ur`` of pyproject.toml."""


class ArmCommandError(IparamError):
    """A controller does not take commands; the message says what to look at."""


def require_ur_rtde() -> None:
    """Raise if the library that commands UR arms is not installed, and say where it can be."""
    if find_spec("rtde_control") is None:
        present = sys.version_info[:2]
        hint = "" if present <= NEWEST_PYTHON else " with Python {}.{} or older: for {}.{} there is no wheel of it"
        raise MissingExtraError("ur_rtde", "ur", hint.format(*NEWEST_PYTHON, *present))


class ArmMotion:
    """A connection that moves an arm. Leaving the ``with`` block stops the arm, whatever happened in it.

    Args:
        host: of the controller.

    Attributes:
        progress: number of the last set point that was reported as sent, and when [s, as in `beat`]; None before.
        played: whether all set points of the last `servo` have been sent.
        fault: what went wrong in the process, None if nothing has.
    """

    def __init__(self, host: str) -> None:
        require_ur_rtde()
        self._host = host
        self._happened: set[str] = set()
        self._words: deque[str] = deque(maxlen=20)
        self._heard: float | None = None
        self._allowed = self._beaten = 0.0
        self._change = threading.Condition()
        self.progress: tuple[int, float] | None = None
        self.played = False
        self.fault: str | None = None
        self._process = subprocess.Popen(
            python_command("iparam.bridges.ur.run.command_process"),
            env={**os.environ, **safe_path_variables()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # the terminal's Ctrl-C does not reach it
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._listen, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def connect(self) -> None:
        """Start the control program on the controller."""
        self._send("connect", host=self._host)
        if not self._wait("connected", CONNECT_TIME):
            reason = self.fault or f"no answer within {CONNECT_TIME:g} s"
            raise ArmCommandError(
                f"{self._host} does not take commands: {reason.rstrip('.')}. Is the arm on and its brakes released, is "
                "Remote Control chosen at the top right of the teach pendant, and are the ports "
                f"{', '.join(map(str, PORTS))} allowed?"
            )

    def load(self, table: FloatArray) -> None:
        """Hand over the set points (T, 6) [rad] that `servo` is to play."""
        self._send("load", table=table.tolist(), lookahead=LOOKAHEAD, gain=GAIN)
        self._await("loaded", "take the motion")

    def watch(self, silence: float) -> None:
        """Begin the watch without which nothing moves: from now on the arm stops if `beat` is not called all the time.

        Args:
            silence: time without a beat, or without a command to the controller, after which it stops [s].
        """
        self._allowed = silence
        self._send("watch", silence=silence)
        self._await("watching", "let itself be watched")

    def beat(self, looked: float) -> None:
        """Prove that the guard ``looked`` at the arm at that time [s]: to be called by it alone, after every look.

        The time is that of `dead_mans_switch.now`, or of a controller that has simulated time.
        """
        if looked - self._beaten >= self._allowed / BEATS:
            self._beaten = looked
            self._send("beat", time=looked)

    @property
    def heard(self) -> float | None:
        """When the process last reported [s], on the same clock as `beat`; None before the `watch`."""
        return self._heard

    def move(self, q: FloatArray, speed: float, acceleration: float) -> None:
        """Begin to move to a pose (6,) [rad], in a straight line in joint space, at most so fast [rad/s, rad/s^2]."""
        self._send("move", q=q.tolist(), speed=speed, acceleration=acceleration)

    def servo(self) -> None:
        """Begin to play the set points, one a cycle of the controller; see `progress` and `played`."""
        self.progress, self.played = None, False
        self._send("servo")

    def set_payload(self, mass: float, center: FloatArray, inertia: FloatArray | None) -> None:
        """Set the controller's payload, and wait until it has been told.

        Args:
            mass: [kg].
            center: (3,) of gravity, in the flange's axes from its middle [m].
            inertia: (6,) Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of gravity, in the flange's axes [kg m^2]; None
                leaves it as it is.
        """
        rest = None if inertia is None else inertia.tolist()
        self._send("set_payload", mass=mass, center=center.tolist(), inertia=rest)
        self._await("payload_sent", "take the payload")

    def close(self) -> None:
        """Stop the arm, end the program on the controller and the process. Nothing happens the second time."""
        if self._process.poll() is None:
            self._send("stop")
            with contextlib.suppress(OSError):
                self._process.stdin.close()  # type: ignore[union-attr]
            try:
                self._process.wait(STOP_TIME)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def stopped(self) -> bool:
        """Whether the process has told the controller to stop, and had an answer; see `playback.comes_to_rest`."""
        return "stopped" in self._happened

    def __enter__(self) -> ArmMotion:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, command: str, **entries: Any) -> None:
        try:
            self._process.stdin.write(json.dumps({"command": command, **entries}) + "\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except (OSError, ValueError):
            self._note_fault("the process that commands the arm has ended")

    def _await(self, event: str, what: str) -> None:
        if not self._wait(event, CONNECT_TIME):
            raise ArmCommandError(f"{self._host} did not {what}: {self.fault or 'no answer'}")

    def _wait(self, event: str, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        with self._change:
            while event not in self._happened and self.fault is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0.0:
                    return False
                self._change.wait(remaining)
            return event in self._happened

    def _listen(self) -> None:
        for line in self._process.stdout:  # type: ignore[union-attr]
            event = json.loads(line)
            name = event["event"]
            with self._change:
                self._happened.add(name)
                if "time" in event:
                    self._heard = float(event["time"])
                if name == "progress":
                    self.progress = int(event["index"]), float(event["time"])
                elif name == "played":
                    self.played = True
                elif name == "error" and self.fault is None:
                    self.fault = str(event["message"])
                self._change.notify_all()
        code = self._process.wait()
        if not self.stopped:
            said = f": {self._words[-1]}" if self._words else ""
            self._note_fault(f"the process that commands the arm ended with code {code}{said}")

    def _read_errors(self) -> None:
        for line in self._process.stderr:  # type: ignore[union-attr]
            if line.strip():
                self._words.append(line.strip())

    def _note_fault(self, text: str) -> None:
        with self._change:
            self.fault = self.fault or text
            self._change.notify_all()
