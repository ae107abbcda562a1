"""A harmless change changes nothing: names, order, formats, units that are declared, a shifted clock, another path.

The same run, written in other ways, gives the same load, the same standard deviations and the same verdict. A change of
scale or of frame transforms the result as physics says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import iparam
from iparam.bridges.bag import read_bag
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording, Signal
from iparam.rounding import NORMAL_95

DATA = Path(__file__).resolve().parents[1] / "data"
ROBOT = iparam.load_robot("ur5e")
RATE = 125.0
DIGITS = 1e-9
"""Relative to the size of a parameter: numbers that are written with all digits come back with all of them, and units
are converted with one rounding."""

PHI = iparam.Payload.box(size=(0.10, 0.16, 0.12), mass=2.0, offset=(0.01, 0.0, 0.061)).parameters.phi
WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")


@cache
def columns(factor: float = 1.0, turn: float = 0.0) -> Mapping[str, np.ndarray]:
    """Columns of a log: a load ``factor`` times as heavy with noise as many times as large, on an arm that is turned
    about the vertical by ``turn`` [rad].
    """
    motion = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.sample(fps=RATE)
    wrench = iparam.wrench_regressor(ROBOT, motion.q, motion.dq, motion.ddq) @ PHI
    noise = np.random.default_rng(7).normal(size=wrench.shape) * np.array([1.0, 1.0, 1.0, 0.05, 0.05, 0.05])
    values = factor * (wrench + noise)
    angles = motion.q + 1e-5 * np.random.default_rng(8).normal(size=motion.q.shape)
    angles[:, 0] += turn
    return {
        "time": motion.time,
        **{f"q{joint}": column for joint, column in enumerate(angles.T)},
        **dict(zip(WRENCH, values.T, strict=True)),
    }


def table(
    cells: Mapping[str, np.ndarray], separator: str = ",", names: Callable[[str], str] = str, comma: bool = False
) -> str:
    """Of a CSV file with all digits."""
    rows = np.column_stack(list(cells.values())).tolist()
    lines = [separator.join(repr(value).replace(".", ",") if comma else repr(value) for value in row) for row in rows]
    return "\n".join([separator.join(names(name) for name in cells), *lines]) + "\n"


def identified(recording: Recording) -> Estimate:
    return identify_payload(recording, robot="ur5e")


@cache
def reference() -> Estimate:
    found = columns()
    signals = {
        "q": Signal(found["time"], np.column_stack([found[f"q{joint}"] for joint in range(6)])),
        "wrench": Signal(found["time"], np.column_stack([found[name] for name in WRENCH])),
    }
    return identified(Recording("ur5e", signals))


def written(folder: Path, text: str, name: str = "log.csv") -> Recording:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Recording.load(path, robot="ur5e")


UR_NAMES = {
    "time": "timestamp",
    **{f"q{joint}": f"actual_q_{joint}" for joint in range(6)},
}
PANDAS_NAMES = {**{f"q{joint}": f"position_{joint}" for joint in range(6)}}


def of_units(units: Mapping[str, tuple[str, float]]) -> Callable[[Path], Recording]:
    """The columns whose names begin so, in another unit that their header declares."""

    def make(folder: Path) -> Recording:
        cells, names = {}, {}
        for name, values in columns().items():
            unit = next((units[start] for start in units if name == start or name[:-1] == start), None)
            names[name] = name if unit is None else f"{name} [{unit[0]}]"
            cells[name] = values if unit is None else values * unit[1]
        return written(folder, table(cells, names=lambda name: names[name]))

    return make


def reordered(folder: Path) -> Recording:
    names = ["tz", "q3", "fx", "time", "q0", "q5", "ty", "q1", "fz", "q2", "fy", "q4", "tx"]
    return written(folder, table({name: columns()[name] for name in names}))


def with_more_columns(folder: Path) -> Recording:
    count = columns()["time"].size
    more = {"comment_id": np.arange(float(count)), "battery": np.full(count, 47.9)}
    return written(folder, table({**more, **columns()}))


def as_parquet(folder: Path) -> Recording:
    written(folder, table(columns())).save(folder / "log.parquet")
    return Recording.load(folder / "log.parquet")


def as_arrays(folder: Path) -> Recording:
    np.savez(folder / "log.npz", **columns())
    return Recording.load(folder / "log.npz", robot="ur5e")


def as_frame(folder: Path) -> Recording:
    pandas = pytest.importorskip("pandas")
    return Recording.from_pandas(pandas.DataFrame(dict(columns())), robot="ur5e")


def later(folder: Path) -> Recording:
    return written(folder, table({**columns(), "time": columns()["time"] + 1000.0}))


HARMLESS: dict[str, Callable[[Path], Recording]] = {
    "csv": lambda folder: written(folder, table(columns())),
    "names of UR's recorder": lambda folder: written(
        folder, table(columns(), names=lambda name: UR_NAMES.get(name, name))
    ),
    "order of columns": reordered,
    "semicolons": lambda folder: written(folder, table(columns(), ";")),
    "tabs": lambda folder: written(folder, table(columns(), "\t")),
    "decimal commas": lambda folder: written(folder, table(columns(), ";", comma=True)),
    "blanks in the header": lambda folder: written(folder, table(columns(), names=lambda name: f"  {name} ")),
    "comments above": lambda folder: written(folder, "# logged in the lab\n" + table(columns())),
    "further columns": with_more_columns,
    "a longer path": lambda folder: written(folder, table(columns()), "a b/long path/run (copy) 2.txt"),
    "degrees": of_units({"q": ("deg", 180.0 / np.pi)}),
    "milliseconds": of_units({"time": ("ms", 1e3)}),
    "N mm": of_units({"t": ("Nmm", 1e3)}),
    "mN": of_units({"f": ("mN", 1e3)}),
    "parquet": as_parquet,
    "npz": as_arrays,
    "pandas": as_frame,
}


STORE = get_typestore(Stores.LATEST)
STEP = round(1e9 / RATE)
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
) -> Callable[[Path], Recording]:
    """The same run as a ROS 2 bag; with ``further``, beside a topic that has nothing to do with it."""

    def make(folder: Path) -> Recording:
        cells = columns()
        writer = Writer(folder / "bag", version=9, storage_plugin=storage)
        writer.set_compression(compression, CompressionFormat.ZSTD)
        angles, wrench = (
            np.column_stack([cells[name] for name in names]) for names in ([f"q{joint}" for joint in range(6)], WRENCH)
        )
        with writer:
            joints, wrenches = (
                writer.add_connection(topic, kind, typestore=STORE)
                for topic, kind in (("/joint_states", JOINTS), ("/wrench", WRENCHES))
            )
            texts = writer.add_connection("/chatter", TEXTS, typestore=STORE) if further else None
            for row in range(cells["time"].size):
                stamp = START + row * STEP
                writer.write(joints, stamp, serialised(JOINTS, stamp, angles[row]))
                writer.write(wrenches, stamp, serialised(WRENCHES, stamp, wrench[row]))
                if texts is not None:
                    said = STORE.types[TEXTS](f"row {row}")
                    writer.write(texts, stamp, bytes(STORE.serialize_cdr(said, TEXTS)))
        return read_bag(folder / "bag", robot="ur5e")

    return make


BAGS: dict[str, Callable[[Path], Recording]] = {
    "mcap": as_bag(),
    "mcap, compressed": as_bag(compression=CompressionMode.STORAGE),
    "sqlite": as_bag(StoragePlugin.SQLITE3),
    "sqlite, messages compressed": as_bag(StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    "sqlite, file compressed": as_bag(StoragePlugin.SQLITE3, CompressionMode.FILE),
    "a further topic": as_bag(further=True),
}


def assert_same(found: Estimate, expected: Estimate, digits: float = DIGITS) -> None:
    scale = np.abs(expected.phi).max()
    assert found.phi == pytest.approx(expected.phi, rel=digits, abs=digits * scale)
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(own, rel=1e3 * digits)
    assert found.assessment["verdict"] == expected.assessment["verdict"]


def test_the_reference_is_good_and_right() -> None:
    found = reference()
    assert found.assessment["verdict"] == "good"
    own = np.sqrt(np.diag(found.covariance_phi))
    assert (np.abs(found.phi - PHI) < 4.0 * own).all()


@pytest.mark.parametrize("change", HARMLESS)
def test_the_same_run_written_in_another_way(change: str, tmp_path: Path) -> None:
    assert_same(identified(HARMLESS[change](tmp_path)), reference())


@pytest.mark.parametrize("bag", BAGS)
def test_the_same_run_as_a_bag(bag: str, tmp_path: Path) -> None:
    found = BAGS[bag](tmp_path)
    np.testing.assert_array_equal(found.signal("wrench").values, np.column_stack([columns()[one] for one in WRENCH]))
    assert_same(identified(found), reference())


def test_a_shifted_clock(tmp_path: Path) -> None:
    """Stamps of 1000 s hold three digits less of a time step."""
    assert_same(identified(later(tmp_path)), reference(), digits=1e-7)


def test_a_gap_that_leaves_enough_data(tmp_path: Path) -> None:
    cells = columns()
    kept = (cells["time"] < 4.0) | (cells["time"] > 4.3)
    found = identified(written(tmp_path, table({name: values[kept] for name, values in cells.items()})))
    expected = reference()
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert (np.abs(found.phi - expected.phi) < NORMAL_95 * own).all()
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(own, rel=0.1)
    assert found.assessment["verdict"] == expected.assessment["verdict"]
    assert any(one.code in ("gaps", "wrench-in-motion-gaps") for one in found.remarks)


def recorded(cells: Mapping[str, np.ndarray]) -> Recording:
    signals = {
        "q": Signal(cells["time"], np.column_stack([cells[f"q{joint}"] for joint in range(6)])),
        "wrench": Signal(cells["time"], np.column_stack([cells[name] for name in WRENCH])),
    }
    return Recording("ur5e", signals)


def test_a_load_twice_as_heavy_with_twice_the_noise() -> None:
    found, expected = identified(recorded(columns(2.0))), reference()
    assert found.phi == pytest.approx(2.0 * expected.phi, rel=1e-6, abs=1e-6 * np.abs(expected.phi).max())
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(2.0 * own, rel=1e-3)
    assert found.assessment["verdict"] == expected.assessment["verdict"]


def test_an_arm_that_is_turned_about_the_vertical() -> None:
    found, expected = identified(recorded(columns(1.0, 0.7))), reference()
    own = np.sqrt(np.diag(expected.covariance_phi))
    assert (np.abs(found.phi - expected.phi) < 1e-3 * own).all()
    assert np.sqrt(np.diag(found.covariance_phi)) == pytest.approx(own, rel=1e-3)
    assert found.assessment["verdict"] == expected.assessment["verdict"]


def test_joints_of_other_names(tmp_path: Path) -> None:
    plain = iparam.estimation.identify_payload(recorded(columns()), robot=ROBOT)
    renamed = dataclasses.replace(
        ROBOT,
        joints=tuple(dataclasses.replace(joint, name=f"axis_{k}") for k, joint in enumerate(ROBOT.joints)),
    )
    found = iparam.estimation.identify_payload(recorded(columns()), robot=renamed)
    assert_same(found, plain)
