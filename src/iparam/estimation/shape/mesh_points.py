"""Points with volumes that fill a closed surface, and have exactly its moments.

Lines along the longest side enter and leave the body through triangles; what lies between is inside. The points are
then moved by the affine map, next to the identity, that gives them the volume, centre and second moments of the body,
which the surface tells exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import InputError
from iparam.estimation.shape.point_moments import with_moments

LINES = 400
"""Through the cross-section of a body's box, about."""

ALONG = 25
"""Pieces along its longest side, about."""

MOST_FACES = 2_000_000

FLAT = 1e-9
"""Volume of a surface, in that of a cube of its length, up to which it is flat."""

MOST_CROSSING = 0.05
"""Share of a body that may lie in its surface twice, or inside out: meshes of scans have some."""

_OTHER = 4096.0
"""What being inside another body counts, where being inside a body counts 1: more than bodies lie in each other."""

_OFFSETS = (0.5 + 0.1 * (np.sqrt(2.0) - 1.0), 0.5 - 0.1 * (np.sqrt(3.0) - 1.0))  # no line along an edge of a CAD body


def closed_volume(name: str, triangles: FloatArray) -> float:
    """Signed volume of a surface (F, 3, 3), negative if it faces inward; refuses one that is not closed."""
    if len(triangles) > MOST_FACES:
        raise InputError(
            f"{name} has {len(triangles)} triangles, more than {MOST_FACES}: let a mesh program reduce them"
        )
    if not (np.isfinite(triangles).all() and np.abs(triangles).max() <= LARGEST):
        raise InputError(f"{name} has a vertex that is not finite, or beyond {LARGEST:g}")
    faces = same_corners(triangles)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    # Each edge of a closed surface is walked once each way.
    low, high = edges.min(axis=1), edges.max(axis=1)
    code = low * (int(faces.max(initial=0)) + 1) + high
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    walked = np.add.reduceat(np.sign(edges[:, 1] - edges[:, 0])[order], starts) if len(starts) else starts
    missing = int(np.abs(walked).sum())
    if missing:
        raise InputError(
            f"{name} is not closed, or its triangles face different ways ({missing} edges have no partner), so "
            "it has no inside; repair it in a CAD or mesh program (bodies that touch may be nodes of a .glb), or give "
            "points with volumes (.csv)"
        )
    return volume_moments(triangles)[0]


def same_corners(triangles: FloatArray) -> NDArray[np.int64]:
    """(F, 3) numbers of the corners of triangles (F, 3, 3), the same for those in the same place."""
    found = np.zeros(3 * len(triangles), dtype=np.int64)
    for axis in range(3):  # one coordinate after the other: rows are far slower to sort
        values, index = np.unique(triangles[..., axis], return_inverse=True)
        found = np.unique(found * len(values) + index.ravel(), return_inverse=True)[1]
    return found.reshape(-1, 3)


