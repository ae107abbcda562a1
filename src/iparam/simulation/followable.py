"""Whether an arm can follow a trajectory at all, and what a recording of it should say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.errors import InputError
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles
from iparam.trajectory.checks import MAX_SAMPLES, VALIDATION_RATE, validation_times
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

BLOCK = 20_000
"""Samples that are looked at together."""

ROUNDING = 1e-9
"""By which a joint may be beyond its range: the same motion, evaluated in other blocks, differs in its last digits."""

REST = 1e-6
"""Speed below which a joint counts as at rest [rad/s]."""


def check_followable(robot: Robot, trajectory: Trajectory) -> None:
    """Refuse a trajectory for another number of joints or beyond the range of a joint."""
    if trajectory.num_joints != robot.num_joints:
        raise InputError(
            f"the trajectory moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}: planned for "
            "another arm?"
        )
    limits = robot.limits
    check_angles(trajectory.evaluate(np.zeros(1)).q[0], robot, "the trajectory")
    ends = np.array([(part.q.min(axis=0), part.q.max(axis=0)) for part in _samples(trajectory)])
    lowest, highest = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    beyond = (lowest < limits.lower - ROUNDING) | (highest > limits.upper + ROUNDING)
    if beyond.any():
        joint = int(np.argmax(beyond))
        raise InputError(
            f"the trajectory takes {robot.joint_names[joint]} to {lowest[joint]:.4g}..{highest[joint]:.4g}, its "
            f"range is {limits.lower[joint]:.4g}..{limits.upper[joint]:.4g}"
        )


def trajectory_remarks(robot: Robot, trajectory: Trajectory) -> list[Remark]:
    """What a recording should say about the trajectory: a start in motion, or speeds beyond the arm's."""
    start, remarks = np.abs(trajectory.evaluate(np.zeros(1)).dq[0]), []
    if (start > REST).any():
        fastest = float(start.max())
        remarks.append(remark("starts-in-motion", speed=fastest))
    peaks = np.max([np.abs(part.dq).max(axis=0) for part in _samples(trajectory)], axis=0)
    for joint in np.flatnonzero(peaks > robot.limits.velocity):
        name, limit = robot.joint_names[joint], robot.limits.velocity[joint]
        remarks.append(remark("speed-above-limit", joint=name, speed=peaks[joint], limit=limit))
    return remarks


def _samples(trajectory: Trajectory) -> Iterator[TrajectorySamples]:
    """The motion where `iparam excite check` looks at it, in parts: a limit that it keeps there it keeps here."""
    rate = min(VALIDATION_RATE, (MAX_SAMPLES - 2) / trajectory.duration)  # of hours, what memory holds
    times = validation_times(trajectory.duration, rate)
    for part in np.array_split(times, -(-times.size // BLOCK)):
        yield trajectory.evaluate(part)
