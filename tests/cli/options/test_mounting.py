"""An arm on a ceiling or a wall: said once, to the planner or the simulator, and known to all that comes after."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.trajectory import WindowedFourierTrajectory, save_trajectory

START = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
ZERO = "0 -1.57 1.57 0 0 0"


def run(command: str) -> int:
    return main(command.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the motion t.json, planned for no mounting, and a run of it on a wall: wall.parquet, wall.csv."""
    folder = tmp_path_factory.mktemp("mounting")
    a, b = np.random.default_rng(0).normal(0.0, 0.15, (2, 6, 3))
    motion = WindowedFourierTrajectory(START, a, b, base_freq=0.5, duration=2.0)
    save_trajectory(folder / "t.json", motion, robot="ur5e", fps=100.0)
    simulated = f"simulate --trajectory {folder}/t.json --payload box --mass 2 --size 0.1 0.15 0.2 --mounting wall"
    for name in ("wall.parquet", "wall.csv"):
        assert run(f"{simulated} --output {folder}/{name}") == 0
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def test_mujoco_honours_it_and_the_recording_tells_all_that_comes_after(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The weight at rest is along the wall's vertical; the load is found without the mounting being said again."""
    recording = iparam.Recording.load("wall.parquet")
    assert recording.metadata["gravity"] == [0.0, -9.81, 0.0]
    turn = iparam.forward_kinematics(iparam.load_robot("ur5e"), START)[:3, :3]
    first = recording.signal("wrench").values[0, :3]
    np.testing.assert_allclose(turn @ first, [0.0, 2.0 * 9.81, 0.0], atol=0.02)
    capsys.readouterr()
    assert run("identify payload wall.parquet --output wall.json --json --overwrite") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mass"] == pytest.approx(2.0, rel=2e-4)
    assert run("verify wall.json wall.parquet --accept-same-motion --json") == 0
    assert run("compensate wall.parquet --result wall.json --output clean.parquet") == 0
    clean = iparam.Recording.load("clean.parquet")
    assert clean.metadata["gravity"] == [0.0, -9.81, 0.0]
    assert np.abs(clean.signal("wrench").values).max() < 1e-2


@pytest.mark.parametrize("said", ["--mounting wall", "--mounting 90 0 0", "--gravity 0 -9.81 0"])
def test_a_file_that_cannot_state_it_is_told(here: Path, capsys: pytest.CaptureFixture[str], said: str) -> None:
    capsys.readouterr()
    assert run(f"identify payload wall.csv --robot ur5e --json {said}") == 0
    assert json.loads(capsys.readouterr().out)["mass"] == pytest.approx(2.0, rel=2e-4)


def test_its_size_alone_can_be_said(here: Path) -> None:
    """Of an arm that stands upright."""
    assert run("simulate --trajectory t.json --gravity 9.79 --output local.parquet --overwrite") == 0
    assert iparam.Recording.load("local.parquet").metadata["gravity"] == [0.0, 0.0, -9.79]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("identify payload wall.parquet --mounting ceiling", "by the recording's metadata: leave it out to take that"),
        ("identify payload wall.parquet --mounting roof", "it is floor, ceiling, wall, or roll, pitch and yaw"),
        ("identify payload wall.parquet --mounting 90 0", "--mounting has 2 numbers: it is floor, ceiling"),
        ("identify payload wall.parquet --gravity 0 9.81", "--gravity needs 3 numbers"),
        ("identify payload wall.parquet --gravity 0 0 -9.81 --mounting wall", "leave out --mounting, or give the size"),
        ("identify payload wall.parquet --gravity -9.81", "with one number is its size"),
        ("identify payload wall.parquet --gravity 0 0 -9810", "which is 9810 m/s^2: is it in another unit"),
        ("identify robot wall.parquet --robot ur5e --mounting floor", "by the recording's metadata"),
        ("excite optimize --preset reference --mounting wall --output x.json", "(--preset)"),
        ("excite poses --robot ur5e --gravity 0 0 0 --output x.json", "without gravity"),
    ],
)
def test_what_disagrees_or_cannot_be_meant_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    capsys.readouterr()
    assert run(command) == 2
    assert message in capsys.readouterr().err


def test_a_plan_is_for_its_mounting(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The planner stores it; checks, predictions and the simulator take it from there; another one is refused."""
    planned = "excite random --robot ur5e --duration 4 --seed 1 --payload-size 0.1 0.1 0.1 --payload-mass 2"
    assert run(f"{planned} --mounting ceiling --output up.json --overwrite") == 0
    assert run(f"{planned} --output floor.json --overwrite") == 0
    assert "gravity" not in json.loads(Path("floor.json").read_text())
    assert json.loads(Path("up.json").read_text())["gravity"] == [0.0, 0.0, 9.81]
    load = "--payload-size 0.1 0.1 0.1 --payload-mass 2 --json"

    def margin(command: str) -> float:
        capsys.readouterr()
        assert run(command) == 0
        return float(json.loads(capsys.readouterr().out)["margins"]["joint torque"]["margin"])

    on_floor = margin(f"excite check floor.json {load}")
    assert margin(f"excite check floor.json {load} --mounting ceiling") == margin(f"excite check up.json {load}")
    assert margin(f"excite check up.json {load}") != on_floor
    assert run(f"excite check up.json {load} --mounting floor") == 2
    assert "by up.json: leave it out" in capsys.readouterr().err
    assert run("simulate --trajectory up.json --output up.parquet --overwrite") == 0
    assert iparam.Recording.load("up.parquet").metadata["gravity"] == [0.0, 0.0, 9.81]


def test_torques_on_a_wall_are_those_of_turned_gravity(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    found = []
    for said in ("--mounting wall", "--gravity 0 -9.81 0"):
        assert run(f"dynamics compute --robot ur5e --q {ZERO} --json {said}") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert abs(found[0]["gravity_torque"][0]) > 10.0  # the first joint, which carries nothing on the floor


def test_a_file_without_room_for_it_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("simulate --trajectory t.json --mounting ceiling --output up.csv --overwrite") == 0
    assert "say --gravity or --mounting when it is read" in capsys.readouterr().err
    assert run("simulate --trajectory t.json --output floor.csv --overwrite") == 0
    assert "--mounting" not in capsys.readouterr().err
