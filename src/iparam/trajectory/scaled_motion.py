"""`ScaledMotion`: a motion at reduced amplitude, for a first try on an arm."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class ScaledMotion(Trajectory):
    """Another motion with every joint's distance from its start multiplied by ``scale``; times stay.

    Attributes:
        inner: the motion.
        scale: above 0, at most 1.
        duration: of the motion [s].
    """

    inner: Trajectory
    scale: float
    duration: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.scale <= 1.0:
            raise InputError(f"the share of a motion must be above 0 and at most 1, got {self.scale!r}")
        object.__setattr__(self, "duration", self.inner.duration)

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.inner.num_joints

    def time_scaled(self, factor: float) -> ScaledMotion:
        """The same path, ``factor`` times as slow."""
        return dataclasses.replace(self, inner=self.inner.time_scaled(factor))

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = np.array(self.inner._derivatives(times))
        start = self.inner._derivatives(np.zeros(1))[0]
        motion[0] -= start
        motion *= self.scale
        motion[0] += start
        return motion
