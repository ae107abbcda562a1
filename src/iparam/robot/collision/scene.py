"""`CollisionScene`: an arm, what it carries and what stands around it, as the pairs of shapes that must keep apart.

The planner, `excite check`, the start pose and the simulator all ask this one value, so they cannot disagree. Which
pairs touch by construction is found by sampling, once for a scene, as MoveIt's setup assistant does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.files.kept import kept
from iparam.robot.cell import WorkCell
from iparam.robot.collision.capsules import ArmShape, arm_shape
from iparam.robot.collision.distances import Distances
from iparam.robot.collision.fitting import coarser_hull, hull_gaps
from iparam.robot.collision.shapes import (
    GROUND,
    PAYLOAD,
    HalfSpace,
    PayloadBox,
    PlacedBox,
    PlacedCapsule,
    PlacedPoint,
    frame_offset,
)
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_cell

POSES, SEED = 1000, 0
"""Poses all over the joints' ranges in which pairs are looked at, and the seed that draws them."""

ALMOST_ALL = 0.95
"""Share of those poses in which a pair must touch to count as touching by construction: that of MoveIt's assistant."""

GUARD = 0.005
"""Part of an overlap of capsules without a meeting of hulls that is not allowed: for what is between two poses [m]."""

ROUNDING = 1e-9
"""Room below which two are built to touch: a payload on a flange just touches the link behind it [m]."""

_PARALLEL = 1.0 - 1e-9  # cosine of the angle between a joint axis and a plane's normal that count as parallel
_GRID = 61  # poses of each of two joints
_SLIDE = 0.5  # range of a sliding joint without limits [m]


@dataclass(frozen=True)
class Contact:
    """Where along a sequence of poses two things first come too close, and how close.

    Attributes:
        bodies: names of the two: links of the arm, "payload", or things of the cell.
        sample: index of the pose.
        distance: between them; negative if they reach into each other [m].
        required: that they were to keep [m].
    """

    bodies: tuple[str, str]
    sample: int
    distance: float
    required: float

    def __str__(self) -> str:
        return f"{self.bodies[0]} - {self.bodies[1]}"


@dataclass(frozen=True, eq=False)
class CollisionScene:
    """The pairs of shapes that must keep apart; made by `collision_scene`.

    Attributes:
        robot: the arm.
        distances: the pairs, in groups.
        room: for each group, for each of its pairs (P,), the distance that the two keep below in almost all poses [m];
            infinite for two that are not built to be near each other.
        allowance: likewise, how far the two capsules may overlap because the links themselves do not [m].
        touching: pairs of names that touch by construction, and are not tested.
        apart: pairs of links two joints apart whose capsules overlap in some poses, and their convex hulls in none; not
            tested either.
    """

    robot: Robot
    distances: tuple[Distances, ...]
    room: tuple[FloatArray, ...]
    allowance: tuple[FloatArray, ...]
    touching: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...] = ()

    def clearances(self, clearance: float) -> tuple[FloatArray, ...]:
        """What each pair of shapes of each group has to keep [m].

        It is ``clearance``, or 0 where the two are closer by construction, less what their capsules may overlap.
        """
        return tuple(
            np.where(room >= clearance, clearance, 0.0) - allowed
            for room, allowed in zip(self.room, self.allowance, strict=True)
        )

    def first_contact(self, q: ArrayLike, clearance: float = 0.0) -> Contact | None:
        """The first of the poses q (T, n) in which a pair does not keep its clearance [m], and the worst pair there.

        None if all poses are clear. This is the test of `excite check`: a distance equal to the clearance is kept.
        """
        poses = as_float_array(q, "q")
        if poses.ndim != 2 or poses.shape[1] != self.robot.num_joints:
            raise InputError(argument="q", problem=f"must have shape (T, {self.robot.num_joints}), got {poses.shape}")
        required = np.concatenate([np.empty(0), *self.clearances(clearance)])
        names = [pair for group in self.distances for pair in group.pairs]
        if not names:
            return None
        gaps = np.concatenate([group.at(poses).values for group in self.distances], axis=1)
        bad = ~((gaps - required).min(axis=1) >= 0.0)  # true for NaN as well
        if not bad.any():
            return None
        sample = int(np.argmax(bad))
        column = int(np.argmin(gaps[sample] - required))
        allowed = float(np.concatenate(self.allowance)[column])
        return Contact(names[column], sample, float(gaps[sample, column]) + allowed, float(required[column]) + allowed)


