"""The delay between joint angles and wrench: estimated on request, and told from the wrench where it is clear.

A controller's low-pass on the angles is a delay, too, and the time constant of one of first order can be inverted
exactly: q = f + T df/dt. To invert a sensor's low-pass on the wrench would raise its noise, but the model is linear:
the same filter is applied to the regressor. What the load's wrench says decides between delay and filter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.kalman import kalman_smooth
from iparam.motion.motion import MotionEstimate
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.regressor.wrench import wrench_regressor
from iparam.remarks import Remark, remark
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95

MAX_DELAY = 0.1
"""The largest that is looked for [s]."""

CLEAR = 6.0
"""Standard deviations from which a delay that nobody asked for is believed."""

ALIKE = 6.0
"""Difference of the deviance up to which data do not tell a delay from a low-pass."""

LEAST_DELAY = 1e-4
"""Delay that does not matter [s]: it hardly moves a parameter, and simulators that integrate in steps have one."""

_MOST_SAMPLES = 10_000
_QUICK_SAMPLES = 2_500
_COARSE_SAMPLES = 1_000
_COARSE_STEP = 0.004  # s; far below the shortest period in the motion of an arm
_LAGS, _SHARES = np.polynomial.laguerre.laggauss(6)
"""A low-pass of first order as a mean over earlier times, in time constants: exact for a motion that is a polynomial of
degree 11 over the filter's memory."""

_SECOND_LAGS, _SECOND_SHARES = np.polynomial.laguerre.laggauss(16)
_SECOND_SHARES = 2.0 * _SECOND_SHARES * np.sin(_SECOND_LAGS)
_SECOND_SHARES = _SECOND_SHARES / _SECOND_SHARES.sum()

_MEAN_LAGS, _MEAN_SHARES = np.polynomial.legendre.leggauss(10)
_MEAN_LAGS, _MEAN_SHARES = 1.0 + _MEAN_LAGS, 0.5 * _MEAN_SHARES

SETTLED = 5.0
"""Time constants after which a low-pass has forgotten what was before the recording."""

_OF_BIAS = 12  # numbers: its value and its drift in each channel

_BLOCKS = 50  # of time, whose scatter tells how well a delay is known where errors last


@dataclass(frozen=True)
class Delay:
    """The lag of one signal behind another.

    Attributes:
        seconds: positive where the wrench comes late: its stamp is that of the motion it belongs to plus this [s].
        standard_deviation: [s], from the noise of the wrench.
    """

    seconds: float
    standard_deviation: float


@dataclass(frozen=True, eq=False)
class AlignedMotion:
    """A motion in step with the wrench.

    Attributes:
        motion: with a low-pass of the angles inverted where they have one.
        delay: of the wrench behind this motion [s].
        standard_deviation: of the delay or of the time constant [s]; 0 where there is neither.
        filtered: whether the wrench is behind a low-pass, whose mean delay this then is.
        order: of that low-pass, 1, 2 for Butterworth's, or 0 for the mean over the time before.
        remarks: what was compensated.
        recorded: the motion before a low-pass of the angles was inverted; None where it is the same.
    """

    motion: MotionEstimate
    delay: float = 0.0
    standard_deviation: float = 0.0
    filtered: bool = False
    remarks: tuple[Remark, ...] = ()
    order: int = 1
    recorded: MotionEstimate | None = None

    @property
    def settling(self) -> float:
        """Time from the start of the motion on in which it does not tell the wrench yet [s]."""
        return SETTLED * self.delay if self.filtered else 0.0

    def regressor(self, times: FloatArray, robot: Robot | None, gravity: ArrayLike) -> FloatArray:
        """The regressors (N, 6, 10) of the wrench as it was recorded at ``times`` (N,) [s].

        Args:
            times: stamps of the wrench.
            robot: the arm; None where the orientation of a sensor is known instead.
            gravity: (3,) in base axes, or those of the world [m/s^2].
        """
        if not self.filtered:
            return self.motion.at(times - self.delay).regressor(robot, gravity)
        return low_passed(lambda at: self.motion.at(at).regressor(robot, gravity), times, self.delay, self.order)


