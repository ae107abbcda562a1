"""`gathered`: the many links of a body that does not move against itself, in a few groups of neighbours.

A mobile base, or the rest of a humanoid, is one body with dozens of links. One set of capsules for all of it would fill
the room between them, in which the arm works, and a set for each link would cost more than it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iparam.arrays import FloatArray

THIN = 0.02
"""Least extent of a link for the volume of its box [m]: plates and points have some, too."""


def gathered(boxes: Mapping[str, FloatArray], most: int) -> dict[str, tuple[str, ...]]:
    """At most ``most`` groups of links, by the name of the largest in each, with the names of all in it.

    Those two groups become one whose common box has least volume that neither of them has.

    Args:
        boxes: (2, 3) lowest and highest corner of each link, in the axes of the body [m].
        most: groups, at least 1.
    """
    members: list[tuple[str, ...]] = [(name,) for name in boxes]
    low, high = (np.array([box[end] for box in boxes.values()], dtype=np.float64) for end in (0, 1))
    while len(members) > most:
        volume = _volumes(low, high)
        growth = _volumes(np.minimum(low[:, None], low), np.maximum(high[:, None], high)) - volume[:, None] - volume
        growth[np.tril_indices(len(members))] = np.inf
        one, other = np.unravel_index(int(np.argmin(growth)), growth.shape)
        members[one] = members[one] + members[other]
        low[one], high[one] = np.minimum(low[one], low[other]), np.maximum(high[one], high[other])
        del members[other]
        low, high = np.delete(low, other, axis=0), np.delete(high, other, axis=0)
    sizes = {name: float(_volumes(*box)) for name, box in boxes.items()}
    return {max(group, key=lambda name: sizes[name]): group for group in members}


def _volumes(low: FloatArray, high: FloatArray) -> FloatArray:
    return np.asarray(np.prod(np.maximum(high - low, THIN), axis=-1))
