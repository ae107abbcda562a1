"""What beside the angles tells how the joints moved: measured velocities and set points, as far as they agree.

A set point is what the arm was told to do, known next to exactly. The tracking error that remains is smaller and slower
than the motion, so that less bandwidth, and less noise, is enough for it. It is smoothed in place of the angle, and the
set points are added to it. Velocities are a second measurement of what is smoothed (`measured_velocities`).

Neither is asked where the angles alone are good enough, and neither is used where wrench or torques are predicted worse
with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.motion.angle_samples import fresh_samples
from iparam.motion.choice.effort_prediction import EffortPrediction
from iparam.motion.choice.measured_velocities import contradicting_velocities, fitted, usable_velocities
from iparam.motion.choice.prediction_choice import choose_by_prediction, prediction_score
from iparam.motion.choice.process_choice import (
    EXACT,
    LEAST_SAMPLES,
    adapted_processes,
    choose_processes,
    cross_validation_scores,
    processes_with_velocities,
    widest_as_good,
)
from iparam.motion.joint_process import JointProcess
from iparam.motion.kalman import MOST_COVARIANCES, kalman_smooth
from iparam.motion.motion import MotionEstimate
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal

NEEDED = 0.01
"""Standard deviation of a joint's acceleration, as a share of its rms, up to which the angles alone are good enough:
its square is the share by which noise in a regressor pulls an estimate down."""

GAIN = 10.0
"""Improvement of the squares that cross-validation predicts, in those of one sample, for set points to be used: about
what four degrees of freedom cost, and more than searches for a bandwidth differ by."""

FOLLOWS = 0.2
"""Tracking error, as a share of how much a joint moves, above which set points are those of another motion."""

LONGEST_LAG = 0.1
"""Of an arm behind its set points [s]."""

CONSISTENT = 1.2
"""Residuals of angles or velocities, in those that their noise explains, up to which both tell the same motion."""

_ROUNDS = 3


def with_further_measurements(
    motion: MotionEstimate, angles: Signal, recording: Recording, prediction: EffortPrediction | None
) -> MotionEstimate:
    """A motion that the angles alone tell, improved by what else was recorded.

    Args:
        motion: of the Kalman smoother, at the times of the angles.
        angles: (T, n), that were smoothed.
        recording: with dq, target_q, both or neither.
        prediction: what judges; None where there is nothing.
    """
    dq = recorded_velocities(recording, angles)
    if dq is not None and (said := contradicting_velocities(dq, motion)):
        motion = dataclasses.replace(motion, remarks=(*motion.remarks, *said))
    wanted = _acceleration_noise(motion) > NEEDED * np.sqrt(np.mean(motion.ddq**2, axis=0))
    wanted |= bool(motion.judge)  # the errors of the angles are not white, and their covariance is a guess
    wanted &= np.array([process.noise > EXACT for process in motion.processes])
    if not wanted.any():
        return motion
    choice = _Choice(angles, prediction, motion)
    set_points = followed_set_points(recording, angles)
    if set_points is not None:
        choice.offer_set_points(set_points, wanted)
    if dq is not None:
        choice.offer_velocities(dq, set_points, wanted)
    return choice.best


def motion_with(processes: Sequence[JointProcess], angles: Signal, recording: Recording) -> MotionEstimate | None:
    """The motion with models of given order and bandwidth; None where the recording lacks what they are for."""
    dq = recorded_velocities(recording, angles)
    tracking = np.array([process.tracking for process in processes])
    set_points = followed_set_points(recording, angles) if tracking.any() else None
    if (tracking.any() and set_points is None) or (dq is None and any(one.velocity_noise for one in processes)):
        return None
    q = angles.values if set_points is None else angles.values - np.where(tracking, set_points.q, 0.0)
    return _smoothed(angles, adapted_processes(angles.time, q, processes), dq, set_points)


def recorded_velocities(recording: Recording, angles: Signal) -> FloatArray | None:
    """Measured velocities (T, n) at the rows of the angles [rad/s]; None where they are not recorded with them."""
    if not recording.has("dq"):
        return None
    signal = recording.signal("dq")
    rows = np.searchsorted(signal.time, angles.time)
    if signal.width != angles.width or rows[-1] >= signal.num_samples:
        return None
    return np.asarray(signal.values[rows]) if np.array_equal(signal.time[rows], angles.time) else None


def followed_set_points(recording: Recording, angles: Signal) -> MotionEstimate | None:
    """What the joints make of their set points, at the times of the angles; None where these are not known there.

    Set points that are held over rows, or rounded, are smoothed as angles are.
    """
    if not recording.has("target_q"):
        return None
    signal = recording.signal("target_q")
    time, fresh = angles.time, fresh_samples(signal)[0]
    if signal.width != angles.width or fresh.num_samples < LEAST_SAMPLES:
        return None
    period = float(np.median(np.diff(fresh.time)))
    if fresh.time[0] > time[0] + period or fresh.time[-1] < time[-1] - period:
        return None
    found = kalman_smooth(fresh.time, fresh.values)
    parts = [_followed(found, angles, joint) for joint in range(signal.width)]
    q, dq, ddq = (np.column_stack([part[0][level] for part in parts]) for level in range(3))
    at = time[:: _every(time)]
    own = found.covariance_at(at)
    covariance = np.stack([part[1] for part in parts], axis=1)
    return MotionEstimate(time, q, dq, ddq, covariance if own is None else covariance + own, at)


def _followed(set_points: MotionEstimate, angles: Signal, joint: int) -> tuple[FloatArray, FloatArray]:
    """(3, T) what a joint makes of its set points, at the times of the angles, and covariances (K, 3, 3) of some.

    A servo of whatever kind follows a motion slower than itself as c + r(t - lag) + bend ddr(t - lag), to second order,
    with constants that thousands of angles tell.
    """
    from scipy.interpolate import make_interp_spline

    time, measured = angles.time, angles.values[:, joint]
    start, end = float(set_points.time[0]), float(set_points.time[-1])
    position = make_interp_spline(set_points.time, set_points.q[:, joint], k=5)
    acceleration = make_interp_spline(set_points.time, set_points.ddq[:, joint], k=5)

    def at(lag: float) -> FloatArray:
        """(6, T) position and five derivatives."""
        inside = np.clip(time - lag, start, end)
        beyond = time - lag - inside  # a short way on with the acceleration of the end
        q, dq, ddq = position(inside), position(inside, 1), acceleration(inside)
        higher = [acceleration(inside, order) * (beyond == 0.0) for order in (1, 2, 3)]
        return np.array([q + beyond * dq + 0.5 * beyond**2 * ddq, dq + beyond * ddq, ddq, *higher])

    lag = bend = 0.0
    for _ in range(_ROUNDS):
        moved = at(lag)
        rows = np.column_stack([-moved[1], moved[2], np.ones(time.size)])
        found, covariance = fitted(rows, measured - moved[0])
        lag, bend = lag + float(found[0]), float(found[1])
        if abs(lag) > LONGEST_LAG:
            lag = bend = 0.0
            break
    moved = at(lag)
    some = moved[:, :: _every(time)]
    offset = np.zeros_like(some[:3])
    offset[0] = 1.0
    slopes = np.stack([-some[1:4], some[2:5], offset], axis=1)
    # What is of third order is not known: of the size that the first two let expect.
    third = bend * lag * some[3:]
    known = np.einsum("ikt,kl,jlt->tij", slopes, covariance, slopes, optimize=True)
    return moved[:3] + bend * moved[2:5], known + np.einsum("it,jt->tij", third, third)


def _smoothed(
    angles: Signal, processes: Sequence[JointProcess], dq: FloatArray | None, set_points: MotionEstimate | None
) -> MotionEstimate:
    """The motion with models that say what else is used: set points to track, velocities (T, n)."""
    tracking = np.array([process.tracking for process in processes])
    if set_points is None or not tracking.any():
        return kalman_smooth(angles.time, angles.values, processes, dq)
    known = [np.where(tracking, values, 0.0) for values in (set_points.q, set_points.dq, set_points.ddq)]
    error = kalman_smooth(angles.time, angles.values - known[0], processes, None if dq is None else dq - known[1])
    assert error.covariance is not None
    assert set_points.covariance is not None
    # An error of the set points is taken off in part again with the tracking error: the sum is no less than the truth.
    covariance = error.covariance + np.where(tracking[:, None, None], set_points.covariance, 0.0)
    return dataclasses.replace(
        error, q=error.q + known[0], dq=error.dq + known[1], ddq=error.ddq + known[2], covariance=covariance
    )


class _Choice:
    """The best motion so far, and what is tried in its place."""

    def __init__(self, angles: Signal, prediction: EffortPrediction | None, best: MotionEstimate) -> None:
        self._angles, self._prediction, self.best = angles, prediction, best

    def offer_set_points(self, set_points: MotionEstimate, wanted: NDArray[np.bool_]) -> None:
        """Try the set points for the joints that are wanted (n,)."""
        time, q = self._angles.time, self._angles.values
        error = q - set_points.q
        helps = wanted & (error.std(axis=0) < FOLLOWS * q.std(axis=0))
        if not helps.any():
            return
        processes = widest_as_good(time, error, choose_processes(time, error), GAIN / 2.0)
        if self.best.judge and self._prediction is not None:
            # Errors of the angles that are not white deceive cross-validation: then prediction alone decides.
            processes = choose_by_prediction(time, error, self._prediction, processes, set_points)
        else:
            before, after = (
                cross_validation_scores(time, values, models)
                for values, models in ((q, self.best.processes), (error, processes))
            )
            helps &= (before - after) * time.size > GAIN
        if helps.any():
            tracking = [dataclasses.replace(process, tracking=True) for process in processes]
            self._take(_smoothed(self._angles, tracking, None, set_points), helps)

    def offer_velocities(self, dq: FloatArray, set_points: MotionEstimate | None, wanted: NDArray[np.bool_]) -> None:
        """Try velocities (T, n) for the joints that are wanted (n,)."""
        time, q = self._angles.time, self._angles.values
        timely, noise = usable_velocities(time, q, dq, self.best)
        noise[~wanted] = 0.0
        if not noise.any():
            return
        processes = [
            dataclasses.replace(process, velocity_noise=float(own) / process.noise)
            for process, own in zip(self.best.processes, noise, strict=True)
        ]
        error, slower = q, timely
        if set_points is not None:
            tracking = [process.tracking for process in processes]
            error, slower = q - np.where(tracking, set_points.q, 0.0), timely - np.where(tracking, set_points.dq, 0.0)
        chosen = processes_with_velocities(time, error, slower, processes)
        both = _smoothed(self._angles, chosen, timely, set_points)
        of_angles = np.mean((q - both.q) ** 2, axis=0) / np.mean((q - self.best.q) ** 2, axis=0)
        of_velocities = np.mean((timely - both.dq) ** 2, axis=0) / np.where(noise > 0.0, noise, 1.0) ** 2
        self._take(both, (noise > 0.0) & (np.maximum(of_angles, of_velocities) < CONSISTENT**2))

    def _take(self, other: MotionEstimate, joints: NDArray[np.bool_]) -> None:
        """Take joints of another motion over where their accelerations are known better and nothing is worse."""
        better = (_acceleration_noise(other) < _acceleration_noise(self.best)) | bool(self.best.judge)
        score = self._score(self.best)
        for joint in np.flatnonzero(joints & better).tolist():
            mixed = _exchanged(self.best, other, joint)
            found = self._score(mixed)
            if found <= score:
                self.best, score = mixed, found

    def _score(self, motion: MotionEstimate) -> float:
        return 0.0 if self._prediction is None else prediction_score(self._prediction, motion)


def _acceleration_noise(motion: MotionEstimate) -> FloatArray:
    """(n,) standard deviation of the accelerations, that of the usual sample [rad/s^2]."""
    assert motion.covariance is not None
    variance = np.median(motion.covariance[..., 2, 2].reshape(-1, motion.num_joints), axis=0)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _exchanged(motion: MotionEstimate, other: MotionEstimate, joint: int) -> MotionEstimate:
    """A motion with one joint of another."""

    def mixed(name: str) -> FloatArray:
        values = np.array(getattr(motion, name))
        values[:, joint] = getattr(other, name)[:, joint]
        return values

    return dataclasses.replace(
        motion,
        q=mixed("q"),
        dq=mixed("dq"),
        ddq=mixed("ddq"),
        covariance=mixed("covariance"),
        processes=(*motion.processes[:joint], other.processes[joint], *motion.processes[joint + 1 :]),
    )


def _every(time: FloatArray) -> int:
    return -(-time.size // MOST_COVARIANCES)