def estimate_delay(
    recording: Recording, robot: Robot, max_delay: float = MAX_DELAY, gravity: ArrayLike = STANDARD_GRAVITY
) -> Delay:
    """Find the delay between joint angles and wrench of an unknown load: the one with which the load fits best.

    For a candidate delay d the wrench at t is fitted by the regressor of the motion at t - d times unknown
    parameters plus a bias that is constant or drifts steadily; the delay with the least weighted squares wins. The
    motion is shifted and not the wrench: its smoothed curve can be read between samples without harm, whereas
    interpolating the wrench would average its noise, most of all half way between samples, and pull the answer
    there.

    Args:
        recording: with the signals q and wrench, of a motion that excites the load.
        robot: the arm.
        max_delay: the search covers -max_delay to max_delay [s].
        gravity: (3,) in base axes [m/s^2].
    """
    if not (np.isfinite(max_delay) and max_delay > 0):
        raise InputError(argument="max_delay", problem=f"must be positive, got {max_delay!r} s")
    angles = recording.signal("q")
    motion = kalman_smooth(angles.time, angles.values)
    fits = _Fits(motion, recording.signal("wrench"), robot, gravity, max_delay, _MOST_SAMPLES)
    return fits.delay(fits.shifted)[0]


def align_motion(motion: MotionEstimate, wrench: Signal, robot: Robot, gravity: ArrayLike) -> AlignedMotion:
    """The motion in step with a wrench, as far as the wrench shows clearly that it is not.

    Args:
        motion: of the arm.
        wrench: in the tool's frame, of an unknown load and bias.
        robot: the arm.
        gravity: (3,) in base axes [m/s^2].
    """
    try:
        quick = _Fits(motion, wrench, robot, gravity, 0.0, _QUICK_SAMPLES).step()
        if abs(quick.seconds) <= max(CLEAR * quick.standard_deviation, LEAST_DELAY):
            return AlignedMotion(motion)
        fits = _Fits(motion, wrench, robot, gravity, MAX_DELAY, _MOST_SAMPLES)
        found, misfit = fits.delay(fits.shifted)
        if abs(found.seconds) <= CLEAR * found.standard_deviation:
            return AlignedMotion(motion)
        ambiguous = False
        if motion.linear_acceleration_minus_gravity is None:
            late = found.seconds > 0.0
            filtered, other = fits.delay(fits.filtered if late else fits.unfiltered, near=found.seconds)
            alike = 2.0 * fits.count * abs(misfit - other) < ALIKE
            if other < misfit and (filtered.seconds > 0.0) == late:
                compensated = _low_passed_wrench if late else _without_low_pass
                return compensated(motion, filtered, alike)
            ambiguous = alike
    except InputError:  # too short, too still, or no delay fits: then there is none to compensate
        return AlignedMotion(motion)
    said = remark(
        "wrench-delayed" if found.seconds > 0.0 else "motion-delayed",
        milliseconds=1e3 * abs(found.seconds),
        half_width=1e3 * NORMAL_95 * found.standard_deviation,
        ambiguous="These data do not distinguish it from a low-pass filter." if ambiguous else "",
        fix={"delay": round(found.seconds, 5)},
    )
    return AlignedMotion(motion, found.seconds, found.standard_deviation, remarks=(said,))


def _without_low_pass(motion: MotionEstimate, found: Delay, ambiguous: bool) -> AlignedMotion:
    q, dq, ddq = _Curves(motion).unfiltered(motion.time, found.seconds)
    said = _filter_remark("angles-low-passed", found, ambiguous)
    inverted = dataclasses.replace(motion, q=q, dq=dq, ddq=ddq, remarks=(*motion.remarks, said))
    return AlignedMotion(inverted, 0.0, found.standard_deviation, recorded=motion)


def _low_passed_wrench(motion: MotionEstimate, found: Delay, ambiguous: bool) -> AlignedMotion:
    said = _filter_remark("wrench-low-passed", found, ambiguous)
    return AlignedMotion(motion, found.seconds, found.standard_deviation, filtered=True, remarks=(said,))


def _filter_remark(code: str, found: Delay, ambiguous: bool) -> Remark:
    lag = abs(found.seconds)
    return remark(
        code,
        milliseconds=1e3 * lag,
        half_width=1e3 * NORMAL_95 * found.standard_deviation,
        corner=1.0 / (2.0 * np.pi * lag),
        ambiguous="These data do not distinguish it from a delay." if ambiguous else "",
        fix={"delay": round(found.seconds, 5)},
    )


