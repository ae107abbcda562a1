"""The arm as triangles to be drawn: the meshes of its description where they are found, else its capsules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError
from iparam.robot.collision.capsules import Capsule, link_capsules
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.model import Link, Robot

MOST_TRIANGLES = 40_000
"""That an arm is drawn with: a browser without a graphics card turns these without stuttering."""

_CORNERS = 400  # of a ball
_FINEST = 0.0005  # m: corners closer than this are one where a mesh has too many triangles
_MOST_NAMED = 2

IndexArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """Triangles that are fixed to a link.

    Attributes:
        frame: the link whose frame they are given in, one of ``robot.frames``.
        vertices: (V, 3) in that frame [m].
        faces: (F, 3) indices of the corners.
        smooth: whether edges between faces are those of a round body.
    """

    frame: str
    vertices: FloatArray
    faces: IndexArray
    smooth: bool = False


@dataclass(frozen=True, eq=False)
class ArmMeshes:
    """How an arm is drawn.

    Attributes:
        meshes: in order from the base.
        notes: what capsules stand for, one sentence each.
    """

    meshes: tuple[LinkMesh, ...]
    notes: tuple[str, ...] = ()


def arm_meshes(robot: Robot, most: int = MOST_TRIANGLES) -> ArmMeshes:
    """The shapes of the description: of each link its meshes if it has any, else its boxes, cylinders and spheres.

    The meshes for collision tests go before those that are meant to be drawn: they show the same link with a tenth of
    the triangles. A body of which nothing can be read is drawn as its capsules.

    Args:
        robot: the arm.
        most: triangles; finer meshes are made coarser.
    """
    found: dict[str, list[FloatArray]] = {}
    failures: list[str] = []
    for link in robot.links:
        for piece in _drawn(link):
            try:
                triangles = piece.triangles()
            except FileFormatError as error:
                failures.append(f"{link.name}: {error}")
            else:
                found.setdefault(link.name, []).append(triangles)
    count = sum(len(part) for parts in found.values() for part in parts)
    meshes = [_welded(link, np.concatenate(parts), most / max(count, 1)) for link, parts in found.items()]
    bodies = dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
    drawn = {bodies[link] for link in found}
    missing = set(range(robot.num_joints + 1)) - drawn
    if not found:
        why = _told(failures) if failures else f"the description of {robot.name} has no meshes"
        return ArmMeshes(capsule_meshes(robot), (f"{why}: the arm is drawn as the capsules of its collision tests",))
    if failures:
        meshes += [_capsule_mesh(capsule) for capsule in link_capsules(robot) if capsule.body in missing]
        return ArmMeshes(tuple(meshes), (f"{_told(failures)}: capsules stand for what is missing",))
    return ArmMeshes(tuple(meshes))


def capsule_meshes(robot: Robot) -> tuple[LinkMesh, ...]:
    """The capsules that collisions are judged by."""
    return tuple(_capsule_mesh(capsule) for capsule in link_capsules(robot))


def _drawn(link: Link) -> tuple[LinkGeometry, ...]:
    for pieces in (link.geometry, link.visual):
        if any(piece.kind is GeometryKind.MESH and piece.file is not None for piece in pieces):
            return pieces
    return link.geometry


def _told(failures: list[str]) -> str:
    more = f" and {len(failures) - _MOST_NAMED} more" if len(failures) > _MOST_NAMED else ""
    return "; ".join(failures[:_MOST_NAMED]) + more


def _welded(frame: str, triangles: FloatArray, share: float) -> LinkMesh:
    """Corners in one place are one; with a ``share`` below 1 of its triangles, corners that are near each other."""
    cell = max(_FINEST / 10.0, float(np.ptp(triangles.reshape(-1, 3), axis=0).max()) / 2**20)
    target = max(200, int(share * len(triangles)))
    while True:
        vertices, faces = _clustered(triangles, cell)
        if len(faces) <= target or share >= 1.0:
            return LinkMesh(frame, vertices, faces)
        cell = max(1.4 * cell, _FINEST)


def _clustered(triangles: FloatArray, cell: float) -> tuple[FloatArray, IndexArray]:
    corners = triangles.reshape(-1, 3)
    grid = np.round((corners - corners.min(axis=0)) / cell).astype(np.int64)
    _, first, index = np.unique(
        (grid[:, 0] << 42) + (grid[:, 1] << 21) + grid[:, 2], return_index=True, return_inverse=True
    )
    faces = index.reshape(-1, 3).astype(np.int64)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = faces[whole]
    _, kept = np.unique(np.sort(faces, axis=1) @ [1 << 42, 1 << 21, 1], return_index=True)
    return corners[first], faces[kept]


def _capsule_mesh(capsule: Capsule) -> LinkMesh:
    vertices, faces = capsule_triangles(capsule.start, capsule.end, capsule.radius)
    return LinkMesh(capsule.frame, vertices, faces, smooth=True)


def capsule_triangles(start: FloatArray, end: FloatArray, radius: float) -> tuple[FloatArray, IndexArray]:
    """Corners (V, 3) on a capsule, and the triangles (F, 3) between them, their outsides out: of a ball that is cut in
    two and pulled apart.
    """
    ball, faces = _ball()
    ahead = ball @ (end - start) > 0.0
    return radius * ball + np.where(ahead[:, None], end, start), faces


def ellipsoid_triangles(center: FloatArray, matrix: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Corners (V, 3) on the ellipsoid (x - c)' M^-1 (x - c) = 1, and the triangles (F, 3) between them.

    Args:
        center: (3,) c [m].
        matrix: (3, 3) M, positive semidefinite [m^2].
    """
    values, vectors = np.linalg.eigh(matrix)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    ball, faces = _ball()
    return center + ball @ root, faces


@cache
def _ball() -> tuple[FloatArray, IndexArray]:
    """Corners on the unit sphere, evenly along a spiral, and the triangles between them, their outsides out."""
    step = np.arange(_CORNERS) + 0.5
    height, angle = 1.0 - 2.0 * step / _CORNERS, np.pi * (1.0 + np.sqrt(5.0)) * step
    ring = np.sqrt(1.0 - height**2)
    corners = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height])
    faces = ConvexHull(corners).simplices.astype(np.int64)
    inward = np.linalg.det(corners[faces]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return corners, faces
