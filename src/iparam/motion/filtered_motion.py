"""`FilteredMotion`: joint positions, velocities and accelerations made from measured angles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError


@dataclass(frozen=True, eq=False)
class FilteredMotion:
    """A joint motion at the time stamps of the measured angles. Prismatic joints have m in place of rad.

    Attributes:
        time: (T,) [s], strictly increasing.
        q: (T, n) [rad].
        dq: (T, n) [rad/s].
        ddq: (T, n) [rad/s^2].
        covariance: (K, n, 3, 3) of (q, dq, ddq) for each joint, or None where the filter gives none.
        covariance_time: (K,) the samples' times that it belongs to, all of them or fewer [s]; None with it.
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    covariance: FloatArray | None = None
    covariance_time: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", frozen(as_float_array(self.time, "time")))
        shape = (self.time.size, *np.shape(self.q)[1:])
        for name in ("q", "dq", "ddq"):
            values = as_float_array(getattr(self, name), name)
            if values.ndim != 2 or values.shape != shape:
                raise InputError(f"{name} must have shape ({self.time.size}, n), got {values.shape}")
            object.__setattr__(self, name, frozen(values))
        if self.covariance is not None:
            at = frozen(self.time if self.covariance_time is None else self.covariance_time)
            covariance = as_float_array(self.covariance, "covariance", (at.size, shape[1], 3, 3))
            object.__setattr__(self, "covariance", frozen(covariance))
            object.__setattr__(self, "covariance_time", at)

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return int(self.q.shape[1])


def checked_angles(time: object, q: object, least: int) -> tuple[FloatArray, FloatArray]:
    """Time stamps (T,) and angles (T, n) as arrays, with T at least ``least`` and time strictly increasing."""
    stamps = as_float_array(time, "time")  # type: ignore[arg-type]
    angles = as_float_array(q, "q")  # type: ignore[arg-type]
    if stamps.ndim != 1 or angles.ndim != 2 or angles.shape[0] != stamps.size or angles.shape[1] == 0:
        raise InputError(f"time must have shape (T,) and q (T, n), got {stamps.shape} and {angles.shape}")
    if stamps.size < least:
        raise InputError(f"the filter needs at least {least} samples, got {stamps.size}")
    backwards = np.flatnonzero(np.diff(stamps) <= 0)
    if backwards.size:
        i = int(backwards[0])
        raise InputError(f"time must be strictly increasing, got {stamps[i]!r} and then {stamps[i + 1]!r} at {i + 1}")
    return stamps, angles
