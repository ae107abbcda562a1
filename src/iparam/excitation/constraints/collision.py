"""Constraints on distances: of the arm and its payload from the ground, walls, boxes, and from the arm itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import LARGEST, FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, Margins, MotionArrays, left_of_squares
from iparam.robot.cell import WorkCell
from iparam.robot.collision.distances import Distances
from iparam.robot.collision.scene import CollisionScene, collision_scene
from iparam.robot.collision.shapes import PayloadBox, PlacedCapsule, frame_offset
from iparam.robot.collision.spheres import sphere_scene
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.trajectory.conditions import CLEARANCE


@dataclass(frozen=True, eq=False)
class DistanceConstraint(Constraint):
    """Least distances between pairs of shapes.

    Attributes:
        distances: the pairs.
        clearances: what each of them keeps (P,), or all of them [m].
        untested: pairs of names that touch by construction, or never do, and are not tested in this or another group.
    """

    distances: Distances
    clearances: FloatArray
    untested: tuple[tuple[str, str], ...] = ()
    name: str = field(init=False)
    unit: str = "m"
    orders: tuple[int, ...] = (0,)
    scale: float = 0.1
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        pairs = self.distances.pairs
        object.__setattr__(self, "name", self.distances.name)
        object.__setattr__(self, "labels", tuple(f"{one} - {other}" for one, other in pairs))
        object.__setattr__(self, "clearances", frozen(np.broadcast_to(self.clearances, (len(pairs),))))

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self.distances.at(motion.q).values - self.clearances

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        gaps = self.distances.at(motion.q, gradients=True)
        return Margins(gaps.values - self.clearances, (gaps.gradients,))


@dataclass(frozen=True, eq=False)
class ToolDisplacementConstraint(Constraint):
    """The tool stays within a ball: margin (r^2 - |p - c|^2) / (2 r), about r - |p - c| where little is left.

    Attributes:
        robot: the arm.
        center: (3,) in the base frame [m].
        radius: [m].
    """

    robot: Robot
    center: FloatArray
    radius: float
    name: str = "tool displacement"
    unit: str = "m"
    orders: tuple[int, ...] = (0,)
    scale: float = 0.1
    labels: tuple[str, ...] = ("tool",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", frozen(as_float_array(self.center, "center", (3,))))
        if not self.radius > 0:
            raise InputError(argument="displacement", value=self.radius, expected="positive [m]")
        if self.radius > LARGEST:
            raise InputError(argument="displacement", value=self.radius, expected=f"at most {LARGEST:g} m")

    @classmethod
    def from_start(cls, robot: Robot, q0: ArrayLike, largest: float) -> ToolDisplacementConstraint:
        """At most ``largest`` [m] from where the tool is in ``q0``."""
        return cls(robot, forward_kinematics(robot, q0)[:3, 3], largest)

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self.linearize(motion).values

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        body, pose = frame_offset(self.robot, self.robot.tool_frame)
        ends = (
            PlacedCapsule("center", 0, self.center, self.center, 0.0),
            PlacedCapsule("tool", body, pose[:3, 3], pose[:3, 3], 0.0),
        )
        distance, gradient = Distances(self.name, self.robot, ends, capsule_pairs=((1, 0),)).at(motion.q, True)
        margin = (self.radius**2 - distance**2) / (2 * self.radius)
        return Margins(margin, (-distance[..., None] * gradient / self.radius,))

    def left(self, margins: FloatArray) -> FloatArray:
        """See `Constraint`: r - |p - c| [m]."""
        return left_of_squares(margins, self.radius)


def sphere_collision(
    robot: Robot, radii: ArrayLike, payload: PayloadBox | None, ground: float = 0.01, clearance: float = CLEARANCE
) -> tuple[DistanceConstraint, ...]:
    """The arm as spheres at its joint origins, as in the reference problem; see `sphere_scene`.

    Args:
        robot: the arm.
        radii: (n,) of the spheres [m].
        payload: what the tool carries, or None.
        ground: height that nothing may reach below [m].
        clearance: least distance between spheres [m].
    """
    return _constraints(sphere_scene(robot, radii, () if payload is None else (payload,), ground), clearance)


def capsule_collision(
    robot: Robot,
    payload: PayloadBox | Sequence[PayloadBox] | None = None,
    cell: WorkCell | None = None,
    clearance: float = CLEARANCE,
) -> tuple[DistanceConstraint, ...]:
    """The arm as capsules in a work cell, the payload as the box that it is: the scene that the simulator judges by.

    Args:
        robot: the arm.
        payload: what the tool carries, or None.
        cell: ground, walls and boxes; by default the ground at z = 0.
        clearance: least distance [m]; see `CollisionScene.clearances`.
    """
    boxes = (payload,) if isinstance(payload, PayloadBox) else tuple(payload or ())
    return _constraints(collision_scene(robot, boxes, cell), clearance)


def _constraints(scene: CollisionScene, clearance: float) -> tuple[DistanceConstraint, ...]:
    return tuple(
        DistanceConstraint(group, required, (*scene.touching, *scene.apart))
        for group, required in zip(scene.distances, scene.clearances(clearance), strict=True)
    )
