"""Joints that follow others (mimic in URDF, equality in MJCF) do so in what is planned, or are held there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.validation import validate
from iparam.excitation.search.optimizer import optimize_excitation
from iparam.excitation.search.random_search import random_search
from iparam.excitation.setup import planning_problem
from iparam.robot.urdf.writer import robot_to_urdf
from iparam.trajectory import WindowedFourierTrajectory

BODY = '<inertial><origin xyz="0 0 .1"/><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"/></inertial>'
CHAIN = (("yaw", "0 0 1"), ("shoulder", "0 1 0"), ("elbow", "0 1 0"), ("wrist", "0 1 0"), ("turn", "0 0 1"))


def urdf(mimic: str = '<mimic joint="elbow" multiplier="-0.5" offset="0.2"/>') -> str:
    """A palletiser whose wrist follows another joint."""
    links = "".join(f'<link name="l{i}">{BODY}</link>' for i in range(len(CHAIN) + 1))
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="0 0 .3"/>'
        f'<axis xyz="{axis}"/><limit lower="-1.5" upper="1.5" velocity="2" effort="90"/>'
        f"{mimic if name == 'wrist' else ''}</joint>"
        for i, (name, axis) in enumerate(CHAIN)
    )
    return f'<robot name="pal">{links}{joints}</robot>'


def mjcf() -> str:
    text = ""
    for name, axis in reversed(CHAIN):
        ref = ' ref="0.1"' if name == "elbow" else ""
        text = (
            f'<body name="b_{name}" pos="0 0 .3"><joint name="{name}" axis="{axis}" range="-1.5 1.5"{ref}/>'
            f'<geom size=".05"/>{text}</body>'
        )
    follow = '<equality><joint joint1="wrist" joint2="elbow" polycoef="0.15 -0.5 0 0 0"/></equality>'
    return f'<mujoco><compiler angle="radian"/><worldbody>{text}</worldbody>{follow}</mujoco>'


@pytest.mark.parametrize(("file", "text", "offset"), [("p.urdf", urdf(), 0.2), ("p.xml", mjcf(), 0.2)])
def test_every_format_says_what_follows_what(file: str, text: str, offset: float, tmp_path: Path) -> None:
    if file == "p.xml":
        pytest.importorskip("mujoco")
    (tmp_path / file).write_text(text, encoding="utf-8")
    robot = iparam.load_robot(tmp_path / file)
    assert robot.joint_names == tuple(name for name, _ in CHAIN)  # the wrist is no finger: it follows the arm
    (coupling,) = robot.couplings
    assert (coupling.joint, coupling.leader) == ("wrist", "elbow")
    assert coupling.ratio == pytest.approx(-0.5)
    assert coupling.offset == pytest.approx(offset, abs=1e-12)
    assert any("follows another, at -0.5 times 'elbow'" in note for note in robot.notes)
    q = np.random.default_rng(0).normal(size=(4, 5))
    np.testing.assert_allclose(robot.follow(q)[:, 3], offset - 0.5 * q[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.delete(robot.follow(q), 3, 1), np.delete(q, 3, 1))
    again = tmp_path / "again.urdf"
    again.write_text(robot_to_urdf(robot), encoding="utf-8")
    assert iparam.load_robot(again).couplings == robot.couplings


@pytest.mark.thorough
def test_plans_follow_and_a_motion_that_does_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.urdf").write_text(urdf(), encoding="utf-8")
    robot = iparam.load_robot(tmp_path / "p.urdf")
    problem = planning_problem(robot, duration=4.0, num_harmonics=2)
    assert problem.num_variables == 4 * 4
    planned = optimize_excitation(problem, seed=0, starts=1, workers=1)
    drawn = random_search(problem.q0, 4.0, problem.constraints, following=robot.following[0])
    for motion in (planned.trajectory, drawn.trajectory):
        q = motion.sample(100.0).q
        assert np.ptp(q[:, 2]) > 0.01
        np.testing.assert_allclose(q[:, 3], 0.2 - 0.5 * q[:, 2], rtol=0, atol=1e-12)
        assert validate(motion, problem.constraints).satisfied
    assert planned.condition_number < planned.starts[0].initial
    a = np.array(planned.trajectory.a)
    a[3] *= 0.9
    off = WindowedFourierTrajectory(problem.q0, a, planned.trajectory.b, 0.25, 4.0)
    assert any(
        "joint coupling: -" in text and "wrist" in text for text in validate(off, problem.constraints).violations
    )


@pytest.mark.parametrize(
    ("mimic", "options", "joints", "told"),
    [
        ('<mimic joint="elbow"/>', {"lock": {"elbow": 0.3}}, 3, "follows 'elbow', which does not move the arm"),
        ('<mimic joint="yaw"/>', {"base": "l1"}, 3, "follows 'yaw', which does not move the arm, and is held"),
        ('<mimic joint="nobody"/>', {}, 5, "follows 'nobody', which is no moving joint of the file"),
        ('<mimic joint="wrist"/>', {}, 5, "follows itself, and was read as one that moves on its own"),
    ],
)
def test_what_follows_no_joint_of_the_arm(
    mimic: str, options: dict[str, object], joints: int, told: str, tmp_path: Path
) -> None:
    (tmp_path / "p.urdf").write_text(urdf(mimic), encoding="utf-8")
    robot = iparam.load_robot(tmp_path / "p.urdf", tip="l5", **options)  # type: ignore[arg-type]
    assert robot.num_joints == joints
    assert robot.couplings == ()
    assert any(told in note for note in robot.notes)
    if "lock" in options:
        assert robot.lock == {"elbow": 0.3, "wrist": 0.3}


def test_a_base_that_floats_is_said_to_stand_still(tmp_path: Path) -> None:
    world = '<link name="world"/><joint name="free" type="floating"><parent link="world"/><child link="l0"/></joint>'
    (tmp_path / "p.urdf").write_text(urdf("").replace("</robot>", f"{world}</robot>"), encoding="utf-8")
    robot = iparam.load_robot(tmp_path / "p.urdf")
    assert robot.base_frame == "l0"
    assert any("joint 'free': type 'floating'" in note and "stand still" in note for note in robot.notes)
