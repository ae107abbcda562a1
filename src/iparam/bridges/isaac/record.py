"""`record`: a plan played on an articulation in Isaac, with the wrench at its wrist, as a `Recording`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.bridges.isaac.articulation import ArticulationPort
from iparam.bridges.isaac.frames import SI, StageUnits, rigid
from iparam.bridges.isaac.wrenches import WrenchReading
from iparam.errors import InputError
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.regressor import wrench_regressor
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.loading import StatedArm
from iparam.robot.model import JointKind, Robot
from iparam.rounding import percent
from iparam.trajectory.trajectory import Trajectory

FAR = 0.05
"""Distance of a joint from its set point beyond which a run is said not to have followed its plan [rad or m]."""
UNEXPLAINED = 0.02
"""Share of the wrench, rms, that no load explains, beyond which it is said not to belong to the motion."""
_STILL = 1e-4
_OFF = 0.05


def require_motion(q: FloatArray, dq: FloatArray, planned: FloatArray, dt: float) -> None:
    """Refuse a run in which nothing moved, or not in the steps that ``dt`` says: its numbers would look like numbers.

    Args:
        q: (T + 1, n) before each step, and after the last.
        dq: (T + 1, n) velocities at the same instants, as the articulation has them.
        planned: (T, n) set points.
        dt: the physics step as it was given [s].
    """
    for name, values in (("positions", q), ("velocities", dq)):
        if not np.isfinite(values).all():
            raise InputError(f"the joint {name} hold values that are not finite: the simulation has diverged")
    if np.ptp(planned, axis=0).max() <= 10.0 * _STILL:
        return
    if np.ptp(q, axis=0).max() < _STILL:
        raise InputError(
            "the articulation did not move: its joint drives need a stiffness, and step= has to update the "
            "articulation after the physics step (Isaac Lab: scene.update(dt))"
        )
    after = dq[1:]  # a step of semi-implicit Euler moves by the velocity at its end
    lasted = float((np.diff(q, axis=0) * after).sum() / max((after**2).sum(), 1e-12))
    if abs(lasted / dt - 1.0) > _OFF:
        raise InputError(
            argument="dt",
            problem=(
                f"is {dt:g} s, but the joints moved as in {lasted:.4g} s a step by their own velocities: step= has to "
                "make exactly one physics step and update the articulation (Isaac Lab: dt=sim.get_physics_dt(), and "
                "no decimation)"
            ),
        )


def require_wrench(measured: FloatArray, readings: Sequence[tuple[FloatArray, ...]], q: FloatArray) -> None:
    """Refuse a wrench (T, 3 or 6), made of T readings, that was not measured along the motion (T + 1, n)."""
    if not np.isfinite(measured).all():
        raise InputError("the wrench holds values that are not finite: the simulation has diverged")
    if not measured.any():
        raise InputError(
            "the wrench is zero throughout: step= has to update the sensor after the physics step, and the link must "
            "carry something (Isaac Lab on Newton: the sensor has to exist before sim.reset())"
        )
    moved = np.abs(np.diff(q[:-1], axis=0)).max(axis=1) > _STILL
    raw = np.array([np.concatenate([part.ravel() for part in reading]) for reading in readings])
    held = (raw[1:] == raw[:-1]).all(axis=1)
    if (moved & held).sum() > 0.2 * max(moved.sum(), 1):
        raise InputError(
            f"the wrench stayed as it was in {(moved & held).sum()} of {moved.sum()} steps in which the arm moved: "
            "step= has to update the sensor after every physics step (Isaac Lab: update_period=0.0 of the sensor)"
        )


def run_remarks(robot: Robot, q: FloatArray, planned: FloatArray, measured: FloatArray, dt: float) -> list[Remark]:
    """What is to be said of a run, whose wrench (T, 3 or 6) is in the tool frame."""
    found = []
    error = np.abs(q[:-1] - planned).max(axis=0)
    worst = int(np.argmax(error))
    if error[worst] > FAR:
        found.append(remark("drives-too-soft", joint=robot.joint_names[worst], error=error[worst]))
    if measured.shape[1] != 6:
        found.append(remark("no-contact-torque"))
    elif (share := _unexplained(robot, q, measured, dt)) > UNEXPLAINED:
        found.append(remark("wrench-not-of-a-load", share=percent(share)))
    return found


def _unexplained(robot: Robot, q: FloatArray, measured: FloatArray, dt: float) -> float:
    """Rms of what the best load leaves of the wrench, over that of the wrench, forces and torques each; the larger."""
    if len(q) < 12:
        return 0.0
    dq, ddq = (q[2:] - q[:-2]) / (2.0 * dt), (q[2:] - 2.0 * q[1:-1] + q[:-2]) / dt**2
    A, y = wrench_regressor(robot, q[1:-1], dq, ddq), measured[1:]
    sizes = np.sqrt((y**2).reshape(-1, 2, 3).mean(axis=(0, 2))).repeat(3)
    weights = 1.0 / np.maximum(sizes, 1e-9)
    phi = np.linalg.lstsq((A * weights[:, None]).reshape(-1, 10), (y * weights).ravel(), rcond=None)[0]
    residual = ((y - A @ phi) * weights).reshape(-1, 2, 3)
    return float(np.sqrt((residual**2).mean(axis=(0, 2)).max()))


def record(
    articulation: Any,
    trajectory: Trajectory,
    step: Callable[[], object],
    *,
    wrench: WrenchReading,
    robot: Robot,
    dt: float,
    joints: Sequence[str] | None = None,
    environment: int = 0,
    settle: float = 1.0,
    base_pose: ArrayLike | None = None,
    units: StageUnits = SI,
) -> Recording:
    """Play a plan on an articulation, one physics step at a time, and record angles and wrench at every step.

    What a physics engine reports after a step, it computed from the state before that step: the angles are read
    before each step, the wrench after it, and both get the time before it.

    Args:
        articulation: in the simulation, see `ArticulationPort`; every environment gets the same motion.
        trajectory: the plan.
        step: makes one physics step, and has the articulation and the sensors updated after it; in Isaac Lab
            ``sim.step(render=False)``, ``scene.update(dt)``.
        wrench: `JointWrench` or `ContactWrench`.
        robot: the arm as iparam knows it, whose tool frame the wrench is given in.
        dt: the physics step [s].
        joints: names in the articulation of the robot's joints, in its order; by their own names if not given.
        environment: that is recorded.
        settle: how long the first pose is held before the plan begins [s].
        base_pose: (4, 4) of the robot's base in the world of that environment [m], for contact forces; the identity if
            not given.
        units: of the stage.
    """
    dt, settle = _number(dt, "dt"), _number(settle, "settle")
    if not 0.0 < dt <= 0.1:
        raise InputError(argument="dt", problem=f"is one physics step, above 0 and at most 0.1 s, got {dt!r}")
    if settle < 0.0:
        raise InputError(argument="settle", value=settle, expected="at least 0 s")
    _require_kinds(trajectory, step, wrench, robot, units)
    if trajectory.num_joints != robot.num_joints:
        raise InputError(f"the plan moves {trajectory.num_joints} joints, and {robot.name} has {robot.num_joints}")
    names = list(joints) if joints is not None else list(robot.joint_names)
    if len(names) != robot.num_joints:
        raise InputError(
            argument="joints", problem=f"must name the {robot.num_joints} joints of {robot.name}, got {len(names)}"
        )
    base = np.eye(4) if base_pose is None else rigid(base_pose, "base_pose")
    port = ArticulationPort(articulation, names)
    _state(port, environment)  # refuses an environment that there is not, before anything moves
    count = round(trajectory.duration / dt) + 1
    time = np.minimum(np.arange(count + 1) * dt, trajectory.duration)  # the last one is held
    plan = trajectory.evaluate(time)
    scale = np.where([joint.kind is JointKind.PRISMATIC for joint in robot.moving_joints], units.meters, 1.0)
    for _ in range(round(settle / dt)):
        port.command(plan.q[0] / scale, np.zeros(robot.num_joints))
        step()
    states, readings = [_state(port, environment)], []
    for instant in range(1, count + 1):
        port.command(plan.q[instant] / scale, plan.dq[instant] / scale)
        step()
        readings.append(wrench.read(environment))
        states.append(_state(port, environment))
    q, dq = np.moveaxis(np.array(states), 1, 0) * scale
    require_motion(q, dq, plan.q[:count], dt)
    measured = wrench.in_tool(readings, base @ forward_kinematics(robot, q), units)
    require_wrench(measured, readings, q)
    times: FloatArray = np.arange(count, dtype=np.float64) * float(dt)
    full = measured.shape[1] == 6
    signals = {
        "q": Signal(times, q[:-1], "rad", "joint"),
        "wrench" if full else "contact_force": Signal(times, measured, "N, N m" if full else "N", robot.tool_frame),
    }
    metadata = {
        "source": "simulation",
        "simulator": port.kind,
        **StatedArm.of(robot).to_document(),
        "physics_rate_hz": 1.0 / dt,
        "wrench_from": type(wrench).__name__,
    }
    return Recording(robot.name, signals, metadata, tuple(run_remarks(robot, q, plan.q[:count], measured, dt)))


def _state(port: ArticulationPort, environment: int) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities (n,) in one environment, in units of the stage."""
    q, dq = port.positions(), port.velocities()
    if type(environment) is not int or environment not in range(len(q)):
        raise InputError(argument="environment", value=environment, expected=f"from 0 to {len(q) - 1}")
    return q[environment], dq[environment]


def _number(value: float, name: str) -> float:
    number = as_float_array(value, name)
    if number.shape != ():
        raise InputError(argument=name, problem=f"must be one number of seconds, got shape {number.shape}")
    return float(number)


def _require_kinds(trajectory: object, step: object, wrench: object, robot: object, units: object) -> None:
    """Refuse what is easily given instead: the sensor itself, a file of a plan, the name of a robot."""
    for given, right, way_out in (
        (trajectory, hasattr(trajectory, "num_joints"), "a plan: iparam.load_trajectory(file).trajectory"),
        (step, callable(step), "step=: a function that makes one physics step"),
        (wrench, hasattr(wrench, "in_tool"), "wrench=: JointWrench(sensor, 'payload') or ContactWrench(...)"),
        (robot, isinstance(robot, Robot), "robot=: iparam.load_robot(name)"),
        (units, isinstance(units, StageUnits), "units=: StageUnits(meters=0.01)"),
    ):
        if not right:
            raise InputError(f"record was given a {type(given).__name__} for {way_out}")
