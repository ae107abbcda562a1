"""Poses to rest in: they keep every constraint, on the way too, and tell more than random ones."""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import InfeasibleError, MotionArrays
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.search.start_pose import default_start
from iparam.excitation.setup import PlanningLimits, planning_problem
from iparam.excitation.static_poses import SEPARATION, choose_poses, condition_number
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.shapes import PayloadBox

UR5E = iparam.load_robot("ur5e")
PAYLOAD = PayloadBox.from_size([0.10, 0.15, 0.20])
WALL = WorkCell(
    boxes=(Box(np.array([-0.13, 0.49, 0.1]), np.array([0.3, 0.3, 0.1]), name="table"),),
    planes=(Plane(np.array([0.0, 0.75, 0.0]), np.array([0.0, -1.0, 0.0]), "wall"),),
)


def least_margin(problem: ExcitationProblem, q: FloatArray) -> float:
    still = np.zeros_like(q)
    return min(float(c.margins(MotionArrays(q, still, still, still)).min()) for c in problem.constraints)


def tour_of(problem: ExcitationProblem, poses: FloatArray, count: int = 2000) -> FloatArray:
    """All straight ways from the start through the poses and back, finer than the planner looks."""
    stops = np.vstack([problem.q0, poses, problem.q0])
    share = np.linspace(0.0, 1.0, count)[:, None]
    return np.vstack([a + share * (b - a) for a, b in pairwise(stops)])


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("count", "cell"), [(6, None), (9, WALL)])
def test_poses_and_ways_keep_every_constraint(cell: WorkCell | None, count: int) -> None:
    problem = planning_problem(UR5E, payload=PAYLOAD, cell=cell)
    chosen = choose_poses(problem, count)
    assert chosen.poses.shape == (count, 6)
    assert least_margin(problem, tour_of(problem, chosen.poses)) > -5e-4  # between two poses of the planner's grid
    assert min(margin.margin for margin in chosen.margins) > 0.0
    limits = UR5E.limits
    assert ((chosen.poses >= limits.lower) & (chosen.poses <= limits.upper)).all()
    np.testing.assert_array_equal(chosen.poses[:, :3], np.tile(problem.q0[:3], (count, 1)))  # the arm stays put
    apart = chosen.gravity_in_tool @ chosen.gravity_in_tool.T - 2.0 * np.eye(count)
    assert (apart <= np.cos(SEPARATION)).all()


def test_they_may_be_visited_in_any_order() -> None:
    problem = planning_problem(UR5E, payload=PAYLOAD, cell=WALL)
    chosen = choose_poses(problem, 4)
    lengths = []
    for order in permutations(range(4)):
        poses = chosen.poses[list(order)]
        assert least_margin(problem, tour_of(problem, poses, 500)) > -5e-4
        stops = np.vstack([problem.q0, poses, problem.q0])
        lengths.append(np.abs(np.diff(stops, axis=0)).max(axis=1).sum())
    assert chosen.travel <= 1.2 * min(lengths)


def test_the_same_seed_gives_the_same_poses() -> None:
    problem = planning_problem(UR5E, payload=PAYLOAD)
    first, again, other = (choose_poses(problem, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.poses, again.poses)
    assert not np.array_equal(first.poses, other.poses)


def test_they_tell_more_than_random_poses() -> None:
    problem = planning_problem(UR5E)
    chosen = choose_poses(problem)
    rng = np.random.default_rng(0)
    random = []
    for _ in range(50):
        poses = np.tile(problem.q0, (6, 1))
        poses[:, 3:] += rng.uniform(-2.1, 2.1, (6, 3))
        random.append(condition_number(UR5E, poses))
    assert np.sqrt(1.5) <= chosen.condition_number < np.quantile(random, 0.1)
    assert chosen.condition_number < 1.6


def test_another_arm() -> None:
    robot = iparam.load_robot("ur3e")
    assert choose_poses(planning_problem(robot)).condition_number < 1.8


@pytest.mark.parametrize("count", [3, 0, -1, 101, 4.0, True])
def test_a_number_of_poses_that_cannot_do_is_refused(count: int) -> None:
    with pytest.raises(InputError, match=r"from 4 to 100.*10 unknowns"):
        choose_poses(planning_problem(UR5E), count)


def test_where_there_is_no_room_the_constraint_is_named() -> None:
    tight = planning_problem(UR5E, limits=PlanningLimits(displacement=0.01))
    with pytest.raises(InfeasibleError, match="'tool displacement' excludes most"):
        choose_poses(tight)
    low = planning_problem(UR5E, q0=default_start(UR5E), cell=WorkCell(ground_height=0.6))
    with pytest.raises(InfeasibleError, match="start pose q0 itself violates 'robot-ground collision'"):
        choose_poses(low)


def test_the_file(tmp_path: Path) -> None:
    chosen = choose_poses(planning_problem(UR5E), 4)
    chosen.save(tmp_path / "poses.json")
    document = json.loads((tmp_path / "poses.json").read_text())
    assert set(document) == {"format", "robot", "poses", "condition_number"}
    assert document["format"] == "iparam-poses/1"
    assert document["robot"] == "ur5e"
    np.testing.assert_array_equal(document["poses"], chosen.poses)


def test_an_arm_that_cannot_turn_gravity_is_told_to_move(tmp_path: Path) -> None:
    """Two vertical axes: in every pose at rest, gravity is along the same axis of the tool."""
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz=".3 0 .2"/>'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2" effort="90"/></joint>'
        for i in range(2)
    )
    links = "".join(f'<link name="l{i}"/>' for i in range(3))
    (tmp_path / "scara.urdf").write_text(f'<robot name="scara">{links}{joints}</robot>', encoding="utf-8")
    problem = planning_problem(iparam.load_robot(tmp_path / "scara.urdf"))
    with pytest.raises(InfeasibleError, match=r"scara cannot turn gravity .* move the load instead"):
        choose_poses(problem)
