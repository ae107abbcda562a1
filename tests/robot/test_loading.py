"""`load_robot` takes catalogue names and URDF paths, and says what it did not find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError, RobotModelError, StatedPathError, UnknownNameError
from iparam.robot import catalog_robot, load_robot
from iparam.robot.loading import stated_in_setup, stated_name

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


def test_a_path_that_a_file_states_is_offered_as_it_leads_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "plans" / "t.json"
    (tmp_path / "plans" / "arms").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def offered(robot: str) -> str:
        with pytest.raises(StatedPathError) as refused:
            stated_name(robot, plan)
        return refused.value.path

    assert offered("arms/one.urdf") == "arms/one.urdf"  # nowhere: said as it was stated
    beside = tmp_path / "plans" / "one.urdf"
    beside.write_text(URDF, encoding="utf-8")
    assert offered("arms/one.urdf") == str(beside)
    below = tmp_path / "plans" / "arms" / "one.urdf"
    below.write_text(URDF, encoding="utf-8")
    assert offered("arms/one.urdf") == str(below)
    Path("one.urdf").write_text(URDF, encoding="utf-8")
    assert offered("one.urdf") == "one.urdf"  # here comes first
    assert offered("arms/one.urdf side:=left  n:=0.5") == f"{below} side:=left  n:=0.5"
    for robot in ("/nowhere/one.urdf", "a\0b.urdf", "../" * 3000 + "x.urdf"):
        assert offered(robot) == robot


def test_a_name_that_a_file_states_is_taken_whatever_lies_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ur5e", "panda", "UR10e"):
        (tmp_path / name).write_text(URDF, encoding="utf-8")
        assert stated_name(name, "run.parquet") == name
    assert load_robot("ur5e").num_joints == 6
    with pytest.raises(InputError, match=r"run\.parquet belongs to 'nobody'"):
        stated_name("nobody", "run.parquet")


def test_a_setup_names_descriptions_in_its_own_folder_and_no_programs(tmp_path: Path) -> None:
    cell, outside = tmp_path / "cell", tmp_path / "arm.urdf"
    (cell / "arms").mkdir(parents=True)
    setup = cell / "setup.toml"
    for path in (cell / "arms" / "arm.urdf", cell / "arm.urdf.xacro", outside):
        path.write_text(URDF, encoding="utf-8")
    (cell / "link.urdf").symlink_to(outside)
    for robot in ("ur5e", str(cell / "arms" / "arm.urdf")):
        assert stated_in_setup(robot, setup) == robot
    refused = (outside, cell / "arm.urdf.xacro", f"{cell / 'arms' / 'arm.urdf'} a:=1", cell / "link.urdf")
    for robot in map(str, (*refused, f"{cell}/../arm.urdf")):
        with pytest.raises(StatedPathError) as error:
            stated_in_setup(robot, setup)
        assert error.value.path == robot
