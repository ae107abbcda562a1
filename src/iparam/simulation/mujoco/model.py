"""The MuJoCo model of an arm with its payload, generated from a `Robot`: the same masses, joints and frames.

Each moving body of the robot becomes a MuJoCo body whose z axis is its joint's axis. The payload is a body of its own,
fixed to the last one, with its frame on the tool frame. The sensors sit on it: MuJoCo's force sensor reads what passes
between a body and the one that carries it, which is here exactly what the arm exerts on the payload. The model has no
shapes: a run ends where two things touch, and `CollisionScene` says where that is, for the planner and here alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.model import Robot
from iparam.simulation.payload import Payload, payload_name
from iparam.spatial.parameters import InertialParameters

TOOL_SITE = "iparam_tool"
SENSORS = ("force", "torque", "accelerometer", "gyro")
"""Names of the sensors, in the order of ``sensordata``: three numbers each, in tool axes."""

_PLACEHOLDER = 1.0  # mass and inertia that the compiler accepts, where the true ones follow after it


def build_model(
    robot: Robot,
    payload: Payload | None = None,
    *,
    timestep: float = 0.0005,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Any:
    """The compiled ``mujoco.MjModel``.

    Joint i of MuJoCo is moving joint i of the robot, driven by motor i within the robot's torque limits.

    Args:
        robot: the arm.
        payload: what it carries; None for nothing.
        timestep: of the physics [s].
        gravity: (3,) in base axes [m/s^2].
    """
    mujoco = require_mujoco()
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    _set_options(mujoco, spec, timestep, gravity)
    bodies, inertials = _add_arm(mujoco, spec, robot)
    carried = bodies[-1].add_body(name=payload_name(robot), pos=robot.chain.tool[0, 9:])
    carried.quat = _quaternion(mujoco, robot.chain.tool[0, :9])
    inertials.append(payload.parameters if payload is not None else None)
    bodies.append(carried)
    for body, inertial in zip(bodies[1:], inertials, strict=True):
        _set_inertial(mujoco, body, inertial)
    _add_sensors(mujoco, spec, carried)
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"MuJoCo cannot build {robot.name!r} with this payload: {error}") from error
    _state_exact_inertials(mujoco, model, [body.name for body in bodies[1:]], inertials)
    return model


def _set_options(mujoco: Any, spec: Any, timestep: float, gravity: tuple[float, float, float]) -> None:
    # Euler without implicit damping: only so does the force sensor belong to the acceleration that MuJoCo reports.
    spec.option.timestep = timestep
    spec.option.gravity = gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP | mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE


def _add_arm(mujoco: Any, spec: Any, robot: Robot) -> tuple[list[Any], list[InertialParameters | None]]:
    """The bodies, the base first, and what the moving ones weigh."""
    chain, limits = robot.chain, robot.limits
    # MuJoCo has a body "world" already, which many a URDF calls its base.
    parent = spec.worldbody.add_body(name=robot.base_frame if robot.base_frame != "world" else "base of the arm")
    bodies, inertials = [parent], []
    for i, joint in enumerate(robot.moving_joints):
        parent = parent.add_body(name=joint.child, pos=chain.origins[i, 9:])
        parent.quat = _quaternion(mujoco, chain.origins[i, :9])
        kind = mujoco.mjtJoint.mjJNT_SLIDE if chain.prismatic[i] else mujoco.mjtJoint.mjJNT_HINGE
        bounded = bool(np.isfinite(limits.lower[i]) and np.isfinite(limits.upper[i]))
        parent.add_joint(
            name=joint.name,
            type=kind,
            axis=(0.0, 0.0, 1.0),
            armature=chain.armature[i],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE if bounded else mujoco.mjtLimited.mjLIMITED_FALSE,
            range=(limits.lower[i], limits.upper[i]) if bounded else (0.0, 0.0),
        )
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        if np.isfinite(limits.torque[i]):
            motor.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            motor.forcerange = (-limits.torque[i], limits.torque[i])
        bodies.append(parent)
        inertials.append(InertialParameters.from_phi(chain.phi[i]) if chain.phi[i].any() else None)
    return bodies, inertials


def _add_sensors(mujoco: Any, spec: Any, carried: Any) -> None:
    carried.add_site(name=TOOL_SITE)
    kinds = mujoco.mjtSensor
    for name, kind in zip(
        SENSORS,
        (kinds.mjSENS_FORCE, kinds.mjSENS_TORQUE, kinds.mjSENS_ACCELEROMETER, kinds.mjSENS_GYRO),
        strict=True,
    ):
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=TOOL_SITE)


def _set_inertial(mujoco: Any, body: Any, inertial: InertialParameters | None) -> None:
    """The true place and axes, with a mass that the compiler takes; it refuses massless bodies, which arms do have."""
    body.explicitinertial = True
    body.mass = _PLACEHOLDER
    body.inertia = np.full(3, _PLACEHOLDER)
    if inertial is not None:
        body.ipos = inertial.center_of_mass
        body.iquat = _quaternion(mujoco, _principal_axes(inertial)[1].ravel())


def _state_exact_inertials(
    mujoco: Any, model: Any, names: list[str], inertials: list[InertialParameters | None]
) -> None:
    for name, inertial in zip(names, inertials, strict=True):
        body = model.body(name).id
        model.body_mass[body] = inertial.mass if inertial is not None else 0.0
        model.body_inertia[body] = _principal_axes(inertial)[0] if inertial is not None else 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))


def _principal_axes(inertial: InertialParameters) -> tuple[FloatArray, FloatArray]:
    """(3,) principal moments [kg m^2] and (3, 3) rotation from the principal axes to the body's."""
    moments, axes = np.linalg.eigh(inertial.inertia_about_com)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return moments, axes


def _quaternion(mujoco: Any, rotation: FloatArray) -> FloatArray:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation, dtype=np.float64).ravel())
    return quaternion
