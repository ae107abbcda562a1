"""Against ROS 2 itself: messages serialised by rclpy are read, and what is written is deserialised by rclpy."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

import iparam
from iparam.bridges.bag import open_bag, read_bag, write_bag

pytestmark = pytest.mark.reference
pytest.importorskip("rclpy", reason="the wheels of rclpy exist for Linux only")

JOINT_STATE, WRENCH, IMU = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/Imu"
SCRAMBLED = ["wrist_2_joint", "elbow_joint", "finger", "shoulder_pan_joint", "wrist_3_joint"]
SCRAMBLED += ["shoulder_lift_joint", "wrist_1_joint"]
COLUMNS = [3, 5, 1, 6, 0, 4]  # of the arm's joints, from the base on, in SCRAMBLED; written down by hand


@pytest.fixture(scope="module")
def ros() -> SimpleNamespace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a parser that rclpy's type support brings along
        from geometry_msgs.msg import WrenchStamped
        from rclpy.serialization import deserialize_message, serialize_message
        from sensor_msgs.msg import Imu, JointState

        types = {JOINT_STATE: JointState, WRENCH: WrenchStamped, IMU: Imu}
        for kind in types.values():
            serialize_message(kind())
    return SimpleNamespace(types=types, serialize=serialize_message, deserialize=deserialize_message)


def stamped(message: Any, stamp: int, frame: str = "") -> Any:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    message.header.frame_id = frame
    return message


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_messages_of_rclpy_are_read(maker: Any, ros: SimpleNamespace, storage: str) -> None:
    generator = np.random.default_rng(5)
    start, count = 1_800_000_000_999_999_990, 40
    position, velocity, effort = (generator.normal(size=(count, 7)) for _ in range(3))
    wrench, imu = (generator.normal(size=(count, 6)) for _ in range(2))
    imu[:, 2] += 9.8
    for i in range(count):
        stamp = start + 2_000_001 * i
        joints = stamped(ros.types[JOINT_STATE](), stamp)
        joints.name = SCRAMBLED
        joints.position, joints.velocity, joints.effort = (
            values[i].tolist() for values in (position, velocity, effort)
        )
        maker.raw("/joint_states", JOINT_STATE, stamp + 77, ros.serialize(joints))
        pull = stamped(ros.types[WRENCH](), stamp + 3, "tool0")
        for part, values in ((pull.wrench.force, wrench[i, :3]), (pull.wrench.torque, wrench[i, 3:])):
            part.x, part.y, part.z = values.tolist()
        maker.raw("/ft", WRENCH, stamp + 78, ros.serialize(pull))
        feel = stamped(ros.types[IMU](), stamp + 5, "tool0")
        for part, values in ((feel.linear_acceleration, imu[i, :3]), (feel.angular_velocity, imu[i, 3:])):
            part.x, part.y, part.z = values.tolist()
        maker.raw("/imu", IMU, stamp + 79, ros.serialize(feel))
    recording = read_bag(maker.write(storage=storage), "ur5e")
    np.testing.assert_array_equal(recording.signal("q").values, position[:, COLUMNS])
    np.testing.assert_array_equal(recording.signal("dq").values, velocity[:, COLUMNS])
    np.testing.assert_array_equal(recording.signal("tau").values, effort[:, COLUMNS])
    np.testing.assert_array_equal(recording.signal("wrench").values, wrench)
    np.testing.assert_array_equal(recording.signal("accelerometer").values, imu[:, :3])
    np.testing.assert_array_equal(recording.signal("gyro").values, imu[:, 3:])
    for name, offset in (("q", 0), ("wrench", 3), ("gyro", 5)):
        nanoseconds = np.rint(recording.signal(name).time * 1e9).astype(int)
        assert nanoseconds.tolist() == [2_000_001 * i + offset for i in range(count)]
    assert recording.metadata["bag"]["time_origin_ns"] == start


def raw_messages(path: Path, storage: str) -> list[tuple[str, str, int, bytes]]:
    """Topic, type, log time and bytes, by SQLite or by rosbags: iparam's reader has no part in it."""
    if storage == "sqlite3":
        with contextlib.closing(sqlite3.connect(path / f"{path.name}.db3")) as base:
            query = "SELECT name, type, timestamp, data FROM messages JOIN topics ON topic_id = topics.id"
            return base.execute(f"{query} ORDER BY messages.id").fetchall()
    with Reader(path) as reader:
        return [(c.topic, c.msgtype, time, bytes(raw)) for c, time, raw in reader.messages()]


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_rclpy_reads_what_is_written(tmp_path: Path, ros: SimpleNamespace, storage: Any) -> None:
    generator = np.random.default_rng(6)
    times = np.cumsum(generator.uniform(1e-3, 3e-3, size=30))
    q, dq, tau = (generator.normal(size=(30, 6)) for _ in range(3))
    recording = iparam.Recording("ur5e").with_signal("q", time=times, values=q)
    recording = recording.with_signal("dq", time=times, values=dq).with_signal("tau", time=times[::2], values=tau[::2])
    wrench = generator.normal(size=(15, 6))
    recording = recording.with_signal("wrench", time=times[5:20], values=wrench)
    gyro = generator.normal(size=(30, 3))
    recording = recording.with_signal("gyro", time=times, values=gyro)
    path = tmp_path / "bag"
    write_bag(recording, path, storage=storage)
    found: dict[str, list[Any]] = {}
    for topic, kind, time, raw in raw_messages(path, storage):
        message = ros.deserialize(raw, ros.types[kind])
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time
        found.setdefault(topic, []).append(message)
    joints = found["/joint_states"]
    assert all(list(message.name) == list(iparam.load_robot("ur5e").joint_names) for message in joints)
    np.testing.assert_array_equal([message.position for message in joints], q)
    np.testing.assert_array_equal([message.velocity for message in joints], dq)
    assert [len(message.effort) for message in joints] == [6, 0] * 15
    np.testing.assert_array_equal([message.effort for message in joints[::2]], tau[::2])
    stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in joints]
    np.testing.assert_allclose(np.diff(stamps), np.diff(times) * 1e9, rtol=0, atol=1.0)
    assert {message.header.frame_id for message in found["/wrench"]} == {"tool0"}
    forces = [(m.wrench.force.x, m.wrench.force.y, m.wrench.force.z, m.wrench.torque.x) for m in found["/wrench"]]
    np.testing.assert_array_equal(forces, wrench[:, :4])
    turns = [(m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z) for m in found["/imu"]]
    np.testing.assert_array_equal(turns, gyro)
    assert {m.linear_acceleration_covariance[0] for m in found["/imu"]} == {-1.0}  # not measured
    assert {m.angular_velocity_covariance[0] for m in found["/imu"]} == {0.0}


def test_big_endian_messages_are_read(maker: Any) -> None:
    """CDR has both byte orders; this message is laid out by hand after the OMG's rules."""
    name = b"shoulder_pan_joint\0"
    for i in range(3):
        body = struct.pack(">iI", 5, 100 * i) + struct.pack(">I1s", 1, b"\0")  # stamp, empty frame
        body += b"\0" * (-len(body) % 4) + struct.pack(">I", 1)  # one name
        body += struct.pack(">I", len(name)) + name
        body += b"\0" * (-len(body) % 4) + struct.pack(">I", 1)  # one position
        body += b"\0" * (-len(body) % 8) + struct.pack(">d", 0.25 * i)
        body += struct.pack(">II", 0, 0)  # no velocity, no effort
        maker.raw("/joint_states", JOINT_STATE, 10**9 + i, b"\0\0\0\0" + body)
    (samples,) = open_bag(maker.write()).topics[0].readable()
    assert samples.values[:, 0].tolist() == [[0.0], [0.25], [0.5]]
    assert samples.names == ("shoulder_pan_joint",)
    assert samples.stamps.tolist() == [5 * 10**9, 5 * 10**9 + 100, 5 * 10**9 + 200]
