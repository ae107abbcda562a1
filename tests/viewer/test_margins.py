from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.scene import collision_scene, sampled_poses
from iparam.robot.collision.shapes import PayloadBox
from iparam.viewer.margins import motion_margins, nearest_pair

CELL = WorkCell((Box([0.7, 0.0, 0.3], [0.1, 0.2, 0.3], name="crate"),), (Plane([0, -0.9, 0], [0, 1, 0], "wall"),))


def test_links_payload_box_wall_and_ground_are_nearest_in_turn(ur5e: iparam.Robot) -> None:
    scene = collision_scene(ur5e, [PayloadBox.from_size([0.1, 0.15, 0.2])], CELL)
    seen = set()
    for q in sampled_poses(ur5e, 150, seed=3):
        found = nearest_pair(scene, q)
        assert found is not None
        seen.update(found.bodies)
    assert {"payload", "crate", "wall", "ground", "wrist_1_link"} <= seen


def test_margins_along_a_motion_are_those_of_each_pose(ur5e: iparam.Robot, plan: iparam.TrajectoryFile) -> None:
    scene = collision_scene(ur5e, [PayloadBox.from_size([0.1, 0.15, 0.2])], CELL)
    samples = plan.trajectory.sample(10.0)
    margins = motion_margins(scene, samples.time, samples.q, 0.02)
    assert margins is not None
    for index, q in enumerate(samples.q):
        found = nearest_pair(scene, q)
        assert found is not None
        assert margins.distance[index] == pytest.approx(found.distance, abs=1e-12)
    assert margins.distance[margins.least] == margins.distance.min()
    gaps = np.concatenate([group.at(samples.q).values for group in scene.distances], axis=1)
    assert (margins.distance >= (gaps + np.concatenate(scene.allowance)).min(axis=1) - 1e-12).all()


def test_a_distance_that_no_motion_changes_is_not_the_nearest(ur5e: iparam.Robot) -> None:
    """The upper arm turns about an axis that is always as high over the ground."""
    scene = collision_scene(ur5e, [], WorkCell())
    found = [nearest_pair(scene, q) for q in sampled_poses(ur5e, 100, seed=1)]
    shown = [round(near.distance, 4) for near in found if near is not None and near.distance > 0.0]
    assert len(shown) > 20
    assert len(set(shown)) > 0.9 * len(shown)
