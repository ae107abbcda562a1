"""`RunLog`: what is written down while a simulated arm moves, and `Physics`, the loop that does so, of any engine."""

from __future__ import annotations

from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.robot.model import Robot
from iparam.simulation.simulator import SimulationError
from iparam.trajectory.trajectory import TrajectorySamples

LOST = 0.5
"""Distance from the set points, over all joints, at which an arm has lost its trajectory [rad]."""

WEIGHTLESS = 1e-5
"""Least eigenvalue of the joints' mass matrix, as a share of the largest, below which an arm has next to no inertia."""


class RunLog:
    """One run of one arm.

    With semi-implicit Euler the velocity that a step finds is that of half a step before its positions: it has moved
    them there from the positions before. The log has the mean of the velocities before and after each step, which is
    that of the positions to the second order, and sensors that read it; else a load seems to lag behind its motion.
    The motors' torques are those that drove the step.

    Attributes:
        robot: the arm.
        name: of it in messages.
        q, dq, ddq, tau: (T, n) logged joint positions, velocities, accelerations and motor torques.
        sensors: (T, 12) force, torque, accelerometer and gyro in tool axes.
        tool_poses: (T, 4, 4) pose of the tool frame in the base [m].
        saturated: (n,) number of steps in which each motor was asked for more than its limit.
        steps: number of steps along the trajectory.
        tracking_error: (n,) largest distance of each joint from its set point.
    """

    def __init__(self, robot: Robot, num_logged: int, name: str = "the arm") -> None:
        self.robot, self.name, count = robot, name, robot.num_joints
        self.q, self.dq, self.ddq, self.tau = (np.empty((num_logged, count)) for _ in range(4))
        self.sensors = np.empty((num_logged, 12))
        self.tool_poses = np.tile(np.eye(4), (num_logged, 1, 1))
        self.saturated = np.zeros(count, dtype=np.int64)
        self.tracking_error = np.zeros(count)
        self.steps = 0

    def count(self, asked: FloatArray, errors: FloatArray) -> None:
        """Take in the torques (T, n) that were asked for and the distances (T, n) from the set points of T steps."""
        self.saturated += (np.abs(asked) > self.robot.limits.torque).sum(axis=0)
        self.tracking_error = np.maximum(self.tracking_error, np.abs(errors).max(axis=0))
        self.steps += len(asked)

    def report_loss(self, time: float, error: FloatArray, weight: FloatArray) -> NoReturn:
        """Say which joint got lost at a time, and why, as far as the mass matrices (K, n, n) on the way there tell."""
        joint, names = int(np.argmax(np.abs(error))), self.robot.joint_names
        off = f"{names[joint]} is {abs(error[joint]):.2g} rad off its set"
        lost = f"{self.name} lost its trajectory at {time:.3f} s: {off}"
        values, vectors = np.linalg.eigh(weight)
        least = int(np.argmin(values[:, 0] / values[:, -1]))
        if values[least, 0] < WEIGHTLESS * values[least, -1]:
            turning = [names[i] for i in np.argsort(-np.abs(vectors[least, :, 0]))[:2]]
            raise SimulationError(
                f"{lost} point. It passed a pose in which {' and '.join(turning)} can turn against each other with an "
                f"inertia of {values[least, 0]:.1g} kg m^2, since links between them have no mass: nothing can drive "
                "that. The robot file needs masses for them, or the joints rotor inertia (armature in MJCF); or plan "
                "from another pose and with less room to move"
            )
        limit = self.robot.limits.torque[joint]
        raise SimulationError(
            f"{lost} point, with a torque limit of {limit:g} N m; slow the trajectory down or lighten the payload"
        )


class Physics(Protocol):
    """The state of W arms, each in a world of its own, that follow one trajectory."""

    logs: list[RunLog]

    def place(self, q: FloatArray) -> None:
        """Put all arms at rest into a pose (n,)."""

    def follow(
        self, goal: TrajectorySamples, forward: FloatArray, weight: FloatArray, wanted: NDArray[np.bool_] | None
    ) -> FloatArray:
        """Follow set points, one a step; the positions (W, T, n) that the joints had before each.

        Args:
            goal: the set points (T, n) and their times.
            forward: (W, T, n) feed-forward torques.
            weight: (W, T, n, n) that turns the feedback's accelerations into torques.
            wanted: (T,) the steps to log; None before the trajectory begins, when nothing counts.

        Raises:
            SimulationError: an arm lost its trajectory.
        """
