"""Logs of a force/torque sensor without joint angles, from the command line as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.cli.main import main


def identified(command: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["identify", "payload", *command.split(), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def poses(path: Path, columns: str = "fx,fy,fz,tx,ty,tz,gx,gy,gz") -> None:
    """Six poses of 1.5 kg with its centre 40 mm in front of a sensor that reports what the load exerts on it."""
    rng = np.random.default_rng(0)
    rows = []
    for sign in (1.0, -1.0):
        for axis in range(3):
            down = sign * 9.82 * np.eye(3)[axis]
            torque = np.cross([0.0, 0.0, 0.04], 1.5 * down)
            noise = rng.normal(size=6) * [0.02, 0.02, 0.02, 1e-3, 1e-3, 1e-3]
            wrench = np.array([*(1.5 * down), *torque]) + np.array([3.0, 2.0, 1.0, 0.3, 0.2, 0.1]) + noise
            rows.append([*wrench, *down])
    path.write_text(columns + "\n" + "\n".join(",".join(f"{value:.9g}" for value in row) for row in rows) + "\n")


def test_one_averaged_row_a_pose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses(tmp_path / "poses.csv")
    static = identified(f"{tmp_path}/poses.csv --static", capsys)
    assert static["mass"] == pytest.approx(1.5, rel=0.01)
    np.testing.assert_allclose(static["center_of_mass"], [0.0, 0.0, 0.04], atol=5e-4)
    assert static["num_poses"] == 6
    found = identified(f"{tmp_path}/poses.csv", capsys)
    assert found["determined"] == ["mass", "center_of_mass"]
    assert found["inertia_about_com"] is None
    assert found["phi"][4:] == [None] * 6
    assert found["mass"] == pytest.approx(static["mass"], rel=1e-6)
    (part,) = (one for one in found["remarks"] if one["code"] == "only-a-part")
    assert part["severity"] == "info"


def test_the_screen_has_dashes_where_the_file_has_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses(tmp_path / "poses.csv")
    capsys.readouterr()
    assert main(["identify", "payload", str(tmp_path / "poses.csv"), "--output", str(tmp_path / "part.json")]) == 0
    out = capsys.readouterr().out
    assert "inertia xx        -\n" in out
    assert "determined        mass, center_of_mass" in out
    assert "nan" not in out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("poses.csv --static --measures action", "a negative mass"),
        ("poses.csv --motion set-points", "--motion chooses among the signals of an arm"),
        ("poses.csv --gravity 9.7 --static", "by the columns gx, gy, gz: leave it out"),
        ("other.csv", "has no column 'time'"),
        ("poses.csv --orientation poses.csv", "both recordings have the signal"),
        ("poses.csv --delay estimate", "give it in s (--delay)"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    poses(tmp_path / "poses.csv")
    poses(tmp_path / "other.csv", "fx,fy,fz,tx,ty,tz,mx,my,mz")
    assert main(["identify", "payload", *command.split()]) in (1, 2)
    assert message in capsys.readouterr().err


def test_the_options_about_columns_and_rows_are_those_of_the_first_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A load of 1.5 kg that is turned slowly about x and y; its wrench has other headers, and 100 rows before it."""
    monkeypatch.chdir(tmp_path)
    time = np.linspace(0.0, 20.0, 2001)
    down = np.column_stack([np.sin(time), np.cos(time) * np.sin(0.7 * time), np.cos(time) * np.cos(0.7 * time)])
    wrench = 1.5 * 9.81 * np.hstack([down, np.cross([0.0, 0.0, 0.04], down)])
    wrench += np.random.default_rng(0).normal(size=wrench.shape) * [0.02, 0.02, 0.02, 1e-3, 1e-3, 1e-3]
    wrench[:100] = 50.0
    tables = {
        "wrench.csv": ("stamp,f1,f2,f3,m1,m2,m3", np.column_stack([time, wrench])),
        "orientation.csv": ("t,gx,gy,gz", np.column_stack([time, 9.81 * down])),
    }
    for name, (header, table) in tables.items():
        np.savetxt(name, table, delimiter=",", header=header, comments="")
    found = identified("wrench.csv --map time=stamp,wrench=f?,m? --rows 100: --orientation orientation.csv", capsys)
    assert found["mass"] == pytest.approx(1.5, rel=0.01)
    np.testing.assert_allclose(found["center_of_mass"], [0.0, 0.0, 0.04], atol=5e-4)


def test_the_sensor_of_somebody_elses_arm(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Plain least squares over the 24 rows gives 0.932 kg and 43.9 mm; the file's accelerometer is in other axes."""
    folder = shared_data / "real_arms" / "ft_sensor"
    for option in ("", " --static"):
        found = identified(f"{folder}/0-calibration_fts-accel.csv{option}", capsys)
        assert round(found["mass"], 3) == 0.932
        assert round(1e3 * float(np.linalg.norm(found["center_of_mass"])), 1) == 43.9


def test_its_motion_in_two_files_with_stamps_in_microseconds(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a turn about one axis, with an arm that shakes at 40 and 100 Hz: the load is that of the 24 rows."""
    folder = shared_data / "real_arms" / "ft_sensor"
    files = f"{folder}/1-baseline_wrench.csv --orientation {folder}/1-baseline_orientations.csv"
    found = identified(f"{files} --gravity 9.82", capsys)
    assert found["determined"] == ["mass", "center_of_mass"]
    assert found["mass"] == pytest.approx(0.932, rel=0.01)
    np.testing.assert_allclose(found["center_of_mass"], [0.28e-3, 0.05e-3, 43.9e-3], atol=0.5e-3)
    np.testing.assert_allclose(found["sensor_bias"]["force"], [-9.08, 1.02, -9.98], atol=0.3)
