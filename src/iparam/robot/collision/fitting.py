"""Capsules around a body of triangles: few, close, and such that no point of a triangle is outside all of them.

The body is cut into cells by planes, and a triangle where a plane crosses it. A part is a block of whole cells; its
capsule contains all their points, and with them everything between the points: a capsule is convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray

MOST_CAPSULES = 4
"""For one link: each of them is a distance to every other body in every pose of a plan."""

CLOSE = 0.015
"""How far a capsule may reach beyond its body's convex hull before the body is cut [m]. The round ends of capsules
over the rims of flat ones are often more: 20 mm where the radius is 50."""

SMALLER = 0.88
"""A cut is worth it if the two capsules together fill less than this share of the one."""

ROUNDING = 1e-12
"""Added to a fitted radius, relative and absolute [m], so that rounding leaves no point outside."""

THINNEST = 1e-4
"""Least radius of a fitted capsule [m]: a plate without thickness has one, too."""

_CELLS = 5  # along each axis
_RADII = (1.0, 1.05, 1.2, 1.5)  # a thicker capsule is shorter: in units of the thinnest around the axis
_SPREAD = np.random.default_rng(0).uniform(size=(2000, 3))  # where volumes are measured
_STEPS = 24  # towards the centre of a smallest circle


class FittedCapsule(NamedTuple):
    """A capsule in the frame of its points: ends of the segment (3,) and radius [m]."""

    start: FloatArray
    end: FloatArray
    radius: float

    @property
    def volume(self) -> float:
        """[m^3]."""
        length = float(np.linalg.norm(self.end - self.start))
        return float(np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius))


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of a body, measured along directions all around.

    Attributes:
        directions: (D, 3) unit vectors.
        support: (D,) how far the body reaches along each [m].
    """

    directions: FloatArray
    support: FloatArray

    @classmethod
    def of(cls, points: FloatArray, count: int = 400) -> Hull:
        """That of points (V, 3) [m], in ``count`` directions spread evenly."""
        directions = _directions(count)
        return cls(directions, (points @ directions.T).max(axis=0))

    def overhang(self, capsule: FittedCapsule) -> float:
        """How far a capsule reaches beyond the hull, at most [m]."""
        ends = np.stack([capsule.start, capsule.end]) @ self.directions.T
        return float((ends.max(axis=0) + capsule.radius - self.support).max())


def hull_gaps(one: FloatArray, other: FloatArray, rotation: FloatArray, position: FloatArray) -> FloatArray:
    """(T,) bounds from below of the distance between two convex hulls; positive only if a plane separates them [m].

    Args:
        one, other: (V, 3) corners, each in its own frame [m].
        rotation, position: (T, 3, 3) and (T, 3) pose of the second frame in the first [m].
    """
    everywhere, nearby = _directions(300), _directions(40)
    reach = (one @ everywhere.T).max(axis=0)
    gaps = np.empty(len(rotation))
    for index, (turn, shift) in enumerate(zip(rotation, position, strict=True)):
        found = (other @ (everywhere @ turn).T).min(axis=0) + everywhere @ shift - reach
        best, gaps[index] = everywhere[int(np.argmax(found))], found.max()
        for width in (0.12, 0.03, 0.008):
            around = best + width * nearby
            around /= np.linalg.norm(around, axis=1)[:, None]
            found = ((other @ turn.T + shift) @ around.T).min(axis=0) - (one @ around.T).max(axis=0)
            if found.max() > gaps[index]:
                best, gaps[index] = around[int(np.argmax(found))], found.max()
    return gaps


def coarser_hull(corners: FloatArray) -> tuple[FloatArray, float]:
    """Those of the corners (V, 3) that are outermost in 200 directions, and how far the others reach out [m]."""
    kept = corners[np.unique((corners @ _directions(200).T).argmax(axis=0))]
    return kept, float((Hull.of(corners, 2000).support - Hull.of(kept, 2000).support).max())


def _directions(count: int) -> FloatArray:
    """(count, 3) unit vectors, spread evenly."""
    steps = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * steps / count, np.pi * (1.0 + 5.0**0.5) * steps
    ring = np.sqrt(1.0 - z**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])


_OUTWARD = _directions(100)


class _Cell(NamedTuple):
    number: tuple[int, ...]
    points: FloatArray


class _Part(NamedTuple):
    """A block of cells; what has not been cut has its triangles yet to be."""

    cells: tuple[_Cell, ...]
    triangles: FloatArray | None
    capsule: FittedCapsule
    overhang: float

    @classmethod
    def whole(cls, triangles: FloatArray, corners: FloatArray, body: Hull) -> _Part:
        capsule = enclosing_capsule(corners)
        return cls((_Cell((0, 0, 0), corners),), triangles, capsule, body.overhang(capsule))

    @classmethod
    def of(cls, cells: tuple[_Cell, ...], body: Hull) -> _Part:
        points = np.concatenate([cell.points for cell in cells])
        # The outermost points are enough to compare cuts; what is chosen is made to enclose all of them.
        capsule = _along_axes(points[np.unique((points @ _OUTWARD.T).argmax(axis=0))])
        return cls(cells, None, capsule, body.overhang(capsule))

    @property
    def points(self) -> FloatArray:
        return np.concatenate([cell.points for cell in self.cells])


