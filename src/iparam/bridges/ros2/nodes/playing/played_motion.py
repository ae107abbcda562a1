"""`PlayedMotion`: one motion, from its start until the arm is known to be at rest. It says when a stop is a stop.

A motion goes to the controller by one channel, and is stopped by that one, whatever appears or disappears meanwhile. It
is over when the controller says so and joint states do not show the contrary, or when the arm stands where an arm that
plays it would have moved on.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.arm_sight import STILL, STILL_TIME, ArmSight

CONFIRM_TIME = 3.0
"""Time for a stop to be confirmed, after `stop_time` [s]: what the controller may take to answer, 1 s, and what an arm
that goes on may stand at the start: a lead of 0.5 s, and up to 1 s for a motion of 10 s to leave it by 0.025 rad."""


class Channel(Protocol):
    """How one motion went to the controller, and how it is stopped.

    Attributes:
        name: in words.
        reports: whether the controller says how the motion ends.
        begun: when the controller took the motion [s]; None if it has not, as far as is known.
        ended: how the motion ended by the controller's word, "" for well; None if it has not said so.
        refused: whether the controller refused the last request to stop.
    """

    name: str
    reports: bool
    begun: float | None
    ended: str | None
    refused: bool

    @property
    def alive(self) -> bool:
        """Whether there is a controller on the other side."""

    def stop(self) -> None:
        """Ask the controller to stop."""


class Phase(enum.Enum):
    """How far a motion is; the value is for programs."""

    MOVING = "moving"
    STOPPING = "stopping"
    UNKNOWN = "may still move"
    FINISHED = "finished"
    STOPPED = "stopped"
    ABORTED = "aborted"


@dataclass(frozen=True, eq=False)
class Path:
    """What a motion does.

    Attributes:
        time: (T,) from its start [s], increasing.
        q: (T, n) [rad].
        dq: (T, n) [rad/s].
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray

    def longest_stay(self, q: FloatArray, distance: float) -> float:
        """The longest time in one piece for which the motion keeps all joints within ``distance`` of q (n,) [s].

        Counted from the point before to the point after, so that it is never too short.
        """
        near = np.flatnonzero((np.abs(self.q - q) <= distance).all(axis=1))
        if not near.size:
            return float(np.diff(self.time, prepend=0.0).max())
        runs = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
        last = self.time.size - 1
        return max(float(self.time[min(run[-1] + 1, last)] - self.time[max(run[0] - 1, 0)]) for run in runs)


class PlayedMotion:
    """One motion.

    Args:
        name: what the arm does, e.g. "playing".
        channel: that it went by.
        path: what it does.
        tolerance: distance of a joint from the motion, at most, while the arm plays it [rad].
        stop_time: that braking takes [s].
        at: when it was sent [s].

    Attributes:
        phase: how far it is.
        state: the same for people.
    """

    def __init__(self, name: str, channel: Channel, path: Path, tolerance: float, stop_time: float, at: float) -> None:
        self.channel, self.path = channel, path
        self.phase, self.state = Phase.MOVING, name
        self._tolerance, self._stop_time = tolerance, stop_time
        self._sent = at
        self._asked: float | None = None
        self._told: float | None = None  # when the controller was first seen to have ended it

    @property
    def over(self) -> bool:
        """Whether the arm is known not to play it any more."""
        return self.phase in (Phase.FINISHED, Phase.STOPPED, Phase.ABORTED)

    def planned(self, at: float) -> tuple[FloatArray, FloatArray] | None:
        """Angles and velocities (n,) that the arm should have at a time; None while it does not play."""
        time = at - (self._sent if self.channel.begun is None else self.channel.begun)
        if time > self.path.time[-1]:
            return None
        q, dq = ([np.interp(time, self.path.time, joint) for joint in part.T] for part in (self.path.q, self.path.dq))
        return np.array(q), np.array(dq)

    def stop(self, at: float) -> None:
        """Ask the controller to stop, again if need be; `look` finds out whether the arm does."""
        if self.phase is not Phase.STOPPING:  # else whoever asks again and again would never be answered
            self._asked = at
        self._now(Phase.STOPPING, "stopping")
        self.channel.stop()

    def look(self, at: float, arm: ArmSight) -> None:
        """Find out how far it is."""
        if self.over:
            return
        channel, left = self.channel, self._has_left(at, arm)
        if channel.ended is not None and self._told is None:
            self._told = at
        told = channel.ended is not None and (arm.at_rest(at) or not arm.fresh(at))
        if self._asked is None:
            if told or (not channel.reports and at >= self._until and left):
                ended = (Phase.ABORTED, f"aborted: {channel.ended}") if channel.ended else (Phase.FINISHED, "finished")
                self._now(*ended)
            elif self._told is not None:
                if at - self._told >= self._stop_time + CONFIRM_TIME:
                    self._now(Phase.UNKNOWN, f"may still move: {self._why(at, arm)}")
            elif left and (not channel.alive or self.phase is Phase.UNKNOWN):
                self._now(Phase.ABORTED, "aborted: the controller is gone; the arm stands still")
            elif not channel.alive:
                self._now(Phase.UNKNOWN, "may still move: the controller is gone")
            return
        waited = at - self._asked
        late = waited >= self._stop_time + (0.0 if channel.refused else CONFIRM_TIME)
        if (left and waited >= STILL_TIME) or (late and told):
            self._now(Phase.STOPPED, "stopped")
        elif late:
            self._now(Phase.UNKNOWN, f"may still move: {self._why(at, arm)}")

    @property
    def _until(self) -> float:
        """When it would be over."""
        begun = self._sent if self.channel.begun is None else self.channel.begun
        return begun + float(self.path.time[-1])

    def _has_left(self, at: float, arm: ArmSight) -> bool:
        """Whether the arm stands still and does not play it: it has stood there for longer than the motion does."""
        if arm.q is None or not arm.at_rest(at):
            return False
        if at >= self._until:
            return True
        if self.channel.begun is None:  # the controller may take it at any moment
            return False
        stood = min(arm.still_for(at), at - self.channel.begun)
        return stood > self.path.longest_stay(arm.q, self._tolerance + STILL)

    def _now(self, phase: Phase, state: str) -> None:
        self.phase, self.state = phase, state

    def _why(self, at: float, arm: ArmSight) -> str:
        """Why a stop is not confirmed."""
        channel = self.channel
        if channel.refused:
            word = "the controller refused to stop"
        elif channel.ended is not None:
            word = "the controller says that it has stopped"
        elif not channel.alive:
            word = "the controller is gone"
        else:
            word = "the controller has not confirmed the stop" if channel.reports else "the controller was told to stop"
        if not arm.fresh(at):
            return f"{word}, and joint_states has ceased"
        if not arm.at_rest(at):
            return f"{word}, and the arm moves"
        return f"{word}, and the arm stands where the motion itself would stand for a while"
