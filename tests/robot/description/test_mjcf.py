"""MJCF files become the arm that MuJoCo makes of them: the same poses and torques, and those of the arm's URDF."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError, RobotModelError
from iparam.robot import Robot, load_robot
from iparam.robot.description.mjcf import read_mjcf

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo to read MJCF")

INERTIAL = '<inertial mass="2" pos="0.1 0.02 0" fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/>'


def arm(*joints: str, head: str = "", tail: str = "", inner: str = "") -> str:
    """A chain of bodies, each with what ``joints`` say, the last with a site and ``inner``."""
    bodies = "".join(
        f'<body name="link{i}" pos="0.1 0 0.3" euler="10 {20 * i} 0">{INERTIAL}{joint}'
        for i, joint in enumerate(joints, start=1)
    )
    return (
        f'<mujoco model="arm">{head}<worldbody>{bodies}<site name="attachment_site" pos="0 0 0.2" euler="0 90 0"/>'
        f"{inner}{'</body>' * len(joints)}</worldbody>{tail}</mujoco>"
    )


HINGES = tuple(f'<joint name="j{i}" axis="0 {i} 1" range="-90 90" armature="0.0{i}"/>' for i in range(1, 6))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def to_file(text: str) -> Path:
        path = tmp_path / "arm.xml"
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def compiled(path: Path) -> Any:
    """The model with nothing in it but bodies: what an arm's inertia does."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False
    model = spec.compile()
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_SPRING | off.mjDSBL_DAMPER)
    return model


def assert_as_mujoco(robot: Robot, model: Any, tool: Any) -> None:
    """Poses of the tool and torques of random motions, the other joints of the model at rest at zero."""
    rng, data = np.random.default_rng(5), mujoco.MjData(model)
    joints = [model.joint(name) for name in robot.joint_names]
    dofs = [int(joint.dofadr[0]) for joint in joints]
    for _ in range(5):
        q, dq, ddq = rng.uniform(-1.5, 1.5, (3, robot.num_joints))
        data.qpos[:] = 0.0
        data.qpos[[int(joint.qposadr[0]) for joint in joints]] = q
        data.qvel[dofs], data.qacc[dofs] = dq, ddq
        mujoco.mj_inverse(model, data)
        pose = iparam.forward_kinematics(robot, q)
        place = tool(data)
        np.testing.assert_allclose(pose[:3, 3], place.xpos, atol=1e-12)
        np.testing.assert_allclose(pose[:3, :3].ravel(), place.xmat, atol=1e-12)
        torques = iparam.inverse_dynamics(robot, q, dq, ddq)
        np.testing.assert_allclose(torques, data.qfrc_inverse[dofs], rtol=0, atol=1e-9)


@pytest.mark.reference
@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_link8"), ("xarm7", "link_eef"), ("so101", "gripper_link")])
def test_an_arm_is_the_same_as_urdf_as_mjcf_and_in_mujoco(
    name: str, tip: str, example_robot_urdf: Callable[[str], Path], write: Callable[[str], Path]
) -> None:
    pin = pytest.importorskip("pinocchio")
    urdf = example_robot_urdf(name)
    path = write(_mjcf_by_pinocchio(pin, urdf, tip))
    from_urdf, from_mjcf = load_robot(urdf, tip=tip), load_robot(path)
    assert from_mjcf.tool_frame == "attachment_site"
    assert from_mjcf.joint_names == from_urdf.joint_names
    np.testing.assert_allclose(from_mjcf.limits.lower, from_urdf.limits.lower, atol=1e-12)
    np.testing.assert_allclose(from_mjcf.limits.torque, from_urdf.limits.torque, rtol=1e-12)
    q, dq, ddq = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 20, from_urdf.num_joints))
    for compute in (iparam.inverse_dynamics, iparam.forward_dynamics):
        ours, theirs = (compute(robot, q, dq, ddq) for robot in (from_mjcf, from_urdf))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    poses = [iparam.forward_kinematics(robot, q) for robot in (from_mjcf, from_urdf)]
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-12)
    assert_as_mujoco(from_mjcf, compiled(path), lambda data: data.site("attachment_site"))


