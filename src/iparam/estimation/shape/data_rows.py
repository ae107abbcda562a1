"""What recorded data say of phi, as few rows as it takes, whether that is everything or not.

A fit solves (G - N) phi = r, with G the Gram matrix of the whitened regressors, N the part of it that errors of the
motion make up, and r what the wrench contributes; the sensor's bias is projected out. For a load that hardly moves, G
is next to singular, and where most of it is N the motion shows nothing. Those directions are left out; the others are
rows with errors of a known covariance, with correlation in time where there is any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.covariance import Scores, score_covariance
from iparam.estimation.payload.partial_estimate import FEW, level_weights
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import (
    MOSTLY_NOISE,
    ROUNDS,
    NoiseWeights,
    channel_floor,
    check_wrench,
    constant_weights,
    residual_weights,
    residuals,
    triangular_factor,
)

UNSEEN = 1e-7
"""Singular value of the regressor of unit columns below which a direction is one that the motion does not show."""

ROUNDING = 1e-13
"""Share of a column's squares that is left beside the bias below which nothing is."""


@dataclass(frozen=True, eq=False)
class DataRows:
    """What data say of phi: rows @ phi = values, with independent errors of standard deviation 1.

    Attributes:
        rows: (r, 10), r at most 10.
        values: (r,).
    """

    rows: FloatArray
    values: FloatArray

    @property
    def information(self) -> FloatArray:
        """(10, 10) inverse covariance of phi by the data alone."""
        return np.asarray(self.rows.T @ self.rows)


@dataclass(frozen=True, eq=False)
class WeightedData:
    """The data of a problem, weighed.

    Attributes:
        rows: what they say of phi.
        inflation: of the covariance, by correlation in time.
        gram: (p, p) of the whitened design, phi and bias.
        right: (p,) the right-hand side.
    """

    rows: DataRows
    inflation: float
    gram: FloatArray
    right: FloatArray

    def with_bias(self, phi: FloatArray) -> FloatArray:
        """(p,) phi and, where it is estimated, the bias that is best with it."""
        if len(self.right) == NUM_PARAMETERS:
            return phi
        own = self.gram[NUM_PARAMETERS:, NUM_PARAMETERS:]
        rest = self.right[NUM_PARAMETERS:] - self.gram[NUM_PARAMETERS:, :NUM_PARAMETERS] @ phi
        return np.concatenate([phi, np.linalg.solve(own, rest)])


def weighted_data(problem: PayloadProblem, guess: FloatArray) -> WeightedData:
    """Weigh the data of a problem.

    Args:
        problem: the data.
        guess: (10,) about what the load is, for directions that they do not show.
    """
    check_wrench(problem)
    weights, parameters = level_weights(problem), np.zeros(problem.num_unknowns)
    for _ in range(ROUNDS + 1):
        factor = triangular_factor(problem, weights)
        gram, right = factor[:-1, :-1].T @ factor[:-1, :-1], factor[:-1, :-1].T @ factor[:-1, -1]
        noise = _noise(problem, weights)
        parameters = _near(guess, gram, right, noise)
        residual = residuals(problem, parameters)
        if _ < ROUNDS:
            weights = _weights(problem, residual, parameters[:NUM_PARAMETERS])
    matrix, inflation = _score_covariance(problem, weights, residual, noise, parameters)
    project = np.eye(NUM_PARAMETERS, problem.num_unknowns)
    if problem.bias:
        cross, own = gram[:NUM_PARAMETERS, NUM_PARAMETERS:], gram[NUM_PARAMETERS:, NUM_PARAMETERS:]
        project[:, NUM_PARAMETERS:] = -np.linalg.solve(own, cross.T).T
    shown = project @ gram[:, :NUM_PARAMETERS]
    # What of a parameter looks like a bias all the time leaves only rounding errors.
    unseen = np.diag(shown) <= ROUNDING * np.diag(gram)[:NUM_PARAMETERS]
    shown[unseen], shown[:, unseen] = 0.0, 0.0
    rows = _rows(shown, project @ right, noise, project @ matrix @ project.T, problem)
    return WeightedData(rows, inflation, gram, right)


def known_rows(phi: FloatArray, covariance: FloatArray) -> DataRows:
    """The rows of an estimate of which only some of phi (10,) are known, the others NaN, with their covariance."""
    known = ~np.isnan(phi)
    values, vectors = np.linalg.eigh(covariance[np.ix_(known, known)])
    rows = np.zeros((int(known.sum()), NUM_PARAMETERS))
    rows[:, known] = (vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1]))).T
    return DataRows(rows, rows[:, known] @ phi[known])