def collision_scene(robot: Robot, payload: Sequence[PayloadBox] = (), cell: WorkCell | None = None) -> CollisionScene:
    """The scene of an arm.

    Not tested are: links that share a joint; the payload and what it is mounted on; a thing of the cell and a body that
    no joint moves towards it (the base, and the first link before a plane that it turns parallel to); and pairs that
    touch by construction, in almost all of the sampled poses: links among each other, the payload and the two links
    before the one that carries it, the first link and what the arm stands in, and the ground of the cell by default,
    which is a guess for an arm on a torso. Nothing else is left out, however little room a cell or a payload leaves.

    Args:
        robot: the arm; its shape is that of `arm_shape`.
        payload: boxes on its tool frame that contain what it carries.
        cell: ground, walls and boxes; by default the ground at z = 0 of the root of the arm's description, or under
            what the arm stands on, if that reaches further down: a torso has legs.
    """
    cell = WorkCell() if cell is None else cell
    ground_assumed = cell.ground_height == 0.0 and not cell.boxes and not cell.planes
    check_cell(cell, robot)
    arm = []
    shape = arm_shape(robot)
    for capsule in shape.capsules:
        body, pose = frame_offset(robot, capsule.frame)
        start, end = (pose[:3, :3] @ point + pose[:3, 3] for point in (capsule.start, capsule.end))
        arm.append(PlacedCapsule(capsule.link, body, start, end, capsule.radius))
    planes = [HalfSpace(plane.name, plane.normal, float(plane.normal @ plane.point)) for plane in cell.planes]
    if cell.ground_height is not None:
        given = HalfSpace(GROUND, np.array([0.0, 0.0, 1.0]), cell.ground_height)
        planes.append(_assumed_ground(robot, shape) if ground_assumed else given)
    boxes = [PlacedBox(box.name, 0, _pose(box.rotation, box.center), box.half_extents) for box in cell.boxes]
    carried = [box.placed(robot) for box in payload]
    everything = {name for capsule in arm for name in (capsule.name, PAYLOAD)}
    at_base = {capsule.name for capsule in arm if capsule.body <= 1}
    at_tool = {capsule.name for capsule in arm if capsule.body >= robot.num_joints - 2}
    mounting, nothing = everything if ground_assumed else at_base, set[str]()
    groups = [  # with what of each is built to be near the other, and what is even built to touch it
        (*_before_planes(robot, arm, planes), mounting, mounting),
        (*_among_links(robot, arm), everything, everything),
        (*_arm_and_boxes(robot, arm, boxes), at_base, at_base),
        (*_payload_before_planes(robot, carried, planes), nothing, nothing),
        (*_payload_and_arm(robot, carried, arm), everything, at_tool),
        (*_payload_and_boxes(robot, carried, boxes), nothing, nothing),
    ]
    poses = sampled_poses(robot)
    kept, rooms, allowances, touching, apart = [], [], [], [], []
    for group, columns, near, touches in groups:
        gaps = group.at(poses).values
        room, allowed, keep = np.empty(len(columns)), np.zeros(len(columns)), np.ones(len(columns), dtype=bool)
        for thing in dict.fromkeys(columns):
            of_pair = [index for index, other in enumerate(columns) if other == thing]
            nearest = np.sort(gaps[:, of_pair].min(axis=1))
            room[of_pair] = nearest[math.ceil(ALMOST_ALL * len(nearest)) - 1]
            pair = group.pairs[of_pair[0]]
            if group.capsule_pairs and np.mean(nearest < 0.0) > 1.0 - ALMOST_ALL:
                allowed[of_pair] = _allowance(group, shape, of_pair)
                room[of_pair] += allowed[of_pair]
            if np.isinf(allowed[of_pair[0]]):
                apart.append(pair)
                keep[of_pair] = False
            elif near.isdisjoint(pair) or (room[of_pair[0]] < ROUNDING and touches.isdisjoint(pair)):
                room[of_pair] = np.inf
            elif room[of_pair[0]] < ROUNDING:
                touching.append(pair)
                keep[of_pair] = False
        kept.append(_without(group, keep))
        rooms.append(room[keep])
        allowances.append(allowed[keep])
    some = [index for index, group in enumerate(kept) if group.pairs]
    return CollisionScene(
        robot,
        tuple(kept[i] for i in some),
        tuple(rooms[i] for i in some),
        tuple(allowances[i] for i in some),
        tuple(dict.fromkeys(touching)),
        tuple(dict.fromkeys(apart)),
    )


