"""`View`: a parallel projection of space onto the page, and the outlines that simple solids have in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray

ARC_POINTS = 11


@dataclass(frozen=True)
class View:
    """The direction from which a scene is looked at, from far away.

    Attributes:
        azimuth: of the viewer about z, from x towards y [deg].
        elevation: of the viewer above the xy plane [deg].
    """

    azimuth: float
    elevation: float

    @cached_property
    def axes(self) -> FloatArray:
        """(3, 3) rows: to the right on the page, up on the page, towards the viewer."""
        a, e = np.radians([self.azimuth, self.elevation])
        toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return np.stack([right, np.cross(toward, right), toward])

    def on_page(self, points: FloatArray) -> FloatArray:
        """(..., 2) where points (..., 3) are drawn."""
        return np.asarray(points @ self.axes[:2].T)

    def nearness(self, points: FloatArray) -> FloatArray:
        """(...,) how near points (..., 3) are to the viewer: what is nearer is drawn later."""
        return np.asarray(points @ self.axes[2])

    def ellipse(self, matrix: FloatArray, center: FloatArray) -> FloatArray:
        """(K, 2) outline of the ellipsoid of all x with (x - c)' matrix^-1 (x - c) <= 1."""
        flat = self.axes[:2] @ matrix @ self.axes[:2].T
        values, vectors = np.linalg.eigh(flat)
        angle = np.linspace(0.0, 2.0 * np.pi, 8 * ARC_POINTS)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.asarray(circle * np.sqrt(np.maximum(values, 0.0)) @ vectors.T + self.on_page(center))


def stadium(start: FloatArray, end: FloatArray, radius: float) -> FloatArray:
    """(K, 2) outline of a capsule whose ends are drawn at ``start`` and ``end`` (2,)."""
    along = end - start
    turn = np.arctan2(along[1], along[0]) if np.any(along) else 0.0
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ARC_POINTS) + turn
    half = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([end + half, start - half])


def box_faces(center: FloatArray, rotation: FloatArray, size: FloatArray, view: View) -> list[tuple[FloatArray, float]]:
    """The visible faces of a box: outline (4, 2) on the page, and how much it faces the viewer, 0 to 1."""
    faces = []
    for axis in range(3):
        u, v = (rotation[:, (axis + k) % 3] * 0.5 * size[(axis + k) % 3] for k in (1, 2))
        for side in (-1.0, 1.0):
            normal = side * rotation[:, axis]
            facing = float(normal @ view.axes[2])
            if facing > 1e-9:
                middle = center + 0.5 * size[axis] * normal
                faces.append((view.on_page(np.stack([middle + s * u + t * v for s, t in _CORNERS])), facing))
    return faces


_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
