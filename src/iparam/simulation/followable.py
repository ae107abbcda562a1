"""Whether an arm can follow a trajectory at all, and what a recording of it should say."""

from __future__ import annotations

import numpy as np

from iparam.errors import InputError
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

SAMPLES = 2000
REST = 1e-6
"""Speed below which a joint counts as at rest [rad/s]."""


def check_followable(robot: Robot, trajectory: Trajectory) -> None:
    """Refuse a trajectory for another number of joints or beyond the range of a joint."""
    if trajectory.num_joints != robot.num_joints:
        raise InputError(
            f"the trajectory moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}: planned for "
            "another arm?"
        )
    q, limits = _sampled(trajectory).q, robot.limits
    check_angles(q[0], robot, "the trajectory")
    beyond = (q < limits.lower) | (q > limits.upper)
    if beyond.any():
        joint = int(np.argmax(beyond.any(axis=0)))
        raise InputError(
            f"the trajectory takes {robot.joint_names[joint]} to {q[:, joint].min():.4g}..{q[:, joint].max():.4g}, its "
            f"range is {limits.lower[joint]:.4g}..{limits.upper[joint]:.4g}"
        )


def trajectory_warnings(robot: Robot, trajectory: Trajectory) -> list[str]:
    """What a recording should say about the trajectory: a start in motion, or speeds beyond the arm's."""
    motion, warnings = _sampled(trajectory), []
    if (np.abs(motion.dq[0]) > REST).any():
        fastest = float(np.abs(motion.dq[0]).max())
        warnings.append(f"the trajectory starts at {fastest:.3g} rad/s, the arm at rest: it has to catch up")
    peaks = np.abs(motion.dq).max(axis=0)
    for joint in np.flatnonzero(peaks > robot.limits.velocity):
        name, limit = robot.joint_names[joint], robot.limits.velocity[joint]
        warnings.append(f"the trajectory moves {name} at {peaks[joint]:.4g} rad/s, above its limit of {limit:.4g}")
    return warnings


def _sampled(trajectory: Trajectory) -> TrajectorySamples:
    return trajectory.evaluate(np.linspace(0.0, trajectory.duration, SAMPLES))
