"""`JointData`: from a recording to filtered joint motion with the effort of each joint, a segment at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.estimation.errors import IdentificationError
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.choice.process_choice import LEAST_SAMPLES
from iparam.motion.sources import KalmanMotion, MotionSource
from iparam.recording.followers import joint_count, with_followers
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.run_check import CheckedRun, check_run

SEGMENT = 20_000
"""Samples that are handed out at once."""

EFFORTS = ("tau", "current")

LAGS = 3
"""Changes of the errors of the angles that a controller's torque may follow."""


@dataclass(frozen=True, eq=False)
class JointData:
    """Successive samples of a run.

    Attributes:
        time: (T,) [s].
        q, dq, ddq: (T, n) filtered motion [rad, rad/s, rad/s^2].
        effort: (T, n) what each drive did, as recorded: torque [N m] or current [A].
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    effort: FloatArray

    def part(self, start: int, stop: int) -> JointData:
        """Samples start to stop."""
        values = {spec.name: getattr(self, spec.name)[start:stop] for spec in dataclasses.fields(self)}
        return JointData(**values)


class JointDataSource:
    """The segments of a recording, as often as one asks for them.

    Args:
        recording: with q, and tau or current.
        robot: the arm.
        effort: which of the two; the torque if it is there and None is given.
        motion: where the motion comes from; None for the Kalman smoother whose models predict the effort best.
        gains: (n,) that turn the effort into torques, where they are known.
        left_out: joints, from 0, whose effort has no say in the motion.

    Attributes:
        effort: the signal.
        motion: how the arm moved.
    """

    def __init__(
        self,
        recording: Recording,
        robot: Robot,
        effort: str | None = None,
        motion: MotionSource | None = None,
        gains: FloatArray | None = None,
        left_out: Sequence[int] = (),
    ) -> None:
        self.effort = effort_of(recording) if effort is None else effort
        recording, restamped = evenly_stamped(with_followers(recording, robot))
        angles, drives = recording.signal("q"), recording.signal(self.effort)
        inside = (angles.time >= drives.time[0]) & (angles.time <= drives.time[-1])
        if angles.width != robot.num_joints or drives.width != robot.num_joints:
            shared = robot.couplings and drives.width == len(robot.free_joints)
            why = ". A drive that moves several joints tells too little of each: measure the wrench at the tool"
            raise IdentificationError(
                f"{joint_count(robot)}, the recording has q of {angles.width} and {self.effort} of {drives.width}"
                + (why if shared else "")
            )
        if np.count_nonzero(inside) < 10 * LEAST_SAMPLES:
            raise IdentificationError(
                f"only {np.count_nonzero(inside)} samples have both joint angles and {self.effort}; at least "
                f"{10 * LEAST_SAMPLES} are needed, and thousands for a usable estimate"
            )
        factors = () if gains is None else tuple(gains.tolist())
        chosen = KalmanMotion(predicts=self.effort, gains=factors, left_out=tuple(left_out))
        source = chosen if motion is None else motion
        moved = source.motion(recording, robot)
        self.motion = dataclasses.replace(moved, warnings=(*restamped, *moved.warnings)) if restamped else moved
        self._angles, self._drives = angles, drives
        times = self.motion.time
        known = np.flatnonzero((times >= drives.time[0]) & (times <= drives.time[-1]))
        self._rows = slice(int(known[0]), int(known[-1]) + 1)
        self._time = times[self._rows]

    @property
    def num_samples(self) -> int:
        """Samples in all segments."""
        return int(self._time.size)

    @property
    def rate(self) -> float:
        """Median sampling rate [Hz]."""
        return 1.0 / float(np.median(np.diff(self._time)))

    def segments(self) -> Iterator[JointData]:
        """All samples, in segments."""
        motion = self.motion
        for start in range(self._rows.start, self._rows.stop, SEGMENT):
            own = slice(start, min(start + SEGMENT, self._rows.stop))
            time = motion.time[own]
            yield JointData(time, motion.q[own], motion.dq[own], motion.ddq[own], self._effort_at(time))

    def error_rates(self, time: FloatArray) -> FloatArray:
        """(T, n, LAGS) how fast what smoothing took from the recorded angles changed last, the time before, and so on.

        Args:
            time: (T,) of a segment, or of a part of it.
        """
        first = self._rows.start + int(np.searchsorted(self._time, time[0]))
        own = slice(max(first - LAGS, 0), first + time.size)
        stamps = self.motion.time[own]
        errors = np.column_stack([np.interp(stamps, self._angles.time, column) for column in self._angles.values.T])
        rates = np.diff(errors - self.motion.q[own], axis=0) / np.diff(stamps)[:, None]
        rates = np.concatenate([np.zeros((LAGS + time.size - 1 - len(rates), rates.shape[1])), rates])
        lagged = [rates[LAGS - 1 - lag : len(rates) - lag] for lag in range(LAGS)]
        return np.stack(lagged, axis=2)

    def _effort_at(self, time: FloatArray) -> FloatArray:
        stamps, values = self._drives.time, self._drives.values
        first = int(np.searchsorted(stamps, time[0]))
        own = slice(first, first + time.size)
        if stamps[own].size == time.size and (stamps[own] == time).all():
            return values[own]
        return np.column_stack([np.interp(time, stamps, column) for column in values.T])


def check_runs(recordings: Sequence[Recording], robot: Robot, gravity: ArrayLike | None) -> CheckedRun:
    """Refuse runs that are of other arms, under different gravities, or one and the same run twice.

    Args:
        recordings: one or more.
        robot: the arm that is computed with.
        gravity: see `check_run`.
    """
    for (i, one), (j, other) in combinations(enumerate(recordings, 1), 2):
        name = effort_of(one)
        if other.has(name) and one.signal(name).fingerprint == other.signal(name).fingerprint:
            raise ContradictionError(f"runs {i} and {j} are the same recording: give different ones, each once")
    first = check_run(recordings[0], robot, gravity, uses_wrench=False)
    checked = [first, *(check_run(other, robot, first.gravity, uses_wrench=False) for other in recordings[1:])]
    return dataclasses.replace(first, remarks=tuple(dict.fromkeys(remark for one in checked for remark in one.remarks)))


def effort_of(recording: Recording) -> str:
    """The signal that tells what the drives did: the measured torque, else the current."""
    for name in EFFORTS:
        if recording.has(name):
            return name
    raise IdentificationError(
        f"the recording has neither joint torques (tau) nor motor currents (current); it has "
        f"{', '.join(recording.signals) or 'no signals'}"
    )
