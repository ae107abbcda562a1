"""`iparam simulate`: files, summary and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iparam.cli.main import main
from iparam.recording import Recording
from iparam.simulation import motors
from iparam.trajectory import WindowedFourierTrajectory, save_trajectory

pytest.importorskip("mujoco")
trimesh = pytest.importorskip("trimesh")

DATA = Path(__file__).parents[1] / "data"
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
BOX = ["--payload", "box", "--mass", "2", "--size", "0.1", "0.15", "0.2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a trajectory t.json of 0.5 s in it."""
    a = np.random.default_rng(0).normal(0.0, 0.02, (6, 3))
    trajectory = WindowedFourierTrajectory(HOME, a, 0.5 * a, base_freq=0.5, duration=0.5)
    save_trajectory(tmp_path / "t.json", trajectory, robot="ur5e", fps=100.0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulate(*arguments: str) -> int:
    return main(["simulate", "--trajectory", "t.json", "--output", "run.parquet", *arguments])


def test_the_command_of_the_readme(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("--robot", "ur5e", *BOX, "--noise", "ur5e", "--seed", "3", "--truth", "truth.json") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "251 of the joints" in out
    recording = Recording.load("run.parquet")
    assert recording.robot == "ur5e"
    assert recording.signals["wrench"].values.shape == (251, 6)
    assert recording.metadata["noise"] == "ur5e"
    assert json.loads(Path("truth.json").read_text(encoding="utf-8"))["mass"] == 2.0


def test_json_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(*BOX, "--physics-rate", "240", "--sensor-rate", "100", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["robot"] == "ur5e"
    assert summary["samples"]["wrench"] == 51
    assert 0.0 < summary["largest_tracking_error"] < 0.02
    assert summary["truth"] is None
    assert summary["warnings"] == []


def test_a_mesh(folder: Path) -> None:
    trimesh.creation.box((100.0, 150.0, 200.0)).export(folder / "part.obj")
    mesh = ["--payload-mesh", "part.obj", "--mesh-scale", "0.001", "--density", "500", "--truth", "truth.json"]
    assert simulate(*mesh, "--offset", "0", "0", "0.1", "--rpy-deg", "0", "0", "90") == 0
    truth = json.loads(Path("truth.json").read_text(encoding="utf-8"))
    assert truth["mass"] == pytest.approx(1.5)
    np.testing.assert_allclose(truth["center_of_mass"], [0.0, 0.0, 0.1], atol=1e-9)
    np.testing.assert_allclose(truth["inertia_about_com"][0][0], 1.5 / 12.0 * (0.1**2 + 0.2**2), rtol=1e-6)


@pytest.mark.parametrize(
    "payload",
    [
        ["--payload", "cylinder", "--size", "0.03", "0.1", "--mass", "1"],
        ["--payload", "two-stage-cylinder", "--size", "0.03", "0.1", "0.02", "0.05", "--mass", "1"],
        ["--payload", "sphere", "--size", "0.05", "--mass", "1", "--payload-known"],
        ["--payload", "none"],
        [],
    ],
    ids=["cylinder", "two stages", "sphere", "none", "nothing"],
)
def test_other_payloads(folder: Path, payload: list[str]) -> None:
    assert simulate(*payload, "--truth", "truth.json") == 0
    expected = 1.0 if "--mass" in payload else 0.0
    assert json.loads(Path("truth.json").read_text(encoding="utf-8"))["mass"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--payload", "box", "--mass", "2"], "--size needs 3 numbers, edge lengths x y z"),
        (["--payload", "box", "--size", "1", "1", "1"], "--mass [kg] or its --density"),
        (["--mass", "2"], "no shape"),
        ([*BOX, "--payload-mesh", "part.obj"], "not both"),
        ([*BOX, "--noise", "loud"], "unknown noise preset 'loud'"),
        ([*BOX, "--offset", "1", "2"], "--offset needs 3 numbers"),
        ([*BOX, "--truth", "run.parquet"], "same file"),
        ([*BOX, "--truth", "no/truth.json"], "does not exist"),
        ([*BOX, "--sensor-rate", "4000"], "more than the physics rate"),
        ([*BOX, "--robot", "ur6"], "unknown robot 'ur6'"),
        ([*BOX, "--seed", "-1"], "seed must be at least 0"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iparam: error: ")
    assert message in err
    assert not Path("run.parquet").exists()


def test_a_collision_fails_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rod = ["--payload", "cylinder", "--size", "0.02", "1.2", "--mass", "1"]
    assert simulate(*rod, "--truth", "truth.json") == 1
    assert "collision in the start pose" in capsys.readouterr().err
    assert not Path("run.parquet").exists()
    assert not Path("truth.json").exists()


def test_a_force_beyond_the_sensor_is_noted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("--payload", "box", "--density", "2700", "--size", "0.1", "0.15", "0.2") == 0
    assert "±50 N" in capsys.readouterr().err


def test_motors_of_a_real_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trajectory = DATA / "whole_arm_ur10e.json"
    output = tmp_path / "log.parquet"
    command = ["simulate", "--trajectory", str(trajectory), "--output", str(output), "--sensor-rate", "100"]
    assert main([*command, "--motors", "ur10e"]) == 0
    log = Recording.load(output)
    assert log.has("current")
    assert not log.has("tau")
    assert not log.has("wrench"), "nothing hangs on the sensor"
    assert main(command) == 0
    ideal = Recording.load(output).signal("tau").values
    gains, friction = motors("ur10e").drive_gains, motors("ur10e").coulomb
    moving = np.abs(log.signal("dq").values) > 0.2
    extra = (log.signal("current").values * gains - ideal) * np.sign(log.signal("dq").values)
    for joint in range(6):  # friction costs current in the direction of motion
        assert extra[moving[:, joint], joint].mean() > 0.7 * friction[joint]
    capsys.readouterr()
    assert main([*command, "--motors", "ur5e"]) != 0
    assert "ur10e" in capsys.readouterr().err
