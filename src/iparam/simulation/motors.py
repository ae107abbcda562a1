"""What stands between the currents of an arm and the torques of its links: `Motors` and `JointFriction`, and rotors for
links without inertia.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording
from iparam.remarks import Remark, remark
from iparam.robot.catalog import catalog_arm, robot_names
from iparam.robot.dynamics import mass_matrix
from iparam.robot.model import Robot


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
                raise InputError(argument=name, value=values, expected="one number a joint, none negative")
            object.__setattr__(self, name, frozen(values))
        if not (np.isfinite(self.smoothing_speed) and self.smoothing_speed > 0.0):
            raise InputError(argument="smoothing_speed", value=self.smoothing_speed, expected="positive")

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
                raise InputError(argument=field, value=values, expected="one number a joint, none negative")
            object.__setattr__(self, field, frozen(values))

    @property
    def friction(self) -> JointFriction:
        """For the simulator."""
        return JointFriction(self.viscous, self.coulomb)


def motor_names() -> tuple[str, ...]:
    """Names that `motors` accepts."""
    return tuple(arm for arm in robot_names() if catalog_arm(arm).drives is not None)


def motors(name: str) -> Motors:
    """The motors of an arm by its name; only those that somebody measured are known."""
    figures = catalog_arm(name).drives if name in robot_names() else None
    if figures is None:
        raise UnknownNameError(
            "motors", name, motor_names(), hint="In Python, any others: iparam.simulation.Motors.", argument="motors"
        )
    return Motors(name, **{key: frozen(values) for key, values in figures.items()})


def with_motor_currents(
    recording: Recording, drive_gains: ArrayLike, noise: ArrayLike = 0.0, seed: int = 0
) -> Recording:
    """Replace the signal tau of a recording by the currents of its motors.

    Args:
        recording: with tau.
        drive_gains: (n,) torque that an ampere makes [N m/A]; negative for a current that is counted the other way
            round.
        noise: standard deviation of a current sample, one number or (n,) [A].
        seed: of the noise.
    """
    torque = recording.signal("tau")
    gains = as_float_array(drive_gains, "drive_gains")
    deviation = as_float_array(noise, "noise")
    if gains.shape != (torque.width,) or (gains == 0.0).any():
        raise InputError(argument="drive_gains", value=gains, expected=f"{torque.width} numbers other than 0")
    if deviation.shape not in ((), (torque.width,)) or (deviation < 0.0).any():
        raise InputError(argument="noise", value=deviation, expected=f"one number or {torque.width}, none negative")
    random = np.random.default_rng(seed).standard_normal(torque.values.shape)
    return recording.without_signal("tau").with_signal(
        "current", time=torque.time, values=torque.values / gains + deviation * random
    )


LEAST_INERTIA = 1e-9
"""Share of the arm's inertia below which what a joint moves by itself counts as nothing."""

ROTOR_SHARE = 1e-3
"""Rotor inertia that a joint gets in place of that, as a share of the largest inertia at a joint of its kind."""

LEAST_ROTOR = 1e-3
"""The same of an arm without any inertia [kg m^2 or kg]."""


def assumed_rotors(robot: Robot) -> FloatArray:
    """(n,) rotor inertia for the joints whose links have none about them, zero for all others [kg m^2 or kg].

    Many descriptions give no inertia to some links, or to none. There are poses then in which a motor has nothing to
    accelerate, and no acceleration follows from its torque. Every real joint turns a rotor at least. If each joint
    moves some inertia with what hangs between it and the next, the mass matrix is regular in every pose.

    Args:
        robot: the arm with what it carries.
    """
    chain, sliding = robot.chain, robot.chain.prismatic
    own = np.where(sliding, chain.phi[:, 0], chain.phi[:, 9]) + robot.armature  # mass; moment about the axis, z
    whole = np.diag(mass_matrix(robot, np.zeros(robot.num_joints)))
    rotors = np.zeros(robot.num_joints)
    for kind in (sliding, ~sliding):
        largest = float(np.max(np.maximum(whole, own)[kind], initial=0.0))
        nothing = kind & (own <= LEAST_INERTIA * largest)
        rotors[nothing] = max(ROTOR_SHARE * largest, LEAST_ROTOR if largest == 0.0 else 0.0)
    return rotors


def rotor_remarks(robot: Robot, rotors: FloatArray) -> list[Remark]:
    """What a recording should say about `assumed_rotors`."""
    joints = np.flatnonzero(rotors)
    if not joints.size:
        return []
    names = ", ".join(f"{robot.joint_names[i]} ({robot.moving_joints[i].child})" for i in joints)
    units = np.where(robot.chain.prismatic, "kg", "kg m^2")
    sizes = ", ".join(dict.fromkeys(f"{rotors[i]:.2g} {units[i]}" for i in joints))
    return [remark("rotors-assumed", links=names, sizes=sizes)]
