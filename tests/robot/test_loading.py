"""`load_robot` takes catalogue names and URDF paths, and says what it did not find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError, RobotModelError, UnknownNameError
from iparam.robot import catalog_robot, load_robot
from iparam.robot.loading import stated_source

URDF = (
    '<robot name="pendulum"><link name="base"/><link name="bob"/><joint name="j" type="continuous">'
    '<parent link="base"/><child link="bob"/></joint></robot>'
)


def test_a_catalogue_name_in_any_case() -> None:
    assert load_robot("ur5e") is catalog_robot("ur5e")
    assert load_robot("UR5e") is catalog_robot("ur5e")


@pytest.mark.parametrize("tip", ["wrist_3_link", "flange", "tool0"])
def test_a_catalogue_robots_tip_is_any_frame_behind_its_last_joint(tip: str) -> None:
    robot = load_robot("ur10e", tip=tip, base="base")
    assert robot.tool_frame == tip
    np.testing.assert_array_equal(robot.chain.phi, catalog_robot("ur10e").chain.phi)


@pytest.mark.parametrize("tip", ["forearm_link", "gripper"])
def test_another_tip_is_refused(tip: str) -> None:
    with pytest.raises(UnknownNameError, match="wrist_3_link, flange, tool0"):
        load_robot("ur5e", tip=tip)


def test_another_base_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="base_link"):
        load_robot("ur5e", base="base_link")


@pytest.mark.parametrize("name", ["ur6e", "", "pandora", "\0", "x" * 5000])
def test_an_unknown_name_lists_the_catalogue_and_mentions_urdf(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"ur3, ur5, ur10, .*ur30.*\.urdf"):
        load_robot(name)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_to_a_urdf(kind: Callable[[Path], str | Path], tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF, encoding="utf-8")
    robot = load_robot(kind(path))
    assert robot.name == "pendulum"
    assert robot.tool_frame == "bob"
    with pytest.raises(RobotModelError, match="no joint moves"):
        load_robot(kind(path), tip="base")


def test_a_file_without_suffix_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pendulum").write_text(URDF, encoding="utf-8")
    assert load_robot("pendulum").name == "pendulum"


@pytest.mark.parametrize("source", ["missing.urdf", "folder/arm", Path("ur5e")])
def test_a_missing_file_is_named(source: str | Path) -> None:
    with pytest.raises(FileFormatError, match=f"{source}.*does not exist"):
        load_robot(source)


def test_a_folder_is_no_robot(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="is a directory"):
        load_robot(tmp_path)


@pytest.mark.parametrize("source", [None, 5, b"ur5e", ["ur5e"]])
def test_other_types_are_refused(source: object) -> None:
    with pytest.raises(InputError, match=r"name or the path|path"):
        load_robot(source)  # type: ignore[arg-type]


def test_a_path_that_a_file_states_is_found_from_where_the_file_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "plans" / "t.json"
    (tmp_path / "plans" / "arms").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert stated_source("arms/one.urdf", plan) == "arms/one.urdf"  # nowhere: said as it was stated
    beside = tmp_path / "plans" / "one.urdf"
    beside.write_text(URDF, encoding="utf-8")
    assert stated_source("arms/one.urdf", plan) == str(beside)
    below = tmp_path / "plans" / "arms" / "one.urdf"
    below.write_text(URDF, encoding="utf-8")
    assert stated_source("arms/one.urdf", plan) == str(below)
    Path("one.urdf").write_text(URDF, encoding="utf-8")
    assert stated_source("one.urdf", plan) == "one.urdf"  # here comes first
    assert stated_source("arms/one.urdf side:=left  n:=0.5", plan) == f"{below} side:=left  n:=0.5"
    for robot in ("ur5e", "panda", "/nowhere/one.urdf", "", "a\0b.urdf", "../" * 3000 + "x.urdf"):
        assert stated_source(robot, plan) == robot
