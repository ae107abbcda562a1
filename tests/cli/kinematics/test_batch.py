"""`iparam kinematics batch`: every input and output format, and files that are not what they should be."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from iparam.cli.kinematics.batch import COLUMNS
from iparam.cli.main import main
from iparam.trajectory import FourierTrajectory, WindowedFourierTrajectory, save_trajectory

NUM = 7
NAMES = ["time", *(f"{group}{joint}" for group in ("q", "dq", "ddq") for joint in range(6))]


@pytest.fixture
def table() -> dict[str, list[float]]:
    """A turn of the first joint of a UR5e, all others at zero: the tool moves on a circle."""
    columns = {name: [0.0] * NUM for name in NAMES}
    columns["time"] = [0.1 * i for i in range(NUM)]
    columns["q0"] = [0.3 * t**2 for t in columns["time"]]
    columns["dq0"] = [0.6 * t for t in columns["time"]]
    columns["ddq0"] = [0.6] * NUM
    return columns


def write_table(path: Path, columns: dict[str, list[float]]) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


def test_a_trajectory_is_blended_and_a_table_is_not(
    tmp_path: Path, table: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    plan, output = tmp_path / "t.json", tmp_path / "states.csv"
    moving = FourierTrajectory(np.zeros(6), np.full((6, 1), 0.2), np.zeros((6, 1)), 0.5, 2.0)
    save_trajectory(plan, moving, robot="ur5e", fps=50.0)
    speeds = []
    for options in ([], ["--blend", "0.5"]):
        assert main(["kinematics", "batch", "--input", str(plan), "--output", str(output), *options]) == 0
        states = read_states(output)
        speeds.append(
            [
                abs(states[name]).max(initial=0.0, where=np.arange(101) == 0)
                for name in ("linear_velocity_x", "linear_velocity_y", "linear_velocity_z")
            ]
        )
    assert max(speeds[0]) > 0.1
    assert max(speeds[1]) < 1e-12
    samples = write_table(tmp_path / "in.csv", table)
    command = ["kinematics", "batch", "--robot", "ur5e", "--input", str(samples), "--output", str(output)]
    assert main([*command, "--blend", "0.5"]) == 2
    assert "--blend are for trajectory files" in capsys.readouterr().err


def read_states(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Columns by their names in CSV and Parquet."""
    if path.suffix == ".parquet":
        return {name: np.array(values) for name, values in pyarrow.parquet.read_table(path).to_pydict().items()}
    if path.suffix == ".csv":
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["format"] == "iparam-states/1"
    flat = [np.hstack([np.atleast_1d(value) for value in state.values()]) for state in content["states"]]
    return dict(zip(COLUMNS, np.array(flat).T, strict=True))


def run_batch(*arguments: object) -> int:
    return main(["kinematics", "batch", *(str(argument) for argument in arguments)])


