"""A harmless change changes nothing: names, order, formats, units that are declared, a shifted clock, another path.

The same run, written in other ways, gives the same load, the same standard deviations and the same verdict. A change of
scale or of frame transforms the result as physics says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import scipy.io
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import iparam
from iparam.bridges.bag import read_bag
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording, Signal
from iparam.rounding import NORMAL_95

DATA = Path(__file__).resolve().parents[1] / "data"
ROBOT = iparam.load_robot("ur5e")
RATE = 128.0
"""A power of two: clocks that are shifted by whole seconds have the same steps to the last digit."""

DIGITS = 1e-9
"""Relative to the size of a parameter: numbers that are written with all digits come back with all of them, and units
are converted with one rounding."""

PHI = iparam.Payload.box(size=(0.10, 0.16, 0.12), mass=2.0, offset=(0.01, 0.0, 0.061)).parameters.phi
WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")
NOISE = np.array([0.5, 0.5, 0.5, 0.025, 0.025, 0.025])
"""Standard deviations [N, N m]: with twice as much, such a run hardly shows how the sensor is mounted."""


@cache
def columns(factor: float = 1.0, turn: float = 0.0) -> Mapping[str, np.ndarray]:
    """Columns of a log: a load ``factor`` times as heavy with noise as many times as large, on an arm that is turned
    about the vertical by ``turn`` [rad].
    """
    motion = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.sample(fps=RATE)
    wrench = iparam.wrench_regressor(ROBOT, motion.q, motion.dq, motion.ddq) @ PHI
    noise = np.random.default_rng(7).normal(size=wrench.shape) * NOISE
    values = factor * (wrench + noise)
    angles = motion.q + 1e-5 * np.random.default_rng(8).normal(size=motion.q.shape)
    angles[:, 0] += turn
    return {
        "time": motion.time,
        **{f"q{joint}": column for joint, column in enumerate(angles.T)},
        **dict(zip(WRENCH, values.T, strict=True)),
    }


def table(cells: Mapping[str, np.ndarray], separator: str = ",", comma: bool = False) -> str:
    """Of a text file with all digits."""
    rows = np.column_stack(list(cells.values())).tolist()
    lines = [separator.join(repr(value).replace(".", ",") if comma else repr(value) for value in row) for row in rows]
    return "\n".join([separator.join(cells), *lines]) + "\n"


Content = tuple[tuple[str, bytes, bytes, str, str], ...]
_found: dict[tuple[Content, str, str], Estimate] = {}


def identified(recording: Recording) -> Estimate:
    """What is identified, once from recordings that are equal to the last bit."""
    signals = sorted(recording.signals.items())
    content = tuple((name, one.time.tobytes(), one.values.tobytes(), one.unit, one.frame) for name, one in signals)
    key = (content, repr(sorted(recording.metadata.items())), repr(sorted(one.code for one in recording.remarks)))
    if key not in _found:
        _found[key] = identify_payload(recording, robot="ur5e")
    return _found[key]


@cache
def reference() -> Estimate:
    return identified(recorded(columns()))


Cells = Mapping[str, np.ndarray]
"""Columns by their headers."""


def text(separator: str, comma: bool = False, name: str = "log.csv") -> Callable[..., Recording]:
    def read(folder: Path, cells: Cells, **how: Any) -> Recording:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(table(cells, separator, comma), encoding="utf-8")
        return Recording.load(path, robot="ur5e", **how)

    return read


def parquet(folder: Path, cells: Cells, **how: Any) -> Recording:
    pyarrow.parquet.write_table(pyarrow.table(dict(cells)), folder / "log.parquet")
    return Recording.load(folder / "log.parquet", robot="ur5e", **how)


def npz(folder: Path, cells: Cells, **how: Any) -> Recording:
    np.savez(folder / "log.npz", **cells)
    return Recording.load(folder / "log.npz", robot="ur5e", **how)


def mat(folder: Path, cells: Cells, **how: Any) -> Recording:
    scipy.io.savemat(folder / "log.mat", dict(cells))
    return Recording.load(folder / "log.mat", robot="ur5e", **how)


def frame(folder: Path, cells: Cells, **how: Any) -> Recording:
    pandas = pytest.importorskip("pandas")
    return Recording.from_pandas(pandas.DataFrame(dict(cells)), robot="ur5e", **how)


READERS: dict[str, Callable[..., Recording]] = {
    "commas": text(","),
    "semicolons": text(";"),
    "tabs": text("\t"),
    "bars": text("|"),
    "blanks": text(" "),
    "decimal commas": text(";", comma=True),
    "a longer path": text(",", name="a b/long path/run (copy) 2.txt"),
    "parquet": parquet,
    "npz": npz,
    "mat": mat,
    "data frame": frame,
}


def renamed(cells: Cells, name: Callable[[str], str]) -> Cells:
    return {name(header): values for header, values in cells.items()}


def scaled(start: str, unit: str, factor: float) -> Callable[[Cells], Cells]:
    """The columns that begin so, in another unit that their headers declare."""

    def make(cells: Cells) -> Cells:
        of = {name for name in cells if name == start or name[:-1] == start}
        return {f"{n}_{unit}" if n in of else n: v * factor if n in of else v for n, v in cells.items()}

    return make


def with_more(cells: Cells) -> Cells:
    count = len(cells["time"])
    return {"comment_id": np.arange(float(count)), "battery": np.full(count, 47.9), **cells}


def in_units(cells: Cells) -> Cells:
    """Milliseconds and degrees, which the headers do not declare."""
    factors = {"time": 1e3, **{f"q{joint}": 180.0 / np.pi for joint in range(6)}}
    return {name: values * factors.get(name, 1.0) for name, values in cells.items()}


OTHER_ORDER = ("tz", "q3", "fx", "time", "q0", "q5", "ty", "q1", "fz", "q2", "fy", "q4", "tx")
CHANGES: dict[str, tuple[Callable[[Cells], Cells], dict[str, str]]] = {
    "as it is": (dict, {}),
    "names of UR's recorder": (
        lambda cells: renamed(
            cells, lambda name: {"time": "timestamp"}.get(name, f"actual_q_{name[1]}" if name[0] == "q" else name)
        ),
        {},
    ),
    "order of columns": (lambda cells: {name: cells[name] for name in OTHER_ORDER}, {}),
    "further columns": (with_more, {}),
    "a shifted clock": (lambda cells: {**cells, "time": cells["time"] + 4096.0}, {}),
    "milliseconds in the header": (scaled("time", "ms", 1e3), {}),
    "degrees in the header": (scaled("q", "deg", 180.0 / np.pi), {}),
    "newton millimetres in the header": (scaled("t", "Nmm", 1e3), {}),
    "millinewtons in the header": (scaled("f", "mN", 1e3), {}),
    "stated milliseconds and degrees": (in_units, {"time_unit": "ms", "angles": "degrees"}),
    "blanks in the header": (lambda cells: renamed(cells, lambda name: f"  {name} "), {}),
    "the last rows twice": (lambda cells: {name: np.append(values, values[-3:]) for name, values in cells.items()}, {}),
    "angles of another turn": (lambda cells: {**cells, "q1": cells["q1"] + 2.0 * np.pi}, {}),
}

NAMES, *ROWS = table(columns()).splitlines()
UNITS = ",".join(["s", *["rad"] * 6, *["N"] * 3, *["Nm"] * 3])
OF_TEXTS: dict[str, list[str]] = {
    "a byte order mark": ["\ufeff" + NAMES, *ROWS],
    "quoted names": [",".join(f'"{name}"' for name in NAMES.split(",")), *ROWS],
    "quoted numbers": [",".join(f'"{cell}"' for cell in row.split(",")) for row in (NAMES, *ROWS)],
    "upper case": [NAMES.upper(), *ROWS],
    "a row of units": [NAMES, UNITS, *ROWS],
    "comments and blank lines": ["# of today", "", NAMES, *ROWS, "", ""],
    "a column of texts with separators": [f"{NAMES},state", *(f'{row},"moves, slowly"' for row in ROWS)],
    "a first column of texts": [f"state,{NAMES}", *(f'"moves, slowly",{row}' for row in ROWS)],
    "an index": [f",{NAMES}", *(f"{number},{row}" for number, row in enumerate(ROWS))],
    "no cell at the end": [f"{row}," for row in (NAMES, *ROWS)],
    "every row twice": [NAMES, *(row for row in ROWS for _ in range(2))],
    "rows from the last to the first": [NAMES, *ROWS[::-1]],
}
"""Lines of text files."""


STORE = get_typestore(Stores.LATEST)
START = 1_700_000_000_123_456_789
"""Of a day in 2023 [ns]."""

JOINTS = "sensor_msgs/msg/JointState"
WRENCHES = "geometry_msgs/msg/WrenchStamped"
TEXTS = "std_msgs/msg/String"


def serialised(kind: str, stamp: int, values: np.ndarray) -> bytes:
    """A message with the joint angles, by name and in the order of the alphabet, or with the wrench."""
    kinds = STORE.types
    header = kinds["std_msgs/msg/Header"](kinds["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), ROBOT.tool_frame)
    if kind == JOINTS:
        order = np.argsort(ROBOT.joint_names)
        names = [ROBOT.joint_names[joint] for joint in order]
        message = kinds[JOINTS](header, names, values[order], np.zeros(0), np.zeros(0))
    else:
        vector = kinds["geometry_msgs/msg/Vector3"]
        message = kinds[WRENCHES](header, kinds["geometry_msgs/msg/Wrench"](vector(*values[:3]), vector(*values[3:])))
    return bytes(STORE.serialize_cdr(message, kind))


def as_bag(
    storage: StoragePlugin = StoragePlugin.MCAP,
    compression: CompressionMode = CompressionMode.NONE,
    further: bool = False,
    topics: tuple[str, str] = ("/joint_states", "/wrench"),
    start: int = START,
) -> Callable[..., Recording]:
    """The same run as a ROS 2 bag; with ``further``, beside a topic that has nothing to do with it."""

    def make(folder: Path, cells: Cells | None = None) -> Recording:
        cells = columns() if cells is None else cells
        writer = Writer(folder / "bag", version=9, storage_plugin=storage)
        writer.set_compression(compression, CompressionFormat.ZSTD)
        angles, wrench = (
            np.column_stack([cells[name] for name in names]) for names in ([f"q{joint}" for joint in range(6)], WRENCH)
        )
        with writer:
            joints, wrenches = (
                writer.add_connection(topic, kind, typestore=STORE)
                for topic, kind in zip(topics, (JOINTS, WRENCHES), strict=True)
            )
            texts = writer.add_connection("/chatter", TEXTS, typestore=STORE) if further else None
            for row in range(cells["time"].size):
                stamp = start + round(1e9 * cells["time"][row])
                writer.write(joints, stamp, serialised(JOINTS, stamp, angles[row]))
                writer.write(wrenches, stamp, serialised(WRENCHES, stamp, wrench[row]))
                if texts is not None:
                    said = STORE.types[TEXTS](f"row {row}")
                    writer.write(texts, stamp, bytes(STORE.serialize_cdr(said, TEXTS)))
        return read_bag(folder / "bag", robot="ur5e")

    return make


BAGS: dict[str, Callable[..., Recording]] = {
    "mcap": as_bag(),
    "mcap, compressed": as_bag(compression=CompressionMode.STORAGE),
    "sqlite": as_bag(StoragePlugin.SQLITE3),
    "sqlite, messages compressed": as_bag(StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    "sqlite, file compressed": as_bag(StoragePlugin.SQLITE3, CompressionMode.FILE),
    "a further topic": as_bag(further=True),
    "topics of other names": as_bag(topics=("/left/arm_states", "/left/ft_sensor/raw")),
    "a shifted clock": as_bag(start=START + 4096 * 10**9),
}


def assert_same(found: Estimate, expected: Estimate, digits: float = DIGITS) -> None:
    scale = np.abs(expected.phi).max()
    assert found.phi == pytest.approx(expected.phi, rel=digits, abs=digits * scale)
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(own, rel=1e3 * digits)
    assert found.assessment["verdict"] == expected.assessment["verdict"]
    passed = [[(rule["rule"], rule["passed"]) for rule in one.assessment["rules"]] for one in (found, expected)]
    assert passed[0] == passed[1]


def test_the_reference_is_good_and_right() -> None:
    found = reference()
    assert found.assessment["verdict"] == "good"
    own = np.sqrt(np.diag(found.covariance_phi))
    assert (np.abs(found.phi - PHI) < 4.0 * own).all()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reader", READERS)
def test_the_same_run_written_in_another_way(reader: str, change: str, tmp_path: Path) -> None:
    if (reader, change) in (("mat", "blanks in the header"), ("blanks", "blanks in the header")):
        pytest.skip("names of MATLAB's variables, and columns that blanks separate, have no blanks")
    make, how = CHANGES[change]
    assert_same(identified(READERS[reader](tmp_path, make(columns()), **how)), reference())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("change", OF_TEXTS)
def test_the_same_text_written_in_another_way(change: str, end: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(end.join([*OF_TEXTS[change], ""]), encoding="utf-8", newline="")
    assert_same(identified(Recording.load(tmp_path / "log.csv", robot="ur5e")), reference())


@pytest.mark.parametrize("name", ["log.parquet", "a frame"])
def test_time_stamps_and_columns_without_numbers(name: str, tmp_path: Path) -> None:
    """Half a microsecond is what seconds since 1970 are rounded to."""
    pandas = pytest.importorskip("pandas")
    stamps = pandas.to_datetime(START + np.round(1e9 * columns()["time"]).astype(np.int64))
    cells = pandas.DataFrame({"state": "a,b", **columns(), "time": stamps, "sound": True})
    cells.to_parquet(tmp_path / "log.parquet")
    found = Recording.from_pandas(cells, robot="ur5e")
    if name == "log.parquet":
        found = Recording.load(tmp_path / name, robot="ur5e")
    assert_same(identified(found), reference(), 1e-8)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_same_run_as_a_file_of_its_own(suffix: str, tmp_path: Path) -> None:
    recorded(columns()).save(tmp_path / f"log{suffix}")
    assert_same(identified(Recording.load(tmp_path / f"log{suffix}")), reference())


@pytest.mark.parametrize("bag", BAGS)
def test_the_same_run_as_a_bag(bag: str, tmp_path: Path) -> None:
    found = BAGS[bag](tmp_path)
    np.testing.assert_array_equal(found.signal("wrench").values, np.column_stack([columns()[one] for one in WRENCH]))
    assert_same(identified(found), reference())


def without(start: float, stop: float) -> Cells:
    cells = columns()
    kept = (cells["time"] < start) | (cells["time"] > stop)
    return {name: values[kept] for name, values in cells.items()}


@pytest.mark.parametrize("reader", [*READERS, *BAGS])
def test_a_gap_that_leaves_enough_data(reader: str, tmp_path: Path) -> None:
    found = identified((READERS | BAGS)[reader](tmp_path, without(4.0, 4.3)))
    expected = reference()
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert (np.abs(found.phi - expected.phi) < NORMAL_95 * own).all()
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(own, rel=0.1)
    assert found.assessment["verdict"] == expected.assessment["verdict"]
    assert any(one.code in ("gaps", "wrench-in-motion-gaps") for one in found.remarks)


def recorded(cells: Mapping[str, np.ndarray]) -> Recording:
    signals = {
        "q": Signal(cells["time"], np.column_stack([cells[f"q{joint}"] for joint in range(6)]), "rad", "joint"),
        "wrench": Signal(cells["time"], np.column_stack([cells[name] for name in WRENCH]), "N, N m", "tool"),
    }
    return Recording("ur5e", signals)


def test_a_load_twice_as_heavy_with_twice_the_noise() -> None:
    found, expected = identified(recorded(columns(2.0))), reference()
    assert found.phi == pytest.approx(2.0 * expected.phi, rel=DIGITS, abs=DIGITS * np.abs(expected.phi).max())
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(2.0 * own, rel=DIGITS)
    assert found.assessment["verdict"] == expected.assessment["verdict"]


def test_an_arm_that_is_turned_about_the_vertical() -> None:
    assert_same(identified(recorded(columns(1.0, 0.7))), reference())


def test_joints_of_other_names(tmp_path: Path) -> None:
    plain = iparam.estimation.identify_payload(recorded(columns()), robot=ROBOT)
    renamed = dataclasses.replace(
        ROBOT,
        joints=tuple(dataclasses.replace(joint, name=f"axis_{k}") for k, joint in enumerate(ROBOT.joints)),
    )
    found = iparam.estimation.identify_payload(recorded(columns()), robot=renamed)
    assert_same(found, plain)
