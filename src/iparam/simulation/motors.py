"""`Motors`: what stands between the currents of an arm and the torques of its links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.simulation.joint_friction import JointFriction


@dataclass(frozen=True, eq=False)
class Motors:
    """The drives of an arm's n joints; all (n,), on the side of the joint.

    Attributes:
        name: of the arm.
        drive_gains: torque that an ampere makes [N m/A].
        rotor_inertia: [kg m^2].
        viscous, coulomb: friction [N m s/rad], [N m].
        current_noise: standard deviation of a current sample [A].
    """

    name: str
    drive_gains: FloatArray
    rotor_inertia: FloatArray
    viscous: FloatArray
    coulomb: FloatArray
    current_noise: FloatArray

    def __post_init__(self) -> None:
        for field in ("drive_gains", "rotor_inertia", "viscous", "coulomb", "current_noise"):
            values = as_float_array(getattr(self, field), field)
            if values.ndim != 1 or values.shape != np.shape(self.drive_gains) or (values < 0.0).any():
                raise InputError(f"{field} must be one number a joint, none negative, got {values.tolist()}")
            object.__setattr__(self, field, frozen(values))

    @property
    def friction(self) -> JointFriction:
        """For the simulator."""
        return JointFriction(self.viscous, self.coulomb)


_KNOWN = {
    # Fitted to public logs of one arm; the noise is what a rigid-body model with friction leaves of its currents.
    "ur10e": Motors(
        "ur10e",
        drive_gains=np.array([11.94, 11.98, 9.84, 10.76, 10.75, 10.68]),
        rotor_inertia=np.array([5.3, 6.1, 1.9, 0.53, 0.61, 0.44]),
        viscous=np.array([20.0, 19.0, 10.0, 3.6, 2.5, 2.6]),
        coulomb=np.array([12.7, 11.0, 4.7, 2.6, 3.2, 2.5]),
        current_noise=np.array([0.19, 0.22, 0.13, 0.04, 0.05, 0.04]),
    )
}


def motors(name: str) -> Motors:
    """The motors of an arm by its name; only those that somebody measured are known."""
    if name not in _KNOWN:
        raise UnknownNameError("motors", name, _KNOWN, hint="In Python, any others: iparam.simulation.Motors.")
    return _KNOWN[name]
