"""The arm's shape for collision tests: capsules on its bodies.

Where the description gives meshes or primitive shapes, the capsules enclose them. Where it gives none, as for the arms
of the catalogue, they run along the lines between the joints, with radii that the catalogue knows, or with the radius
that the link's mass has at `DENSITY`, from `THINNEST` to `THICKEST`. This is good enough to refuse a motion that drives
the arm into the table; it is no safety function.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import FileFormatError, InputError
from iparam.files.kept import kept
from iparam.robot.catalog import catalog_arm, robot_names
from iparam.robot.collision.fitting import (
    MOST_CAPSULES,
    FittedCapsule,
    Hull,
    enclosing_capsules,
    hull_points,
    hull_reaches,
)
from iparam.robot.collision.geometry import LinkGeometry
from iparam.robot.model import Robot

DENSITY = 1500.0
"""Mean density of an arm's link, for the guess of its thickness from its mass [kg/m^3]."""

THINNEST, THICKEST = 0.02, 0.12
"""Bounds of guessed radii [m]."""

MOST_LINKS = 4
"""Links of one body that have capsules of their own; the shapes of more, as on a hand, are taken as one."""

MOST_ON_BASE = 12
"""Groups of neighbours that more links of the base are taken as, see `gathered`: the arm works between them."""

WIDE, MOST_OF_BASE, MOST_OF_GROUP = 0.06, 12, 6
"""Overhang from which on a part of the base has more capsules [m], and how many: alone, and as one group of several."""

FIT_METHOD = "capsules-1"
"""Name of the way capsules are fitted, in the cache of fits: another way is another number."""

_PARALLEL = 0.999  # cosine of the angle between joint axes that count as parallel
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within ``radius`` of a segment, which may have no length (a sphere); fixed to a link.

    Attributes:
        body: the moving body it belongs to: 0 the base, i what joint i (from 1) carries.
        frame: the link whose frame ``start`` and ``end`` are given in, one of ``robot.frames``.
        start, end: (3,) ends of the segment in that frame [m].
        radius: [m].
        link: whose shape it is: the same, or another that is fixed to it; the same if not given.
    """

    body: int
    frame: str
    start: FloatArray
    end: FloatArray
    radius: float
    link: str = ""

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            point = as_float_array(getattr(self, name), name)
            if point.shape != (3,):
                raise InputError(f"{name} of a capsule must have shape (3,), got {point.shape}")
            object.__setattr__(self, name, frozen(point))
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise InputError(f"radius of a capsule must be positive, got {self.radius!r}")
        object.__setattr__(self, "link", self.link or self.frame)

    @property
    def length(self) -> float:
        """Of the segment [m]."""
        return float(np.linalg.norm(self.end - self.start))


@dataclass(frozen=True, eq=False)
class ArmShape:
    """The capsules of an arm, and what they rest on.

    Attributes:
        capsules: in order from the base.
        hulls: of each link with a shape in its description: the corners (V, 3) of its convex hull, in the frame of its
            capsules [m]. A body of many links has them in one, under the name of the first.
        overhang: of each of those: how far its capsules reach beyond that hull, at most [m].
        notes: what of the description's shape is missing and what stands for it; one sentence each.
    """

    capsules: tuple[Capsule, ...]
    hulls: dict[str, FloatArray]
    overhang: dict[str, float]
    notes: tuple[str, ...] = ()


def link_capsules(robot: Robot) -> tuple[Capsule, ...]:
    """Capsules on the base and all moving bodies, in order from the base; see `arm_shape`."""
    return arm_shape(robot).capsules


@lru_cache(maxsize=32)
def arm_shape(robot: Robot) -> ArmShape:
    """The arm's capsules, from its description's shapes as far as they can be read, else along its joints.

    The arms of the catalogue, and files that describe them under their names, have capsules along their joints with the
    catalogue's radii; what else is mounted on such an arm has its own shape.

    A body that has mass and no shape, or a shape of which a part cannot be read, has capsules along its joints. A body
    that has neither mass nor a shape, in a description that gives shapes, has none.
    """
    frames = (robot.base_frame, *(joint.child for joint in robot.moving_joints))
    described, known = any(link.geometry for link in robot.links), bool(_known_radii(robot))
    masses = _masses(robot)
    capsules: list[Capsule] = []
    hulls: dict[str, FloatArray] = {}
    overhang: dict[str, float] = {}
    unread: list[str] = []
    shapeless: list[str] = []
    for body, frame in enumerate(frames):
        links = _pieces(robot, body)
        if known:
            links = {name: pieces for name, pieces in links.items() if body and name != frame}
        if len(links) > MOST_LINKS:
            links = {frame: tuple(chain.from_iterable(links.values()))} if body else _groups(links)
        failures: list[str] = []
        guessed = set() if described else {link.name for link in robot.links}
        for link, pieces in links.items():
            fit = _fit(pieces, MOST_CAPSULES if len(links) == 1 else MOST_CAPSULES - 1)
            if not body and fit.overhang > WIDE:  # a mobile base, a torso: the arm works close to it
                fit = _fit(pieces, MOST_OF_BASE if len(links) == 1 else MOST_OF_GROUP)
            failures += fit.failures
            guessed |= set(fit.incomplete)
            if fit.capsules:
                capsules += [Capsule(body, frame, one.start, one.end, one.radius, link) for one in fit.capsules]
                hulls[link], overhang[link] = fit.hull, fit.overhang
        unread += failures
        capsules += _beside_the_arm(robot, body, frame, guessed)
        if known or failures or (not links and (not described or masses[body] > 0.0)):
            capsules += _along_joints(robot, body, frame)
            if described and not failures and not known:
                shapeless.append(frame)
    notes = []
    if unread:
        more = f" and {len(unread) - _MOST_NAMED} more" if len(unread) > _MOST_NAMED else ""
        notes.append(
            f"{'; '.join(unread[:_MOST_NAMED])}{more}: for collisions, capsules along the joints stand for what is "
            "missing, as thick as the links' masses suggest"
        )
    if shapeless:
        notes.append(f"{', '.join(shapeless)}: no shape in the file; capsules along the joints stand for it")
    return ArmShape(tuple(capsules), hulls, overhang, tuple(notes))


def _masses(robot: Robot) -> FloatArray:
    """(n + 1,) of the base and the moving bodies [kg]."""
    masses = np.zeros(robot.num_joints + 1)
    for link, body in zip(robot.links, robot.chain.frame_bodies, strict=True):
        if link.inertial is not None:
            masses[body] += link.inertial.mass
    return masses


_Piece = tuple[LinkGeometry, str, bytes]
"""A piece, the name of its link, and the pose (4, 4) of that in the frame of the body's own link."""


