"""Constraints on distances: of the arm and its payload from the ground, walls, boxes, and from the arm itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import LARGEST, FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, Margins, MotionArrays
from iparam.excitation.constraints.geometry import PayloadBox, PlacedBox, PlacedCapsule, frame_offset
from iparam.excitation.kernels import distance as kernels
from iparam.robot.capsules import colliding_bodies, link_capsules
from iparam.robot.cell import WorkCell
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_cell
from iparam.trajectory.conditions import CLEARANCE


@dataclass(frozen=True, eq=False)
class DistanceConstraint(Constraint):
    """Least distances between capsules, boxes and planes.

    Attributes:
        name: e.g. "robot-robot collision".
        robot: the arm.
        capsules: on the arm, or standing still (body 0).
        boxes: likewise.
        capsule_pairs: (i, j) of capsules that must keep apart.
        box_pairs: (capsule, box) that must keep apart.
        points: shapes that must stay above the planes, as (name, body, position (3,), radius).
        planes: (name, normal (3,), offset): all x with normal . x > offset are free.
        clearance: least distance [m].
    """

    name: str
    robot: Robot
    capsules: tuple[PlacedCapsule, ...] = ()
    boxes: tuple[PlacedBox, ...] = ()
    capsule_pairs: tuple[tuple[int, int], ...] = ()
    box_pairs: tuple[tuple[int, int], ...] = ()
    points: tuple[tuple[str, int, FloatArray, float], ...] = ()
    planes: tuple[tuple[str, FloatArray, float], ...] = ()
    clearance: float = CLEARANCE
    unit: str = "m"
    orders: tuple[int, ...] = (0,)
    scale: float = 0.1
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [f"{self.capsules[i].name} - {self.capsules[j].name}" for i, j in self.capsule_pairs]
        names += [f"{self.capsules[i].name} - {self.boxes[j].name}" for i, j in self.box_pairs]
        names += [f"{point[0]} - {plane[0]}" for point in self.points for plane in self.planes]
        object.__setattr__(self, "labels", tuple(names))
        tables = {
            "_capsules": np.array([capsule.row for capsule in self.capsules]).reshape(-1, 8),
            "_boxes": np.array([box.row for box in self.boxes]).reshape(-1, 16),
            "_points": np.array([[body, *position, radius] for _, body, position, radius in self.points]).reshape(
                -1, 5
            ),
            "_planes": np.array([[*normal, offset, self.clearance] for _, normal, offset in self.planes]).reshape(
                -1, 5
            ),
        }
        for name, table in tables.items():
            object.__setattr__(self, name, table)

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self._distances(motion, 0).values

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        return self._distances(motion, self.robot.num_joints)

    def _distances(self, motion: MotionArrays, joints: int) -> Margins:
        """Margins, with gradients by the first ``joints`` joints: all or none."""
        q = np.ascontiguousarray(motion.q)
        count = len(q)
        values, gradients = np.empty((count, len(self.labels))), np.empty((count, len(self.labels), joints))
        chain = self.robot.chain
        column = 0
        for kernel, first, second, pairs in (
            (kernels.pair_distances, self._table("capsules"), None, self.capsule_pairs),
            (kernels.box_distances, self._table("capsules"), self._table("boxes"), self.box_pairs),
        ):
            if pairs:
                index: NDArray[np.int64] = np.array(pairs, dtype=np.int64)
                part = np.empty((count, len(pairs))), np.empty((count, len(pairs), joints))
                shapes = (first,) if second is None else (first, second)
                clearances = np.full(len(pairs), self.clearance)
                kernel(chain.origins, chain.prismatic, *shapes, index, clearances, q, *part)
                values[:, column : column + len(pairs)], gradients[:, column : column + len(pairs)] = part
                column += len(pairs)
        if column < len(self.labels):
            part = np.empty((count, len(self.labels) - column)), np.empty((count, len(self.labels) - column, joints))
            kernels.plane_distances(
                chain.origins, chain.prismatic, self._table("points"), self._table("planes"), q, *part
            )
            values[:, column:], gradients[:, column:] = part
        return Margins(values, (gradients,))

    def _table(self, name: str) -> FloatArray:
        table: FloatArray = getattr(self, f"_{name}")
        return table


@dataclass(frozen=True, eq=False)
class ToolDisplacementConstraint(Constraint):
    """The tool stays within a ball: margin (r^2 - |p - c|^2) / (2 r), the distance left where there is little left.

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
            raise InputError(f"the largest tool displacement must be positive, got {self.radius}")
        if self.radius > LARGEST:
            raise InputError(f"the largest tool displacement must be at most {LARGEST:g} m, got {self.radius:g}")

    @classmethod
    def from_start(cls, robot: Robot, q0: ArrayLike, largest: float) -> ToolDisplacementConstraint:
        """At most ``largest`` [m] from where the tool is in ``q0``."""
        return cls(robot, forward_kinematics(robot, q0)[:3, 3], largest)

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self.linearize(motion).values

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        chain = self.robot.chain
        q = np.ascontiguousarray(motion.q)
        count, joints = q.shape
        body, pose = frame_offset(self.robot, self.robot.tool_frame)
        tool = np.array([[0.0, *self.center, *self.center, 0.0], [body, *pose[:3, 3], *pose[:3, 3], 0.0]])
        distance, gradient = np.empty((count, 1)), np.empty((count, 1, joints))
        pair, none = np.array([[1, 0]]), np.zeros(1)
        kernels.pair_distances(chain.origins, chain.prismatic, tool, pair, none, q, distance, gradient)
        margin = (self.radius**2 - distance**2) / (2 * self.radius)
        return Margins(margin, (-distance[..., None] * gradient / self.radius,))