def _mjcf_by_pinocchio(pin: Any, urdf: Path, tip: str) -> str:
    """The whole URDF as MJCF, by Pinocchio's reading of it, with every digit and a site at the tip."""
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    frame = model.frames[model.getFrameId(tip)]

    def numbers(values: Any) -> str:
        return " ".join(repr(float(value)) for value in values)

    def pose(placement: Any) -> str:
        x, y, z, w = pin.Quaternion(placement.rotation).coeffs()
        return f'pos="{numbers(placement.translation)}" quat="{numbers((w, x, y, z))}"'

    def body(index: int) -> str:
        column = pin.getJointJacobian(model, data, index, pin.LOCAL)[:, model.joints[index].idx_v]
        sliding = not np.any(column[3:])
        inertia, at = model.inertias[index].inertia, model.joints[index].idx_q
        moments = (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])
        bounds = numbers((model.lowerPositionLimit[at], model.upperPositionLimit[at]))
        site = f'<site name="attachment_site" {pose(frame.placement)}/>' if frame.parentJoint == index else ""
        children = "".join(body(int(child)) for child in model.children[index])
        return (
            f'<body name="body{index}" {pose(model.jointPlacements[index])}>'
            f'<inertial mass="{model.inertias[index].mass!r}" pos="{numbers(model.inertias[index].lever)}" '
            f'fullinertia="{numbers(moments)}"/><joint name="{model.names[index]}" range="{bounds}" '
            f'type="{"slide" if sliding else "hinge"}" axis="{numbers(column[:3] if sliding else column[3:])}"/>'
            f"{site}{children}</body>"
        )

    motors = "".join(
        f'<motor joint="{model.names[index]}" forcerange="{-limit!r} {limit!r}"/>'
        for index in range(1, model.njoints)
        if (limit := float(model.upperEffortLimit[model.joints[index].idx_v])) > 0.0
    )
    roots = "".join(body(int(child)) for child in model.children[0])
    return (
        f'<mujoco model="{urdf.stem}"><compiler angle="radian" autolimits="true"/><worldbody>{roots}</worldbody>'
        f"<actuator>{motors}</actuator></mujoco>"
    )


def test_degrees_orientations_ranges_and_rotors_are_mujocos(write: Callable[[str], Path]) -> None:
    path = write(arm(*HINGES))
    robot = load_robot(path)
    assert robot.name == "arm"
    assert (robot.base_frame, robot.tool_frame) == ("world", "attachment_site")
    np.testing.assert_allclose(robot.limits.upper, np.pi / 2.0)
    np.testing.assert_allclose(robot.armature, [0.01, 0.02, 0.03, 0.04, 0.05])
    assert np.isinf(robot.limits.torque).all()
    assert_as_mujoco(robot, compiled(path), lambda data: data.site("attachment_site"))
    assert_as_mujoco(load_robot(path, tip="link5"), compiled(path), lambda data: data.body("link5"))


def test_joints_beside_the_origin_several_in_a_body_and_at_a_reference(write: Callable[[str], Path]) -> None:
    joints = (
        '<joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0" pos="0.1 0 0.2" ref="30"/>',
        '<joint name="slide" type="slide" axis="1 0 1" pos="0 0 0.4" ref="0.2"/>',
        '<joint name="roll" axis="1 0 0" pos="0 0.3 0"/>',
    )
    path = write(arm(*joints))
    robot = load_robot(path)
    assert robot.joint_names == ("yaw", "pitch", "slide", "roll")
    assert_as_mujoco(robot, compiled(path), lambda data: data.site("attachment_site"))