def _assumed_ground(robot: Robot, shape: ArmShape) -> HalfSpace:
    """The ground that the robot stands on if nobody says otherwise: z = 0 of its root, or its own lowest point."""
    _, root = frame_offset(robot, robot.root_frame)
    up, bodies = root[:3, 2], dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
    lowest = [float((hull @ up).min()) for link, hull in shape.hulls.items() if bodies[link] == 0]
    return HalfSpace(GROUND, up, min([float(up @ root[:3, 3]), *lowest]))


def sampled_poses(robot: Robot, count: int = POSES, seed: int = SEED) -> FloatArray:
    """(count, n) poses drawn evenly from the joints' ranges [rad or m]; the same ones every time."""
    return np.random.default_rng(seed).uniform(*_ranges(robot), (count, robot.num_joints))


def _ranges(robot: Robot) -> tuple[FloatArray, FloatArray]:
    """(n,) lower and upper ends of the joints' ranges; a turn, or `_SLIDE`, where there is no limit."""
    limits, prismatic = robot.limits, robot.chain.prismatic
    widest = np.where(prismatic, _SLIDE, 2.0 * np.pi)
    lower = np.where(np.isfinite(limits.lower), limits.lower, np.nan)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.nan)
    lower = np.where(np.isnan(lower), np.where(np.isnan(upper), -widest / 2.0, upper - widest), lower)
    return lower, np.where(np.isnan(upper), lower + widest, upper)


def _allowance(group: Distances, shape: ArmShape, columns: list[int]) -> float:
    """How far the capsules of two links two joints apart may overlap without the links' convex hulls meeting [m].

    A capsule reaches beyond its link by centimetres, and such links are often no farther apart. How they stand to each
    other depends on two joints only, so all of it is looked at: the poses of a grid, from those with least overlap on,
    up to the first in which no plane was found to separate the hulls. Infinite if there is none; 0 for other links.
    """
    robot, pair = group.robot, group.pairs[columns[0]]
    bodies = dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
    first, second = (bodies[link] for link in pair)
    if second != first + 2 or not all(link in shape.hulls for link in pair):
        return 0.0
    lower, upper = (ends[first : first + 2] for ends in _ranges(robot))
    steps = np.linspace(0.0, 1.0, _GRID)
    q = np.zeros((_GRID**2, robot.num_joints))
    q[:, first : first + 2] = lower + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * (upper - lower)
    depth = -group.at(q).values[:, columns].min(axis=1)
    order = np.argsort(depth)
    order = order[depth[order] > 0.0]
    frames = (robot.base_frame, *(joint.child for joint in robot.moving_joints))
    one, other = (forward_kinematics(robot, q[order], frames[body]) for body in (first, second))
    turns = np.swapaxes(one[:, :3, :3], 1, 2)
    between = np.einsum("tij,tj->ti", turns, other[:, :3, 3] - one[:, :3, 3])
    relative = turns @ other[:, :3, :3]
    hull, opposite = (shape.hulls[link] for link in pair)

    def searched() -> FloatArray:
        return np.array([_least_meeting(hull, opposite, relative, between, depth[order])])

    known = kept("allowance-1", (hull, opposite, relative, between, depth[order]), searched, _is_allowance)
    return float(known[0])


def _is_allowance(found: FloatArray) -> bool:
    return found.shape == (1,) and bool(found[0] >= 0.0)


