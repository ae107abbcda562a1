"""`JointFriction`: friction in the joints of the simulated arm, between its motors and its links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError


@dataclass(frozen=True, eq=False)
class JointFriction:
    """A torque viscous v + coulomb tanh(v / smoothing_speed) against the speed v of each joint.

    The physics takes it as a force of the state that it finds, so that coulomb / smoothing_speed times the time step
    must stay below the inertia that a motor turns, rotor included.

    Attributes:
        viscous: (n,) [N m s/rad].
        coulomb: (n,) [N m].
        smoothing_speed: [rad/s].
    """

    viscous: FloatArray
    coulomb: FloatArray
    smoothing_speed: float = 0.02

    def __post_init__(self) -> None:
        for name in ("viscous", "coulomb"):
            values = as_float_array(getattr(self, name), name)
            if values.ndim != 1 or (values < 0.0).any() or values.shape != np.shape(self.viscous):
                raise InputError(f"{name} must be one number a joint, none negative, got {values.tolist()}")
            object.__setattr__(self, name, frozen(values))
        if not (np.isfinite(self.smoothing_speed) and self.smoothing_speed > 0.0):
            raise InputError(f"smoothing_speed must be positive, got {self.smoothing_speed!r}")

    def torque(self, dq: FloatArray) -> FloatArray:
        """(..., n) what the joints take from the motors at speeds dq (..., n) [N m]."""
        return np.asarray(self.viscous * dq + self.coulomb * np.tanh(dq / self.smoothing_speed))
