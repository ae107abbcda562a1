"""Recordings come back from Parquet and CSV bit for bit, and a killed writer leaves the old file whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iparam.errors import ContradictionError, FileFormatError, InputError, UnknownNameError
from iparam.recording import CHANNELS, Recording, Signal
from iparam.remarks import remark

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
STAMPS = st.floats(-1e21, 1e21)


@st.composite
def recordings(draw: st.DrawFn, units: bool) -> Recording:
    """Signals of different rates and time stamps that share the instant 0."""
    signals = {}
    joints = draw(st.integers(1, 3))
    for name in draw(st.sets(st.sampled_from([*CHANNELS, "custom"]), min_size=1, max_size=4)):
        channel = CHANNELS.get(name)
        width = len(channel.columns) or joints if channel else joints
        times = sorted({0.0, *(t + 0.0 for t in draw(st.sets(STAMPS, max_size=6)))})
        rows = st.lists(FINITE, min_size=width, max_size=width)
        values = draw(st.lists(rows, min_size=len(times), max_size=len(times)))
        unit, frame = (channel.unit, channel.frame) if channel else ("", "")
        if units:
            unit = draw(st.sampled_from([channel.unit, ""]) if channel else st.text(max_size=3))
            frame = draw(st.sampled_from(["joint", "tool0", "base", ""]))
        signals[name] = Signal(times, values, unit, frame)  # type: ignore[arg-type]
    metadata = draw(st.dictionaries(st.text(max_size=4), st.none() | FINITE | st.text(max_size=3), max_size=3))
    texts = draw(st.lists(st.text(max_size=5), max_size=2))
    remarks = tuple(remark("signal-incomplete", signal="tau", columns=text) for text in texts)
    return Recording("some arm", signals, metadata if units else {}, remarks if units else ())


def assert_same(found: Recording, expected: Recording) -> None:
    assert sorted(found.signals) == sorted(expected.signals)
    for name, signal in expected.signals.items():
        other = found.signals[name]
        assert other.time.tobytes() == signal.time.tobytes()
        assert other.values.tobytes() == signal.values.tobytes()
        assert (other.unit, other.frame) == (signal.unit, signal.frame)


@settings(max_examples=60, deadline=None)
@given(made=recordings(units=True))
def test_parquet_returns_every_bit(made: Recording, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("parquet") / "run.parquet"
    made.save(path)
    found = Recording.load(path, angles="radians")
    assert_same(found, made)
    assert found.robot == made.robot
    assert dict(found.metadata) == dict(made.metadata)
    assert found.remarks[: len(made.remarks)] == made.remarks


@settings(max_examples=60, deadline=None)
@given(made=recordings(units=False))
def test_csv_returns_every_bit(made: Recording, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("csv") / "run.csv"
    made.save(path)
    assert_same(Recording.load(path, angles="radians"), made)


def excitation(seed: int = 0) -> Recording:
    rng = np.random.default_rng(seed)
    fast, slow = np.arange(2000) / 500, np.arange(400) / 100 + 0.0007
    made = Recording("ur5e", metadata={"seed": seed, "rates": {"q": 500.0}})
    made = made.with_signal("q", time=fast, values=np.sin(fast[:, None] + np.arange(6)))
    return made.with_signal("wrench", time=slow, values=rng.normal(size=(400, 6)))


def test_loading_again_adds_no_warnings(tmp_path: Path) -> None:
    rough = excitation().with_signal("accelerometer", time=[0.0, 0.01, 0.02], values=np.zeros((3, 3)))
    rough.save(tmp_path / "a.parquet")
    first = Recording.load(tmp_path / "a.parquet")
    assert ("signal-ends-early", "accelerometer") in [(one.code, one.values["signal"]) for one in first.remarks]
    first.save(tmp_path / "b.parquet")
    assert Recording.load(tmp_path / "b.parquet").remarks == first.remarks


def test_the_csv_is_the_documented_one(tmp_path: Path) -> None:
    excitation().save(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == "time,q0,q1,q2,q3,q4,q5,fx,fy,fz,tx,ty,tz"
    assert len(lines) == 2401
    assert lines[1].startswith("0,")
    assert lines[1].endswith(",,,,,,")


def test_a_csv_has_no_room_for_another_frame(tmp_path: Path) -> None:
    made = excitation().with_signal("wrench", Signal([0.0, 1.0], np.zeros((2, 6)), "N, N m", "base"))
    with pytest.raises(FileFormatError, match=r"frame 'base' of wrench.*save as \.parquet"):
        made.save(tmp_path / "run.csv")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"\.parquet, \.csv"):
        excitation().save(tmp_path / "run.pickle")
    with pytest.raises(InputError, match="no signals"):
        Recording().save(tmp_path / "run.csv")
    with pytest.raises(InputError, match="does not exist"):
        excitation().save(tmp_path / "nowhere" / "run.csv")
    two = excitation().with_signal("gyro", time=[1e6, 1e6 + 1], values=np.zeros((2, 3)))
    with pytest.raises(FileFormatError, match="two clocks"):
        two.save(tmp_path / "run.parquet")


def test_a_plain_parquet_table_is_read_too(tmp_path: Path) -> None:
    table = {"time": [0.0, 1.0], "q0": [1, 2], "note": ["a", "b"]}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet")
    found = Recording.load(tmp_path / "t.parquet")
    assert found.signal("q").values.tolist() == [[1.0], [2.0]]
    assert (found.remarks[0].code, found.remarks[0].values["columns"]) == ("columns-without-numbers", "note (string)")


NUMBERS = {
    "int64": pyarrow.array([1, 2**60 + 1, None]),
    "uint64": pyarrow.array([1, 2**64 - 1, None], pyarrow.uint64()),
    "int8": pyarrow.array([1, -128, None], pyarrow.int8()),
    "half": pyarrow.array(np.array([1.0, 2.0, 3.0], np.float16)),
    "decimal": pyarrow.array([Decimal("1.00"), Decimal("-1.25"), None]),
    "dictionary": pyarrow.array([1.0, 2.5, None]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_kind(kind: str, tmp_path: Path) -> None:
    path, column = tmp_path / "t.parquet", NUMBERS[kind]
    pyarrow.parquet.write_table(pyarrow.table({"time": [0.0, 1.0, 2.0], "q0": column}), path)
    expected = [float(value) for value in column.to_pylist() if value is not None]  # the nearest number
    assert Recording.load(path, angles="radians").signal("q").values.ravel().tolist() == expected


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([[1.0], [2.0], []]),
        pyarrow.array([{"a": 1.0}] * 3),
        pyarrow.nulls(3),
        pyarrow.array(["1", "2", "3"]).dictionary_encode(),
        pyarrow.array([True, False, True]),
        pyarrow.array([b"\xff"] * 3),
    ],
    ids=lambda column: str(column.type),
)
def test_what_is_no_number_is_left_out_with_its_type(column: pyarrow.Array, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"time": [0.0, 1.0, 2.0], "q0": [0.0] * 3, "dq0": column}), path)
    found = Recording.load(path)
    assert list(found.signals) == ["q"]
    assert found.remarks[0].code == "columns-without-numbers"
    assert str(found.remarks[0].values["columns"]).startswith("dq0 (")


@pytest.mark.parametrize(("unit", "second"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("zone", [None, "Europe/Oslo"])
def test_times_may_be_dates(unit: str, second: int, zone: str | None, tmp_path: Path) -> None:
    start = 1_700_000_000 * second
    times = pyarrow.array([start, start + second // 100, start + second // 50], pyarrow.timestamp(unit, zone))
    pyarrow.parquet.write_table(pyarrow.table({"time": times, "q0": [0.0] * 3}), tmp_path / "t.parquet")
    found = Recording.load(tmp_path / "t.parquet").signal("q").time
    np.testing.assert_allclose(found - 1.7e9, [0.0, 0.01, 0.02], atol=1e-6)
    with pytest.raises(ContradictionError, match="in s by the file's header and in us as stated"):
        Recording.load(tmp_path / "t.parquet", time_unit="us")


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"time": [0.0, 1.0], "somename": [0.0, 0.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"somename", b"some\xff\xfeme"))
    with pytest.raises(FileFormatError, match="the names of its columns are not UTF-8"):
        Recording.load(path)


def rewritten(path: Path, change: object) -> None:
    table = pyarrow.parquet.read_table(path)
    document = json.loads(table.schema.metadata[b"iparam"])
    document = change(document)  # type: ignore[operator]
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"iparam": text}), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: {**d, "format": "iparam-recording/2"}, "'iparam-recording/2'.*another version"),
        (lambda d: {**d, "format": "iparam-result/1"}, "it is no recording"),
        (lambda d: [d], "it is no recording"),
        (lambda d: {**d, "signals": []}, "'signals' is not a dict"),
        (lambda d: {**d, "signals": {"q": {"unit": 3}}}, "signal 'q' lacks unit"),
        (lambda d: b"{", "metadata is damaged"),
        (lambda d: {**d, "metadata": {"a": float("nan")}}, "metadata is damaged: .*it holds NaN"),
        (lambda d: b"[" * 100_000, "metadata is damaged"),
    ],
)
def test_foreign_and_damaged_metadata(change: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    excitation().save(path)
    rewritten(path, change)
    with pytest.raises(FileFormatError, match=message):
        Recording.load(path)


def test_a_cut_or_garbled_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    excitation().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cut off"):
        Recording.load(path)
    path.write_bytes(whole[:1000] + bytes(1000) + whole[2000:-200] + bytes(192) + whole[-8:])
    with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
        Recording.load(path)


def poses(count: int) -> dict[str, np.ndarray]:
    """The columns of a wrench and of gravity in the sensor's axes, without a time."""
    names = ("fx", "fy", "fz", "tx", "ty", "tz", "gx", "gy", "gz")
    return dict(zip(names, np.random.default_rng(0).normal(size=(9, count)), strict=True))