def _least_meeting(
    one: FloatArray, other: FloatArray, turns: FloatArray, between: FloatArray, depth: FloatArray
) -> float:
    """The overlap (T,) of the first pose in which no plane separates hulls, less `GUARD`; infinite if there is none."""
    (outer, reach), (inner, more) = (coarser_hull(corners) for corners in (one, other))
    for part in np.array_split(np.arange(len(depth)), max(1, -(-len(depth) // _GRID))):
        meet = hull_gaps(outer, inner, turns[part], between[part]) <= reach + more
        if meet.any():
            return max(float(depth[part[int(np.argmax(meet))]]) - GUARD, 0.0)
    return math.inf


_Group = tuple[Distances, list[tuple[int, int]]]
"""Pairs of shapes, and for each of its columns the two things that the shapes are parts of."""


def _before_planes(robot: Robot, arm: list[PlacedCapsule], planes: list[HalfSpace]) -> _Group:
    points = [
        PlacedPoint(capsule.name, capsule.body, end, capsule.radius)
        for capsule in arm
        if capsule.body > 0
        for end in ((capsule.start, capsule.end) if (capsule.start != capsule.end).any() else (capsule.start,))
    ]
    first_axis, turns = robot.chain.origins[0, 2:9:3], not robot.chain.prismatic[0]
    pairs = [
        (i, j)
        for i, point in enumerate(points)
        for j, plane in enumerate(planes)
        if point.body > 1 or not (turns and abs(first_axis @ plane.normal) > _PARALLEL)
    ]
    distances = Distances(
        "robot-ground collision", robot, points=tuple(points), planes=tuple(planes), plane_pairs=tuple(pairs)
    )
    return distances, [(robot.frames.index(points[i].name), j) for i, j in pairs]


def _among_links(robot: Robot, arm: list[PlacedCapsule]) -> _Group:
    pairs = [(i, j) for i, a in enumerate(arm) for j, b in enumerate(arm) if b.body > a.body + 1]
    distances = Distances("robot-robot collision", robot, tuple(arm), capsule_pairs=tuple(pairs))
    return distances, [(robot.frames.index(arm[i].name), robot.frames.index(arm[j].name)) for i, j in pairs]


def _arm_and_boxes(robot: Robot, arm: list[PlacedCapsule], boxes: list[PlacedBox]) -> _Group:
    pairs = [(i, j) for i, capsule in enumerate(arm) if capsule.body > 0 for j in range(len(boxes))]
    distances = Distances("robot-box collision", robot, tuple(arm), tuple(boxes), box_pairs=tuple(pairs))
    return distances, [(robot.frames.index(arm[i].name), j) for i, j in pairs]


def _payload_before_planes(robot: Robot, carried: list[PlacedBox], planes: list[HalfSpace]) -> _Group:
    corners = [PlacedPoint(PAYLOAD, box.body, corner) for box in carried for corner in box.corners]
    pairs = [(i, j) for i in range(len(corners)) for j in range(len(planes))]
    distances = Distances(
        "payload-ground collision", robot, points=tuple(corners), planes=tuple(planes), plane_pairs=tuple(pairs)
    )
    return distances, [(0, j) for _, j in pairs]


def _payload_and_arm(robot: Robot, carried: list[PlacedBox], arm: list[PlacedCapsule]) -> _Group:
    pairs = [(i, j) for i, c in enumerate(arm) if c.body < robot.num_joints for j in range(len(carried))]
    distances = Distances("payload-robot collision", robot, tuple(arm), tuple(carried), box_pairs=tuple(pairs))
    return distances, [(robot.frames.index(arm[i].name), 0) for i, _ in pairs]


def _payload_and_boxes(robot: Robot, carried: list[PlacedBox], boxes: list[PlacedBox]) -> _Group:
    count = len(carried)
    pairs = [(i, count + j) for i in range(count) for j in range(len(boxes))]
    distances = Distances("payload-box collision", robot, boxes=(*carried, *boxes), box_box_pairs=tuple(pairs))
    return distances, [(0, j) for _, j in pairs]


def _without(group: Distances, kept: Iterable[bool]) -> Distances:
    """The group with those of its columns that are kept."""
    keep = iter(kept)
    chosen = {
        name: tuple(pair for pair in getattr(group, name) if next(keep))
        for name in ("capsule_pairs", "box_pairs", "box_box_pairs", "plane_pairs")
    }
    return Distances(group.name, group.robot, group.capsules, group.boxes, group.points, group.planes, **chosen)


def _pose(rotation: FloatArray, position: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose
