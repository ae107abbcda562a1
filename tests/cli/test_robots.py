"""`iparam robots`: the catalogue, an arm of a robot with several, and a folder of descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from iparam.cli.main import main

EDGES = [
    ("torso", "root", "chest"),
    *((f"{side}{i}", f"{side}{i - 1}" if i > 1 else "chest", f"{side}{i}") for side in "lr" for i in range(1, 5)),
]


@pytest.fixture
def two_arms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    links = dict.fromkeys(name for _, *ends in EDGES for name in ends)
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 0.3"/>'
        f'<axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="50"/></joint>'
        for name, parent, child in EDGES
    )
    path = Path("two arms.urdf")
    path.write_text(f'<robot name="two">{"".join(f"<link name={name!r}/>" for name in links)}{joints}</robot>', "utf-8")
    return path


def test_several_arms_are_offered(two_arms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots", str(two_arms)]) == 1
    message = capsys.readouterr().err
    assert "base 'chest' and tip 'l4' (4 joints); base 'chest' and tip 'r4' (4 joints)" in " ".join(message.split())


def test_one_arm_is_cut_out_with_the_rest_locked(two_arms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--base", "chest", "--tip", "r4", "--lock", "torso=0.5", "l1=-1"]
    assert main(["robots", str(two_arms), *options, "--json"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    assert shown["joints"] == ["r1", "r2", "r3", "r4"]
    assert shown["base_frame"] == "chest"
    assert set(shown["frames"]) == {"root", "chest", *(f"{side}{i}" for side in "lr" for i in range(1, 5))}
    assert "tilted by 29 deg" in captured.err


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (["torso"], "--lock takes JOINT=Q"),
        (["torso="], "--lock takes JOINT=Q"),
        (["=1"], "--lock takes JOINT=Q"),
        (["torso=nan"], "--lock takes JOINT=Q"),
        (["torso=1", "torso=2"], "--lock names torso twice"),
        (["elbow=1"], "unknown joint to lock 'elbow'"),
    ],
)
def test_what_cannot_be_locked_is_refused(
    lock: list[str], message: str, two_arms: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robots", str(two_arms), "--base", "chest", "--tip", "r4", "--lock", *lock]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_arms_of_the_installed_package_are_listed(
    capsys: pytest.CaptureFixture[str], example_robot_urdf: Callable[[str], Path]
) -> None:
    example_robot_urdf("panda")
    assert main(["robots", "--json"]) == 0
    assert "panda" in json.loads(capsys.readouterr().out)["from_example_robot_data"]
    assert main(["robots", "Panda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tool_frame"] == "panda_link8"


def test_arguments_of_a_xacro_file_belong_to_its_path(two_arms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xacro")
    text = (
        two_arms.read_text(encoding="utf-8")
        .replace('<robot name="two">', "")
        .replace('lower="-2"', 'lower="$(arg low)"')
    )
    head = '<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="low" default="-1"/>'
    Path("two.xacro").write_text(head + text, encoding="utf-8")
    arm = ["--base", "chest", "--tip", "r4", "--json"]
    for robot, low in (("two.xacro", -1.0), ("two.xacro low:=-0.25", -0.25)):
        assert main(["robots", robot, *arm]) == 0
        assert json.loads(capsys.readouterr().out)["limits"]["lower"] == [low] * 4
    assert main(["robots", "two.xacro", "low:=-0.25", *arm]) == 2
    assert "low:=-0.25" in capsys.readouterr().err
