"""Kernels of the distances between shapes on the bodies of a chain, with their exact gradients by the joints.

N samples, P pairs, n joints. ``chain`` is the address of `Chain.packed`; a shape is the `row` of its class in
`iparam.robot.collision.shapes`, body 0 being the base, so that fixed things are shapes too. Arrays are contiguous and
writable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel

Kind = Literal["capsule", "plane", "box", "box_box"]

_TABLES: dict[Kind, int] = {"capsule": 1, "plane": 2, "box": 2, "box_box": 1}
_KERNELS: dict[Kind, Any] = {
    kind: kernel(f"{kind}_distances", count, count, array, count, *[array] * (4 + tables))
    for kind, tables in _TABLES.items()
}


def distances(
    kind: Kind, chain: int, pairs: NDArray[np.int64], shapes: Sequence[FloatArray], q: FloatArray, gradients: bool
) -> tuple[FloatArray, FloatArray]:
    """Distances (N, P) [m] of pairs of shapes in poses q (N, n), and their gradients (N, P, n), or (N, P, 0).

    Args:
        kind: "capsule", of two capsules; "plane", the height of balls over planes; "box", of capsules from boxes, of
            which the distance of the axis is convex; "box_box", of two boxes: the largest gap along the normals of
            faces and the common normals of edges.
        chain: address.
        pairs: (P, 2) rows of the first and of the last table of shapes.
        shapes: one table, or two.
        q: (N, n).
        gradients: whether they are wanted.
    """
    (samples, n), width = q.shape, len(pairs)
    found, slopes = np.empty((samples, width)), np.empty((samples, width, n if gradients else 0))
    _KERNELS[kind](samples, n, chain, width, pairs, *shapes, q, found, slopes if gradients else None)
    return found, slopes
