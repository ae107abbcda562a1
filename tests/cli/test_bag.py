"""`iparam bag info`, `bag import` and `bag export`."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.robot.urdf.writer import robot_to_urdf

MASS = 1.7


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A recording of an arm that moves a load of known mass; the wrench follows from Newton and Euler."""
    robot = iparam.load_robot("ur5e")
    time = np.arange(1500) * 0.002
    rates = 2.0 * np.pi * np.array([0.9, 0.7, 1.1, 1.3, 0.8, 1.0])
    center = np.array([0.2, -1.2, 1.1, -0.6, -1.0, 0.3])
    angle = rates * time[:, None]
    q = center + 0.3 * np.sin(angle)
    dq, ddq = 0.3 * rates * np.cos(angle), -0.3 * rates**2 * np.sin(angle)
    load = iparam.InertialParameters(MASS, np.array([0.01, -0.02, 0.06]), np.diag([0.004, 0.005, 0.003]))
    wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ load.phi
    recording = iparam.Recording("ur5e").with_signal("q", time=time, values=q)
    recording = recording.with_signal("dq", time=time, values=dq).with_signal("wrench", time=time, values=wrench)
    recording = recording.with_signal("target_q", time=time, values=q)
    path = tmp_path / "run.parquet"
    recording.save(path)
    return path


