"""ROS 1 bags, written by rosbags' own writer from messages made by hand: whole, packed, cut and damaged."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Reader, Writer
from rosbags.typesys import Stores, get_typestore

from iparam.bridges.bag import ImportSettings, open_bag, read_bag
from iparam.cli.main import main
from iparam.errors import FileFormatError
from iparam.recording import Recording

STORE = get_typestore(Stores.ROS1_NOETIC)
TYPES = STORE.types
JOINT_STATE, WRENCH, TEXT = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped", "std_msgs/msg/String"
START = 1_700_000_000_123_456_789
COUNT = 300
NAMES = ["elbow_joint", "shoulder_lift_joint", "shoulder_pan_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]
ORDER = [2, 1, 0, 3, 4, 5]  # of the robot, in the order of the names


def messages() -> Iterator[tuple[str, str, int, bytes]]:
    """Topic, type, time of recording and message: an arm, its sensor, and a topic that is of no use."""
    vector, time = TYPES["geometry_msgs/msg/Vector3"], TYPES["builtin_interfaces/msg/Time"]
    for i in range(COUNT):
        stamp = START + 2_000_000 * i
        head = TYPES["std_msgs/msg/Header"](i, time(*divmod(stamp, 10**9)), "tool0")
        q, dq = 0.3 * np.sin(0.01 * i + np.arange(6)), 1.5 * np.cos(0.01 * i + np.arange(6))
        state = TYPES[JOINT_STATE](head, NAMES, q, dq, np.zeros(6))
        yield "/joint_states", JOINT_STATE, stamp + 100_000, bytes(STORE.serialize_ros1(state, JOINT_STATE))
        pair = TYPES["geometry_msgs/msg/Wrench"](vector(0.1 * i, 2.0, 19.6), vector(0.01 * i, 0.02, 0.03))
        wrench = TYPES[WRENCH](head, pair)
        yield "/wrench", WRENCH, stamp + 200_000, bytes(STORE.serialize_ros1(wrench, WRENCH))
    yield "/said", TEXT, START, bytes(STORE.serialize_ros1(TYPES[TEXT]("done"), TEXT))


def write(path: Path, compression: Writer.CompressionFormat | None = None) -> Path:
    writer = Writer(path)
    if compression is not None:
        writer.set_compression(compression)
    writer.chunk_threshold = 20_000  # several chunks
    with writer:
        connections: dict[str, Any] = {}
        for topic, kind, stamp, data in messages():
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], stamp, data)
    return path


@pytest.fixture(params=[None, *Writer.CompressionFormat], ids=["plain", "bz2", "lz4"])
def bag(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / "run.bag", request.param)


def test_joint_states_and_wrench_become_a_recording(bag: Path) -> None:
    found = read_bag(bag, "ur5e", ImportSettings(effort="ignore"))
    expected = 0.3 * np.sin(0.01 * np.arange(COUNT)[:, None] + np.arange(6))
    np.testing.assert_array_equal(found.signal("q").values, expected[:, ORDER])
    np.testing.assert_array_equal(found.signal("wrench").values[:, 0], 0.1 * np.arange(COUNT))
    np.testing.assert_allclose(found.signal("q").time, 0.002 * np.arange(COUNT), atol=1e-12)  # of the headers
    assert found.metadata["source"] == "ROS 1 bag"
    assert found.metadata["bag"]["storage"] == ["ros1"]
    assert not [one for one in found.remarks if one.code.startswith("bag-")]


def test_the_topics_are_those_that_rosbags_finds(bag: Path) -> None:
    contents = open_bag(bag, kept_types=())
    with Reader(bag) as reader:
        theirs = {name: (topic.msgtype, topic.msgcount) for name, topic in reader.topics.items()}
    assert {topic.name: (topic.type, topic.count) for topic in contents.topics} == theirs
    assert contents.remarks == ()


def test_commands_read_them_or_say_how(bag: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "run.parquet"
    assert main(["bag", "info", str(bag)]) == 0
    assert "/joint_states" in capsys.readouterr().out
    assert main(["bag", "import", str(bag), "--robot", "ur5e", "--effort", "ignore", "--output", str(output)]) == 0
    assert Recording.load(output).signal("wrench").num_samples == COUNT
    capsys.readouterr()
    assert main(["identify", "payload", str(bag), "--robot", "ur5e"]) == 1
    assert "iparam bag import" in capsys.readouterr().err


def test_a_bag_that_is_cut_or_has_no_index_names_the_tool_that_repairs_it(tmp_path: Path) -> None:
    bag = write(tmp_path / "run.bag")
    whole = bytearray(bag.read_bytes())
    place = whole.index(b"index_pos=") + len(b"index_pos=")
    (index,) = struct.unpack_from("<Q", whole, place)
    unfinished = bytes(whole[:place]) + bytes(8) + bytes(whole[place + 8 : index])
    for contents in (bytes(whole[: len(whole) // 2]), unfinished):
        bag.write_bytes(contents)
        with pytest.raises(FileFormatError, match=r"rosbag reindex run\.bag"):
            open_bag(bag)


def test_bytes_that_changed_end_in_a_bag_or_an_error(bag: Path) -> None:
    whole = bag.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 8):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        bag.write_bytes(bytes(changed))
        try:
            contents = open_bag(bag)
        except FileFormatError:
            continue
        assert sum(topic.count for topic in contents.topics) <= 2 * COUNT + 1


@pytest.mark.parametrize(
    "contents",
    [
        b"#ROSBAG V2.0\n",
        b"#ROSBAG V1.2\n" + bytes(100),
        b"#ROSBAG V2.0\n" + bytes(100),
        b"#ROSBAG V2.0\n" + b"\xff" * 100,
    ],
)
def test_what_holds_no_bag_is_refused(contents: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.bag").write_bytes(contents)
    with pytest.raises(FileFormatError, match=r"run\.bag"):
        read_bag(tmp_path / "run.bag", "ur5e")


def test_other_layouts_of_a_message_are_refused(tmp_path: Path) -> None:
    bag = write(tmp_path / "run.bag")
    bag.write_bytes(bag.read_bytes().replace(b"float64[] velocity", b"float32[] velocity"))
    with pytest.raises(FileFormatError, match=r"definition of sensor_msgs/msg/JointState.* differs from ROS 1's"):
        read_bag(bag, "ur5e")
