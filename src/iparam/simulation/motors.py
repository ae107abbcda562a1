"""What stands between the currents of an arm and the torques of its links: `Motors` and `JointFriction`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording


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


def with_motor_currents(
    recording: Recording, drive_gains: ArrayLike, noise: ArrayLike = 0.0, seed: int = 0
) -> Recording:
    """Replace the signal tau of a recording by the currents of its motors.

    Args:
        recording: with tau.
        drive_gains: (n,) torque that an ampere makes [N m/A].
        noise: standard deviation of a current sample, one number or (n,) [A].
        seed: of the noise.
    """
    torque = recording.signal("tau")
    gains = as_float_array(drive_gains, "drive_gains")
    deviation = as_float_array(noise, "noise")
    if gains.shape != (torque.width,) or (gains <= 0.0).any():
        raise InputError(f"drive_gains must be {torque.width} positive numbers, got {gains.tolist()}")
    if deviation.shape not in ((), (torque.width,)) or (deviation < 0.0).any():
        raise InputError(f"noise must be one number or {torque.width}, none negative, got {deviation.tolist()}")
    random = np.random.default_rng(seed).standard_normal(torque.values.shape)
    return recording.without_signal("tau").with_signal(
        "current", time=torque.time, values=torque.values / gains + deviation * random
    )
