"""Whether an arm can move, and follow a trajectory, at all: asked before it is simulated."""

from __future__ import annotations

import numpy as np

from iparam.errors import InputError
from iparam.robot.dynamics import mass_matrix
from iparam.robot.model import Robot
from iparam.robot.scale import check_angles
from iparam.trajectory.trajectory import JointMotion, Trajectory

SAMPLES = 2000
SMALLEST_INERTIA = 1e-12
"""Share of the arm's largest inertia below which a joint counts as moving none."""

REST = 1e-6
"""Speed below which a joint counts as at rest [rad/s]."""


def check_movable(robot: Robot) -> None:
    """Refuse an arm, given with what it carries, that has a joint without inertia."""
    moments = np.linalg.eigvalsh(mass_matrix(robot, np.zeros(robot.num_joints)))
    if moments[0] <= SMALLEST_INERTIA * moments[-1]:
        raise InputError(
            f"{robot.name} has a joint that moves no inertia (smallest eigenvalue of the mass matrix "
            f"{moments[0]:.2g}), so its acceleration is not defined: give its links mass, or the robot an armature"
        )


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


def _sampled(trajectory: Trajectory) -> JointMotion:
    return trajectory.evaluate(np.linspace(0.0, trajectory.duration, SAMPLES))
