"""`iparam excite check`, `random` and `predict`: files, tables, exit codes and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.trajectory import FourierTrajectory, WindowedFourierTrajectory, load_trajectory, save_trajectory

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
BOX = ["--payload-size", "0.1", "0.15", "0.2"]
GUESS = ["--payload-mass", "2", *BOX]


def windowed(scale: float) -> WindowedFourierTrajectory:
    a, b = np.random.default_rng(3).normal(0.0, scale, (2, 6, 5))
    return WindowedFourierTrajectory(Q0, a, b, base_freq=0.1, duration=10.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a modest trajectory t.json and a wild one wild.json in it."""
    save_trajectory(tmp_path / "t.json", windowed(0.08), robot="ur5e", fps=100.0)
    save_trajectory(tmp_path / "wild.json", windowed(3.0), robot="ur5e", fps=100.0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "t.json", "--robot", "ur5e", *BOX]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "all limits kept" in out
    assert "VIOLATED" not in out
    for name in ("joint velocity", "joint acceleration", "joint torque", "robot-robot collision", "payload-ground"):
        assert name in out


def test_check_of_the_reference_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "t.json", "--preset", "reference"]) == 0
    assert "tool displacement" in capsys.readouterr().out


def test_check_fails_with_the_constraint_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "wild.json", *BOX]) == 1
    out, err = capsys.readouterr()
    assert "VIOLATED" in out
    assert err.startswith("iparam: error: wild.json is not valid: ")
    assert "joint velocity: -" in err


def test_check_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "t.json", "--max-velocity", "0.01", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["all_constraints_satisfied"] is False
    assert result["rate"] == 1000.0
    assert result["margins"]["joint velocity"]["margin"] < 0.0
    assert result["margins"]["joint position"]["margin"] > 0.0


