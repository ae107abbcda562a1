"""The solids that a payload's shape is made of, posed in the tool frame: convex pieces, and closed meshes from OBJ and
STL files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import FileFormatError, InputError
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.meshes import mesh_bodies
from iparam.spatial.transforms import is_transform
from iparam.trajectory.checks import positive_number


class SolidKind(StrEnum):
    """The primitive solids; their sizes are (edges x, y, z), (radius, length along z) and (radius,)."""

    BOX = "box"
    CYLINDER = "cylinder"
    SPHERE = "sphere"


SHORTEST = 1e-9
"""Of a solid's lengths [m]: the volume of anything smaller would be no number."""

_SIZES = {SolidKind.BOX: 3, SolidKind.CYLINDER: 2, SolidKind.SPHERE: 1}


@dataclass(frozen=True, eq=False)
class Solid:
    """A primitive solid.

    Attributes:
        kind: box, cylinder or sphere.
        size: see `SolidKind` [m].
        pose: (4, 4) from its own frame, at its centre, to the tool frame [m].
    """

    kind: SolidKind
    size: tuple[float, ...]
    pose: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", SolidKind(self.kind))
        size = as_bounded_array(self.size, f"size of a {self.kind}")
        if size.shape != (_SIZES[self.kind],) or (size < SHORTEST).any():
            raise InputError(
                f"a {self.kind} needs {_SIZES[self.kind]} positive lengths [m], at least {SHORTEST:g}, got "
                f"{np.atleast_1d(size).tolist()}"
            )
        if not is_transform(self.pose):
            raise InputError(f"pose of a {self.kind} is not a rigid 4x4 transform")
        object.__setattr__(self, "size", tuple(float(length) for length in size))
        object.__setattr__(self, "pose", frozen(self.pose))

    @property
    def volume(self) -> float:
        """[m^3]."""
        if self.kind is SolidKind.BOX:
            return float(np.prod(self.size))
        if self.kind is SolidKind.CYLINDER:
            return float(np.pi * self.size[0] ** 2 * self.size[1])
        return float(4.0 / 3.0 * np.pi * self.size[0] ** 3)


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A closed surface of triangles, in the tool frame.

    Attributes:
        vertices: (V, 3) [m].
        faces: (F, 3) indices of the vertices, counter-clockwise from outside.
    """

    vertices: FloatArray
    faces: NDArray[np.int64]

    def __post_init__(self) -> None:
        vertices, faces = as_float_array(self.vertices, "vertices", (3,)), np.array(self.faces, dtype=np.int64)
        if vertices.ndim != 2 or faces.ndim != 2 or faces.shape[1] != 3:
            raise InputError(f"a mesh needs vertices (V, 3) and faces (F, 3), got {vertices.shape} and {faces.shape}")
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", frozen(vertices))
        object.__setattr__(self, "faces", faces)


SUFFIXES = (".obj", ".stl")
MAX_BYTES = 200_000_000
SMALLEST_EXTENT, LARGEST_EXTENT = 1e-3, 3.0
"""Bounds of the longest side of what an arm can carry [m]; outside them a file's units are not metres."""


@dataclass(frozen=True, eq=False)
class SolidMesh:
    """A closed mesh and the integrals over its inside, in its file's frame.

    Attributes:
        vertices: (V, 3) [m].
        faces: (F, 3) indices of the vertices, counter-clockwise from outside.
        volume: [m^3].
        center_of_mass: (3,) for uniform density [m].
        second_moments: (3, 3) inertia about the centre of mass for a density of 1 kg/m^3 [m^5].
    """

    vertices: FloatArray
    faces: NDArray[np.int64]
    volume: float
    center_of_mass: FloatArray
    second_moments: FloatArray


