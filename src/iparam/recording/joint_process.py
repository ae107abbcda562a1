"""`JointProcess`: how a joint angle may move between samples, and the compiled smoother run with it.

The model is a chain of m integrators driven by white noise: order 3 is white jerk, 4 white snap. Its smoother is the
smoothing spline of degree 2 m - 1; far from the ends it passes frequencies as a zero-phase Butterworth filter of order
m does, 1 / (1 + (f / bandwidth)^(2 m)), which is why the strength of the driving noise is given as a bandwidth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray

START_VARIANCE = 1e6
"""Variance of what is not known about the first state, in those of a sample: wide, and free of rounding trouble."""

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
    """

    order: int
    bandwidth: float
    noise: float
    starts_at_rest: bool = False
    ends_at_rest: bool = False

    @property
    def omega(self) -> float:
        """The bandwidth in rad/s."""
        return 2.0 * math.pi * self.bandwidth

    def spectral_density(self, period: float) -> float:
        """Of the white noise that drives derivative m, for samples ``period`` apart [rad^2 / s^(2 m - 1)]."""
        return float(self.noise**2 * period * self.omega ** (2 * self.order))


@dataclass(frozen=True, eq=False)
class SmoothedJoint:
    """Angle and derivatives of one joint.

    Attributes:
        means: (T, d) q, dq, ... [rad, rad/s, ...].
        covariances: (T, d, d) of them.
    """

    means: FloatArray
    covariances: FloatArray


def smooth_joint(
    time: FloatArray, angle: FloatArray, process: JointProcess, depth: int = 3, exact: bool = True
) -> SmoothedJoint:
    """Run filter and smoother over one joint's samples.

    Args:
        time: (T,) strictly increasing [s].
        angle: (T,) [rad].
        process: the model.
        depth: how many of q, dq, ddq, ... to return, at most the order.
        exact: False stops a little early where covariances approach their limits: for comparing models.
    """
    from iparam.recording import kernels

    tolerance = kernels.SETTLED if exact else kernels.NEARLY_SETTLED
    passed = _run_forward(time, angle, process, tolerance)
    m = process.order
    adjoint, information = np.zeros(m), np.zeros((m, m))
    if process.ends_at_rest:
        last = passed.slots[-1]
        gain, covariance = passed.gains[last, :m], passed.covariances[last]
        state = passed.predicted[-1] + gain * passed.innovations[-1]
        spread = covariance - np.outer(gain, covariance[0]) + REST_VARIANCE * np.eye(m)
        information[1:, 1:] = np.linalg.inv(spread[1:, 1:])
        adjoint[1:] = information[1:, 1:] @ state[1:]
    means, variances = np.empty((time.size, depth)), np.empty((time.size, depth, depth))
    kernels.backward(*passed, adjoint, information, tolerance, means, variances)
    return _in_units(means, variances, process)


def filter_joint(time: FloatArray, angle: FloatArray, process: JointProcess) -> SmoothedJoint:
    """The causal estimate of (q, dq, ddq): each sample sees only itself and those before. Arguments as above."""
    from iparam.recording import kernels

    passed = _run_forward(time, angle, process, kernels.SETTLED)
    gains, covariances = passed.gains[: passed.slots[-1] + 1, :3], passed.covariances[: passed.slots[-1] + 1]
    means = passed.predicted[:, :3] + gains[passed.slots] * passed.innovations[:, None]
    variances = covariances[:, :3, :3] - gains[:, :, None] * covariances[:, None, 0, :3]
    return _in_units(means, variances[passed.slots], process)


class _Forward(NamedTuple):
    """The outputs of the forward kernel, in the order of the backward kernel's arguments; all scaled."""

    steps: FloatArray
    innovations: FloatArray
    slots: NDArray[np.int64]
    gains: FloatArray
    predicted: FloatArray
    covariances: FloatArray


def _run_forward(time: FloatArray, angle: FloatArray, process: JointProcess, tolerance: float) -> _Forward:
    from iparam.recording import kernels

    m, omega, count = process.order, process.omega, time.size
    start, start_variances = _start(time, angle, process)
    intensity = omega * float(np.median(np.diff(time)))
    passed = _Forward(
        omega * np.diff(time),
        np.empty(count),
        np.empty(count, dtype=np.int64),
        np.empty((count, m + 1)),
        np.empty((count, m)),
        np.empty((count, m, m)),
    )
    kernels.forward(passed.steps, angle / process.noise, start, start_variances, intensity, tolerance, *passed[1:])
    return passed


def _in_units(means: FloatArray, variances: FloatArray, process: JointProcess) -> SmoothedJoint:
    units = process.noise * process.omega ** np.arange(means.shape[1])
    return SmoothedJoint(means * units, variances * np.outer(units, units))


def _start(time: FloatArray, angle: FloatArray, process: JointProcess) -> tuple[FloatArray, FloatArray]:
    """Prior mean and variances (m,) of the first state, scaled: wide around a polynomial through the first samples."""
    m = process.order
    if process.starts_at_rest:
        return np.array([angle[0] / process.noise, *np.zeros(m - 1)]), rest_variances(m)
    scaled = process.omega * (time - time[0])
    count = min(time.size, max(2 * m, int(np.searchsorted(scaled, float(m)))))
    reach = scaled[count - 1]
    powers = np.vander(scaled[:count] / reach, m, increasing=True)
    coefficients = np.linalg.lstsq(powers, angle[:count] - angle[0], rcond=None)[0] / reach ** np.arange(m)
    coefficients[0] += angle[0]
    factorials = np.array([float(math.factorial(i)) for i in range(m)])
    return coefficients * factorials / process.noise, np.full(m, START_VARIANCE)


def rest_variances(order: int) -> FloatArray:
    """(m,) scaled variances of the first state of a joint at rest somewhere."""
    return np.array([START_VARIANCE, *np.full(order - 1, REST_VARIANCE)])
