"""`MujocoRun`: the loop that steps the physics, with the controller `ComputedTorque` in it, and writes down what
happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.dynamics import inverse_dynamics, mass_matrix
from iparam.robot.model import Robot
from iparam.simulation.motors import JointFriction
from iparam.simulation.mujoco.model import SENSORS, TOOL_SITE
from iparam.simulation.simulator import SimulationError
from iparam.trajectory.checks import positive_number
from iparam.trajectory.trajectory import TrajectorySamples

HIGHEST_GAIN = 0.4
"""Upper bound of omega h, the bandwidth times the time step; beyond it the sampled loop would ring [rad]."""


@dataclass(frozen=True)
class ComputedTorque:
    """Torques of the arm's model along the set points, plus feedback of the tracking error.

    tau = ID(q_d, dq_d, ddq_d) + M(q_d) (omega^2 (q_d - q) + 2 zeta omega (dq_d - dq))

    ID, the feed-forward, is that of the arm alone unless ``payload_known``: as on a real arm whose payload has not been
    set, the payload then pulls the arm off its set points by a small, real tracking error. M, the weight of the
    feedback, is that of the loaded arm: the drives are tuned so that every joint answers alike, whatever it carries.

    Attributes:
        bandwidth: omega / (2 pi) [Hz]; lowered to HIGHEST_GAIN where the physics is too slow for it.
        damping_ratio: zeta.
        payload_known: whether the feed-forward knows the payload.
    """

    bandwidth: float = 50.0
    damping_ratio: float = 1.0
    payload_known: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", positive_number(self.bandwidth, "bandwidth", "Hz"))
        object.__setattr__(self, "damping_ratio", positive_number(self.damping_ratio, "damping_ratio"))

    def gains(self, timestep: float) -> tuple[float, float]:
        """omega^2 [1/s^2] and 2 zeta omega [1/s] for a time step [s]."""
        omega = min(2.0 * np.pi * self.bandwidth, HIGHEST_GAIN / (timestep * max(self.damping_ratio, 1.0)))
        return omega**2, 2.0 * self.damping_ratio * omega

    def plan(
        self,
        arm: Robot,
        loaded: Robot,
        goal: TrajectorySamples,
        gravity: tuple[float, float, float],
    ) -> tuple[FloatArray, FloatArray]:
        """Feed-forward torques (T, n) [N m] and feedback weights M (T, n, n) [kg m^2] along the set points.

        Args:
            arm: the arm alone.
            loaded: the arm with what it carries.
            goal: the set points (T, n).
            gravity: (3,) in base axes [m/s^2].
        """
        model = loaded if self.payload_known else arm
        return inverse_dynamics(model, goal.q, goal.dq, goal.ddq, gravity), mass_matrix(loaded, goal.q)


LOST = 0.5
"""Distance from the set points, over all joints, at which an arm has lost its trajectory [rad]."""

WEIGHTLESS = 1e-5
"""Least eigenvalue of the joints' mass matrix, as a share of the largest, below which an arm has next to no inertia."""