def _pieces(robot: Robot, body: int) -> dict[str, tuple[_Piece, ...]]:
    """Those of each link of a body that has any."""
    chain = robot.chain
    turn = np.eye(4)
    if body:
        turn[:3, :3] = chain.link_turns[body - 1].reshape(3, 3).T
    found: dict[str, tuple[_Piece, ...]] = {}
    for index in np.flatnonzero(chain.frame_bodies == body):
        offset = np.eye(4)
        offset[:3, :3], offset[:3, 3] = chain.frame_offsets[index, :9].reshape(3, 3), chain.frame_offsets[index, 9:]
        link = robot.links[index]
        if link.geometry:
            found[link.name] = tuple((piece, link.name, (turn @ offset).tobytes()) for piece in link.geometry)
    return found


def _groups(links: Mapping[str, tuple[_Piece, ...]]) -> dict[str, tuple[_Piece, ...]]:
    """The pieces of neighbouring links together; what cannot be read stays with the link that it is of."""
    boxes = {name: _box(pieces) for name, pieces in links.items()}
    read = {name: box for name, box in boxes.items() if box is not None}
    groups = gathered(read, MOST_ON_BASE)
    found = {name: tuple(piece for one in group for piece in links[one]) for name, group in groups.items()}
    return found | {name: links[name] for name in links if name not in read}


def _box(pieces: tuple[_Piece, ...]) -> FloatArray | None:
    """(2, 3) lowest and highest corner of what can be read of some pieces; None if that is nothing."""
    ends = []
    for piece, _, packed in pieces:
        pose = np.frombuffer(packed).reshape(4, 4)
        with contextlib.suppress(FileFormatError):  # said where it is fitted
            points = piece.triangles().reshape(-1, 3) @ pose[:3, :3].T + pose[:3, 3]
            ends += [points.min(axis=0), points.max(axis=0)]
    return np.array([np.min(ends, axis=0), np.max(ends, axis=0)]) if ends else None


