"""`TwinArm`: the arm in MuJoCo behind the twin's controller, stepped in pace with a clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from doubles.ur_controller.motion import PERIOD, Brake, Hold, Motion, SetPoint

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.dynamics import inverse_dynamics, mass_matrix
from iparam.robot.model import Robot
from iparam.simulation import ComputedTorque, Motors, MujocoSimulator, Payload
from iparam.spatial.parameters import InertialParameters

STEPS = 4
"""Of the physics in one period."""

SETTLE_PERIODS = 150
"""How long a new arm stands before anyone sees it, until the load has pulled it where it stays."""

HOME = np.array([0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
"""Elbow up, flange facing down [rad]."""


@dataclass(frozen=True, eq=False)
class ArmSample:
    """The arm at one instant, as the physics has it.

    Attributes:
        q, dq: (6,) of the joints [rad, rad/s].
        motor_torque: (6,) what the motors give [N m].
        planned_torque: (6,) what the controller's model asks for along the set points, without feedback [N m].
        wrench: (6,) force and torque that the arm exerts on the load, in tool axes about the tool's origin [N, N m].
        accelerometer: (3,) proper acceleration of the tool's origin in tool axes [m/s^2].
        goal: the set point of this instant.
        contact: names of two bodies that touch, or "".
    """

    q: FloatArray
    dq: FloatArray
    motor_torque: FloatArray
    planned_torque: FloatArray
    wrench: FloatArray
    accelerometer: FloatArray
    goal: SetPoint
    contact: str


class TwinArm:
    """An arm with its load under a computed-torque controller whose set points a `Motion` gives.

    The feed-forward knows the load that the controller was told, not the true one.

    Args:
        robot: with six joints.
        payload: what it carries; None for nothing.
        q: (6,) where it stands at first [rad].
        motors: rotors and friction; None for ideal motors.
        gravity: (3,) in base axes [m/s^2].
    """

    def __init__(
        self,
        robot: Robot,
        payload: Payload | None = None,
        q: FloatArray = HOME,
        motors: Motors | None = None,
        gravity: tuple[float, float, float] = STANDARD_GRAVITY,
    ) -> None:
        if robot.num_joints != 6:
            raise InputError(f"a UR controller has six joints, {robot.name} has {robot.num_joints}; try --robot ur5e")
        start = as_float_array(q, "the start pose", (6,))
        beyond = (start < robot.limits.lower) | (start > robot.limits.upper)
        if start.shape != (6,) or beyond.any():
            raise InputError(
                f"the start pose {np.round(start, 4).tolist()} must be six angles within the joints' range"
            )
        if motors is not None:
            robot = robot.with_armature(motors.rotor_inertia)
        self._friction = motors.friction if motors is not None else None
        self._mujoco = require_mujoco()
        simulator = MujocoSimulator(physics_rate=STEPS / PERIOD, gravity=gravity)
        scene = simulator.load(robot, payload)
        self._collision = scene.collision
        found = self._collision.first_contact(start[None, :])
        if found is not None:
            raise InputError(f"in the start pose {found.bodies[0]} touches {found.bodies[1]}; give another with --q")
        self.robot, self.gravity = robot, simulator.gravity
        self._step = PERIOD / STEPS
        self._loaded, self._known = scene.loaded, robot
        self._model: Any = scene.model
        self._data = self._mujoco.MjData(self._model)
        self._gains = ComputedTorque().gains(self._step)
        self._goals = np.empty((3, STEPS, 6))
        self._asked: tuple[object, ...] = (None, None, None)  # what the feed-forward was last computed for
        self._forward: tuple[FloatArray, FloatArray] = np.empty((STEPS, 6)), np.empty((6, 6))
        self._data.qpos = start
        self.goal = SetPoint.at_rest(start)
        self.motion: Motion = Hold()
        for _ in range(SETTLE_PERIODS):
            self.advance()

    @property
    def moving(self) -> bool:
        """Whether the set points move or are going to."""
        return not self.motion.done

    def know_payload(self, payload: InertialParameters) -> None:
        """What the feed-forward takes for the load from now on, in the tool frame."""
        self._known = self.robot.with_payload(payload, "known payload") if payload.mass > 0.0 else self.robot

    def brake(self, deceleration: float) -> None:
        """Stop, the fastest joint at ``deceleration`` [rad/s^2]."""
        self.motion = Brake(deceleration)

    def advance(self) -> ArmSample:
        """The arm as it is now; then let one period of the controller pass."""
        goals: list[SetPoint] = []
        for _ in range(STEPS):
            goals.append(self.goal)
            self.goal = self.motion.advance(self.goal, self._step)
        forward, weight = self._feed_forward(goals)
        data, stiffness, damping = self._data, *self._gains
        q, dq = data.qpos.copy(), data.qvel.copy()
        for row in range(STEPS):
            error, slip = goals[row].q - data.qpos, goals[row].dq - data.qvel
            data.ctrl[:] = forward[row] + weight @ (stiffness * error + damping * slip)
            if self._friction is not None:
                data.qfrc_applied[:] = -self._friction.torque(data.qvel)
            # mj_step computes torques and sensors of the state that it finds, and then moves on: those of the first
            # step belong to q and dq.
            self._mujoco.mj_step(self._model, data)
            if row == 0:
                torque, sensors = data.actuator_force.copy(), data.sensordata.copy()
        found = self._collision.first_contact(data.qpos[None, :])
        contact = "" if found is None else f"{found.bodies[0]} and {found.bodies[1]}"
        return ArmSample(q, dq, torque, forward[0], sensors[:6], sensors[6:9], goals[0], contact)

    def _feed_forward(self, goals: list[SetPoint]) -> tuple[FloatArray, FloatArray]:
        """(STEPS, 6) torques of the set points for the known load, and the mass matrix (6, 6) at the first of them.

        An arm that stands still keeps its set point, and what was computed for it.
        """
        asked = (goals[0], goals[-1], self._known)
        if not all(new is old for new, old in zip(asked, self._asked, strict=True)):
            for row, goal in enumerate(goals):
                self._goals[0, row], self._goals[1, row], self._goals[2, row] = goal.q, goal.dq, goal.ddq
            forward = inverse_dynamics(self._known, self._goals[0], self._goals[1], self._goals[2], self.gravity)
            self._asked, self._forward = asked, (forward, mass_matrix(self._loaded, self._goals[0, 0]))
        return self._forward
