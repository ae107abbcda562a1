"""Kalman filter and smoother for joint angles: q, dq, ddq and their covariance, with the noise chosen from the data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.motion.angle_samples import resolution
from iparam.motion.choice.process_choice import EXACT, LEAST_SAMPLES, choose_processes
from iparam.motion.joint_process import (
    START_VARIANCE,
    JointProcess,
    noise_root,
    passed_noise,
    rest_variances,
    smooth_joint,
)
from iparam.motion.motion import MotionEstimate, MotionSample, checked_angles
from iparam.remarks import Remark, remark
from iparam.robot.batching import get_num_threads

MOST_COVARIANCES = 20_000
"""Samples of a run for which the covariance is given; of a longer run it is that of every second, third, ... sample."""

NOT_WHITE = 0.5
"""Errors that pass the smoother, in what white ones of the same size would leave, below which they are not white."""

NOISY_ACCELERATION = 0.05
"""Standard deviation of a joint's acceleration, as a share of its rms, from which on it is no good."""


def kalman_smooth(
    time: ArrayLike, q: ArrayLike, processes: Sequence[JointProcess] | None = None, dq: ArrayLike | None = None
) -> MotionEstimate:
    """Smooth measured joint angles, off-line: every sample is used for every other.

    Args:
        time: (T,) strictly increasing, evenly spaced or not [s].
        q: (T, n) measured angles [rad].
        processes: the motion models, one a joint; None chooses them from the data (`choose_processes`).
        dq: (T, n) measured velocities, used for the joints whose model has a noise for them [rad/s].

    Returns:
        The motion at ``time``, with the posterior covariance of (q, dq, ddq); of a long run, that of some samples.
    """
    stamps, angles = checked_angles(time, q, LEAST_SAMPLES)
    models = _models(processes, angles.shape[1]) if processes is not None else choose_processes(stamps, angles)
    if dq is None:
        return _each_joint(stamps, angles, models)
    velocities = as_float_array(dq, "dq", angles.shape)
    return _each_joint(stamps, angles, models, velocities)


def with_passed_errors(motion: MotionEstimate, q: FloatArray) -> MotionEstimate:
    """A smoothed motion whose covariance counts only those errors of the angles that pass the smoother.

    The covariance takes the errors for white. Those of held angles come at the rate of the holding instead, far above
    the bandwidth: they make up the residuals, and leave next to nothing in the accelerations. Where the residuals show
    that clearly, the noise of a joint becomes that white one which would leave as much as there is.

    Args:
        motion: of the Kalman smoother.
        q: (T, n) the angles that were smoothed, at its times [rad].
    """
    if motion.covariance is None:
        return motion
    processes, shares = list(motion.processes), np.ones(motion.num_joints)
    for joint, process in enumerate(processes):
        if process.noise <= EXACT:
            continue
        passed = passed_noise(motion.time, q[:, joint] - motion.q[:, joint], process)
        passed = max(passed, float(resolution(q[:, joint : joint + 1])[0]) / math.sqrt(12.0))
        if passed < NOT_WHITE * process.noise:
            shares[joint] = passed / process.noise
            processes[joint] = dataclasses.replace(process, noise=passed)
    if (shares == 1.0).all():
        return motion
    covariance = motion.covariance * shares[:, None, None] ** 2
    return dataclasses.replace(motion, covariance=covariance, processes=tuple(processes))


def at_highest_bandwidth(motion: MotionEstimate, highest: float) -> tuple[Remark, ...]:
    """A remark if smoothing ended at the highest bandwidth that was tried [Hz], and is not enough.

    Angles that are next to exact may have any bandwidth: their accelerations are well known all the same.
    """
    if motion.covariance is None:
        return ()
    variance = np.median(motion.covariance[..., 2, 2].reshape(-1, motion.num_joints), axis=0)
    noise = np.sqrt(np.maximum(variance, 0.0))  # with few samples in a period of the bandwidth rounding decides
    noisy = noise > NOISY_ACCELERATION * np.sqrt(np.mean(motion.ddq**2, axis=0))
    joints = [
        str(number)
        for number, one in enumerate(motion.processes, start=1)
        if one.bandwidth >= 0.99 * highest and noisy[number - 1]
    ]
    if not joints:
        return ()
    return (remark("bandwidth-at-limit", joints=", ".join(joints), bandwidth=highest, fix={"motion": "butterworth"}),)


