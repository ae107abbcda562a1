"""An arm in MuJoCo with a wrist sensor that sits where it should not, a load that is not what it should be, or
something else that pulls at it: what physics does to a wrench, not what an estimator's model says about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

import iparam
from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.robot.model import Robot
from iparam.simulation.mujoco import model as arm_model
from iparam.spatial import InertialParameters

PHYSICS_RATE = 2000.0
LOG_RATE = 500.0
SETTLE = 0.5
BANDWIDTH = 2.0 * np.pi * 50.0
LARGEST_ERROR = 0.05
"""How far a joint may be off its set point [rad]: beyond it the motion would no longer be the planned one."""

Pull = Callable[[float, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""From the time [s], and the tool's position (3,) [m] and axes (3, 3) in the base, to a force (3,) [N] on the load in
base axes and the point (3,) of the tool frame [m] that it acts on."""


@dataclass(frozen=True, eq=False)
class LoosePart:
    """A part of the load on a hinge.

    Attributes:
        body: its parameters in the tool frame when the spring is at rest.
        hinge: (3,) a point of the hinge in the tool frame [m].
        axis: (3,) of the hinge, in tool axes.
        stiffness, damping: of the hinge [N m/rad, N m s/rad].
    """

    body: InertialParameters
    hinge: tuple[float, float, float]
    axis: tuple[float, float, float]
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class Scene:
    """What is simulated.

    Attributes:
        robot: the arm.
        load: on its tool frame, rigidly.
        trajectory: that it follows.
        sensor_pose: (4, 4) T_tool_sensor: where the sensor really is [m].
        gravity: (3,) in base axes, as it really is [m/s^2].
        pull: what else acts on the load.
        loose: a part of the load that is not fixed.
        later: the load from a time [s] on, in the order of the times.
    """

    robot: Robot
    load: InertialParameters
    trajectory: Any
    sensor_pose: FloatArray = field(default_factory=lambda: np.eye(4))
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    pull: Pull | None = None
    loose: LoosePart | None = None
    later: tuple[tuple[float, InertialParameters], ...] = ()

    def run(self) -> Recording:
        """Joint angles and the sensor's wrench, without noise, at LOG_RATE; the file says nothing about its making."""
        steps = round((SETTLE + self.trajectory.duration) * PHYSICS_RATE)
        times = np.arange(steps) / PHYSICS_RATE - SETTLE
        goal = self.trajectory.evaluate(np.maximum(times, 0.0))
        loaded = self.robot.with_payload(self.load if self.loose is None else self.load + self.loose.body, "all of it")
        forward = iparam.inverse_dynamics(loaded, goal.q, goal.dq, goal.ddq, gravity=self.gravity)
        weight = iparam.mass_matrix(loaded, goal.q)
        model = self._model()
        q, wrench = self._drive(model, times, goal, forward, weight)
        stamps = np.arange(len(q)) / LOG_RATE
        recording = Recording().with_signal("q", time=stamps, values=q)
        return recording.with_signal("wrench", time=stamps, values=wrench)

    def _drive(
        self, model: Any, times: FloatArray, goal: Any, forward: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        data, count = mujoco.MjData(model), self.robot.num_joints
        carried = model.body("carried").id
        data.qpos[:count] = goal.q[0]
        every, changes = round(PHYSICS_RATE / LOG_RATE), list(self.later)
        logged: list[FloatArray] = []
        wrenches: list[FloatArray] = []
        for k, time in enumerate(times):
            if changes and time >= changes[0][0]:
                _set_body(model, carried, changes.pop(0)[1])
            error = goal.q[k] - data.qpos[:count]
            feedback = BANDWIDTH**2 * error + 2.0 * BANDWIDTH * (goal.dq[k] - data.qvel[:count])
            data.ctrl[:] = forward[k] + weight[k] @ feedback
            if self.pull is not None:
                self._push(data, carried, float(time))
            logging = time >= 0.0 and (k - round(SETTLE * PHYSICS_RATE)) % every == 0
            if logging:
                logged.append(data.qpos[:count].copy())
            mujoco.mj_step(model, data)
            if logging:  # mj_step leaves the sensors of the state that it found
                wrenches.append(data.sensordata[:6].copy())
            if not np.abs(error).max() < LARGEST_ERROR:
                raise AssertionError(f"the arm is {np.abs(error).max():.3g} rad off its set points at {time:.3f} s")
        return np.array(logged), np.array(wrenches)

    def _push(self, data: Any, carried: int, time: float) -> None:
        assert self.pull is not None
        place, axes = data.xpos[carried], data.xmat[carried].reshape(3, 3)
        if not axes.any():  # before the first step nothing is placed
            return
        force, point = self.pull(time, place, axes)
        lever = place + axes @ point - data.xipos[carried]
        data.xfrc_applied[carried] = np.concatenate([force, np.cross(lever, force)])

    def _model(self) -> Any:
        spec = mujoco.MjSpec()
        arm_model._set_options(mujoco, spec, 1.0 / PHYSICS_RATE, self.gravity)
        bodies, inertials = arm_model._add_arm(mujoco, spec, self.robot)
        tool = self.robot.chain.tool[0]
        carried = bodies[-1].add_body(name="carried", pos=tool[9:])
        carried.quat = arm_model._quaternion(mujoco, tool[:9])
        bodies.append(carried)
        inertials.append(self.load)
        if self.loose is not None:
            part = carried.add_body(name="loose", pos=self.loose.hinge)
            part.add_joint(
                name="hinge",
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=self.loose.axis,
                stiffness=self.loose.stiffness,
                damping=self.loose.damping,
            )
            bodies.append(part)
            shift = np.eye(4)
            shift[:3, 3] = -np.array(self.loose.hinge)
            inertials.append(self.loose.body.transformed(shift))
        for body, inertial in zip(bodies[1:], inertials, strict=True):
            arm_model._set_inertial(mujoco, body, inertial)
        sensor = carried.add_site(name=arm_model.TOOL_SITE, pos=self.sensor_pose[:3, 3])
        sensor.quat = arm_model._quaternion(mujoco, self.sensor_pose[:3, :3])
        for name, kind in (("force", mujoco.mjtSensor.mjSENS_FORCE), ("torque", mujoco.mjtSensor.mjSENS_TORQUE)):
            spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=arm_model.TOOL_SITE)
        compiled = spec.compile()
        compiled.actuator_forcelimited[:] = 0  # what the drives can do is not the question here
        arm_model._state_exact_inertials(mujoco, compiled, [body.name for body in bodies[1:]], inertials)
        return compiled


def _set_body(model: Any, body: int, load: InertialParameters) -> None:
    """Give a body of a running simulation other parameters: what fell off takes its momentum along."""
    moments, axes = arm_model._principal_axes(load)
    model.body_mass[body], model.body_ipos[body], model.body_inertia[body] = load.mass, load.center_of_mass, moments
    model.body_iquat[body] = arm_model._quaternion(mujoco, axes)
    mujoco.mj_setConst(model, mujoco.MjData(model))
