"""Bags written by rosbags' own writer, with messages made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.LATEST)
TYPES = STORE.types
JOINT_STATE, WRENCH, IMU = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/Imu"
START = 1_700_000_000_123_456_789  # ns, an ordinary day
UR_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)


def header(stamp: int, frame: str) -> Any:
    return TYPES["std_msgs/msg/Header"](TYPES["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), frame)


@dataclass
class BagMaker:
    """Collects serialised messages, then writes them in the order in which they were given."""

    folder: Path
    messages: list[tuple[str, str, int, bytes]] = field(default_factory=list)  # topic, type, log time, raw

    def raw(self, topic: str, kind: str, log: int, data: bytes) -> None:
        self.messages.append((topic, kind, log, data))

    def joints(
        self,
        stamp: int,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
        topic: str = "/joint_states",
        log: int | None = None,
    ) -> None:
        arrays = [np.array(values, dtype=np.float64) for values in (position, velocity, effort)]
        message = TYPES[JOINT_STATE](header(stamp, ""), list(names), *arrays)
        self.raw(topic, JOINT_STATE, stamp if log is None else log, bytes(STORE.serialize_cdr(message, JOINT_STATE)))

    def wrench(
        self, stamp: int, values: Sequence[float], frame: str = "tool0", topic: str = "/wrench", log: int | None = None
    ) -> None:
        vector = TYPES["geometry_msgs/msg/Vector3"]
        pair = TYPES["geometry_msgs/msg/Wrench"](vector(*values[:3]), vector(*values[3:]))
        message = TYPES[WRENCH](header(stamp, frame), pair)
        self.raw(topic, WRENCH, stamp if log is None else log, bytes(STORE.serialize_cdr(message, WRENCH)))

    def imu(
        self,
        stamp: int,
        acceleration: Sequence[float],
        gyro: Sequence[float],
        frame: str = "tool0",
        topic: str = "/imu",
    ) -> None:
        vector, zeros = TYPES["geometry_msgs/msg/Vector3"], np.zeros(9)
        turn = TYPES["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
        message = TYPES[IMU](header(stamp, frame), turn, zeros, vector(*gyro), zeros, vector(*acceleration), zeros)
        self.raw(topic, IMU, stamp, bytes(STORE.serialize_cdr(message, IMU)))

    def write(self, name: str = "bag", storage: str = "mcap", compression: CompressionMode | None = None) -> Path:
        path = self.folder / name
        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        writer = Writer(path, version=9, storage_plugin=plugin)
        if compression is not None:
            writer.set_compression(compression, CompressionFormat.ZSTD)
        with writer:
            topics = dict.fromkeys((topic, kind) for topic, kind, _, _ in self.messages)
            connections = {key: writer.add_connection(*key, typestore=STORE) for key in topics}
            for topic, kind, log, data in self.messages:
                writer.write(connections[topic, kind], log, data)
        return path


@pytest.fixture
def maker(tmp_path: Path) -> BagMaker:
    return BagMaker(tmp_path)


@pytest.fixture
def fill() -> Callable[..., None]:
    """Fills a bag with an arm that turns slowly under a load of 2 kg: joints and wrench, samples 2 ms apart."""

    def filled(maker: BagMaker, count: int, names: Sequence[str] = UR_JOINTS, frame: str = "tool0") -> None:
        for i in range(count):
            stamp = START + 2_000_000 * i
            position = [0.3 * np.sin(0.01 * i + joint) for joint in range(len(names))]
            maker.joints(stamp, names, position, [0.01 * joint for joint in range(len(names))])
            maker.wrench(stamp + 500_000, [0.1 * i, 2.0, 19.6, 0.01, 0.02, 0.03], frame)

    return filled
