"""`partial_solution`: what the samples so far tell of a load, before they tell all of it.

An arm at rest shows the weight of its load and two thirds of where it hangs; the rest comes with other orientations and
with accelerations. In the directions of [phi, bias] that the samples show the solution is that of total least squares
with known errors; in the others nothing is known but that the load is of a size that hands carry, which is their
variance. So the covariance is whole at any time, predictions are as uncertain as they are, and what has a part in a
direction that is not shown is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.payload.problem import NUM_PARAMETERS

MOSTLY_NOISE = 0.2
"""Share of errors in the regressor's power, in any direction, above which the motion has not shown the load yet."""

HEAVIEST = 100.0
"""Deviation of a mass of which nothing is known [kg]."""

REACH = 0.3
"""Deviation of a centre of mass, and of a radius of gyration, of which nothing is known [m]."""

LIGHTEST = 0.2
"""Mass that loads are reckoned to have at least when it is asked what is known of them well enough to say it [kg]."""

BIAS = (200.0, 200.0, 200.0, 20.0, 20.0, 20.0)
"""Deviation of a sensor's bias of which nothing is known [N, N m]."""

WELL = 0.5
"""Deviation, as a share of what it is without any sample, up to which something is known."""

UNSEEN = 0.05
"""The same for the part of it that comes from directions that the samples do not show."""


@dataclass(frozen=True, eq=False)
class OnlineSolution:
    """[phi, bias] as known at an instant.

    Attributes:
        parameters: (p,), zero in directions that are not shown.
        covariance: (p, p), large in them.
        known: (p,) what may be said.
        fitted: (p,) what leaves the least of the samples, in all directions; None where that is ``parameters``.
    """

    parameters: FloatArray
    covariance: FloatArray
    known: NDArray[np.bool_]
    fitted: FloatArray | None = None

    @property
    def complete(self) -> bool:
        """Whether all of the load is known."""
        return bool(self.known[:NUM_PARAMETERS].all())

    @property
    def published(self) -> tuple[FloatArray, FloatArray]:
        """The load phi (10,) and its covariance (10, 10), NaN for what is not known."""
        part = slice(NUM_PARAMETERS)
        phi, covariance = self.parameters[part], self.covariance[part, part]
        if self.complete:
            return phi, covariance
        known = self.known[part]
        return np.where(known, phi, np.nan), np.where(known[:, None] & known, covariance, np.nan)


def partial_solution(
    cross_products: FloatArray, errors: FloatArray, samples: int, mass: float, inflation: float = 1.0
) -> OnlineSolution:
    """Solve in the directions that the samples show.

    Args:
        cross_products: (p + 1, p + 1) sums of products of the whitened [A, bias columns, y]; a prior may be in it.
        errors: (10, 10) part of it that the errors of the motion make up in A.
        samples: how many there were.
        mass: of the load, roughly: what its moments and inertias are reckoned by [kg].
        inflation: of the variances, by correlation in time.
    """
    p = len(cross_products) - 1
    gram, target = cross_products[:-1, :-1], cross_products[:-1, -1]
    size = unknown_deviations(p, mass)
    nothing = np.diag(size**-2.0)
    noise = nothing.copy()
    noise[:NUM_PARAMETERS, :NUM_PARAMETERS] += errors
    whole = gram + nothing
    unit = 1.0 / np.sqrt(np.diag(whole))
    root = np.linalg.inv(np.linalg.cholesky(whole * np.outer(unit, unit))).T * unit[:, None]
    share, directions = np.linalg.eigh(root.T @ noise @ root)
    basis = root @ directions
    shown = share < MOSTLY_NOISE / (1.0 + MOSTLY_NOISE)  # of what is left when it is taken out
    seen, lost = basis[:, shown], basis[:, ~shown]
    weights = 1.0 / (1.0 - share[shown])
    parameters = seen @ (weights * (seen.T @ target))
    phi = parameters[:NUM_PARAMETERS]
    residual_squares = (
        cross_products[-1, -1] - 2.0 * target @ parameters + parameters @ gram @ parameters - phi @ errors @ phi
    )
    variance = max(float(residual_squares) / max(6 * samples - int(shown.sum()), 1), 1.0)
    covariance = (variance * inflation) * (seen * weights) @ seen.T
    unseen = np.zeros_like(covariance)
    if lost.size:
        unseen = lost @ np.linalg.solve(lost.T @ nothing @ lost, lost.T)
    covariance = np.asarray(covariance + unseen)
    size[0] = max(abs(mass), LIGHTEST)
    known = (np.sqrt(np.diag(covariance)) < WELL * size) & (np.sqrt(np.diag(unseen)) < UNSEEN * size)
    return OnlineSolution(parameters, covariance, known, np.asarray(root @ (root.T @ target)))


def unknown_deviations(unknowns: int, mass: float) -> FloatArray:
    """(p,) standard deviations of [phi, bias] of a load of about ``mass`` [kg] of which nothing is known."""
    moment = max(abs(mass), LIGHTEST) * REACH
    return np.array([HEAVIEST, *[moment] * 3, *[moment * REACH] * 6, *BIAS])[:unknowns]
