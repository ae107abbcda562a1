"""`MujocoSimulator`: an arm in MuJoCo, driven along a trajectory as a real arm is, with its wrist sensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.model import Robot
from iparam.simulation.arm_scene import ArmScene, loaded_scene
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.motors import JointFriction
from iparam.simulation.mujoco.model import TOOL_SITE, build_model
from iparam.simulation.payload import Payload
from iparam.simulation.run_log import LOST, RunLog
from iparam.trajectory.trajectory import TrajectorySamples


class MujocoRun:
    """One run of one scene: its state and its log.

    ``mj_step`` computes forces, accelerations and sensors of the state that it finds and then moves on. So q is read
    before it, and what belongs to the same instant after it; the sensors once more, with the velocity of `RunLog`.

    Attributes:
        logs: of its one arm.
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
        self._model, self._gains, self._friction = model, gains, friction
        self._data = self._mujoco.MjData(model)
        self._site = model.site(TOOL_SITE).id
        self._log = RunLog(robot, num_logged)
        self.logs = [self._log]
        self._row = 0

    def start_log(self, num_logged: int) -> RunLog:
        """Log from now on into a new log with room for a number of instants; the arm stays where it is."""
        self._log, self._row = RunLog(self._log.robot, num_logged), 0
        self.logs = [self._log]
        return self._log

    def place(self, q: FloatArray) -> None:
        """Put the arm at rest into a pose (n,)."""
        self._data.qpos = q

    def follow(
        self, goal: TrajectorySamples, forward: FloatArray, weight: FloatArray, wanted: NDArray[np.bool_] | None
    ) -> FloatArray:
        """Follow set points, one a step, see `Physics.follow`; W is 1."""
        logging = [False] * len(goal.q) if wanted is None else wanted.tolist()
        asked, errors = self._drive(goal, forward[0], weight[0], logging)
        if wanted is not None:
            self._log.count(asked, errors)
        return (goal.q - errors)[None]

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
                self._log.q[self._row], self._log.dq[self._row] = q, dq  # dq as _write finds it
            step(model, data)
            if not error.dot(error) < LOST**2:  # true for NaN as well
                self._log.report_loss(float(goal.time[k]), error, weight[: k + 1])
            if logging[k]:
                self._write()
        return asked, errors

    def _write(self) -> None:
        """Log the instant from which the last step was taken; its velocity before the step is in the log."""
        mujoco, model, data, row, log = self._mujoco, self._model, self._data, self._row, self._log
        after = data.qvel.copy()
        data.qvel = log.dq[row] = 0.5 * (log.dq[row] + after)
        mujoco.mj_comVel(model, data)
        mujoco.mj_sensorVel(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        data.qvel = after
        log.ddq[row], log.tau[row], log.sensors[row] = data.qacc, data.actuator_force, data.sensordata
        log.tool_poses[row, :3, :3] = data.site_xmat[self._site].reshape(3, 3)
        log.tool_poses[row, :3, 3] = data.site_xpos[self._site]
        self._row += 1


@dataclass(frozen=True)
class MujocoSimulator(ArmSimulator):
    """The settings of a simulation with MuJoCo; `load` gives a scene, whose ``run(trajectory)`` records.

    The force/torque sensor is between flange and payload, in the axes of the tool frame, and measures what the arm
    exerts ON the payload. The arm follows the trajectory by computed torque.

    Attributes:
        physics_rate: steps a second, of the controller too [Hz].
        rates: samples a second of the sensors [Hz].
        controller: gains of the computed torque.
        settle_time: how long the arm holds the start pose before the trajectory and the recording begin [s].
        gravity: (3,) in base axes [m/s^2].
        friction: in the joints; None for none. Rotor inertia is the robot's, see `Robot.with_armature`.
    """

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> MujocoScene:
        """Build the scene.

        Args:
            robot: the arm.
            payload: rigidly on its tool frame; None for nothing.
            cell: its surroundings in its base frame; None for the ground at z = 0 alone.
            clearance: least distance that a trajectory must keep, as `excite check` has it [m]; 0 refuses contact.
            shapes: what may not touch what; None for the arm's capsules, the payload's boxes and the cell.
        """
        return loaded_scene(MujocoScene, self, robot, payload, cell, clearance, shapes)


@dataclass(frozen=True, eq=False)
class MujocoScene(ArmScene):
    """An arm with its payload in MuJoCo, see `ArmScene`."""

    @cached_property
    def model(self) -> Any:
        """The ``mujoco.MjModel``, see `build_model`."""
        settings = self.simulator
        step = 1.0 / settings.physics_rate
        return build_model(self.robot, self.payload, timestep=step, gravity=settings.gravity)

    @property
    def engine(self) -> str:
        """The name and version of what computes the physics."""
        return f"mujoco {require_mujoco().__version__}"

    def build(self) -> None:
        """Build the model."""
        self.model  # noqa: B018

    def physics(self, num_logged: int) -> MujocoRun:
        """A new run of this one scene, with room for a number of logged instants."""
        settings = self.simulator
        gains = settings.controller.gains(1.0 / settings.physics_rate)
        return MujocoRun(self.model, self.robot, gains, num_logged, settings.friction)
