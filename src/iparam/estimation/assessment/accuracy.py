"""How far an estimate is from a reference: the relative errors of the literature, and ones without division by zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import pseudo_inertia_from_phi


@dataclass(frozen=True, eq=False)
class AccuracyReport:
    """Errors of an estimated load.

    Attributes:
        mass_percent: ``|m - m0| / m0`` in per cent.
        center_of_mass_distance: [m].
        inertia_percent: (3, 3) errors of the inertia about the centre of mass, in per cent of the largest principal
            moment: defined for the products of inertia too, which are often 0.
        relative_percent: (10,) ``|x - x0| / |x0|`` in per cent for each of phi (Kubus et al. 2008, Eq. 37); NaN where
            the reference is 0.
        geodesic_distance: between the pseudo-inertias, the affine-invariant distance; infinite if one of them is not
            positive definite.
    """

    mass_percent: float
    center_of_mass_distance: float
    inertia_percent: FloatArray
    relative_percent: FloatArray
    geodesic_distance: float


def accuracy(estimate: ArrayLike, reference: ArrayLike) -> AccuracyReport:
    """Compare phi (10,) with a reference phi (10,) of positive mass."""
    phi, truth = as_float_array(estimate, "estimate", (10,)), as_float_array(reference, "reference", (10,))
    body, true_body = InertialParameters.from_phi(phi), InertialParameters.from_phi(truth)
    largest = float(np.linalg.eigvalsh(true_body.inertia_about_com)[-1])
    return AccuracyReport(
        mass_percent=100.0 * abs(body.mass - true_body.mass) / true_body.mass,
        center_of_mass_distance=float(np.linalg.norm(body.center_of_mass - true_body.center_of_mass)),
        inertia_percent=frozen(100.0 * np.abs(body.inertia_about_com - true_body.inertia_about_com) / largest),
        relative_percent=frozen(relative_errors(phi, truth)),
        geodesic_distance=geodesic_distance(phi, truth),
    )


def relative_errors(estimate: ArrayLike, reference: ArrayLike) -> FloatArray:
    """``|x - x0| / |x0|`` in per cent, entry by entry (Eq. 37); NaN where x0 is 0, as it is not defined there."""
    values, truth = as_float_array(estimate, "estimate"), as_float_array(reference, "reference")
    defined = truth != 0.0
    return np.where(defined, 100.0 * np.abs(values - truth) / np.where(defined, np.abs(truth), 1.0), np.nan)


def geodesic_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Affine-invariant distance of two pseudo-inertias: the norm of the logarithms of J1^-1 J2's eigenvalues.

    Independent of the frame and of units; 0.01 is about a relative difference of one per cent.
    """
    one, two = pseudo_inertia_from_phi(first), pseudo_inertia_from_phi(second)
    if np.linalg.eigvalsh(one)[0] <= 0.0 or np.linalg.eigvalsh(two)[0] <= 0.0:
        return float("inf")
    inverse = np.linalg.inv(np.linalg.cholesky(one))
    return float(np.linalg.norm(np.log(np.linalg.eigvalsh(inverse @ two @ inverse.T))))
