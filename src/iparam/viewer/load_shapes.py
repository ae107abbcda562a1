"""`LoadShapes`: an estimated load as solids in the tool frame, with the region that holds its centre of mass in 95 of
100 cases.
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
        shape: what was found of the shape that the load was said to have; None without one.
    """

    name: str
    body: EquivalentBody | None
    parameters: InertialParameters
    center_region: FloatArray | None
    shape: FoundShape | None = None


def estimated_load(estimate: Estimate, name: str) -> LoadShapes:
    """The solids of an estimate.

    Raises:
        InputError: the estimate is a part only.
    """
    parameters, covariance = estimate.parameters, estimate.covariance_phi
    center = center_derivative(estimate.phi)
    region = frozen(SQUARED_RADIUS_95 * center @ covariance @ center.T)
    return LoadShapes(name, equivalent_body(parameters), parameters, region, estimate.shape)


def known_load(parameters: InertialParameters, name: str) -> LoadShapes:
    """The solids of a load without uncertainty: the truth of a simulation."""
    return LoadShapes(name, equivalent_body(parameters), parameters, None)


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
