"""`CollisionScene`: contacts of poses, which pairs touch by construction, and what each must keep."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError, InputError
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.capsules import link_capsules
from iparam.robot.collision.scene import ALMOST_ALL, CollisionScene, collision_scene, sampled_poses
from iparam.robot.collision.shapes import PayloadBox

UR5E = iparam.load_robot("ur5e")
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
BOX = PayloadBox.from_size([0.1, 0.15, 0.2])


def turned(joint: int, angle: float) -> np.ndarray:
    return HOME + angle * np.eye(6)[joint]


def poses(end: np.ndarray, count: int = 101) -> np.ndarray:
    return HOME + np.linspace(0.0, 1.0, count)[:, None] * (end - HOME)


@pytest.fixture(scope="module")
def loaded() -> CollisionScene:
    return collision_scene(UR5E, (BOX,))


def test_free_poses(loaded: CollisionScene) -> None:
    assert loaded.first_contact(poses(HOME + 0.1)) is None


def test_the_payload_meets_the_ground(loaded: CollisionScene) -> None:
    down = turned(1, 1.2)
    found = loaded.first_contact(poses(down))
    assert found is not None
    assert set(found.bodies) == {"payload", "ground"}
    assert 0 < found.sample < 100
    assert -0.02 < found.distance < 0.0
    without = collision_scene(UR5E).first_contact(poses(down))
    assert without is None or without.sample > found.sample
    closer = loaded.first_contact(poses(down), clearance=0.05)
    assert closer is not None
    assert closer.sample < found.sample
    assert 0.0 < closer.distance < closer.required == 0.05


def test_the_arm_meets_itself() -> None:
    found = collision_scene(UR5E).first_contact(poses(turned(2, 1.5)))
    assert found is not None
    assert "ground" not in found.bodies


def test_the_payload_meets_a_thing_of_the_cell() -> None:
    tool = iparam.forward_kinematics(UR5E, HOME)[:3, 3]
    turning = poses(turned(0, 0.3))
    for height, hit in ((-0.32, False), (-0.29, True)):
        cell = WorkCell(boxes=(Box(tool + np.array([0.0, 0.0, height]), np.full(3, 0.1), name="crate"),))
        found = collision_scene(UR5E, (BOX,), cell).first_contact(turning)
        assert (found is not None) is hit
        if found is not None:
            assert set(found.bodies) == {"payload", "crate"}
            assert found.distance == pytest.approx(-0.01, abs=1e-3)
            assert found.sample == 0


def test_the_first_link_meets_a_box_and_the_base_does_not() -> None:
    shoulder = WorkCell(boxes=(Box([0.0, 0.0, 0.25], [0.05, 0.05, 0.05], name="shelf"),))
    scene = collision_scene(UR5E, (), shoulder)
    assert ("shoulder_link", "shelf") in scene.touching  # it turns in there, whatever the pose
    beside = collision_scene(UR5E, (), WorkCell(boxes=(Box([0.5, 0.0, 0.1], [0.05, 0.05, 0.05], name="shelf"),)))
    pairs = [pair for group in beside.distances for pair in group.pairs]
    assert ("shoulder_link", "shelf") in pairs
    assert ("base", "shelf") not in pairs


@pytest.mark.parametrize("name", iparam.robot_names())
def test_the_pairs_of_the_catalogue_are_those_that_lengths_and_thicknesses_allow(name: str) -> None:
    # By hand: two bodies can be apart if the links between them are longer than both are thick.
    robot = iparam.load_robot(name)
    radii = {capsule.body: capsule.radius for capsule in link_capsules(robot)}
    lengths = np.linalg.norm(robot.chain.origins[:, 9:], axis=1)
    frames = (robot.base_frame, *(joint.child for joint in robot.moving_joints))
    expected = {
        (frames[i], frames[j])
        for i in radii
        for j in radii
        if j > i + 1 and lengths[i + 1 : j].sum() > radii[i] + radii[j]
    }
    scene = collision_scene(robot)
    groups = {group.name: set(group.pairs) for group in scene.distances}
    assert groups["robot-robot collision"] == expected
    assert scene.touching == (("base", "upper_arm_link"),)


def test_the_payload_touches_what_it_is_mounted_on_and_what_that_stands_in() -> None:
    scene = collision_scene(UR5E, (BOX,))
    pairs = {pair for group in scene.distances for pair in group.pairs}
    assert ("wrist_3_link", "payload") not in pairs
    assert ("wrist_2_link", "payload") in scene.touching  # its capsule ends in the flange
    assert ("wrist_1_link", "payload") in pairs


def test_who_is_closer_by_construction_than_the_clearance_must_only_not_touch() -> None:
    scene = collision_scene(UR5E)
    index = [group.name for group in scene.distances].index("robot-robot collision")
    pairs = scene.distances[index].pairs
    gaps = scene.distances[index].at(sampled_poses(UR5E)).values
    wide = scene.clearances(0.05)[index]
    for pair in dict.fromkeys(pairs):
        columns = [column for column, other in enumerate(pairs) if other == pair]
        close = np.mean(gaps[:, columns].min(axis=1) < 0.05) >= ALMOST_ALL
        assert (wide[columns] == (0.0 if close else 0.05)).all()
    assert (wide == 0.0).any()
    assert (wide == 0.05).any()


def test_what_is_kept_with_a_clearance_is_kept_with_less(loaded: CollisionScene) -> None:
    q = sampled_poses(UR5E, 300, seed=1)
    clear = [[loaded.first_contact(pose[None], clearance) is None for pose in q] for clearance in (0.0, 0.02, 0.06)]
    assert np.all(np.diff(np.array(clear, dtype=int), axis=0) <= 0)
    assert 0 < sum(clear[2]) < sum(clear[0]) < 300


def test_a_wall_that_the_first_link_turns_parallel_to_does_not_move_for_it() -> None:
    ceiling = WorkCell(
        planes=(Plane([0.0, 0.0, 2.0], [0.0, 0.0, -1.0], "ceiling"), Plane([1, 0, 0], [-1, 0, 0], "wall"))
    )
    pairs = {pair for group in collision_scene(UR5E, (), ceiling).distances for pair in group.pairs}
    assert ("shoulder_link", "ceiling") not in pairs
    assert ("shoulder_link", "ground") not in pairs
    assert ("upper_arm_link", "ceiling") in pairs
    assert ("upper_arm_link", "ground") in pairs


def test_joints_without_limits_turn_all_the_way() -> None:
    robot = iparam.load_robot("ur5e")
    limits = iparam.robot.JointLimits(
        lower=np.array([-np.inf, -np.inf, 0.5, -1, -1, -1]),
        upper=np.array([np.inf, 1.0, np.inf, 1, 1, 1]),
        velocity=robot.limits.velocity,
        acceleration=robot.limits.acceleration,
        torque=robot.limits.torque,
    )
    q = sampled_poses(dataclasses.replace(robot, limits=limits))
    np.testing.assert_allclose(q.min(axis=0), [-np.pi, 1 - 2 * np.pi, 0.5, -1, -1, -1], atol=0.05)
    np.testing.assert_allclose(q.max(axis=0), [np.pi, 1.0, 0.5 + 2 * np.pi, 1, 1, 1], atol=0.05)


def test_it_is_quick(loaded: CollisionScene) -> None:
    many = poses(HOME + 0.1, 1000)
    loaded.first_contact(many[:1])
    started = time.perf_counter()
    assert loaded.first_contact(many) is None
    assert time.perf_counter() - started < 0.5


def test_bad_arguments(loaded: CollisionScene) -> None:
    with pytest.raises(InputError, match=r"shape \(T, 6\)"):
        loaded.first_contact(HOME)
    with pytest.raises(ContradictionError, match="millimetres"):
        collision_scene(UR5E, (PayloadBox.from_size([100.0, 150.0, 200.0]),))
    with pytest.raises(InputError, match="rotation"):
        PayloadBox([0.1, 0.1, 0.1], [0, 0, 0], np.ones((3, 3)))


@pytest.mark.parametrize("cell", [WorkCell(ground_height=0.6), WorkCell(boxes=(Box([0, 0, 0.6], [2, 2, 0.5]),))])
def test_a_cell_that_leaves_no_room_is_not_taken_for_a_mounting(cell: WorkCell) -> None:
    """Links that are in it in almost all poses are tested all the same; only what the arm stands in is not."""
    scene = collision_scene(UR5E, cell=cell)
    assert {pair for pair in scene.touching if pair[1] in ("ground", "box")} <= {("shoulder_link", "box")}
    assert scene.first_contact(np.radians([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])) is not None


def test_a_payload_that_hits_the_arm_in_all_poses_is_not_taken_for_built_so() -> None:
    scene = collision_scene(UR5E, [PayloadBox.from_size([2.0, 2.0, 2.0], [0.0, 0.0, 0.0])])
    assert ("forearm_link", "payload") not in scene.touching
    assert scene.first_contact(sampled_poses(UR5E, 5)) is not None