class _Fit(NamedTuple):
    capsules: tuple[FittedCapsule, ...]
    hull: FloatArray
    overhang: float
    failures: tuple[str, ...]
    incomplete: tuple[str, ...]  # links of which a piece is not in it


@lru_cache(maxsize=256)
def _fit(pieces: tuple[_Piece, ...], most: int) -> _Fit:
    """Once for a link, whatever tool or payload the robot is given."""
    parts: list[FloatArray] = []
    failures: list[str] = []
    incomplete: list[str] = []
    for piece, link, packed in pieces:
        pose = np.frombuffer(packed).reshape(4, 4)
        try:
            parts.append(piece.triangles() @ pose[:3, :3].T + pose[:3, 3])
        except FileFormatError as error:
            failures.append(f"shape of {link}: {error}")
            incomplete.append(link)
    if not parts:
        return _Fit((), np.empty((0, 3)), 0.0, tuple(failures), tuple(incomplete))
    triangles = np.concatenate(parts)
    points = triangles.reshape(-1, 3)
    corners = kept(
        "hull-1", (points,), lambda: hull_points(points), lambda known: known.ndim == 2 and hull_reaches(known, points)
    )

    def fitted() -> FloatArray:
        found = enclosing_capsules(triangles, most, corners)
        return np.array([[*capsule.start, *capsule.end, capsule.radius] for capsule in found])

    rows = kept(FIT_METHOD, (triangles, np.array([float(most)])), fitted, lambda known: _encloses(known, points, most))
    capsules = tuple(FittedCapsule(row[:3], row[3:6], float(row[6])) for row in rows)

    def measured() -> FloatArray:
        hull = Hull.of(corners, 2000)
        return np.array([max(hull.overhang(capsule) for capsule in capsules)])

    (overhang,) = kept("overhang-1", (corners, rows), measured, lambda known: known.shape == (1,))
    return _Fit(capsules, frozen(corners), float(overhang), tuple(failures), tuple(incomplete))