@pytest.mark.parametrize("output", ["out.json", "out.csv", "out.parquet"])
@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
def test_every_format_gives_the_circle(
    source: str, output: str, table: dict[str, list[float]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_table(tmp_path / source, table)
    assert run_batch("--input", path, "--output", tmp_path / output, "--robot", "ur5e") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"iparam: {NUM} states of ur5e written to {tmp_path / output}\n"
    states = read_states(tmp_path / output)
    assert tuple(states) == COLUMNS
    angle, speed = np.array(table["q0"]), np.array(table["dq0"])
    x, y = -0.8172, -0.2329
    np.testing.assert_array_equal(states["time"], table["time"])
    np.testing.assert_allclose(states["x"], x * np.cos(angle) - y * np.sin(angle), atol=1e-9)
    np.testing.assert_allclose(states["y"], x * np.sin(angle) + y * np.cos(angle), atol=1e-9)
    # Rz(angle) Rx(pi/2)
    half, root = angle / 2, math.sqrt(0.5)
    quaternion = np.stack([states[name] for name in ("qx", "qy", "qz", "qw")])
    np.testing.assert_allclose(
        quaternion, [root * np.cos(half), root * np.sin(half), root * np.sin(half), root * np.cos(half)], atol=1e-9
    )
    # In tool axes the base's z is y and its -y is z.
    np.testing.assert_allclose(states["angular_velocity_y"], speed, atol=1e-9)
    np.testing.assert_allclose(states["linear_velocity_x"], -y * speed, atol=1e-9)
    np.testing.assert_allclose(states["linear_velocity_z"], -x * speed, atol=1e-9)
    np.testing.assert_allclose(states["angular_acceleration_y"], 0.6, atol=1e-9)
    np.testing.assert_allclose(states["linear_acceleration_x"], -x * speed**2 - y * 0.6, atol=1e-9)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([source, output])


def test_base_axes(table: dict[str, list[float]], tmp_path: Path) -> None:
    path = write_table(tmp_path / "in.csv", table)
    assert run_batch("--input", path, "--output", tmp_path / "o.json", "--robot", "ur5e", "--frame", "base") == 0
    states = read_states(tmp_path / "o.json")
    np.testing.assert_allclose(states["angular_velocity_z"], table["dq0"], atol=1e-9)
    header = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert (header["robot"], header["tool_frame"], header["axes"]) == ("ur5e", "tool0", "base")


def test_blanks_and_other_columns_in_a_csv_header(table: dict[str, list[float]], tmp_path: Path) -> None:
    path = write_table(tmp_path / "in.csv", {"fx": [1.0] * NUM, **table})
    text = path.read_text(encoding="utf-8").replace(",", ", ")
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert run_batch("--input", path, "--output", tmp_path / "o.csv", "--robot", "ur5e") == 0
    np.testing.assert_array_equal(read_states(tmp_path / "o.csv")["time"], table["time"])


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """q0 = 0.2 + 256 r^4 (1-r)^4 0.3 sin(2 pi 0.5 t) for 4 s at 10 Hz, the other joints at rest."""
    content = {
        "format": "iparam-trajectory/1",
        "robot": "ur5e",
        "config": {"num_harmonics": 1, "base_freq": 0.5, "duration": 4.0, "fps": 10.0, "q0": [0.2, 0, 0, 0, 0, 0]},
        "coefficients": {"a": [[0.3], [0], [0], [0], [0], [0]], "b": [[0], [0], [0], [0], [0], [0]]},
    }
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_trajectory_file(trajectory: Path, tmp_path: Path) -> None:
    assert run_batch("--input", trajectory, "--output", tmp_path / "o.csv") == 0
    states = read_states(tmp_path / "o.csv")
    np.testing.assert_allclose(states["time"], np.arange(41) / 10.0, atol=1e-12)
    r = states["time"] / 4.0
    angle = 0.2 + 256 * (r * (1 - r)) ** 4 * 0.3 * np.sin(math.pi * states["time"])
    np.testing.assert_allclose(states["x"], -0.8172 * np.cos(angle) + 0.2329 * np.sin(angle), atol=1e-9)


def test_fps_and_robot_override_the_trajectory_file(trajectory: Path, tmp_path: Path) -> None:
    arguments = ("--input", trajectory, "--output", tmp_path / "o.json", "--fps", "2", "--robot", "ur3e")
    assert run_batch(*arguments) == 0
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert content["robot"] == "ur3e"
    assert [state["time"] for state in content["states"]] == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--input", "in.csv", "--output", "o.txt", "--robot", "ur5e"], 2, "one of .json, .csv, .parquet"),
        (["--input", "in.csv", "--output", "o", "--robot", "ur5e"], 2, "one of .json"),
        (["--input", "in.csv", "--output", "o.csv"], 2, "add --robot"),
        (["--input", "in.csv", "--output", "o.csv", "--robot", "ur5e", "--fps", "5"], 2, "are for trajectory files"),
        (["--input", "in.csv", "--output", "o.csv", "--robot", "ur7"], 2, "unknown robot 'ur7'"),
        (["--input", "none.csv", "--output", "o.csv", "--robot", "ur5e"], 1, "cannot read none.csv: No such file"),
        (["--input", "none.json", "--output", "o.csv", "--robot", "ur5e"], 1, "none.json does not exist"),
        (["--input", "none.parquet", "--output", "o.csv", "--robot", "ur5e"], 1, "none.parquet"),
        (["--input", "in.csv", "--output", "none/o.csv", "--robot", "ur5e"], 2, "none/o.csv: the folder none does not"),
        (["--input", "in.csv", "--output", "folder.csv", "--robot", "ur5e"], 2, "folder.csv is a folder, not a file"),
        (["--input", "folder.csv", "--output", "o.csv", "--robot", "ur5e"], 1, "folder.csv"),
        (["--input", "trajectory.json", "--output", "o.csv", "--fps", "-1"], 2, "fps"),
        (["--input", "trajectory.json", "--output", "o.csv", "--fps", "nan"], 2, "fps"),
    ],
)
def test_refusals(
    options: list[str],
    code: int,
    message: str,
    table: dict[str, list[float]],
    trajectory: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(Path("in.csv"), table)
    Path("folder.csv").mkdir()
    before = sorted(tmp_path.iterdir())
    assert run_batch(*options) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iparam: error: ")
    assert message in err
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({f"ddq{i}": None for i in range(6)}, "ddq"),
        ({"dq3": None}, "dq"),
        ({"q6": [0.0] * NUM}, "7"),
        ({name: [] for name in NAMES}, ""),
    ],
)
def test_unusable_tables(
    change: dict[str, Any],
    message: str,
    suffix: str,
    table: dict[str, list[float]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = {name: values for name, values in {**table, **change}.items() if values is not None}
    path = write_table(tmp_path / f"in{suffix}", columns)
    for output in (tmp_path / "o.json", tmp_path / "o.csv", tmp_path / "o.parquet"):
        output.write_bytes(b"as it was")
        assert run_batch("--input", path, "--output", output, "--robot", "ur5e", "--overwrite") in (1, 2)
        err = capsys.readouterr().err
        assert "iparam: error: " in err
        assert message in err
        assert output.read_bytes() == b"as it was"
        output.unlink()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.json", b"{"),
        ("in.json", b"[1, 2]"),
        ("in.json", b"\xff\xfe\x00"),
        ("in.json", b"[" * 100_000),
        ("in.csv", b""),
        ("in.csv", b"\xff\xfe\x00\x01"),
        ("in.csv", ",".join(NAMES).encode() + b"\n1,2,3\n"),
        ("in.csv", ",".join([*NAMES, "q0"]).encode() + b"\n"),
        ("in.parquet", b"PAR1 no"),
        ("in.parquet", b""),
    ],
)
def test_files_that_are_something_else(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert run_batch("--input", path, "--output", tmp_path / "o.csv", "--robot", "ur5e") == 1
    err = capsys.readouterr().err
    assert "iparam: error: " in err
    assert str(path) in err
    assert "bug" not in err
    assert list(tmp_path.iterdir()) == [path]


def test_a_trajectory_for_another_number_of_joints(
    trajectory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(trajectory.read_text(encoding="utf-8"))
    content["config"]["q0"] = [0.0, 0.0]
    content["coefficients"] = {"a": [[0.3], [0.0]], "b": [[0.0], [0.0]]}
    trajectory.write_text(json.dumps(content), encoding="utf-8")
    assert run_batch("--input", trajectory, "--output", tmp_path / "o.csv") == 2
    assert "moves 2 joints, ur5e has 6" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="needs a device that gives zeros for ever")
@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_device_without_an_end_is_refused(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"zeros.{suffix}"
    path.symlink_to("/dev/zero")
    assert run_batch("--input", path, "--output", tmp_path / "out.csv", "--robot", "ur5e") == 1
    assert str(path) in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_a_motion_of_a_day_is_not_written_by_a_slip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = WindowedFourierTrajectory(
        q0=np.zeros(6), a=np.zeros((6, 1)), b=np.zeros((6, 1)), base_freq=0.1, duration=86_400.0
    )
    save_trajectory(tmp_path / "day.json", motion, robot="ur5e", fps=100.0)
    assert run_batch("--input", tmp_path / "day.json", "--output", tmp_path / "o.csv") == 2
    assert "8.64e+06 states, more than the 2000000" in capsys.readouterr().err
    assert run_batch("--input", tmp_path / "day.json", "--output", tmp_path / "o.csv", "--fps", "0.1") == 0
