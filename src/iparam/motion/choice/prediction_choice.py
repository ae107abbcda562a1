"""Chooses the motion models of the joints by how well the motion predicts what else was recorded.

The search starts from the models that the angles alone ask for (`process_choice`). Where these are right, as with white
noise, no other bandwidth predicts clearly better, and they stay. Otherwise one bandwidth for all joints is looked for
over all that an arm can have, and then one for each joint; none takes clear motion for errors where friction, fitted
along with the torques, could stand in for it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, remembered
from iparam.motion.choice.effort_prediction import EffortPrediction, TorquePrediction, prediction_errors
from iparam.motion.choice.process_choice import LEAST_NOISE, adapted_processes
from iparam.motion.choice.spectral_smoothing import SpectralSmoothing
from iparam.motion.joint_process import JointProcess, smooth_joint
from iparam.motion.motion import MotionEstimate

MOST_ROWS = 3000
"""Samples of the effort that motions are compared on."""

LEAST_ROWS = 50
"""Below which nothing is compared."""

SEARCH_RATE = 500.0
"""Samples a second that the angles are not thinned out below for a comparison [Hz]."""

CLEAR = 0.01
"""Share by which the prediction must improve for another bandwidth than the angles alone ask for."""

HINT = 0.004
"""The same, by spectra, from which on it is looked at closely."""

LOWEST = 0.3
"""The lowest bandwidth that is tried [Hz]: an excitation motion has its energy above it."""

WIDEST = 0.45
"""The highest, as a share of the sampling rate."""

MOST_TAKEN = 20.0
"""What a bandwidth may take from the angles, in the errors that they show by themselves. Errors that last, of rounding,
jitter or a filter, are several times those; more is motion, however well the rest of it predicts this one run."""

QUICK_STEP = 4
"""Every how many of the samples are compared on by spectra."""

ORDERS = (3, 4, 6)
STEP = 1.6
FINE_STEP = 1.25
SWEEPS = 2


def widest_bandwidth(time: FloatArray) -> float:
    """The highest bandwidth that is tried for angles at times (T,) [Hz]."""
    return WIDEST / (float(np.median(np.diff(time))) * _step(time))


def _step(time: FloatArray) -> int:
    """Every how many samples are compared on."""
    return max(1, int(1.0 / float(np.median(np.diff(time))) / SEARCH_RATE + 0.01))


def prediction_score(prediction: EffortPrediction, motion: MotionEstimate) -> float:
    """Mean logarithm of the errors with which a motion predicts what else was recorded; 0 where there is too little."""
    rows = _compared_rows(prediction.time, motion.time)
    if rows.size < LEAST_ROWS:
        return 0.0
    at = prediction.time[rows]
    q, dq, ddq = (
        np.column_stack([np.interp(at, motion.time, column) for column in values.T])
        for values in (motion.q, motion.dq, motion.ddq)
    )
    return float(np.mean(np.log(prediction_errors(prediction.channels(q, dq, ddq, rows)))))


def _compared_rows(stamps: FloatArray, time: FloatArray) -> NDArray[np.int64]:
    """Those of the effort's samples within a motion that are compared on."""
    inside = np.flatnonzero((stamps >= time[0]) & (stamps <= time[-1]))
    return np.asarray(inside[:: max(1, inside.size // MOST_ROWS)])


@remembered
def choose_by_prediction(
    time: FloatArray,
    q: FloatArray,
    prediction: EffortPrediction,
    processes: Sequence[JointProcess],
    set_points: MotionEstimate | None = None,
) -> tuple[JointProcess, ...]:
    """The models for smoothing angles q (T, n) at times (T,), one a joint.

    Args:
        time: (T,) [s].
        q: (T, n) [rad].
        prediction: what judges.
        processes: what the angles alone ask for.
        set_points: at ``time``, where q are not angles but the errors of tracking them.
    """
    start = tuple(processes)
    comparison = _Comparison(time, q, prediction, set_points)
    if comparison.rows.size < LEAST_ROWS:
        return start
    others = [comparison.scaled(start, share) for share in (0.5, 0.15, 2.0)]
    if isinstance(prediction, TorquePrediction):  # which show joint by joint what rounding did to a bandwidth
        common = float(np.exp(np.mean(np.log([one.bandwidth for one in start]))))
        others.append(tuple(dataclasses.replace(one, order=4, bandwidth=common, shares=()) for one in start))
    if comparison.stays_best(start, others):
        return start
    at_first = comparison.score(start)
    if min(comparison.score(other) for other in others) > at_first - CLEAR:
        return start
    best = comparison.search(start)
    return adapted_processes(time, q, best) if comparison.score(best) < at_first - CLEAR else start


class _Comparison:
    """Scores of motion models; the smoothed joints are kept, since candidates share most of them."""

    def __init__(
        self, time: FloatArray, q: FloatArray, prediction: EffortPrediction, set_points: MotionEstimate | None
    ) -> None:
        step = _step(time)
        self._time = np.ascontiguousarray(time[::step])
        self._q = np.ascontiguousarray(q[::step].T)
        self._prediction = prediction
        stamps = prediction.time
        self.rows = _compared_rows(stamps, self._time)
        self._at = stamps[self.rows]
        self._added = None if set_points is None else [set_points.q, set_points.dq, set_points.ddq]
        self._stamps = time
        self._known: dict[tuple[int, JointProcess], FloatArray] = {}
        self._scores: dict[tuple[JointProcess, ...], float] = {}
        self._highest = widest_bandwidth(time)
        self._lowest = [LOWEST] * len(self._q)

    def stays_best(self, start: tuple[JointProcess, ...], others: Sequence[tuple[JointProcess, ...]]) -> bool:
        """Whether even samples are smoothed so densely that their spectra show that none of the others does better."""
        smoothing = SpectralSmoothing(self._time, self._q)
        if self._added is not None or not smoothing.fits(start):
            return False
        away = 1.0 / min(one.bandwidth for one in start)
        far = np.flatnonzero((self._at > smoothing.time[0] + away) & (self._at < smoothing.time[-1] - away))
        kept = far[::QUICK_STEP]
        if kept.size < LEAST_ROWS:
            return False

        def score(processes: tuple[JointProcess, ...]) -> float:
            q, dq, ddq = smoothing.motion(processes, self._at[kept])
            channels = self._prediction.channels(q, dq, ddq, self.rows[kept])
            return float(np.mean(np.log(prediction_errors(channels))))

        return min(map(score, others)) > score(start) - HINT

    def score(self, processes: tuple[JointProcess, ...]) -> float:
        """Mean logarithm of the errors of prediction."""
        if processes not in self._scores:
            parts = np.stack([self._smoothed(joint, process) for joint, process in enumerate(processes)], axis=2)
            channels = self._prediction.channels(parts[0], parts[1], parts[2], self.rows)
            self._scores[processes] = float(np.mean(np.log(prediction_errors(channels))))
        return self._scores[processes]

    def scaled(self, processes: Sequence[JointProcess], share: float) -> tuple[JointProcess, ...]:
        """The models with another bandwidth, in proportion."""
        return tuple(
            dataclasses.replace(one, bandwidth=min(max(share * one.bandwidth, LOWEST), self._highest))
            for one in processes
        )

    def search(self, start: tuple[JointProcess, ...]) -> tuple[JointProcess, ...]:
        plain = [dataclasses.replace(one, order=4, shares=()) for one in start]
        if isinstance(self._prediction, TorquePrediction):  # a wrench has no term that could stand in for lost motion
            self._lowest = [self._least_bandwidth(joint, process) for joint, process in enumerate(start)]
        count = max(2, math.ceil(math.log(self._highest / LOWEST) / math.log(STEP)) + 1)
        grid = np.geomspace(LOWEST, self._highest, count)
        best = min((self._all(plain, float(value)) for value in grid), key=self.score)
        for order in ORDERS:
            best = min(best, tuple(dataclasses.replace(one, order=order) for one in best), key=self.score)
        step = STEP
        for _ in range(SWEEPS):
            for joint in range(len(best)):
                best = self._along(best, joint, step)
            step = FINE_STEP
        return best

    def _all(self, processes: Sequence[JointProcess], bandwidth: float) -> tuple[JointProcess, ...]:
        return tuple(
            dataclasses.replace(one, bandwidth=max(bandwidth, lowest))
            for one, lowest in zip(processes, self._lowest, strict=True)
        )

    def _least_bandwidth(self, joint: int, process: JointProcess) -> float:
        """The lowest bandwidth of a joint that leaves its motion as it is [Hz]."""
        measured = np.interp(self._at, self._time, self._q[joint])

        def taken(candidate: JointProcess) -> float:
            angle = smooth_joint(self._time, self._q[joint], candidate, depth=1, exact=False).means[:, 0]
            return float(np.sqrt(np.mean((np.interp(self._at, self._time, angle) - measured) ** 2)))

        most, lowest = MOST_TAKEN * max(taken(process), LEAST_NOISE), process.bandwidth
        while lowest > LOWEST:
            lower = max(lowest / FINE_STEP, LOWEST)
            if taken(dataclasses.replace(process, order=4, bandwidth=lower, shares=())) > most:
                break
            lowest = lower
        return lowest

    def _along(self, processes: tuple[JointProcess, ...], joint: int, step: float) -> tuple[JointProcess, ...]:
        """Downhill in the bandwidth of one joint."""
        best = processes
        for factor in (step, 1.0 / step):
            while True:
                own = best[joint]
                bandwidth = min(max(own.bandwidth * factor, self._lowest[joint]), self._highest)
                if bandwidth == own.bandwidth:
                    break
                other = (*best[:joint], dataclasses.replace(own, bandwidth=bandwidth), *best[joint + 1 :])
                if self.score(other) >= self.score(best):
                    break
                best = other
            if best is not processes:
                break
        return best

    def _smoothed(self, joint: int, process: JointProcess) -> FloatArray:
        """(3, N) q, dq and ddq of a joint at the times of the rows."""
        key = (joint, process)
        if key not in self._known:
            means = smooth_joint(self._time, self._q[joint], process, exact=False).means
            found = np.array([np.interp(self._at, self._time, column) for column in means.T])
            if self._added is not None:
                found += [np.interp(self._at, self._stamps, values[:, joint]) for values in self._added]
            self._known[key] = found
        return self._known[key]
