"""The convex pieces and the meshes that a payload's shape is made of, posed in tool0."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import InputError
from iparam.spatial.transforms import is_transform


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
        pose: (4, 4) from its own frame, at its centre, to tool0 [m].
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
    """A closed surface of triangles, in tool0.

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
