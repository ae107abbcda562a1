"""`ShapeEstimator` on problems: slow and fast motion, wrong shapes, wrong signs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.estimation import (
    ConsistentLeastSquares,
    IdentificationError,
    PayloadProblem,
    RegressorUncertainty,
    Shape,
    ShapeEstimator,
)
from iparam.regressor.wrench import body_regressor

MakeProblem = Callable[..., PayloadProblem]


@pytest.fixture
def body(hammer: Shape) -> iparam.InertialParameters:
    return hammer.body(1.1, densities=[0.7, 7.85])


def largest_error(found: iparam.Estimate, body: iparam.InertialParameters) -> float:
    gap = np.abs(found.inertia_about_com - body.inertia_about_com).max()
    return float(gap / np.linalg.eigvalsh(body.inertia_about_com)[-1])


def test_slow_motion_and_a_shape_tell_all_ten(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem
) -> None:
    problem = make_problem(body, speed=0.15)
    found, alone = ShapeEstimator(hammer).fit(problem), ConsistentLeastSquares().fit(problem)
    assert found.complete
    assert found.physically_consistent
    assert largest_error(found, body) < 0.1 < largest_error(alone, body)
    assert found.data_share is not None
    assert (found.data_share[:4] > 0.8).all()
    assert found.data_share[4:].min() < 0.5
    (rests,) = (one for one in found.remarks if one.code == "inertia-rests-on-shape")
    assert rests.values["share"] == pytest.approx(100.0 * (1.0 - found.data_share[4:].min()))
    assert not rests.lowers
    assert found.sensor_bias is not None
    np.testing.assert_allclose(found.sensor_bias.force, [1.0, -0.4, 0.3], atol=0.05)
    deviation = found.standard_deviation.inertia_about_com
    assert (np.abs(found.inertia_about_com - body.inertia_about_com) < 2.5 * deviation).all()


def test_fast_motion_is_the_datas_own(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem
) -> None:
    problem = make_problem(body, speed=4.0, noise=0.1)
    found, alone = ShapeEstimator(hammer).fit(problem), ConsistentLeastSquares().fit(problem)
    assert found.data_share is not None
    assert (found.data_share > 0.8).all()
    np.testing.assert_allclose(found.phi, alone.phi, atol=3.0 * alone.standard_deviation.phi.max())
    assert np.isfinite(found.condition_number)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("wrong", ["mirrored", "large", "other"])
def test_a_wrong_shape_loses_against_good_motion(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem, wrong: str
) -> None:
    maps = {"mirrored": np.diag([1.0, 1.0, -1.0, 1.0]), "large": np.diag([1.5, 1.5, 1.5, 1.0])}
    shape = hammer.deformed(maps[wrong]) if wrong in maps else Shape(hammer.parts[:1]).deformed(np.eye(4)[[2, 0, 1, 3]])
    problem = make_problem(body, speed=4.0, noise=0.1)
    found, alone = ShapeEstimator(shape).fit(problem), ConsistentLeastSquares().fit(problem)
    assert largest_error(found, body) <= 1.2 * largest_error(alone, body)
    if wrong != "large":
        assert found.shape is None
        assert found.remarks[0].code == "shape-left-out"
        assert found.assessment["verdict"] == alone.assessment["verdict"]


def test_data_that_contradict_the_shape_keep_what_they_show(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem
) -> None:
    """Nothing is stated that a wrong shape would have to be believed for."""
    shift = np.eye(4)
    shift[:3, 3] = 0.0, 0.2, 0.0
    problem = make_problem(body, speed=0.15)
    found, alone = ShapeEstimator(hammer.deformed(shift)).fit(problem), ConsistentLeastSquares().fit(problem)
    assert found.shape is None
    assert found.remarks[0].code == "shape-left-out"
    np.testing.assert_array_equal(found.phi, alone.phi)
    few = dataclasses.replace(problem, A=problem.A[::200], y=problem.y[::200], time=problem.time[::200])
    part = ShapeEstimator(hammer.deformed(shift)).fit(
        dataclasses.replace(few, A=np.concatenate([few.A[..., :4], np.zeros((len(few.A), 6, 6))], axis=2))
    )
    assert part.remarks[0].code == "shape-left-out"
    assert np.isnan(part.inertia_about_com).all()
    np.testing.assert_allclose(part.mass, body.mass, rtol=0.05)
    boxed = ShapeEstimator(Shape.box([0.05, 0.05, 0.05], [0.3, 0.0, 0.0])).fit(problem)
    assert boxed.remarks[0].code == "shape-left-out"
    np.testing.assert_array_equal(boxed.phi, alone.phi)


def test_data_that_show_no_load_are_refused(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem
) -> None:
    problem = make_problem(body, speed=0.3)
    with pytest.raises(IdentificationError, match="comes out as -"):
        ShapeEstimator(hammer).fit(dataclasses.replace(problem, y=-problem.y))
    still = dataclasses.replace(problem, A=np.broadcast_to(problem.A[:1], problem.A.shape))
    with pytest.raises(IdentificationError, match="not above zero"):
        ShapeEstimator(hammer).fit(still)
    noise = np.random.default_rng(0).standard_normal(problem.y.shape)
    with pytest.raises(IdentificationError, match="comes out as"):
        ShapeEstimator(hammer).fit(dataclasses.replace(problem, y=noise))


def test_errors_of_the_motion_do_not_pull_the_inertia_to_zero(
    hammer: Shape, body: iparam.InertialParameters, make_problem: MakeProblem
) -> None:
    """Angular accelerations that are mostly noise show no inertia, and the shape has to."""
    exact = make_problem(body, speed=0.3, noise=0.2, bias=False)
    sigma, rng = 2.0, np.random.default_rng(4)
    still = np.zeros((exact.num_samples, 3))
    noise = body_regressor(still, sigma * rng.standard_normal(still.shape), still)
    factors = body_regressor(np.zeros((3, 3)), sigma * np.eye(3), np.zeros((3, 3)))[None]
    uncertainty = RegressorUncertainty(exact.num_samples, np.array([0]), factors)
    problem = dataclasses.replace(exact, A=exact.A + noise, uncertainty=uncertainty)
    found = ShapeEstimator(hammer).fit(problem)
    deviation = found.standard_deviation.inertia_about_com
    assert (np.abs(found.inertia_about_com - body.inertia_about_com) < 3.0 * deviation).all()
    assert largest_error(found, body) < 0.15


def test_a_shape_that_was_left_out_changes_nothing(
    synthetic_recording: Callable[..., iparam.Recording], excitation: iparam.TrajectorySamples
) -> None:
    """Nor do mistakes of the mounting count because of it, of which the data by themselves show enough."""
    q, dq, ddq = excitation.q, excitation.dq, excitation.ddq
    recording = synthetic_recording(q, dq, ddq, rate=100.0)
    plain = iparam.identify_payload(recording)
    assert plain.assessment["verdict"] == "good"
    found = iparam.identify_payload(recording, method=ShapeEstimator(Shape.box([0.05, 0.05, 0.05], [0.3, 0.0, 0.0])))
    assert found.assessment["verdict"] == "good", "the data by themselves are"
    assert [one.code for one in found.remarks] == ["shape-left-out"]
    np.testing.assert_array_equal(found.phi, plain.phi)
    np.testing.assert_array_equal(found.covariance_phi, plain.covariance_phi)
