"""`NewtonRun`: the loop that steps W worlds at once, with the controller in it, and writes down what happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.kinematics import tool_motion
from iparam.robot.model import Robot
from iparam.simulation.motors import JointFriction
from iparam.simulation.newton.backend import require_newton
from iparam.simulation.newton.model import bodies_of, state_exact_inertias
from iparam.simulation.payload import Payload
from iparam.simulation.run_log import LOST, RunLog
from iparam.spatial.transforms import rotation_from_quaternion
from iparam.trajectory.trajectory import TrajectorySamples

OBSERVABLES = ("body_parent_f", "body_qdd")
"""What a joint transmits to its child and the child's acceleration, in world axes at its centre of mass."""


class NewtonRun:
    """One run of W arms: their states and their logs; a `Physics`.

    A step computes forces and accelerations of the state that it finds and then moves on, with semi-implicit Euler. So
    positions and poses are read before it, and what belongs to the same instant after it: the solver's accelerations,
    and what its joints transmit. What the velocity of `RunLog` changes in the sensors is added by the arm's kinematics.
    """

    def __init__(
        self,
        model: Any,
        robots: Sequence[Robot],
        payloads: Sequence[Payload | None],
        *,
        timestep: float,
        gains: tuple[float, float],
        num_logged: int,
        gravity: tuple[float, float, float],
        friction: JointFriction | None = None,
    ) -> None:
        newton, _ = require_newton()
        self._newton, self._model, self._timestep, self._gains = newton, model, timestep, gains
        self._friction, self._gravity, self._payloads = friction, np.array(gravity), list(payloads)
        self._solver = newton.solvers.SolverMuJoCo(model, integrator="euler", disable_contacts=True)
        state_exact_inertias(self._solver, model, robots, payloads)
        self._observed = self._solver.observables(OBSERVABLES)
        self._states, self._control = (model.state(), model.state()), model.control()
        self._shape = len(robots), robots[0].num_joints
        self._bodies = bodies_of(robots[0], payloads[0])
        self._limits = np.stack([robot.limits.torque for robot in robots])
        names = [f"the arm with payload {i}" for i in range(len(robots))] if len(robots) > 1 else ["the arm"]
        self.logs = [RunLog(robot, num_logged, name) for robot, name in zip(robots, names, strict=True)]
        self._row = 0

    def place(self, q: FloatArray) -> None:
        """Put all arms at rest into a pose (n,)."""
        state = self._states[0]
        state.joint_q.numpy().reshape(self._shape)[:] = q
        state.joint_qd.numpy()[:] = 0.0
        self._newton.eval_fk(self._model, state.joint_q, state.joint_qd, state)

    def follow(
        self, goal: TrajectorySamples, forward: FloatArray, weight: FloatArray, wanted: NDArray[np.bool_] | None
    ) -> FloatArray:
        """Follow set points, one a step, see `Physics.follow`."""
        worlds, joints = self._shape
        steps = len(goal.q)
        asked, errors = np.empty((2, worlds, steps, joints))
        stiffness, damping = self._gains
        for k in range(steps):
            now, later = self._states
            q, dq = (array.numpy().reshape(self._shape).astype(np.float64) for array in (now.joint_q, now.joint_qd))
            error = errors[:, k] = goal.q[k] - q
            feedback = stiffness * error + damping * (goal.dq[k] - dq)
            asked[:, k] = forward[:, k] + np.einsum("wij,wj->wi", weight[:, k], feedback)
            applied = np.clip(asked[:, k], -self._limits, self._limits)
            pushed = applied if self._friction is None else applied - self._friction.torque(dq)
            self._control.joint_f.numpy().reshape(self._shape)[:] = pushed
            self._solver.step(now, later, self._control, None, self._timestep, observables=self._observed)
            lost = ~((error**2).sum(axis=1) < LOST**2)  # true for NaN as well
            if lost.any():
                world = int(np.argmax(lost))
                self.logs[world].report_loss(float(goal.time[k]), error[world], weight[world, : k + 1])
            if wanted is not None and wanted[k]:
                ddq = self._solver.mjw_data.qacc.numpy().reshape(self._shape).astype(np.float64)
                after = later.joint_qd.numpy().reshape(self._shape).astype(np.float64)
                self._write(q, dq, 0.5 * (dq + after), ddq, applied, now)
            self._states = later, now
        if wanted is not None:
            for world, log in enumerate(self.logs):
                log.count(asked[world], errors[world])
        return np.asarray(goal.q - errors)

    def _write(
        self, q: FloatArray, driven: FloatArray, dq: FloatArray, ddq: FloatArray, tau: FloatArray, state: Any
    ) -> None:
        """Log the instant of a state, from which the last step was taken with the velocities ``driven``."""
        row, joints = self._row, self._shape[1]
        per_world = (
            array.numpy().reshape(len(self.logs), self._bodies, -1).astype(np.float64)
            for array in (state.body_q, state.body_qd, self._observed.body_qdd, self._observed.body_parent_f)
        )
        for log, payload, pose, velocity, acceleration, transmitted, before, *joint in zip(
            self.logs, self._payloads, *per_world, driven, q, dq, ddq, tau, strict=True
        ):
            log.q[row], log.dq[row], log.ddq[row], log.tau[row] = joint
            link = joints - 1
            tool, arm = _tool_pose(log.robot, pose[link]), _lever(log.robot, pose[link])
            turn = tool[:3, :3].T
            spin = velocity[link, 3:]
            pulled = acceleration[link, :3] + np.cross(acceleration[link, 3:], arm)
            pulled += np.cross(spin, np.cross(spin, arm)) - self._gravity
            log.tool_poses[row] = tool
            log.sensors[row, 6:] = *(turn @ pulled), *(turn @ spin)
            log.sensors[row, :6] = 0.0
            if payload is not None:
                force, torque = turn @ transmitted[-1, :3], turn @ transmitted[-1, 3:]
                log.sensors[row, :3] = force
                log.sensors[row, 3:6] = torque + np.cross(payload.parameters.center_of_mass, force)
            now, then = (_readings(log.robot, payload, joint[0], speed, joint[2]) for speed in (joint[1], before))
            log.sensors[row] += now - then
        self._row += 1


def _readings(robot: Robot, payload: Payload | None, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
    """(12,) what the sensors read of a motion by the arm's own kinematics."""
    tool = tool_motion(robot, q, dq, ddq)
    wrench = np.zeros(6) if payload is None else wrench_regressor(robot, q, dq, ddq) @ payload.parameters.phi
    return np.concatenate([wrench, tool.linear_acceleration, tool.angular_velocity])


def _rotation(quaternion: FloatArray) -> FloatArray:
    """(3, 3) of Newton's quaternion, w last."""
    return rotation_from_quaternion(np.roll(quaternion, 1) / np.linalg.norm(quaternion))


def _tool_pose(robot: Robot, link: FloatArray) -> FloatArray:
    """(4, 4) of the tool frame, from the place and quaternion (7,) of the last link."""
    turn, row, pose = _rotation(link[3:]), robot.chain.tool[0], np.eye(4)
    pose[:3, :3] = turn @ row[:9].reshape(3, 3)
    pose[:3, 3] = link[:3] + turn @ row[9:]
    return pose


def _lever(robot: Robot, link: FloatArray) -> FloatArray:
    """(3,) from the last link's centre of mass to the tool frame's origin, in world axes [m]."""
    mass, *moment = robot.chain.phi[-1, :4]
    center = np.array(moment) / mass if mass > 0.0 else np.zeros(3)
    return np.asarray(_rotation(link[3:]) @ (robot.chain.tool[0, 9:] - center))
