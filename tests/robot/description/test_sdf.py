"""SDF files become the arm that Gazebo makes of them, in whatever version the same arm is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import IparamError, RobotModelError
from iparam.robot import JointKind, Robot, load_robot
from iparam.spatial import exp_so3, inverse_transform, rotation_from_rpy, rpy_from_rotation, transform_from

INERTIAL = (
    "<inertial><pose>0.1 0.02 0 0.3 0 0.1</pose><mass>2</mass><inertia><ixx>0.1</ixx><ixy>0.01</ixy><ixz>0.02</ixz>"
    "<iyy>0.2</iyy><iyz>0.03</iyz><izz>0.25</izz></inertia></inertial>"
)
LIMIT = "<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>4</effort></limit>"


def link(name: str, pose: str = "", inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{pose}{inertial}</link>'


def joint(name: str, parent: str, child: str, inner: str = "", kind: str = "revolute") -> str:
    axis = "" if kind == "fixed" or "<axis>" in inner else f"<axis><xyz>0 0 1</xyz>{LIMIT}</axis>"
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{axis}{inner}</joint>'


def pose(text: str, **attributes: str) -> str:
    words = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<pose{words}>{text}</pose>"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Robot]:
    def from_parts(*parts: str, version: str = "1.9", tip: str | None = None) -> Robot:
        path = tmp_path / "arm.sdf"
        path.write_text(
            f'<?xml version="1.0"?><sdf version="{version}"><model name="arm">{"".join(parts)}</model></sdf>',
            encoding="utf-8",
        )
        return load_robot(path, tip=tip)

    return from_parts


def numbers(transform: np.ndarray) -> str:
    values = (*transform[:3, 3], *rpy_from_rotation(transform[:3, :3]))
    return " ".join(repr(float(value)) for value in values)


def as_sdf(robot: Robot, version: str, relative: bool) -> str:
    """A robot as SDF: link poses in the model or in each other, inertias in turned frames, axes by the version."""
    poses = {robot.base_frame: np.eye(4)}
    for each in robot.joints:
        poses[each.child] = poses[each.parent] @ each.origin
    parents = {each.child: each.parent for each in robot.joints}
    text = ""
    for body in robot.links:
        place = pose(numbers(poses[body.name]))
        if relative and body.name in parents:
            parent = parents[body.name]
            place = pose(numbers(inverse_transform(poses[parent]) @ poses[body.name]), relative_to=parent)
        inertial = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
        if body.inertial is not None:
            turn = rotation_from_rpy([0.1, 0.2, 0.3])
            tensor = turn.T @ body.inertial.inertia_about_com @ turn
            entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
            moments = "".join(
                f"<{key}>{tensor[at]!r}</{key}>".replace("np.float64(", "").replace(")", "")
                for key, at in entries.items()
            )
            inertial = (
                f"<inertial>{pose(numbers(transform_from(turn, body.inertial.center_of_mass)))}"
                f"<mass>{body.inertial.mass!r}</mass><inertia>{moments}</inertia></inertial>"
            )
        text += link(body.name, place, inertial)
    for index, each in enumerate(robot.joints):
        # The joint stands somewhere on its axis, turned; an axis is in its frame from 1.5 on, before in the model's.
        turn = exp_so3([0.3, -0.2, 0.5])
        place = pose(numbers(transform_from(turn, 0.2 * each.axis)))
        axis = poses[each.child][:3, :3] @ each.axis if version == "1.4" else turn.T @ each.axis
        inner = (
            f"<axis><xyz>{' '.join(repr(float(value)) for value in axis)}</xyz>{LIMIT}</axis>"
            if each.kind != "fixed"
            else ""
        )
        text += joint(f"j{index}", each.parent, each.child, place + inner, str(each.kind))
    return f'<sdf version="{version}"><model name="{robot.name}"><pose>1 2 3 0.1 0 0</pose>{text}</model></sdf>'


@pytest.mark.parametrize(("version", "relative"), [("1.4", False), ("1.6", False), ("1.7", True), ("1.11", True)])
@pytest.mark.parametrize("name", ["ur5e", "ur10"])
def test_an_arm_is_the_same_in_every_version(name: str, version: str, relative: bool, tmp_path: Path) -> None:
    ours = iparam.load_robot(name)
    path = tmp_path / "arm.sdf"
    path.write_text(as_sdf(ours, version, relative), encoding="utf-8")
    robot = load_robot(path, tip="tool0")
    q, dq, ddq = np.random.default_rng(2).uniform(-2.0, 2.0, (3, 10, 6))
    np.testing.assert_allclose(iparam.forward_kinematics(robot, q), iparam.forward_kinematics(ours, q), atol=1e-12)
    np.testing.assert_allclose(
        iparam.inverse_dynamics(robot, q, dq, ddq), iparam.inverse_dynamics(ours, q, dq, ddq), rtol=1e-9, atol=1e-9
    )


def test_a_joint_beside_its_link_gets_a_link_of_its_own(load: Callable[..., Robot]) -> None:
    offset = pose("0.2 0.1 0 0 0 0")
    robot = load(link("base"), link("a", pose("0 0 1 0 0 0")), joint("j", "base", "a", offset))
    assert robot.tool_frame == "a"
    q = 0.7
    expected = transform_from(np.eye(3), [0.2, 0.1, 1.0]) @ transform_from(exp_so3([0, 0, q]), np.zeros(3))
    expected = expected @ transform_from(np.eye(3), [-0.2, -0.1, 0.0])
    np.testing.assert_allclose(iparam.forward_kinematics(robot, np.array([q])), expected, atol=1e-14)
    assert robot.limits.lower.tolist() == [-1.0]
    assert (robot.limits.velocity[0], robot.limits.torque[0]) == (3.0, 4.0)


def test_an_axis_in_the_models_or_another_frame(load: Callable[..., Robot]) -> None:
    turned = pose("0 0 0 1.5707963267948966 0 0")

    def axis(inner: str, **options: str) -> np.ndarray:
        robot = load(link("base"), link("a", turned), joint("j", "base", "a", f"<axis>{inner}</axis>"), **options)
        return robot.joints[0].origin[:3, :3] @ robot.joints[0].axis

    in_model = "<xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame>"
    np.testing.assert_allclose(axis(in_model, version="1.6"), [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(axis("<xyz>0 0 1</xyz>", version="1.6"), [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(axis('<xyz expressed_in="base">0 0 1</xyz>', version="1.7"), [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(axis("<xyz>0 0 1</xyz>", version="1.7"), [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(axis("<xyz>0 0 1</xyz>", version="1.4"), [0, 0, 1], atol=1e-15)


def test_frames_can_be_the_tool_and_carry_poses(load: Callable[..., Robot]) -> None:
    quarter = "0 0 0.7071067811865476 0.7071067811865476"
    turned = pose(f"0 0 0 {quarter}", relative_to="base", rotation_format="quat_xyzw")
    parts = (
        link("base"),
        link("a", pose("0 0 1 0 0 0")),
        joint("j", "base", "a"),
        f'<frame name="flange" attached_to="a">{pose("0 0 0.5 0 0 0")}</frame>',
        f'<frame name="camera" attached_to="flange">{pose("0.1 0 0 0 0 90", degrees="true")}</frame>',
        f'<frame name="up" attached_to="a">{turned}</frame>',
    )
    robot = load(*parts)
    assert robot.tool_frame == "flange"
    zero = np.zeros(1)
    np.testing.assert_allclose(iparam.forward_kinematics(robot, zero)[:3, 3], [0, 0, 1.5], atol=1e-14)
    camera = iparam.forward_kinematics(robot, zero, frame="camera")
    np.testing.assert_allclose(camera[:3, 3], [0.1, 0, 1.5], atol=1e-14)
    np.testing.assert_allclose(camera[:3, 0], [0, 1, 0], atol=1e-14)
    up = iparam.forward_kinematics(robot, zero, frame="up")
    np.testing.assert_allclose(up[:3, 3], 0.0, atol=1e-14)
    np.testing.assert_allclose(up[:3, 0], [0, 1, 0], atol=1e-14)


def test_nested_models_have_names_of_their_own(load: Callable[..., Robot]) -> None:
    gripper = (
        f'<model name="gripper">{pose("0 0 0.3 0 0 0", relative_to="a")}{link("palm", pose("0 0 0.1 0 0 0"))}</model>'
    )
    parts = (link("base"), link("a", pose("0 0 1 0 0 0")), joint("j", "base", "a"), gripper)
    robot = load(*parts, joint("mount", "a", "gripper::palm", kind="fixed"))
    assert robot.tool_frame == "gripper::palm"
    np.testing.assert_allclose(iparam.forward_kinematics(robot, np.zeros(1))[:3, 3], [0, 0, 1.4], atol=1e-14)
    assert robot.body_parameters[0, 0] == pytest.approx(4.0)


def test_a_model_that_is_fixed_to_the_world_has_it_for_a_base(load: Callable[..., Robot]) -> None:
    robot = load(link("base"), link("a"), joint("j", "base", "a"), joint("w", "world", "base", kind="fixed"))
    assert robot.base_frame == "world"


def test_what_the_format_leaves_out_has_its_defaults(load: Callable[..., Robot]) -> None:
    robot = load(link("base"), link("a", inertial=""), joint("j", "base", "a", "<axis/>", kind="continuous"))
    assert robot.body_parameters[0].tolist() == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    assert any("SDF's default: 1 kg" in note for note in robot.notes)
    assert robot.joints[0].axis.tolist() == [0.0, 0.0, 1.0]
    assert robot.joints[0].kind is JointKind.REVOLUTE
    assert np.isinf(robot.limits.upper).all()


BASE, A = link("base"), link("a")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "has no <link>"),
        ((BASE, BASE), "'base' is defined more than once"),
        ((BASE, A), "2 root links"),
        ((BASE, A, joint("j", "base", "b")), "joint 'j'.*'b', which is not defined"),
        ((BASE, A, joint("j", "b", "a")), "joint 'j'.*'b', which is not defined"),
        ((BASE, A, joint("j", "base", "a", kind="ball")), "joint 'j': type 'ball' is not supported on the arm"),
        ((BASE, A, joint("j", "base", "a", kind="hinge")), "joint 'j': unknown type 'hinge'"),
        ((BASE, A, joint("j", "base", "a", "<axis><xyz>0 0 0</xyz></axis>")), "must not be zero"),
        ((BASE, A, joint("j", "base", "a", "<axis><xyz>0 0</xyz></axis>")), "must be 3 numbers, got '0 0'"),
        ((BASE, link("a", pose("0 0 nan 0 0 0")), joint("j", "base", "a")), "finite number"),
        ((BASE, link("a", pose("0 0 1", relative_to="")), joint("j", "base", "a")), "must be 6 numbers"),
        ((BASE, link("a", pose("0 0 1 0 0 0", relative_to="c")), joint("j", "base", "a")), "'c', which is not defined"),
        ((BASE, link("a", pose("0 0 1 0 0 0", relative_to="a")), joint("j", "base", "a")), "in a circle"),
        ((BASE, A, joint("j", "base", "a"), "<include><uri>model://x</uri></include>"), "is found neither beside"),
        ((BASE, link("a", inertial=INERTIAL.replace("<mass>2", "<mass>-2")), joint("j", "base", "a")), "mass must be"),
        ((BASE, A, joint("j", "base", "a"), joint("k", "base", "a")), "already hangs on joint 'j'"),
        ((BASE, A, '<joint name="j" type="revolute"><parent>base</parent></joint>'), "has no <child>"),
    ],
)
def test_what_is_wrong_is_said(parts: tuple[str, ...], message: str, load: Callable[..., Robot]) -> None:
    with pytest.raises(IparamError, match=message) as caught:
        load(*parts)
    assert "arm.sdf" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<sdf version="1.9"/>', "no <model>"),
        ('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>', "no joint below 'world' moves"),
        ('<sdf version="new"><model name="a"/></sdf>', "version of <sdf>"),
        ('<sdf version="1.9"><model/></sdf>', "'name' is missing"),
    ],
)
def test_a_file_without_one_model_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.sdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IparamError, match=message):
        load_robot(path)


def test_a_model_of_a_world_is_found(tmp_path: Path) -> None:
    path = tmp_path / "arm.sdf"
    model = f'<model name="arm">{BASE}{A}{joint("j", "base", "a")}</model>'
    path.write_text(f'<sdf version="1.9"><world name="w">{model}</world></sdf>', encoding="utf-8")
    assert load_robot(path).name == "arm"


def test_a_deep_nest_is_refused(load: Callable[..., Robot]) -> None:
    inner = link("x")
    for level in range(50):
        inner = f'<model name="m{level}">{inner}</model>'
    with pytest.raises(RobotModelError, match="nested"):
        load(inner)


def test_a_massless_link_keeps_the_inertia_that_it_is_given(load: Callable[..., Robot]) -> None:
    """As bases of Bullet's models are written: what stands still may weigh nothing."""
    massless = INERTIAL.replace("<mass>2", "<mass>0")
    robot = load(link("base", inertial=massless), link("a", inertial=massless), joint("j", "base", "a"))
    heavy = load(link("base"), link("a", inertial=INERTIAL.replace("0.1 0.02 0", "0 0 0")), joint("j", "base", "a"))
    assert robot.body_parameters[0, :4].tolist() == [0.0] * 4
    np.testing.assert_allclose(robot.body_parameters[0, 4:], heavy.body_parameters[0, 4:], atol=1e-12)
