"""Fitted capsules enclose what they are fitted to, whatever it is, and reach little beyond it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from iparam.robot.collision.fitting import (
    MOST_CAPSULES,
    FittedCapsule,
    Hull,
    enclosing_capsule,
    enclosing_capsules,
    hull_gaps,
)
from iparam.spatial import exp_so3

coordinates = st.floats(-1.0, 1.0, width=32)
clouds = st.integers(1, 40).flatmap(lambda count: arrays(np.float64, (count, 3), elements=coordinates))
surfaces = st.integers(1, 20).flatmap(lambda count: arrays(np.float64, (count, 3, 3), elements=coordinates))


def outside(points: np.ndarray, capsule: FittedCapsule) -> np.ndarray:
    """Distance of points from a capsule, by the textbook formula; negative inside."""
    line = capsule.end - capsule.start
    square = line @ line
    share = np.clip((points - capsule.start) @ line / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    return np.linalg.norm(points - capsule.start - share[:, None] * line, axis=1) - capsule.radius


def tube(radius: float, length: float, sides: int = 16) -> np.ndarray:
    """Triangles of a cylinder along z."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.column_stack([np.tile(ring, (2, 1)), np.repeat([-length / 2, length / 2], sides)])
    return points[ConvexHull(points).simplices]


@settings(max_examples=40, deadline=None)
@given(clouds)
def test_a_capsule_encloses_every_cloud(points: np.ndarray) -> None:
    assert outside(points, enclosing_capsule(points)).max() <= 1e-9


@settings(max_examples=12, deadline=None)
@given(surfaces)
def test_every_point_of_every_triangle_is_in_a_capsule(triangles: np.ndarray) -> None:
    capsules = enclosing_capsules(triangles)
    assert 1 <= len(capsules) <= MOST_CAPSULES
    weights = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    points = np.concatenate([triangles.reshape(-1, 3), (weights @ triangles).reshape(-1, 3)])
    assert np.min([outside(points, capsule) for capsule in capsules], axis=0).max() <= 1e-9


def test_a_long_tube_has_one_capsule_close_to_it() -> None:
    triangles = tube(0.05, 0.6) @ exp_so3([0.3, -1.0, 0.5]).T + [0.1, 0.2, -0.4]
    (capsule,) = enclosing_capsules(triangles, 1)
    assert 0.05 <= capsule.radius < 0.06
    assert Hull.of(triangles.reshape(-1, 3)).overhang(capsule) <= capsule.radius


def test_an_elbow_is_cut() -> None:
    upright, level = tube(0.04, 0.4), tube(0.04, 0.4) @ exp_so3([0.0, np.pi / 2, 0.0]).T + [0.2, 0.0, -0.2]
    elbow = np.concatenate([upright, level])
    one, several = enclosing_capsules(elbow, 1), enclosing_capsules(elbow)
    assert len(several) > 1
    assert max(capsule.radius for capsule in several) < 0.7 * one[0].radius


@pytest.mark.parametrize("seed", range(5))
def test_gaps_of_hulls_are_close_below_their_distance(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(size=(2, 30, 3)) * 0.1
    rotation = np.array([exp_so3(random.normal(size=3)) for _ in range(20)])
    position = random.normal(size=(20, 3)) * 0.4
    gaps = hull_gaps(one, other, rotation, position)
    for gap, turn, shift in zip(gaps, rotation, position, strict=True):
        distance = hull_distance(one, other @ turn.T + shift)
        assert gap <= distance + 1e-6
        assert gap > 0.0 or distance < 1e-3
        assert gap >= distance - 0.01 or distance < 1e-3


def hull_distance(one: np.ndarray, other: np.ndarray) -> float:
    """Distance of two convex hulls by least squares over the mixtures of their corners."""
    heavy = 1e4  # makes the weights of each mixture add up to 1
    sums = np.kron(np.eye(2), np.ones(len(one)))
    found, _ = nnls(np.vstack([np.hstack([one.T, -other.T]), heavy * sums]), [0.0, 0.0, 0.0, heavy, heavy])
    return float(np.linalg.norm(one.T @ found[: len(one)] - other.T @ found[len(one) :]))
