"""What a trajectory was planned with reaches every command that checks, simulates, times or plays it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.cli.options.planning import PlanningOptions
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
    assert re.search(r"^mass \[kg\] +0\.7000 ", capsys.readouterr().out, re.MULTILINE)
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
    arm = ["--robot", "arm.urdf"]
    assert main(["excite", "check", "hook.json", *arm, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tool_frame"] == "hook"
    assert main(["kinematics", "batch", "--input", "hook.json", *arm, "--output", "states.json"]) == 0
    assert json.loads(Path("states.json").read_text())["tool_frame"] == "hook"
    capsys.readouterr()
    assert main(["excite", "check", "hook.json", *arm, "--tip", "ring"]) == 2
    assert "planned with the tool frame 'hook', in which its payload is given" in capsys.readouterr().err
    assert main(["excite", "check", "hook.json", *arm, "--tip", "ring", "--payload-size", "0.05", "0.05", "0.06"]) == 0


def test_a_clearance_that_is_given_is_kept_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["excite", "optimize", "--robot", "ur5e", "--starts", "1", "--time-budget", "1", "--duration", "4"]
    assert main([*words, "--clearance", "0.035", "--output", "apart.json"]) == 0
    assert json.loads(Path("apart.json").read_text())["config"]["clearance"] == 0.035
    capsys.readouterr()
    assert main(["excite", "check", "apart.json"]) == 0
    assert "35 mm clearance; 95 % of the limits" in capsys.readouterr().out
    assert main(["excite", "check", "apart.json", "--clearance", "0.3"]) == 1


TWO_ARMS = """<robot name="two">{links}<joint name="lift" type="prismatic"><parent link="floor"/><child link="chest"/>
<axis xyz="0 0 1"/><limit lower="0" upper="1" velocity="0.1" effort="900"/></joint>{joints}</robot>"""


def two_arms() -> str:
    """A left and a right arm of five joints on a chest that is lifted."""
    solid = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
    links = ['<link name="floor"/>', f'<link name="chest">{solid}</link>']
    joints = []
    for side, place in (("left", 0.15), ("right", -0.15)):
        for index in range(5):
            parent, at = (f"{side}{index - 1}", "0 0 0.2") if index else ("chest", f"0 {place} 0.2")
            links.append(f'<link name="{side}{index}">{solid}</link>')
            joints.append(
                f'<joint name="{side}_j{index}" type="revolute"><parent link="{parent}"/><child link="{side}{index}"/>'
                f'<origin xyz="{at}"/><axis xyz="{index % 2} {1 - index % 2} {index % 3}"/>'
                '<limit lower="-2" upper="2" velocity="3" effort="80"/></joint>'
            )
    return TWO_ARMS.format(links="".join(links), joints="".join(joints))


def test_the_arm_and_where_the_rest_stands_are_said_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.urdf").write_text(two_arms(), encoding="utf-8")
    lock = ["--lock", "lift=0.4", "right_j1=0.7"]
    arm = ["--robot", "two.urdf", "--base", "chest", "--tip", "left4", *lock]
    words = ["--payload-size", "0.04", "0.04", "0.04", "--payload-mass", "0.2", "--duration", "4", "--harmonics", "3"]
    assert main(["excite", "random", *arm, *words, "--output", "left.json"]) == 0, capsys.readouterr().err
    stated = json.loads(Path("left.json").read_text())
    assert stated["base_frame"] == "chest"
    assert stated["lock"] == {"lift": 0.4, "right_j1": 0.7}
    assert "--robot two.urdf" in capsys.readouterr().err  # what later commands need besides
    arm = ["--robot", "two.urdf"]
    assert main(["excite", "check", "left.json", *arm, "--json"]) == 0, capsys.readouterr().err
    # The other arm has no shape in the file, and is in the way all the same.
    leaning = ["--lock", "right_j1=-1.2"]
    for command in (["excite", "check", "left.json"], ["simulate", "--trajectory", "left.json", "--output", "x.csv"]):
        assert main([*command, *arm, *leaning]) == 1
        assert re.search(r"left\d.*right\d|right\d.*left\d", capsys.readouterr().err)
    run = ["simulate", "--trajectory", "left.json", *arm, "--noise", "ur5e", "--physics-rate", "500"]
    assert main([*run, "--output", "run.parquet"]) == 0
    assert "--robot two.urdf" in capsys.readouterr().err
    recording = iparam.Recording.load("run.parquet")
    assert recording.metadata["lock"] == {"lift": 0.4, "right_j1": 0.7}
    assert main(["identify", "payload", "run.parquet", *arm, "--output", "result.json"]) == 0, capsys.readouterr().err
    assert json.loads(Path("result.json").read_text())["mass"] == pytest.approx(0.2, rel=0.05)
    arm_of_run = iparam.sensing.recorded_robot(recording, "two.urdf")
    assert (arm_of_run.base_frame, arm_of_run.tool_frame, arm_of_run.lock) == ("chest", "left4", stated["lock"])


def test_what_a_check_refuses_of_a_file_that_says_nothing_is_refused_by_the_simulator(folder: Path, capsys) -> None:
    """Both hold a motion of an earlier version to 10 mm."""
    near = WorkCell(ground_height=lowest_point("bare.json") - 0.005)
    for name, conditions in (("near.json", None), ("free.json", PlanConditions(cell=near))):
        save_trajectory(name, motion(), robot="ur5e", fps=100.0, tool_frame="tool0", conditions=conditions)
    Path("cell.json").write_text(json.dumps({"format": "iparam-cell/1", "ground_height": near.ground_height}))
    for command in (["excite", "check", "near.json"], ["simulate", "--trajectory", "near.json", "--output", "r.csv"]):
        assert main([*command, "--cell", "cell.json"]) == 1
        assert "ground" in capsys.readouterr().err
    # What --clearance says is kept by both, too.
    for clearance, code in (("0.004", 0), ("0.006", 1)):
        for command in (
            ["excite", "check", "free.json"],
            ["simulate", "--trajectory", "free.json", "--output", "r.csv"],
        ):
            assert main([*command, "--clearance", clearance]) == code, capsys.readouterr().err


def lowest_point(trajectory: str) -> float:
    """Of the arm along a motion, by its capsules [m]."""
    robot, planned = iparam.load_robot("ur5e"), iparam.load_trajectory(trajectory)
    q = planned.trajectory.sample(1000.0).q
    scene = iparam.robot.collision_scene(robot, (), WorkCell(ground_height=-1.0))
    (ground,) = (group for group in scene.distances if group.name == "robot-ground collision")
    return float(ground.at(q).values.min()) - 1.0


@pytest.mark.thorough
def test_a_motion_of_the_reference_problem_is_simulated_with_its_own_spheres(folder: Path, capsys) -> None:
    words = ["excite", "optimize", "--preset", "reference", "--starts", "1", "--output", "reference.json"]
    assert main(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["excite", "check", "reference.json"]) == 0
    assert "spheres at the joints only: by the shapes of the links, forearm_link - payload" in capsys.readouterr().err
    run = ["simulate", "--trajectory", "reference.json", "--output", "run.csv", "--payload", "box", "--mass", "1"]
    run += ["--physics-rate", "500"]
    assert main([*run, "--size", "0.1", "0.15", "0.2"]) == 0
    # A larger payload is not that of the problem: it is judged as any other, by both.
    assert main([*run, "--size", "0.1", "0.15", "0.4"]) == 1
    assert main(["excite", "check", "reference.json", "--payload-size", "0.1", "0.15", "0.4"]) == 1


SCARA = """<robot name="scara"><link name="base"/>{links}
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><origin xyz="0 0 0.6"/><axis xyz="0 0 1"/>
<limit lower="-2.3" upper="2.3" velocity="6" effort="200"/></joint><joint name="j2" type="revolute"><parent link="l1"/>
<child link="l2"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" velocity="8" effort="99"/>
</joint><joint name="j3" type="prismatic"><parent link="l2"/><child link="l3"/><origin xyz="0.25 0 0"/>
<axis xyz="0 0 -1"/><limit lower="0" upper="0.2" velocity="1" effort="200"/></joint><joint name="j4" type="revolute">
<parent link="l3"/><child link="tool0"/><origin xyz="0 0 -0.2"/><axis xyz="0 0 1"/>
<limit lower="-6" upper="6" velocity="15" effort="20"/></joint></robot>"""


@pytest.mark.thorough
def test_an_arm_that_cannot_turn_its_tool_over_is_planned_for_what_it_can_tell(folder: Path, capsys) -> None:
    solid = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
    links = "".join(f'<link name="{name}">{solid}</link>' for name in ("l1", "l2", "l3", "tool0"))
    Path("scara.urdf").write_text(SCARA.format(links=links), encoding="utf-8")
    plan = ["excite", "optimize", "--robot", "scara.urdf", "--payload-size", "0.04", "0.04", "0.04", "--starts", "1"]
    plan += ["--payload-center", "0", "0", "-0.02", "--payload-mass", "2", "--workers", "1", "--duration", "4"]
    # --q0 is in degrees, and in metres for the sliding joint.
    assert main([*plan, "--q0", "30", "-60", "0.1", "10", "--output", "scara.json"]) == 0, capsys.readouterr().err
    assert "ten parameters it can tell 7 combinations" in capsys.readouterr().err
    planned = iparam.load_trajectory("scara.json")
    assert planned.condition_number < 50.0
    np.testing.assert_allclose(planned.trajectory.evaluate(0.0).q[0], [*np.radians([30, -60]), 0.1, np.radians(10)])
    arm = ["--robot", "scara.urdf"]
    assert main(["excite", "check", "scara.json", *arm]) == 0
    run = ["simulate", "--trajectory", "scara.json", *arm, "--noise", "ur5e", "--physics-rate", "500"]
    assert main([*run, "--output", "run.parquet"]) == 0
    assert main(["identify", "payload", "run.parquet", *arm, "--output", "result.json"]) == 0, capsys.readouterr().err
    result = json.loads(Path("result.json").read_text())
    assert result["mass"] == pytest.approx(2.0, rel=0.05)
    assert "inertia_xx" not in result["determined"]


def test_a_robot_file_that_a_motion_names_is_offered_and_not_followed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where both were moved together: the path that is offered is that from here."""
    moved = folder / "moved"
    moved.mkdir()
    (moved / "arm.urdf").write_text(robot_to_urdf(dataclasses.replace(iparam.load_robot("ur5e"), name="arm")))
    save_trajectory(moved / "t.json", motion(), robot="arm.urdf", fps=100.0, tool_frame="tool0")
    for command in (["excite", "check", "moved/t.json"], ["simulate", "--trajectory", "moved/t.json"]):
        output = ["--output", "moved/run.parquet"] if command[0] == "simulate" else []
        assert main([*command, *output]) == 2
        assert "--robot moved/arm.urdf" in capsys.readouterr().err
        assert main([*command, *output, "--robot", "moved/arm.urdf"]) == 0
    capsys.readouterr()
    assert main(["identify", "payload", "moved/run.parquet"]) == 2
    assert "--robot moved/arm.urdf" in capsys.readouterr().err
    # Nothing is carried: the arm was found.
    assert main(["identify", "payload", "moved/run.parquet", "--robot", "moved/arm.urdf"]) in (0, 1)


NOT_OF_A_PLAN = {"preset", "q0", "free_start", "duration", "harmonics", "base_freq"}


@pytest.mark.parametrize("command", ["excite check", "excite predict", "ur run"])
def test_the_help_says_that_the_plan_decides(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main([*command.split(), "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    helps = dict(re.findall(r"(--[a-z-]+) [A-Z].*?(\(default: [^)]*\))", out))
    own = (*PlanningOptions.__annotations__, "base", "lock")
    told = {name: helps.get(f"--{name.replace('_', '-')}", "") for name in own if name not in NOT_OF_A_PLAN}
    assert {name for name, text in told.items() if "the plan's" not in text} == set()
