"""xacro files are expanded by xacro itself; where it is missing, the extra is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError, MissingExtraError, UnknownNameError
from iparam.robot import load_robot
from iparam.robot.description.xacro import xacro_text

HEAD = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ARM = (
    '<xacro:macro name="stage" params="n parent"><link name="l${n}"><inertial><mass value="${2 * n}"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    '<joint name="j${n}" type="revolute"><parent link="${parent}"/><child link="l${n}"/>'
    '<origin rpy="0 0 ${pi / 4}"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></xacro:macro>'
)
BODY = '<link name="base"/><xacro:stage n="1" parent="base"/><xacro:stage n="2" parent="l1"/></robot>'


@pytest.fixture
def needs_xacro() -> None:
    pytest.importorskip("xacro")


@pytest.mark.usefixtures("needs_xacro")
def test_macros_and_expressions(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(HEAD + ARM + BODY, encoding="utf-8")
    robot = load_robot(path)
    assert robot.joint_names == ("j1", "j2")
    assert robot.body_parameters[:, 0].tolist() == [2.0, 4.0]
    np.testing.assert_allclose(robot.joints[0].origin[0, 0], np.cos(np.pi / 4))
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("needs_xacro")
def test_macros_in_a_file_that_is_not_called_xacro_are_not_run_unasked(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(HEAD + ARM + BODY, encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"\.xacro"):
        load_robot(path)
    path.write_text(ARGUED.replace("stages.xacro", str(tmp_path / "stages.xacro")), encoding="utf-8")
    (tmp_path / "stages.xacro").write_text(HEAD + ARM + "</robot>", encoding="utf-8")
    assert load_robot(f"{path} heavy:=3").body_parameters[0, 0] == 6.0  # arguments say what it is


@pytest.mark.usefixtures("needs_xacro")
def test_a_package_is_found_above_the_file(tmp_path: Path) -> None:
    macros = tmp_path / "my_arm" / "urdf" / "stage.xacro"
    macros.parent.mkdir(parents=True)
    (tmp_path / "my_arm" / "package.xml").write_text("<package/>", encoding="utf-8")
    macros.write_text(HEAD + ARM + "</robot>", encoding="utf-8")
    path = macros.with_name("arm.urdf.xacro")
    path.write_text(f'{HEAD}<xacro:include filename="$(find my_arm)/urdf/stage.xacro"/>{BODY}', encoding="utf-8")
    assert load_robot(path).num_joints == 2
    path.write_text(f'{HEAD}<xacro:include filename="$(find your_arm)/stage.xacro"/>{BODY}', encoding="utf-8")
    with pytest.raises(FileFormatError, match="'your_arm' is not beside it"):
        load_robot(path)


@pytest.mark.usefixtures("needs_xacro")
@pytest.mark.parametrize(
    "inner",
    [
        "<xacro:missing/>",
        '<link name="${1 / 0}"/>',
        '<link name="${__import__("os")}"/>',
        '<xacro:arg name="a"/><link name="$(arg a)"/>',
        '<xacro:include filename="nowhere.xacro"/>',
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    ],
)
def test_what_xacro_refuses_is_said_in_one_sentence(
    inner: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.xacro"
    path.write_text(f"{HEAD}{inner}</robot>".replace('__import__("os")', "__import__('os')"), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"arm\.xacro.*xacro cannot process it") as caught:
        load_robot(path)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("needs_xacro")
@pytest.mark.skipif(sys.platform == "win32", reason="it has no such pipes")
def test_a_pipe_is_not_included(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xacro")
    path = tmp_path / "arm.xacro"
    path.write_text(f'{HEAD}<xacro:include filename="pipe.xacro"/>{BODY}', encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"arm\.xacro: .*pipe\.xacro is no file"):
        load_robot(path)


def test_without_xacro_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(HEAD + ARM + BODY, encoding="utf-8")
    with pytest.raises(MissingExtraError, match=r"iparam\[xacro\]"):
        xacro_text(str(path), {})


ARGUED = (
    HEAD + '<xacro:arg name="side" default="left"/><xacro:arg name="heavy" default="1"/>'
    '<xacro:include filename="stages.xacro"/><link name="base"/>'
    '<xacro:if value="${len(side) > 0}"><xacro:property name="s" value="$(arg side)"/></xacro:if>'
    '<xacro:stage n="$(arg heavy)" parent="base"/></robot>'
).replace('<xacro:if value="${len(side) > 0}">', '<xacro:if value="1">')


@pytest.mark.usefixtures("needs_xacro")
def test_arguments_stand_behind_the_path(tmp_path: Path) -> None:
    folder = tmp_path / "my arms"
    folder.mkdir()
    path = folder / "arm.urdf.xacro"
    path.write_text(ARGUED, encoding="utf-8")
    (folder / "stages.xacro").write_text(HEAD + ARM + "</robot>", encoding="utf-8")
    assert load_robot(path).body_parameters[0, 0] == 2.0
    robot = load_robot(f"{path} heavy:=3 side:='upper left'")
    assert (robot.body_parameters[0, 0], robot.joint_names) == (6.0, ("j3",))
    with pytest.raises(UnknownNameError, match=r"'heavi'; did you mean 'heavy'\? Known: heavy, side"):
        load_robot(f"{path} heavi:=3")
    for behind, message in {
        "heavy:=3 heavy:=4": "is there twice",
        "heavy:=3 side": "'side' is no NAME:=VALUE",
        "side:='upper": "cannot be read",
    }.items():
        with pytest.raises(InputError, match=message):
            load_robot(f"{path} {behind}")


@pytest.mark.usefixtures("needs_xacro")
def test_a_missing_argument_is_named_with_where_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "arm.xacro"
    path.write_text(HEAD + ARM + BODY.replace('name="base"', 'name="$(arg root)"'), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"argument root\. .* 'arm\.xacro root:=VALUE'"):
        load_robot(path)
    assert load_robot(f"{path} root:=base").num_joints == 2
    path.write_text(HEAD + ARM + "</robot>", encoding="utf-8")
    with pytest.raises(FileFormatError, match="defines macros, and no link"):
        load_robot(path)


def test_other_formats_take_no_arguments(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="arm"><link name="base"/></robot>', encoding="utf-8")
    with pytest.raises(InputError, match="no xacro file, and takes no arguments: leave out a:="):
        load_robot(f"{path} a:=1")