def sphere_collision(
    robot: Robot, radii: ArrayLike, payload: PayloadBox | None, ground: float = 0.01, clearance: float = CLEARANCE
) -> tuple[DistanceConstraint, ...]:
    """The arm as spheres at its joint origins, after document 000: rough, but quick and smooth.

    Spheres of joints that are not neighbours keep apart by ``clearance``; the payload's enclosing sphere keeps it from
    the spheres of all joints but the last two; spheres and the payload's corners stay above the ground.

    Args:
        robot: the arm.
        radii: (n,) of the spheres [m].
        payload: what the tool carries, or None.
        ground: height that nothing may reach below [m].
        clearance: least distance between spheres [m].
    """
    sizes = as_float_array(radii, "radii", (robot.num_joints,))
    none = np.zeros(3)
    spheres = tuple(
        PlacedCapsule(joint.name, i + 1, none, none, float(sizes[i])) for i, joint in enumerate(robot.moving_joints)
    )
    count = robot.num_joints
    floor = (("ground", np.array([0.0, 0.0, 1.0]), ground),)
    constraints = [
        DistanceConstraint(
            "robot-ground collision",
            robot,
            points=tuple((sphere.name, sphere.body, none, sphere.radius) for sphere in spheres),
            planes=floor,
            clearance=0.0,
        ),
        DistanceConstraint(
            "robot-robot collision",
            robot,
            spheres,
            capsule_pairs=tuple((i, j) for i in range(count) for j in range(i + 2, count)),
            clearance=clearance,
        ),
    ]
    if payload is not None:
        box = payload.placed(robot)
        constraints += [
            _payload_ground(robot, box, floor, 0.0),
            DistanceConstraint(
                "payload-robot collision",
                robot,
                (*spheres, box.enclosing_sphere()),
                capsule_pairs=tuple((count, i) for i in range(count - 2)),
                clearance=clearance,
            ),
        ]
    return tuple(constraint for constraint in constraints if constraint.labels)


def capsule_collision(
    robot: Robot, payload: PayloadBox | None = None, cell: WorkCell | None = None, clearance: float = CLEARANCE
) -> tuple[DistanceConstraint, ...]:
    """The arm as capsules along its links, in a work cell; the payload as the box that it is.

    Args:
        robot: the arm.
        payload: what the tool carries, or None.
        cell: ground, walls and boxes; by default the ground at z = 0. The base and the first link stand on the ground
            and in front of the walls: only what they carry is kept from them.
        clearance: least distance [m].
    """
    cell = WorkCell() if cell is None else cell
    check_cell(cell, robot)
    arm = []
    for capsule in link_capsules(robot):
        body, pose = frame_offset(robot, capsule.frame)
        start, end = (pose[:3, :3] @ point + pose[:3, 3] for point in (capsule.start, capsule.end))
        arm.append(PlacedCapsule(capsule.frame, body, start, end, capsule.radius))
    planes = [(plane.name, plane.normal, float(plane.normal @ plane.point)) for plane in cell.planes]
    if cell.ground_height is not None:
        planes.append(("ground", np.array([0.0, 0.0, 1.0]), cell.ground_height))
    boxes = tuple(PlacedBox(box.name, 0, _pose(box.rotation, box.center), box.half_extents) for box in cell.boxes)
    outer = [capsule for capsule in arm if capsule.body >= 2]
    ends = tuple((c.name, c.body, point, c.radius) for c in outer for point in (c.start, c.end))
    apart = set(colliding_bodies(robot, link_capsules(robot), clearance))
    pairs = tuple(
        (i, j) for i, a in enumerate(arm) for j, b in enumerate(arm) if (a.body, b.body) in apart and a.body < b.body
    )
    each_box = tuple((i, j) for i in range(len(outer)) for j in range(len(boxes)))
    constraints = [
        DistanceConstraint("robot-ground collision", robot, points=ends, planes=tuple(planes), clearance=clearance),
        DistanceConstraint("robot-robot collision", robot, tuple(arm), capsule_pairs=pairs, clearance=clearance),
        DistanceConstraint("robot-box collision", robot, tuple(outer), boxes, box_pairs=each_box, clearance=clearance),
    ]
    if payload is not None:
        box = payload.placed(robot)
        hittable = [capsule for capsule in arm if capsule.body <= robot.num_joints - 3]
        sphere = box.enclosing_sphere()
        constraints += [
            _payload_ground(robot, box, tuple(planes), clearance),
            DistanceConstraint(
                "payload-robot collision",
                robot,
                tuple(hittable),
                (box,),
                box_pairs=tuple((i, 0) for i in range(len(hittable))),
                clearance=clearance,
            ),
            DistanceConstraint(
                "payload-box collision",
                robot,
                (sphere,),
                boxes,
                box_pairs=tuple((0, j) for j in range(len(boxes))),
                clearance=clearance,
            ),
        ]
    return tuple(constraint for constraint in constraints if constraint.labels)


def _payload_ground(
    robot: Robot, box: PlacedBox, planes: tuple[tuple[str, FloatArray, float], ...], clearance: float
) -> DistanceConstraint:
    corners = tuple(("payload", box.body, corner, 0.0) for corner in box.corners)
    return DistanceConstraint("payload-ground collision", robot, points=corners, planes=planes, clearance=clearance)


def _pose(rotation: FloatArray, position: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose
