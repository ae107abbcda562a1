"""`PhysicalBounds`: what an arm can do and carry. Numbers on their way to a robot are withheld where they are beyond.

The bounds are those of the arm itself. Its joints turn no faster than their limit, so that a velocity filtered to a
bandwidth cannot change faster than 2 pi times that bandwidth times the limit (Bernstein's inequality). And its joints
have to give the torque that a motion takes together with what the tool carries: a contact at the tool, however hard,
is in the wrench and does not raise it beyond what the gears stand. In a singular pose some forces take no torque at
all: a force or a moment is also bounded by what the arm can exert in any pose but the rarest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.export import IdentifiedLoad, StaticLoad
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.catalog import catalog_arm, robot_names
from iparam.robot.dynamics import inverse_dynamics
from iparam.robot.kinematics import jacobian
from iparam.robot.model import Robot
from iparam.sensing.offset import resting_regressor
from iparam.spatial.consistency import is_physically_consistent

Load = IdentifiedLoad | StaticLoad

OVERLOAD = 2.0
"""By how much a joint may exceed its stated limits: gears stand a momentary peak torque of about twice the repeated one
that makers state for a joint, and a causal filter overshoots a sudden stop by less than the whole step."""

RARE_POSE, POSES = 1e-3, 10_000
"""Share of poses and directions in which an arm can exert more than the bound of a force or a moment, near its singular
poses; and the number of poses that it is counted in."""

GRAVITY = 9.81
"""[m/s^2]."""

Quantity = Literal["number", "velocity", "acceleration", "torque", "force", "moment", "mass", "inertia"]
_TIP: tuple[Quantity, Quantity] = ("force", "moment")
_UNITS = {
    "velocity": "rad/s or m/s",
    "acceleration": "rad/s^2 or m/s^2",
    "torque": "N m or N",
    "force": "N",
    "moment": "N m",
    "mass": "kg",
}


class ImplausibleLoadError(IparamError):
    """A load that no controller should be told; the message says why."""


@dataclass(frozen=True)
class Impossible:
    """Why a number is withheld.

    Attributes:
        quantity: that is beyond what is possible; "number" if one is not finite.
        value, bound: of it [SI]; NaN where there is none.
        joint: that it is about, from 1 on; 0 for none.
    """

    quantity: Quantity
    value: float = math.nan
    bound: float = math.nan
    joint: int = 0

    @property
    def sentence(self) -> str:
        """For people."""
        if self.quantity == "number":
            return "a number is not finite"
        if self.quantity == "inertia":
            return "no rigid body has this inertia"
        where = f" of joint {self.joint}" if self.joint else ""
        return (
            f"it takes a {self.quantity}{where} of {self.value:.4g} {_UNITS[self.quantity]}, and at most "
            f"{self.bound:.4g} is possible by the limits of the robot's description"
        )


class PhysicalBounds:
    """Of an arm.

    Args:
        robot: the arm; a limit that its description does not state bounds nothing.
        gravity: (3,) in base axes [m/s^2].
        bandwidth: of the filter that velocities and accelerations come from [Hz].
    """

    def __init__(self, robot: Robot, gravity: ArrayLike = STANDARD_GRAVITY, bandwidth: float = math.inf) -> None:
        self._robot, self._gravity = robot, gravity
        self._velocity = OVERLOAD * robot.limits.velocity
        self._acceleration = 2.0 * math.pi * bandwidth * self._velocity
        self._torque = OVERLOAD * robot.limits.torque
        self._tip = _tip_bounds(robot, self._torque)

    def of_motion(self, dq: FloatArray, ddq: FloatArray) -> Impossible | None:
        """Why joints cannot move with velocities and accelerations (n,); None if they can."""
        return _beyond("velocity", dq, self._velocity) or _beyond("acceleration", ddq, self._acceleration)

    def of_wrenches(
        self, wrenches: FloatArray, q: FloatArray, dq: FloatArray | None = None, ddq: FloatArray | None = None
    ) -> Impossible | None:
        """Why an arm in a motion cannot exert one of these wrenches with its tool; None if it can exert each of them.

        Args:
            wrenches: (k, 6) [force, torque] in the tool frame [N, N m].
            q, dq, ddq: (n,) the motion; at rest where it is None.
        """
        rest = np.zeros_like(q)
        motion = np.array([q, rest if dq is None else dq, rest if ddq is None else ddq])
        if not (math.isfinite(float(wrenches.sum())) and math.isfinite(float(motion.sum()))):
            return Impossible("number")
        angles, velocities, accelerations = np.repeat(motion[:, None], len(wrenches), axis=1)
        tips = wrenches[:, [3, 4, 5, 0, 1, 2]]
        torques = inverse_dynamics(self._robot, angles, velocities, accelerations, self._gravity, tips)
        if (found := _beyond("torque", torques, self._torque)) is not None:
            return found
        sizes = np.linalg.norm(wrenches.reshape(-1, 2, 3), axis=2).max(axis=0)
        largest = zip(_TIP, sizes.tolist(), self._tip, strict=True)
        return next((Impossible(kind, size, bound) for kind, size, bound in largest if size > bound), None)

    def of_load(self, phi: FloatArray, q: FloatArray) -> Impossible | None:
        """Why an arm cannot hold a load phi (10,), NaN for what is not known, at rest at q (n,); None if it can."""
        if not phi[0] > 0.0:
            return Impossible("mass", float(phi[0]), 0.0)
        if not np.isnan(phi).any() and not is_physically_consistent(phi):
            return Impossible("inertia")
        weight = resting_regressor(self._robot, q, self._gravity) @ np.nan_to_num(phi)
        return self.of_wrenches(weight[None], q)


def _tip_bounds(robot: Robot, torque: FloatArray) -> tuple[float, float]:
    """The largest force and moment that an arm exerts with its tool, at rest and without its own weight, in all but
    `RARE_POSE` of its poses [N, N m].

    Args:
        robot: the arm.
        torque: (n,) at most, of its joints.
    """
    random, limits = np.random.default_rng(0), robot.limits
    lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
    rows = jacobian(robot, random.uniform(np.minimum(lower, upper), upper, (POSES, robot.num_joints)))
    direction = random.standard_normal((POSES, 3, 1))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    found = []
    for part in (rows[:, 3:], rows[:, :3]):
        share = (np.abs((direction * part).sum(axis=1)) / torque).max(axis=1)  # of the torques, that one unit takes
        least = float(np.sort(share)[round(RARE_POSE * POSES)])
        found.append(1.0 / least if least > 0.0 else math.inf)
    return found[0], found[1]


def _beyond(quantity: Quantity, values: FloatArray, bounds: FloatArray) -> Impossible | None:
    """The entry of (..., n) that is farthest beyond its bound (n,), if one is; what is not finite is."""
    if not np.isfinite(values).all():
        return Impossible("number")
    if (np.abs(values) <= bounds).all():
        return None
    share = np.max(np.atleast_2d(np.abs(values) / bounds), axis=0)
    joint = int(np.argmax(share))
    return Impossible(quantity, float(share[joint] * bounds[joint]), float(bounds[joint]), joint + 1)


@dataclass(frozen=True)
class Capacity:
    """What an arm is made to carry at its flange.

    Attributes:
        arm: in words.
        rated_load: the largest mass [kg].
        reach: from the shoulder to the wrist of the stretched arm; no centre of mass is farther from the flange [m].
        wrist_torque: of the weakest wrist joint [N m].
    """

    arm: str
    rated_load: float
    reach: float
    wrist_torque: float

    @classmethod
    def of(cls, name: str) -> Capacity:
        """That of an arm of the catalogue."""
        arm = catalog_arm(name)
        return cls(name, arm.rated_load, _reach(arm.robot), float(arm.robot.limits.torque[3:].min()))

    @classmethod
    def most(cls, arm: str, names: Sequence[str]) -> Capacity:
        """What none of several arms of the catalogue exceeds: of one of them, it is not known which."""
        each = [cls.of(name) for name in names]
        return cls(
            arm,
            max(one.rated_load for one in each),
            max(one.reach for one in each),
            max(one.wrist_torque for one in each),
        )

    def check(self, load: Load) -> None:
        """Refuse a load that is impossible, or more than this."""
        load.require_consistency()
        if not 0.0 < load.mass <= self.rated_load:
            raise ImplausibleLoadError(f"a mass of {load.mass:.4g} kg: {self.arm} carries up to {self.rated_load:g} kg")
        way_out = "Look at the result's remarks and identify anew"
        distance = float(np.linalg.norm(load.center_of_mass))
        if not distance <= self.reach:
            raise ImplausibleLoadError(
                f"a centre of mass {distance:.3g} m from the flange: {self.arm} itself reaches {self.reach:.3g} m. "
                f"{way_out}"
            )
        if not GRAVITY * load.mass * distance <= self.wrist_torque:
            raise ImplausibleLoadError(
                f"{load.mass:.4g} kg with a centre of mass {distance:.3g} m from the flange: the wrist of {self.arm} "
                f"would have to hold {GRAVITY * load.mass * distance:.3g} N m, and gives {self.wrist_torque:g} N m. "
                f"{way_out}"
            )


@functools.cache
def capacity_of_maker(maker: str) -> Capacity:
    """What no arm of a maker exceeds: "ur" or "franka"."""
    if maker == "ur":
        return Capacity.most("an arm of Universal Robots", robot_names())
    return Capacity("an arm of Franka Robotics", rated_load=3.0, reach=0.855, wrist_torque=12.0)


def check_load_for_maker(load: Load, maker: str) -> None:
    """Refuse to tell a controller of a maker, "ur" or "franka", what none of its arms is made to carry, or what the arm
    that the load was identified on is not.
    """
    capacity_of_maker(maker).check(load)
    if isinstance(load, IdentifiedLoad) and load.robot.lower() in robot_names():
        check_load(load, load.robot.lower())


def check_load(load: Load, robot_name: str) -> None:
    """Refuse to tell a controller a load that is impossible, or that the arm is not made to carry.

    Args:
        load: the load.
        robot_name: the arm's catalogue name.
    """
    Capacity.of(robot_name).check(load)


def _reach(robot: Robot) -> float:
    """From the shoulder to the wrist of the stretched arm [m]."""
    return float(sum(np.linalg.norm(joint.origin[:3, 3]) for joint in robot.moving_joints[2:4]))