def test_a_base_in_the_middle_stands_still_with_all_that_it_stands_on(write: Callable[[str], Path]) -> None:
    path = write(arm(*HINGES))
    robot = load_robot(path, base="link1", lock={"j1": 0.4})
    assert robot.base_frame == "link1"
    assert robot.joint_names == ("j2", "j3", "j4", "j5")
    assert robot.locked_joints == ("j1",)
    model = compiled(path)
    data = mujoco.MjData(model)
    data.qpos[0] = 0.4
    mujoco.mj_kinematics(model, data)
    world = iparam.forward_kinematics(robot, np.zeros(4), frame="world")
    np.testing.assert_allclose(np.linalg.inv(world)[:3, 3], data.body("link1").xpos, atol=1e-12)
    gravity = -9.81 * data.body("link1").xmat.reshape(3, 3)[2]
    (note,) = (note for note in robot.notes if "tilted" in note)
    stated = [float(word) for word in note.partition(" is ")[2].partition("base is ")[2].split()[:3]]
    np.testing.assert_allclose(stated, gravity, atol=1e-4)
    full = load_robot(path)
    q = np.array([0.4, 0.1, -0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        iparam.gravity_torques(robot, q[1:], gravity=gravity), iparam.gravity_torques(full, q)[1:], atol=1e-12
    )


@pytest.mark.parametrize(
    ("motors", "expected"),
    [
        ('<motor joint="j1" ctrlrange="-3 2" gear="10"/>', 20.0),
        ('<motor joint="j1" forcerange="-7 7" gear="-2"/>', 14.0),
        ('<motor joint="j1" forcerange="-7 7"/><motor joint="j1" ctrlrange="-1 1"/>', 8.0),
        ('<position joint="j1" kp="100" forcerange="-12 12"/>', 12.0),
        ('<position joint="j1" kp="100" ctrlrange="-1 1"/>', np.inf),
        ('<motor joint="j1"/>', np.inf),
        ('<motor joint="j1" forcerange="-7 7"/><motor joint="j1"/>', np.inf),
    ],
)
def test_torque_limits_are_those_of_the_motors(motors: str, expected: float, write: Callable[[str], Path]) -> None:
    robot = load_robot(write(arm(*HINGES, tail=f"<actuator>{motors}</actuator>")))
    assert robot.limits.torque[0] == expected


def test_a_joints_own_limit_of_force_counts(write: Callable[[str], Path]) -> None:
    joints = ('<joint name="j1" axis="0 0 1" actuatorfrcrange="-5 5"/>', *HINGES[1:])
    motor = '<actuator><motor joint="j1" forcerange="-7 7"/></actuator>'
    assert load_robot(write(arm(*joints, tail=motor))).limits.torque[0] == 5.0


def test_fingers_that_follow_each_other_end_the_arm_before_them(write: Callable[[str], Path]) -> None:
    fingers = "".join(
        f'<body name="{side}" pos="0 0 0.1">{INERTIAL}<joint name="{side}" type="slide" axis="0 1 0"/></body>'
        for side in ("a", "b")
    )
    joined = '<equality><joint joint1="b" joint2="a"/></equality>'
    robot = load_robot(write(arm(*HINGES, inner=fingers, tail=joined)))
    assert robot.tool_frame == "attachment_site"
    assert robot.locked_joints == ("a", "b")
    assert any("gripper (a, b)" in note and "tip=" in note for note in robot.notes)
    assert robot.body_parameters[-1, 0] == pytest.approx(6.0)


def test_a_free_body_is_left_out_and_a_ball_joint_refused(write: Callable[[str], Path]) -> None:
    cube = f'<body name="cube">{INERTIAL}<freejoint/></body>'
    path = write(arm(*HINGES).replace("</worldbody>", f"{cube}</worldbody>"))
    assert load_robot(path).omitted_links == ("cube",)
    path = write(arm(*HINGES[:4], '<joint name="wrist" type="ball"/>'))
    with pytest.raises(RobotModelError, match=r"arm\.xml: joint 'wrist': a ball joint is not supported.*tip="):
        load_robot(path, tip="attachment_site")
    assert load_robot(path, tip="link4").omitted_links == ("link5", "attachment_site")


def test_an_arm_that_ends_at_a_ball_joint_says_so(write: Callable[[str], Path]) -> None:
    robot = load_robot(write(arm(*HINGES, '<joint name="wrist" type="ball"/>')))
    assert robot.num_joints == 5
    assert "link6" in robot.omitted_links
    assert any("'wrist': a ball joint is not supported: 'link6' and all" in note for note in robot.notes)


def test_joints_that_a_tendon_couples_are_told(write: Callable[[str], Path]) -> None:
    tendon = '<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="1"/></fixed></tendon>'
    robot = load_robot(write(arm(*HINGES, tail=f'{tendon}<equality><tendon tendon1="t"/></equality>')))
    assert any("couples joints by tendons" in note for note in robot.notes)


def test_a_robot_that_floats_begins_where_it_does(write: Callable[[str], Path]) -> None:
    text = arm("<freejoint/>", *HINGES)
    robot = load_robot(write(text))
    assert robot.base_frame == "link1"
    assert robot.num_joints == 5


def test_another_gravity_springs_and_loops_are_told(write: Callable[[str], Path]) -> None:
    joints = ('<joint name="j1" axis="0 0 1" stiffness="3"/>', *HINGES[1:])
    loop = '<equality><connect body1="link5" body2="link1" anchor="0 0 0"/></equality>'
    robot = load_robot(write(arm(*joints, head='<option gravity="0 0 -1.62"/>', tail=loop)))
    notes = " ".join(robot.notes)
    assert "gravity 0 0 -1.62" in notes
    assert "springs" in notes
    assert "1 kinematic loops" in notes
    only = ("'attachment_site' was taken for the tool; another link may be the tip",)
    assert load_robot(write(arm(*HINGES))).notes == only


def test_a_mesh_that_is_missing_is_named(write: Callable[[str], Path]) -> None:
    asset = '<asset><mesh name="shell" file="shell.stl"/></asset>'
    with pytest.raises(FileFormatError, match=r"shell\.stl"):
        load_robot(write(arm(*HINGES, head=asset, inner='<geom type="mesh" mesh="shell"/>')))


def test_includes_defaults_and_nameless_things_are_mujocos(tmp_path: Path, write: Callable[[str], Path]) -> None:
    (tmp_path / "part.xml").write_text(
        f'<mujocoinclude><body pos="0 0 1">{INERTIAL}<joint class="big"/></body></mujocoinclude>', encoding="utf-8"
    )
    head = '<default><default class="big"><joint axis="1 0 0" armature="0.7"/></default></default>'
    path = write(f'<mujoco>{head}<worldbody><include file="part.xml"/></worldbody></mujoco>')
    robot = load_robot(path)
    assert robot.name == "arm"
    assert (robot.tool_frame, robot.joint_names) == ("body_1", ("joint_0",))
    assert robot.armature.tolist() == [0.7]


@pytest.mark.parametrize(
    "text",
    ["<mujoco><worldbody><body/></worldbody>", "<mujoco><worldbody><bodi/></worldbody></mujoco>"],
)
def test_what_mujoco_refuses_is_said_in_one_sentence(text: str, write: Callable[[str], Path]) -> None:
    with pytest.raises(FileFormatError, match=r"arm\.xml") as caught:
        load_robot(write(text))
    assert "\n" not in str(caught.value)


def test_a_model_that_does_not_move_is_no_arm(write: Callable[[str], Path]) -> None:
    path = write('<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>')
    with pytest.raises(RobotModelError, match="no joint below 'world' moves"):
        load_robot(path)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ({"j9": 0.0}, "did you mean 'j1'|known: j1"),
        ({"j1": np.nan}, "finite number"),
        ({"j1": "0.1"}, "finite number"),
        ({"j1": 90.0}, "in degrees"),
    ],
)
def test_what_cannot_be_locked_is_refused(lock: dict[str, float], message: str, write: Callable[[str], Path]) -> None:
    with pytest.raises((InputError, LookupError), match=message):
        load_robot(write(arm(*HINGES)), base="link1", lock=lock)


def test_a_joint_locked_outside_its_range_is_told(write: Callable[[str], Path]) -> None:
    robot = load_robot(write(arm(*HINGES)), base="link1", lock={"j1": 2.0})
    assert any("locked at 2, outside its range" in note for note in robot.notes)


def test_sites_are_frames_and_no_ends(write: Callable[[str], Path]) -> None:
    inner = '<site name="imu"/><site name="link5" pos="0 0 1"/><site/>'
    path = write(arm(*HINGES, inner=inner))
    tree = read_mjcf(path)
    assert tree.frames == {"attachment_site", "imu", "link5_"}
    assert load_robot(path).tool_frame == "attachment_site"


def test_without_mujoco_the_extra_is_named(write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert importlib.util.find_spec("mujoco") is not None
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"iparam\[mujoco\]"):
        load_robot(write(arm(*HINGES)))