def test_rows_without_a_time_are_poses_in_every_kind_of_file(tmp_path: Path) -> None:
    columns = poses(7)
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "poses.parquet")
    table = np.column_stack(list(columns.values()))
    rows = [",".join(map(repr, row)) for row in table.tolist()]
    (tmp_path / "poses.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    np.savez(tmp_path / "poses.npz", **columns)
    np.savez(tmp_path / "aside.npz", wrench=table[:, :6].T, gravity_in_sensor=table[:, 6:])
    read = [Recording.load(tmp_path / name) for name in ("poses.parquet", "poses.csv", "poses.npz", "aside.npz")]
    for recording in read:
        assert recording.metadata == {"rows": "poses"}
        np.testing.assert_array_equal(recording.signal("wrench").time, np.arange(7.0))
        np.testing.assert_array_equal(recording.signal("gravity_in_sensor").values[:, 0], columns["gx"])
    part = Recording.load(tmp_path / "poses.csv", rows="2:")
    np.testing.assert_array_equal(part.signal("wrench").values, read[1].signal("wrench").values[2:])
    read[0].save(tmp_path / "saved.parquet")  # where they have a time, and are not asked for its unit
    assert Recording.load(tmp_path / "saved.parquet").remarks == read[0].remarks


@pytest.mark.parametrize("arguments", [{"time_unit": "ms"}, {"time_range": (0.0, 3.0)}])
def test_poses_have_neither_a_unit_nor_a_range_of_times(tmp_path: Path, arguments: dict[str, Any]) -> None:
    pyarrow.parquet.write_table(pyarrow.table(poses(7)), tmp_path / "poses.parquet")
    with pytest.raises(InputError, match=rf"{next(iter(arguments))} is about the time, .* leave it out"):
        Recording.load(tmp_path / "poses.parquet", **arguments)


WRITER = """
import sys
import numpy as np
from iparam.remarks import remark
from iparam.recording import Recording
path, rows = sys.argv[1], int(sys.argv[2])
time = np.arange(rows) / 500
for round in range(10_000):
    made = Recording("", metadata={"round": round}).with_signal("q", time=time, values=np.full((rows, 6), float(round)))
    made.save(path)
    print(round, flush=True)
"""


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_killed_writer_leaves_a_whole_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    rng = np.random.default_rng(5)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), "20000"], stdout=subprocess.PIPE, env=environment
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        clock.sleep(rng.uniform(0.0, 0.1))
        writer.kill()
        writer.wait()
        writer.stdout.close()
        found = Recording.load(path, angles="radians").signal("q")
        assert found.num_samples == 20000
        assert len(np.unique(found.values)) == 1