def low_passed(rows: Callable[[FloatArray], FloatArray], times: FloatArray, lag: float, order: int = 1) -> FloatArray:
    """What ``rows`` are at ``times`` behind a low-pass with the mean delay ``lag`` [s].

    The filter is the mean over all earlier times t - lag u with weights exp(-u), of second order (Butterworth's) with
    2 exp(-u) sin(u), here by Gauss-Laguerre quadrature: at any stamps, without a state to carry along. Of order 0, all
    up to u = 2 count alike.
    """
    lags, shares = {0: (_MEAN_LAGS, _MEAN_SHARES), 1: (_LAGS, _SHARES)}.get(order, (_SECOND_LAGS, _SECOND_SHARES))
    total = shares[0] * rows(times - lags[0] * lag)
    for node, share in zip(lags[1:], shares[1:], strict=True):
        total += share * rows(times - node * lag)
    return np.asarray(total)


_Rows = Callable[[FloatArray, float], FloatArray]
"""The regressors (N, 6, 10) of a wrench at times (N,) that is late by a delay [s]."""


class _Curves:
    """A motion between its samples."""

    def __init__(self, motion: MotionEstimate) -> None:
        from scipy.interpolate import CubicHermiteSpline

        jerk = np.gradient(motion.ddq, motion.time, axis=0)
        pairs = ((motion.q, motion.dq), (motion.dq, motion.ddq), (motion.ddq, jerk))
        self._first, self._last = motion.time[[0, -1]].tolist()
        self._curves = [CubicHermiteSpline(motion.time, value, slope) for value, slope in pairs]

    def at(self, times: FloatArray) -> list[FloatArray]:
        """(q, dq, ddq) at times, or at its ends beyond it."""
        inside = np.clip(times, self._first, self._last)
        return [curve(inside) for curve in self._curves]

    def unfiltered(self, times: FloatArray, delay: float) -> list[FloatArray]:
        """The same at times within it, before a low-pass of first order with the time constant -``delay``."""
        return [curve(times) - delay * curve(times, 1) for curve in self._curves]


