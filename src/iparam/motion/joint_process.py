"""`JointProcess`: how a joint angle may move between samples, and the native smoother run with it.

The model is a chain of m integrators driven by white noise: order 3 is white jerk, 4 white snap. Its smoother is the
smoothing spline of degree 2 m - 1; far from the ends it passes frequencies as a zero-phase Butterworth filter of order
m does, 1 / (1 + (f / bandwidth)^(2 m)), which is why the strength of the driving noise is given as a bandwidth.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.native.smoothing import ORDERS, Filtered, joint_filter, joint_residuals, joint_smoother

START_VARIANCE = 1e6
"""Variance of what is not known about the first state, in those of a sample: wide, and free of rounding trouble."""

PART = 20_000
"""Samples whose filtered states are held at a time."""

LONGEST_STEP = 10.0
"""Scaled time between samples beyond which the one tells nothing about the motion at the other: its angle is predicted
within hundreds of standard deviations of a sample at best, and at order 7 no better than where nothing is known."""

FREQUENCIES = 16
"""How many of them above the bandwidth, at least, tell the density of errors."""

_FOR_PERIOD = 100_000  # samples that tell how far apart they usually are

SETTLED = 1e-12
"""Relative change below which a covariance is taken for its limit."""

NEARLY_SETTLED = 1e-5
"""The same where models are only compared: scores then differ by about as little."""

REST_VARIANCE = 1e-4
"""Variance of a scaled derivative of a joint at rest: next to nothing, and yet no certainty."""


@dataclass(frozen=True)
class JointProcess:
    """The motion model of one joint.

    Attributes:
        order: m, the number of integrators, 3 to 8.
        bandwidth: where the smoother passes half of the amplitude [Hz].
        noise: standard deviation of one angle sample [rad].
        starts_at_rest, ends_at_rest: whether all derivatives are zero at the first or last sample: an arm that stood
            still before, or stays where it is.
        shares: pairs of a time [s] and the share of the bandwidth that the joint has from then on, in order of time:
            where it moves less, or rests, less passes. Empty: the whole bandwidth throughout.
        velocity_noise: standard deviation of one velocity sample, in that of an angle sample [1/s]; 0 where velocities
            are not used.
        tracking: whether the model is that of the tracking error, which is smoothed in place of the angle where set
            points are known.
    """

    order: int
    bandwidth: float
    noise: float
    starts_at_rest: bool = False
    ends_at_rest: bool = False
    shares: tuple[tuple[float, float], ...] = ()
    velocity_noise: float = 0.0
    tracking: bool = False

    def __post_init__(self) -> None:
        if not ORDERS[0] <= self.order <= ORDERS[1]:
            raise InputError(f"order of a motion model must be {ORDERS[0]} to {ORDERS[1]}, got {self.order!r}")

    @property
    def omega(self) -> float:
        """The bandwidth in rad/s."""
        return 2.0 * math.pi * self.bandwidth

    def share_at(self, time: FloatArray) -> FloatArray:
        """The share of the bandwidth (T,) that passes at times (T,) [s]."""
        if not self.shares:
            return np.ones(time.size)
        starts, shares = np.array(self.shares).T
        return np.asarray(shares[np.maximum(np.searchsorted(starts, time, "right") - 1, 0)])


@dataclass(frozen=True, eq=False)
class TimeSteps:
    """The times between samples, found once for all models that are compared on them.

    Attributes:
        before: (T,) the time before each sample [s]; 0 before the first.
        usual: what it is for the most part [s].
        longest: of them [s].
    """

    before: FloatArray
    usual: float
    longest: float

    @classmethod
    def of(cls, time: FloatArray) -> TimeSteps:
        """Between times (T,)."""
        before = np.diff(time, prepend=time[0])
        shown = before[1:_FOR_PERIOD] if time.size > 1 else before
        return cls(before, float(np.partition(shown, shown.size // 2)[shown.size // 2]), float(before.max()))


@dataclass(frozen=True, eq=False)
class SmoothedJoint:
    """Angle and derivatives of one joint.

    Attributes:
        means: (T, d) q, dq, ... [rad, rad/s, ...].
        covariances: (V, d, d) of them, of all T samples or of those that were asked for.
    """

    means: FloatArray
    covariances: FloatArray


def smooth_joint(
    time: FloatArray,
    angle: FloatArray,
    process: JointProcess,
    depth: int = 3,
    exact: bool = True,
    every: int = 1,
    velocity: FloatArray | None = None,
) -> SmoothedJoint:
    """Run filter and smoother over one joint's samples.

    Args:
        time: (T,) strictly increasing [s].
        angle: (T,) [rad].
        process: the model.
        depth: how many of q, dq, ddq, ... to return, at most the order.
        exact: False stops a little early where covariances approach their limits: for comparing models.
        every: give the covariance of every that many samples only.
        velocity: (T,) measured too [rad/s]; used where the model has a noise for it.
    """
    means, variances = np.empty((time.size, depth)), np.empty((-(-time.size // every), depth, depth))
    for series in _stretches(time, TimeSteps.of(time), angle, process, exact, velocity):
        first = series.first
        for part, state, adjoint, information in series.backwards():
            passed = series.forward(part, state)
            series.end(part, state, adjoint, information)
            joint_smoother(
                series.steps[part],
                passed,
                series.noise,
                adjoint,
                information,
                series.tolerance,
                first + part.start,
                every,
                means[first + part.start : first + part.stop],
                variances,
            )
    return _in_units(means, variances, process)


def residual_sums(
    time: FloatArray,
    steps: TimeSteps,
    angle: FloatArray,
    process: JointProcess,
    velocity: FloatArray | None = None,
) -> tuple[float, float]:
    """Sum of the squared residuals of a smoothed joint [rad^2], and of its variances in those of the noise.

    For comparing models: what `smooth_joint` would give where it stops a little early, in a fraction of its time. A
    velocity counts as an angle does, in the units of its own noise.

    Args:
        time, angle, process, velocity: as above.
        steps: between the times.
    """
    sums = np.zeros(2)
    for series in _stretches(time, steps, angle, process, False, velocity):
        for part, state, adjoint, information in series.backwards():
            passed = series.forward(part, state, kept=False)
            series.end(part, state, adjoint, information)
            sums += joint_residuals(series.steps[part], passed, series.noise, adjoint, information, series.tolerance)
    return float(sums[0]) * process.noise**2, float(sums[1])


def passed_noise(time: FloatArray, residual: FloatArray, process: JointProcess) -> float:
    """White noise that would leave as much in the accelerations as do the errors that the residuals show [rad].

    Of errors within the bandwidth nothing can be seen: they are taken to be as dense as those within the octave above
    it are for the most part. Too few samples to tell give the noise of the process.

    Args:
        time: (T,) [s].
        residual: (T,) of the angles [rad].
        process: the model that they were smoothed with.
    """
    period = TimeSteps.of(time).usual
    count = int((time[-1] - time[0]) / period + 0.5) + 1
    window = np.hanning(count)
    even = np.interp(time[0] + period * np.arange(count), time, residual)
    density = np.abs(np.fft.rfft(window * even)) ** 2 / float(window @ window)
    relative = np.fft.rfftfreq(count, period) / process.bandwidth
    first = int(np.searchsorted(relative, 1.0, "right"))
    last = max(int(np.searchsorted(relative, 2.0, "right")), first + FREQUENCIES)
    if last > relative.size:
        return process.noise
    passes = 1.0 / (1.0 + relative ** (2 * process.order))
    errors = density / np.maximum(1.0 - passes, 0.5) ** 2
    errors[:first] = np.median(errors[first:last]) / math.log(2.0)  # the mean of noise, without lines
    return float(np.sqrt(np.average(errors, weights=passes**2 * relative**4)))


def _stretches(
    time: FloatArray,
    between: TimeSteps,
    angle: FloatArray,
    process: JointProcess,
    exact: bool,
    velocity: FloatArray | None,
) -> Iterator[_Series]:
    """The samples between gaps over which the model tells nothing: each stretch is smoothed by itself.

    After such a gap the predicted variances differ by so many orders of magnitude that rounding would decide.
    """
    measured = angle[:, None] if velocity is None or not process.velocity_noise else np.column_stack([angle, velocity])
    steps, period = process.omega * between.before, between.usual
    if process.omega * between.longest <= LONGEST_STEP:
        yield _Series(time, measured, steps, process, exact, period)
        return
    ends = [*np.flatnonzero(steps > LONGEST_STEP).tolist(), time.size]
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        here = dataclasses.replace(
            process,
            starts_at_rest=process.starts_at_rest and start == 0,
            ends_at_rest=process.ends_at_rest and stop == time.size,
        )
        steps[start] = 0.0
        stretch = slice(start, stop)
        yield _Series(time[stretch], measured[stretch], steps[stretch], here, exact, period, start)


class _State(NamedTuple):
    """What the filter knows after a sample, or before the first: scaled mean (m,) and covariance (m, m)."""

    x: FloatArray
    p: FloatArray

    def copy(self) -> _State:
        return _State(self.x.copy(), self.p.copy())


class _Series:
    """One joint's samples (T, R), angles and where R is 2 velocities, in the units of its model, in bounded parts.

    Attributes:
        steps: (T,) the scaled time before each sample; 0 before the first.
        first: number of the first sample in all that were recorded.
        noise: (R,) scaled variances of the samples.
        tolerance: relative change below which a covariance is taken for its limit.
        parts: of the samples.
    """

    def __init__(
        self,
        time: FloatArray,
        measured: FloatArray,
        steps: FloatArray,
        process: JointProcess,
        exact: bool,
        period: float,
        first: int = 0,
    ) -> None:
        self.steps, self.first = steps, first
        self._time, self._measured, self._process = time, measured, process
        self.noise = np.array([1.0, process.velocity_noise / process.omega])[: measured.shape[1]] ** 2
        self.tolerance = SETTLED if exact else NEARLY_SETTLED
        self._intensity = process.omega * period
        self.parts = [slice(start, min(start + PART, time.size)) for start in range(0, time.size, PART)]

    def start(self) -> _State:
        """What is known before the first sample."""
        process, m, angle = self._process, self._process.order, self._measured[:, 0]
        if process.starts_at_rest:
            return _State(np.array([angle[0] / process.noise, *np.zeros(m - 1)]), np.diag(rest_variances(m)))
        # Wide around a polynomial through the first samples.
        time = self._time
        count = min(time.size, max(2 * m, int(np.searchsorted(time, time[0] + m / process.omega))))
        mean = _polynomial_start(process.omega * (time[:count] - time[0]), angle[:count], m)
        return _State(mean / process.noise, np.diag(np.full(m, START_VARIANCE)))

    def backwards(self) -> Iterator[tuple[slice, _State, FloatArray, FloatArray]]:
        """The parts from the last to the first, with the state before each, and what is known after it: to be changed.

        What the filter writes is needed once more on the way back, and is too much to keep for a long series: the state
        before each part is kept, and each is filtered again.
        """
        states = [self.start()]
        for part in self.parts[:-1]:
            state = states[-1].copy()
            self.forward(part, state, kept=False)
            states.append(state)
        m = self._process.order
        adjoint, information = np.zeros(m), np.zeros((m, m))
        for part, state in zip(reversed(self.parts), reversed(states), strict=True):
            yield part, state, adjoint, information

    def forward(self, part: slice, state: _State, kept: bool = True) -> Filtered:
        """Filter a part; ``state``, before it, becomes the one after it. Not ``kept`` leaves the states out."""
        process = self._process
        y = self._measured[part] / (process.noise * process.omega ** np.arange(self.noise.size))
        intensities = self._intensity * process.share_at(self._time[part]) ** (2 * process.order)
        return joint_filter(self.steps[part], y, self.noise, intensities, *state, self.tolerance, kept)

    def end(self, part: slice, state: _State, adjoint: FloatArray, information: FloatArray) -> None:
        """Write what is known after the last part, of whose last sample ``state`` is: nothing, or that it rests."""
        if self._process.ends_at_rest and part.stop == self._time.size:
            variance = state.p + REST_VARIANCE * np.eye(self._process.order)
            information[1:, 1:] = np.linalg.inv(variance[1:, 1:])
            adjoint[1:] = information[1:, 1:] @ state.x[1:]


def _in_units(means: FloatArray, variances: FloatArray, process: JointProcess) -> SmoothedJoint:
    units = process.noise * process.omega ** np.arange(means.shape[1])
    means *= units
    variances *= np.outer(units, units)
    return SmoothedJoint(means, variances)


def _polynomial_start(time: FloatArray, angle: FloatArray, order: int) -> FloatArray:
    """(m,) value and derivatives at the first of times (T,) of the polynomial of degree m - 1 nearest to angles (T,).

    The smallest such polynomial, where the samples do not tell which.
    """
    reach = float(time[-1] - time[0]) or 1.0  # 1 for a single sample between two gaps
    powers = np.vander((time - time[0]) / reach, order, increasing=True)
    found, *_ = np.linalg.lstsq(powers, angle - angle[0], rcond=1e-12)
    exponents = np.arange(order)
    derivatives = found * np.cumprod(np.maximum(exponents, 1)) / reach**exponents
    derivatives[0] += angle[0]
    return np.asarray(derivatives)


def rest_variances(order: int) -> FloatArray:
    """(m,) scaled variances of the first state of a joint at rest somewhere."""
    return np.array([START_VARIANCE, *np.full(order - 1, REST_VARIANCE)])


def noise_root(order: int) -> FloatArray:
    """(m, m) lower triangular root of the process noise of a scaled step 1 and intensity 1.

    That of a step h has its row i multiplied by h^(m - i - 1/2).
    """
    integrations = order - 1 - np.arange(order)
    factorials = np.array([math.factorial(count) for count in integrations], float)
    exponents = 1.0 + integrations[:, None] + integrations
    return np.asarray(np.linalg.cholesky(1.0 / (np.outer(factorials, factorials) * exponents)))
