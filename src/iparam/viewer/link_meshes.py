"""The arm as triangles to be drawn: the meshes of its description where they are found, else its capsules."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, IparamError
from iparam.robot.collision.capsules import Capsule, link_capsules
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.description.installed import installed_shapes
from iparam.robot.kinematics import frame_poses
from iparam.robot.loading import load_robot
from iparam.robot.model import Link, Robot

MOST_TRIANGLES = 40_000
"""That an arm is drawn with: a browser without a graphics card turns these without stuttering."""

_AROUND, _RINGS = 24, 6  # corners around a capsule, and rings of each of its ends
_FINEST = 0.0005  # m: corners closer than this are one where a mesh has too many triangles
_MOST_NAMED = 2
_SAME_ARM = 1e-3  # by which a link of two descriptions of an arm may move between poses [m or rad]

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
    the triangles. A body of which nothing can be read is drawn as its capsules. An arm of the catalogue, which has no
    shapes, has those of its description in example-robot-data, where that is installed.

    Args:
        robot: the arm.
        most: triangles; finer meshes are made coarser.
    """
    found: dict[str, list[FloatArray]] = {}
    failures: list[str] = []
    for link in _shaped_links(robot):
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


def _shaped_links(robot: Robot) -> tuple[Link, ...]:
    """The links of an arm; one of the catalogue has the shapes of its installed description, where they fit."""
    path = installed_shapes(robot.name)
    if path is None or any(link.geometry or link.visual for link in robot.links):
        return robot.links
    try:
        described = load_robot(path, tip=robot.tool_frame)
    except IparamError:
        return robot.links
    if described.num_joints != robot.num_joints or robot.base_frame not in described.frames:
        return robot.links
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (4, robot.num_joints))
    ours, theirs = frame_poses(robot, q), frame_poses(described, q)
    from_base = np.linalg.inv(theirs[robot.base_frame])
    bodies = dict(zip(described.frames, described.chain.frame_bodies.tolist(), strict=True))
    links = {link.name: link for link in robot.links}
    for link in described.links:
        frame = link.name if bodies[link.name] else robot.base_frame
        if frame not in links or not (link.geometry or link.visual):
            continue
        poses = np.linalg.inv(ours[frame]) @ from_base @ theirs[link.name]
        if np.ptp(poses, axis=0).max() > _SAME_ARM:
            return robot.links
        links[frame] = replace(
            links[frame],
            geometry=tuple(replace(piece, pose=poses[0] @ piece.pose) for piece in link.geometry),
            visual=tuple(replace(piece, pose=poses[0] @ piece.pose) for piece in link.visual),
        )
    return tuple(links.values())


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
    """Corners (V, 3) on a capsule, and the triangles (F, 3) between them, their outsides out."""
    way = end - start
    length = float(np.linalg.norm(way))
    axis = way / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    heights = np.linspace(-0.5 * np.pi, 0.0, _RINGS + 1)[1:]
    angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    around = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * other
    rings = [start + radius * (np.cos(h) * around + np.sin(h) * axis) for h in heights]
    rings += [end + radius * (np.cos(h) * around - np.sin(h) * axis) for h in heights[::-1]]
    vertices = np.concatenate([[start - radius * axis], *rings, [end + radius * axis]])
    return vertices, _between_rings(len(rings), _AROUND)


def ellipsoid_triangles(center: FloatArray, matrix: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Corners (V, 3) on the ellipsoid (x - c)' M^-1 (x - c) = 1, and the triangles (F, 3) between them.

    Args:
        center: (3,) c [m].
        matrix: (3, 3) M, positive semidefinite [m^2].
    """
    values, vectors = np.linalg.eigh(matrix)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    heights = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * _RINGS + 1)[1:-1]
    angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(_AROUND)])
    rings = [np.cos(h) * ring + [0.0, 0.0, np.sin(h)] for h in heights]
    ball = np.concatenate([[[0.0, 0.0, -1.0]], *rings, [[0.0, 0.0, 1.0]]])
    return center + ball @ root, _between_rings(len(rings), _AROUND)


def _between_rings(rings: int, around: int) -> IndexArray:
    """Faces of a closed surface of a first point, rings of ``around`` points, and a last point."""
    step = np.arange(around)
    following = (step + 1) % around
    faces = [np.column_stack([np.zeros(around, dtype=np.int64), 1 + following, 1 + step])]
    for ring in range(rings - 1):
        low, high = 1 + ring * around, 1 + (ring + 1) * around
        faces.append(np.column_stack([low + step, low + following, high + step]))
        faces.append(np.column_stack([low + following, high + following, high + step]))
    last, top = 1 + (rings - 1) * around, 1 + rings * around
    faces.append(np.column_stack([last + step, last + following, np.full(around, top)]))
    return np.concatenate(faces).astype(np.int64)
