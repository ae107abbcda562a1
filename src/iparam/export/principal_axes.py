"""The principal axes and moments of an inertia tensor."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.spatial.inertia import symmetric_array


def principal_axes(inertia: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Rotation R (3, 3) and moments J (3,) with inertia = R diag(J) R^T.

    The columns of R are the principal axes. Of the 24 right-handed orders and signs of them, the one that turns the
    axes least is taken, so that a tensor that is already diagonal gives R = identity and J = its diagonal.

    Args:
        inertia: (3, 3) symmetric [kg m^2].
    """
    values, vectors = np.linalg.eigh(symmetric_array(inertia, "inertia", 3))
    orders = [list(order) for order in permutations(range(3))]
    choices = [
        (vectors[:, order] * signs, values[order]) for order in orders for signs in product((1.0, -1.0), repeat=3)
    ]
    right_handed = [(R, J) for R, J in choices if np.linalg.det(R) > 0.0]
    return max(right_handed, key=lambda choice: float(np.trace(choice[0])))
