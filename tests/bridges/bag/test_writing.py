"""Written and read back, a recording is the same: times to the nanosecond, values to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import Reader

import iparam
from iparam.bridges.bag import ImportSettings, read_bag, write_bag
from iparam.errors import FileWriteError, InputError, UnknownNameError

WIDTHS = {"q": 6, "dq": 6, "tau": 6, "wrench": 6, "accelerometer": 3, "gyro": 3}
AS_IT_IS = ImportSettings(
    angles="radians", units={"force": "N", "torque": "Nm", "acceleration": "m/s2", "gyro": "rad/s"}
)
numbers = st.floats(-1e9, 1e9, width=64)  # with the smallest there are, and -0.0


@st.composite
def recordings(draw: st.DrawFn) -> iparam.Recording:
    """Signals on stamps of their own that partly coincide, with any finite values; from nowhere, or from a bag."""
    start = draw(st.integers(0, 10**12))
    steps = draw(st.lists(st.integers(1, 10**9), min_size=2, max_size=12))
    grid = start + np.cumsum(steps)
    recording = iparam.Recording("ur5e")
    names = ["q", *draw(st.lists(st.sampled_from(sorted(set(WIDTHS) - {"q"})), unique=True))]
    for name in names:
        # All share the first and last stamp: signals without common time are refused.
        inner = draw(st.lists(st.booleans(), min_size=grid.size - 2, max_size=grid.size - 2))
        own = grid[np.array([True, *inner, True])]
        width = WIDTHS[name]
        rows = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=own.size, max_size=own.size))
        if name == "tau":
            rows[0][0] = 1.0  # efforts that are all zero count as not measured
        recording = recording.with_signal(name, time=own / 1e9, values=rows)
    if draw(st.booleans()):
        recording = recording.with_metadata(bag={"time_origin_ns": draw(st.integers(1, 2 * 10**18))})
    return recording


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recording=recordings(), storage=st.sampled_from(["mcap", "sqlite3"]))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, recording: iparam.Recording, storage: Any) -> None:
    path = tmp_path_factory.mktemp("bags") / "bag"
    write_bag(recording, path, storage=storage)
    back = read_bag(path, settings=AS_IT_IS)
    assert set(back.signals) == set(recording.signals)
    assert back.robot == "ur5e"
    for name, signal in recording.signals.items():
        other = back.signal(name)
        np.testing.assert_array_equal(other.values.view(np.int64), signal.values.view(np.int64))
        np.testing.assert_array_equal(np.rint(other.time * 1e9), np.rint(signal.time * 1e9))
        assert (other.unit, other.frame) == (signal.unit, "tool0" if signal.frame == "tool" else signal.frame)


def simple() -> iparam.Recording:
    time = np.arange(10) * 0.002
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=np.full((10, 6), 0.25))
    return recording.with_signal("wrench", time=time, values=np.full((10, 6), 1.5))


def test_a_bag_of_a_bag_has_the_same_stamps(tmp_path: Path) -> None:
    recording = simple().with_metadata(bag={"time_origin_ns": 1_700_000_000_123_456_789})
    write_bag(recording, tmp_path / "one")
    write_bag(read_bag(tmp_path / "one"), tmp_path / "two", storage="sqlite3")
    stamps = []
    for name in ("one", "two"):
        with Reader(tmp_path / name) as reader:
            stamps.append([(c.topic, time, bytes(raw)) for c, time, raw in reader.messages()])
    assert sorted(stamps[0]) == sorted(stamps[1])
    assert stamps[0][0][1] == 1_700_000_000_123_456_789


def test_signals_without_a_message_stay_out(tmp_path: Path) -> None:
    from iparam.bridges.bag.writing import left_out

    recording = simple().with_signal("current", time=[0.0, 0.002], values=np.ones((2, 6)))
    assert left_out(recording) == ("current",)
    assert [topic.topic for topic in write_bag(recording, tmp_path / "bag")] == ["/joint_states", "/wrench"]


@pytest.mark.parametrize(
    ("recording", "options", "message"),
    [
        (iparam.Recording(""), {}, "does not say which robot"),
        (iparam.Recording("ur5e"), {}, "none of the signals q, dq"),
        (iparam.Recording("ur5e").with_signal("q", time=[0.0], values=[[0.0] * 5]), {}, "q has 5 columns"),
        (simple(), {"joint_topic": "joints"}, "begins with /"),
        (simple(), {"joint_topic": "/a", "wrench_topic": "/a"}, "different names"),
        (simple(), {"storage": "tape"}, "unknown storage 'tape'"),
        (
            iparam.Recording("ur5e").with_signal("q", time=[0.0, 1e-10], values=[[0.0] * 6] * 2),
            {},
            "less than a nanosecond apart",
        ),
        (iparam.Recording("ur5e").with_signal("q", time=[-5.0], values=[[0.0] * 6]), {}, "what ROS can stamp"),
        (iparam.Recording("ur5e").with_signal("q", time=[3e9], values=[[0.0] * 6]), {}, "what ROS can stamp"),
        (iparam.Recording("ur5e").with_signal("q", time=[1e20], values=[[0.0] * 6]), {}, "what ROS can stamp"),
        (
            simple().with_signal("gyro", iparam.Signal([0.0], [[1.0] * 3], "rad/s", "base")),
            {},
            "gyro is in frame 'base'",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    tmp_path: Path, recording: iparam.Recording, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        write_bag(recording, tmp_path / "bag", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_wrench_in_another_frame_says_so(tmp_path: Path) -> None:
    recording = simple()
    wrench = recording.signal("wrench")
    recording = recording.with_signal("wrench", iparam.Signal(wrench.time, wrench.values, wrench.unit, "base"))
    write_bag(recording, tmp_path / "bag")
    back = read_bag(tmp_path / "bag", settings=ImportSettings(wrench_frame="base"))
    turn = iparam.forward_kinematics(iparam.load_robot("ur5e"), np.full(6, 0.25))[:3, :3]
    np.testing.assert_allclose(turn @ back.signal("wrench").values[0, :3], [1.5, 1.5, 1.5])


def test_what_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "bag"
    write_bag(simple(), path)
    before = (path / "bag.mcap").read_bytes()
    with pytest.raises(InputError, match=r"overwrite="):
        write_bag(simple(), path, storage="sqlite3")
    assert (path / "bag.mcap").read_bytes() == before
    write_bag(simple(), path, storage="sqlite3", overwrite=True)
    assert sorted(file.name for file in path.iterdir()) == ["bag.db3", "metadata.yaml"]
    (path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds more than a bag, e\.g\. 'notes\.txt'"):
        write_bag(simple(), path, overwrite=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="no folder of a bag"):
        write_bag(simple(), tmp_path / "file", overwrite=True)
    with pytest.raises(InputError, match="does not exist; create it first"):
        write_bag(simple(), tmp_path / "none" / "bag")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bag", "file"]


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the messages: a signal may arrive at any of them, here at the tenth."""
    from rosbags.rosbag2 import Writer

    calls = []
    original = Writer.write

    def write(self: Any, *arguments: Any) -> None:
        calls.append(None)
        if len(calls) == 10:
            raise KeyboardInterrupt
        original(self, *arguments)

    monkeypatch.setattr(Writer, "write", write)
    with pytest.raises(KeyboardInterrupt):
        write_bag(simple(), tmp_path / "bag")
    assert list(tmp_path.iterdir()) == []
    write_bag(simple(), tmp_path / "bag")
    before = (tmp_path / "bag" / "bag.mcap").read_bytes()
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        write_bag(simple(), tmp_path / "bag", overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["bag"]
    assert (tmp_path / "bag" / "bag.mcap").read_bytes() == before


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_full_disk_leaves_nothing_and_is_told(tmp_path: Path, storage: str) -> None:
    """A file that may not grow is to its writer what a disk without room is."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(FileWriteError, match="cannot write"):
            write_bag(simple(), tmp_path / "bag", storage=storage)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []
