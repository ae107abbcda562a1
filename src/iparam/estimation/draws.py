"""Draws from the posterior of a load, each of them a body that can exist: for domain randomisation and for robustness
studies.

What an identification states is a Gaussian, phi and its covariance; what is known besides is that a body of positive
density was weighed. Both together are the Gaussian restricted to the physically consistent parameters, and that is
drawn from. Where the Gaussian lies within them, mean and covariance of the draws are phi and its covariance. Where it
reaches beyond (a thin plate, an inertia that the motion hardly shows), no distribution of bodies has these two: the
draws then keep to one side of the boundary, their mean moves inward, and they scatter less. `PosteriorDraws.share`
tells which.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.spatial.consistency import check_consistency, is_physically_consistent
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.phi import pseudo_inertia_from_phi

MOST_DRAWS = 100_000
_PROPOSED_FIRST = 10_000
_LEAST_SHARE = 0.002
"""Below this share of bodies in the Gaussian, walks inside the set are cheaper than proposals that are thrown away."""
_STEPS = 1500
"""Of a walk: at a share of a thousandth 300 still remember where they began, and 1000 do not."""
_WITHIN = 1.0 - 1e-9
"""How far towards the boundary a step may go, so that rounding does not carry it beyond."""
_INDEFINITE = 1e-6


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """What `draw_parameters` returns.

    Attributes:
        phi: (N, 10) see `iparam.spatial.phi`; independent of each other, each physically consistent.
        share: of the unrestricted Gaussian that belongs to real bodies, 0 to 1: 1 where mean and covariance of the
            draws are those of the posterior.
    """

    phi: FloatArray
    share: float


def draw_parameters(phi: ArrayLike, covariance_phi: ArrayLike, count: int, seed: int = 0) -> PosteriorDraws:
    """Draw loads from the posterior of an identification, restricted to bodies that can exist.

    Args:
        phi: (10,) the estimate, physically consistent, see `iparam.spatial.phi`.
        covariance_phi: (10, 10) its covariance; may be singular, as where something is known exactly.
        count: how many, at least 1.
        seed: at least 0; the same one gives the same draws.

    Returns:
        The draws, and which share of the Gaussian they stand for.
    """
    center = as_float_array(phi, "phi", (10,))
    if center.shape != (10,):
        raise InputError(argument="phi", problem=f"must have shape (10,), got {center.shape}")
    total, start = _whole(count, "count", 1, MOST_DRAWS), _whole(seed, "seed", 0, 2**63)
    if not (report := check_consistency(center)):
        raise InputError(f"draws begin at a load that can exist, and this one cannot: {' '.join(report.violations)}")
    factor = covariance_factor(covariance_phi)
    rng = np.random.default_rng(start)
    first = _proposals(center, factor, max(_PROPOSED_FIRST, total), rng)
    kept = _bodies(first)
    share = len(kept) / len(first)
    parts, found = ([], 0) if share < _LEAST_SHARE else ([kept], len(kept))
    while found < total:
        if share < _LEAST_SHARE:
            more = _walks(center, factor, total - found, rng)
        else:
            more = _proposals(center, factor, int(1.2 * (total - found) / share) + 100, rng)
        parts.append(_bodies(more))
        found += len(parts[-1])
    return PosteriorDraws(frozen(np.concatenate(parts)[:total]), share)


def covariance_factor(covariance_phi: ArrayLike) -> FloatArray:
    """(10, r) L with L L^T = the covariance (10, 10) of phi, which has rank r; InputError if it is no covariance."""
    covariance = symmetric_array(covariance_phi, "covariance_phi", 10)
    if covariance.shape != (10, 10):
        raise InputError(argument="covariance_phi", problem=f"must have shape (10, 10), got {covariance.shape}")
    variances = np.diag(covariance)
    if (variances < 0.0).any():
        raise InputError(
            argument="covariance_phi",
            problem=f"has a negative variance, {variances.min():.3g}: no measurement has that",
        )
    # Of the correlations, so that kilograms and kg m^2 count alike.
    deviation = np.sqrt(np.where(variances > 0.0, variances, 1.0))
    values, vectors = np.linalg.eigh(covariance / np.outer(deviation, deviation))
    if values[0] < -_INDEFINITE:
        raise InputError(
            argument="covariance_phi",
            problem=f"is no covariance: its correlations have an eigenvalue of {values[0]:.3g}, below 0",
        )
    known = values > 0.0
    factor: FloatArray = deviation[:, None] * vectors[:, known] * np.sqrt(values[known])
    return factor


def _proposals(center: FloatArray, factor: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    proposed: FloatArray = center + rng.standard_normal((count, factor.shape[1])) @ factor.T
    return proposed


def _bodies(proposed: FloatArray) -> FloatArray:
    """(k, 10) those of ``proposed`` (n, 10) that are physically consistent."""
    J = pseudo_inertia_from_phi(proposed)[:, ::-1, ::-1]
    likely = np.ones(len(J), dtype=bool)
    with np.errstate(all="ignore"):  # the pivots of an elimination: most that fail do so here, a hundred times faster
        for k in range(4):
            likely &= J[:, k, k] > 0.0
            J = J - J[:, :, k, None] * J[:, k, None, :] / J[:, k, k, None, None]
    passed = proposed[likely]
    kept: FloatArray = passed[np.asarray(is_physically_consistent(passed))]
    return kept


def _walks(center: FloatArray, factor: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """(count, 10) the ends of independent hit-and-run walks from the centre, in the whitened coordinates of the factor.

    On each step a direction is drawn, and along it a point of the Gaussian between the two places where the
    pseudo-inertia becomes singular (Belisle, Romeijn & Smith 1993): exact in the limit, however small the share.
    """
    rank = factor.shape[1]
    place = np.zeros((count, rank))
    # The pseudo-inertia is linear in phi. In units of that of the centre it is E there, whatever the body's size.
    unit = np.linalg.inv(np.linalg.cholesky(pseudo_inertia_from_phi(center)))
    slopes = (unit @ pseudo_inertia_from_phi(factor.T) @ unit.T).reshape(rank, 16)
    for _ in range(_STEPS):
        direction = rng.standard_normal((count, rank))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        root = np.linalg.inv(np.linalg.cholesky(np.eye(4) + (place @ slopes).reshape(count, 4, 4)))
        rates = np.linalg.eigvalsh(root @ (direction @ slopes).reshape(count, 4, 4) @ np.swapaxes(root, -1, -2))
        # J + t D = R (E + t K) R^T is positive definite where 1 + t k > 0 for each eigenvalue k of K.
        with np.errstate(divide="ignore"):
            low = np.where(rates[:, -1] > 0.0, -_WITHIN / rates[:, -1], -np.inf)
            high = np.where(rates[:, 0] < 0.0, -_WITHIN / rates[:, 0], np.inf)
        along = (place * direction).sum(axis=1)
        step = _truncated_normal(along + low, along + high, rng) - along
        place += step[:, None] * direction
    ends: FloatArray = center + place @ factor.T
    return ends


def _truncated_normal(low: FloatArray, high: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(n,) of the standard normal distribution between ``low`` and ``high`` (n,), also far in its tail."""
    mirrored = low > 0.0  # where the logarithm of the distribution function has no digits left: draw the mirror image
    below, above = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    from_log, to_log = log_ndtr(below), log_ndtr(above)
    part = rng.uniform(size=len(low))
    with np.errstate(divide="ignore"):
        drawn = ndtri_exp(to_log + np.log(part + (1.0 - part) * np.exp(from_log - to_log)))
    drawn = np.clip(drawn, below, above)
    result: FloatArray = np.where(mirrored, -drawn, drawn)
    return result


def _whole(value: int, name: str, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(argument=name, value=value, expected="a whole number") from None
    if not least <= number <= most:
        raise InputError(argument=name, problem=f"must be from {least} to {most}, got {number}")
    return number
