"""What a trajectory was planned with reaches every command that checks, simulates, times or plays it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.robot.cell import WorkCell
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.trajectory import PlanConditions, PlannedPayload, PlanningLimits, WindowedFourierTrajectory, save_trajectory

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
LONG = PlannedPayload.from_size([0.1, 0.1, 0.9], mass=1.0)  # it swings into the ground
FLANGE_TOO = """<link name="hook"/><joint name="to_hook" type="fixed"><parent link="wrist_3_link"/>
<child link="hook"/><origin xyz="0 0 0.1" rpy="0 0.4 0"/></joint></robot>"""


def motion(scale: float = 0.12, duration: float = 4.0) -> WindowedFourierTrajectory:
    a, b = np.random.default_rng(3).normal(0.0, scale, (2, 6, 3))
    return WindowedFourierTrajectory(Q0, a, b, base_freq=1.0 / duration, duration=duration)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: motions of one kind, planned with different things."""
    monkeypatch.chdir(tmp_path)
    small = PlannedPayload.from_size([0.06, 0.06, 0.08], mass=0.7)
    for name, conditions in (
        ("old.json", None),
        ("long.json", PlanConditions(payload=LONG)),
        ("small.json", PlanConditions(payload=small)),
        ("bare.json", PlanConditions()),
        ("open.json", PlanConditions(payload=PlannedPayload.from_size([0.06, 0.06, 0.08]))),
        ("tight.json", PlanConditions(limits=PlanningLimits(fraction=0.01))),
        ("cell.json", PlanConditions(cell=WorkCell(ground_height=0.6))),
    ):
        save_trajectory(name, motion(), robot="ur5e", fps=100.0, tool_frame="tool0", conditions=conditions)
    return tmp_path


def test_what_was_planned_with_a_payload_is_not_called_clear_without_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["excite", "check", "long.json"]) == 1
    out, err = capsys.readouterr()
    assert "planned with      a payload of 0.1 x 0.1 x 0.9 m, 1 kg; 20 mm clearance; 95 % of the limits" in out
    assert "payload-ground collision" in err
    assert main(["excite", "check", "small.json"]) == 0
    assert "payload-ground collision" in capsys.readouterr().out


def test_limits_and_cell_are_those_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "tight.json"]) == 1
    assert "joint velocity" in capsys.readouterr().err
    assert main(["excite", "check", "tight.json", "--limit-fraction", "1"]) == 0
    assert "0.01" not in capsys.readouterr().out.splitlines()[0]
    assert main(["excite", "check", "cell.json"]) == 1
    assert "ground" in capsys.readouterr().err


def test_an_option_wins_and_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "long.json", "--payload-size", "0.06", "0.06", "0.08", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "taken from there, but for --payload-size" in err
    assert json.loads(out)["conditions"]["payload"] == {
        "size": [0.06, 0.06, 0.08],
        "center": [0.0, 0.0, 0.04],
        "mass": 1.0,
    }
    assert main(["excite", "check", "long.json", "--payload-size", "0", "0", "0"]) == 0
    assert "payload" not in capsys.readouterr().out.replace("planned", "")


def test_an_old_file_says_once_that_its_payload_is_not_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "check", "old.json"]) == 0
    assert capsys.readouterr().err.count("does not say what payload it was planned with") == 1
    assert main(["excite", "check", "old.json", "--payload-size", "0.06", "0.06", "0.08"]) == 0
    assert capsys.readouterr().err == ""


def test_a_prediction_guesses_the_planned_payload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["excite", "predict", "small.json"]) == 0
    assert "700.0000" in capsys.readouterr().out  # [g], the guess
    assert main(["excite", "predict", "bare.json"]) == 2
    assert "--payload-mass" in capsys.readouterr().err


def test_a_simulation_carries_the_planned_payload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")

    def simulate(*arguments: str) -> int:
        return main(["simulate", *arguments, "--output", "run.parquet", "--truth", "truth.json", "--overwrite"])

    assert simulate("--trajectory", "small.json") == 0
    assert "planned with  a payload of 0.06 x 0.06 x 0.08 m, 0.7 kg" in capsys.readouterr().out
    assert json.loads(Path("truth.json").read_text())["mass"] == 0.7
    assert simulate("--trajectory", "small.json", "--payload", "none") == 0
    assert "taken instead: --payload" in capsys.readouterr().err
    assert json.loads(Path("truth.json").read_text())["mass"] == 0.0
    assert simulate("--trajectory", "open.json") == 2
    assert "--payload box --size 0.06 0.06 0.08 --mass KG, or --payload none" in capsys.readouterr().err
    assert simulate("--trajectory", "cell.json") == 1
    assert "ground" in capsys.readouterr().err


def test_the_tool_frame_is_the_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An arm whose file leaves the tool open: --tip is given once, when the motion is planned."""
    text = robot_to_urdf(iparam.load_robot("ur5e")).rstrip().removesuffix("</robot>").replace('"tool0"', '"ring"')
    Path("arm.urdf").write_text(text + FLANGE_TOO)
    payload = PlanConditions(payload=PlannedPayload.from_size([0.05, 0.05, 0.06], mass=0.5))
    save_trajectory("hook.json", motion(), robot="arm.urdf", fps=100.0, tool_frame="hook", conditions=payload)
    assert main(["excite", "check", "hook.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tool_frame"] == "hook"
    assert main(["kinematics", "batch", "--input", "hook.json", "--output", "states.json"]) == 0
    assert json.loads(Path("states.json").read_text())["tool_frame"] == "hook"
    capsys.readouterr()
    assert main(["excite", "check", "hook.json", "--tip", "ring"]) == 2
    assert "planned with the tool frame 'hook', in which its payload is given" in capsys.readouterr().err
    assert main(["excite", "check", "hook.json", "--tip", "ring", "--payload-size", "0.05", "0.05", "0.06"]) == 0


def test_a_clearance_that_is_given_is_kept_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["excite", "optimize", "--robot", "ur5e", "--starts", "1", "--time-budget", "1", "--duration", "4"]
    assert main([*words, "--clearance", "0.035", "--output", "apart.json"]) == 0
    assert json.loads(Path("apart.json").read_text())["config"]["clearance"] == 0.035
    capsys.readouterr()
    assert main(["excite", "check", "apart.json"]) == 0
    assert "35 mm clearance; 95 % of the limits" in capsys.readouterr().out
    assert main(["excite", "check", "apart.json", "--clearance", "0.3"]) == 1
