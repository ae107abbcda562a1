"""`MujocoCollisionCheck`: contacts of poses, in the simulator's own model."""

from __future__ import annotations

import time

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.robot.cell import Box, WorkCell
from iparam.simulation import CollisionError, MujocoSimulator, Payload
from iparam.simulation.mujoco.collision import MujocoCollisionCheck

HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
BOX = Payload.box(mass=1.0, size=(0.1, 0.15, 0.2))


def turned(joint: int, angle: float) -> np.ndarray:
    return HOME + angle * np.eye(6)[joint]


def poses(end: np.ndarray, count: int = 101) -> np.ndarray:
    return HOME + np.linspace(0.0, 1.0, count)[:, None] * (end - HOME)


def test_free_poses(ur5e: iparam.Robot) -> None:
    assert MujocoCollisionCheck(ur5e, BOX)(poses(HOME + 0.1)) is None


def test_the_payload_meets_the_ground(ur5e: iparam.Robot) -> None:
    down = turned(1, 1.2)
    found = MujocoCollisionCheck(ur5e, BOX)(poses(down))
    assert found is not None
    assert set(found.bodies) == {"payload", "the ground"}
    assert 0 < found.sample < 100
    assert 0.0 <= found.depth < 0.02
    without = MujocoCollisionCheck(ur5e)(poses(down))
    assert without is None or without.sample > found.sample


def test_the_arm_meets_itself(ur5e: iparam.Robot) -> None:
    folded = turned(2, 1.5)
    found = MujocoCollisionCheck(ur5e)(poses(folded))
    assert found is not None
    assert "the ground" not in found.bodies


def test_the_payload_meets_a_thing_of_the_cell(ur5e: iparam.Robot) -> None:
    tool = iparam.forward_kinematics(ur5e, HOME)[:3, 3]
    turning = poses(turned(0, 0.3))
    for height, hit in ((-0.32, False), (-0.29, True)):
        cell = WorkCell(boxes=(Box(tool + np.array([0.0, 0.0, height]), np.full(3, 0.1), name="crate"),))
        found = MujocoCollisionCheck(ur5e, BOX, cell)(turning)
        assert (found is not None) is hit
        if found is not None:
            assert set(found.bodies) == {"payload", "crate"}
            assert found.depth == pytest.approx(0.01, abs=1e-3)
            assert found.sample == 0


def test_it_agrees_with_the_simulator(ur5e: iparam.Robot, there_and_back) -> None:
    trajectory = there_and_back(HOME, turned(1, 1.0))
    with pytest.raises(CollisionError) as caught:
        MujocoSimulator().load(ur5e, BOX).run(trajectory)
    motion = trajectory.sample(1000.0)
    found = MujocoCollisionCheck(ur5e, BOX)(motion.q)
    assert found is not None
    assert set(found.bodies) == set(caught.value.bodies)
    assert motion.time[found.sample] == pytest.approx(caught.value.time, abs=0.005)


def test_it_is_quick(ur5e: iparam.Robot) -> None:
    check, many = MujocoCollisionCheck(ur5e, BOX), poses(HOME + 0.1, 1000)
    check(many[:1])
    started = time.perf_counter()
    assert check(many) is None
    assert time.perf_counter() - started < 0.5


def test_bad_arguments(ur5e: iparam.Robot) -> None:
    with pytest.raises(InputError, match=r"shape \(T, 6\)"):
        MujocoCollisionCheck(ur5e)(HOME)
