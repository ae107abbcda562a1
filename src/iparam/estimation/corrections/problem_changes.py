"""Corrections that change the regression and not the recording: channels, or some of their samples, that are not used,
a bias that jumps, and what a controller took out of the wrench.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.estimation.payload.problem import PayloadProblem
from iparam.recording.noise_level import white_noise_level
from iparam.sensing.correction import WRENCH_CHANNELS, Correction

LEAST_ENTRIES = 30
"""Samples of a channel below which it is not used."""

_DEPENDENT = 1e-9  # share of the largest singular value below which columns are the same
_LEAST_NOISE = 1e-9  # share of a channel's size, where it has no noise at all


def changed_problem(problem: PayloadProblem, correction: Correction) -> PayloadProblem:
    """The problem without the channels that are not to be used, and with a bias of its own from each zeroing on."""
    if correction.without:
        problem = without_channels(problem, correction.without)
    if correction.rezeroed:
        problem = with_jumping_bias(problem, correction.bias_starts())
    return problem


def without_channels(problem: PayloadProblem, names: Iterable[str]) -> PayloadProblem:
    """The problem in which some components of the wrench say nothing of the load: 0 phi + bias = noise.

    The noise is as strong as that of the others and the same in every call: weights and the structure of residuals are
    then those of a channel that shows no load, and no method has to know of it.
    """
    used = np.array([float(channel not in tuple(names)) for channel in WRENCH_CHANNELS])
    if not used.any():
        raise InputError(argument="without", problem="leaves none of the six components of the wrench")
    uncertainty, instruments = problem.uncertainty, problem.instruments
    quiet = np.zeros(6)
    if problem.num_samples >= 3:
        level = white_noise_level(problem.y)
        level = np.maximum(level, _LEAST_NOISE * np.abs(problem.y).max(axis=0))
        for part in (slice(0, 3), slice(3, 6)):
            same = level[part][used[part] > 0.0]
            quiet[part] = np.median(same) if same.size else np.median(level[used > 0.0])
    noise = quiet * np.random.default_rng(0).standard_normal(problem.y.shape)
    return dataclasses.replace(
        problem,
        A=problem.A * used[:, None],
        y=np.where(used > 0.0, problem.y, noise),
        uncertainty=None
        if uncertainty is None
        else dataclasses.replace(uncertainty, factors=uncertainty.factors * used[:, None]),
        instruments=None if instruments is None else instruments * used[:, None],
    )


def without_entries(problem: PayloadProblem, missing: NDArray[np.bool_]) -> PayloadProblem:
    """The problem in which some components of some samples (N, 6) say nothing of the load.

    Their rows hold the means of the others of their channel, regressors and wrench alike, and its noise: whatever the
    load, the bias explains means, so that such a row takes no part in the load or its covariance. A channel that is
    left with hardly any is not used at all.
    """
    if not missing.any():
        return problem
    left = np.count_nonzero(~missing, axis=0)
    gone = [name for name, count in zip(WRENCH_CHANNELS, left.tolist(), strict=True) if count < LEAST_ENTRIES]
    if gone:
        problem = without_channels(problem, gone)
    missing = missing & (left >= LEAST_ENTRIES)
    A, y = np.array(problem.A), np.array(problem.y)
    random = np.random.default_rng(0)
    for channel in range(6):
        out = missing[:, channel]
        if not out.any():
            continue
        stretches = [at for at in np.split(np.arange(len(y)), np.flatnonzero(np.diff(out)) + 1) if not out[at[0]]]
        longest = max(stretches, key=len)
        level = white_noise_level(y[longest if longest.size > 2 else ~out][:, [channel]])[0]
        noise = level * random.standard_normal(np.count_nonzero(out))
        A[out, channel] = A[~out, channel].mean(axis=0) if problem.bias else 0.0
        y[out, channel] = (y[~out, channel].mean() if problem.bias else 0.0) + noise - noise.mean()
    return dataclasses.replace(problem, A=A, y=y, missing=missing)


def with_jumping_bias(problem: PayloadProblem, times: Iterable[float]) -> PayloadProblem:
    """The problem with the means of each stretch between ``times`` [s] moved to those of the whole: a bias that is
    another one in each stretch is then a constant one, the mean of them all.
    """
    if not problem.bias:
        raise InputError(
            argument="rezeroed",
            problem="means a bias, and it was said that there is none: leave out one of the two",
        )
    edges = np.searchsorted(problem.time, list(times))
    for time, edge in zip(times, edges, strict=True):
        if edge in (0, problem.num_samples):
            raise InputError(
                argument="rezeroed",
                value=time,
                expected=f"within the run, which is from {problem.time[0]:g} to {problem.time[-1]:g} s",
            )
    stretches = np.split(np.arange(problem.num_samples), edges)
    return dataclasses.replace(
        problem,
        A=levelled(problem.A, stretches),
        y=levelled(problem.y, stretches),
        instruments=None if problem.instruments is None else levelled(problem.instruments, stretches),
    )


def without_columns(problem: PayloadProblem, columns: FloatArray) -> PayloadProblem:
    """The problem without what columns (N, 6, k) with any factors explain: unknown, and nothing of the load.

    A constant bias stays what it is.
    """
    flat = (columns - columns.mean(axis=0)).reshape(-1, columns.shape[2])
    left, sizes, _ = np.linalg.svd(flat, full_matrices=False)
    basis = left[:, sizes > _DEPENDENT * sizes[0]]

    def beside(values: FloatArray) -> FloatArray:
        rows = values.reshape(len(basis), -1)
        return np.asarray((rows - basis @ (basis.T @ rows)).reshape(values.shape))

    instruments = None if problem.instruments is None else beside(problem.instruments)
    return dataclasses.replace(problem, A=beside(problem.A), y=beside(problem.y), instruments=instruments)


def levelled(values: FloatArray, stretches: list[np.ndarray]) -> FloatArray:
    """Values (N, ...) with the mean of each stretch, indices of samples, moved to that of the whole."""
    found, mean = np.array(values), values.mean(axis=0)
    for stretch in stretches:
        if stretch.size:
            found[stretch] += mean - found[stretch].mean(axis=0)
    return found
