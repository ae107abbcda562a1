"""`JointData`: from a recording to filtered joint motion with the effort of each joint, a segment at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError, IparamError
from iparam.estimation.errors import IdentificationError
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.choice.process_choice import LEAST_SAMPLES
from iparam.motion.sources import KalmanMotion, MotionSource
from iparam.recording.channels import EFFORTS
from iparam.recording.followers import joint_count, with_followers
from iparam.recording.recording import Recording
from iparam.recording.statements import unmeasured_joints
from iparam.recording.units import time_hint
from iparam.remarks import Remark, remark
from iparam.robot.dynamics import gravity_torques
from iparam.robot.model import Robot
from iparam.sensing.run_check import CheckedRun, check_run

SEGMENT = 20_000
"""Samples that are handed out at once."""

OPPOSITE = -0.5
"""Correlation of the torques of an arm with those that hold its weight below which they have the other sign."""

ALIKE, THOUSANDS = 0.7, (500.0, 2000.0)
"""Correlation from which on torques follow the arm's weight, and how many times that they are in N mm."""

USUAL_SCALES = (0.4, 2.5)
"""Times the torques that hold the arm's weight, by its masses, that may be measured: real arms show 0.96 to 1.21."""

LOOKED_AT = 500
"""Samples of a run that are held against the weight of the arm."""

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
        unmeasured: joints, from 0, that have no sensor of their effort.
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
        self.unmeasured = unmeasured_joints(recording, self.effort)
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
        if hint := time_hint(angles.time):
            raise ContradictionError(f"the joint angles have {hint}. No arm's motion can be followed like that")
        factors = () if gains is None else tuple(gains.tolist())
        chosen = KalmanMotion(predicts=self.effort, gains=factors, left_out=(*left_out, *self.unmeasured))
        source = chosen if motion is None else motion
        moved = source.motion(recording, robot)
        self.motion = dataclasses.replace(moved, remarks=(*restamped, *moved.remarks)) if restamped else moved
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
    remarks = [each for one in checked for each in one.remarks]
    remarks += [each for one in checked for each in _effort_remarks(one.recording, robot, first.gravity)]
    return dataclasses.replace(first, remarks=tuple(dict.fromkeys(remarks)))


def _effort_remarks(recording: Recording, robot: Robot, gravity: FloatArray) -> list[Remark]:
    """A remark on torques that push an arm down where its weight has to be held; refused if they are in N mm."""
    if not recording.has("tau"):
        return []
    likeness, scale = weight_likeness(recording, robot, gravity)
    if likeness > ALIKE and THOUSANDS[0] < scale < THOUSANDS[1]:
        raise ContradictionError(
            f"the torques are {scale:.4g} times those that hold the arm's own weight: are they in N mm? Then state the "
            "unit in the header, as in 'tau0 [Nmm]', or convert them to N m"
        )
    if likeness > ALIKE and not USUAL_SCALES[0] < scale < USUAL_SCALES[1]:
        return [remark("torques-scaled", scale=scale)]
    if likeness >= OPPOSITE:
        return []
    return [remark("torques-reversed")]


def weight_likeness(
    recording: Recording, robot: Robot, gravity: FloatArray, gains: FloatArray | None = None
) -> tuple[float, float]:
    """Correlation of an arm's torques with those that hold its own weight, by its maker's masses, and how many times
    these they are: near 1, near -1 where they are counted the other way round; zeros where no masses are known.

    Args:
        recording: of a run.
        robot: the arm.
        gravity: (3,) in base axes [m/s^2].
        gains: (n,) that turn the effort into torques; None for torques.
    """
    angles, drives = recording.signal("q"), recording.signal(effort_of(recording))
    if angles.width != robot.num_joints or drives.width != robot.num_joints:
        return 0.0, 0.0
    rows = np.unique(np.linspace(0, angles.num_samples - 1, LOOKED_AT).astype(np.int64))
    shown = np.column_stack([np.interp(angles.time[rows], drives.time, column) for column in drives.values.T])
    measured = np.setdiff1d(np.arange(robot.num_joints), unmeasured_joints(recording, effort_of(recording)))
    try:
        held = gravity_torques(robot, angles.values[rows], gravity)
    except IparamError:
        return 0.0, 0.0
    shown = (shown if gains is None else shown * gains)[:, measured]
    held = held[:, measured]
    both, own, other = (float(np.sum(product)) for product in (held * shown, held**2, shown**2))
    return (both / np.sqrt(own * other), both / own) if own > 0.0 and other > 0.0 else (0.0, 0.0)


def left_out_joints(joints: Sequence[int], num_joints: int) -> tuple[int, ...]:
    """Joints that are left out, each once and in order; not all of an arm's.

    Args:
        joints: from 0.
        num_joints: of the arm.
    """
    chosen = tuple(sorted({int(joint) for joint in joints}))
    if chosen and not 0 <= chosen[0] <= chosen[-1] < num_joints:
        named = ", ".join(str(joint + 1) for joint in chosen)
        raise InputError(f"there are joints 1 to {num_joints}: cannot leave out joints {named}")
    if len(chosen) == num_joints:
        raise InputError("all joints are left out: at least one must be used")
    return chosen


def joints_without_effort(
    recordings: Sequence[Recording], effort: str, leave_out: Sequence[int], robot: Robot
) -> tuple[int, ...]:
    """Joints, from 0, whose efforts have no say: those that are left out, and those that a run has no sensor of.

    Args:
        recordings: the runs.
        effort: the signal.
        leave_out: joints that somebody asks to leave out.
        robot: the arm.
    """
    asked = left_out_joints(leave_out, robot.num_joints)
    silent = [joint for recording in recordings for joint in unmeasured_joints(recording, effort)]
    every = tuple(sorted({*asked, *silent}))
    if len(every) == robot.num_joints:
        named = ", ".join(str(joint + 1) for joint in sorted(set(silent)))
        raise IdentificationError(
            f"no joint is left: {effort} is not recorded for joints {named}, and the others are left out"
        )
    return every


def effort_of(recording: Recording) -> str:
    """The signal that tells what the drives did: the measured torque, else the current."""
    for name in EFFORTS:
        if recording.has(name):
            return name
    told = [one.message for one in recording.remarks if one.values.get("signal") in EFFORTS]
    advice = "Where only some joints have a sensor, number their columns as those of the angles"
    raise IdentificationError(
        f"the recording has neither joint torques (tau) nor motor currents (current); it has "
        f"{', '.join(recording.signals) or 'no signals'}{'. ' + ' '.join([*told, advice]) if told else ''}"
    )
