"""`LaggedKalmanFilter`: joint motion on-line, a few hundredths of a second late and far better for it.

A causal filter has to trade noise against lag, and its accelerations are late by as much as its bandwidth demands. The
fixed-lag form gives at time t the motion at t - lag, using the samples in between: the filter's prediction for that
instant plus all innovations since, each with its gain. At a steady rate the gains are constant, so a sample costs a few
small products.
"""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.joint_process import JointProcess, noise_root
from iparam.motion.motion import MotionSample

FORGOTTEN = 1e-4
"""Share of an error of the first state that is left when the filter has settled."""


class LaggedKalmanFilter:
    """A fixed-lag filter for n joint angles that start at rest.

    Args:
        process: the motion model of all joints; only order, bandwidth and noise matter.
        period: time between samples [s]. Actual steps may jitter around it.
        lag: in samples.
        num_joints: n.

    Attributes:
        covariance: (n, 3, 3) of (q, dq, ddq), settled.
        settling: samples after which an arm that did not start at rest makes no difference any more.
    """

    def __init__(self, process: JointProcess, period: float, lag: int, num_joints: int) -> None:
        if not (np.isfinite(period) and period > 0) or lag < 0:
            raise InputError(
                argument="period", problem=f"must be positive and lag at least 0, got {period!r} s and {lag!r}"
            )
        self._process, self._lag = process, lag
        self._units = process.omega ** np.arange(3)[:, None]  # state i is d^i q / dt^i / omega^i
        self._powers = np.arange(process.order)
        self._factorials = np.cumprod(np.maximum(self._powers, 1)).astype(float)
        self._gain, gains, _ = _steady_gains(process.order, process.omega * period, lag)
        places = np.arange(lag + 1)
        # [k] weighs the innovations by their places where the oldest is in place k.
        self._gains = np.stack([gains[:, (places - oldest) % (lag + 1)] for oldest in places])
        self.covariance = np.broadcast_to(settled_covariance(process, period, lag), (num_joints, 3, 3)).copy()
        self._state = np.zeros((process.order, num_joints))
        self._times = [0.0] * (lag + 1)
        self._predicted = np.zeros((lag + 1, 3, num_joints))
        self._innovations = np.zeros((lag + 1, num_joints))
        self._count = 0
        self._step, self._transition = -1.0, np.eye(process.order)
        steady = self._transition_over(process.omega * period)
        decay = np.abs(np.linalg.eigvals(steady - np.outer(steady @ self._gain, np.eye(process.order)[0]))).max()
        self.settling = int(np.ceil(np.log(FORGOTTEN) / np.log(decay)))

    def restart(self) -> None:
        """Forget all samples: the next one is the first again."""
        self._count = 0
        self._state = np.zeros_like(self._state)

    def step(self, time: float, q: FloatArray) -> MotionSample | None:
        """Take one sample in; the motion ``lag`` samples ago, or None while there are fewer."""
        if self._count == 0:
            self._state[0] = q
        else:
            elapsed = time - self._times[(self._count - 1) % len(self._times)]
            if not elapsed > 0.0:
                raise InputError(
                    argument="time",
                    problem=f"must be later than that of the sample before, got a step of {elapsed!r} s",
                )
            if abs(elapsed - self._step) > 1e-6 * elapsed:
                self._step, self._transition = elapsed, self._transition_over(self._process.omega * elapsed)
        slot = self._count % len(self._times)
        self._times[slot] = time
        # The first sample has no step before it, but then a state at rest stays what it is under any transition.
        state = self._transition @ self._state
        self._predicted[slot] = state[:3]
        self._innovations[slot] = q - state[0]
        self._state = state + self._gain[:, None] * self._innovations[slot]
        self._count += 1
        if self._count <= self._lag:
            return None
        oldest = self._count % len(self._times)
        motion = self._units * (self._predicted[oldest] + self._gains[oldest] @ self._innovations)
        return MotionSample(self._times[oldest], motion[0], motion[1], motion[2])

    def _transition_over(self, h: float) -> FloatArray:
        lags = self._powers[None, :] - self._powers[:, None]
        powers = np.maximum(lags, 0)
        return np.where(lags >= 0, h**powers / self._factorials[powers], 0.0)


def settled_covariance(process: JointProcess, period: float, lag: int = 0) -> FloatArray:
    """(3, 3) of (q, dq, ddq) of a joint, as known at a steady rate by a filter that is ``lag`` samples late."""
    unit = process.noise * process.omega ** np.arange(3)
    return np.asarray(_steady_gains(process.order, process.omega * period, lag)[2] * np.outer(unit, unit))


def _steady_gains(order: int, h: float, lag: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Filter gain (m,), gains (3, lag + 1) of the innovations since, and covariance (3, 3), for a scaled step h.

    Variances are in those of a sample; the driving noise is that of `JointProcess`.
    """
    from scipy.linalg import solve_discrete_are  # slow to import, and only who listens to an arm needs it

    powers = np.arange(order)
    factorials = np.cumprod(np.maximum(powers, 1)).astype(float)
    lags = powers[None, :] - powers[:, None]
    F = np.where(lags >= 0, h ** np.maximum(lags, 0) / factorials[np.maximum(lags, 0)], 0.0)
    noise = noise_root(order) * h ** (order - powers)[:, None]  # the intensity of a step h is h
    P = solve_discrete_are(F.T, np.eye(order)[:, :1], noise @ noise.T, np.eye(1))
    gain = P[0] / (P[0, 0] + 1.0)
    closed = F - np.outer(F @ gain, np.eye(order)[0])  # error dynamics of the predictions
    cross, gains, covariance = P.copy(), [], P.copy()
    for _ in range(lag + 1):  # cross = covariance of the wanted state with the present prediction error
        gains.append(cross[:, 0] / (P[0, 0] + 1.0))
        covariance -= np.outer(cross[:, 0], cross[:, 0]) / (P[0, 0] + 1.0)
        cross = cross @ closed.T
    return gain, np.ascontiguousarray(np.array(gains).T[:3]), covariance[:3, :3]
