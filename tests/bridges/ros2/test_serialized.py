"""Serialised messages: what our reader finds is what rclpy put in; what is cut off or garbled is refused."""

from __future__ import annotations

import contextlib
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iparam.bridges.ros2.serialized import JointStateDecoder, read_linear_acceleration, read_wrench
from iparam.errors import InputError

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState

numbers = st.floats(allow_nan=True, allow_infinity=True)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
stamps = st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1))
joint_states = st.builds(
    lambda stamp, frame, names, position, velocity, effort: stamped(
        JointState(name=names, position=position, velocity=velocity, effort=effort), stamp, frame
    ),
    stamps,
    texts,
    st.lists(texts, max_size=8),
    *(st.lists(numbers, max_size=8) for _ in range(3)),
)


def stamped(message: JointState, stamp: tuple[int, int], frame: str) -> JointState:
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = frame
    return message


def nanoseconds(message: JointState | WrenchStamped | Imu) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


@given(st.lists(joint_states, min_size=1, max_size=4))
def test_joint_states_one_after_the_other(messages: list[JointState]) -> None:
    decode = JointStateDecoder()
    for message in (*messages, *messages):  # names that come again are taken from memory
        found = decode(serialize_message(message))
        assert found.stamp == nanoseconds(message)
        assert found.names == tuple(message.name)
        np.testing.assert_array_equal(found.position, np.array(message.position))
        np.testing.assert_array_equal(found.velocity, np.array(message.velocity))


@given(stamps, texts, st.lists(numbers, min_size=6, max_size=6))
def test_wrenches(stamp: tuple[int, int], frame: str, values: list[float]) -> None:
    message = stamped(WrenchStamped(), stamp, frame)
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = values
    found = read_wrench(serialize_message(message))
    assert (found.stamp, found.frame) == (nanoseconds(message), frame)
    np.testing.assert_array_equal(found.values, values)


@given(stamps, texts, st.lists(numbers, min_size=3, max_size=3))
def test_accelerations(stamp: tuple[int, int], frame: str, values: list[float]) -> None:
    message = stamped(Imu(), stamp, frame)
    message.angular_velocity.z, message.orientation.x = 7.0, 8.0
    message.orientation_covariance, message.linear_acceleration_covariance = np.full(9, 5.0), np.full(9, 6.0)
    message.linear_acceleration.x, message.linear_acceleration.y, message.linear_acceleration.z = values
    found = read_linear_acceleration(serialize_message(message))
    assert (found.stamp, found.frame) == (nanoseconds(message), frame)
    np.testing.assert_array_equal(found.values, values)


@pytest.mark.parametrize(("code", "order", "name"), [(b"\x00\x00", ">", "big"), (b"\x00\x01", "<", "little")])
def test_both_orders_of_bytes(code: bytes, order: str, name: Literal["big", "little"]) -> None:
    """Put together byte by byte: rclpy writes the order of this machine only."""
    head = code + b"\0\0" + (5).to_bytes(4, name) + (7).to_bytes(4, name) + (2).to_bytes(4, name) + b"a\0" + b"\0\0"
    found = read_wrench(head + np.arange(6, dtype=order + "f8").tobytes())
    assert (found.stamp, found.frame, found.values.tolist()) == (5_000_000_007, "a", [0, 1, 2, 3, 4, 5])
    joint = (1).to_bytes(4, name) + (2).to_bytes(4, name) + b"j\0" + b"\0\0"
    numbers = (1).to_bytes(4, name) + np.array([0.5], dtype=order + "f8").tobytes() + bytes(8)
    state = JointStateDecoder()(head + joint + numbers)
    assert (state.stamp, state.names, state.position.tolist()) == (5_000_000_007, ("j",), [0.5])
    assert not state.velocity.size


@given(joint_states, st.data())
def test_what_is_cut_off_is_refused_and_does_no_harm(message: JointState, data: st.DataObject) -> None:
    decode, whole = JointStateDecoder(), serialize_message(message)
    needed = len(whole) - 4 - (8 + 8 * len(message.effort) if message.effort else 0) - 8
    cut = data.draw(st.integers(0, max(needed, 0)))
    with pytest.raises(InputError, match="a joint state cannot be read"):
        decode(whole[:cut])
    assert decode(whole).names == tuple(message.name)


@given(st.binary(max_size=200))
def test_garbage_raises_nothing_else(data: bytes) -> None:
    for read in (JointStateDecoder(), read_wrench, read_linear_acceleration):
        with contextlib.suppress(InputError):  # some garbage is a message
            read(data)
        with contextlib.suppress(InputError):
            read(b"\x00\x01" + data)


def test_another_encoding_is_named() -> None:
    with pytest.raises(InputError, match="its encoding is 0007, not plain CDR"):
        read_wrench(b"\x00\x07" + bytes(80))
