"""Models that an SDF includes, and worlds of several models, are the arm that the same parts written out would be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, RobotModelError
from iparam.robot import Robot, load_robot

LINK = (
    '<link name="{0}"><pose>0 0 {1} 0 0 0</pose><inertial><mass>{2}</mass><inertia><ixx>1</ixx><iyy>1</iyy>'
    "<izz>1</izz></inertia></inertial></link>"
)
JOINT = (
    '<joint name="{0}" type="{1}"><parent>{2}</parent><child>{3}</child>'
    "<axis><xyz>{4}</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>"
)


def arm_parts(turn: str = "0 1 0") -> str:
    """Five links above each other, and a flange on the last."""
    links = "".join(LINK.format(f"l{n}", 0.2 * n, n + 1) for n in range(5))
    joints = "".join(JOINT.format(f"j{n}", "revolute", f"l{n - 1}", f"l{n}", turn) for n in range(1, 5))
    return f'{links}{joints}<frame name="flange" attached_to="l4"><pose>0 0 0.1 0 0 0</pose></frame>'


HAND = LINK.format("palm", 0, 0.5) + "".join(
    LINK.format(f"finger{n}", 0.1, 0.05) + JOINT.format(f"f{n}", "prismatic", "palm", f"finger{n}", "0 1 0")
    for n in (1, 2)
)


def sdf(inner: str, version: str = "1.9") -> str:
    return f'<?xml version="1.0"?><sdf version="{version}">{inner}</sdf>'


def include(uri: str, name: str, inner: str = "") -> str:
    return f"<include><uri>{uri}</uri><name>{name}</name>{inner}</include>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An arm and a hand as Gazebo keeps models, and a robot of both."""
    for name, text, version in (("my_arm", arm_parts(), "1.9"), ("my_hand", HAND, "1.6")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "newest.sdf").write_text(sdf(f'<model name="{name}">{text}</model>', version), "utf-8")
        (tmp_path / name / "model.config").write_text(
            '<model><sdf version="1.10">newest.sdf</sdf><sdf version="1.9">gone.sdf</sdf></model>', encoding="utf-8"
        )
    turned = '<pose relative_to="arm::flange">0 0 0.02 0 0 0.7</pose>'
    robot = include("model://my_arm", "arm", "<pose>0 0 0.5 0 0 0.3</pose>")
    robot += include("model://my_hand", "gripper", turned)
    robot += JOINT.format("weld", "fixed", "world", "arm::l0", "0 0 1")
    robot += JOINT.format("mount", "fixed", "arm::flange", "gripper", "0 0 1")
    (tmp_path / "robot.sdf").write_text(sdf(f'<model name="robot">{robot}</model>'), encoding="utf-8")
    return tmp_path


def test_included_models_are_parts_of_the_robot(folder: Path) -> None:
    robot = load_robot(folder / "robot.sdf")
    assert (robot.base_frame, robot.tool_frame) == ("world", "arm::flange")
    assert robot.joint_names == ("arm::j1", "arm::j2", "arm::j3", "arm::j4")
    assert robot.body_parameters[:, 0].tolist() == pytest.approx([2.0, 3.0, 4.0, 5.0 + 0.5 + 0.1])
    q = np.array([0.3, -0.4, 0.5, 0.6])
    alone = load_robot(folder / "my_arm" / "newest.sdf")
    stand = np.eye(4)
    stand[:3, :3] = [[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]]
    stand[2, 3] = 0.5
    np.testing.assert_allclose(
        iparam.forward_kinematics(robot, q), stand @ iparam.forward_kinematics(alone, q), atol=1e-12
    )
    palm = np.linalg.inv(iparam.forward_kinematics(robot, q)) @ iparam.forward_kinematics(
        robot, q, frame="gripper::palm"
    )
    np.testing.assert_allclose(palm[:3, 3], [0.0, 0.0, 0.02], atol=1e-12)
    np.testing.assert_allclose(palm[1, 0], np.sin(0.7), atol=1e-12)


@pytest.mark.parametrize("version", ["1.4", "1.6", "1.7"])
def test_an_included_file_is_read_by_its_own_version(version: str, folder: Path) -> None:
    """Joints that are turned against the model: up to 1.4 their axis is in its frame, later in their own."""
    text = arm_parts("1 0 0").replace('<joint name="j2" type="revolute">', '<joint name="j2" type="revolute">{}')
    text = text.format("<pose>0 0 0 0 0 1.5707963267948966</pose>")
    (folder / "my_arm" / "newest.sdf").write_text(sdf(f'<model name="my_arm">{text}</model>', version), "utf-8")
    robot = load_robot(folder / "robot.sdf")
    along = [1.0, 0.0, 0.0] if version == "1.4" else [0.0, 1.0, 0.0]
    np.testing.assert_allclose(robot.moving_joints[1].axis, along, atol=1e-12)


