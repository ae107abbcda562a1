"""The way from where an arm stands to where a motion starts: a straight line in joint space, as moveJ takes it."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.trajectory import QuinticSpline

AT_START = 1e-3
"""Distance of a joint from the start pose up to which there is no way to go [rad]."""

ACCELERATION = 0.5
"""Of the fastest joint [rad/s^2]."""

# Of a quintic from rest to rest over a distance d in a time T: top speed by d / T, top acceleration by d / T^2.
_TOP_SPEED, _TOP_ACCELERATION = 1.875, 10.0 / 3.0**0.5


def approach_path(present: FloatArray, start: FloatArray, speed: float) -> QuinticSpline | None:
    """The way, or None if the arm is there already.

    It stands for moveJ in the checks: the same line, with the same top speed and acceleration, only with softer ends.

    Args:
        present: (6,) where the arm stands [rad].
        start: (6,) where it is to go [rad].
        speed: of the fastest joint [rad/s].
    """
    distance = float(np.abs(start - present).max())
    if distance <= AT_START:
        return None
    duration = max(_TOP_SPEED * distance / speed, float(np.sqrt(_TOP_ACCELERATION * distance / ACCELERATION)))
    return QuinticSpline(np.array([0.0, duration]), np.stack([present, start]))