def test_a_table_holds_what_was_measured_at_any_tool(tmp_path: Path) -> None:
    wrench = Signal([0.0, 1.0], np.arange(12.0).reshape(2, 6), "N, N m", "link_eef")
    made = Recording("xarm7.urdf", {"wrench": wrench}, {"tool_frame": "link_eef"})
    made.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv").signal("wrench")
    assert read.frame == "tool"  # a table does not name it
    assert read.values.tobytes() == wrench.values.tobytes()
    made.save(tmp_path / "run.parquet")
    assert Recording.load(tmp_path / "run.parquet").signal("wrench").frame == "link_eef"
    elsewhere = Recording("xarm7.urdf", {"wrench": wrench}, {"tool_frame": "link7"})
    with pytest.raises(FileFormatError, match=r"no room for .* frame 'link_eef' of wrench"):
        elsewhere.save(tmp_path / "other.csv")


def test_the_former_name_of_any_tool_frame_is_read_as_such(tmp_path: Path) -> None:
    """Files of earlier versions call the tool frame of every arm tool0; later ones say what they call it."""
    wrench = Signal([0.0, 1.0], np.zeros((2, 6)), "N, N m", "tool0")
    Recording("", {"wrench": wrench}).save(tmp_path / "new.parquet")
    assert Recording.load(tmp_path / "new.parquet").signal("wrench").frame == "tool0"
    table = pyarrow.parquet.read_table(tmp_path / "new.parquet")
    document = json.loads(table.schema.metadata[b"iparam"])
    del document["tool_label"]
    old = table.replace_schema_metadata({b"iparam": json.dumps(document).encode()})
    pyarrow.parquet.write_table(old, tmp_path / "old.parquet")
    assert Recording.load(tmp_path / "old.parquet").signal("wrench").frame == "tool"