def test_a_world_holds_the_robot_and_what_stands_around_it(folder: Path) -> None:
    box = "<collision name='c'><geometry><box><size>0.4 1 0.4</size></box></geometry></collision>"
    plane = "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>"
    world = (
        include("https://somewhere/Sun", "sun")
        + f'<model name="ground"><static>true</static><link name="link">{plane}</link></model>'
        + f'<model name="table"><static>1</static><pose>0.9 0 0 0 0 0</pose><link name="top">{box}</link></model>'
        + f'<model name="can"><link name="can">{box}</link></model>'
        + include("robot.sdf", "robot", "<pose>0 0 1 0 0 0</pose>")
    )
    path = folder / "cell.sdf"
    path.write_text(sdf(f'<world name="cell">{world}</world>'), encoding="utf-8")
    robot = load_robot(path)
    assert (robot.name, robot.base_frame, robot.tool_frame) == ("cell", "world", "robot::arm::flange")
    np.testing.assert_allclose(
        iparam.forward_kinematics(robot, np.zeros(4), frame="table::top")[:3, 3], [0.9, 0.0, 0.0], atol=1e-12
    )
    np.testing.assert_allclose(iparam.forward_kinematics(robot, np.zeros(4))[2, 3], 1.0 + 0.5 + 0.9, atol=1e-12)
    assert "can::can" in robot.omitted_links
    assert any("Sun" in note and "not fetched" in note and "left out" in note for note in robot.notes)


def free_robot(name: str) -> str:
    return f'<model name="{name}">{arm_parts()}</model>'


def test_a_robot_that_stands_free_in_a_world_begins_with_its_own_root(tmp_path: Path) -> None:
    cube = '<model name="cube"><link name="cube"/></model>'
    path = tmp_path / "cell.sdf"
    path.write_text(sdf(f'<world name="w">{cube}{free_robot("a")}</world>'), encoding="utf-8")
    robot: Robot = load_robot(path)
    assert (robot.base_frame, robot.tool_frame) == ("a::l0", "a::flange")
    path.write_text(sdf(f'<world name="w">{cube}{free_robot("a")}{free_robot("b")}</world>'), encoding="utf-8")
    with pytest.raises(RobotModelError, match=r"2 chains .*base='a::l0' tip='a::flange' .*base='b::l0'"):
        load_robot(path)
    assert load_robot(path, base="b::l0", tip="b::flange").joint_names[0] == "b::j1"


def test_a_world_may_weld_the_robot_itself(tmp_path: Path) -> None:
    stand = '<model name="stand"><static>true</static><pose>0 0 2 0 0 0</pose><link name="top"/></model>'
    weld = JOINT.format("weld", "fixed", "stand::top", "a::l0", "0 0 1")
    path = tmp_path / "cell.sdf"
    path.write_text(sdf(f'<world name="w">{stand}{free_robot("a")}{weld}</world>'), encoding="utf-8")
    robot = load_robot(path)
    assert (robot.base_frame, robot.num_joints) == ("world", 4)


def test_a_world_of_which_nothing_is_found_says_what(tmp_path: Path) -> None:
    path = tmp_path / "cell.sdf"
    path.write_text(sdf(f'<world name="w">{include("model://ur5", "ur5")}</world>'), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"no <model> that can be read: .*'model://ur5' is found neither"):
        load_robot(path)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (include("model://nowhere", "x"), r"'model://nowhere' is found neither .* GZ_SIM_RESOURCE_PATH"),
        (include("http://somewhere/x", "x"), "not fetched: name a folder"),
        ('<include merge="true"><uri>model://my_arm</uri></include>', "merge= is not supported: leave it out"),
        (include("model://my_arm", "a", "<placement_frame>flange</placement_frame>"), "give the pose of the model"),
        (include("robot.sdf", "x"), "nested more than 20 deep"),
        (include("model.urdf", "x"), "is no SDF with one <model>"),
        (2 * include("robot.sdf", "x"), r"more than|nested|more than once"),
    ],
)
def test_what_cannot_be_included_is_said(inner: str, message: str, folder: Path) -> None:
    (folder / "model.urdf").write_text("<robot name='r'/>", encoding="utf-8")
    (folder / "robot.sdf").write_text(sdf(f'<model name="robot">{inner}</model>'), encoding="utf-8")
    with pytest.raises((FileFormatError, RobotModelError), match=message):
        load_robot(folder / "robot.sdf")


def test_folders_of_models_are_found_by_gazebos_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = folder / "robots" / "deep"
    elsewhere.mkdir(parents=True)
    (folder / "my_arm").rename(folder / "robots" / "my_arm_")
    (folder / "my_hand").rename(folder / "robots" / "my_hand")
    (folder / "store").mkdir()
    (folder / "robots" / "my_arm_").rename(folder / "store" / "my_arm")
    path = elsewhere / "robot.sdf"
    (folder / "robot.sdf").rename(path)
    with pytest.raises(FileFormatError, match="my_arm"):
        load_robot(path)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(folder / "store"))
    assert load_robot(path).num_joints == 4
