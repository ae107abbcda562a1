"""Wrenches of Isaac as this project has them: units, frames, points, signs and order, all in this one place.

Isaac gives a wrench as force, then torque, and so does a recording (a twist is [omega, v] here and [v, omega] there; no
twist is read). What a joint transmits is given as what the parent exerts on the child, which is what a recording holds,
m (a - g): upwards at rest. Lengths and masses are in units of the stage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.spatial.transforms import is_transform


@dataclass(frozen=True)
class StageUnits:
    """The units of a stage, which its numbers are in: metersPerUnit [m] and kilogramsPerUnit [kg]."""

    meters: float = 1.0
    kilograms: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("meters", self.meters), ("kilograms", self.kilograms)):
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(argument=name, value=value, expected="positive")

    @property
    def newtons(self) -> float:
        """A unit of force [N], which is mass times length over seconds squared."""
        return self.kilograms * self.meters

    @property
    def newton_meters(self) -> float:
        """A unit of torque [N m]."""
        return self.kilograms * self.meters**2


SI = StageUnits()


def joint_wrench_in_tool(force: ArrayLike, torque: ArrayLike, pose: ArrayLike, units: StageUnits = SI) -> FloatArray:
    """(..., 6) [force, torque] on what a joint carries, by the arm, in the tool frame about its origin [N, N m].

    Args:
        force, torque: (..., 3) of the incoming joint, parent on child, in the child-side joint frame about its origin,
            in units of the stage.
        pose: (4, 4) of that joint frame in the tool frame [m].
        units: of the stage.
    """
    T = rigid(pose, "pose")
    f, tau = as_float_array(force, "force", (3,)), as_float_array(torque, "torque", (3,))
    in_tool = f @ T[:3, :3].T * units.newtons
    about_tool = tau @ T[:3, :3].T * units.newton_meters + np.cross(T[:3, 3], in_tool)
    return np.concatenate([in_tool, about_tool], axis=-1)


def in_axes_before_step(wrench: FloatArray, tool: FloatArray) -> FloatArray:
    """(T, 6) wrenches about the tool, of the instant before each step, out of the axes after it.

    Newton gives what a joint transmits in world axes at the child's centre of mass, of the state before the step. Isaac
    Lab 3.0 brings it to the joint by the child's pose after the step: at 2 rad/s and 240 Hz it is turned by half a
    degree, and the lever from the joint to the centre of mass as well. The latter is taken from the torques themselves,
    as what the force makes of them, since nobody tells it; what the rest of them adds counts in proportion to the turn.

    Args:
        wrench: (T, 6) [force, torque] [N, N m].
        tool: (T + 1, 4, 4) pose of the tool before each step and after the last.
    """
    turn = np.swapaxes(tool[:-1, :3, :3], 1, 2) @ tool[1:, :3, :3]
    force, torque = (np.einsum("tij,tj->ti", turn, part) for part in (wrench[:, :3], wrench[:, 3:]))
    crossed = np.cross(np.eye(3), force[:, None])  # rows e_i x force
    lever = np.linalg.lstsq(np.swapaxes(crossed, 1, 2).reshape(-1, 3), torque.ravel(), rcond=None)[0]
    return np.hstack([force, torque + np.cross(lever - turn @ lever, force)])


def contact_wrench_in_tool(
    force: ArrayLike, points: ArrayLike | None, tool_pose: ArrayLike, units: StageUnits = SI
) -> FloatArray:
    """What contacts exert, in the tool frame: (..., 6) about its origin, or the net force (..., 3) where no points are
    known [N, N m].

    Args:
        force: (..., 3) net force in world axes; with ``points`` (..., k, 3), that at each of them. Units of the stage.
        points: (..., k, 3) where they act, in the world, in units of the stage; one that is NaN has no contact.
        tool_pose: (..., 4, 4) of the tool in the world [m].
        units: of the stage.
    """
    T = as_float_array(tool_pose, "tool_pose", (4, 4))
    R, origin = T[..., :3, :3], T[..., :3, 3]
    if points is None:
        net = as_float_array(force, "force", (3,)) * units.newtons
        turned: FloatArray = np.einsum("...ji,...j->...i", R, net)
        return turned
    places, each = np.array(points, dtype=np.float64), np.array(force, dtype=np.float64) * units.newtons
    touching = np.isfinite(places).all(axis=-1, keepdims=True)
    each = np.where(touching, each, 0.0)
    arms = np.where(touching, places * units.meters - origin[..., None, :], 0.0)
    parts = (each.sum(axis=-2), np.cross(arms, each).sum(axis=-2))
    return np.concatenate([np.einsum("...ji,...j->...i", R, part) for part in parts], axis=-1)


def rigid(pose: ArrayLike, name: str) -> FloatArray:
    """``pose`` (4, 4), if it is a rigid transform."""
    T = as_float_array(pose, name)
    if T.shape != (4, 4) or not is_transform(T):
        raise InputError(argument=name, problem=f"must be a rigid transform (4, 4), got shape {T.shape}")
    return T
