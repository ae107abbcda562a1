"""`usable_limits`: what a motion may use of each joint: the arm's limits, those asked for, and assumed ones else.

Descriptions leave limits out, or write 0 for "not given". A motion is not planned without a bound on speed and
acceleration; torques that nobody bounds cannot be tested, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_bounded_array
from iparam.errors import ContradictionError, InputError
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.trajectory.conditions import PlanningLimits

ASSUMED_VELOCITY = (1.0, 0.25)
"""Speed limit of a turning and of a sliding joint for which none is known [rad/s, m/s]: the joints of industrial arms
turn faster than that, and 0.25 m/s is the reduced speed of ISO 10218-1."""

ASSUMED_ACCELERATION = (8.0, 2.0)
"""Acceleration limit of a turning and of a sliding joint for which none is known [rad/s^2, m/s^2]."""

_MOST = {"velocity": ("speed", "rad/s", 3.0), "acceleration": ("acceleration", "rad/s^2", 10.0)}  # of the arm's own
_MOST_NAMED = 8


@dataclass(frozen=True, eq=False)
class UsableLimits:
    """Bounds of the n joints, before the share of them that may be used; infinite for none.

    Attributes:
        robot: the arm.
        velocity, acceleration, jerk, torque: (n,) [rad or m, per s, s^2, s^3; N m or N].
        assumed: by "velocity" and "acceleration", the joints (indices) whose bound is an assumption.
        unlimited: by "position" and "torque", the joints without a bound.
    """

    robot: Robot
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray
    torque: FloatArray
    assumed: Mapping[str, tuple[int, ...]]
    unlimited: Mapping[str, tuple[int, ...]]

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The limits that are missing: each has its name as the value ``limit``."""
        found = []
        for kind, units in (("velocity", ("rad/s", "m/s")), ("acceleration", ("rad/s^2", "m/s^2"))):
            if joints := self.assumed[kind]:
                values: FloatArray = getattr(self, kind)
                sliding = self.robot.chain.prismatic
                assumed = dict.fromkeys(f"{values[joint]:g} {units[int(sliding[joint])]}" for joint in joints)
                words = " and ".join(assumed)
                found.append(remark("limit-assumed", limit=kind, joints=self._named(joints), assumed=words))
        if joints := self.unlimited["torque"]:
            found.append(remark("limit-untested", limit="torque", joints=self._named(joints)))
        return tuple(found)

    @property
    def reservation(self) -> str:
        """How far "all limits" are not all, in a few words; "" if they are. What every URDF lacks is left out."""
        speeds, torques, count = len(self.assumed["velocity"]), len(self.unlimited["torque"]), self.robot.num_joints
        parts = [f"the speed limits of {speeds} of {count} joints are assumed"] * bool(speeds)
        parts += [f"no torque limit is known for {torques} of {count} joints"] * bool(torques)
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The joints by name: assumed bounds, and which have none."""
        names = self.robot.joint_names
        return {
            "assumed": {
                kind: {names[joint]: float(getattr(self, kind)[joint]) for joint in joints}
                for kind, joints in self.assumed.items()
            },
            "unlimited": {kind: [names[joint] for joint in joints] for kind, joints in self.unlimited.items()},
        }

    def _named(self, joints: tuple[int, ...]) -> str:
        if len(joints) == self.robot.num_joints:
            return f"any joint of {self.robot.name}"
        names = [self.robot.joint_names[joint] for joint in joints]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return ", ".join(names[:_MOST_NAMED]) + more


def usable_limits(robot: Robot, limits: PlanningLimits) -> UsableLimits:
    """The bounds that a motion of ``robot`` keeps under ``limits``.

    What is asked for is a limit beside the arm's own: the lower of the two counts.

    Raises:
        InfeasibleError: a sliding joint has no range, so that nobody knows where it ends, or a joint has an empty one.
    """
    own, sliding = robot.limits, robot.chain.prismatic
    open_ended = ~(np.isfinite(own.lower) & np.isfinite(own.upper))
    _check_ranges(robot, open_ended & sliding)
    bounds = {
        name: _limited(robot, name, getattr(limits, name), getattr(own, name, np.full(robot.num_joints, np.inf)))
        for name in ("velocity", "acceleration", "jerk", "torque")
    }
    assumed = {}
    for name, usual in (("velocity", ASSUMED_VELOCITY), ("acceleration", ASSUMED_ACCELERATION)):
        unknown = np.isinf(bounds[name])
        assumed[name] = tuple(np.flatnonzero(unknown).tolist())
        bounds[name] = np.where(unknown, np.where(sliding, usual[1], usual[0]), bounds[name])
    unlimited = {
        "position": tuple(np.flatnonzero(open_ended).tolist()),
        "torque": tuple(np.flatnonzero(np.isinf(bounds["torque"])).tolist()),
    }
    return UsableLimits(robot, **bounds, assumed=assumed, unlimited=unlimited)


def _check_ranges(robot: Robot, endless: NDArray[np.bool_]) -> None:
    """Refuse ``endless`` slides (n,), and joints whose range is one point."""
    where, own = robot.source or robot.name, robot.limits
    if endless.any():
        joint = robot.joint_names[int(np.argmax(endless))]
        raise InfeasibleError(
            f"{where}: joint {joint!r} slides, and has no range: where it ends is not known. State lower and upper "
            f"there, or hold it where it stands",
            argument="lock",
        )
    if (own.lower >= own.upper).any():
        index = int(np.argmax(own.lower >= own.upper))
        joint, at = robot.joint_names[index], own.upper[index]
        raise InfeasibleError(
            f"{where}: joint {joint!r} has lower = upper = {at:g}, no room to move. State its range there (a joint "
            f"that turns without end is continuous), or hold it",
            fix={"lock": f"{joint}={at:g}"},
        )


def _limited(robot: Robot, name: str, given: ArrayLike | None, own: FloatArray) -> FloatArray:
    """(n,) the lower of what is asked for, one number or one a joint, and the arm's own."""
    if given is None:
        return own
    values = as_bounded_array(given, f"max_{name}")
    if values.shape not in ((), (robot.num_joints,)) or (values <= 0).any():
        raise InputError(argument=f"max_{name}", value=values, expected=f"one positive number or {robot.num_joints}")
    asked = np.broadcast_to(values, (robot.num_joints,))
    if name in _MOST:
        _check_degrees(robot, name, asked, own)
    return np.minimum(asked, own)


def _check_degrees(robot: Robot, name: str, asked: FloatArray, own: FloatArray) -> None:
    """Refuse a limit on speed or acceleration that is so far above the arm's own that it must be in degrees."""
    kind, unit, factor = _MOST[name]
    beyond = (asked > factor * own) & ~robot.chain.prismatic
    if beyond.any():
        joint = int(np.argmax(beyond))
        raise ContradictionError(
            f"a limit of {asked[joint]:.4g} {unit} on the {kind}, more than {factor:g} times the {own[joint]:.4g} of "
            f"{robot.joint_names[joint]} of {robot.name}: is it in degrees? Limits are in rad"
        )
