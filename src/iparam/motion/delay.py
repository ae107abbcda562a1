"""`estimate_delay`: by how much the wrench lags behind the joint angles in a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.kalman import kalman_smooth
from iparam.recording.recording import Recording
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot

_MOST_SAMPLES = 10_000
_COARSE_SAMPLES = 1_000
_COARSE_STEP = 0.004  # s; far below the shortest period in the motion of an arm


@dataclass(frozen=True)
class Delay:
    """The lag of one signal behind another.

    Attributes:
        seconds: positive where the wrench comes late: its stamp is that of the motion it belongs to plus this [s].
        standard_deviation: [s], from the noise of the wrench.
    """

    seconds: float
    standard_deviation: float


def estimate_delay(
    recording: Recording, robot: Robot, max_delay: float = 0.1, gravity: ArrayLike = STANDARD_GRAVITY
) -> Delay:
    """Find the delay between joint angles and wrench of an unknown load: the one with which the load fits best.

    For a candidate delay d the wrench at t is fitted by the regressor of the motion at t - d times unknown parameters
    plus a constant bias; the delay with the least weighted squares wins. The motion is shifted and not the wrench: its
    smoothed curve can be read between samples without harm, whereas interpolating the wrench would average its noise,
    most of all half way between samples, and pull the answer there.

    Args:
        recording: with the signals q and wrench, of a motion that excites the load.
        robot: the arm.
        max_delay: the search covers -max_delay to max_delay [s].
        gravity: (3,) in base axes [m/s^2].
    """
    from scipy.interpolate import CubicHermiteSpline

    if not (np.isfinite(max_delay) and max_delay > 0):
        raise InputError(f"max_delay must be positive, got {max_delay!r} s")
    angles, wrench = recording.signal("q"), recording.signal("wrench")
    motion = kalman_smooth(angles.time, angles.values)
    curves = (
        CubicHermiteSpline(motion.time, motion.q, motion.dq),
        CubicHermiteSpline(motion.time, motion.dq, motion.ddq),
        CubicHermiteSpline(motion.time, motion.ddq, np.gradient(motion.ddq, motion.time, axis=0)),
    )
    rows = _rows(wrench.time, motion.time, max_delay)
    times, observed = wrench.time[rows], wrench.values[rows]

    def fit(delay: float, weights: FloatArray, stride: int = 1) -> tuple[float, FloatArray]:
        """Weighted squares, and the standard deviation (6,) of the residuals, of every ``stride``-th sample."""
        from iparam.regressor.wrench import wrench_regressor

        q, dq, ddq = (curve(times[::stride] - delay) for curve in curves)
        matrices = wrench_regressor(robot, q, dq, ddq, gravity)
        unknowns = np.concatenate([matrices, np.broadcast_to(np.eye(6), (len(q), 6, 6))], axis=2)
        weighted = (unknowns * weights[:, None]).reshape(-1, 16)
        target = (observed[::stride] * weights).ravel()
        scale = np.sqrt(np.einsum("ij,ij->j", weighted, weighted)) + 1e-30
        gram, right = weighted.T @ weighted, weighted.T @ target
        solution = np.linalg.lstsq(gram / np.outer(scale, scale), right / scale, rcond=1e-12)[0] / scale
        residual = (target - weighted @ solution).reshape(-1, 6)
        return float(np.sum(residual**2)), residual.std(axis=0) / weights

    deviation = np.maximum(observed.std(axis=0), 1e-9)
    stride = max(1, rows.size // _COARSE_SAMPLES)
    delay = _scan(partial(_squares, fit, 1.0 / deviation, stride), max_delay)
    for _ in range(2):  # the second round weighs by the noise that the first one left
        deviation = np.maximum(fit(delay, 1.0 / deviation)[1], 1e-9)
        delay = _refine(partial(_squares, fit, 1.0 / deviation, 1), delay)
    weights = 1.0 / deviation
    step = _COARSE_STEP / 4.0
    lower, middle, upper = (fit(delay + shift, weights)[0] for shift in (-step, 0.0, step))
    curvature = (lower - 2.0 * middle + upper) / step**2
    if curvature <= 0.0:
        raise InputError("the wrench does not depend on the delay: the recording holds too little motion to tell it")
    variance = middle / max(observed.size - 17, 1)
    return Delay(delay, float(np.sqrt(2.0 * variance / curvature)))


def _rows(times: FloatArray, motion: FloatArray, max_delay: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The wrench samples that are within the motion for every delay, thinned out evenly if there are very many."""
    inside = np.flatnonzero((times >= motion[0] + max_delay) & (times <= motion[-1] - max_delay))
    if inside.size < 20:
        raise InputError(
            f"only {inside.size} wrench samples lie within the motion by {max_delay:g} s; the delay needs at least 20. "
            "Use a longer recording or a smaller max_delay"
        )
    return inside[:: max(1, inside.size // _MOST_SAMPLES)]


def _squares(fit: Callable[..., tuple[float, FloatArray]], weights: FloatArray, stride: int, delay: float) -> float:
    return fit(delay, weights, stride)[0]


def _scan(loss: Callable[[float], float], max_delay: float) -> float:
    """The best of evenly spaced delays."""
    grid = np.linspace(-max_delay, max_delay, 2 * int(np.ceil(max_delay / _COARSE_STEP)) + 1)
    losses = [loss(float(value)) for value in grid]
    best = int(np.argmin(losses))
    if best in (0, grid.size - 1):
        raise InputError(
            f"the fit keeps improving up to a delay of {grid[best]:+g} s: the delay is larger than max_delay, or the "
            "recording holds too little motion to tell it"
        )
    return float(grid[best])


def _refine(loss: Callable[[float], float], start: float) -> float:
    """The least loss near ``start``, by Brent's method."""
    from scipy.optimize import minimize_scalar

    span = (start - 2.0 * _COARSE_STEP, start + 2.0 * _COARSE_STEP)
    return float(minimize_scalar(loss, bounds=span, method="bounded", options={"xatol": 1e-7}).x)
