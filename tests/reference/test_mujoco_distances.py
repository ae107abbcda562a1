"""Distances of capsules, boxes and planes against MuJoCo's own."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.robot.collision.distances import Distances
from iparam.robot.collision.shapes import PlacedBox, PlacedCapsule
from iparam.spatial import exp_so3

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.reference

UR5E = iparam.load_robot("ur5e")
FAR = 10.0


def pose(random: np.random.Generator) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = exp_so3(random.normal(size=3)), random.normal(size=3) * 0.3
    return found


def mujoco_distances(shapes: list[PlacedCapsule | PlacedBox], pairs: list[tuple[int, int]]) -> np.ndarray:
    spec = mujoco.MjSpec()
    for shape in shapes:
        if isinstance(shape, PlacedCapsule):
            ends = [*shape.start, *shape.end]
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=(shape.radius, 0.0, 0.0))
        else:
            quaternion = np.empty(4)
            mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(shape.pose[:3, :3]).ravel())
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, pos=shape.pose[:3, 3], quat=quaternion, size=shape.half_extents
            )
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return np.array([mujoco.mj_geomDistance(model, data, i, j, FAR, np.zeros(6)) for i, j in pairs])


@pytest.fixture(scope="module")
def shapes() -> tuple[list[PlacedCapsule], list[PlacedBox]]:
    random = np.random.default_rng(0)
    capsules = [
        PlacedCapsule(f"c{i}", 0, *random.normal(size=(2, 3)) * 0.4, random.uniform(0.02, 0.1)) for i in range(12)
    ]
    boxes = [PlacedBox(f"b{i}", 0, pose(random), random.uniform(0.03, 0.2, 3)) for i in range(12)]
    return capsules, boxes


def test_capsules(shapes) -> None:
    capsules, _ = shapes
    pairs = [(i, j) for i in range(12) for j in range(i)]
    ours = Distances("x", UR5E, tuple(capsules), capsule_pairs=tuple(pairs)).at(np.zeros((1, 6))).values[0]
    theirs = mujoco_distances(capsules, pairs)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert (ours < 0.0).any()


def test_capsules_and_boxes(shapes) -> None:
    capsules, boxes = shapes
    pairs = [(i, j) for i in range(12) for j in range(12)]
    scene = Distances("x", UR5E, tuple(capsules), tuple(boxes), box_pairs=tuple(pairs))
    ours = scene.at(np.zeros((1, 6))).values[0]
    theirs = mujoco_distances([*capsules, *boxes], [(i, 12 + j) for i, j in pairs])
    apart = theirs > 1e-4
    np.testing.assert_allclose(ours[apart], theirs[apart], atol=1e-5)
    assert (ours[~apart] < 1e-3).all()
    assert 5 < apart.sum() < len(pairs) - 5


def test_boxes(shapes) -> None:
    _, boxes = shapes
    pairs = [(i, j) for i in range(12) for j in range(i)]
    ours = Distances("x", UR5E, boxes=tuple(boxes), box_box_pairs=tuple(pairs)).at(np.zeros((1, 6))).values[0]
    theirs = mujoco_distances(boxes, pairs)
    clear = np.abs(theirs) > 1e-4
    np.testing.assert_array_equal(ours[clear] > 0.0, theirs[clear] > 0.0)
    apart = theirs > 1e-4
    assert (ours[apart] <= theirs[apart] + 1e-6).all()
    assert (ours[apart] >= theirs[apart] / np.sqrt(3.0) - 1e-6).all()
    assert 5 < apart.sum() < len(pairs) - 5