def enclosing_capsules(
    triangles: FloatArray, most: int = MOST_CAPSULES, corners: FloatArray | None = None
) -> tuple[FittedCapsule, ...]:
    """At most ``most`` capsules whose union contains all triangles (F, 3, 3) [m], and the solid that they bound.

    ``corners`` (V, 3) are those of the triangles' convex hull, if they are known.
    """
    corners = hull_points(triangles.reshape(-1, 3)) if corners is None else corners
    body = Hull.of(corners)
    parts = [_Part.whole(triangles, corners, body)]
    done: list[_Part] = []
    while parts and len(parts) + len(done) < most:
        worst = max(parts, key=lambda part: part.overhang)
        parts = [part for part in parts if part is not worst]
        halves = _halves(worst, body) if worst.overhang > CLOSE else ()
        parts += halves
        if not halves:
            done.append(worst)
    return tuple(_refined(part, body) for part in (*parts, *done))


def enclosing_capsule(points: FloatArray, guess: FittedCapsule | None = None) -> FittedCapsule:
    """A capsule of little volume that contains all points (V, 3) [m], to the last digit."""
    from scipy.optimize import minimize

    hull = hull_points(points)
    first = _along_axes(hull) if guess is None else guess
    size = max(float(np.ptp(hull, axis=0).max()), THINNEST)
    start = np.concatenate([first.start, first.end])
    found = minimize(
        lambda x: _around(hull, x[:3], x[3:]).volume,
        start,
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack([start, start + 0.05 * size * np.eye(6)]),
            "maxfev": 300,
            "xatol": 1e-3 * size,
            "fatol": 1e-3 * first.volume,
        },
    ).x
    # Among all points once more: those of the hull are right to its own rounding only.
    better, first = _around(points, found[:3], found[3:]), _around(points, first.start, first.end)
    return better if better.volume < first.volume else first


def _refined(part: _Part, body: Hull) -> FittedCapsule:
    points = part.points
    better = enclosing_capsule(points, part.capsule)
    if body.overhang(better) <= part.overhang:
        return better
    return _around(points, part.capsule.start, part.capsule.end)


def _halves(part: _Part, body: Hull) -> tuple[_Part, ...]:
    """The two parts of the cut between cells whose capsules together are smallest; none if no cut is worth it."""
    cells = part.cells if part.triangles is None else _cells(part.triangles, part.points)
    probes = _probes(part.capsule)
    best: tuple[_Part, ...] = ()
    least = int(SMALLER * len(probes))  # all of them are inside the capsule of the whole
    for axis in range(3):
        for plane in sorted({cell.number[axis] for cell in cells})[1:]:
            sides = ([cell for cell in cells if (cell.number[axis] < plane) is below] for below in (True, False))
            one, other = (_Part.of(tuple(side), body) for side in sides)
            inside = _inside(probes, one.capsule) | _inside(probes, other.capsule)
            if max(one.overhang, other.overhang) <= part.overhang and np.count_nonzero(inside) < least:
                least, best = int(np.count_nonzero(inside)), (one, other)
    return best


def _probes(capsule: FittedCapsule) -> FloatArray:
    """Points spread evenly inside a capsule."""
    low = np.minimum(capsule.start, capsule.end) - capsule.radius
    high = np.maximum(capsule.start, capsule.end) + capsule.radius
    points = low + _SPREAD * (high - low)
    return points[_inside(points, capsule)]


def _inside(points: FloatArray, capsule: FittedCapsule) -> NDArray[np.bool_]:
    line = capsule.end - capsule.start
    offset = points - capsule.start
    share = np.clip(offset @ line / max(float(line @ line), 1e-30), 0.0, 1.0)
    offset = offset - share[:, None] * line
    return np.asarray(np.einsum("ij,ij->i", offset, offset) <= capsule.radius**2)


def _cells(triangles: FloatArray, hull: FloatArray) -> tuple[_Cell, ...]:
    """The body in cells along its principal axes, each with the points that matter of its triangles."""
    blocks: list[tuple[tuple[int, ...], FloatArray]] = [((), triangles)]
    for axis in _principal_axes(hull):
        heights = hull @ axis
        planes = np.linspace(heights.min(), heights.max(), _CELLS + 1)[1:-1]
        finer: list[tuple[tuple[int, ...], FloatArray]] = []
        for index, rest in blocks:
            for number, plane in enumerate(planes):
                below, rest = _clipped(rest, axis, float(plane))
                finer.append(((*index, number), below))
            finer.append(((*index, _CELLS - 1), rest))
        blocks = [block for block in finer if len(block[1])]
    return tuple(_Cell(index, hull_points(inside.reshape(-1, 3))) for index, inside in blocks)


