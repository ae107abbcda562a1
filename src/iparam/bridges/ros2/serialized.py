"""Sensor messages straight from their serialised form (CDR).

rclpy makes a Python object of every field of a message, which takes longer than identifying from it. Of the messages
that come hundreds of times a second only a stamp, a name and some numbers are of interest, and their layout is fixed.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError

_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}
_BODY = 4
"""Bytes before the body, which say how it is encoded; alignment counts from the body's start."""

_IMU_ACCELERATION = 4 + 9 + 3 + 9
"""Numbers before the linear acceleration: orientation, its covariance, angular velocity, its covariance."""


class JointStateMessage(NamedTuple):
    """A sensor_msgs/JointState.

    Attributes:
        stamp: [ns].
        names: of the joints, may be empty.
        position, velocity: [rad, rad/s]; either may be empty.
    """

    stamp: int
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray


class StampedNumbers(NamedTuple):
    """A stamp [ns], a frame, and numbers (k,)."""

    stamp: int
    frame: str
    values: FloatArray


class JointStateDecoder:
    """Reads joint states; the names, which hardly ever change, are read once."""

    def __init__(self) -> None:
        self._named = b""  # what is between the stamp and the positions in the latest message: frame and names
        self._order = ""  # of its bytes
        self._names: tuple[str, ...] = ()

    def __call__(self, data: bytes) -> JointStateMessage:
        """A message.

        Raises:
            InputError: if it is cut off, or in a form unknown to this.
        """
        try:
            order = _order(data)
            if order != self._order or not data.startswith(self._named, _BODY + 8):
                self._read_names(data, order)
            position, at = _sequence(data, _BODY + 8 + len(self._named), order)
            velocity, _ = _sequence(data, at, order)
            return JointStateMessage(_stamp(data, order), self._names, position, velocity)
        except (struct.error, ValueError) as error:
            raise InputError(f"a joint state cannot be read: {error}") from None

    def _read_names(self, data: bytes, order: str) -> None:
        _, at = _string(data, _BODY + 8, order)
        (count,) = struct.unpack_from(order + "I", data, at)
        at += 4
        names = []
        for _ in range(count):
            name, at = _string(data, at, order)
            names.append(name)
        if at > len(data):  # cut off within what aligns the next number: its place would be lost
            raise ValueError(f"{len(data)} bytes where the names end at {at}")
        self._named, self._order, self._names = data[_BODY + 8 : at], order, tuple(names)


def read_wrench(data: bytes) -> StampedNumbers:
    """Stamp, frame and (6,) [force, torque] of a geometry_msgs/WrenchStamped; raises as `JointStateDecoder` does."""
    return _stamped_numbers(data, 0, 6, "wrench")


def read_linear_acceleration(data: bytes) -> StampedNumbers:
    """Stamp, frame and (3,) linear acceleration of a sensor_msgs/Imu; raises as `JointStateDecoder` does."""
    return _stamped_numbers(data, _IMU_ACCELERATION, 3, "imu message")


def _stamped_numbers(data: bytes, skipped: int, count: int, what: str) -> StampedNumbers:
    try:
        order = _order(data)
        frame, at = _string(data, _BODY + 8, order)
        values = np.frombuffer(data, order + "f8", count, _aligned(at, 8) + 8 * skipped)
        return StampedNumbers(_stamp(data, order), frame, values.astype(np.float64))
    except (struct.error, ValueError) as error:
        raise InputError(f"a {what} cannot be read: {error}") from None


def _order(data: bytes) -> str:
    order = _ORDERS.get(data[:2])
    if order is None:
        raise ValueError(f"its encoding is {data[:2].hex() or 'missing'}, not plain CDR")
    return order


def _stamp(data: bytes, order: str) -> int:
    seconds, rest = struct.unpack_from(order + "iI", data, _BODY)
    return int(seconds) * 1_000_000_000 + int(rest)


def _string(data: bytes, at: int, order: str) -> tuple[str, int]:
    """A text at a place, and the place after it, where the next length may stand."""
    (size,) = struct.unpack_from(order + "I", data, at)
    end = at + 4 + size
    if size < 1 or end > len(data):
        raise ValueError(f"a text of {size} bytes at byte {at} of {len(data)}")
    return data[at + 4 : end - 1].decode(), _aligned(end, 4)


def _sequence(data: bytes, at: int, order: str) -> tuple[FloatArray, int]:
    """Numbers at a place, and the place after them; none take no room for their alignment."""
    (count,) = struct.unpack_from(order + "I", data, at)
    if not count:
        return np.empty(0), at + 4
    start = _aligned(at + 4, 8)
    return np.frombuffer(data, order + "f8", count, start).astype(np.float64), start + 8 * count


def _aligned(at: int, size: int) -> int:
    return at + -(at - _BODY) % size