def _weights(problem: PayloadProblem, residual: FloatArray, phi: FloatArray) -> NoiseWeights:
    if problem.num_samples >= FEW or problem.wrench_covariance is not None:
        return residual_weights(problem, residual, phi)
    # Few rows: all forces alike, and all torques.
    freedom = max(3.0 * len(residual) - 0.5 * problem.num_unknowns, 1.0)
    pooled = np.sum(residual.reshape(-1, 2, 3) ** 2, axis=(0, 2)) / freedom
    return constant_weights(np.diag(np.repeat(pooled, 3) + channel_floor(problem) ** 2))


def _noise(problem: PayloadProblem, weights: NoiseWeights) -> FloatArray:
    """(10, 10) what errors of the motion contribute to the Gram matrix."""
    if problem.uncertainty is None:
        return np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))
    return np.asarray(problem.uncertainty.gram(weights.precision))


def _near(guess: FloatArray, gram: FloatArray, right: FloatArray, noise: FloatArray) -> FloatArray:
    """(p,) the solution, near the guess in directions that the data do not show."""
    size = len(right)
    start = np.zeros(size)
    start[:NUM_PARAMETERS] = guess
    reach = np.sqrt(np.abs(guess[[4, 7, 9]]).max() / guess[0])
    scale = guess[0] * np.array([1.0, *[reach] * 3, *[reach**2] * 6])
    curvature = gram.copy()
    corrected = gram[:NUM_PARAMETERS, :NUM_PARAMETERS] - noise
    if np.linalg.eigvalsh(corrected / np.outer(scale, scale) * guess[0] ** 2)[0] > 0.0:
        curvature[:NUM_PARAMETERS, :NUM_PARAMETERS] = corrected
    ridge = np.zeros(size)
    ridge[:NUM_PARAMETERS] = 1.0 / scale**2
    gap = right - curvature @ start
    return np.asarray(start + np.linalg.solve(curvature + np.diag(ridge), gap))


def _score_covariance(
    problem: PayloadProblem, weights: NoiseWeights, residual: FloatArray, noise: FloatArray, parameters: FloatArray
) -> tuple[FloatArray, float]:
    """(p, p) covariance of the right-hand side, with what an unknown delay adds, and the inflation."""
    design = problem.design
    if problem.num_samples < FEW:
        whitened = weights.rows(design).reshape(-1, problem.num_unknowns)
        matrix, inflation = whitened.T @ whitened, 1.0
    else:
        constant = np.zeros(problem.num_unknowns)
        constant[:NUM_PARAMETERS] = noise @ parameters[:NUM_PARAMETERS] / problem.num_samples
        found = score_covariance(Scores(design, weights.weighted(residual), constant))
        matrix, inflation = found.matrix, found.inflation
    if problem.delay_deviation:
        change = np.gradient(problem.A @ parameters[:NUM_PARAMETERS], problem.time, axis=0) * problem.delay_deviation
        moved = np.einsum("nci,nc->i", design, weights.weighted(change))
        matrix = matrix + np.outer(moved, moved)
    return matrix, inflation


def _rows(
    gram: FloatArray, right: FloatArray, noise: FloatArray, covariance: FloatArray, problem: PayloadProblem
) -> DataRows:
    """The rows that are more than noise of (gram - noise) phi = right, whose errors have the covariance."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    seen = values > UNSEEN**2 * max(float(values[-1]), 1e-300)
    half = (vectors[:, seen] / np.sqrt(values[seen])).T / scale  # half gram half' = 1
    share, turn = np.linalg.eigh(half @ noise @ half.T)
    turn = turn[:, share <= MOSTLY_NOISE]
    whiten = turn.T @ half
    rows, target, errors = whiten @ (gram - noise), whiten @ right, whiten @ covariance @ whiten.T
    for term in problem.covariance_terms.values():
        errors = errors + rows @ term @ rows.T
    if not len(errors):
        return DataRows(rows, target)
    spread, axes = np.linalg.eigh(errors)
    unit = (axes / np.sqrt(np.maximum(spread, 1e-12 * spread[-1]))).T
    return DataRows(unit @ rows, unit @ target)
