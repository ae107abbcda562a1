"""One collision geometry: what the check of a plan passes, the simulator runs; what it refuses, so does the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.excitation.constraints.collision import capsule_collision
from iparam.excitation.constraints.validation import validate
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.scene import sampled_poses
from iparam.robot.model import Joint, JointKind, JointLimits, Link, Robot
from iparam.spatial import exp_so3
from iparam.spatial.transforms import transform_from
from iparam.trajectory import WindowedFourierTrajectory

pytest.importorskip("mujoco")

from iparam.simulation import CollisionError, MujocoSimulator, Payload

QUICK = MujocoSimulator(settle_time=0.0, physics_rate=1000.0)


def at_rest(q: np.ndarray) -> WindowedFourierTrajectory:
    none = np.zeros((len(q), 1))
    return WindowedFourierTrajectory(q, none, none, base_freq=1.0, duration=0.01)


def verdicts(
    robot: Robot, payload: Payload | None, cell: WorkCell, clearance: float, q: np.ndarray
) -> list[tuple[bool, bool]]:
    """For poses q (T, n), whether the check passes and whether the simulator runs."""
    constraints = capsule_collision(robot, payload.boxes if payload else None, cell, clearance)
    scene = QUICK.load(robot, payload, cell, clearance)
    found = []
    for pose in q:
        passed = validate(at_rest(pose), constraints).satisfied
        try:
            scene.run(at_rest(pose))
        except CollisionError:
            found.append((passed, False))
        else:
            found.append((passed, True))
    return found


def random_arm(random: np.random.Generator, joints: int) -> Robot:
    """Any lengths, any axes, with a sliding joint now and then; its shape is that of its joints and masses."""
    links, chain = [Link("base")], []
    for index in range(joints):
        origin = transform_from(exp_so3(random.normal(size=3)), random.normal(size=3) * random.choice([0.0, 0.1, 0.3]))
        kind = JointKind.PRISMATIC if random.uniform() < 0.2 else JointKind.REVOLUTE
        chain.append(Joint(f"j{index}", kind, links[-1].name, f"l{index}", origin, random.normal(size=3)))
        body = iparam.InertialParameters.box(random.uniform(0.2, 8.0), [0.1, 0.1, 0.2])
        links.append(Link(f"l{index}", body))
    chain.append(Joint("mount", JointKind.FIXED, links[-1].name, "tool", transform_from(np.eye(3), [0.0, 0.0, 0.1])))
    links.append(Link("tool"))
    unlimited = np.full(joints, np.inf)
    limits = JointLimits(np.full(joints, -2.5), np.full(joints, 2.5), unlimited, unlimited, unlimited)
    return Robot("any", tuple(chain), tuple(links), limits, "tool")


def random_payload(random: np.random.Generator) -> Payload | None:
    offset, turn = random.normal(size=3) * 0.05, random.normal(size=3)
    return [
        lambda: None,
        lambda: Payload.box(mass=0.5, size=random.uniform(0.02, 0.3, 3), offset=offset, rotation_rpy=turn),
        lambda: Payload.cylinder(mass=0.5, radius=0.05, length=0.2, offset=offset, rotation_rpy=turn),
        lambda: Payload.two_stage_cylinder(mass=0.5, radius1=0.05, length1=0.1, radius2=0.02, length2=0.1),
        lambda: Payload.sphere(mass=0.5, radius=0.08),
    ][random.integers(5)]()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([0.0, 0.01, 0.05]))
def test_any_arm_any_payload_any_cell(seed: int, joints: int, clearance: float) -> None:
    random = np.random.default_rng(seed)
    robot, payload = random_arm(random, joints), random_payload(random)
    cell = WorkCell(
        boxes=(Box(random.normal(size=3) * 0.5, random.uniform(0.05, 0.3, 3), exp_so3(random.normal(size=3)), "box"),),
        planes=(Plane(random.normal(size=3), random.normal(size=3), "wall"),),
        ground_height=None if random.uniform() < 0.5 else -0.8,
    )
    found = verdicts(robot, payload, cell, clearance, sampled_poses(robot, 8, seed))
    assert all(passed is ran for passed, ran in found)


@pytest.mark.parametrize(
    ("name", "tip"),
    [("panda", "panda_hand_tcp"), ("xarm7", None), ("kinova", "j2s6s200_end_effector"), ("ur5", "tool0")],
)
def test_other_makers_arms(name: str, tip: str | None, example_robot_urdf: Callable[[str], Path]) -> None:
    robot = iparam.load_robot(example_robot_urdf(name), tip=tip)
    payload = Payload.cylinder(mass=0.3, radius=0.03, length=0.08)
    found = verdicts(robot, payload, WorkCell(), 0.01, sampled_poses(robot, 40, seed=5))
    assert all(passed is ran for passed, ran in found)
    assert {passed for passed, _ in found} == {True, False}


def test_a_box_that_contains_the_payload_passes_only_what_the_payload_itself_passes() -> None:
    robot = iparam.load_robot("ur5e")
    payload = Payload.cylinder(mass=0.5, radius=0.06, length=0.2, rotation_rpy=(0.4, 0.7, 0.0))
    corners = np.array([[box.center - box.half_extents, box.center + box.half_extents] for box in payload.boxes])
    lower, upper = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    planned = iparam.PayloadBox.from_size(upper - lower + 0.01, 0.5 * (lower + upper))
    constraints = capsule_collision(robot, planned)
    scene = QUICK.load(robot, payload)
    passed = [pose for pose in sampled_poses(robot, 60, 2) if validate(at_rest(pose), constraints).satisfied]
    assert len(passed) > 5
    for pose in passed:
        scene.run(at_rest(pose))
