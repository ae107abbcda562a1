"""Taking a known load out of a wrench: what is left is what touches the tool."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.recording_problem import motion_at
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.model import Robot
from iparam.robot.motion_input import STANDARD_GRAVITY
from iparam.sensing.motion import MotionSource
from iparam.sensing.motion_sources import KalmanMotion
from iparam.sensing.offset import offset_compensated_regressor, resting_regressor
from iparam.sensing.wrench_source import SensorWrench, WrenchSource


def compensate_wrench(
    recording: Recording,
    robot: Robot,
    estimate: Estimate,
    *,
    motion: MotionSource | None = None,
    wrench: WrenchSource | None = None,
    delay: float = 0.0,
    zeroed: bool = False,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> Recording:
    """The recording with the identified load, and the sensor's bias where it was identified, taken out of the wrench.

    Args:
        recording: with the wrench, and what the motion source needs.
        robot: the arm.
        estimate: of the load.
        motion, wrench, delay, gravity: see `problem_from_recording`.
        zeroed: whether the sensor was zeroed with the load on it in the first pose.

    Returns:
        The recording; its wrench covers the samples within the motion.
    """
    measured = (SensorWrench() if wrench is None else wrench).read(recording)
    whole = (KalmanMotion() if motion is None else motion).motion(recording, robot)
    rows = (measured.time - delay >= whole.time[0]) & (measured.time - delay <= whole.time[-1])
    if not rows.any():
        raise IdentificationError("no wrench sample lies within the recorded motion")
    at = motion_at(whole, measured.time[rows] - delay)
    matrices = at.regressor(robot, gravity)
    if zeroed:
        matrices = offset_compensated_regressor(matrices, resting_regressor(robot, whole.q[0], gravity))
    values = measured.values[rows] - matrices @ estimate.phi
    if estimate.sensor_bias is not None:
        values = values - np.concatenate([estimate.sensor_bias.force, estimate.sensor_bias.torque])
    clean = Signal(measured.time[rows], values, measured.unit, measured.frame)
    lost = int(np.count_nonzero(~rows))
    warnings = [f"{lost} wrench samples lie outside the recorded motion and were left out"] if lost else []
    result = recording.with_signal("wrench", clean).with_warnings(*warnings)
    return result.with_metadata(compensated_mass_kg=estimate.mass, compensated_method=estimate.method)