class JointKalmanFilter:
    """A causal filter for the joint angles of an arm, sample by sample, at any time steps.

    It starts at the first sample: at rest where a model says so, otherwise with derivatives unknown. It keeps a square
    root of the covariance: symmetric and positive semidefinite by construction, however long it runs.

    Args:
        processes: the motion model of each joint; ``ends_at_rest`` does not matter here.
        period: the usual time between samples [s]; with the bandwidth and noise of a process it sets the strength of
            the noise that drives it.
    """

    def __init__(self, processes: Sequence[JointProcess], period: float) -> None:
        if not processes:
            raise InputError("a filter needs the motion model of at least one joint, got none")
        if not (np.isfinite(period) and period > 0):
            raise InputError(argument="period", value=period, expected="a positive time in s")
        self._models = tuple(processes)
        orders = np.array([process.order for process in self._models])
        powers = np.arange(orders.max())
        self._omegas = np.array([process.omega for process in self._models])
        self._noises = np.array([process.noise for process in self._models])
        self._to_units = self._noises[:, None] * self._omegas[:, None] ** powers[:3]
        # With a shorter chain in a longer state: rows and columns beyond a joint's order stay zero.
        active = powers < orders[:, None]
        lags = powers[None, :] - powers[:, None]
        self._lags = np.maximum(lags, 0)
        factorials = np.cumprod(np.maximum(powers, 1.0))
        self._transition_factors = (lags >= 0) * (active[:, :, None] & active[:, None, :]) / factorials[self._lags]
        self._noise_powers = np.where(active, orders[:, None] - powers - 0.5, 0.0)
        self._noise_root = np.zeros(self._transition_factors.shape)
        for root, process in zip(self._noise_root, self._models, strict=True):
            root[: process.order, : process.order] = noise_root(process.order)
        self._noise_root *= np.sqrt(self._omegas * period)[:, None, None]
        self._time: float | None = None
        self._step = -1.0
        self._state = np.zeros(active.shape)
        start = [
            rest_variances(powers.size) if process.starts_at_rest else np.full(powers.size, START_VARIANCE)
            for process in self._models
        ]
        self._root = (np.sqrt(start) * active)[:, :, None] * np.eye(powers.size)

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return len(self._models)

    @property
    def covariance(self) -> FloatArray:
        """(n, 3, 3) of (q, dq, ddq) after the last sample."""
        units = self._to_units[:, :, None] * self._to_units[:, None, :]
        root = self._root[:, :3]
        return np.asarray(np.matmul(root, root.transpose(0, 2, 1)) * units)

    def step(self, time: float, q: ArrayLike) -> MotionSample:
        """Take one sample in.

        Args:
            time: of the sample [s], later than the one before.
            q: (n,) measured angles [rad].

        Returns:
            The estimate at ``time``. If the sample is refused, the filter is as before.
        """
        angles = as_float_array(q, "q", (self.num_joints,))
        if angles.ndim != 1 or not np.isfinite(time):
            raise InputError(f"a sample is a finite time and q ({self.num_joints},), got {time!r} and {angles.shape}")
        state, root = self._state, self._root
        if self._time is None:
            state = state.copy()
            state[:, 0] = angles / self._noises
        else:
            if time <= self._time:
                raise InputError(
                    argument="time", problem=f"must be later than the sample before, {self._time!r} s, got {time!r} s"
                )
            transition, noise_root = self._transition(time - self._time)
            state = np.matmul(transition, state[:, :, None])[:, :, 0]
            rows = np.concatenate([np.matmul(transition, root), noise_root], axis=2).transpose(0, 2, 1)
            root = np.asarray(np.linalg.qr(rows, mode="r")).transpose(0, 2, 1)
        # A lower triangular root has the angle in its first column alone: a sample of it makes that column shorter.
        first = root[:, :, 0]
        variance = first[:, :1] ** 2 + 1.0
        innovation = angles / self._noises - state[:, 0]
        self._state = state + first * (first[:, :1] * innovation[:, None] / variance)
        self._root = np.concatenate([(first / np.sqrt(variance))[:, :, None], root[:, :, 1:]], axis=2)
        self._time = float(time)
        q_now, dq_now, ddq_now = (self._state[:, :3] * self._to_units).T.copy()
        return MotionSample(self._time, q_now, dq_now, ddq_now)

    def _transition(self, step: float) -> tuple[FloatArray, FloatArray]:
        """F and a root of Q (n, m, m) for a time step [s]; the last ones are kept, since most steps are alike."""
        if abs(step - self._step) > 1e-9 * step:
            h = (self._omegas * step)[:, None]
            self._kept_transition = self._transition_factors * h[:, :, None] ** self._lags
            self._kept_noise_root = self._noise_root * (h**self._noise_powers)[:, :, None]
            self._step = step
        return self._kept_transition, self._kept_noise_root


def _each_joint(
    time: FloatArray,
    q: FloatArray,
    models: Sequence[JointProcess],
    dq: FloatArray | None = None,
) -> MotionEstimate:
    every = -(-time.size // MOST_COVARIANCES)
    motion = [np.empty(q.shape) for _ in range(3)]
    covariance = np.empty((-(-time.size // every), q.shape[1], 3, 3))

    def one(joint: int) -> None:
        velocity = None if dq is None else np.ascontiguousarray(dq[:, joint])
        smoothed = smooth_joint(time, np.ascontiguousarray(q[:, joint]), models[joint], every=every, velocity=velocity)
        for values, column in zip(motion, smoothed.means.T, strict=True):
            values[:, joint] = column
        covariance[:, joint] = smoothed.covariances

    with ThreadPoolExecutor(max_workers=min(get_num_threads(), q.shape[1])) as pool:
        list(pool.map(one, range(q.shape[1])))
    for values in (*motion, covariance):
        values.flags.writeable = False  # so that nobody needs a copy
    return MotionEstimate(time, motion[0], motion[1], motion[2], covariance, time[::every], processes=tuple(models))


def _models(processes: Sequence[JointProcess], num_joints: int) -> Sequence[JointProcess]:
    if len(processes) != num_joints:
        raise InputError(
            argument="q", problem=f"has {num_joints} joints, but there are motion models for {len(processes)}"
        )
    return processes
