"""Sensors: what data sheets say about them, what they do to a signal, and what a recording tells by them.

Motion sources say how the arm moved, wrench sources what it exerted on the load, whatever the sensor.
"""

from iparam.sensing.force_torque import ForceTorqueSensor, force_torque_sensor, force_torque_sensors
from iparam.sensing.motion import MotionSource, ToolMotionEstimate
from iparam.sensing.motion_sources import (
    AccelerometerMotion,
    ButterworthMotion,
    KalmanMotion,
    SavitzkyGolayMotion,
    SetPointMotion,
)
from iparam.sensing.noise import NoiseModel, SensorNoise, noise_preset, noise_presets
from iparam.sensing.offset import (
    bias_columns,
    gravity_offset_matrix,
    offset_compensated_regressor,
    resting_regressor,
)
from iparam.sensing.wrench_source import BaseFrameWrench, SensorWrench, WrenchSource

__all__ = [
    "AccelerometerMotion",
    "BaseFrameWrench",
    "ButterworthMotion",
    "ForceTorqueSensor",
    "KalmanMotion",
    "MotionSource",
    "NoiseModel",
    "SavitzkyGolayMotion",
    "SensorNoise",
    "SensorWrench",
    "SetPointMotion",
    "ToolMotionEstimate",
    "WrenchSource",
    "bias_columns",
    "force_torque_sensor",
    "force_torque_sensors",
    "gravity_offset_matrix",
    "noise_preset",
    "noise_presets",
    "offset_compensated_regressor",
    "resting_regressor",
]
