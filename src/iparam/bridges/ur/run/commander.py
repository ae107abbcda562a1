"""`Commander`: carries out commands on a controller, and nothing for longer than somebody watches the arm.

The chain of watches, of which every link ends the motion by itself when the one before it is silent for the same time:

1. The guard, in the parent process, looks at the arm and proves it with a beat after every look.
2. The commander sends the controller something only as long as the beats come; otherwise it stops the arm.
3. The controller ends the program, which stops the arm, when the commander sends nothing (rtde_set_watchdog, which
   ur_rtde's setWatchdog calls).

So it does not matter why a link hangs: a stopped process, a debugger, a computer that sleeps, a network that is gone.

With a controller that has simulated time, which only `make ur-simulator` has, all of this counts on that clock, and
the commander tells it how far it may go on: a computer that is late makes it wait. See
`iparam.bridges.ur.rtde.simulated_time`.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.client import RtdeStream
from iparam.bridges.ur.rtde.simulated_time import LOST, RUN_UNTIL, SIMULATED_TIME
from iparam.bridges.ur.run.dead_mans_switch import DeadMansSwitch, now

STOP_TIME = 3.0
"""Time in which the arm has to be stopped; a process that hangs in the library ends itself then [s]."""

LONGEST_PAUSE = 0.02
"""Between two packages to the controller, and between two reports to the parent [s]; less for a strict guard."""

MOST_AT_ONCE = 5
"""Set points by which the motion may advance at once."""

AHEAD = 3
"""Periods that simulated time may run ahead of this process: fewer than it can make up for at once."""

_PLAYING = 2  # runtime_state of a program that runs


class Emit(Protocol):
    """Tells the parent what happened; never waits for it."""

    def __call__(self, event: str, **entries: Any) -> None:
        """Send an event."""


class Commander:
    """Carries out commands one after the other; `tick` keeps alive what they began.

    Args:
        emit: tells the parent.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._control: Any = None
        self._host = ""
        self._table: list[list[float]] = []
        self._lookahead = self._gain = 0.0
        self._pace: RtdeStream | None = None
        self._moving = False
        self._index: int | None = None  # of the set point that was sent last
        self._played = False
        self._sent = 0.0
        self._simulated: float | None = None  # the controller's time, of one that has simulated time [s]
        self._until = 0.0
        self._writing = threading.Lock()

    @property
    def watched(self) -> bool:
        """Whether `watch` was commanded, so that `tick` has to be called all the time."""
        return self._pace is not None

    def beat(self, time: float) -> None:
        """The guard looked at the arm at that ``time`` [s]; may be called from another thread."""
        if self.watched:
            self._guard.sign(time)
            self._let_on()

    def carry_out(self, command: dict[str, Any]) -> None:
        """Do what a command says."""
        name = command.pop("command")
        if name not in ("connect", "load", "watch", "move", "servo", "set_payload"):
            raise ValueError(f"unknown command {name!r}")
        if name in ("move", "servo") and not self.watched:
            raise ValueError(f"{name} without a guard")
        getattr(self, name)(**command)

    def connect(self, host: str) -> None:
        """Upload the control program to the controller and start it."""
        import rtde_control

        self._host = host
        self._control = rtde_control.RTDEControlInterface(host)
        self._emit("connected")

    def load(self, table: list[list[float]], lookahead: float, gain: float) -> None:
        """Take the set points for `servo`; before anything moves, because it takes a while."""
        self._table, self._lookahead, self._gain = table, lookahead, gain
        self._emit("loaded")

    def watch(self, silence: float) -> None:
        """From now on nothing goes on for longer than ``silence`` [s] without the guard, this process or the network.

        The controller's own packages set the pace: set points neither pile up nor run dry when the two clocks differ.
        They also tell that the program still is the one that has the watchdog: ur_rtde starts it anew, without one,
        when its connection was lost.
        """
        pace = RtdeStream.open(self._host, ("runtime_state",), (SIMULATED_TIME,))
        if not self._control.setWatchdog(1.0 / silence):
            pace.close()
            raise RuntimeError("the controller did not take the watchdog")
        self._period = 1.0 / pace.rate
        self._pause = min(LONGEST_PAUSE, silence / 5.0)
        self._patience = silence / 2.0
        if SIMULATED_TIME in pace.columns:
            self._simulated = float(_first(pace)[pace.columns[SIMULATED_TIME]][0])
            pace.claim((RUN_UNTIL,))
        begin = self._now()
        self._guard, self._self = (DeadMansSwitch(silence, begin) for _ in range(2))
        self._controller = DeadMansSwitch(silence if self._simulated is None else LOST, now())
        self._pace = pace
        self._let_on()
        self._emit("watching", time=begin)

    def move(self, q: list[float], speed: float, acceleration: float) -> None:
        """Begin to move to a pose, in a straight line in joint space. Whoever looks at the arm sees when it arrives."""
        self._moving = True
        if not self._control.moveJ(q, speed, acceleration, True):
            raise RuntimeError("the controller did not take the command to move")

    def servo(self) -> None:
        """Begin to play the set points, one a cycle of the controller; the last one is held until the stop."""
        if not self._table:
            raise ValueError("servo without set points")
        self._moving, self._played = False, False
        self._send_set_point(0)

    def set_payload(self, mass: float, center: list[float], inertia: list[float] | None) -> None:
        """Tell the controller what hangs on the flange."""
        sent = (
            self._control.setPayload(mass, center)
            if inertia is None
            else self._control.setTargetPayload(mass, center, inertia)
        )
        if not sent:
            raise RuntimeError("the controller did not take the payload")
        self._emit("payload_sent")

    def tick(self) -> None:
        """Wait for the controller's next package, look whether everybody is there, and send what is due."""
        assert self._pace is not None  # see `watched`
        rows = self._pace.read(self._patience)
        if self._simulated is not None and len(rows):
            self._simulated = float(rows[-1, self._pace.columns[SIMULATED_TIME]][0])
        self._check(rows)
        if self._index is not None and len(rows):
            # What this process missed is caught up by a few set points at most: a late one must not become a jump.
            self._send_set_point(self._index + min(len(rows), MOST_AT_ONCE))
        elif self._now() - self._sent >= self._pause:
            if not self._control.kickWatchdog():
                raise RuntimeError("the program on the controller does not answer")
            self._report("alive")
        self._let_on()

    def stop(self) -> None:
        """Bring the arm to rest and end the program on the controller."""
        if self._simulated is not None and self._pace is not None:
            self._pace.write({RUN_UNTIL: float("inf")})  # nothing is waited for any more
        if self._control is not None:
            if self._moving or self._index is not None:
                # Braking may take longer than the guard's time, and the library sends nothing meanwhile.
                self._control.setWatchdog(1.0 / STOP_TIME)
            if self._index is not None:
                self._control.servoStop()
            elif self._moving:
                self._control.stopJ()
            self._control.stopScript()
            self._control.disconnect()
        self._emit("stopped")

    def _check(self, rows: FloatArray) -> None:
        assert self._pace is not None  # see `watched`
        at, wall = self._now(), now()
        self._self.sign(at)
        if len(rows):
            self._controller.sign(wall)
        for switch, when, who in (
            (self._self, at, "the process that commands the arm was held up"),
            (self._guard, at, "the guard did not look at the arm"),
            (self._controller, wall, "the controller sent nothing to the process that commands the arm"),
        ):
            if switch.tripped(when):
                raise RuntimeError(
                    f"{who} for {1e3 * switch.silence(when):.0f} ms; the limit is {1e3 * switch.limit:.0f} ms"
                )
        if np.any(rows[:, self._pace.columns["runtime_state"]] != _PLAYING):
            raise RuntimeError("the program on the controller was stopped or paused")

    def _send_set_point(self, number: int) -> None:
        last = len(self._table) - 1
        self._index = min(number, last)
        if not self._control.servoJ(self._table[self._index], 0.0, 0.0, self._period, self._lookahead, self._gain):
            raise RuntimeError("the controller did not take a set point: its program has stopped")
        if self._index == last and not self._played:
            self._played = True
            self._report("played")
        elif self._index == 0 or self._now() - self._sent >= self._pause:
            self._report("progress", index=self._index)

    def _report(self, event: str, **entries: Any) -> None:
        self._sent = self._now()
        self._emit(event, time=self._sent, **entries)

    def _now(self) -> float:
        """The time that silences count in [s]."""
        return now() if self._simulated is None else self._simulated

    def _let_on(self) -> None:
        """Tell simulated time how far it may go: no further than this process and the guard can follow."""
        if self._simulated is None or self._pace is None:
            return
        until = min(self._simulated + AHEAD * self._period, self._guard.last + self._patience)
        with self._writing:
            if until > self._until:
                self._until = until
                self._pace.write({RUN_UNTIL: until})


def _first(stream: RtdeStream) -> FloatArray:
    """The first row of a stream that has just begun."""
    rows = stream.read(LOST)
    if not len(rows):
        raise RuntimeError(f"the controller sent nothing for {LOST:g} s")
    return np.asarray(rows[-1])
