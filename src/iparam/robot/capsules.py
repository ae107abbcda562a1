"""The arm's shape for collision tests: capsules along its links.

A description of an arm's masses and joints does not say how thick the links are. `link_capsules` lays capsules along
the lines between the joints; their radii are known for the catalogue's arms and guessed from the mass for others. This
is good enough to refuse a motion that drives the arm into the table; it is no safety function.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.robot.catalog import catalog_arm, robot_names
from iparam.robot.model import Robot

DENSITY = 1500.0
"""Mean density of an arm's link, for the guess of its thickness from its mass [kg/m^3]."""

THINNEST, THICKEST = 0.02, 0.12
"""Bounds of guessed radii [m]."""

_PARALLEL = 0.999  # cosine of the angle between joint axes that count as parallel


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within ``radius`` of a segment, which may have no length (a sphere); fixed to a link.

    Attributes:
        body: the moving body it belongs to: 0 the base, i what joint i (from 1) carries.
        frame: the link whose frame ``start`` and ``end`` are given in, one of ``robot.frames``.
        start, end: (3,) ends of the segment in that frame [m].
        radius: [m].
    """

    body: int
    frame: str
    start: FloatArray
    end: FloatArray
    radius: float

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            point = as_float_array(getattr(self, name), name)
            if point.shape != (3,):
                raise InputError(f"{name} of a capsule must have shape (3,), got {point.shape}")
            object.__setattr__(self, name, frozen(point))
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise InputError(f"radius of a capsule must be positive, got {self.radius!r}")

    @property
    def length(self) -> float:
        """Of the segment [m]."""
        return float(np.linalg.norm(self.end - self.start))


def link_capsules(robot: Robot) -> tuple[Capsule, ...]:
    """Capsules along the base and all moving links, in order from the base.

    A link runs straight from its joint to the next. If the axes of the two joints are parallel, as at the upper arm and
    the forearm of a UR, it runs at the height of its centre of mass along the axes: such links lie beside each other.
    """
    chain = robot.chain
    known = catalog_arm(robot.name).link_radii if robot.name in robot_names() else ()
    frames = (robot.base_frame, *(joint.child for joint in robot.moving_joints))
    capsules: list[Capsule] = []
    for body, frame in enumerate(frames):
        turn = chain.link_turns[body - 1].reshape(3, 3) if body else np.eye(3)
        points = _path(robot, body)
        radius = known[body] if len(known) == len(frames) else _guessed_radius(robot, body, points)
        for start, end in pairwise(points):
            capsules.append(Capsule(body, frame, turn @ start, turn @ end, radius))
    return tuple(capsules)


def colliding_bodies(
    robot: Robot, capsules: tuple[Capsule, ...], clearance: float = 0.0
) -> tuple[tuple[int, int], ...]:
    """Pairs of bodies (i, j), i < j, that can hit each other, so that a test of the others would only raise alarms.

    Neighbours share a joint and always touch. So do bodies that are farther apart in the chain if all links between
    them together are shorter than the two are thick, plus the clearance [m] that they are to keep.
    """
    thickness = {capsule.body: capsule.radius for capsule in capsules}
    lengths = np.linalg.norm(robot.chain.origins[:, 9:], axis=1)  # of link i - 1, up to joint i
    pairs = []
    for i in thickness:
        for j in thickness:
            if j > i + 1 and lengths[i + 1 : j].sum() > thickness[i] + thickness[j] + clearance:
                pairs.append((i, j))
    return tuple(pairs)


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
    volume = max(float(robot.chain.phi[of - 1, 0]), 0.0) / DENSITY
    roots = np.roots([4.0 / 3.0 * np.pi, np.pi * length, 0.0, -volume])
    radius = max((root.real for root in roots if abs(root.imag) < 1e-9), default=0.0)
    return float(np.clip(radius, THINNEST, THICKEST))
