"""The covariance of an estimate, from the scores that its residuals leave.

An estimate solves sum_k s_k(phi) = 0, where s_k is the score of sample k, e.g. A_k' W r_k. Its covariance is
B^-1 M B^-T with B the derivative of the sum and M the covariance of the sum, which for independent samples is the sum
of s_k s_k'. Errors of a smoothed motion are not independent: they last for a tenth of a second, each too small to be
seen in the autocorrelation of residuals but adding up. Sums over blocks of samples show them (Newey & West 1987;
Kuensch 1989). Where they scatter more than independent samples would, M is how far the sum moves when long blocks are
left out in turn (the jackknife, in the form that MacKinnon and White 1985 call HC3, for clusters): sums of residuals
alone fall short, because a fit follows errors that last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.rounding import NORMAL_95

LEAST_BLOCKS = 24
"""Blocks below which nothing can be said about correlation in time."""

EVIDENCE = 2.0
"""Standard deviations by which the mean scatter of the block sums must exceed that of independent samples."""

EVIDENCE_OF_ONE = 3.5
"""The same for the scatter in a single direction."""

LEAST_GROUPS, MOST_GROUPS = 8, 48
"""Long blocks that are left out in turn where there is correlation in time."""

FARTHEST = 4.0
"""Standard deviations beyond which a result that is trusted must not be off."""

LEAST_SHARE = 1e-2
"""Share of what is known in a direction that the other blocks are taken to have at least."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a fit: s_k = instrument_k' weighted_k + constant.

    Attributes:
        instrument: (N, 6, p), the design for all but instrumental variables.
        weighted: (N, 6) weighted residuals.
        constant: (p,) share of a sample in the correction for errors of the regressor; zeros if there is none.
    """

    instrument: FloatArray
    weighted: FloatArray
    constant: FloatArray


@dataclass(frozen=True, eq=False)
class ScoreCovariance:
    """Covariance of the sum of the scores.

    Attributes:
        matrix: (p, p).
        inflation: by how much time correlation raises it, 1 where there is none.
    """

    matrix: FloatArray
    inflation: float


def estimate_covariance(bread: FloatArray, scores: Scores) -> tuple[FloatArray, float]:
    """Covariance (p, p) of an estimate, and the inflation by time correlation.

    Args:
        bread: B (p, p).
        scores: of the fit.
    """
    found = score_covariance(scores)
    half = np.linalg.solve(bread, found.matrix)
    covariance = np.linalg.solve(bread, half.T)
    return 0.5 * (covariance + covariance.T), found.inflation


def score_covariance(scores: Scores) -> ScoreCovariance:
    """Covariance of the sum of the scores, with time correlation where there is evidence of it."""
    count, _, p = scores.instrument.shape
    varying = np.matmul(scores.weighted[:, None, :], scores.instrument)[:, 0]  # (N, p)
    each = varying + scores.constant
    independent = each.T @ each * (6 * count / max(6 * count - p, 1))
    size = max(1, int(np.ceil(0.5 * np.sqrt(count))))
    blocks = count // size
    if blocks < max(LEAST_BLOCKS, p + 8):
        return ScoreCovariance(_of_few(independent, scores), 1.0)
    # The last block has what is left over, and each the same share of the constant.
    sums = np.add.reduceat(varying, np.arange(blocks) * size) + scores.constant * (count / blocks)
    root = _regular_root(independent)
    whitened = np.asarray(
        np.linalg.solve(root, sums.T).T, float
    )  # covariance of the sum is 1 where samples are independent
    clustered, deviation, lags = _clustered(whitened)
    scatter = np.diag(clustered)
    average = float(scatter.mean())
    if average < 1.0 + EVIDENCE * deviation / np.sqrt(p) and scatter.max() < 1.0 + EVIDENCE_OF_ONE * deviation:
        return ScoreCovariance(independent, 1.0)
    length = size * max(lags + 1, blocks // MOST_GROUPS)
    left_out = root @ _jackknife(scores, root, max(blocks * size // length, LEAST_GROUPS)) @ root.T
    average = max(average, 1.0)
    # A few dozen groups do not tell that errors which last in most directions do not in some: differences of large
    # parameters (the inertia about the centre of mass) would seem to be known far better than they are.
    return ScoreCovariance(_larger(average * independent, left_out), average)


def _of_few(independent: FloatArray, scores: Scores) -> FloatArray:
    """(p, p) covariance of the sum of few scores.

    Each sample has a say of its own in the fit, so that residuals fall short; their squares alone scatter by much where
    a few samples matter most. So in any direction the largest of three counts: of their squares, of samples that are
    alike, and of leaving out samples in turn. Few of them know little of their own scatter, and a reader may go as far
    as `FARTHEST` of it: there Student's distribution is widest.
    """
    count, _, p = scores.instrument.shape
    groups = min(count, MOST_GROUPS)
    root = _regular_root(independent)
    left_out = root @ _jackknife(scores, root, groups) @ root.T / student_width(groups) ** 2
    rows = (_power_root(scores) @ scores.instrument).reshape(-1, p)
    alike = rows.T @ rows * (6 * count / max(6 * count - p, 1))
    return student_width(groups, FARTHEST) ** 2 * _larger(_larger(independent, left_out), alike)


def _larger(matrix: FloatArray, other: FloatArray) -> FloatArray:
    """A covariance (p, p), raised in any direction in which another one is larger to that."""
    root = _regular_root(matrix)
    inner = np.linalg.solve(root, np.linalg.solve(root, other).T)
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    return np.asarray(root @ (vectors * np.maximum(values, 1.0)) @ vectors.T @ root.T)


def _power_root(scores: Scores) -> FloatArray:
    """(6, 6) H with H' H the covariance of the weighted residuals: what samples are weighed by."""
    values, vectors = np.linalg.eigh(scores.weighted.T @ scores.weighted / len(scores.weighted))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)


