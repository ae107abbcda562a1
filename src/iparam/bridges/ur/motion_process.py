"""The process that commands an arm: ``python -m iparam.bridges.ur.motion_process``, started by `ArmMotion`.

ur_rtde is a C++ library that may block or end its process when a connection breaks. Here it can do so without harm to
the recording, which is its parent's. Commands come as JSON lines on standard input, events go out as JSON lines on
standard output:

    {"command": "connect", "host": ...}                                  -> {"event": "connected"}
    {"command": "move", "q": [6], "speed": rad/s, "acceleration": ...}   -> {"event": "moving"}
    {"command": "servo", "table": [[6], ...], "lookahead": s, "gain": .} -> {"event": "progress", ...} .. "played"
    {"command": "set_payload", "mass": ..., "center": [3], "inertia": [6] or null}    -> {"event": "payload_sent"}
    {"command": "stop"}                                                  -> {"event": "stopped"}, and the process ends

When standard input ends, which it does when the parent dies, the arm is stopped in the same way. Any fault gives
{"event": "error", "message": ...}.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import IO, Any

STOP_TIME = 3.0
"""Time in which the arm has to be stopped; a process that hangs in the library ends itself then [s]."""

PROGRESS_EVERY = 10
"""Set points between two reports."""

MOST_AT_ONCE = 5
"""Set points by which the motion may advance at once."""

SILENCE = 0.5
"""Time without a package from the controller after which the motion is given up [s]."""


class Commander:
    """Carries out commands, one after the other; `stopping` ends what it is doing.

    Args:
        events: where the events go.
    """

    def __init__(self, events: IO[str]) -> None:
        self._events = events
        self._control: Any = None
        self._host = ""
        self._doing = ""
        self.stopping = threading.Event()

    def emit(self, event: str, **entries: Any) -> None:
        """Send an event."""
        self._events.write(json.dumps({"event": event, **entries}) + "\n")
        self._events.flush()

    def carry_out(self, command: dict[str, Any]) -> None:
        """Do what a command says."""
        name = command.pop("command")
        if name not in ("connect", "move", "servo", "set_payload"):
            raise ValueError(f"unknown command {name!r}")
        getattr(self, name)(**command)

    def connect(self, host: str) -> None:
        """Upload the control program to the controller and start it."""
        import rtde_control

        self._host = host
        self._control = rtde_control.RTDEControlInterface(host)
        self.emit("connected")

    def move(self, q: list[float], speed: float, acceleration: float) -> None:
        """Begin to move to a pose, in a straight line in joint space. Whoever looks at the arm sees when it arrives."""
        self._doing = "move"
        if not self._control.moveJ(q, speed, acceleration, True):
            raise RuntimeError("the controller did not take the command to move")
        self.emit("moving")

    def servo(self, table: list[list[float]], lookahead: float, gain: float) -> None:
        """Send a table of set points, one a cycle of the controller.

        The controller's own packages set the pace: set points neither pile up nor run dry when the two clocks differ.
        What this process missed is caught up by a few set points at most: a late one must not become a jump.
        """
        from iparam.bridges.ur.rtde_client import RtdeStream

        self._doing = "servo"
        with RtdeStream.open(self._host, ("timestamp",)) as pace:
            period = 1.0 / pace.rate
            pace.read(SILENCE)  # what has come since the connection is no measure
            index, heard, reported = 0, time.monotonic(), -PROGRESS_EVERY
            while index < len(table) and not self.stopping.is_set():
                if not self._control.servoJ(table[index], 0.0, 0.0, period, lookahead, gain):
                    raise RuntimeError("the controller did not take a set point: its program has stopped")
                if index - reported >= PROGRESS_EVERY:
                    self.emit("progress", index=index, time=time.monotonic())
                    reported = index
                cycles = len(pace.read(SILENCE))
                now = time.monotonic()
                if cycles:
                    index, heard = index + min(cycles, MOST_AT_ONCE), now
                elif now - heard > SILENCE:
                    raise RuntimeError(f"the controller has sent nothing for {SILENCE:g} s")
        if not self.stopping.is_set():
            self._control.servoStop()
            self._doing = ""
            self.emit("played")

    def set_payload(self, mass: float, center: list[float], inertia: list[float] | None) -> None:
        """Tell the controller what hangs on the flange."""
        sent = (
            self._control.setPayload(mass, center)
            if inertia is None
            else self._control.setTargetPayload(mass, center, inertia)
        )
        if not sent:
            raise RuntimeError("the controller did not take the payload")
        self.emit("payload_sent")

    def stop(self) -> None:
        """Bring the arm to rest and end the program on the controller."""
        if self._control is not None:
            if self._doing == "servo":
                self._control.servoStop()
            elif self._doing == "move":
                self._control.stopJ()
            self._control.stopScript()
            self._control.disconnect()
        self.emit("stopped")


def main() -> int:
    """Serve the parent until it says stop or goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it decides in which order things stop
    # The library prints to standard output: its words go to standard error, the events have the pipe for themselves.
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    commander = Commander(events)
    commands: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def stop_soon() -> None:
        commander.stopping.set()
        commands.put(None)
        deadline = threading.Timer(STOP_TIME, os._exit, (3,))
        deadline.daemon = True
        deadline.start()

    def listen() -> None:
        for line in sys.stdin:
            command = json.loads(line)
            if command["command"] == "stop":
                break
            commands.put(command)
        stop_soon()

    signal.signal(signal.SIGTERM, lambda number, frame: stop_soon())
    threading.Thread(target=listen, daemon=True).start()
    failed = False
    try:
        while (command := commands.get()) is not None:
            commander.carry_out(command)
    except BrokenPipeError:
        failed = True  # nobody is left to tell
    except Exception as error:
        failed = True
        _tell(commander, "error", message=f"{error}" or type(error).__name__)
    try:
        commander.stop()
    except Exception as error:
        failed = True
        _tell(commander, "error", message=f"the arm could not be told to stop: {error}")
    return int(failed)


def _tell(commander: Commander, event: str, **entries: Any) -> None:
    try:
        commander.emit(event, **entries)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), commander._events.fileno())  # what is left in the buffer goes nowhere


if __name__ == "__main__":
    # Without the interpreter's clean-up: threads of the library may hang in it.
    code = main()
    sys.stderr.flush()
    os._exit(code)
