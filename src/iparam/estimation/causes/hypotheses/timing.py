"""Hypotheses about time: clocks that run fast or slow, a wrench that comes late or behind a filter."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun, path_of
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import (
    Explanation,
    Hypothesis,
    Model,
    deviations,
    fit_model,
    one_of,
    thinned,
)
from iparam.estimation.causes.recursive_filter import recursive_filter
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction, lag_of

LONGEST = 0.4
"""Delay that is looked for [s]."""

FASTEST = 5.0
"""Times as fast as said that a motion may have been."""


class FastClock(Model):
    """Time stamps that go ``state`` (1,) times as slow as time: the motion was that much faster."""

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(float(state[0]) ** 2 * (run.A - run.of_gravity) + run.of_gravity)

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        return np.asarray(2.0 * float(state[0]) * ((run.A - run.of_gravity) @ phi)[:, :, None])


class ClockRate(Hypothesis):
    """The clock of the time stamps runs fast or slow."""

    slug = "clock-rate"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        if run.motion.linear_acceleration_minus_gravity is not None:
            return
        starts = [np.array([rate]) for rate in (1.0, 0.3, 3.0)]
        state, fit = fit_model(run, FastClock(), starts)
        rate, half = abs(float(state[0])), 100.0 * NORMAL_95 * float(deviations(fit)[0])
        if not 1.0 / FASTEST < rate < FASTEST:
            return
        word = "slow" if rate < 1.0 else "fast"
        finding = (
            f"Time stamps of a motion that was {100.0 * abs(rate - 1.0):.3g} +- {significant(half, 2)} % (95 %) "
            f"{'slower' if word == 'slow' else 'faster'}"
        )
        yield Explanation(self.slug, finding, fit, 1, Correction(clock=float(f"{1.0 / rate:.5g}")), estimable="clock")


class Late(Model):
    """A wrench that comes ``state`` (1,) seconds late.

    Args:
        run: all of it, between whose means the regressors are read.
    """

    def __init__(self, run: ExaminedRun) -> None:
        from scipy.interpolate import CubicSpline

        self._curve = CubicSpline(run.time, run.A)
        self._slope = self._curve.derivative()
        self._ends = float(run.time[0]), float(run.time[-1])

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(self._curve(np.clip(run.time - float(state[0]), *self._ends)))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        times = run.time - float(state[0])
        inside = (times >= self._ends[0]) & (times <= self._ends[1])
        return np.asarray(-(self._slope(np.clip(times, *self._ends)) @ phi * inside[:, None])[:, :, None])


class LateWrench(Hypothesis):
    """The wrench lags behind the motion, or the motion behind the wrench."""

    slug = "delay"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        model, few = Late(run), thinned(run)
        grid = np.arange(-LONGEST, LONGEST + 1e-9, 0.025)
        tried = [linear_fit(few, model.regressors(few, np.array([delay])), possible=False).squares for delay in grid]
        state, fit = fit_model(run, model, [grid[[int(np.argmin(tried))]], np.zeros(1)])
        half, lag = 1e3 * NORMAL_95 * float(deviations(fit)[0]), float(state[0])
        word = "late" if lag > 0.0 else "early"
        finding = f"A wrench that comes {1e3 * abs(lag):.2f} +- {significant(half, 2)} ms (95 %) {word}"
        total = round(run.run.aligned.delay + lag, 5)
        known = float(deviations(fit)[0]) / max(abs(lag), 1e-9)
        yield Explanation(self.slug, finding, fit, 1, Correction(delay=total), relative_deviation=known)


def _as_stamped(run: ExaminedRun) -> FloatArray:
    """(N, 6, 10) regressors for a filter of the wrench, which takes the place of a lag that was found."""
    aligned = run.run.aligned
    if run.robot is None or not (aligned.filtered or aligned.delay != 0.0 or aligned.recorded is not None):
        return run.A
    motion = (aligned.recorded or aligned.motion).at(run.time)
    return path_of(run.robot, motion.q, motion.dq, motion.ddq).regressor(run.gravity)


class LowPassed(Model):
    """A wrench behind a low-pass with the mean delay ``state`` (1,) [s]: 1 / (1 + T s), 1 / (1 + T s + T^2 s^2 / 2), or
    the mean over 2 T.

    Args:
        run: all of it; the filter needs what was before.
        order: of the filter, 1, 2 for Butterworth's, or 0 for the mean.
    """

    def __init__(self, run: ExaminedRun, order: int) -> None:
        self._run, self._step, self._order = run, float(np.median(np.diff(run.time))), order
        self._A = _as_stamped(run)

    def _through(self, values: FloatArray, ahead: list[float], back: list[float]) -> FloatArray:
        """(N, ...) behind a filter of s; what was before the run is taken to be as it begins."""
        start = values[:1]
        return recursive_filter(ahead, back, values - start, self._step) + start * (ahead[-1] / back[-1])

    def _back(self, lag: float) -> list[float]:
        return [lag, 1.0] if self._order == 1 else [0.5 * lag**2, lag, 1.0]

    def _rows(self, run: ExaminedRun, values: FloatArray) -> FloatArray:
        return np.asarray(values[np.searchsorted(self._run.time, run.time)])

    def _mean(self, run: ExaminedRun, values: FloatArray, lag: float) -> tuple[FloatArray, FloatArray]:
        """(N, ...) the mean of values of the whole run over 2 lag before each time, and the values at its start."""
        from scipy.interpolate import CubicSpline

        curve = CubicSpline(self._run.time, values)
        sums, first = curve.antiderivative(), self._run.time[0]
        before = run.time - 2.0 * lag
        start = np.maximum(before, first)
        lost = (start - before).reshape(-1, *[1] * (values.ndim - 1)) * values[0]
        return (sums(run.time) - sums(start) + lost) / (2.0 * lag), np.asarray(curve(start))

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        lag = max(float(state[0]), 1e-9)
        if self._order == 0:
            return self._mean(run, self._A, lag)[0]
        return self._rows(run, self._through(self._A, [1.0], self._back(lag)))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`: of 1 / D(s, T) by T, which is -D' / D^2."""
        lag = max(float(state[0]), 1e-9)
        if self._order == 0:
            mean, before = self._mean(run, self._A @ phi, lag)
            return np.asarray((before - mean)[:, :, None] / lag)
        back = self._back(lag)
        shown = self._through(self._A @ phi, [1.0], back)
        slope = [1.0, 0.0] if self._order == 1 else [lag, 1.0, 0.0]
        return self._rows(run, -self._through(shown, slope, back)[:, :, None])

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """See `Model.moved`."""
        return np.clip(state + change, 0.2 * state, 5.0 * state)


