"""URDF files become the serial arm that was asked for; Pinocchio reads the same files as an independent reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.errors import IparamError, RobotModelError, UnknownNameError
from iparam.robot import JointKind, Robot, load_robot
from iparam.spatial import InertialParameters, exp_so3

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>'
)


def link(name: str, inner: str = "") -> str:
    return f'<link name="{name}">{inner}</link>'


def joint(name: str, kind: str, parent: str, child: str, inner: str | None = None) -> str:
    inner = (LIMIT if kind in ("revolute", "prismatic") else "") if inner is None else inner
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


# base -j1-> a -j2-> b -fixed-> tool, with a camera (and its moving shutter) on a and two fingers on tool.
GRIPPER = (
    *(link(name, INERTIAL) for name in ("base", "a", "b", "tool", "camera", "shutter", "left", "right")),
    joint("j1", "revolute", "base", "a"),
    joint("camera_mount", "fixed", "a", "camera", '<origin xyz="0 0 0.5"/>'),
    joint("shutter_slide", "prismatic", "camera", "shutter"),
    joint("j2", "continuous", "a", "b"),
    joint("tool_mount", "fixed", "b", "tool", '<origin xyz="0 0 0.1"/>'),
    joint("left_slide", "prismatic", "tool", "left"),
    joint("right_slide", "prismatic", "tool", "right", LIMIT + '<mimic joint="left_slide"/>'),
)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Robot]:
    def from_parts(*parts: str, **options: Any) -> Robot:
        path = tmp_path / "arm.urdf"
        path.write_text(f'<?xml version="1.0"?><robot name="arm">{"".join(parts)}</robot>', encoding="utf-8")
        return load_robot(path, **options)

    return from_parts


def poses(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Every frame in the base, by plain products along the joints."""
    found = {robot.base_frame: np.eye(4)}
    angles = dict(zip(robot.joint_names, q, strict=True))
    for each in robot.joints:
        motion = np.eye(4)
        if each.kind is JointKind.REVOLUTE:
            motion[:3, :3] = exp_so3(angles[each.name] * each.axis)
        elif each.kind is JointKind.PRISMATIC:
            motion[:3, 3] = angles[each.name] * each.axis
        found[each.child] = found[each.parent] @ each.origin @ motion
    return found