class _Fits:
    """Fits of load and bias to a wrench, with the motion moved in time.

    Args:
        motion: of the arm.
        wrench: of the load.
        robot: the arm.
        gravity: (3,) in base axes [m/s^2].
        max_delay: the largest that is tried [s].
        most: samples that are looked at.
    """

    def __init__(
        self, motion: MotionEstimate, wrench: Signal, robot: Robot, gravity: ArrayLike, max_delay: float, most: int
    ) -> None:
        self._motion, self._robot, self._gravity, self._max_delay = motion, robot, gravity, max_delay
        rows = _rows(wrench.time, motion.time, max_delay, most)
        self._times, self._observed = wrench.time[rows], wrench.values[rows]

    @property
    def count(self) -> int:
        """Samples that are looked at."""
        return int(self._times.size)

    @cached_property
    def _curves(self) -> _Curves:
        return _Curves(self._motion)

    def shifted(self, times: FloatArray, delay: float) -> FloatArray:
        """The regressors (N, 6, 10) of a wrench that is late."""
        q, dq, ddq = self._curves.at(times - delay)
        return wrench_regressor(self._robot, q, dq, ddq, self._gravity)

    def unfiltered(self, times: FloatArray, delay: float) -> FloatArray:
        """Those of angles behind a low-pass with the time constant -``delay``, which is inverted."""
        q, dq, ddq = self._curves.unfiltered(times, delay)
        return wrench_regressor(self._robot, q, dq, ddq, self._gravity)

    def filtered(self, times: FloatArray, delay: float) -> FloatArray:
        """Those of a wrench behind a low-pass with the time constant ``delay``."""
        return low_passed(lambda at: self.shifted(at, 0.0), times, delay)

    def step(self) -> Delay:
        """One Gauss-Newton step from no delay: what costs a few milliseconds tells whether a search is worth it."""
        times, observed = self._times, self._observed
        last = 10 + _OF_BIAS
        rows = np.empty((times.size, 6, last + 1))
        rows[:, :, :10] = self._motion.at(times).regressor(self._robot, self._gravity)
        rows[:, :, 10:last] = _drifting(times)
        rows[:, :, last] = 0.0
        weights = 1.0 / np.maximum(observed.std(axis=0), 1e-9)
        for _ in range(2):
            solution = _least_squares(rows[:, :, :last], observed, weights)
            residual = observed - rows[:, :, :last] @ solution
            weights = 1.0 / np.maximum(residual.std(axis=0), 1e-12)
        rows[:, :, last] = -np.gradient(rows[:, :, :10] @ solution[:10], times, axis=0)
        solution = _least_squares(rows, observed, weights)
        residual = observed - rows @ solution
        weighted = rows * weights[:, None]
        flat = weighted.reshape(-1, last + 1)
        inverse = np.linalg.pinv(flat.T @ flat, rcond=1e-14, hermitian=True)
        each = np.einsum("nci,nc->ni", weighted, residual * weights) @ inverse[:, last]
        edges = np.linspace(0, times.size, min(_BLOCKS, times.size) + 1).astype(np.int64)
        blocks = np.add.reduceat(each, edges[:-1])
        return Delay(float(solution[last]), float(np.sqrt(max(np.sum(each**2), np.sum(blocks**2)))))

    def delay(self, rows_of: _Rows, near: float | None = None) -> tuple[Delay, float]:
        """The best delay, and how badly it still fits: the logarithms of the residuals. ``near`` saves a search."""
        deviation = np.maximum(self._observed.std(axis=0), 1e-9)
        if near is None:
            stride = max(1, self._times.size // _COARSE_SAMPLES)
            near = _scan(partial(self._loss, rows_of, 1.0 / deviation, stride=stride), self._max_delay)
        delay = near
        for _ in range(2):  # the second round weighs by the noise that the first one left
            deviation = np.maximum(self._squares(rows_of, delay, 1.0 / deviation)[1], 1e-9)
            weights = 1.0 / deviation
            delay = _refine(partial(self._loss, rows_of, weights), delay)
        step = _COARSE_STEP / 4.0
        lower, middle, upper = (self._squares(rows_of, delay + shift, weights)[0] for shift in (-step, 0.0, step))
        curvature = (lower - 2.0 * middle + upper) / step**2
        if curvature <= 0.0:
            raise InputError(
                "the wrench does not depend on the delay: the recording holds too little motion to tell it"
            )
        variance = middle / max(self._observed.size - 11 - _OF_BIAS, 1)
        deviations = self._squares(rows_of, delay, weights)[1]
        return Delay(delay, float(np.sqrt(2.0 * variance / curvature))), float(np.sum(np.log(deviations)))

    def _loss(self, rows_of: _Rows, weights: FloatArray, delay: float, stride: int = 1) -> float:
        return self._squares(rows_of, delay, weights, stride)[0]

    def _squares(
        self,
        rows_of: _Rows,
        delay: float,
        weights: FloatArray,
        stride: int = 1,
    ) -> tuple[float, FloatArray]:
        """Weighted squares, and the standard deviation (6,) of the residuals, of every ``stride``-th sample."""
        times = self._times[::stride]
        rows = np.concatenate([rows_of(times, delay), _drifting(times)], axis=2)
        residual = self._observed[::stride] - rows @ _least_squares(rows, self._observed[::stride], weights)
        return float(np.sum((residual * weights) ** 2)), residual.std(axis=0)


def _drifting(times: FloatArray) -> FloatArray:
    """(N, 6, 12) of a bias that goes along a line: what a steady drift does would be taken for a lag otherwise."""
    share = (times - times[0]) / max(float(times[-1] - times[0]), 1e-9) - 0.5
    return np.concatenate([np.broadcast_to(np.eye(6), (times.size, 6, 6)), share[:, None, None] * np.eye(6)], axis=2)


def _least_squares(rows: FloatArray, observed: FloatArray, weights: FloatArray) -> FloatArray:
    """The solution (p,) for rows (N, 6, p), observed (N, 6) and weights (6,)."""
    weighted = (rows * weights[:, None]).reshape(-1, rows.shape[2])
    target = (observed * weights).ravel()
    scale = np.sqrt(np.einsum("ij,ij->j", weighted, weighted)) + 1e-30
    gram, right = weighted.T @ weighted, weighted.T @ target
    return np.asarray(np.linalg.lstsq(gram / np.outer(scale, scale), right / scale, rcond=1e-12)[0] / scale)


def _rows(times: FloatArray, motion: FloatArray, max_delay: float, most: int) -> NDArray[np.int64]:
    """The wrench samples that are within the motion for every delay, thinned out evenly if there are very many."""
    inside = np.flatnonzero((times >= motion[0] + max_delay) & (times <= motion[-1] - max_delay))
    if inside.size < 20:
        raise InputError(
            f"only {inside.size} wrench samples lie within the motion by {max_delay:g} s; the delay needs at least 20. "
            "Use a longer recording or a smaller max_delay"
        )
    return np.asarray(inside[:: max(1, inside.size // most)])


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
