"""Solids in space, and the poses of a motion that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iparam.report.figures import box_faces, telling_poses
from iparam.spatial.equivalent_body import equivalent_body
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import rotation_from_rpy, transform_from

pytest.importorskip("matplotlib")


def test_the_faces_of_a_box_are_its_surface() -> None:
    pose = transform_from(rotation_from_rpy([0.3, -0.5, 0.2]), [0.01, 0.02, 0.3])
    body = equivalent_body(InertialParameters.box(2.0, [0.1, 0.2, 0.3]).transformed(pose))
    assert body is not None
    faces = box_faces(body)
    inside = (faces - body.center) @ body.rotation
    assert np.abs(inside).max(axis=(0, 1)) == pytest.approx(0.5 * body.box_size)
    across = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 1])
    assert np.linalg.norm(across, axis=1).sum() == pytest.approx(2.0 * (0.02 + 0.03 + 0.06))
    assert np.unique(np.round(inside.reshape(-1, 3), 9), axis=0).shape == (8, 3)


def test_the_first_pose_is_drawn_and_others_are_apart(run: Any) -> None:
    motion = run.trajectory.trajectory.sample(100.0)
    chosen = telling_poses(run.robot, motion.q)
    assert chosen[0] == 0
    assert 2 <= len(chosen) <= 5
    assert telling_poses(run.robot, np.tile(motion.q[:1], (50, 1))) == [0]
