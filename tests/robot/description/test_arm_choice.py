"""Where an arm ends and which arms there are is told from the tree and its names; what cannot be told is offered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iparam.errors import RobotModelError
from iparam.robot import Robot, load_robot
from iparam.robot.description.arm_choice import arms_of
from iparam.robot.urdf.elements import read_tree

Edge = tuple[str, str, str]  # joint, parent, child; "=" before the joint's name is a fixed one, "~" one that mimics

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def urdf(*edges: Edge) -> str:
    links = dict.fromkeys(name for _, *ends in edges for name in ends)
    text = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in links)
    for name, parent, child in edges:
        kind = "fixed" if name.startswith("=") else "revolute"
        mimic = '<mimic joint="other"/>' if name.startswith("~") else ""
        text += (
            f'<joint name="{name.lstrip("=~")}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0.1 0 0.2"/><limit lower="-1" upper="2" velocity="1" effort="9"/>{mimic}</joint>'
        )
    return f'<robot name="r">{text}</robot>'


def chain(count: int, start: str, prefix: str) -> list[Edge]:
    """``count`` moving joints, one on the other."""
    links = [start, *(f"{prefix}{index}" for index in range(1, count + 1))]
    return [(f"{prefix}_j{index}", links[index - 1], links[index]) for index in range(1, count + 1)]


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Robot]:
    def from_edges(*edges: Edge) -> Robot:
        path = tmp_path / "r.urdf"
        path.write_text(urdf(*edges), encoding="utf-8")
        return load_robot(path)

    return from_edges


SIX = chain(6, "base", "link")
FINGERS = [("left", "hand", "a"), ("right", "hand", "b")]


@pytest.mark.parametrize(
    ("further", "tip"),
    [
        ([], "link6"),
        ([("=f", "link6", "flange")], "flange"),
        ([("=f", "link6", "x"), ("=g", "x", "camera")], "camera"),  # the only end, whatever it is called
        ([("=f", "link6", "tool0"), ("=g", "link6", "camera")], "tool0"),
        ([("=f", "link6", "my_flange"), ("=g", "my_flange", "camera"), ("=h", "link6", "lamp")], "my_flange"),
        ([("=f", "link6", "ee_link"), ("=g", "link6", "camera")], "ee_link"),
        # A gripper: the arm ends before it.
        ([("=m", "link6", "hand"), *FINGERS], "link6"),
        ([("=m", "link6", "link7"), ("=n", "link7", "hand"), *FINGERS], "link7"),
        ([("=m", "link6", "adapter"), ("=n", "adapter", "hand"), *FINGERS], "adapter"),
        ([("=m", "link6", "hand"), ("left", "hand", "a"), ("~right", "hand", "b")], "link6"),
        ([("gripper", "link6", "jaw")], "link6"),
        ([("finger_joint", "link6", "a"), ("=m", "link6", "tcp")], "tcp"),
        ([("=m", "link6", "palm"), *(e for name in "abcd" for e in chain(4, "palm", name))], "link6"),
        ([("=m", "link6", "hand"), *chain(7, "hand", "hand_x_index_"), *chain(7, "hand", "hand_x_little_")], "link6"),
        # A head, a wheel or a camera's shutter to the side.
        ([*chain(2, "base", "head"), ("wheel", "base", "w")], "link6"),
        ([("shutter", "link4", "s")], "link6"),
    ],
)
def test_the_arm_ends_at_its_flange(further: list[Edge], tip: str, load: Callable[..., Robot]) -> None:
    robot = load(*SIX, *further)
    assert robot.tool_frame == tip
    assert robot.joint_names == tuple(f"link_j{index}" for index in range(1, 7))
    moving = [name for name, *_ in further if not name.startswith("=")]
    assert set(robot.locked_joints) == {name.lstrip("~") for name in moving}
    if moving:
        assert any(f"{tip!r}" in note and "tip=" in note for note in robot.notes)


def test_a_wrist_that_turns_a_gripper_belongs_to_the_arm(load: Callable[..., Robot]) -> None:
    robot = load(*chain(4, "base", "link"), ("wrist_roll", "link4", "gripper_link"), ("gripper", "gripper_link", "jaw"))
    assert robot.joint_names[-1] == "wrist_roll"
    assert robot.tool_frame == "gripper_link"


def test_several_arms_are_offered_with_the_options_that_choose_them(load: Callable[..., Robot]) -> None:
    torso = ("torso", "base", "chest")
    arms = [("=lm", "chest", "left_mount"), *chain(7, "left_mount", "left"), *chain(7, "chest", "right")]
    legs = [*chain(6, "base", "left_leg"), *chain(6, "base", "right_leg")]
    head = chain(2, "chest", "head")
    with pytest.raises(RobotModelError, match="4 chains that may be the arm") as caught:
        load(*legs, torso, *arms, *head)
    offered = [
        "base='left_mount' tip='left7' (7 joints)",
        "base='chest' tip='right7' (7 joints)",
        "base='base' tip='left_leg6' (6 joints)",
        "base='base' tip='right_leg6' (6 joints)",
    ]
    places = [str(caught.value).find(text) for text in sorted(offered, key=offered.index)]
    assert min(places) > 0
    assert max(places[:2]) < min(places[2:])  # arms before legs


@pytest.mark.parametrize(
    ("edges", "ends"),
    [
        ([*chain(3, "base", "a"), *chain(3, "base", "b")], "'a3', 'b3'"),
        ([*chain(2, "base", "a"), ("left", "a2", "x"), ("finger", "a2", "y")], "'x', 'y'"),
        ([*SIX, ("=m", "link6", "lamp"), ("=n", "link6", "camera")], "'lamp', 'camera'"),
    ],
)
def test_what_cannot_be_told_is_asked_for(edges: list[Edge], ends: str, load: Callable[..., Robot]) -> None:
    with pytest.raises(RobotModelError, match=f"tip=.*ends are {ends}"):
        load(*edges)


@pytest.mark.parametrize(
    ("name", "base", "tip"),
    [
        ("baxter", "right_arm_mount", "right_wrist"),
        ("pr2", "torso_lift_link", "r_wrist_roll_link"),
        ("talos_full_v2", "torso_2_link", "wrist_left_ft_tool_link"),
        ("icub", "chest", "l_hand"),
        ("tiago", "base_footprint", "wrist_ft_tool_link"),
    ],
)
def test_the_arms_of_real_robots_are_found(
    name: str, base: str, tip: str, example_robot_urdf: Callable[[str], Path]
) -> None:
    folder = example_robot_urdf("panda").parents[2]
    (path,) = folder.rglob(f"{name}.urdf")
    tree = read_tree(path)
    found = arms_of(tree, tree.root)
    assert (base, tip) in [(arm.base, arm.tip) for arm in found]
    assert 7 <= len(next(arm for arm in found if arm.tip == tip).joints) <= 8


@pytest.mark.parametrize(
    ("sites", "tip", "told"),
    [
        ((), "b4", None),
        (("ee_site",), "ee_site", "'ee_site' was taken for the tool; another link may be the tip"),
        (("cam", "attach point"), "attach point", "another link may be the tip, or a frame on it: 'cam'"),
        (("tcp", "flange_site"), "flange_site", "or a frame on it: 'tcp'"),
        (
            ("camera", "imu"),
            "b4",
            "'b4' was taken for the tool; another link may be the tip, or a frame",
        ),
    ],
)
def test_sites_are_tools_by_their_names(sites: tuple[str, ...], tip: str, told: str | None, tmp_path: Path) -> None:
    """Any of them can be asked for, and what was taken is said."""
    pytest.importorskip("mujoco")
    marks = "".join(f'<site name="{name}" pos="0 0 .1"/>' for name in sites)
    bodies = marks
    for k in range(4, 0, -1):
        axis = "0 0 1" if k % 2 else "0 1 0"
        bodies = f'<body name="b{k}" pos="0 0 .2"><joint name="j{k}" axis="{axis}"/><geom size=".05"/>{bodies}</body>'
    path = tmp_path / "arm.xml"
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", encoding="utf-8")
    robot = load_robot(path)
    assert robot.tool_frame == tip
    assert any(told in note for note in robot.notes) if told else "taken for the tool" not in str(robot.notes)
    for site in sites:
        assert load_robot(path, tip=site).tool_frame == site
