"""What an estimate says of its own errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.arrays import block_means
from iparam.estimation import make_estimator
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.problem_from_recording import problem_from_recording
from iparam.recording import Recording

DATA = Path(__file__).resolve().parents[2] / "data"
DEVIATION = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])


def test_the_deviation_of_a_delay_is_in_that_of_the_load(ur5e: iparam.Robot, load: np.ndarray) -> None:
    """It adds by how much weighted least squares moves where the wrench is late by that."""
    true = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.evaluate(np.arange(0.0, 10.0, 0.004))
    exact = iparam.wrench_regressor(ur5e, true.q, true.dq, true.ddq) @ load
    wrench = exact + DEVIATION * np.random.default_rng(0).standard_normal(exact.shape)
    log = Recording("ur5e").with_signal("q", time=true.time, values=true.q)
    log = log.with_signal("wrench", time=true.time, values=wrench)
    motion, off = iparam.motion.MotionEstimate(true.time, true.q, true.dq, true.ddq), 2e-3
    problem = problem_from_recording(log, ur5e, motion=motion, delay=0.0)
    fit = make_estimator("wls").fit
    plain = fit(problem).standard_deviation.phi
    wide = fit(dataclasses.replace(problem, delay_deviation=off)).standard_deviation.phi
    added = np.sqrt(wide**2 - plain**2)
    late, rows = (  # means over 0.06 s, as are fitted
        block_means(values / DEVIATION.reshape(6, *[1] * (values.ndim - 2)), 15).reshape(-1, *values.shape[2:])
        for values in (off * np.gradient(exact, true.time, axis=0), problem.design)
    )
    moved = np.abs(np.linalg.lstsq(rows, late, rcond=None)[0][:10])
    # How it is shared out depends on the spectrum of the noise, which is estimated.
    assert np.linalg.norm(added / plain) == pytest.approx(np.linalg.norm(moved / plain), rel=0.1)
    assert (moved / plain).max() > 0.5


def test_the_covariance_is_that_of_the_noise_and_that_of_the_motion(
    make_problem: Callable[..., PayloadProblem],
) -> None:
    """What an accurate sensor on a badly known motion shows, and the reverse."""
    fit = make_estimator("wls").fit
    of_motion, of_noise = fit(make_problem(level=0.02, angle_noise=1.0)), fit(make_problem(level=1.0, angle_noise=0.05))
    for found, larger in ((of_motion, "motion"), (of_noise, "noise")):
        assert set(found.covariance_terms) == {"noise", "motion"}
        np.testing.assert_allclose(sum(found.covariance_terms.values()), found.covariance_phi, rtol=1e-9, atol=1e-18)
        share = np.diag(found.covariance_terms[larger]) / np.diag(found.covariance_phi)
        assert share.min() > 0.5
    assert set(fit(make_problem()).covariance_terms) == {"noise"}
