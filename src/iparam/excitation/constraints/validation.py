"""`validate`: whether a motion keeps its constraints on a dense grid, with no tolerance. For any trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.excitation.constraints.constraint import Constraint, MotionArrays, WorstMargin, worst_margin
from iparam.trajectory.checks import VALIDATION_RATE, positive_number, validation_times
from iparam.trajectory.trajectory import Trajectory

REST_TOLERANCE = 1e-9
"""Velocity [rad/s] or acceleration [rad/s^2] up to which a joint is at rest: the rounding of an exact zero."""

_BLOCK = 10_000  # samples at a time: bounds memory


@dataclass(frozen=True)
class EndMotion:
    """How fast the joints are at an end of a motion.

    Attributes:
        time: of the end [s].
        velocity: largest absolute velocity of a joint [rad/s].
        acceleration: largest absolute acceleration of a joint [rad/s^2].
    """

    time: float
    velocity: float
    acceleration: float

    @property
    def at_rest(self) -> bool:
        """Whether neither is more than rounding."""
        return self.velocity <= REST_TOLERANCE and self.acceleration <= REST_TOLERANCE


@dataclass(frozen=True)
class Validation:
    """What came of checking a motion.

    Attributes:
        satisfied: whether no margin is negative and, if ``require_rest``, the motion starts and ends at rest.
        rate: of the grid; both ends belong to it [Hz].
        margins: the worst margin of every constraint that has a finite bound.
        start, end: the motion at its ends.
        require_rest: whether ends in motion count as a violation.
    """

    satisfied: bool
    rate: float
    margins: tuple[WorstMargin, ...]
    start: EndMotion
    end: EndMotion
    require_rest: bool = True

    @property
    def violations(self) -> tuple[str, ...]:
        """A sentence for everything that is violated."""
        found = [str(margin) for margin in self.margins if not margin.margin >= 0.0]
        for name, end in (("start", self.start), ("end", self.end)):
            if self.require_rest and not end.at_rest:
                found.append(f"not at rest at the {name}: {end.velocity:.4g} rad/s, {end.acceleration:.4g} rad/s^2")
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """For the "validation" of a trajectory file; all numbers are finite."""
        margins: dict[str, Any] = {}
        for margin in self.margins:
            entry = {"margin": margin.margin, "unit": margin.unit, "time": margin.time, "label": margin.label}
            # Of two constraints of one name, the one with less left speaks for both.
            known = margins.get(margin.constraint)
            if known is None or known["margin"] > margin.margin:
                margins[margin.constraint] = entry
        ends = {
            name: {"velocity": end.velocity, "acceleration": end.acceleration, "at_rest": end.at_rest}
            for name, end in (("start", self.start), ("end", self.end))
        }
        return {
            "all_constraints_satisfied": self.satisfied,
            "rate": self.rate,
            "margins": margins,
            "ends": {**ends, "rest_required": self.require_rest},
        }


def validate(
    trajectory: Trajectory,
    constraints: Iterable[Constraint],
    rate: float = VALIDATION_RATE,
    *,
    require_rest: bool = True,
) -> Validation:
    """Check a motion on a grid that is much denser than the samples it is played at.

    Args:
        trajectory: of any family.
        constraints: all that it must keep.
        rate: at least so many samples a second, both ends included [Hz].
        require_rest: whether it must start and end with velocity and acceleration 0.
    """
    times = validation_times(trajectory.duration, positive_number(rate, "rate", "Hz"))
    given = tuple(constraints)
    worst: list[WorstMargin | None] = [None] * len(given)
    for first in range(0, times.size, _BLOCK):
        part = times[first : first + _BLOCK]
        motion = motion_arrays(trajectory, part)
        for index, constraint in enumerate(given):
            found, known = worst_margin(constraint, motion, part), worst[index]
            if found is not None and (known is None or not found.margin >= known.margin):
                worst[index] = found
    margins = tuple(margin for margin in worst if margin is not None)
    start, end = (_end(trajectory, time) for time in (0.0, trajectory.duration))
    kept = all(margin.margin >= 0.0 for margin in margins)
    return Validation(
        kept and (not require_rest or (start.at_rest and end.at_rest)), float(rate), margins, start, end, require_rest
    )


def motion_arrays(trajectory: Trajectory, times: FloatArray) -> MotionArrays:
    """The motion at ``times`` (T,) [s], as constraints take it."""
    motion = trajectory.evaluate(times)
    # Writable copies: the native core takes no others.
    return MotionArrays(*(np.array(values) for values in (motion.q, motion.dq, motion.ddq, motion.jerk)))


def _end(trajectory: Trajectory, time: float) -> EndMotion:
    motion = trajectory.evaluate(time)
    return EndMotion(time, float(np.abs(motion.dq).max()), float(np.abs(motion.ddq).max()))
