"""What runs on the twin's controller, one step a period: `Program`, and the motions that it can plan, set points of
the joints, one a step of the physics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError


class ProgramError(IparamError):
    """A program asked for something that cannot be, or that the twin does not model: it ends, and the arm brakes."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program.

    Attributes:
        name: that the dashboard shows.
        steps: gives control back once a period; its end is the program's.
    """

    name: str
    steps: Iterator[None]


PERIOD = 0.002
"""Of the controller of an e-Series arm [s]."""

LARGEST_ACCELERATION = 40.0
"""Of the set points under servoj and speedj; what the drives of an arm of this size reach [rad/s^2]."""


@dataclass(frozen=True, eq=False)
class SetPoint:
    """Where the joints are to be: q [rad], dq [rad/s] and ddq [rad/s^2], (6,) each."""

    q: FloatArray
    dq: FloatArray
    ddq: FloatArray

    @classmethod
    def at_rest(cls, q: FloatArray) -> SetPoint:
        """Standing at q (6,) [rad]."""
        return cls(q, np.zeros_like(q), np.zeros_like(q))


class Motion(ABC):
    """A rule for the next set point.

    Attributes:
        done: whether the arm is to stand still from now on, as far as this motion is concerned.
    """

    done = False

    @abstractmethod
    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The set point ``step`` [s] after ``now``."""


class Hold(Motion):
    """Stand still where the set point is."""

    done = True

    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The same place at rest."""
        return SetPoint.at_rest(now.q) if now.dq.any() or now.ddq.any() else now


class Brake(Motion):
    """Come to rest along the present direction; the fastest joint decelerates at ``deceleration`` [rad/s^2]."""

    def __init__(self, deceleration: float) -> None:
        self._deceleration = deceleration

    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The next set point."""
        speed = float(np.abs(now.dq).max())
        if speed <= self._deceleration * step:
            self.done = True
            return SetPoint.at_rest(now.q + 0.5 * step * now.dq)
        ddq = -self._deceleration / speed * now.dq
        return SetPoint(now.q + step * now.dq + 0.5 * step**2 * ddq, now.dq + step * ddq, ddq)


class MoveJ(Motion):
    """From rest to rest on a straight line in joint space, with a trapezoidal speed.

    Args:
        start: (6,) where the arm stands [rad].
        goal: (6,) [rad].
        speed: of the joint that moves farthest [rad/s].
        acceleration: of that joint [rad/s^2].
    """

    def __init__(self, start: FloatArray, goal: FloatArray, speed: float, acceleration: float) -> None:
        self.goal = goal
        self._start, self._way = start, goal - start
        distance = float(np.abs(self._way).max())
        self.done = distance == 0.0
        ramp = min(speed / acceleration, np.sqrt(distance / acceleration))
        self._acceleration = acceleration / max(distance, 1e-300)  # of the covered part of the way, 0 to 1 [1/s^2]
        self._ramp = ramp
        self._duration = ramp + distance / (acceleration * ramp) if ramp > 0.0 else 0.0
        self._time = 0.0

    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The next set point."""
        self._time += step
        remaining = self._duration - self._time
        if remaining <= 0.0:
            self.done = True
            return SetPoint.at_rest(self._start + self._way)
        a, ramp = self._acceleration, self._ramp
        if self._time < ramp:
            part, rate, change = 0.5 * a * self._time**2, a * self._time, a
        elif remaining < ramp:
            part, rate, change = 1.0 - 0.5 * a * remaining**2, a * remaining, -a
        else:
            part, rate, change = a * ramp * (self._time - 0.5 * ramp), a * ramp, 0.0
        return SetPoint(self._start + part * self._way, rate * self._way, change * self._way)


class ServoJ(Motion):
    """Follow a target that is replaced all the time, as the maker describes URScript's servoj.

    The set point is projected forward by ``lookahead_time`` [s] with its own speed, and accelerates by ``gain`` [1/s^2]
    times its distance from the target. A target that moves evenly is followed ``lookahead_time`` late. A controller
    decides on the acceleration once in its period: deciding in between, with a target that stands still until the next
    one comes, would make the arm shake at the rate of its samples.
    """

    def __init__(self, target: FloatArray, lookahead_time: float, gain: float) -> None:
        self.target, self.lookahead_time, self.gain = target, lookahead_time, gain
        self._ddq = np.zeros_like(target)
        self._remaining = 0.0  # of the period [s]

    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The next set point."""
        if self._remaining < 0.5 * step:
            wanted = self.gain * (self.target - now.q - self.lookahead_time * now.dq)
            self._ddq = np.clip(wanted, -LARGEST_ACCELERATION, LARGEST_ACCELERATION)
            self._remaining = PERIOD
        self._remaining -= step
        dq = now.dq + step * self._ddq
        return SetPoint(now.q + 0.5 * step * (now.dq + dq), dq, self._ddq)


class SpeedJ(Motion):
    """Accelerate to joint speeds ``target`` (6,) [rad/s] at ``acceleration`` [rad/s^2] and keep them."""

    def __init__(self, target: FloatArray, acceleration: float) -> None:
        self.target, self.acceleration = target, min(acceleration, LARGEST_ACCELERATION)

    def advance(self, now: SetPoint, step: float) -> SetPoint:
        """The next set point."""
        missing = self.target - now.dq
        largest = float(np.abs(missing).max())
        # All joints together, so that the direction of the change is kept; the fastest sets the pace.
        ddq = missing * min(1.0 / step, self.acceleration / largest) if largest > 0.0 else np.zeros_like(missing)
        dq = now.dq + step * ddq
        return SetPoint(now.q + step * dq, dq, ddq)
