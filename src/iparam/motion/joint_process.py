"""`JointProcess`: how a joint angle may move between samples, and the compiled smoother run with it.

The model is a chain of m integrators driven by white noise: order 3 is white jerk, 4 white snap. Its smoother is the
smoothing spline of degree 2 m - 1; far from the ends it passes frequencies as a zero-phase Butterworth filter of order
m does, 1 / (1 + (f / bandwidth)^(2 m)), which is why the strength of the driving noise is given as a bandwidth.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray

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

REST_VARIANCE = 1e-4
"""Variance of a scaled derivative of a joint at rest: next to nothing, and yet no certainty."""


@dataclass(frozen=True)
class JointProcess:
    """The motion model of one joint.

    Attributes:
        order: m, the number of integrators, at least 3.
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
    measured = angle[:, None] if velocity is None or not process.velocity_noise else np.column_stack([angle, velocity])
    means, variances = np.empty((time.size, depth)), np.empty((-(-time.size // every), depth, depth))
    stretches = _stretches(time, process)
    for stretch in stretches:
        here = dataclasses.replace(
            process,
            starts_at_rest=process.starts_at_rest and stretch is stretches[0],
            ends_at_rest=process.ends_at_rest and stretch is stretches[-1],
        )
        series = _Series(time[stretch], measured[stretch], here, exact, _usual_step(time))
        _smooth_stretch(series, here, stretch.start, every, means[stretch], variances)
    return _in_units(means, variances, process)


def passed_noise(time: FloatArray, residual: FloatArray, process: JointProcess) -> float:
    """White noise that would leave as much in the accelerations as do the errors that the residuals show [rad].

    Of errors within the bandwidth nothing can be seen: they are taken to be as dense as those within the octave above
    it are for the most part. Too few samples to tell give the noise of the process.

    Args:
        time: (T,) [s].
        residual: (T,) of the angles [rad].
        process: the model that they were smoothed with.
    """
    period = _usual_step(time)
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


def _usual_step(time: FloatArray) -> float:
    return float(np.median(np.diff(time[:_FOR_PERIOD])))


def _stretches(time: FloatArray, process: JointProcess) -> list[slice]:
    """The samples between gaps over which the model tells nothing: each stretch is smoothed by itself.

    After such a gap the predicted variances differ by so many orders of magnitude that rounding would decide.
    """
    ends = [*(np.flatnonzero(process.omega * np.diff(time) > LONGEST_STEP) + 1).tolist(), time.size]
    return [slice(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True)]


def _smooth_stretch(
    series: _Series, process: JointProcess, first: int, every: int, means: FloatArray, variances: FloatArray
) -> None:
    """Write the scaled means (S, d) of a stretch that begins with sample ``first``, and its part of the variances."""
    from iparam.motion import kernels

    m, size = process.order, means.shape[0]
    # What the filter writes is needed once more on the way back, and is too much to keep for a long series: keep the
    # state before each part, and filter each again.
    states = [series.start()]
    for part in series.parts[:-1]:
        state = states[-1].copy()
        series.forward(part, state)
        states.append(state)
    adjoint, information = np.zeros(m), np.zeros((m, m))
    for part, state in zip(reversed(series.parts), reversed(states), strict=True):
        passed = series.forward(part, state)
        if process.ends_at_rest and part.stop == size:
            variance = state.p + REST_VARIANCE * np.eye(m)
            information[1:, 1:] = np.linalg.inv(variance[1:, 1:])
            adjoint[1:] = information[1:, 1:] @ state.x[1:]
        kernels.backward(
            series.steps(part),
            *passed,
            adjoint,
            information,
            series.tolerance,
            first + part.start,
            every,
            means[part],
            variances,
        )


def filter_joint(time: FloatArray, angle: FloatArray, process: JointProcess, every: int = 1) -> SmoothedJoint:
    """The causal estimate of (q, dq, ddq): each sample sees only itself and those before. Arguments as above."""
    series = _Series(time, angle[:, None], process, True, _usual_step(time))
    state = series.start()
    means, variances = np.empty((time.size, 3)), np.empty((-(-time.size // every), 3, 3))
    for part in series.parts:
        passed = series.forward(part, state)
        gains, covariances = passed.gains[: passed.slots[-1] + 1, 0, :3], passed.covariances[: passed.slots[-1] + 1]
        means[part] = passed.predicted[:, :3] + gains[passed.slots] * passed.innovations
        after = covariances[:, :3, :3] - gains[:, :, None] * covariances[:, None, 0, :3]
        wanted = np.arange(-(-part.start // every) * every, part.stop, every)
        variances[wanted // every] = after[passed.slots[wanted - part.start]]
    return _in_units(means, variances, process)


class _Forward(NamedTuple):
    """The outputs of the forward kernel, in the order of the backward kernel's arguments; all scaled."""

    innovations: FloatArray
    slots: NDArray[np.int64]
    gains: FloatArray
    predicted: FloatArray
    covariances: FloatArray


class _State(NamedTuple):
    """What the filter knows after a sample, or before the first: scaled mean (m,) and covariance (m, m)."""

    x: FloatArray
    p: FloatArray

    def copy(self) -> _State:
        return _State(self.x.copy(), self.p.copy())


class _Series:
    """One joint's samples (T, R), angles and where R is 2 velocities, in the units of its model, in bounded parts."""

    def __init__(
        self, time: FloatArray, measured: FloatArray, process: JointProcess, exact: bool, period: float
    ) -> None:
        from iparam.motion import kernels

        self._time, self._measured, self._process = time, measured, process
        self._noise = np.array([1.0, process.velocity_noise / process.omega])[: measured.shape[1]] ** 2
        self.tolerance = kernels.SETTLED if exact else kernels.NEARLY_SETTLED
        self._intensity = process.omega * period
        self.parts = [slice(first, min(first + PART, time.size)) for first in range(0, time.size, PART)]

    def steps(self, part: slice) -> FloatArray:
        """The scaled time before each sample of a part; 0 before the first of all."""
        return np.asarray(self._process.omega * np.diff(self._time[part], prepend=self._time[max(part.start - 1, 0)]))

    def start(self) -> _State:
        """What is known before the first sample."""
        mean, variances = _start(self._time, self._measured[:, 0], self._process)
        return _State(mean, np.diag(variances))

    def forward(self, part: slice, state: _State) -> _Forward:
        """Filter a part; ``state``, before it, becomes the one after it."""
        from iparam.motion import kernels

        m, count, rows = self._process.order, part.stop - part.start, self._noise.size
        passed = _Forward(
            np.empty((count, rows)),
            np.empty(count, dtype=np.int64),
            np.empty((count, rows, m + 1)),
            np.empty((count, m)),
            np.empty((count, m, m)),
        )
        y = self._measured[part] / (self._process.noise * self._process.omega ** np.arange(rows))
        intensities = self._intensity * self._process.share_at(self._time[part]) ** (2 * m)
        kernels.forward(self.steps(part), y, self._noise, intensities, *state, self.tolerance, *passed)
        return passed


def _in_units(means: FloatArray, variances: FloatArray, process: JointProcess) -> SmoothedJoint:
    units = process.noise * process.omega ** np.arange(means.shape[1])
    means *= units
    variances *= np.outer(units, units)
    return SmoothedJoint(means, variances)


def _start(time: FloatArray, angle: FloatArray, process: JointProcess) -> tuple[FloatArray, FloatArray]:
    """Prior mean and variances (m,) of the first state, scaled: wide around a polynomial through the first samples."""
    m = process.order
    if process.starts_at_rest:
        return np.array([angle[0] / process.noise, *np.zeros(m - 1)]), rest_variances(m)
    scaled = process.omega * (time - time[0])
    count = min(time.size, max(2 * m, int(np.searchsorted(scaled, float(m)))))
    reach = scaled[count - 1] or 1.0  # a single sample between two gaps
    powers = np.vander(scaled[:count] / reach, m, increasing=True)
    coefficients = np.linalg.lstsq(powers, angle[:count] - angle[0], rcond=None)[0] / reach ** np.arange(m)
    coefficients[0] += angle[0]
    factorials = np.array([float(math.factorial(i)) for i in range(m)])
    return coefficients * factorials / process.noise, np.full(m, START_VARIANCE)


def rest_variances(order: int) -> FloatArray:
    """(m,) scaled variances of the first state of a joint at rest somewhere."""
    return np.array([START_VARIANCE, *np.full(order - 1, REST_VARIANCE)])