def volume_moments(triangles: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Volume, first moment (3,) and second moment (3, 3) of x x' about the origin, of the inside of a surface."""
    middle = triangles.reshape(-1, 3).mean(axis=0)
    local = triangles - middle  # far from the origin the sums would lose digits
    six = np.linalg.det(local)
    volume = float(six.sum() / 6.0)
    # Integrals of x and of x x' over the tetrahedra of the origin and each triangle.
    total, corners = local.sum(axis=1), local.reshape(-1, 3)
    first = six @ total / 24.0
    second = ((total * six[:, None]).T @ total + (corners * np.repeat(six, 3)[:, None]).T @ corners) / 120.0
    cross = np.outer(first, middle)
    return (
        volume,
        first + volume * middle,
        second + cross + cross.T + volume * np.outer(middle, middle),
    )


def mesh_points(triangles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (n, 3) and volumes (n,) inside a closed surface (F, 3, 3) that faces outward."""
    volume, first, second = volume_moments(triangles)
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    extent = high - low
    if not volume > FLAT * float(extent.max()) ** 3:
        raise InputError(f"a body of the mesh encloses no volume ({volume:.3g} m^3): it is flat")
    center = first / volume
    spread = second / volume - np.outer(center, center)
    points, volumes = _lines(triangles, low, extent)
    if not len(points):
        points, volumes = _box_points(low, extent)  # finer than the lines: its moments are all that counts
    return with_moments(points, volumes, center, spread), volumes / volumes.sum() * volume


def box_corners(triangles: FloatArray) -> FloatArray:
    """(8, 3) of the box around triangles (F, 3, 3)."""
    ends = np.stack([triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))])
    return np.stack(np.meshgrid(*ends.T, indexing="ij"), axis=-1).reshape(-1, 3)


def overlaps(bodies: Sequence[FloatArray]) -> FloatArray:
    """(n,) which share of each of n closed surfaces (F, 3, 3) lies in larger ones, so that each piece counts once."""
    boxes = np.array([[one.min(axis=(0, 1)), one.max(axis=(0, 1))] for one in bodies])
    rank = np.argsort(np.argsort([-volume_moments(one)[0] for one in bodies], kind="stable"))
    found = np.zeros(len(bodies))
    for index, (low, high) in enumerate(boxes):
        near = (rank < rank[index]) & ((boxes[:, 0] < high) & (boxes[:, 1] > low)).all(axis=1)
        if near.any():
            found[index] = _shared(bodies[index], [bodies[other] for other in np.flatnonzero(near).tolist()], low, high)
    return found


def _shared(body: FloatArray, near: Sequence[FloatArray], low: FloatArray, high: FloatArray) -> float:
    """The share of a body (F, 3, 3) that lies in others, along lines through its box from ``low`` to ``high`` (3,)."""
    across = [axis for axis in range(3) if axis != int(np.argmax(high - low))]
    others = np.concatenate(list(near))
    beside = (others.max(axis=1) < low)[:, across].any(axis=1) | (others.min(axis=1) > high)[:, across].any(axis=1)
    others = others[~beside]
    weights = np.concatenate([np.ones(len(body)), np.full(len(others), _OTHER)])
    cut = _cut_lines(np.concatenate([body, others]), low, high - low, weights)
    in_others = np.round(cut.inside / _OTHER)
    own = cut.inside - _OTHER * in_others > 0.5
    return float(cut.length[own & (in_others > 0.5)].sum() / max(float(cut.length[own].sum()), 1e-300))


def _lines(triangles: FloatArray, low: FloatArray, extent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points and volumes between where lines along the longest side enter and leave the body."""
    cut = _cut_lines(triangles, low, extent)
    _refuse_crossing(cut.twice)
    one, two, along = cut.axes
    bottom = np.flatnonzero(cut.inside > 0.5)
    length = cut.length[bottom]
    kept = length > 1e-9 * extent[along]
    bottom, length = bottom[kept], length[kept]
    pieces = np.maximum(np.ceil(length / (extent[along] / ALONG)).astype(int), 1)
    which = np.repeat(np.arange(len(bottom)), pieces)
    step = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    points = np.empty((len(which), 3))
    column = cut.column[bottom][which]
    points[:, one] = low[one] + (column // cut.counts[1] + _OFFSETS[0]) * cut.pitch[0]
    points[:, two] = low[two] + (column % cut.counts[1] + _OFFSETS[1]) * cut.pitch[1]
    points[:, along] = cut.start[bottom][which] + (step + 0.5) * (length / pieces)[which]
    return points, (length / pieces)[which] * cut.pitch[0] * cut.pitch[1]


@dataclass(frozen=True, eq=False)
class _CutLines:
    """Parallel lines through a grid, in pieces between the triangles that they meet.

    Attributes:
        axes: two across the lines, and the one along them.
        counts, pitch: (2,) of the grid.
        column: (n,) the number of each piece's line; start, length: where it begins, and how long it is.
        inside: (n,) in how many bodies it lies.
    """

    axes: tuple[int, int, int]
    counts: NDArray[np.int64]
    pitch: FloatArray
    column: NDArray[np.int64]
    start: FloatArray
    length: FloatArray
    inside: FloatArray

    @property
    def twice(self) -> float:
        """Which share of what is inside is so more than once, or inside out."""
        odd, any_body = (self.inside > 1.5) | (self.inside < -0.5), self.inside != 0.0
        return float(self.length[odd].sum() / max(float(self.length[any_body].sum()), 1e-300))


def _cut_lines(
    triangles: FloatArray, low: FloatArray, extent: FloatArray, weights: FloatArray | None = None
) -> _CutLines:
    """Lines along the longest side, cut where they meet triangles, each of which counts as one, or by weights (F,)."""
    along = int(np.argmax(extent))
    one, two = [axis for axis in range(3) if axis != along]
    aspect = max(float(extent[one]), 1e-12) / max(float(extent[two]), 1e-12)
    counts = np.clip(np.round([np.sqrt(LINES * aspect), np.sqrt(LINES / aspect)]), 4, 200).astype(int)
    pitch = extent[[one, two]] / counts
    columns, height, sign, face = _crossings(
        triangles[..., [one, two]], triangles[..., along], low[[one, two]], pitch, counts
    )
    if weights is not None:
        sign = sign * weights[face]
    if along == 1:  # x, z and y are a left-handed frame
        sign = -sign
    order = np.lexsort((height, columns))
    columns, height, sign = columns[order], height[order], sign[order]
    # Inside is where more triangles were entered than left.
    inside = np.cumsum(sign)
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    base = np.zeros(len(columns))
    base[starts] = np.concatenate([[0.0], inside[starts[1:] - 1]]) if len(starts) else []
    inside = inside - base[starts][np.searchsorted(starts, np.arange(len(columns)), side="right") - 1]
    same = np.append(columns[1:] == columns[:-1], False)
    length = np.where(same, np.diff(height, append=0.0), 0.0)
    return _CutLines((one, two, along), counts, pitch, columns, height, length, np.where(same, inside, 0.0))


def _refuse_crossing(share: float) -> None:
    """Refuse a surface that crosses itself: what lies twice inside, or inside out, would count so in the moments."""
    if share > MOST_CROSSING:
        raise InputError(
            f"a surface of the mesh crosses itself: {100 * share:.0f} % of its inside lies in it twice, or inside out "
            f"(at most {100 * MOST_CROSSING:.0f} % is taken): unite or part its bodies in a CAD or mesh program"
        )


def _crossings(
    flat: FloatArray, height: FloatArray, low: FloatArray, pitch: FloatArray, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], FloatArray, FloatArray, NDArray[np.int64]]:
    """Where lines at the middles of a grid meet triangles: the line's number, the height, +1 where it enters, the face.

    Args:
        flat: (F, 3, 2) corners across the lines.
        height: (F, 3) along them.
        low, pitch, counts: (2,) of the grid.
    """
    offsets = np.array(_OFFSETS)
    first = np.ceil((flat.min(axis=1) - low) / pitch - offsets).astype(int).clip(0)
    last = np.minimum(np.floor((flat.max(axis=1) - low) / pitch - offsets).astype(int), counts - 1)
    size = np.maximum(last - first + 1, 0)
    number = size.prod(axis=1)
    face = np.repeat(np.arange(len(flat)), number)
    step = np.arange(len(face)) - np.repeat(np.cumsum(number) - number, number)
    i, j = first[face, 0] + step // np.maximum(size[face, 1], 1), first[face, 1] + step % np.maximum(size[face, 1], 1)
    place = low + (np.stack([i, j], axis=1) + offsets) * pitch
    a, b, c = flat[face, 0], flat[face, 1], flat[face, 2]
    area = _cross(b - a, c - a)
    with np.errstate(all="ignore"):
        u, v = _cross(b - place, c - place) / area, _cross(c - place, a - place) / area
    w = 1.0 - u - v
    hit = (area != 0.0) & (u >= 0.0) & (v >= 0.0) & (w >= 0.0)
    met = (np.stack([u, v, w], axis=1) * height[face]).sum(axis=1)
    return (i * counts[1] + j)[hit], met[hit], -np.sign(area[hit]), face[hit]


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _box_points(low: FloatArray, extent: FloatArray) -> tuple[FloatArray, FloatArray]:
    steps = (np.arange(6) + 0.5) / 6.0
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return low + grid * extent, np.full(len(grid), 1.0)
