"""Every estimator on every problem: what they all must do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from iparam.errors import IparamError
from iparam.estimation import (
    METHODS,
    Estimate,
    Estimator,
    InstrumentalVariables,
    LogCholesky,
    RecursiveLeastSquares,
    TotalLeastSquares,
    make_estimator,
)
from iparam.spatial import InertialParameters

ESTIMATORS = {
    **{name: make_estimator(name) for name in METHODS},
    "iv": InstrumentalVariables(),
    "logchol, prior": LogCholesky(InertialParameters.box(2.2, (0.1, 0.1, 0.2))),
    "rls, forgetting": RecursiveLeastSquares(0.999),
}
PROBLEMS = {
    "exact": {"level": 0.0},
    "noisy wrench": {},
    "noisy wrench, known covariance": {"known": True},
    "no bias": {"bias": False},
    "noisy motion": {"angle_noise": 0.05},
    "noisy motion, instruments": {"angle_noise": 0.05, "instruments": True},
    "few samples": {"samples": 40},
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@every_estimator
@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_truth_is_within_the_interval(make_problem, load, name: str, kind: str) -> None:
    problem = make_problem(**PROBLEMS[kind])
    estimate = ESTIMATORS[name].fit(problem)
    error = np.abs(estimate.phi - load)
    prior_pull = 0.1 * np.abs(load).max() if "prior" in name and kind == "few samples" else 0.0
    assert (error <= 5.0 * estimate.standard_deviation.phi + 1e-7 + prior_pull).all()
    assert abs(estimate.mass / load[0] - 1.0) < 0.05
    assert estimate.samples == problem.num_samples
    assert (estimate.sensor_bias is None) == (not problem.bias)


@every_estimator
def test_an_estimate_is_whole_and_survives_a_file(make_problem, tmp_path, name: str) -> None:
    estimate = ESTIMATORS[name].fit(make_problem())
    assert isinstance(ESTIMATORS[name], Estimator)
    path = tmp_path / "result.json"
    estimate.save(path)
    again = Estimate.load(path)
    assert again.to_document() == estimate.to_document()
    assert set(estimate.to_document()) >= {
        "format", "method", "mass", "center_of_mass", "inertia_about_com", "inertia_about_origin", "phi",
        "standard_deviation", "covariance_phi", "physically_consistent", "condition_number", "residual_norm",
        "sensor_bias", "samples", "warnings",
    }  # fmt: skip
    np.testing.assert_allclose(estimate.parameters.phi, estimate.phi, rtol=1e-9, atol=1e-12)


@every_estimator
def test_fit_changes_nothing(make_problem, name: str) -> None:
    problem = make_problem(angle_noise=0.05, instruments=True)
    before = {field.name: np.array(getattr(problem, field.name), dtype=object) for field in dataclasses.fields(problem)}
    first, second = (ESTIMATORS[name].fit(problem) for _ in range(2))
    assert first.to_document() == second.to_document()
    for key, value in before.items():
        assert np.array_equal(np.array(getattr(problem, key), dtype=object), value)


@pytest.mark.parametrize("name", ["consistent", "logchol", "logchol, prior"])
@pytest.mark.parametrize("level", [1.0, 30.0])
def test_consistent_methods_are_consistent(make_problem, name: str, level: float) -> None:
    for seed in range(5):
        estimate = ESTIMATORS[name].fit(make_problem(level=level, seed=seed, samples=200))
        assert estimate.physically_consistent


@every_estimator
def test_a_motion_that_does_not_excite(make_problem, excitation, ur5e, name: str) -> None:
    problem = make_problem()
    still = dataclasses.replace(problem, A=np.repeat(problem.A[:1], problem.num_samples, axis=0))
    if "prior" in name:
        estimate = ESTIMATORS[name].fit(still)
        assert estimate.data_share[4:].max() < 0.3
        return
    with pytest.raises(IparamError):
        ESTIMATORS[name].fit(still)


def test_total_least_squares_of_the_textbook(make_problem) -> None:
    """With equal errors everywhere the solution is the last right singular vector of the whitened [A, y]."""
    problem = make_problem(bias=False, known=True)
    estimate = TotalLeastSquares(errors="equal").fit(problem)
    whiten = np.linalg.inv(np.linalg.cholesky(problem.wrench_covariance))
    rows = np.concatenate([whiten @ problem.A, (problem.y @ whiten.T)[:, :, None]], axis=2).reshape(-1, 11)
    vector = np.linalg.svd(rows, full_matrices=False)[2][-1]
    np.testing.assert_allclose(estimate.phi, -vector[:10] / vector[10], rtol=1e-9, atol=1e-12)