def _encloses(rows: FloatArray, points: FloatArray, most: int) -> bool:
    """Whether rows (K, 7) are at most so many capsules, with every point (P, 3) in one of them."""
    if rows.ndim != 2 or rows.shape[1] != 7 or not 0 < len(rows) <= most or not np.isfinite(rows).all():
        return False
    inside = np.zeros(len(points), dtype=bool)
    for row in rows:
        start, way = row[:3], row[3:6] - row[:3]
        along = np.clip((points - start) @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
        inside |= np.linalg.norm(points - start - along[:, None] * way, axis=1) <= row[6]
    return bool(inside.all())


def _along_joints(robot: Robot, body: int, frame: str) -> list[Capsule]:
    """Capsules on a body from its joint to the next.

    If the axes of the two joints are parallel, as at the upper arm and the forearm of a UR, they run at the height of
    the centre of mass along the axes: such links lie beside each other.
    """
    known = _known_radii(robot)
    turn = robot.chain.link_turns[body - 1].reshape(3, 3).T if body else np.eye(3)
    points = _path(robot, body)
    radius = known[body] if known else _guessed_radius(robot, body, points)
    return [Capsule(body, frame, turn @ start, turn @ end, radius) for start, end in pairwise(points)]


def _beside_the_arm(robot: Robot, body: int, frame: str, guessed: set[str]) -> list[Capsule]:
    """Capsules for those of the named links that hang on a body beside the arm, as a locked second arm does.

    They run from the link's joint to those that it carries, or to its centre of mass if it carries none.
    """
    chain = robot.chain
    turn = chain.link_turns[body - 1].reshape(3, 3).T if body else np.eye(3)
    bodies = dict(zip(robot.frames, chain.frame_bodies.tolist(), strict=True))
    poses = dict(zip(robot.frames, chain.frame_offsets, strict=True))
    parents = {joint.child: joint.parent for joint in robot.joints}
    on_arm, link = {robot.base_frame}, robot.tool_frame
    while link != robot.base_frame:
        on_arm.add(link)
        link = parents[link]
    capsules: list[Capsule] = []
    for each in robot.links:
        name, inertial = each.name, each.inertial
        if name not in guessed or name in on_arm or bodies[name] != body or inertial is None or inertial.mass <= 0.0:
            continue
        start = poses[name][9:]
        ends = [poses[joint.child][9:] for joint in robot.joints if joint.parent == name and joint.child not in on_arm]
        ends = ends or [poses[name][:9].reshape(3, 3) @ inertial.center_of_mass + start]
        length = sum(float(np.linalg.norm(end - start)) for end in ends)
        radius = _radius_of(inertial.mass, length)
        capsules += [Capsule(body, frame, turn @ start, turn @ end, radius, name) for end in ends]
    return capsules


def _known_radii(robot: Robot) -> tuple[float, ...]:
    """Of the base and every link of an arm of the catalogue [m]; none of another arm."""
    radii = catalog_arm(robot.name).link_radii if robot.name in robot_names() else ()
    return radii if len(radii) == robot.num_joints + 1 else ()


def _path(robot: Robot, body: int) -> list[FloatArray]:
    """The line along a body, in the frame of `Chain`, whose z is the axis of the body's joint."""
    chain, origin = robot.chain, np.zeros(3)
    if body == robot.num_joints:
        return [origin, chain.tool[0, 9:]]
    end, next_axis = chain.origins[body, 9:], chain.origins[body, 2:9:3]
    mass = chain.phi[body - 1, 0] if body else 0.0
    if mass <= 0.0 or abs(next_axis[2]) < _PARALLEL or np.hypot(end[0], end[1]) < 1e-6:
        return [origin, end]
    height = np.array([0.0, 0.0, chain.phi[body - 1, 3] / mass])
    path = [origin, height, end * (1.0, 1.0, 0.0) + height, end]
    return [path[0], *(b for a, b in pairwise(path) if np.linalg.norm(b - a) > 1e-9)]


def _guessed_radius(robot: Robot, body: int, points: list[FloatArray]) -> float:
    """Radius of the capsule along the path that has the link's mass at DENSITY; the base is as thick as link 1."""
    of = max(body, 1)
    path = points if body else _path(robot, 1)
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(path))
    return _radius_of(float(robot.chain.phi[of - 1, 0]), length)


def _radius_of(mass: float, length: float) -> float:
    """Of a capsule of a mass [kg] at DENSITY, around a line of a length [m], within its bounds [m]."""
    volume = max(mass, 0.0) / DENSITY
    roots = np.roots([4.0 / 3.0 * np.pi, np.pi * length, 0.0, -volume])
    radius = max((root.real for root in roots if abs(root.imag) < 1e-9), default=0.0)
    return float(np.clip(radius, THINNEST, THICKEST))


THIN = 0.02
"""Least extent of a link for the volume of its box [m]: plates and points have some, too."""


def gathered(boxes: Mapping[str, FloatArray], most: int) -> dict[str, tuple[str, ...]]:
    """At most ``most`` groups of links, by the name of the largest in each, with the names of all in it.

    Those two groups become one whose common box has least volume that neither of them has.

    Args:
        boxes: (2, 3) lowest and highest corner of each link, in the axes of the body [m].
        most: groups, at least 1.
    """
    members: list[tuple[str, ...]] = [(name,) for name in boxes]
    low, high = (np.array([box[end] for box in boxes.values()], dtype=np.float64) for end in (0, 1))
    while len(members) > most:
        volume = _volumes(low, high)
        growth = _volumes(np.minimum(low[:, None], low), np.maximum(high[:, None], high)) - volume[:, None] - volume
        growth[np.tril_indices(len(members))] = np.inf
        one, other = np.unravel_index(int(np.argmin(growth)), growth.shape)
        members[one] = members[one] + members[other]
        low[one], high[one] = np.minimum(low[one], low[other]), np.maximum(high[one], high[other])
        del members[other]
        low, high = np.delete(low, other, axis=0), np.delete(high, other, axis=0)
    sizes = {name: float(_volumes(*box)) for name, box in boxes.items()}
    return {max(group, key=lambda name: sizes[name]): group for group in members}


def _volumes(low: FloatArray, high: FloatArray) -> FloatArray:
    return np.asarray(np.prod(np.maximum(high - low, THIN), axis=-1))
