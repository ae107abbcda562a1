"""The simple solids that have the same mass, centre of mass and inertia as an estimate: a box and an ellipsoid."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.spatial.parameters import InertialParameters


@dataclass(frozen=True, eq=False)
class EquivalentBody:
    """A solid box and a solid ellipsoid of even density with the inertial parameters of a body.

    Attributes:
        center: (3,) the centre of mass in the tool frame [m].
        rotation: (3, 3) columns are the principal axes, each beside the tool axis that is closest to it.
        moments: (3,) principal moments about them [kg m^2].
        box_size: (3,) edge lengths along them [m].
        ellipsoid: (3, 3) M of the ellipsoid (x - c)' M^-1 (x - c) <= 1 [m^2].
    """

    center: FloatArray
    rotation: FloatArray
    moments: FloatArray
    box_size: FloatArray
    ellipsoid: FloatArray


def equivalent_body(body: InertialParameters) -> EquivalentBody | None:
    """The solids, or None if no body of positive density has these parameters.

    With S = tr(I)/2 E - I the second moments of the mass, a box has edges sqrt(12 s / m) along its axes and an
    ellipsoid half axes sqrt(5 s / m), s being the eigenvalues of S.
    """
    if not body.mass > 0.0:
        return None
    inertia = body.inertia_about_com
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    values, vectors = np.linalg.eigh(second)
    if values[0] <= 0.0:
        return None
    closeness = np.abs(vectors)
    order = list(max(permutations(range(3)), key=lambda p: float(closeness[[0, 1, 2], list(p)].sum())))
    values, vectors = values[order], vectors[:, order]
    vectors = vectors * np.where(np.diag(vectors) < 0.0, -1.0, 1.0)
    return EquivalentBody(
        center=body.center_of_mass,
        rotation=frozen(vectors),
        moments=frozen(values.sum() - values),
        box_size=frozen(np.sqrt(12.0 * values / body.mass)),
        ellipsoid=frozen(5.0 * second / body.mass),
    )