def test_check_of_ends_in_motion(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moving = FourierTrajectory(Q0, np.full((6, 1), 0.05), np.zeros((6, 1)), base_freq=0.1, duration=10.0)
    save_trajectory(folder / "moving.json", moving, robot="ur5e", fps=100.0)
    assert main(["excite", "check", "moving.json"]) == 1
    assert "not at rest at the start" in capsys.readouterr().err
    assert main(["excite", "check", "moving.json", "--moving-ends"]) == 0


def test_random(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    command = ["excite", "random", "--robot", "ur5e", "--duration", "8", "--seed", "0", *BOX, "--output", "r.json"]
    assert main(command) == 0
    assert "condition number" in capsys.readouterr().out
    stored = load_trajectory("r.json")
    assert stored.trajectory.duration == 8.0
    assert stored.robot == "ur5e"
    assert stored.validation is not None
    assert stored.validation["all_constraints_satisfied"] is True
    assert stored.condition_number is not None
    assert stored.condition_number > 1.0
    assert main(["excite", "check", "r.json", *BOX]) == 0
    first = Path("r.json").read_bytes()
    assert main(command) == 0
    assert Path("r.json").read_bytes() == first


def test_random_says_what_it_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    search = ["excite", "random", "--robot", "ur5e", "--duration", "4", "--amplitude", "2", "--output", "r.json"]
    assert main([*search, *BOX, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert sum(refusal["count"] for refusal in result["refusals"]) == result["attempts"] - 1 > 0
    assert result["amplitude"] == pytest.approx(2.0 * 0.8 ** ((result["attempts"] - 1) // 20))
    Path("r.json").unlink()
    assert main([*search, "--max-attempts", "3"]) == 1
    assert "none of 3 random motions was possible" in capsys.readouterr().err
    assert not Path("r.json").exists()


def test_predict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "predict", "t.json", "--robot", "ur5e", "--noise", "ur5e", *GUESS]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "mass [kg]" in out
    assert "of the whole tensor" in out
    assert main(["excite", "predict", "t.json", *GUESS, "--json", "--repetitions", "4", "--rate", "125"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["duration"] == 40.0
    assert result["standard_deviation"]["mass"] == pytest.approx(2.0 * result["relative"]["mass"])
    assert np.shape(result["covariance_phi"]) == (10, 10)
    assert np.shape(result["standard_deviation"]["inertia_about_com"]) == (3, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "t.json", "--robot", "ur6"], "unknown robot 'ur6'"),
        (["check", "t.json", "--payload-size", "1", "2"], "--payload-size needs 3 numbers"),
        (["check", "t.json", "--rate", "0"], "rate must be between"),
        (["check", "t.json", "--preset", "reference", "--robot", "ur10e"], "for the ur5e"),
        (["predict", "t.json"], "guess the payload"),
        (["predict", "t.json", *GUESS, "--noise", "ideal"], "nothing to predict"),
        (["random", "--output", "r.json"], "which robot"),
        (["random", "--robot", "ur5e", "--output", "no/r.json"], "does not exist"),
        (["random", "--robot", "ur5e", "--output", "r.json", "--max-attempts", "0"], "--max-attempts must be"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_file_that_names_no_robot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_trajectory(folder / "anyone.json", windowed(0.08), robot=None, fps=100.0)
    assert main(["excite", "check", "anyone.json"]) == 2
    assert "add --robot" in capsys.readouterr().err
    assert main(["excite", "check", "missing.json"]) == 1
    two = WindowedFourierTrajectory(np.zeros(2), np.ones((2, 1)), np.ones((2, 1)), base_freq=0.1, duration=1.0)
    save_trajectory(folder / "two.json", two, robot="ur5e", fps=100.0)
    assert main(["excite", "check", "two.json"]) == 2
    assert "moves 2 joints" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new"),
    [('value="', 'value="1e308'), ('xyz="', 'xyz="1e308'), ('ixx="', 'ixx="1e308')],
    ids=["mass", "length", "inertia"],
)
def test_a_robot_of_absurd_size_is_refused_without_a_bug(
    old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = robot_to_urdf(iparam.load_robot("ur5e"))
    start = text.index(old) + len(old)
    stop = min(text.index(mark, start) for mark in (" ", '"'))
    (tmp_path / "arm.urdf").write_text(text[: start - len(old)] + new + text[stop:], encoding="utf-8")
    command = ["excite", "poses", "--robot", str(tmp_path / "arm.urdf"), "--tip", "tool0"]
    assert main([*command, "--output", str(tmp_path / "p.json")]) == 1
    err = capsys.readouterr().err
    assert "must be within +-1e+09 in SI units" in err
    assert len(err.splitlines()) == 1


def test_limits_that_the_file_does_not_give_are_said_wherever_they_would_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A zero in a URDF means "not given": a speed is assumed, a torque is not tested, and no command is silent."""
    pytest.importorskip("mujoco")
    text = robot_to_urdf(iparam.load_robot("ur5e"))
    first, rest = text.split('velocity="', 1)
    speed, rest = rest.split('"', 1)
    Path("arm.urdf").write_text(f'{first}velocity="0"{rest}', encoding="utf-8")
    assert float(speed) > 1.0
    words = "shoulder_pan_joint. 1 rad/s was assumed. State it with --max-velocity"
    arm = ["--robot", "arm.urdf"]
    for command in (
        ["excite", "random", *arm, "--duration", "4", "--output", "r.json"],
        ["excite", "check", "t.json", *arm],
        ["simulate", "--trajectory", "t.json", *arm, "--output", "run.parquet"],
    ):
        assert main(command) == 0
        out, err = capsys.readouterr()
        assert err.count(words) == 1, command
        if command[1] == "check":
            assert "all limits kept; the speed limits of 1 of 6 joints are assumed" in out
    assert main(["excite", "check", "t.json", *arm, "--max-velocity", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "speed" not in err
    assert json.loads(out)["limits_not_given"]["assumed"]["velocity"] == {}
    fast = windowed(0.5)
    save_trajectory(folder / "fast.json", fast, robot="arm.urdf", fps=100.0)
    peaks = np.abs(fast.sample(1000.0).dq).max(axis=0)
    assert 1.0 < peaks[0] < float(speed)
    assert main(["excite", "check", "fast.json", *arm]) == 1
    assert "joint velocity: -" in capsys.readouterr().err
