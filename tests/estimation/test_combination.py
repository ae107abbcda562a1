"""Loads add and subtract, in any frames, with their covariances."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.estimation import Estimate, IdentificationError, combine_estimates
from iparam.estimation.combination import phi_transform
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.spatial import exp_se3, is_physically_consistent

POSE = exp_se3([0.3, -0.7, 1.1, 0.02, 0.05, 0.13])
GRIPPER = iparam.InertialParameters.box(0.9, [0.08, 0.1, 0.12])
PART = iparam.InertialParameters.cylinder(1.3, 0.03, 0.2).transformed(exp_se3([0.4, 0.2, 0.1, 0.01, 0.0, 0.08]))


def covariance_of(body: iparam.InertialParameters, relative: float, seed: int) -> FloatArray:
    """(10, 10) a full one of about that relative size."""
    root = np.random.default_rng(seed).standard_normal((10, 10)) / np.sqrt(10.0)
    scale = relative * body.mass * np.array([1.0, *[0.05] * 3, *[0.0025] * 6])
    return np.asarray(scale[:, None] * (root @ root.T) * scale)


def result(body: iparam.InertialParameters, relative: float = 0.01, seed: int = 0, frame: str = "tool0") -> Estimate:
    found = estimate_of(
        "consistent",
        body.phi,
        covariance_of(body, relative, seed),
        condition_number=3.0,
        residual_norm=1.0,
        samples=100,
    )
    return dataclasses.replace(found, robot="ur5e", frame=frame, measurements=(f"run {seed} {body.mass}",))


def test_a_sum_is_the_joined_body_in_the_first_frame_and_a_difference_takes_it_apart() -> None:
    whole = combine_estimates(result(GRIPPER), result(PART, seed=1, frame="grasp"), pose=POSE)
    joined = GRIPPER + PART.transformed(POSE)
    np.testing.assert_allclose(whole.phi, joined.phi, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(whole.inertia_about_com, joined.inertia_about_com, rtol=1e-9, atol=1e-12)
    assert (whole.method, whole.frame, whole.robot) == ("sum", "tool0", "ur5e")
    again = result(GRIPPER, seed=3)
    part = combine_estimates(whole, again, minus=True)
    np.testing.assert_allclose(part.phi, PART.transformed(POSE).phi, rtol=1e-9, atol=1e-12)
    assert part.method == "difference"
    assert part.measurements == (*whole.measurements, *again.measurements)


def test_the_covariance_is_that_of_many_such_results() -> None:
    first, second = result(GRIPPER, seed=4), result(PART, seed=5)
    found = combine_estimates(first, second, minus=False, pose=POSE)
    rng, moved, draws = np.random.default_rng(6), phi_transform(POSE), 40_000
    phis = rng.multivariate_normal(first.phi, first.covariance_phi, draws)
    phis = phis + rng.multivariate_normal(second.phi, second.covariance_phi, draws) @ moved.T
    unit = np.sqrt(np.diag(found.covariance_phi))
    gap = (np.cov(phis.T) - found.covariance_phi) / np.outer(unit, unit)
    assert np.abs(gap).max() < 5.0 / np.sqrt(draws / 2)
    less = combine_estimates(result(GRIPPER + PART, seed=7), second, minus=True)
    assert (np.diag(less.covariance_phi) > np.diag(second.covariance_phi)).all()  # a difference is known less well


def test_what_no_body_has_becomes_the_nearest_and_what_is_far_from_any_is_refuted() -> None:
    near, far = 0, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        whole = result(GRIPPER + PART, 0.02, seed)
        phi = rng.multivariate_normal(whole.phi, whole.covariance_phi)
        noisy = dataclasses.replace(whole, phi=phi)
        part = combine_estimates(noisy, result(GRIPPER, 0.02, seed + 100), minus=True)
        assert is_physically_consistent(part.phi)
        assert part.refutation is None
        near += "nearest-body-taken" in [one.code for one in part.remarks]
        assert not any(one.lowers for one in part.remarks)
    assert near
    for offset in (0.1, 0.2):
        elsewhere = GRIPPER.transformed(exp_se3([0.0, 0.0, 0.0, offset, 0.0, 0.0]))
        part = combine_estimates(result(GRIPPER + PART), result(elsewhere, seed=1), minus=True)
        far += part.refutation is not None and "not a part of the first" in part.refutation.sentence
    assert far == 2
    with pytest.raises(IdentificationError, match="not above zero"):
        combine_estimates(result(GRIPPER), result(PART, seed=1), minus=True)


def test_frames_are_the_robots_or_said_or_refused() -> None:
    robot = iparam.load_robot("ur5e")
    first, second = result(GRIPPER), result(PART, seed=1, frame="flange")
    with pytest.raises(ContradictionError, match="'tool0' and 'flange'"):
        combine_estimates(first, second)
    found = combine_estimates(first, second, robot=robot)
    at_rest = iparam.frame_poses(robot, np.zeros(6))
    pose = np.linalg.inv(at_rest["tool0"]) @ at_rest["flange"]
    assert np.abs(pose - np.eye(4)).max() > 0.5  # the axes of ROS's flange are others
    np.testing.assert_allclose(found.phi, (GRIPPER + PART.transformed(pose)).phi, rtol=1e-9, atol=1e-12)
    nameless = combine_estimates(first, dataclasses.replace(second, frame=""))
    assert "frames-assumed-equal" in [one.code for one in nameless.remarks]


def test_one_measurement_does_not_count_twice() -> None:
    whole = combine_estimates(result(GRIPPER), result(PART, seed=1))
    with pytest.raises(ContradictionError, match="same measured signal"):
        combine_estimates(whole, result(GRIPPER), minus=True)
    with pytest.raises(ContradictionError, match="same result"):
        combine_estimates(result(GRIPPER), dataclasses.replace(result(GRIPPER), measurements=()))


def test_a_body_without_deviations_is_known_exactly_and_said_so() -> None:
    first = result(GRIPPER)
    found = combine_estimates(first, PART)
    np.testing.assert_array_equal(found.covariance_phi, first.covariance_phi)
    assert [(one.code, str(one.severity)) for one in found.remarks] == [("second-load-exact", "info")]
    with pytest.raises(ContradictionError, match="different frames"):
        combine_estimates(first, PART, frame="gripper_tcp")


def test_the_share_of_the_data_weighs_by_the_variance_that_each_brings() -> None:
    first = dataclasses.replace(result(GRIPPER, 0.01), data_share=np.full(10, 0.25))
    found = combine_estimates(first, result(PART, 0.01, seed=1))
    assert found.data_share is not None
    assert ((found.data_share > 0.25) & (found.data_share < 1.0)).all()
    assert combine_estimates(result(GRIPPER), result(PART, seed=1)).data_share is None
