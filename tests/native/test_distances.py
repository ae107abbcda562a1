"""Distances between shapes: where they touch, where an end is closest, and one pose as a batch of many."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.native.distances import Kind, distances

CAPSULES = np.array([[0.0, -0.1, 0.0, 0.0, 0.1, 0.0, 0.0, 0.02], [6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.03]])
AXES = np.eye(3).ravel()
BOXES = np.array([[0.0, *AXES, 0.5, 0.0, 0.1, 0.1, 0.2, 0.3], [4.0, *AXES, 0.0, 0.0, 0.0, 0.05, 0.05, 0.1]])
BALLS, PLANES = np.array([[5.0, 0.0, 0.0, 0.1, 0.02]]), np.array([[0.0, 0.0, 1.0, -0.1]])
SHAPES: dict[Kind, tuple[np.ndarray, ...]] = {
    "capsule": (CAPSULES,),
    "box": (CAPSULES, BOXES),
    "box_box": (BOXES,),
    "plane": (BALLS, PLANES),
}
PAIRS: dict[Kind, list[tuple[int, int]]] = {
    "capsule": [(0, 1)],
    "box": [(0, 0), (1, 0), (0, 1)],
    "box_box": [(0, 1)],
    "plane": [(0, 0)],
}


def of(kind: Kind, q: np.ndarray, gradients: bool = True) -> tuple[np.ndarray, np.ndarray]:
    chain = iparam.load_robot("ur5e").chain
    return distances(kind, chain.address, np.array(PAIRS[kind], dtype=np.int64), SHAPES[kind], q, gradients)


@pytest.mark.parametrize("kind", list(SHAPES))
def test_a_pose_has_the_same_digits_alone_and_in_any_batch(kind: Kind) -> None:
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (21, 6))
    values, slopes = of(kind, q)
    for size in (1, 2, 9):
        for start in range(0, len(q), size):
            alone = of(kind, q[start : start + size].copy())
            np.testing.assert_array_equal(alone[0], values[start : start + size])
            np.testing.assert_array_equal(alone[1], slopes[start : start + size])
    without, nothing = of(kind, q, gradients=False)
    np.testing.assert_array_equal(without, values)
    assert nothing.shape == (*values.shape, 0)


@pytest.mark.parametrize("kind", list(SHAPES))
def test_gradients_are_those_of_the_distances(kind: Kind) -> None:
    q, h = np.random.default_rng(1).uniform(-3.0, 3.0, (500, 6)), 1e-6
    values, slopes = of(kind, q)
    for joint in range(6):
        step = h * np.eye(6)[joint]
        difference = (of(kind, q + step)[0] - of(kind, q - step)[0]) / (2.0 * h)
        apart = (values > 0.0) | (kind == "box")  # which is convex, so that its gradient goes on inside
        np.testing.assert_allclose(slopes[..., joint][apart], difference[apart], atol=1e-6)


def test_a_segment_is_as_far_from_a_box_as_the_nearest_of_its_points() -> None:
    random = np.random.default_rng(2)
    chain, half = iparam.load_robot("ur5e").chain, np.array([0.1, 0.2, 0.3])
    box = np.array([[0.0, *AXES, 0.0, 0.0, 0.0, *half]])
    ends = random.uniform(-0.6, 0.6, (300, 2, 3))
    ends[:20, :, 2] = ends[:20, :1, 2]  # parallel to two of the faces
    ends[20:30, 1] = ends[20:30, 0]  # points
    capsules = np.column_stack([np.zeros(300), ends.reshape(300, 6), np.zeros(300)])
    pairs = np.column_stack([np.arange(300), np.zeros(300, dtype=np.int64)])
    found, _ = distances("box", chain.address, pairs, (capsules, box), np.zeros((1, 6)), False)
    along = np.linspace(0.0, 1.0, 20_001)[:, None]
    for k, (start, end) in enumerate(ends):
        beyond = np.abs(start + along * (end - start)) - half
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        nearest = np.where(outside > 0.0, outside, beyond.max(axis=1)).min()
        assert nearest - 1e-4 < found[0, k] <= nearest + 1e-15
