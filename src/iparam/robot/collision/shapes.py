"""Shapes on the arm and around it, placed on their bodies and packed for the native core."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import InputError
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_payload_extent
from iparam.spatial.transforms import is_rotation

PAYLOAD, GROUND = "payload", "ground"
"""What messages call them."""


@dataclass(frozen=True, eq=False)
class PlacedCapsule:
    """All points within ``radius`` of a segment fixed to a body; a sphere where the ends coincide.

    Attributes:
        name: what messages call it.
        body: 0 for the base and everything that stands still, i for what moving joint i (from 1) carries.
        start, end: (3,) in the body's frame of `Chain` [m].
        radius: [m].
    """

    name: str
    body: int
    start: FloatArray
    end: FloatArray
    radius: float

    @property
    def row(self) -> list[float]:
        """What the kernels read: [body, start, end, radius]."""
        return [float(self.body), *self.start, *self.end, self.radius]


@dataclass(frozen=True, eq=False)
class PlacedBox:
    """A solid box fixed to a body.

    Attributes:
        name: what messages call it.
        body: as in `PlacedCapsule`.
        pose: (4, 4) of its centre and axes in the body's frame of `Chain` [m].
        half_extents: (3,) [m].
    """

    name: str
    body: int
    pose: FloatArray
    half_extents: FloatArray

    @property
    def row(self) -> list[float]:
        """What the kernels read: [body, rotation (9), centre (3), half extents (3)]."""
        return [float(self.body), *self.pose[:3, :3].ravel(), *self.pose[:3, 3], *self.half_extents]

    @property
    def corners(self) -> FloatArray:
        """(8, 3) in the body's frame [m]."""
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return (signs * self.half_extents) @ self.pose[:3, :3].T + self.pose[:3, 3]

    def enclosing_sphere(self) -> PlacedCapsule:
        """The smallest sphere about its centre that contains it."""
        center = self.pose[:3, 3]
        return PlacedCapsule(self.name, self.body, center, center, float(np.linalg.norm(self.half_extents)))


@dataclass(frozen=True, eq=False)
class PlacedPoint:
    """A ball fixed to a body, or a point if it has no radius, to be kept in front of planes.

    Attributes:
        name, body: as in `PlacedCapsule`.
        position: (3,) in the body's frame of `Chain` [m].
        radius: [m].
    """

    name: str
    body: int
    position: FloatArray
    radius: float = 0.0

    @property
    def row(self) -> list[float]:
        """What the kernels read: [body, position, radius]."""
        return [float(self.body), *self.position, self.radius]


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """What is solid behind a plane: all x with normal . x < offset, in the base frame.

    Attributes:
        name: what messages call it.
        normal: (3,) unit vector into the free space.
        offset: [m].
    """

    name: str
    normal: FloatArray
    offset: float

    @property
    def row(self) -> list[float]:
        """What the kernels read: [normal, offset]."""
        return [*self.normal, self.offset]


def frame_offset(robot: Robot, frame: str) -> tuple[int, FloatArray]:
    """The body that a frame is fixed to, and its pose (4, 4) in that body's frame of `Chain`."""
    index = robot.frames.index(frame)
    packed = robot.chain.frame_offsets[index]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = packed[:9].reshape(3, 3), packed[9:]
    return int(robot.chain.frame_bodies[index]), pose


@dataclass(frozen=True, eq=False)
class PayloadBox:
    """A box that encloses what the tool carries, or a part of it.

    Attributes:
        half_extents: (3,) half of its edge lengths along its axes [m].
        center: (3,) in the tool frame [m].
        rotation: (3, 3) from its axes to the tool's; the tool's axes if not given.
    """

    half_extents: FloatArray
    center: FloatArray
    rotation: FloatArray = field(default_factory=lambda: frozen(np.eye(3)))

    def __post_init__(self) -> None:
        for name in ("half_extents", "center"):
            value = as_bounded_array(getattr(self, name), f"payload {name}")
            if value.shape != (3,):
                raise InputError(f"payload {name} must have shape (3,), got {value.shape}")
            object.__setattr__(self, name, frozen(value))
        if (self.half_extents <= 0).any():
            raise InputError(f"payload half_extents must be positive, got {self.half_extents.tolist()}")
        rotation = as_float_array(self.rotation, "payload rotation")
        if rotation.shape != (3, 3) or not is_rotation(rotation):
            raise InputError("payload rotation must be a 3x3 rotation matrix")
        object.__setattr__(self, "rotation", frozen(rotation))

    @classmethod
    def from_size(cls, size: ArrayLike, center: ArrayLike | None = None) -> PayloadBox:
        """A box of edge lengths ``size`` (3,) [m], by default standing on the tool frame's origin along its z."""
        edges = as_float_array(size, "payload size", (3,))
        middle = np.array([0.0, 0.0, edges[2] / 2]) if center is None else as_float_array(center, "payload center")
        return cls(edges / 2, middle)

    def placed(self, robot: Robot) -> PlacedBox:
        """The box on the robot's last body; refused if it is far too large for the arm."""
        body, pose = frame_offset(robot, robot.tool_frame)
        offset = np.eye(4)
        offset[:3, :3], offset[:3, 3] = self.rotation, self.center
        box = PlacedBox(PAYLOAD, body, pose @ offset, self.half_extents)
        corners = PlacedBox(PAYLOAD, body, offset, self.half_extents).corners
        check_payload_extent(float(np.linalg.norm(corners, axis=1).max()), robot)
        return box