def _clipped(triangles: FloatArray, axis: FloatArray, height: float) -> tuple[FloatArray, FloatArray]:
    """The triangles below and above a plane; of those that it crosses, each side gets its corners and the crossings."""
    above = triangles @ axis > height
    count = above.sum(axis=1)
    crosses = (count == 1) | (count == 2)
    crossing, side = triangles[crosses], above[crosses]
    # The corner that is alone on its side comes first: the two crossings are on the edges from it.
    lonely = np.where(side.sum(axis=1) == 1, side.argmax(axis=1), (~side).argmax(axis=1))
    corners = np.take_along_axis(crossing, ((lonely[:, None] + np.arange(3)) % 3)[..., None], axis=1)
    heights = corners @ axis - height
    shares = heights[:, :1] / (heights[:, :1] - heights[:, 1:])
    cuts = corners[:, :1] + shares[..., None] * (corners[:, 1:] - corners[:, :1])
    alone = np.concatenate([corners[:, :1], cuts], axis=1)
    rest = np.concatenate([corners[:, 1:], cuts], axis=1)  # four corners, in two triangles
    rest = np.concatenate([rest[:, :3], rest[:, 1:]])
    up = np.take_along_axis(side, lonely[:, None], axis=1)[:, 0]
    twice = np.concatenate([up, up])
    return (
        np.concatenate([triangles[count == 0], alone[~up], rest[twice]]),
        np.concatenate([triangles[count == 3], alone[up], rest[~twice]]),
    )


def hull_points(points: FloatArray) -> FloatArray:
    """The points that matter for what is convex."""
    if len(points) < 20:
        return points
    from scipy.spatial import ConvexHull, QhullError  # half of what a planner's worker loads, and few bodies are new

    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except QhullError:  # flat
        return np.unique(points, axis=0)


def hull_reaches(corners: FloatArray, points: FloatArray) -> bool:
    """Whether corners (V, 3) reach as far as points (P, 3), in directions all around."""
    if corners.shape[1:] != (3,) or not len(corners) or not np.isfinite(corners).all():
        return False
    reach, needed = ((one @ _OUTWARD.T).max(axis=0) for one in (corners, points))
    return bool(np.allclose(reach, needed, rtol=0.0, atol=1e-12 * max(1.0, float(np.abs(needed).max()))))


def _principal_axes(points: FloatArray) -> FloatArray:
    """(3, 3) by rows."""
    centered = points - points.mean(axis=0)
    axes: FloatArray = np.linalg.eigh(centered.T @ centered)[1].T
    return axes


def _along_axes(points: FloatArray) -> FittedCapsule:
    """The best capsule along one of the points' principal axes."""
    return min((_along(points, axis) for axis in _principal_axes(points)), key=lambda capsule: capsule.volume)


def _along(points: FloatArray, axis: FloatArray) -> FittedCapsule:
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    across = np.column_stack([x, np.cross(axis, x)])
    flat, heights = points @ across, points @ axis
    center = _circle_center(flat)
    distances = ((flat - center) ** 2).sum(axis=1)
    origin = across @ center
    found = []
    for factor in _RADII:
        square = max(factor**2 * float(distances.max()), THINNEST**2)
        inset = np.sqrt(square - distances)
        low, high = float((heights + inset).min()), float((heights - inset).max())
        if low > high:  # the points fit into a sphere
            low = high = 0.5 * (low + high)
        found.append(_around(points, origin + low * axis, origin + high * axis))
    return min(found, key=lambda capsule: capsule.volume)


def _circle_center(points: FloatArray) -> FloatArray:
    """Nearly the centre (2,) of the smallest circle around points (V, 2): steps towards the farthest, ever smaller."""
    center: FloatArray = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for step in range(1, _STEPS):
        away = points - center
        center = center + away[int(np.argmax(np.einsum("ij,ij->i", away, away)))] / (step + 1)
    return center


def _around(points: FloatArray, start: FloatArray, end: FloatArray) -> FittedCapsule:
    """The capsule along a segment that contains all points."""
    line = end - start
    square = float(line @ line)
    offset = points - start
    if square > 0.0:
        offset = offset - np.clip(offset @ line / square, 0.0, 1.0)[:, None] * line
    radius = float(np.sqrt(np.einsum("ij,ij->i", offset, offset).max()))
    return FittedCapsule(start, end, max(radius * (1.0 + ROUNDING) + ROUNDING, THINNEST))