def command(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_from_a_recording_to_a_bag_and_back_to_the_load(
    run: Path, tmp_path: Path, storage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, back, result = tmp_path / "bag", tmp_path / "back.parquet", tmp_path / "result.json"
    assert command("bag", "export", run, "--output", bag, "--storage", storage) == 0
    out, err = capsys.readouterr()
    assert "/joint_states sensor_msgs/msg/JointState 1500 q dq" in " ".join(out.split())
    assert f"bag {bag} ({storage})" in " ".join(out.split())
    assert "ROS has no message for target_q" in err
    assert command("bag", "info", bag) == 0
    out, err = capsys.readouterr()
    assert "/wrench geometry_msgs/msg/WrenchStamped 1500 500.0 2.998" in " ".join(out.split())
    assert err == ""
    assert command("bag", "import", bag, "--output", back) == 0
    out, err = capsys.readouterr()
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "topic type messages rate Hz span s dropped signals" in lines
    assert "/joint_states JointState 1500 500.0 2.998 0 q dq" in lines
    assert "/wrench WrenchStamped 1500 500.0 2.998 0 wrench" in lines
    assert err == ""
    assert command("identify", "payload", back, "--output", result) == 0
    assert json.loads(result.read_text())["mass"] == pytest.approx(MASS, rel=1e-3)


def test_json_for_machines(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag, back = tmp_path / "bag", tmp_path / "back.csv"
    assert command("bag", "export", run, "--output", bag, "--json") == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == ["target_q"]
    assert command("bag", "info", bag, "--json") == 0
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert [(topic["topic"], topic["messages"]) for topic in topics] == [("/joint_states", 1500), ("/wrench", 1500)]
    assert command("bag", "import", bag, "--robot", "ur5e", "--output", back, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["samples"] == {"q": 1500, "dq": 1500, "wrench": 1500}
    assert result["time_origin_ns"] == 10**9
    assert result["remarks"] == []
    assert iparam.Recording.load(back).signal("q").num_samples == 1500


def test_a_cut_bag_is_refused_with_the_tool_that_repairs_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, back = tmp_path / "bag", tmp_path / "back.parquet"
    assert command("bag", "export", run, "--output", bag) == 0
    file = bag / "bag.mcap"
    file.write_bytes(file.read_bytes()[:200_000])
    capsys.readouterr()
    assert command("bag", "import", file, "--robot", "ur5e", "--output", back) == 1
    assert "mcap recover" in capsys.readouterr().err
    assert not back.exists()


def test_a_urdf_is_named_by_its_path(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(robot_to_urdf(dataclasses.replace(iparam.load_robot("ur5e"), name="arm")))
    bag, back = tmp_path / "bag", tmp_path / "back.parquet"
    assert command("bag", "export", run, "--output", bag, "--robot", urdf) == 0
    assert command("bag", "import", bag, "--output", back) == 2  # a path in a file is not followed
    assert "--robot" in capsys.readouterr().err
    assert command("bag", "import", bag, "--robot", urdf, "--output", back) == 0
    assert iparam.Recording.load(back, robot=str(urdf)).robot == str(urdf)


def test_a_note_proposes_what_the_command_takes(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording, back = iparam.Recording.load(run), tmp_path / "back.parquet"
    q = recording.signal("q")
    up = iparam.forward_kinematics(iparam.load_robot("ur5e"), q.values)[:, 2, :3]
    weight = np.hstack([9.81 * MASS * up, np.zeros_like(up)])
    recording.with_signal("wrench", time=q.time, values=-weight).save(tmp_path / "reversed.parquet")
    bag = tmp_path / "bag"
    assert command("bag", "export", tmp_path / "reversed.parquet", "--output", bag) == 0
    capsys.readouterr()
    assert command("bag", "import", bag, "--robot", "ur5e", "--output", back) == 0
    (proposed,) = [line for line in capsys.readouterr().err.splitlines() if "Correction: " in line]
    correction = proposed.rpartition("Correction: ")[2].split()
    assert correction == ["--measures", "reaction"]
    assert command("bag", "import", bag, "--robot", "ur5e", "--output", back, "--overwrite", *correction) == 0
    assert "Correction: " not in capsys.readouterr().err
    np.testing.assert_allclose(iparam.Recording.load(back).signal("wrench").values, weight, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import", "none", "--robot", "ur5e", "--output", "r.parquet"], 1, "no such file or folder"),
        (["import", "run.parquet", "--robot", "ur5e", "--output", "r.parquet"], 1, "run.parquet is no bag"),
        (["import", "run.parquet", "--robot", "ur5e", "--output", "run.parquet"], 2, "would be lost"),
        (["import", "bag", "--robot", "ur5e", "--output", "no/r.parquet"], 2, "does not exist; create it first"),
        (["import", "bag", "--robot", "ur6", "--output", "r.parquet"], 2, "unknown robot 'ur6'"),
        (["import", "bag", "--tip", "flange", "--output", "r.parquet"], 2, "add --robot"),
        (["import", "bag", "--output", "r.txt"], 2, "a recording is a .parquet or .csv file"),
        (["import", "bag", "--output", "r.parquet", "--units", "force"], 2, "pairs such as force=mN"),
        (["import", "bag", "--output", "r.parquet", "--units", "force=oz"], 2, "unknown unit of force 'oz'"),
        (["import", "bag", "--output", "r.parquet", "--wrench-frame", "hand"], 2, "unknown sensor frame 'hand'"),
        (["import", "bag", "--output", "r.parquet", "--joint-topic", "/q"], 2, "no topic /q, but /joint"),
        (["info", "run.parquet"], 1, "run.parquet is no bag"),
        (["export", "run.parquet", "--output", "bag"], 2, "exists already"),
        (["export", "none.parquet", "--output", "other"], 1, "cannot read none.parquet"),
        (["export", "run.parquet", "--output", "other", "--joint-topic", "q"], 2, "begins with /"),
    ],
)
def test_bad_usage(
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(run.parent)
    assert command("bag", "export", "run.parquet", "--output", "bag") == 0
    before = sorted(path.name for path in run.parent.iterdir())
    capsys.readouterr()
    assert command("bag", *arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in run.parent.iterdir()) == before


def test_without_rosbags_the_extra_is_named(run: Path, tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['rosbags'] = None\n"
        "from iparam.cli.main import main\n"
        f"sys.exit(main(['bag', 'export', {str(run)!r}, '--output', {str(tmp_path / 'bag')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "pip install 'iparam[bag]'" in done.stderr
