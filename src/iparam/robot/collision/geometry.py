"""`LinkGeometry`: a piece of a link's shape as a robot description gives it, and its triangles."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

import numpy as np

from iparam.arrays import LARGEST, FloatArray, as_bounded_array, frozen
from iparam.errors import FileFormatError, RobotModelError
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.meshes import mesh_bodies
from iparam.files.reading_limit import read_bounded
from iparam.spatial.transforms import is_transform

MESHES = (".stl", ".obj", ".dae")
COUNTED = frozenset((".dae",))
"""Those in which one number can stand for any memory and time; in the others the size of the file bounds both."""

MAX_BYTES = 100_000_000
LARGEST_EXTENT = 10.0
"""Longest side of a link's mesh that is believed to be in metres [m]."""

_AROUND, _ON_SPHERE = 24, 120  # corners of what stands around a cylinder and a sphere


class GeometryKind(StrEnum):
    """What a piece is, and after it its sizes [m]."""

    MESH = "mesh"  # none
    BOX = "box"  # edges x, y, z
    CYLINDER = "cylinder"  # radius, length along z
    CAPSULE = "capsule"  # radius, length along z between the centres of its ends
    ELLIPSOID = "ellipsoid"  # half axes x, y, z
    SPHERE = "sphere"  # radius


_SIZES = {
    GeometryKind.MESH: 0,
    GeometryKind.BOX: 3,
    GeometryKind.CYLINDER: 2,
    GeometryKind.CAPSULE: 2,
    GeometryKind.ELLIPSOID: 3,
    GeometryKind.SPHERE: 1,
}


@dataclass(frozen=True, eq=False)
class LinkGeometry:
    """A piece of a link.

    Attributes:
        kind: mesh, box, cylinder, capsule, ellipsoid or sphere.
        pose: (4, 4) from its own frame to the link's [m].
        size: see `GeometryKind` [m].
        reference: to a mesh's file, as the description has it.
        file: that it leads to; None if it leads to none.
        scale: (3,) of a mesh.
        faces: (F, 3, 3) corners of a mesh's triangles in its own frame [m], if the description holds them itself.
    """

    kind: GeometryKind
    pose: FloatArray
    size: tuple[float, ...] = ()
    reference: str = ""
    file: Path | None = None
    scale: FloatArray = field(default_factory=lambda: frozen(np.ones(3)))
    faces: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", GeometryKind(self.kind))
        if not is_transform(self.pose):
            raise RobotModelError(f"pose of a link's {self.kind} is not a rigid 4x4 transform")
        size = as_bounded_array(self.size, f"size of a link's {self.kind}")
        if size.shape != (_SIZES[self.kind],) or not (size > 0.0).all():
            raise RobotModelError(
                f"a link's {self.kind} needs {_SIZES[self.kind]} positive lengths [m], got {size.tolist()}"
            )
        object.__setattr__(self, "size", tuple(size.tolist()))
        object.__setattr__(self, "pose", frozen(self.pose))
        object.__setattr__(self, "scale", frozen(self.scale))

    def triangles(self) -> FloatArray:
        """(F, 3, 3) corners of triangles around it, in the link's frame [m]; those of a round piece enclose it.

        Raises:
            FileFormatError: its mesh is missing, cannot be read, or is no link's in metres.
        """
        if self.kind is GeometryKind.MESH:
            if self.faces is None and self.file is None:
                raise FileFormatError(f"the mesh {self.reference!r} was not found")
            own = self.faces if self.file is None else mesh_triangles(self.file)
            local = np.asarray(own) * self.scale
            extent = float(np.ptp(local.reshape(-1, 3), axis=0).max())
            if extent > LARGEST_EXTENT:
                raise FileFormatError(
                    f"{self.file or self.reference}: the mesh is {extent:.4g} m long: one in millimetres needs scale "
                    "0.001 in the file"
                )
        elif self.kind is GeometryKind.BOX:
            local = _hull(_corners(np.array(self.size) / 2.0))
        elif self.kind is GeometryKind.CYLINDER:
            radius, length = self.size
            angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
            ring = radius / np.cos(np.pi / _AROUND) * np.column_stack([np.cos(angles), np.sin(angles)])
            heights = np.repeat([-length / 2.0, length / 2.0], _AROUND)
            local = _hull(np.column_stack([np.tile(ring, (2, 1)), heights]))
        elif self.kind is GeometryKind.CAPSULE:
            radius, length = self.size
            ball, up = radius * _around_unit_sphere().reshape(-1, 3), np.array([0.0, 0.0, length / 2.0])
            local = _hull(np.concatenate([ball - up, ball + up]))
        else:  # a sphere, or one that is stretched
            local = _around_unit_sphere() * np.array(self.size)
        return local @ self.pose[:3, :3].T + self.pose[:3, 3]


def mesh_triangles(path: Path) -> FloatArray:
    """(F, 3, 3) corners of the triangles of an STL, OBJ or COLLADA file, in its own units, COLLADA's in metres.

    Raises:
        FileFormatError: the file is too large, or cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in MESHES:
        raise FileFormatError(f"{path}: a mesh must be one of {', '.join(MESHES)}")
    try:
        content = read_bounded(path, MAX_BYTES, f"the mesh {str(path)!r}", "a mesh file")
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise FileFormatError(f"{path}: larger than {MAX_BYTES // 10**6} MB: let a mesh program make it coarser")
    if suffix in COUNTED:
        return in_limited_process(file_triangles, str(path), {"path": str(path)}, content=content)[1]["triangles"]
    return file_triangles(str(path), content)[1]["triangles"]


def file_triangles(path: str, content: bytes) -> Outcome:
    """The array ``triangles`` of a file with this content, see `mesh_triangles`."""
    try:
        with np.errstate(all="ignore"):
            bodies = mesh_bodies(content, Path(path).suffix.lower()[1:])
    except MemoryError:
        raise
    except Exception as error:  # whatever a parser meets in a damaged file
        reason = str(error) or type(error).__name__
        raise FileFormatError(f"{path}: cannot be read as a mesh: {reason}") from None
    if not bodies:
        raise FileFormatError(f"{path}: holds no triangles")
    triangles = np.concatenate([np.asarray(mesh.triangles, dtype=np.float64) for _, mesh in bodies])
    if not (np.isfinite(triangles).all() and np.abs(triangles).max() <= LARGEST):
        raise FileFormatError(f"{path}: has a vertex that is not finite, or beyond {LARGEST:g}")
    return None, {"triangles": triangles}


def _corners(half: FloatArray) -> FloatArray:
    return np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]) * half


@cache
def _around_unit_sphere() -> FloatArray:
    """Triangles of a polyhedron that contains the sphere of radius 1, and reaches little beyond it."""
    from scipy.spatial import ConvexHull

    steps = np.arange(_ON_SPHERE) + 0.5
    z, angle = 1.0 - 2.0 * steps / _ON_SPHERE, np.pi * (1.0 + 5.0**0.5) * steps
    ring = np.sqrt(1.0 - z**2)
    points = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
    hull = ConvexHull(points)
    return np.asarray(points[hull.simplices] / -hull.equations[:, 3].max(), dtype=np.float64)


def _hull(points: FloatArray) -> FloatArray:
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).simplices], dtype=np.float64)
    except QhullError:  # thinner than rounding: every point on its own
        return np.repeat(points[:, None], 3, axis=1)
