"""Hypotheses about time: clocks that run fast or slow, a wrench that comes late or behind a filter."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, thinned
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction

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


class LowPassed(Model):
    """A wrench behind a low-pass of first order with the time constant ``state`` (1,) [s].

    Args:
        run: all of it; the filter needs what was before.
    """

    def __init__(self, run: ExaminedRun) -> None:
        self._run, self._step = run, float(np.median(np.diff(run.time)))

    def _filtered(self, values: FloatArray, lag: float) -> FloatArray:
        """(N, ...) behind the filter; what was before the run is taken to be as it begins."""
        from scipy.signal import lfilter

        share = float(np.exp(-self._step / max(lag, 1e-9)))
        return np.asarray(lfilter([1.0 - share], [1.0, -share], values, axis=0, zi=share * values[:1])[0])

    def _rows(self, run: ExaminedRun, values: FloatArray) -> FloatArray:
        return np.asarray(values[np.searchsorted(self._run.time, run.time)])

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return self._rows(run, self._filtered(self._run.A, float(state[0])))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`: y + T y' = u, so that the derivative of y by T is -y' behind the same filter."""
        lag = max(float(state[0]), 1e-9)
        load = self._run.A @ phi
        shown = self._filtered(load, lag)
        return self._rows(run, -self._filtered((load - shown) / lag, lag)[:, :, None])

    def moved(self, state: FloatArray, change: FloatArray) -> FloatArray:
        """See `Model.moved`."""
        return np.clip(state + change, 0.2 * state, 5.0 * state)


class LowPass(Hypothesis):
    """The sensor's wrench went through a low-pass filter."""

    slug = "low-pass"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        state, fit = fit_model(run, LowPassed(run), [np.array([lag]) for lag in (0.01, 0.05, 0.2)])
        lag, half = float(state[0]), NORMAL_95 * float(deviations(fit)[0])
        corner = 1.0 / (2.0 * np.pi * lag)
        finding = f"A wrench behind a low-pass of {corner:.3g} +- {significant(corner * half / lag, 2)} Hz (95 %)"
        correction, known = Correction(low_pass=float(f"{corner:.4g}")), half / NORMAL_95 / lag
        yield Explanation(self.slug, finding, fit, 1, correction, relative_deviation=known)
