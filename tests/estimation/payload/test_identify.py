"""Laws of the estimates: scaling, uncertainty, consistency, priors, robustness, metrics."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.estimation import (
    METHODS,
    ConsistentLeastSquares,
    Estimate,
    HuberLeastSquares,
    LeastSquares,
    LogCholesky,
    PayloadProblem,
    TotalLeastSquares,
    WeightedLeastSquares,
    accuracy,
    geodesic_distance,
    make_estimator,
    problem_identifiability,
    relative_errors,
)
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.spatial import InertialParameters, is_physically_consistent, pseudo_inertia_from_phi, transform_from

quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("method", METHODS)
def test_a_wrench_of_twice_the_size_is_twice_the_load(make_problem, method: str) -> None:
    problem = make_problem(angle_noise=0.02)
    double = dataclasses.replace(problem, y=2.0 * problem.y)
    one, two = (make_estimator(method).fit(part) for part in (problem, double))
    np.testing.assert_allclose(two.phi, 2.0 * one.phi, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(two.standard_deviation.phi, 2.0 * one.standard_deviation.phi, rtol=1e-3)


def test_coverage(make_problem, load) -> None:
    """60 seeds: a 95 % interval covers 48 or more of them with 0.9999, and all ten together 540 or more."""
    hits = np.zeros(10)
    for seed in range(60):
        estimate = ConsistentLeastSquares().fit(make_problem(seed=seed, samples=400, angle_noise=0.02))
        hits += np.abs(estimate.phi - load) <= 1.96 * estimate.standard_deviation.phi
    assert hits.min() >= 48
    assert 540 <= hits.sum() <= 595


def test_derived_standard_deviations(make_problem, load) -> None:
    truth = InertialParameters.from_phi(load)
    normal = []
    for seed in range(25):
        estimate = WeightedLeastSquares().fit(make_problem(seed=seed, samples=200))
        deviation = estimate.standard_deviation
        normal.append((estimate.center_of_mass - truth.center_of_mass) / deviation.center_of_mass)
        normal.append(np.diag((estimate.inertia_about_com - truth.inertia_about_com) / deviation.inertia_about_com))
    assert 0.7 < np.sqrt(np.mean(np.square(normal))) < 1.3


def test_errors_in_the_regressor_bias_least_squares_but_not_the_others(make_problem, load) -> None:
    problems = [make_problem(level=0.2, angle_noise=1.0, seed=seed, bias=False) for seed in range(12)]
    bias = {
        estimator: np.mean([estimator.fit(problem).phi for problem in problems], axis=0) - load
        for estimator in (LeastSquares(), WeightedLeastSquares(), TotalLeastSquares(), ConsistentLeastSquares())
    }
    plain, *better = (abs(value[0]) / load[0] for value in bias.values())
    assert plain > 0.002
    assert all(value < 0.4 * plain for value in better)


def test_correlated_errors_widen_the_interval(make_problem, load) -> None:
    problem = make_problem(level=0.2)
    random = np.random.default_rng(0)
    slow = np.repeat(random.standard_normal((101, 6)), 10, axis=0)[:1001] * np.array([0.5] * 3 + [0.05] * 3)
    independent = slow[random.permutation(len(slow))]
    spreads = [
        WeightedLeastSquares().fit(dataclasses.replace(problem, y=problem.y + error)).standard_deviation.phi
        for error in (slow, independent)
    ]
    ratio = spreads[0] / spreads[1]
    assert 1.7 < np.median(ratio) < 4.5  # ten equal samples in a row: root ten at most


@given(st.integers(0, 10_000))
@quick
def test_the_nearest_consistent_load(seed: int) -> None:
    random = np.random.default_rng(seed)
    root = random.standard_normal((10, 10))
    information = root @ root.T + 0.1 * np.eye(10)
    phi = np.array([2.0, *0.1 * random.standard_normal(3), *0.03 * random.standard_normal(6)])
    found = nearest_consistent(phi, information)
    assert is_physically_consistent(found)
    value = (found - phi) @ information @ (found - phi)
    for _ in range(20):  # no consistent load nearby is closer
        other = found + 1e-3 * random.standard_normal(10) * np.abs(found).max() * np.array([1, *[0.1] * 3, *[0.02] * 6])
        if is_physically_consistent(other):
            assert (other - phi) @ information @ (other - phi) >= value - 1e-6 * max(value, 1.0)


def test_outliers_do_not_move_the_robust_estimate(make_problem, load) -> None:
    problem = make_problem()
    y = problem.y.copy()
    y[::25] += np.random.default_rng(0).normal(0.0, 60.0, y[::25].shape)
    spoiled = dataclasses.replace(problem, y=y)
    robust, plain = HuberLeastSquares().fit(spoiled), WeightedLeastSquares().fit(spoiled)
    assert np.linalg.norm(robust.phi - load) < 0.2 * np.linalg.norm(plain.phi - load)
    assert "wrench-outliers" in [one.code for one in robust.remarks]
    with pytest.raises(InputError, match="threshold"):
        HuberLeastSquares(0.0)


def test_a_prior_fills_in_what_the_data_leave_open(make_problem, load) -> None:
    truth = InertialParameters.from_phi(load)
    good = LogCholesky(truth, 0.1).fit(make_problem(level=30.0, samples=60))
    alone = LogCholesky().fit(make_problem(level=30.0, samples=60))
    assert geodesic_distance(good.phi, load) < 0.5 * geodesic_distance(alone.phi, load)
    assert (good.standard_deviation.phi < alone.standard_deviation.phi).all()
    assert good.data_share is not None
    assert ((good.data_share >= 0.0) & (good.data_share <= 1.0)).all()
    sure = LogCholesky(truth, 10.0).fit(make_problem(level=0.01))
    assert sure.data_share is not None
    assert sure.data_share.min() > 0.99
    with pytest.raises(InputError, match="relative_standard_deviation"):
        LogCholesky(truth, -1.0)
    with pytest.raises(InputError, match="logchol"):
        make_estimator("ls", truth)


def test_an_infinite_condition_number_survives_a_file(make_problem, tmp_path: Path) -> None:
    """A prior gives a load for a motion that tells nothing."""
    estimate = dataclasses.replace(LogCholesky().fit(make_problem()), condition_number=np.inf)
    estimate.save(tmp_path / "result.json")
    assert Estimate.load(tmp_path / "result.json").condition_number == np.inf


def test_poorly_known_parameters_are_named(make_problem) -> None:
    estimate = WeightedLeastSquares().fit(make_problem(level=40.0, samples=60))
    assert "Ixy" in [one.values["parameter"] for one in estimate.remarks if one.code == "parameter-open"]


def test_identifiability_report(make_problem) -> None:
    report = problem_identifiability(make_problem())
    assert report.rank == 10
    assert report.undetermined == ()
    assert report.singular_values.shape == (10,)


def test_metrics(load) -> None:
    pose = transform_from(np.eye(3), [0.3, -0.2, 0.5])
    other = load * 1.01
    report = accuracy(other, load)
    assert report.mass_percent == pytest.approx(1.0)
    assert report.center_of_mass_distance == pytest.approx(0.0, abs=1e-15)
    assert np.isfinite(report.inertia_percent).all()
    assert np.isnan(relative_errors([1.0, 2.0], [0.0, 1.0])).tolist() == [True, False]
    assert report.geodesic_distance == pytest.approx(2.0 * np.log(1.01))
    moved = [InertialParameters.from_phi(phi).transformed(pose).phi for phi in (other, load)]
    assert geodesic_distance(*moved) == pytest.approx(report.geodesic_distance)
    assert geodesic_distance(load, -load) == np.inf
    assert np.linalg.eigvalsh(pseudo_inertia_from_phi(load))[0] > 0.0


def test_refusals(make_problem) -> None:
    problem = make_problem()
    with pytest.raises(InputError, match="must have the shapes"):
        PayloadProblem(problem.A, problem.y[1:], problem.time)
    with pytest.raises(InputError, match="increasing"):
        PayloadProblem(problem.A, problem.y, problem.time[::-1])
    with pytest.raises(InputError, match="positive definite"):
        PayloadProblem(problem.A, problem.y, problem.time, wrench_covariance=np.zeros((6, 6)))
    with pytest.raises(UnknownNameError, match="consistent, ls"):
        make_estimator("magic")


def test_a_prior_beside_an_estimator_is_not_ignored(ur5e, excitation, synthetic_recording) -> None:
    run = synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)
    box = iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.1))
    with pytest.raises(InputError, match="give an estimator its prior when it is made"):
        iparam.identify_payload(run, ur5e, LogCholesky(), prior=box)