class MujocoRun:
    """One run of one scene: its state and its log.

    ``mj_step`` computes forces, accelerations and sensors of the state that it finds and then moves on. So q and dq are
    read before it, and what belongs to the same instant after it.

    Attributes:
        q, dq, ddq, tau: (T, n) logged joint positions, velocities, accelerations and motor torques.
        sensors: (T, 12) force, torque, accelerometer and gyro in tool axes.
        tool_poses: (T, 4, 4) pose of the tool frame in the base [m].
        saturated: (n,) number of steps in which each motor was asked for more than its limit.
        steps: number of steps along the trajectory.
        tracking_error: (n,) largest distance of each joint from its set point.
    """

    def __init__(
        self,
        model: Any,
        robot: Robot,
        gains: tuple[float, float],
        num_logged: int,
        friction: JointFriction | None = None,
    ) -> None:
        self._mujoco = require_mujoco()
        self._model, self._robot, self._gains, self._friction = model, robot, gains, friction
        self._data = self._mujoco.MjData(model)
        self._site = model.site(TOOL_SITE).id
        count = robot.num_joints
        self.q, self.dq, self.ddq, self.tau = (np.empty((num_logged, count)) for _ in range(4))
        self.sensors = np.empty((num_logged, 3 * len(SENSORS)))
        self.tool_poses = np.tile(np.eye(4), (num_logged, 1, 1))
        self.saturated = np.zeros(count, dtype=np.int64)
        self.tracking_error = np.zeros(count)
        self.steps = 0
        self._row = 0

    def place(self, q: FloatArray) -> None:
        """Put the arm at rest into a pose (n,)."""
        self._data.qpos = q

    def follow(
        self, goal: TrajectorySamples, forward: FloatArray, weight: FloatArray, wanted: NDArray[np.bool_] | None
    ) -> FloatArray:
        """Follow set points, one a step; the positions (T, n) that the joints had before each.

        Args:
            goal: the set points (T, n) and their times.
            forward: (T, n) feed-forward torques.
            weight: (T, n, n) that turns the feedback's accelerations into torques.
            wanted: (T,) the steps to log; None before the trajectory begins, when nothing counts.
        """
        logging = [False] * len(forward) if wanted is None else wanted.tolist()
        asked, errors = self._drive(goal, forward, weight, logging)
        if wanted is not None:
            self.saturated += (np.abs(asked) > self._robot.limits.torque).sum(axis=0)
            self.tracking_error = np.maximum(self.tracking_error, np.abs(errors).max(axis=0))
            self.steps += len(asked)
        return goal.q - errors

    def _drive(
        self, goal: TrajectorySamples, forward: FloatArray, weight: FloatArray, logging: list[bool]
    ) -> tuple[FloatArray, FloatArray]:
        model, data, step = self._model, self._data, self._mujoco.mj_step
        q, dq, control = data.qpos, data.qvel, data.ctrl
        stiffness, damping = self._gains
        friction, applied = self._friction, data.qfrc_applied
        goal_q, goal_dq = goal.q, goal.dq
        asked, errors = np.empty_like(forward), np.empty_like(forward)
        for k in range(len(forward)):
            error = errors[k]
            np.subtract(goal_q[k], q, out=error)
            torque = asked[k]
            np.dot(weight[k], stiffness * error + damping * (goal_dq[k] - dq), out=torque)
            torque += forward[k]
            control[:] = torque
            if friction is not None:
                applied[:] = -friction.torque(dq)
            if logging[k]:
                self.q[self._row], self.dq[self._row] = q, dq
            step(model, data)
            if not error.dot(error) < LOST**2:  # true for NaN as well
                self._report_loss(float(goal.time[k]), error, weight[: k + 1])
            if logging[k]:
                self._log()
        return asked, errors

    def _log(self) -> None:
        data, row = self._data, self._row
        self.ddq[row], self.tau[row], self.sensors[row] = data.qacc, data.actuator_force, data.sensordata
        self.tool_poses[row, :3, :3] = data.site_xmat[self._site].reshape(3, 3)
        self.tool_poses[row, :3, 3] = data.site_xpos[self._site]
        self._row += 1

    def _report_loss(self, time: float, error: FloatArray, weight: FloatArray) -> None:
        """Say which joint got lost at a time, and why, as far as the mass matrices (K, n, n) on the way there tell."""
        joint, names = int(np.argmax(np.abs(error))), self._robot.joint_names
        lost = f"the arm lost its trajectory at {time:.3f} s: {names[joint]} is {abs(error[joint]):.2g} rad off its set"
        values, vectors = np.linalg.eigh(weight)
        least = int(np.argmin(values[:, 0] / values[:, -1]))
        if values[least, 0] < WEIGHTLESS * values[least, -1]:
            turning = [names[i] for i in np.argsort(-np.abs(vectors[least, :, 0]))[:2]]
            raise SimulationError(
                f"{lost} point. It passed a pose in which {' and '.join(turning)} can turn against each other with an "
                f"inertia of {values[least, 0]:.1g} kg m^2, since links between them have no mass: nothing can drive "
                "that. The robot file needs masses for them, or the joints rotor inertia (armature in MJCF); or plan "
                "from another pose (--q0) and with less room to move (--max-displacement)"
            )
        limit = self._robot.limits.torque[joint]
        raise SimulationError(
            f"{lost} point, with a torque limit of {limit:g} N m; slow the trajectory down or lighten the payload"
        )
