"""Rests and a shape: all ten parameters without motion."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.estimation import Shape, identify_static, with_shape
from iparam.recording import Recording

CONTRADICTED = {"shape-left-out", "densities-left-open"}
"""Codes of remarks on a shape that the data contradict."""


def rests(body: iparam.InertialParameters, seed: int = 0) -> iparam.StaticEstimate:
    """What six poses of a UR5e tell, 1 s each, with the noise of its sensor."""
    robot, rng = iparam.load_robot("ur5e"), np.random.default_rng(seed)
    poses = np.array([0.3, -1.4, 1.2, 0.0, 0.0, 0.0]) + np.array(
        [[0, 0, 0, a, b, 0.4] for a, b in ((-1.5, 0.3), (0.2, 1.4), (1.5, -0.8), (-0.4, -1.5), (2.4, 0.9), (0.9, 2.6))]
    )
    q = np.repeat(poses, 100, axis=0)
    still = np.zeros_like(q)
    y = iparam.wrench_regressor(robot, q, still, still) @ body.phi + np.array([1.0, 2.0, -1.0, 0.1, 0.0, -0.1])
    y = y + np.array([0.5] * 3 + [0.05] * 3) * rng.standard_normal(y.shape)
    time = 0.01 * np.arange(len(q))
    recording = Recording(robot="ur5e").with_signal("q", time=time, values=q)
    return identify_static(recording.with_signal("wrench", time=time, values=y), robot)


@pytest.mark.parametrize("seed", range(3))
def test_the_inertia_at_rest_is_the_shapes_with_honest_intervals(hammer: Shape, seed: int) -> None:
    body = hammer.body(1.5, densities=[1.0, 3.0])
    found = with_shape(rests(body, seed), hammer)
    largest = np.linalg.eigvalsh(body.inertia_about_com)[-1]
    assert found.complete
    assert found.physically_consistent
    assert np.abs(found.inertia_about_com - body.inertia_about_com).max() < 0.2 * largest
    deviation = found.standard_deviation.inertia_about_com
    assert (np.abs(found.inertia_about_com - body.inertia_about_com) < 3.0 * deviation).all()
    assert found.data_share is not None
    assert found.data_share[0] > 0.7
    assert (found.frame, found.robot) == ("tool0", "ur5e")
    assert "inertia-rests-on-shape" in [one.code for one in found.remarks]


def test_rests_that_contradict_the_shape_are_left_to_themselves(hammer: Shape) -> None:
    elsewhere = hammer.body(1.5).transformed(iparam.spatial.exp_se3([0, 0, 0, 0.0, 0.25, 0.0]))
    static = rests(elsewhere)
    found = with_shape(static, hammer)
    assert found.remarks[0].code == "shape-left-out"
    assert found.shape is None
    assert found.method == "static"
    assert found.assessment["verdict"] == "usable"
    assert np.isnan(found.inertia_about_com).all()
    assert found.mass == static.mass
    np.testing.assert_allclose(found.center_of_mass, static.center_of_mass)
    half = 1.96 * found.standard_deviation.center_of_mass
    np.testing.assert_allclose(half, static.interval_factor * static.standard_deviation.center_of_mass, rtol=1e-4)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("stated", [(2000.0, 3000.0), (25.0, 30.0)])
def test_a_density_that_cannot_be_is_named_and_left_open(hammer: Shape, stated: tuple[float, float]) -> None:
    steel = hammer.body(7850.0 * hammer.volume)
    static = rests(steel)
    right = with_shape(static, hammer.with_densities({"handle": (7700.0, 8000.0), "head": (7850.0, 7850.0)}))
    assert right.complete
    assert not CONTRADICTED & {one.code for one in right.remarks}
    found, without = with_shape(static, hammer.with_densities({"handle": stated})), with_shape(static, hammer)
    assert "densities-left-open" in [one.code for one in found.remarks]
    np.testing.assert_array_equal(found.phi, without.phi)
    np.testing.assert_array_equal(found.covariance_phi, without.covariance_phi)


def test_a_box_that_cannot_hold_the_load_is_left_out(hammer: Shape) -> None:
    static = rests(hammer.body(1.5))
    edges, middle = hammer.bounds
    held = with_shape(static, Shape.box(1.1 * edges, middle))
    assert held.complete
    assert not CONTRADICTED & {one.code for one in held.remarks}
    far = with_shape(static, Shape.box(1.1 * edges, middle + np.array([0.0, 0.3, 0.0])))
    assert not far.complete
    small = with_shape(static, Shape.box(np.full(3, 0.01), static.center_of_mass))
    assert not small.complete