def body_in_link_frame(robot: Robot, index: int) -> InertialParameters:
    """The lumped body behind moving joint ``index``, in the frame of the link that the joint carries."""
    frame = robot.frames.index(robot.moving_joints[index].child)
    turn = robot.chain.frame_offsets[frame][:9].reshape(3, 3)
    pose = np.eye(4)
    pose[:3, :3] = turn.T
    return InertialParameters.from_phi(robot.chain.phi[index]).transformed(pose)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "tip"),
    [
        ("ur3", "ee_link"),
        ("ur5", "tool0"),
        ("ur10", "tool0"),
        ("panda", "panda_link8"),
        ("panda", "panda_hand_tcp"),
        ("kinova", "j2s6s200_end_effector"),
        ("xarm7", "link_eef"),
        ("z1", "gripperMover"),
        ("so101", "gripper_frame_link"),
        ("double_pendulum", "link2"),
    ],
)
def test_poses_and_lumped_inertias_agree_with_pinocchio(
    name: str, tip: str, example_robot_urdf: Callable[[str], Path]
) -> None:
    pin = pytest.importorskip("pinocchio")
    path = example_robot_urdf(name)
    robot, model = load_robot(path, tip=tip), pin.buildModelFromUrdf(str(path))
    off_chain = [model.getJointId(name) for name in model.names[1:] if name not in robot.joint_names]
    if off_chain:
        model = pin.buildReducedModel(model, off_chain, pin.neutral(model))
    data = model.createData()
    velocity = np.zeros(model.nv)
    q = np.random.default_rng(3).uniform(-1.0, 1.0, robot.num_joints)
    for index, joint_name in enumerate(robot.joint_names):
        velocity[model.joints[model.getJointId(joint_name)].idx_v] = q[index]
    pin.framesForwardKinematics(model, data, pin.integrate(model, pin.neutral(model), velocity))
    for frame, pose in poses(robot, q).items():
        expected = data.oMf[model.getFrameId(frame, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(pose, expected, atol=1e-13, err_msg=frame)
    for index, joint_name in enumerate(robot.joint_names):
        expected = model.inertias[model.getJointId(joint_name)]
        ours = body_in_link_frame(robot, index)
        assert ours.mass == pytest.approx(expected.mass, rel=1e-13)
        np.testing.assert_allclose(ours.center_of_mass, expected.lever, atol=1e-13)
        np.testing.assert_allclose(ours.inertia_about_com, expected.inertia, atol=1e-13)


def test_links_behind_fixed_joints_and_locked_side_branches_are_lumped(load: Callable[..., Robot]) -> None:
    robot = load(*GRIPPER, tip="tool")
    assert robot.joint_names == ("j1", "j2")
    assert set(robot.frames) == {"base", "a", "b", "tool", "camera", "shutter", "left", "right"}
    assert len(robot.locked_joints) == 3
    assert robot.omitted_links == ()
    # 2 kg each: camera and shutter on the first body, tool and both fingers on the second.
    assert robot.chain.phi[:, 0].tolist() == [6.0, 8.0]


def test_a_rigid_link_beyond_the_tip_still_counts(load: Callable[..., Robot]) -> None:
    robot = load(*GRIPPER, tip="b")
    assert robot.tool_frame == "b"
    assert "tool" in robot.frames
    assert robot.chain.phi[1, 0] == 8.0


def test_base_cuts_off_what_is_before_it(load: Callable[..., Robot]) -> None:
    robot = load(*GRIPPER, tip="tool", base="a")
    assert robot.base_frame == "a"
    assert robot.joint_names == ("j2",)


def test_a_branching_tree_needs_a_tip(load: Callable[..., Robot]) -> None:
    with pytest.raises(RobotModelError, match=r"arm\.urdf.*'left', 'shutter', 'right'.*tip="):
        load(*GRIPPER)


@pytest.mark.parametrize("argument", ["tip", "base"])
def test_an_unknown_link_lists_the_known_ones(argument: str, load: Callable[..., Robot]) -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'tool'\? Known: base, a, b, tool.*arm\.urdf"):
        load(*GRIPPER, **{"tip": "tool"} | {argument: "tool1"})


def test_a_tip_that_does_not_hang_on_the_base_or_does_not_move_is_refused(load: Callable[..., Robot]) -> None:
    with pytest.raises(RobotModelError, match="'camera' does not hang on 'b'"):
        load(*GRIPPER, tip="camera", base="b")
    with pytest.raises(RobotModelError, match="no joint moves between 'a' and 'camera'"):
        load(*GRIPPER, tip="camera", base="a")
    with pytest.raises(RobotModelError, match="no joint below 'base' moves"):
        load(link("base"), link("a"), joint("j", "fixed", "base", "a"))


def test_the_only_leaf_is_the_tip_and_still_leaves_do_not_count(load: Callable[..., Robot]) -> None:
    arm = (link("root"), link("a"), link("b"), joint("j", "revolute", "root", "a"), joint("f", "fixed", "a", "b"))
    assert load(*arm).tool_frame == "b"
    assert load(*arm, link("stand"), joint("s", "fixed", "root", "stand")).tool_frame == "b"
    with pytest.raises(RobotModelError, match="'b', 'c'"):
        load(*arm, link("c"), joint("g", "fixed", "a", "c"))
    assert load(*arm, link("tool0"), joint("g", "fixed", "a", "tool0")).tool_frame == "tool0"


def test_limits(load: Callable[..., Robot]) -> None:
    links = [link(name) for name in "abcde"]
    robot = load(
        *links,
        joint("full", "revolute", "a", "b"),
        joint("zero", "prismatic", "b", "c", '<limit upper="0.5" velocity="0" effort="0"/>'),
        joint("bare", "revolute", "c", "d", '<limit lower="-1" upper="1"/>'),
        joint("endless", "continuous", "d", "e", '<limit velocity="5" effort="6" acceleration="7"/>'),
    )
    infinite = np.inf
    assert robot.limits.lower.tolist() == [-1.0, 0.0, -1.0, -infinite]
    assert robot.limits.upper.tolist() == [2.0, 0.5, 1.0, infinite]
    assert robot.limits.velocity.tolist() == [3.0, infinite, infinite, 5.0]
    assert robot.limits.torque.tolist() == [4.0, infinite, infinite, 6.0]
    assert robot.limits.acceleration.tolist() == [infinite, infinite, infinite, 7.0]
    assert [each.kind for each in robot.joints[:2]] == [JointKind.REVOLUTE, JointKind.PRISMATIC]


def test_limits_that_are_none_in_other_words(load: Callable[..., Robot]) -> None:
    text = '<limit lower="-1e16" upper="1e308" velocity="1e10" effort="inf" acceleration="1e300"/>'
    limits = load(*ARM, joint("j", "revolute", "a", "b", text)).limits
    assert (limits.lower.tolist(), limits.upper.tolist()) == ([-np.inf], [np.inf])
    assert [limits.velocity[0], limits.torque[0], limits.acceleration[0]] == [np.inf] * 3


def test_axes_and_origins(load: Callable[..., Robot]) -> None:
    robot = load(
        *(link(name) for name in "abc"),
        joint("default", "revolute", "a", "b"),
        joint("long", "revolute", "b", "c", LIMIT + '<axis xyz="0 -2 0"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'),
    )
    assert robot.joints[0].axis.tolist() == [1.0, 0.0, 0.0]
    assert robot.joints[1].axis.tolist() == [0.0, -1.0, 0.0]
    assert robot.joints[1].origin[:3, 3].tolist() == [1.0, 2.0, 3.0]
    turn = exp_so3([0, 0, 0.3]) @ exp_so3([0, 0.2, 0]) @ exp_so3([0.1, 0, 0])
    np.testing.assert_allclose(robot.joints[1].origin[:3, :3], turn, atol=1e-15)


def inertial(mass: str = "1", inertia: str = "1 0 0 1 0 1", origin: str = "") -> str:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = " ".join(f'{name}="{value}"' for name, value in zip(names, inertia.split(), strict=True))
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {entries}/></inertial>'


def test_inertias_are_turned_and_odd_ones_are_taken_as_they_are(load: Callable[..., Robot]) -> None:
    robot = load(
        link("base"),
        link("turned", inertial("2", "1 0 0 2 0 3", '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>')),
        link("impossible", inertial("1", "1 0 0 1 0 -5")),
        link("massless", inertial("0", "0.5 0 0 0.5 0 0.5", '<origin xyz="1 0 0"/>')),
        link("frame"),
        joint("j1", "revolute", "base", "turned"),
        joint("j2", "revolute", "turned", "impossible"),
        joint("j3", "revolute", "impossible", "massless"),
        joint("j4", "fixed", "massless", "frame"),
    )
    turned = robot.link("turned").inertial
    assert turned is not None
    assert turned.center_of_mass.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(turned.inertia_about_com, np.diag([2.0, 1.0, 3.0]), atol=1e-15)
    impossible, massless = robot.link("impossible").inertial, robot.link("massless").inertial
    assert impossible is not None
    assert impossible.inertia_about_com[2, 2] == -5.0
    assert massless is not None
    assert massless.phi.tolist() == [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.5]
    assert robot.link("frame").inertial is None


ARM = (link("a"), link("b"))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "has no <link>"),
        ((*ARM, "<joint type='fixed'/>"), r"a <joint>: attribute 'name' is missing"),
        (("<link/>",), "a <link>: attribute 'name' is missing"),
        ((*ARM, "<joint name='j'/>"), "joint 'j': attribute 'type' is missing"),
        ((*ARM, joint("j", "screw", "a", "b")), "joint 'j': unknown type 'screw'; known: revolute"),
        ((*ARM, "<joint name='j' type='fixed'><child link='b'/></joint>"), "joint 'j': has no <parent"),
        ((*ARM, "<joint name='j' type='fixed'><parent link='a'/><child/></joint>"), "<child>: attribute 'link'"),
        ((*ARM, joint("j", "revolute", "a", "c")), "joint 'j': refers to link 'c'"),
        ((*ARM, *ARM), "link 'a' is defined more than once"),
        ((*ARM, link("c"), joint("j", "fixed", "a", "b"), joint("j", "fixed", "b", "c")), "joint 'j' is defined more"),
        ((*ARM, joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "a")), "closed loop"),
        ((*ARM, joint("j", "revolute", "a", "b"), joint("k", "revolute", "a", "b")), "joint 'k'.*already.*'j'"),
        ((*ARM, joint("j", "revolute", "a", "a")), "2 root links|closed loop"),
        ((*ARM, link("c"), joint("j", "revolute", "b", "c"), joint("k", "fixed", "c", "b")), "closed loop"),
        (ARM, "2 root links .'a', 'b'."),
        ((*ARM, joint("j", "floating", "a", "b")), "joint 'j': type 'floating' is not supported"),
        ((*ARM, joint("j", "planar", "a", "b")), "joint 'j': type 'planar' is not supported"),
        ((*ARM, joint("j", "continuous", "a", "b", "<limit velocity='-1'/>")), "'velocity' must not be negative"),
        ((*ARM, joint("j", "continuous", "a", "b", "<limit effort='nan'/>")), "'effort' must be a finite number"),
        ((*ARM, joint("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>")), "<axis>: attribute 'xyz' must not be zero"),
        ((*ARM, joint("j", "continuous", "a", "b", "<axis xyz='0 0'/>")), "'xyz' must be three numbers, got '0 0'"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin xyz='0 0 nan'/>")), "<origin>: attribute 'xyz'.*'nan'"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin rpy='0 inf 0'/>")), "attribute 'rpy'.*'inf'"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin xyz='0 0 1_0'/>")), "attribute 'xyz'.*'1_0'"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin xyz='0 0 0,1'/>")), "attribute 'xyz'.*'0,1'"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin rpy='0 0 ${pi}'/>")), "xacro"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin quat_xyzw='0 0 0 1'/>")), "quat_xyzw.*rpy"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin xyz='0 0 1e308'/>")), r"'xyz' must be within \+-1e\+09"),
        ((*ARM, joint("j", "continuous", "a", "b", "<origin rpy='0 0 1e10'/>")), r"'rpy' must be within \+-1e\+09"),
        ((*ARM, joint("j", "continuous", "a", "b", "<axis xyz='0 0 1e308'/>")), r"'xyz' must be within \+-1e\+09"),
        ((*ARM, joint("j", "revolute", "a", "b", "<limit lower='1e16' upper='1e17'/>")), "must begin within"),
        (
            (link("a"), link("b", inertial("1e308")), joint("j", "continuous", "a", "b")),
            r"<mass>: attribute 'value' must be within \+-1e\+09",
        ),
        (
            (
                link("a"),
                link("b", "<inertial><mass value='1'/><inertia ixx='1'/></inertial>"),
                joint("j", "continuous", "a", "b"),
            ),
            "<inertia>: attribute 'iyy' is missing",
        ),
        (
            (link("a"), link("b", inertial("heavy")), joint("j", "continuous", "a", "b")),
            "<mass>: attribute 'value'.*heavy",
        ),
        (
            (link("a"), link("b", inertial("-1")), joint("j", "continuous", "a", "b")),
            "link 'b'.*mass must be at least 0",
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_element_and_attribute(
    parts: tuple[str, ...], message: str, load: Callable[..., Robot]
) -> None:
    with pytest.raises(IparamError, match=message) as caught:
        load(*parts)
    assert "arm.urdf" in str(caught.value)


def test_nested_joints_of_transmissions_and_gazebo_are_not_joints(load: Callable[..., Robot]) -> None:
    robot = load(
        *ARM,
        joint("j", "revolute", "a", "b"),
        "<transmission name='t'><joint name='j'><hardwareInterface>x</hardwareInterface></joint></transmission>",
        "<gazebo reference='a'><material>Grey</material></gazebo>",
    )
    assert robot.joint_names == ("j",)


def test_a_floating_joint_off_the_chain_is_cut(load: Callable[..., Robot]) -> None:
    parts = (*ARM, link("c"), joint("j", "revolute", "a", "b"), joint("k", "floating", "a", "c"))
    assert load(*parts, tip="b").omitted_links == ("c",)
