"""Random search: the amplitudes of document 003, what it refuses and what it says about it."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.excitation.constraints.collision import capsule_collision
from iparam.excitation.constraints.constraint import InfeasibleError, JointLimitConstraint
from iparam.excitation.constraints.validation import validate
from iparam.excitation.search.random_search import SearchProgress, random_search
from iparam.robot.cell import Box, WorkCell

NAMES = ("first", "second", "third")
Q0 = np.array([0.3, -0.5, 1.0])


def test_found_at_once_where_nothing_is_in_the_way() -> None:
    result = random_search(Q0, 10.0, (), seed=0)
    assert (result.attempts, result.amplitude, result.refusals) == (1, 0.2, ())
    assert result.trajectory.num_harmonics == 5
    assert result.trajectory.base_freq == pytest.approx(0.1)
    ends = result.trajectory.evaluate([0.0, 10.0])
    for values, expected in ((ends.q, Q0), (ends.dq, 0.0), (ends.ddq, 0.0)):
        np.testing.assert_allclose(values, np.broadcast_to(expected, values.shape), atol=1e-12)


def test_what_is_found_keeps_the_limits_on_the_dense_grid() -> None:
    limits = (JointLimitConstraint.symmetric(1, 0.35, NAMES), JointLimitConstraint.symmetric(2, 0.5, NAMES))
    result = random_search(Q0, 10.0, limits, seed=1)
    assert validate(result.trajectory, limits).satisfied
    assert result.attempts > 1
    assert sum(refusal.count for refusal in result.refusals) == result.attempts - 1
    assert {refusal.reason for refusal in result.refusals} <= {"joint velocity", "joint acceleration"}
    counts = [refusal.count for refusal in result.refusals]
    assert counts == sorted(counts, reverse=True)


def test_the_amplitude_falls_after_every_twenty_failures() -> None:
    seen: list[SearchProgress] = []
    limits = (JointLimitConstraint.symmetric(1, 0.06, NAMES),)
    random_search(Q0, 10.0, limits, seed=0, progress=seen.append)
    for step in seen:
        assert step.amplitude == pytest.approx(0.2 * 0.8 ** ((step.attempts - 1) // 20))
    assert seen[-1].reason is None
    assert all(step.reason for step in seen[:-1])


def test_the_amplitude_has_a_floor() -> None:
    seen: list[SearchProgress] = []
    with pytest.raises(InfeasibleError):
        random_search(
            Q0,
            10.0,
            (JointLimitConstraint.symmetric(1, 1e-7, NAMES),),
            amplitude=0.0011,
            max_attempts=60,
            rate=50.0,
            progress=seen.append,
        )
    assert [step.amplitude for step in seen[::20]] == pytest.approx([0.0011, 0.001, 0.001])


UR5E = iparam.load_robot("ur5e")
DOWN = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
TOOL = iparam.forward_kinematics(UR5E, DOWN)[:3, 3]


def test_a_collision_is_refused_and_named() -> None:
    table = WorkCell(boxes=(Box(TOOL - np.array([0.0, 0.0, 0.25]), [0.4, 0.4, 0.1], name="table"),))
    constraints = capsule_collision(UR5E, cell=table)
    result = random_search(DOWN, 10.0, constraints, seed=3)
    assert result.attempts > 1
    assert validate(result.trajectory, constraints).satisfied
    assert "robot-box collision: wrist_2_link - table" in {refusal.reason for refusal in result.refusals}


def test_nothing_found_says_why() -> None:
    limit = JointLimitConstraint.symmetric(1, 1e-4, NAMES)
    with pytest.raises(InfeasibleError, match=r"none of 40 .*40 x joint velocity.*more attempts"):
        random_search(Q0, 10.0, (limit,), max_attempts=40)


@pytest.mark.parametrize("what", ["limit", "contact"])
def test_a_start_pose_that_cannot_be_ends_at_once(what: str) -> None:
    limits = (JointLimitConstraint.symmetric(0, 0.9, UR5E.joint_names),)
    if what == "contact":
        limits = capsule_collision(UR5E, cell=WorkCell(boxes=(Box(TOOL, [0.1, 0.1, 0.1], name="table"),)))
    seen: list[SearchProgress] = []
    with pytest.raises(InfeasibleError, match="start pose q0 itself is refused"):
        random_search(DOWN, 10.0, limits, progress=seen.append)
    assert not seen


def test_the_seed_decides() -> None:
    first, again, other = (random_search(Q0, 8.0, (), seed=seed).trajectory for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.a, again.a)
    assert not np.allclose(first.a, other.a)


@pytest.mark.parametrize("options", [{"seed": -1}, {"max_attempts": 0}, {"amplitude": 0.0}, {"seed": 1.5}])
def test_bad_arguments(options: dict) -> None:
    with pytest.raises(InputError):
        random_search(Q0, 10.0, (), **options)