def _clustered(sums: FloatArray) -> tuple[FloatArray, float, int]:
    """(p, p) estimate from block sums (B, p) whose neighbours may be correlated, its relative scatter, and the lags."""
    blocks = len(sums)
    own = sums.T @ sums
    correlation = float(np.mean(np.sum(sums[1:] * sums[:-1], axis=0) / np.maximum(np.sum(sums**2, axis=0), 1e-300)))
    correlation = min(max(correlation, 0.0), 0.97)
    alpha = 4.0 * correlation**2 / (1.0 - correlation**2) ** 2  # Andrews (1991) for a first-order process
    lags = 1 + min(int(1.1447 * (alpha * blocks) ** (1.0 / 3.0)), blocks // 6)
    for lag in range(1, lags + 1):
        weight = 1.0 - lag / (lags + 1.0)
        cross = sums[lag:].T @ sums[:-lag]
        own += weight * (cross + cross.T)
    deviation = float(np.sqrt(2.0 * (1.0 + 2.0 * (lags / 3.0)) / blocks))
    return own * blocks / (blocks - 1.0), deviation, lags


def _jackknife(scores: Scores, root: FloatArray, groups: int) -> FloatArray:
    """(p, p) covariance of the sum of the scores, in units of root root', from leaving out long blocks in turn.

    A fit follows its own errors, so that the residuals of a block are smaller than its errors by what the block has a
    say in; leaving it out undoes that. As few groups know little of their own scatter, the result is widened to the
    95 % of Student's distribution.

    Args:
        scores: of the fit.
        root: (p, p).
        groups: long blocks.
    """
    count, _, p = scores.instrument.shape
    half = _power_root(scores)
    sums, shares = [], []
    for part in np.array_split(np.arange(count), groups):
        own = slice(int(part[0]), int(part[-1]) + 1)
        rows = (half @ scores.instrument[own]).reshape(-1, p)
        shares.append(rows.T @ rows)
        score = np.einsum("nci,nc->i", scores.instrument[own], scores.weighted[own])
        sums.append(score + part.size * scores.constant)
    whole = _regular_root(np.sum(shares, axis=0))
    moves = []
    for share, score in zip(shares, sums, strict=True):
        inner = np.linalg.solve(whole, np.linalg.solve(whole, share).T)
        others, directions = np.linalg.eigh(np.eye(p) - 0.5 * (inner + inner.T))
        moved = directions @ ((directions.T @ np.linalg.solve(whole, score)) / np.maximum(others, LEAST_SHARE))
        moves.append(np.linalg.solve(root, whole @ moved))
    return np.asarray(student_width(groups) ** 2 * (groups - 1) / groups * np.transpose(moves) @ moves)


def student_width(groups: int, deviations: float = NORMAL_95) -> float:
    """By how much a standard deviation that few groups tell is widened, so that so many of it hold what they do of a
    normal distribution: 1.96, 95 %.
    """
    from scipy.special import ndtr, stdtrit

    return float(-stdtrit(max(groups - 1, 1), ndtr(-deviations)) / deviations)


def _regular_root(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 1e-14 * max(float(values[-1]), 1e-300))))