class LowPass(Hypothesis):
    """The sensor's wrench went through a low-pass filter, of first or of second order, or is a mean over some time."""

    slug = "low-pass"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        for order in (1, 2, 0):
            state, fit = fit_model(run, LowPassed(run, order), [np.array([lag]) for lag in (0.01, 0.05, 0.2)])
            lag, half = float(state[0]), NORMAL_95 * float(deviations(fit)[0])
            corner = lag_of(lag, order)
            size = f"{corner:.3g} +- {significant(corner * half / lag, 2)} Hz (95 %)"
            finding = f"A wrench behind a low-pass of {size}{' and second order' * (order == 2)}"
            if order == 0:
                finding = f"A wrench that is the mean over {2e3 * lag:.3g} +- {significant(2e3 * half, 2)} ms (95 %)"
            correction = Correction(low_pass=float(f"{corner:.4g}"), low_pass_order=None if order == 1 else order)
            known = half / NORMAL_95 / lag
            yield Explanation(self.slug, finding, fit, one_of(3, run), correction, relative_deviation=known)


class HighPassed(Model):
    """A wrench without its slow parts, s / (s + 1 / T): the state (1,) is the logarithm of T [s].

    Args:
        run: all of it; the filter needs what was before.
    """

    def __init__(self, run: ExaminedRun) -> None:
        self._run, self._A, self._step = run, _as_stamped(run), float(np.median(np.diff(run.time)))

    def _behind(self, run: ExaminedRun, values: FloatArray, ahead: list[float], back: list[float]) -> FloatArray:
        filtered = recursive_filter(ahead, back, values - values[:1], self._step)
        return np.asarray(filtered[np.searchsorted(self._run.time, run.time)])

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        lasting = float(np.exp(state[0]))
        return self._behind(run, self._A, [lasting, 0.0], [lasting, 1.0])

    def beside(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.beside`: what is left at the start of the time before."""
        fading = np.exp(-(run.time - self._run.time[0]) / np.exp(state[0]))
        return np.asarray(fading[:, None, None] * np.eye(6))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`: of T s / (T s + 1) by the logarithm of T, which is T s / (T s + 1)^2."""
        lasting = float(np.exp(state[0]))
        back = [lasting**2, 2.0 * lasting, 1.0]
        return self._behind(run, self._A @ phi, [lasting, 0.0], back)[:, :, None]

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """See `Model.moved`."""
        return np.asarray(state + np.clip(change, -1.0, 1.0))


class HighPass(Hypothesis):
    """An amplifier took the slow parts of the wrench for drift."""

    slug = "high-pass"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        state, fit = fit_model(run, HighPassed(run), [np.log([lasting]) for lasting in (0.5, 3.0)])
        corner = lag_of(float(np.exp(state[0])), 1)
        half = corner * NORMAL_95 * float(deviations(fit)[0])
        finding = f"A wrench behind a high-pass of {corner:.3g} +- {significant(half, 2)} Hz (95 %)"
        yield Explanation(self.slug, finding, fit, 7, Correction(high_pass=float(f"{corner:.4g}")))
