"""`LoadShapes`: an estimated load as solids in the tool frame, with the regions that hold the truth in 95 of 100 cases.

The covariance of the estimate is carried over to the centre of mass and to the ends of the principal axes by their
derivatives: right where it is small beside the load, which the page says where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from iparam.arrays import FloatArray, frozen
from iparam.estimation.estimate import Estimate
from iparam.estimation.shape.found import FoundShape
from iparam.spatial.derived import second_moment_derivative
from iparam.spatial.equivalent_body import EquivalentBody, equivalent_body
from iparam.spatial.parameters import InertialParameters

SQUARED_RADIUS_95 = float(chdtri(3, 0.05))
"""Of the ellipsoid in units of the standard deviation that holds three normal variables in 95 of 100 cases."""


@dataclass(frozen=True, eq=False)
class LoadShapes:
    """A load in the tool frame.

    Attributes:
        name: what the page calls it.
        body: box and ellipsoid of the same mass, centre of mass and inertia; None if no body of positive density has
            them.
        parameters: mass, centre of mass and inertia.
        center_region: (3, 3) M of the ellipsoid (x - c)' M^-1 (x - c) <= 1 that holds the centre of mass with 95 %
            [m^2]; None where nothing is uncertain, as of the truth.
        axis_ends: (3, 3) rows: ends of the inertia ellipsoid's half axes from the centre of mass [m].
        axis_regions: (3, 3, 3) likewise of each of those ends, relative to the centre of mass [m^2]; None as above.
        undetermined: (3,) whether the region of an end reaches beyond a right angle or is longer than the half axis:
            its direction is not known.
        shape: what was found of the shape that the load was said to have; None without one.
    """

    name: str
    body: EquivalentBody | None
    parameters: InertialParameters
    center_region: FloatArray | None
    axis_ends: FloatArray
    axis_regions: FloatArray | None
    undetermined: tuple[bool, bool, bool] = (False, False, False)
    shape: FoundShape | None = None


def estimated_load(estimate: Estimate, name: str) -> LoadShapes:
    """The solids of an estimate.

    Raises:
        InputError: the estimate is a part only.
    """
    parameters, covariance = estimate.parameters, estimate.covariance_phi
    center = center_derivative(estimate.phi)
    body = equivalent_body(parameters)
    region = frozen(SQUARED_RADIUS_95 * center @ covariance @ center.T)
    if body is None:
        return LoadShapes(name, None, parameters, region, np.zeros((3, 3)), None, shape=estimate.shape)
    ends, derivatives = axis_ends(estimate.phi, body)
    regions = np.stack([SQUARED_RADIUS_95 * one @ covariance @ one.T for one in derivatives])
    widest = np.sqrt(np.clip(np.linalg.eigvalsh(regions)[:, -1], 0.0, None))
    lost = widest > np.linalg.norm(ends, axis=1)
    undetermined = (bool(lost[0]), bool(lost[1]), bool(lost[2]))
    return LoadShapes(name, body, parameters, region, frozen(ends), frozen(regions), undetermined, estimate.shape)


def known_load(parameters: InertialParameters, name: str) -> LoadShapes:
    """The solids of a load without uncertainty: the truth of a simulation."""
    body = equivalent_body(parameters)
    ends = np.zeros((3, 3)) if body is None else axis_ends(parameters.phi, body)[0]
    return LoadShapes(name, body, parameters, None, frozen(ends), None)


def center_derivative(phi: FloatArray) -> FloatArray:
    """(3, 10) of the centre of mass m c / m by phi [m per its units]."""
    derivative = np.zeros((3, 10))
    derivative[:, 0] = -phi[1:4] / phi[0] ** 2
    derivative[:, 1:4] = np.eye(3) / phi[0]
    return derivative


def principal_moments(estimate: Estimate) -> tuple[FloatArray, FloatArray]:
    """The principal moments of inertia (3,) about the centre of mass, the least first, and their standard deviations
    (3,) [kg m^2].

    To first order a moment changes by e' dI e, with e its axis.
    """
    moments, axes = np.linalg.eigh(estimate.parameters.inertia_about_com)
    second = second_moment_derivative(estimate.phi)
    along = np.trace(second, axis1=1, axis2=2)[:, None] - np.einsum("ai,kab,bi->ki", axes, second, axes)
    variance = np.einsum("ki,kl,li->i", along, estimate.covariance_phi, along)
    return moments, np.sqrt(np.clip(variance, 0.0, None))


def axis_ends(phi: FloatArray, body: EquivalentBody) -> tuple[FloatArray, FloatArray]:
    """The half axes (3, 3) of the inertia ellipsoid, one a row, and their derivatives (3, 3, 10) by phi.

    With S the second moments about the centre of mass, S e_i = s_i e_i: a half axis is sqrt(5 s_i / m) e_i, and a small
    change dS turns e_i by the sum over j of (e_j' dS e_i) / (s_i - s_j) e_j. Where two s are equal the direction is not
    determined, and its derivative is large without bound.
    """
    mass, second, axes = float(phi[0]), second_moment_derivative(phi), body.rotation
    values = mass * np.diag(axes.T @ body.ellipsoid @ axes) / 5.0
    lengths = np.sqrt(5.0 * values / mass)
    ends = lengths[:, None] * axes.T
    derivatives = np.zeros((3, 3, 10))
    in_axes = np.einsum("ai,kab,bj->kij", axes, second, axes)
    tiny = 1e-12 * float(values.max())
    for i in range(3):
        stretch = 0.5 * lengths[i] * (in_axes[:, i, i] / values[i] - np.eye(10)[0] / mass)
        derivatives[i] += np.outer(axes[:, i], stretch)
        for j in range(3):
            if j != i:
                gap = values[i] - values[j]
                gap = gap if abs(gap) > tiny else tiny
                derivatives[i] += np.outer(axes[:, j], lengths[i] * in_axes[:, j, i] / gap)
    return ends, derivatives


def limited_region(region: FloatArray, longest: float) -> FloatArray:
    """A region (3, 3) [m^2] with no half axis longer than ``longest`` [m], to be drawn where it has no end."""
    values, vectors = np.linalg.eigh(region)
    return np.asarray((vectors * np.clip(values, 0.0, longest**2)) @ vectors.T)
