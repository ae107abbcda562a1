"""`NewtonSimulator`: arms in Newton, driven as those in MuJoCo, many worlds at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.kinematics import tool_motion
from iparam.robot.model import Robot
from iparam.simulation.arm_scene import ArmScene, loaded_scene, run_together
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.controller import ComputedTorque
from iparam.simulation.motors import JointFriction
from iparam.simulation.newton.backend import require_newton
from iparam.simulation.newton.model import LEAST_MASS, bodies_of, build_model, state_exact_inertias
from iparam.simulation.payload import Payload
from iparam.simulation.run_log import LOST, RunLog
from iparam.simulation.simulator import Progress, SimulationResult
from iparam.spatial.transforms import rotation_from_quaternion
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

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


@dataclass(frozen=True)
class NewtonSimulator(ArmSimulator):
    """The settings of a simulation with Newton; a `Simulator`. See `ArmSimulator` for them.

    Its solver is MuJoCo's for many worlds (mujoco-warp), in single precision. A step costs milliseconds on a processor,
    so that a lower ``physics_rate`` is worth a thought where noise covers the error of a step. The controller is softer
    than MuJoCo's, because what it makes of the last digit of an angle, 1e-7 rad times its bandwidth squared, is an
    acceleration that the load feels.
    """

    controller: ComputedTorque = field(default_factory=lambda: ComputedTorque(bandwidth=15.0))

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> NewtonScene:
        """Build the model, see `Simulator.load`."""
        return loaded_scene(NewtonScene, self, robot, payload, cell, clearance, shapes)

    def run_many(
        self,
        robot: Robot,
        payloads: Sequence[Payload],
        trajectory: Trajectory,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        progress: Progress | None = None,
    ) -> list[SimulationResult]:
        """Let the arm follow one trajectory with each of W payloads, all at once, each in a world of its own.

        Raises:
            SimulationError: one of the arms hit something, or could not follow; the message says with which payload,
                counted from 0.
        """
        payloads = [payloads] if isinstance(payloads, Payload) else list(payloads)
        if not payloads:
            raise InputError(argument="run_many", problem="needs at least one payload")
        for k, payload in enumerate(payloads):
            if not isinstance(payload, Payload):
                raise InputError(f"payloads[{k}] of run_many must be a Payload, got {type(payload).__name__}")
        scenes = [self.load(robot, payload, cell, clearance) for payload in payloads]
        return run_together(scenes, trajectory, lambda num_logged: _physics(scenes, num_logged), progress)


@dataclass(frozen=True, eq=False)
class NewtonScene(ArmScene):
    """An arm with its payload in Newton, see `ArmScene`."""

    @property
    def engine(self) -> str:
        """The name and version of what computes the physics."""
        return f"newton {require_newton()[0].__version__}"

    def build(self) -> None:
        """Refuse what Newton cannot build."""
        require_newton()
        if self.payload is not None and self.payload.parameters.mass < LEAST_MASS:
            raise InputError(
                f"the payload weighs {self.payload.parameters.mass:.3g} kg: Newton computes with {LEAST_MASS:g} kg at "
                "least, in single precision. MuJoCo takes it"
            )

    def physics(self, num_logged: int) -> NewtonRun:
        """A new run of this one scene, with room for a number of logged instants."""
        return _physics([self], num_logged)


def _physics(scenes: Sequence[NewtonScene], num_logged: int) -> NewtonRun:
    settings = scenes[0].simulator
    robots, payloads = [scene.robot for scene in scenes], [scene.payload for scene in scenes]
    step = 1.0 / settings.physics_rate
    return NewtonRun(
        build_model(robots, payloads, settings.gravity),
        robots,
        payloads,
        timestep=step,
        gains=settings.controller.gains(step),
        num_logged=num_logged,
        gravity=settings.gravity,
        friction=settings.friction,
    )
