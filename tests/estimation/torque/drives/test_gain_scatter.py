"""Drives whose gains are off show against one another, without anybody knowing the load."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation.torque import DriveGains, TorqueModel, identify_payload_from_torque
from iparam.estimation.torque.drives.gain_scatter import (
    gain_deviations,
    gain_scatter,
    with_measured_tolerance,
    with_run_gains,
)
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.torque_fit import TorqueFit, fit_torques
from iparam.recording import Recording

OFF = np.array([0.03, -0.04, 0.02, 0.05, -0.03, 0.01])


def with_gain_errors(run: Recording, errors: np.ndarray) -> Recording:
    """The same torques made by drives whose real gains are (1 + errors) times what everybody believes."""
    current = run.signal("current")
    return run.with_signal("current", time=current.time, values=current.values / (1.0 + errors))


def fit(make_run: Any, truth: Any, robot: iparam.Robot, load: Any, errors: np.ndarray, noise: float = 1.0) -> TorqueFit:
    gains = DriveGains(truth.gains, np.zeros(6), 0.02, "Believed.")
    runs = [make_run(0, currents=True, noise=noise), make_run(1, load, currents=True, noise=noise)]
    sources = [JointDataSource(with_gain_errors(run, errors), robot, "current") for run in runs]
    return fit_torques(TorqueModel(robot, truth.friction, runs=2, loaded_runs=(1,)), sources, gains)


def test_relative_gains_are_seen(make_run: Any, truth: Any, robot: iparam.Robot, load: Any) -> None:
    found = fit(make_run, truth, robot, load, OFF)
    deviations, covariance = gain_deviations(found)
    # A drive that makes more torque an ampere shows less current: its torque seems 1 / (1 + e) of what it is.
    expected = 1.0 / (1.0 + OFF) - 1.0
    contrasts = np.eye(6)[1:] - np.eye(6)[:1]
    residual = contrasts @ (deviations - expected)
    contrast_covariance = contrasts @ covariance @ contrasts.T
    assert residual @ np.linalg.solve(contrast_covariance, residual) < 25.0, "five degrees of freedom"
    assert gain_scatter(found) == pytest.approx(float(np.std(expected, ddof=1)), rel=0.35)
    measured = with_measured_tolerance(found).gains
    assert measured.tolerance == pytest.approx(gain_scatter(found))
    assert "disagree by" in measured.source
    assert found.covariance[-10, -10] < with_measured_tolerance(found).covariance[-10, -10]


def test_drives_that_are_as_believed(make_run: Any, truth: Any, robot: iparam.Robot, load: Any) -> None:
    found = fit(make_run, truth, robot, load, np.zeros(6), noise=0.2)
    assert gain_scatter(found) < 0.005
    assert with_measured_tolerance(found) is found


def test_a_factor_that_all_share_is_not_seen(make_run: Any, truth: Any, robot: iparam.Robot, load: Any) -> None:
    found, warm = (fit(make_run, truth, robot, load, errors) for errors in (OFF, (1.0 + OFF) * 1.1 - 1.0))
    assert gain_scatter(warm) == pytest.approx(gain_scatter(found), rel=1e-4)


@pytest.mark.thorough
def test_the_interval_of_the_mass_holds(make_run: Any, truth: Any, robot: iparam.Robot, load: Any) -> None:
    inside = 0
    for seed in range(4):
        errors = 0.04 * np.random.default_rng(seed).standard_normal(6)
        bare, loaded = (
            with_gain_errors(make_run(2 * seed + k, load if k else None, currents=True), errors) for k in (0, 1)
        )
        gains = DriveGains(truth.gains, np.zeros(6), 0.02, "Believed.")
        low, high = identify_payload_from_torque(
            bare, loaded, robot, drive_gains=gains, friction=truth.friction, couplings=()
        ).mass_interval
        inside += low < 2.0 < high
    assert inside >= 3


def test_gains_that_differ_between_the_runs_are_seen_and_covered(
    make_run: Any, truth: Any, robot: iparam.Robot, load: Any
) -> None:
    """Drives 3 % weaker in the loaded run: the arm's weight makes 3 % of it a wrong load of several per cent."""
    gains = DriveGains(truth.gains, np.zeros(6), 0.02, "Believed.")
    bare, loaded = (make_run(seed, carried, currents=True, noise=0.2) for seed, carried in ((0, None), (1, load)))
    warm = with_gain_errors(loaded, np.full(6, 0.03))
    found = identify_payload_from_torque(bare, warm, robot, drive_gains=gains, friction=truth.friction, couplings=())
    wrong = abs(found.estimate.mass - 2.0)
    assert wrong > 1.96 * 0.02 * 2.0, "more than a factor that both runs share allows"
    low, high = found.mass_interval
    assert low < 2.0 < high
    assert "gains-changed-between-runs" in [one.code for one in found.estimate.remarks]


def test_runs_that_agree_show_it(make_run: Any, truth: Any, robot: iparam.Robot, load: Any) -> None:
    found = fit(make_run, truth, robot, load, OFF, noise=0.2)
    measured = with_measured_tolerance(found)
    # An error that both runs share is none between them, and gains that are exact are so in all runs.
    assert with_run_gains(measured) == (measured, ())
    exact = dataclasses.replace(found, gains=DriveGains(truth.gains, np.zeros(6), 0.0, "Exact."))
    assert with_run_gains(exact) == (exact, ())
