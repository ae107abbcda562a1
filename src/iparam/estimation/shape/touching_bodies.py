"""`touching_surfaces`: the surfaces of bodies that touch, where vertices in the same place are one.

Around an edge that several bodies share, faces follow each other. What lies between one that a body begins at and the
next that it ends at is inside: the two belong to the same surface.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from iparam.arrays import FloatArray
from iparam.estimation.shape.mesh_points import same_corners, volume_moments

SAME_ANGLE = 1e-5
"""Between faces that lie in each other, about an edge [rad]: files keep seven digits."""

TURN = 2.0 * np.pi


def touching_surfaces(triangles: FloatArray) -> list[FloatArray]:
    """The closed surfaces (F, 3, 3) that triangles (F, 3, 3) make, whose edges are walked equally often both ways.

    Where they face inward on the whole, they are taken to be inside out, all of them.
    """
    corners = same_corners(triangles)
    proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    triangles, corners = triangles[proper], corners[proper]
    count = len(triangles)
    begin, end = (np.concatenate([corners[:, k] for k in order]) for order in ((0, 1, 2), (1, 2, 0)))
    face = np.tile(np.arange(count), 3)
    code = np.minimum(begin, end) * (int(corners.max(initial=0)) + 1) + np.maximum(begin, end)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    uses = np.diff(starts, append=len(order))
    simple = starts[uses == 2]
    pairs = [np.stack([face[order[simple]], face[order[simple + 1]]])]
    outward = volume_moments(triangles)[0] >= 0.0
    if (uses > 2).any():
        first = np.repeat(starts, uses)[np.repeat(uses > 2, uses)]  # of the uses of each shared edge
        places, leading = order[np.repeat(uses > 2, uses)], order[first]
        ends = (begin[places] == begin[leading]) == outward  # of the inside, as the angle grows
        angles = _angles(triangles, places, leading)
        bounds = np.append(np.flatnonzero(np.diff(first, prepend=-1)), len(first))
        found = [
            (low + one, low + other)
            for low, high in pairwise(bounds.tolist())
            for one, other in _matched(angles[low:high].tolist(), ends[low:high].tolist())
        ]
        pairs.append(face[places[np.array(found, dtype=np.int64).reshape(-1, 2).T]])
    return surfaces_of(triangles, np.concatenate(pairs, axis=1))


def surfaces_of(triangles: FloatArray, pairs: NDArray[np.int64]) -> list[FloatArray]:
    """Triangles (F, 3, 3) by what hangs together, with the numbers of faces (2, n) that do."""
    (one, other), count = pairs, len(triangles)
    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    sorted_faces = np.argsort(label, kind="stable")
    bounds = np.flatnonzero(np.diff(label[sorted_faces], prepend=-1))[1:]
    return [triangles[part] for part in np.split(sorted_faces, bounds)]


def _angles(triangles: FloatArray, places: NDArray[np.int64], leading: NDArray[np.int64]) -> FloatArray:
    """(m,) of faces about the edges that they use [rad].

    Args:
        triangles: (F, 3, 3).
        places: (m,) the uses: F times the side, and the face.
        leading: (m,) for each, that use of its edge along whose way the angle turns.
    """
    count = len(triangles)
    first = triangles[leading % count, leading // count]
    axis = triangles[leading % count, (leading // count + 1) % 3] - first
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=1)])
    toward = triangles[places % count, (places // count + 2) % 3] - first
    return np.asarray(np.arctan2(np.sum(toward * np.cross(axis, u), axis=1), np.sum(toward * u, axis=1)))


def _matched(angles: list[float], ends: list[bool]) -> list[tuple[int, int]]:
    """Which faces about an edge bound the same inside: each that begins it, with the next that ends it."""
    order = sorted(range(len(angles)), key=angles.__getitem__)
    gaps = [(angles[after] - angles[before]) % TURN for before, after in zip(order, order[1:] + order[:1], strict=True)]
    widest = gaps.index(max(gaps)) + 1  # from there on: no group of faces in the same place lies on both ends
    order, gaps = order[widest:] + order[:widest], gaps[widest:] + gaps[:widest]
    group = list(accumulate((gap > SAME_ANGLE for gap in gaps[:-1]), initial=0))
    # Of faces in the same place, one body's end comes before the next one's beginning.
    order = [index for _, _, index in sorted((group[k], not ends[index], index) for k, index in enumerate(order))]
    begun: list[int] = []
    found: dict[int, int] = {}
    for index in order + order:  # twice: an inside may lie across the beginning
        if not ends[index] and index not in begun and index not in found:
            begun.append(index)
        elif ends[index] and begun and index not in found.values():
            found[begun.pop()] = index
    return list(found.items())
