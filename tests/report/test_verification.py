"""`verify_estimate`: a true load passes, a wrong one fails, whatever the bias."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.estimation import Estimate
from iparam.report import verify_estimate


def heavier(estimate: Estimate, factor: float) -> Estimate:
    return dataclasses.replace(estimate, mass=factor * estimate.mass, phi=factor * estimate.phi)


def test_a_good_estimate_predicts_another_motion(run: Any, other_run: Any) -> None:
    found = verify_estimate(run.estimate, other_run.recording, run.robot)
    assert found.passed
    assert found.by_noise == pytest.approx(np.ones(6), abs=0.25)
    assert found.noise_source == "noise preset ur5e"
    assert found.noise == pytest.approx([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    assert (found.by_signal[:5] < 0.2).all()
    assert found.offset_fitted
    assert found.samples == 401
    assert "predicts this run" in found.sentence


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_wrong_mass_fails(run: Any, other_run: Any, factor: float) -> None:
    found = verify_estimate(heavier(run.estimate, factor), other_run.recording, run.robot)
    assert not found.passed
    assert "does not predict" in found.sentence
    assert found.as_json()["passed"] is False
    assert found.best_scale == pytest.approx(1.0 / factor, rel=0.02)


def test_the_bias_of_another_run_is_another(run: Any, other_run: Any) -> None:
    assert verify_estimate(run.estimate, run.recording, run.robot, keep_bias=True).passed
    kept = verify_estimate(run.estimate, other_run.recording, run.robot, keep_bias=True)
    fitted = verify_estimate(run.estimate, other_run.recording, run.robot)
    assert (kept.rms >= fitted.rms).all()
    assert kept.rms[:3].max() > 1.5 * fitted.rms[:3].max()
    assert not kept.offset_fitted


def test_the_noise_is_estimated_where_nobody_tells_it(run: Any, other_run: Any) -> None:
    unnamed = dataclasses.replace(other_run.recording, metadata={})
    found = verify_estimate(run.estimate, unnamed, run.robot)
    assert found.noise_source.startswith("estimated")
    assert found.noise == pytest.approx([0.5, 0.5, 0.5, 0.05, 0.05, 0.05], rel=0.25)
    given = verify_estimate(run.estimate, unnamed, run.robot, wrench_noise=np.full(6, 0.01))
    assert given.noise_source == "given"
    assert not given.passed


def test_a_signal_without_noise_needs_no_perfect_prediction(run: Any, other_run: Any) -> None:
    found = verify_estimate(run.estimate, other_run.recording, run.robot, wrench_noise=np.zeros(6))
    floor = 1e-3 * np.repeat([found.signal[:3].max(), found.signal[3:].max()], 3)
    assert found.by_noise == pytest.approx(found.rms / floor)


def test_bad_arguments(run: Any) -> None:
    with pytest.raises(InputError, match="threshold must be positive"):
        verify_estimate(run.estimate, run.recording, run.robot, threshold=0.0)
    with pytest.raises(InputError, match="no sensor bias to keep"):
        verify_estimate(dataclasses.replace(run.estimate, sensor_bias=None), run.recording, run.robot, keep_bias=True)
    with pytest.raises(InputError, match="6 standard deviations"):
        verify_estimate(run.estimate, run.recording, run.robot, wrench_noise=-np.ones(6))
