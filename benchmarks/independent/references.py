"""What an estimate is held against: an oracle, the textbook, and whether a mistake shows at all.

The oracle knows the exact motion, soft gears, the sensor's filter, the true time of every sample, the noise's
covariance and how large the tolerances are: it solves weighted least squares for load, bias and deviations, with the
tolerances as priors. Nobody can do better from the same data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from independent.cases import Case
from independent.loads import shown
from independent.noise import Noise
from independent.rigid_body import flange_motion, load_rows

WINDOW = 0.12
"""Of the textbook's Savitzky-Golay filter [s]."""

SEEN = 50.0
"""What a mistake leaves, squared and in the noise's variances, that a test at 1e-4 sees practically always."""


@dataclass(frozen=True, eq=False)
class Reference:
    """(10,) mass, centre of mass, inertia about it, and their standard deviations."""

    values: np.ndarray
    deviations: np.ndarray

    @classmethod
    def of(cls, phi: np.ndarray, covariance: np.ndarray) -> Reference:
        """To first order."""
        steps = 1e-5 * np.maximum(np.sqrt(np.diag(covariance)), 1e-12)
        slopes = (shown(phi + np.diag(steps)) - shown(phi - np.diag(steps))) / (2.0 * steps)[:, None]
        return cls(shown(phi), np.sqrt(np.einsum("ki,kl,li->i", slopes, covariance, slopes)))


def oracle(case: Case) -> Reference:
    rig, true, noise = case.rig, case.deviations, case.noise
    A = rig.wrench_rows(true)
    columns, priors, off = [A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], [np.zeros(16)], [np.zeros(16)]
    for name, index, sd in true.steps(case.tolerances):
        ends = [rig.wrench_rows(true.with_step(name, index, sign * 0.1 * sd)) @ case.phi for sign in (1.0, -1.0)]
        columns.append(((ends[0] - ends[1]) / (0.2 * sd))[:, :, None])
        priors.append(np.array([sd**-2]))
        off.append(true.parts[name][[index]])
    for shape, spread in zip(noise.shapes, noise.spread, strict=True):
        columns.append(shape[:, :, None] * np.eye(6))
        priors.append(spread**-2.0)
        off.append(np.zeros(6))
    rest = case.recorded[1] - A @ case.phi  # about the truth, so that the first order is enough
    stacked = np.concatenate([*columns, rest[:, :, None]], axis=2)
    white = np.concatenate([whitened(stacked[:, i], noise, i, case.rig.time) for i in range(6)])
    X, y = white[:, :-1], white[:, -1]
    prior = np.concatenate(priors)
    precision = X.T @ X + np.diag(prior)
    scale = np.sqrt(np.diag(precision))
    covariance = np.linalg.inv(precision / np.outer(scale, scale)) / np.outer(scale, scale)
    return Reference.of(case.phi + (covariance @ (X.T @ y - prior * np.concatenate(off)))[:10], covariance[:10, :10])


def whitened(columns: np.ndarray, noise: Noise, channel: int, time: np.ndarray) -> np.ndarray:
    """Columns (T, k) of one channel, so that its noise becomes white, of variance 1 (Durbin and Levinson)."""
    if not noise.coloured[channel]:
        return columns / noise.white[channel]
    covariance = noise.coloured[channel] ** 2 * noise.autocovariance(float(time[1] - time[0]))
    covariance[0] += noise.white[channel] ** 2
    white, weights, variance = np.empty_like(columns), np.zeros(0), covariance[0]
    for n, row in enumerate(columns):
        white[n] = (row - weights @ columns[:n][::-1]) / np.sqrt(variance)
        if n + 1 < len(columns):
            partial = (covariance[n + 1] - weights @ covariance[1 : n + 1][::-1]) / variance
            weights = np.concatenate([weights - partial * weights[::-1], [partial]])
            variance *= 1.0 - partial**2
    return white


def stated_motion(case: Case, time: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(T, n) angles as recorded, smoothed and differentiated as in a textbook."""
    period = float((time[-1] - time[0]) / (len(time) - 1))
    window = max(5, 2 * round(0.5 * WINDOW / period) + 1)
    smooth = savgol_filter(q, window, 3, axis=0)
    dq = np.gradient(smooth, period, axis=0)
    return smooth, dq, np.gradient(dq, period, axis=0)


def stated_rows(case: Case, time: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(T, 6, 16) of load and bias by that motion."""
    rows = load_rows(flange_motion(case.rig.arm, *stated_motion(case, time, q)), np.array(case.rig.arm.gravity))
    return np.concatenate([rows, np.broadcast_to(np.eye(6), (len(rows), 6, 6))], axis=2)


def textbook(case: Case) -> Reference:
    """Central differences, Savitzky and Golay, least squares; forces and torques weighed by what they leave."""
    q, wrench = case.recorded
    rows, weights = stated_rows(case, case.stamps, q), np.ones(6)
    for _ in range(2):
        X, y = (rows * weights[:, None]).reshape(-1, 16), (wrench * weights).ravel()
        covariance = np.linalg.pinv(X.T @ X, rcond=1e-13)
        solution = covariance @ (X.T @ y)
        rest = wrench - rows @ solution
        weights = 1.0 / np.repeat([rest[:, :3].std(), rest[:, 3:].std()], 3)
    return Reference.of(solution[:10], covariance[:10, :10])


def left_over(case: Case, time: np.ndarray, q: np.ndarray, wrench: np.ndarray) -> float:
    """What the best load and bias leave of a log without noise: the sum of squares in the noise's variances."""
    rows = stated_rows(case, time, q)
    X, y = (rows / case.noise.white[:, None]).reshape(-1, 16), (wrench / case.noise.white).ravel()
    return float(np.sum((y - X @ np.linalg.lstsq(X, y, rcond=1e-12)[0]) ** 2))
