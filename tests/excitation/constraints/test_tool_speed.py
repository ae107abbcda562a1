"""The limit on the tool's speed: margins are those of the fastest point, gradients exact, plans keep it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import MotionArrays, worst_margin
from iparam.excitation.constraints.tool_speed import MomentumConstraint, ToolSpeedConstraint
from iparam.robot.collision.shapes import PayloadBox
from iparam.trajectory import PlanConditions, PlanningLimits

STEP = 1e-6
BOX = PayloadBox(
    np.array([0.05, 0.1, 0.15]), np.array([0.1, 0.02, 0.2]), iparam.spatial.exp_so3(np.array([0.3, -0.5, 0.8]))
)
SLIDING = """<robot name="crane"><link name="base"/><link name="a"/><link name="b"/><link name="c"/>
<joint name="lift" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" velocity="1" effort="100"/></joint>
<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0" rpy="0.2 0 0"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="100"/></joint>
<joint name="reach" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
<limit lower="0" upper="1" velocity="1" effort="100"/></joint></robot>"""


LOAD = iparam.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2)).parameters


def crane(folder: Path) -> ToolSpeedConstraint:
    file = folder / "crane.urdf"
    file.write_text(SLIDING, encoding="utf-8")
    return ToolSpeedConstraint.of_tool(iparam.load_robot(str(file)), 0.25, BOX)


@pytest.fixture(params=["ur5e", "crane"])
def constraint(request: pytest.FixtureRequest, tmp_path: Path) -> ToolSpeedConstraint:
    if request.param == "ur5e":
        return ToolSpeedConstraint.of_tool(iparam.load_robot("ur5e"), 0.25, BOX)
    return crane(tmp_path)


@pytest.fixture(params=["ur5e", "crane", "elbow", "momentum"])
def limit(request: pytest.FixtureRequest, tmp_path: Path) -> ToolSpeedConstraint | MomentumConstraint:
    arm = iparam.load_robot("ur5e")
    if request.param == "elbow":
        return ToolSpeedConstraint.of_elbow(arm, 0.25, "forearm_link")
    if request.param == "momentum":
        return MomentumConstraint(arm.with_payload(LOAD), 5.0)
    return crane(tmp_path) if request.param == "crane" else ToolSpeedConstraint.of_tool(arm, 0.25, BOX)


def motion_of(robot: iparam.Robot) -> MotionArrays:
    return MotionArrays(*np.random.default_rng(3).uniform(-1.0, 1.0, (4, 7, robot.num_joints)))


def test_speeds_are_those_of_points_that_move(constraint: ToolSpeedConstraint) -> None:
    robot, motion = constraint.robot, motion_of(constraint.robot)
    places = [
        np.einsum("tij,mj->tmi", pose[:, :3, :3], constraint.points) + pose[:, None, :3, 3]
        for pose in (iparam.forward_kinematics(robot, motion.q + sign * STEP * motion.dq) for sign in (1.0, -1.0))
    ]
    speed = np.linalg.norm(places[0] - places[1], axis=-1) / (2.0 * STEP)
    np.testing.assert_allclose(constraint.margins(motion), (0.25**2 - speed**2) / 0.5, rtol=1e-6, atol=1e-7)
    assert constraint.labels[0] == "tool"
    assert len(constraint.labels) == 9


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0 - 1e-9, 1.0, 5.0])
def test_what_is_said_is_the_limit_less_the_speed(share: float) -> None:
    slow = ToolSpeedConstraint.of_tool(iparam.load_robot("ur5e"), 0.25)
    motion = motion_of(slow.robot)
    fastest = np.linalg.norm(slow.vectors(motion)[:, 0], axis=1).max()
    motion = motion._replace(dq=motion.dq * share * 0.25 / fastest)
    worst = worst_margin(slow, motion, np.arange(7.0))
    assert worst is not None
    assert worst.margin == pytest.approx(0.25 * (1.0 - share), abs=1e-12)


def test_the_elbow_is_where_the_forearm_begins() -> None:
    robot = iparam.load_robot("ur5e")
    motion = motion_of(robot)
    sides = [
        iparam.forward_kinematics(robot, motion.q + sign * STEP * motion.dq, "forearm_link")[:, :3, 3]
        for sign in (1.0, -1.0)
    ]
    found = ToolSpeedConstraint.of_elbow(robot, 0.25, "forearm_link").vectors(motion)
    np.testing.assert_allclose(found[:, 0], (sides[0] - sides[1]) / (2.0 * STEP), rtol=1e-6, atol=1e-8)


def test_momentum_is_what_a_push_against_gravity_needs() -> None:
    """d/dt of m g . r is the power of the weight: momentum from torques, which know nothing of points."""
    robot = iparam.load_robot("ur5e").with_payload(LOAD)
    motion = motion_of(robot)
    found = MomentumConstraint(robot, 5.0).vectors(motion)[:, 0]
    for axis in np.eye(3):
        power = np.einsum("tn,tn->t", iparam.robot.gravity_torques(robot, motion.q, -axis), motion.dq)
        np.testing.assert_allclose(found @ axis, power, rtol=1e-9, atol=1e-9)


def test_gradients_and_curvature_against_central_differences(limit: ToolSpeedConstraint | MomentumConstraint) -> None:
    motion = motion_of(limit.robot)
    found = limit.linearize(motion)
    np.testing.assert_allclose(found.values, limit.margins(motion), atol=1e-12)
    weights = np.random.default_rng(0).uniform(0.5, 1.0, found.values.shape)
    convex = limit.convex_part(motion, weights)
    assert convex is not None
    for order, gradient in zip(limit.orders, found.gradients, strict=True):
        for joint in range(limit.robot.num_joints):
            sides = []
            for sign in (1.0, -1.0):
                arrays = [np.array(part) for part in motion]
                arrays[order][:, joint] += sign * STEP
                sides.append(limit.linearize(MotionArrays(*arrays)))
            slope = (sides[0].values - sides[1].values) / (2.0 * STEP)
            np.testing.assert_allclose(gradient[:, :, joint], slope, rtol=1e-5, atol=1e-6)
            if order == 1:
                bend = (sides[0].gradients[1] - sides[1].gradients[1]) / (2.0 * STEP)
                bent = -np.einsum("tm,tmn->tn", weights, bend)
                np.testing.assert_allclose(convex[:, 1, joint, 1], bent, rtol=1e-5, atol=1e-5)


def test_no_point_of_the_box_is_faster_than_its_corners(constraint: ToolSpeedConstraint) -> None:
    inside = BOX.center + (np.random.default_rng(1).uniform(-1.0, 1.0, (50, 3)) * BOX.half_extents) @ BOX.rotation.T
    others = dataclasses.replace(constraint, points=inside, labels=tuple(str(k) for k in range(50)))
    motion = motion_of(constraint.robot)
    assert (others.margins(motion).min(axis=1) >= constraint.margins(motion)[:, 1:].min(axis=1)).all()


def test_a_plan_keeps_it_everywhere_and_says_so(tmp_path: Path) -> None:
    robot = iparam.load_robot("ur5e")
    conditions = PlanConditions(limits=PlanningLimits(speed=0.25)).changed(payload_size=[0.1, 0.15, 0.2])
    problem = iparam.planning_problem(robot, conditions=conditions, duration=5.0, num_harmonics=2)
    found = iparam.optimize_excitation(problem, starts=1, workers=1)
    limit = next(c for c in problem.constraints if isinstance(c, ToolSpeedConstraint))
    times = np.linspace(0.0, 5.0, 2501)
    worst = worst_margin(limit, iparam.excitation.motion_arrays(found.trajectory, times), times)
    assert worst is not None
    assert 0.0 <= worst.margin < 0.02  # kept, and used
    assert "tool speed up to 0.25 m/s" in str(conditions)
    assert conditions.to_config()["limits"]["speed"] == 0.25


@pytest.mark.parametrize(("speed", "words"), [(0.0, "positive"), (250.0, "mm/s"), (float("nan"), "positive")])
def test_impossible_speeds_are_refused(speed: float, words: str) -> None:
    with pytest.raises(iparam.IparamError, match=words):
        ToolSpeedConstraint.of_tool(iparam.load_robot("ur5e"), speed)
