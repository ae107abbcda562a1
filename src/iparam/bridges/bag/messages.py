"""Joint states, wrenches and IMU readings as serialised messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.rosbags_backend import IMU, JOINT_STATE, WRENCH, typestore

Message = Callable[[int, Mapping[str, FloatArray]], bytes]
"""From a stamp [ns] and the samples (k,) of the signals that have one at that time to the serialised message."""


def joint_state(joint_names: tuple[str, ...]) -> Message:
    """Makes joint states of q, dq and tau; the field of one that is missing stays empty, as ROS has it."""
    store, names, nothing = typestore(), list(joint_names), np.zeros(0)
    kind = store.types[JOINT_STATE]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        position, velocity, effort = (found.get(name, nothing) for name in ("q", "dq", "tau"))
        return bytes(store.serialize_cdr(kind(_header(stamp, ""), names, position, velocity, effort), JOINT_STATE))

    return message


def wrench(frame: str) -> Message:
    """Makes wrenches in the frame of that name."""
    store = typestore()
    kind, pair = store.types[WRENCH], store.types["geometry_msgs/msg/Wrench"]
    vector = store.types["geometry_msgs/msg/Vector3"]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        values = found["wrench"].tolist()
        filled = kind(_header(stamp, frame), pair(vector(*values[:3]), vector(*values[3:])))
        return bytes(store.serialize_cdr(filled, WRENCH))

    return message


def imu(frame: str) -> Message:
    """Makes IMU readings in the frame of that name of accelerometer and gyro; what is missing is marked so."""
    store = typestore()
    kind, vector = store.types[IMU], store.types["geometry_msgs/msg/Vector3"]
    unknown = np.zeros(9)
    missing = np.array([-1.0, *[0.0] * 8])  # what ROS agreed on for a quantity that is not measured
    level = store.types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        parts: list[Any] = []
        for name in ("gyro", "accelerometer"):
            values = found[name].tolist() if name in found else [0.0, 0.0, 0.0]
            parts += [vector(*values), unknown if name in found else missing]
        return bytes(store.serialize_cdr(kind(_header(stamp, frame), level, missing, *parts), IMU))

    return message


def _header(stamp: int, frame: str) -> Any:
    types = typestore().types
    return types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](*divmod(stamp, 1_000_000_000)), frame)
