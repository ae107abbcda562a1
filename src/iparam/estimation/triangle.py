"""The triangular factor of a problem: all that linear estimators need to know of it, in at most 17 x 17 numbers."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.noise_model import NoiseWeights
from iparam.estimation.problem import PayloadProblem

SAMPLES_A_BLOCK = 20_000

WELL_CONDITIONED = 1e-2
"""Least part of a column, relative, that the columns before it leave, for the faster factorisation."""


def triangular_factor(problem: PayloadProblem, weights: NoiseWeights, bias_first: bool = False) -> FloatArray:
    """R (p + 1, p + 1), upper triangular, with R' R the Gram matrix of the whitened [design, y].

    Args:
        problem: the data.
        weights: what they are whitened with.
        bias_first: put the bias before phi: the trailing block is then that of the data with the bias projected out.
    """
    size = problem.num_unknowns + 1
    factor = np.zeros((0, size))
    for start in range(0, problem.num_samples, SAMPLES_A_BLOCK):
        part = slice(start, min(start + SAMPLES_A_BLOCK, problem.num_samples))
        whiten = weights.whiten if weights.constant else weights.whiten[part]
        count = part.stop - part.start
        rows = np.empty((count, 6, size))
        first = 6 if bias_first and problem.bias else 0
        rows[:, :, first : first + 10] = whiten @ problem.A[part]
        if problem.bias:
            place = slice(0, 6) if bias_first else slice(10, 16)
            rows[:, :, place] = whiten
        rows[:, :, -1] = (whiten @ problem.y[part, :, None])[..., 0]
        factor = _factor(np.concatenate([factor, rows.reshape(-1, size)]) if len(factor) else rows.reshape(-1, size))
    padded = np.zeros((size, size))
    padded[: len(factor)] = factor
    return padded


def _factor(rows: FloatArray) -> FloatArray:
    """The triangular factor of rows: by Cholesky where that keeps ten digits, otherwise by reflections."""
    gram = rows.T @ rows
    scale = np.sqrt(np.diag(gram))
    if (scale > 0.0).all():
        try:
            root = np.linalg.cholesky(gram / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.qr(rows, mode="r"))
        if root.diagonal().min() > WELL_CONDITIONED:
            return np.asarray(root.T * scale)
    return np.asarray(np.linalg.qr(rows, mode="r"))


def solve_triangle(factor: FloatArray) -> FloatArray:
    """The least-squares solution (p,) of a triangular factor (p + 1, p + 1)."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor[:-1, :-1], factor[:-1, -1]))