def load_solid_mesh(path: str | os.PathLike[str], scale: float = 1.0) -> SolidMesh:
    """Read a mesh and check that it encloses a volume of a size that an arm can carry.

    A surface whose triangles all face inward is turned inside out.

    Args:
        path: of an OBJ or STL file.
        scale: metres in one of the file's units.

    Raises:
        FileFormatError: the file cannot be read as a mesh.
        InputError: the surface is open or encloses nothing, or its size says that it is not in metres.
    """
    file, scale = Path(path), positive_number(scale, "scale")
    if file.suffix.lower() not in SUFFIXES:
        raise FileFormatError(f"{file}: a payload's mesh must be one of {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise FileFormatError(f"{file}: there is no such file")
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise FileFormatError(f"{file}: larger than {MAX_BYTES // 10**6} MB: let a mesh program make it coarser")
    volume, arrays = in_limited_process(solid_mesh, str(file), {"path": str(file), "scale": float(scale)}, size=size)
    return SolidMesh(volume=volume, **arrays)


def solid_mesh(path: str, scale: float) -> Outcome:
    """The volume and the other fields of the `SolidMesh` of a file."""
    from trimesh.util import concatenate

    file = Path(path)
    bodies = [body for _, body in mesh_bodies(file.read_bytes(), file.suffix.lower()[1:])]
    if not bodies:
        raise FileFormatError(f"{file}: holds no triangles")
    mesh: Any = concatenate(bodies)
    vertices = np.asarray(mesh.vertices, dtype=np.float64)
    if not np.isfinite(vertices).all():
        raise FileFormatError(f"{file}: the mesh has a vertex that is not finite")
    extent = float(np.ptp(vertices, axis=0).max())
    _check_extent(file, extent * scale, scale)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)  # an STL file repeats a vertex for every triangle
    if not mesh.is_watertight:
        raise InputError(
            f"{file}: the mesh is not watertight, {_open_edges(mesh)} of its edges do not have exactly two triangles, "
            "so it has no volume; close it in a CAD or mesh program"
        )
    if not mesh.is_winding_consistent:
        raise InputError(
            f"{file}: neighbouring triangles of the mesh face opposite ways, so its inside is not defined; let a CAD "
            "or mesh program make the normals consistent"
        )
    middle = vertices.mean(axis=0)
    mesh.apply_translation(-middle)  # far from the origin the integrals would lose digits
    volume = _signed_volume(mesh)
    if abs(volume) <= 1e-9 * extent**3:
        raise InputError(f"{file}: the mesh encloses no volume ({abs(volume) * scale**3:.3g} m^3): it is flat")
    if volume < 0.0:
        mesh.invert()
    mesh.apply_scale(scale)
    integrals = mesh.mass_properties  # at density 1
    return float(integrals["volume"]), {
        "vertices": np.array(mesh.vertices, dtype=np.float64) + scale * middle,
        "faces": np.array(mesh.faces, dtype=np.int64),
        "center_of_mass": np.array(integrals["center_mass"], dtype=np.float64) + scale * middle,
        "second_moments": np.array(integrals["inertia"], dtype=np.float64),
    }


def _signed_volume(mesh: Any) -> float:
    """Negative if the triangles face inward [unit of the file ^ 3]."""
    a, b, c = np.moveaxis(np.asarray(mesh.triangles, dtype=np.float64), 1, 0)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def _check_extent(file: Path, extent: float, scale: float) -> None:
    if SMALLEST_EXTENT <= extent <= LARGEST_EXTENT:
        return
    measured = f"{file}: the mesh is {extent:.4g} m long with the scale {scale:g}"
    if extent > LARGEST_EXTENT:
        raise InputError(
            f"{measured}, more than {LARGEST_EXTENT:g} m: is it in millimetres?", fix={"mesh_scale": 0.001}
        )
    raise InputError(
        f"{measured}, less than {SMALLEST_EXTENT:g} m: the scale is the length of one of the file's units in metres, "
        "0.001 for millimetres and 1 for metres",
        argument="scale",
        value=scale,
    )


def _open_edges(mesh: Any) -> int:
    _, counts = np.unique(np.asarray(mesh.edges_sorted), axis=0, return_counts=True)
    return int(np.sum(counts != 2))
