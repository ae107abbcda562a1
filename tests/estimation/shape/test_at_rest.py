"""Rests and a shape: all ten parameters without motion."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.estimation import Shape, identify_static, with_shape
from iparam.recording import Recording


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
    found = with_shape(rests(body, seed), dataclasses.replace(hammer, remarks=("The file is odd.",)))
    assert "The file is odd." in found.warnings
    largest = np.linalg.eigvalsh(body.inertia_about_com)[-1]
    assert found.complete
    assert found.physically_consistent
    assert np.abs(found.inertia_about_com - body.inertia_about_com).max() < 0.2 * largest
    deviation = found.standard_deviation.inertia_about_com
    assert (np.abs(found.inertia_about_com - body.inertia_about_com) < 3.0 * deviation).all()
    assert found.data_share is not None
    assert found.data_share[0] > 0.7
    assert (found.frame, found.robot) == ("tool0", "ur5e")
    assert any("rests on the shape" in text for text in found.warnings)


def test_a_centre_of_mass_outside_the_shape_contradicts_it(hammer: Shape) -> None:
    elsewhere = hammer.body(1.5).transformed(iparam.spatial.exp_se3([0, 0, 0, 0.0, 0.25, 0.0]))
    found = with_shape(rests(elsewhere), hammer)
    assert any("The data contradict the shape" in text for text in found.warnings)
    assert found.assessment["verdict"] == "usable"
    assert found.standard_deviation.inertia_about_com[0, 0] > 0.1 * elsewhere.inertia_about_com[0, 0]
