"""How good a motion is for identification: functions of the eigenvalues of the Gram matrix W = sum A^T S A.

All are to be minimised and do not depend on the scale of W alone: a condition number, or logarithms. The condition
number and E-optimality have kinks where the extreme eigenvalues meet, which is just where the optima lie. They are
therefore smoothed by p-norms, order p: log sum lambda^p / p lies above log max lambda by at most log(size) / p.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray


class Criterion(StrEnum):
    """What to minimise.

    KAPPA: condition number of the stacked regressor, sqrt(largest / smallest eigenvalue of W).
    D: minus the logarithm of det W: the volume of the parameters' confidence ellipsoid.
    A: logarithm of trace W^-1: the mean variance of the parameters.
    E: minus the logarithm of the smallest eigenvalue of W: the variance in the worst direction.
    """

    KAPPA = "kappa"
    D = "d"
    A = "a"
    E = "e"


def eigenvalues(gram: FloatArray) -> FloatArray:
    """Eigenvalues (p,) of a Gram matrix, ascending."""
    return np.asarray(np.linalg.eigvalsh(gram), dtype=np.float64)


class Spectral(NamedTuple):
    """A smooth function of the eigenvalues: value, gradient (p,) and Hessian (p, p)."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


def criterion_value(criterion: Criterion, spectrum: FloatArray) -> float:
    """The criterion itself, as reported: kappa, -log det W, log trace W^-1 or -log of the smallest eigenvalue."""
    least = spectrum[0]
    if least <= 1e-14 * spectrum[-1]:
        return np.inf
    if criterion is Criterion.KAPPA:
        return float(np.sqrt(spectrum[-1] / least))
    if criterion is Criterion.D:
        return float(-np.log(spectrum).sum())
    if criterion is Criterion.A:
        return float(np.log((1.0 / spectrum).sum()))
    return float(-np.log(least))


def smoothed(criterion: Criterion, spectrum: FloatArray, order: float) -> Spectral:
    """What the optimiser minimises: 2 log kappa and the others, smoothed by p-norms of the given order.

    Args:
        criterion: which one.
        spectrum: (p,) of W, positive.
        order: of the p-norms; D- and A-optimality are smooth already and ignore it.
    """
    logs = np.log(spectrum)
    if criterion is Criterion.KAPPA:
        top, bottom = _log_norm(logs, order), _log_norm(-logs, order)
        value, slope, bend = top.value + bottom.value, top.gradient - bottom.gradient, top.hessian + bottom.hessian
    elif criterion is Criterion.D:
        value, slope, bend = float(-logs.sum()), -np.ones_like(logs), np.zeros((logs.size, logs.size))
    else:
        value, slope, bend = _log_norm(-logs, 1.0 if criterion is Criterion.A else order)
        slope = -slope
    # From derivatives by log lambda to derivatives by lambda.
    gradient = slope / spectrum
    hessian = bend / np.multiply.outer(spectrum, spectrum) - np.diag(slope / spectrum**2)
    return Spectral(value, gradient, hessian)


def divided_differences(spectrum: FloatArray, spectral: Spectral) -> FloatArray:
    """(p, p) the weights of the off-diagonal entries in the second derivative of a spectral function.

    (g_i - g_j) / (lambda_i - lambda_j), and its limit h_ii - h_ij where two spectrum meet; zero on the diagonal.
    """
    gap = np.subtract.outer(spectrum, spectrum)
    slope = np.subtract.outer(spectral.gradient, spectral.gradient)
    close = np.abs(gap) <= 1e-8 * spectrum[-1]
    bend = np.diag(spectral.hessian)
    limit = 0.5 * np.add.outer(bend, bend) - spectral.hessian
    weights = np.where(close, limit, slope / np.where(close, 1.0, gap))
    np.fill_diagonal(weights, 0.0)
    return weights


def _log_norm(x: FloatArray, order: float) -> Spectral:
    """log(sum exp(order x)) / order with its derivatives by x."""
    shifted = order * (x - x.max())
    weights = np.exp(shifted)
    total = weights.sum()
    share = weights / total
    value = float(x.max() + np.log(total) / order)
    return Spectral(value, share, order * (np.diag(share) - np.multiply.outer(share, share)))
