"""From ROS 2 messages to arrays and back, as rclpy has them; `serialized` reads those that come as bytes."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.backend import (
    DiagnosticStatus,
    Duration,
    Float64MultiArray,
    Inertia,
    InertiaStamped,
    KeyValue,
    MultiArrayDimension,
    Node,
    WrenchStamped,
)


def stamp_of(header: Any, node: Node) -> int:
    """The stamp of a message [ns]; the present time for one that has none."""
    return stamp_or_now(header.stamp.sec * 1_000_000_000 + header.stamp.nanosec, node)


def stamp_or_now(stamp: int, node: Node) -> int:
    """A stamp [ns]; the present time for one that is 0, which means that there is none."""
    return stamp if stamp else int(node.get_clock().now().nanoseconds)


def write_stamp(header: Any, stamp: int, frame: str) -> None:
    """Write stamp [ns] and frame into a header."""
    header.stamp.sec, header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    header.frame_id = frame


def duration_of(seconds: float) -> Duration:
    """A duration [s], to the nanosecond."""
    whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
    return Duration(sec=int(whole), nanosec=int(rest))


def vector_of(vector: Any) -> FloatArray:
    """(3,) of x, y, z."""
    return np.array([vector.x, vector.y, vector.z])


def write_vector(vector: Any, values: Sequence[float] | FloatArray) -> None:
    """Write x, y, z."""
    vector.x, vector.y, vector.z = map(float, values)


def wrench_of(message: WrenchStamped) -> FloatArray:
    """(6,) [force, torque]."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def write_wrench(message: WrenchStamped, stamp: int, frame: str, wrench: FloatArray) -> None:
    """Write stamp [ns], frame and a wrench (6,) [force, torque]."""
    write_stamp(message.header, stamp, frame)
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()


def array_message(values: FloatArray, labels: Sequence[str]) -> Float64MultiArray:
    """An array, a label for each of its axes."""
    message = Float64MultiArray()
    for axis, (size, label) in enumerate(zip(values.shape, labels, strict=True)):
        stride = int(np.prod(values.shape[axis:]))
        message.layout.dim.append(MultiArrayDimension(label=label, size=int(size), stride=stride))
    write_values(message, values)
    return message


def write_values(message: Float64MultiArray, values: FloatArray) -> None:
    """Write the numbers of an array whose shape the message has already."""
    message.data = array("d", values.tobytes())  # of a list, every entry would be checked


def write_body(inertia: Inertia, values: FloatArray) -> None:
    """Write a body (10,): mass, the centre of mass in the frame, the inertia about it in the frame's axes; NaN for what
    is not known.
    """
    inertia.m, *rest = values.tolist()
    write_vector(inertia.com, rest[:3])
    inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz = rest[3:]


def body_values(message: InertiaStamped) -> FloatArray:
    """The opposite of `write_body`."""
    part = message.inertia
    six = (part.ixx, part.ixy, part.ixz, part.iyy, part.iyz, part.izz)
    return np.array([part.m, *vector_of(part.com), *six])


def status_message(name: str, level: bytes, text: str, values: Mapping[str, object]) -> DiagnosticStatus:
    """A status with its values as text."""
    pairs = [
        KeyValue(key=key, value=f"{value:.6g}" if isinstance(value, float) else str(value))
        for key, value in values.items()
    ]
    return DiagnosticStatus(level=level, name=name, message=text, hardware_id="", values=pairs)
