"""Turning the log of a run into a recording, and what only the simulator knows into the rest of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording, Signal
from iparam.robot.model import Robot
from iparam.simulation.mujoco.backend import require_mujoco
from iparam.simulation.mujoco.run import MujocoRun
from iparam.simulation.simulator import GroundTruth, SimulationResult
from iparam.spatial.parameters import InertialParameters

if TYPE_CHECKING:
    from iparam.simulation.mujoco.simulator import MujocoScene

LARGE_ERROR = 0.02
"""Tracking error worth a warning [rad]."""


def simulation_result(
    scene: MujocoScene,
    run: MujocoRun,
    *,
    time: FloatArray,
    targets: FloatArray,
    rows: dict[str, NDArray[np.int64]],
    warnings: list[str],
) -> SimulationResult:
    """The result of a finished run.

    Args:
        scene: that was run.
        run: its log, of T instants.
        time: (T,) of the instants [s].
        targets: (3, T, n) set points of position, velocity and acceleration.
        rows: for each group of `SensorRates`, which of the instants it is read at.
        warnings: about the trajectory.
    """
    robot, carried = scene.robot, scene.payload
    tool, joints, imu = robot.tool_frame, "joints", "imu"
    columns: dict[str, tuple[str, FloatArray, str, str]] = {
        "q": (joints, run.q, "rad", "joint"),
        "dq": (joints, run.dq, "rad/s", "joint"),
        "tau": (joints, run.tau, "N m", "joint"),
        "target_q": (joints, targets[0], "rad", "joint"),
        "target_dq": (joints, targets[1], "rad/s", "joint"),
        "target_ddq": (joints, targets[2], "rad/s^2", "joint"),
        "wrench": ("wrench", run.sensors[:, :6], "N, N m", tool),
        "accelerometer": (imu, run.sensors[:, 6:9], "m/s^2", tool),
        "gyro": (imu, run.sensors[:, 9:12], "rad/s", tool),
    }
    signals = {
        name: Signal(time[rows[group]], values[rows[group]], unit, frame)
        for name, (group, values, unit, frame) in columns.items()
    }
    nothing = InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
    return SimulationResult(
        Recording(
            robot=robot.name,
            signals=signals,
            metadata=_metadata(scene),
            warnings=(*warnings, *_run_warnings(robot, run)),
        ),
        GroundTruth(carried.parameters if carried is not None else nothing, tool),
        MotionEstimate(time, run.q, run.dq, run.ddq),
        run.tool_poses,
    )


def _metadata(scene: MujocoScene) -> dict[str, Any]:
    """Where the recording comes from. Nothing here may depend on the payload."""
    settings = scene.simulator
    return {
        "source": "simulation",
        "base_frame": scene.robot.base_frame,
        "tool_frame": scene.robot.tool_frame,
        "simulator": f"mujoco {require_mujoco().__version__}",
        "physics_rate_hz": settings.physics_rate,
        "sensor_rates_hz": {
            "joints": settings.rates.joints,
            "wrench": settings.rates.wrench,
            "imu": settings.rates.imu,
        },
        "settle_time_s": settings.settle_time,
        "gravity": list(settings.gravity),
        "controller": "computed torque",
        "controller_bandwidth_hz": settings.controller.bandwidth,
        "controller_knows_payload": settings.controller.payload_known,
    }


def _run_warnings(robot: Robot, run: MujocoRun) -> list[str]:
    warnings = []
    for joint in np.flatnonzero(run.saturated):
        share = 100.0 * run.saturated[joint] / run.steps
        limit = robot.limits.torque[joint]
        warnings.append(
            f"{robot.joint_names[joint]} was at its torque limit, {limit:g} N m, for {share:.2g} % of the time"
        )
    worst = int(np.argmax(run.tracking_error))
    if run.tracking_error[worst] > LARGE_ERROR:
        error = run.tracking_error[worst]
        warnings.append(f"{robot.joint_names[worst]} was up to {error:.2g} rad off its set points")
    return warnings
