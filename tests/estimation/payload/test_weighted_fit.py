"""Data that cannot tell the load: an error, or intervals that say so; never a confident wrong number."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from iparam.errors import IparamError
from iparam.estimation import METHODS, IdentificationError, NotIdentifiableError, identify_payload
from iparam.estimation.payload.weighted_fit import first_weights, require_identifiable

HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.3])
every_method = pytest.mark.parametrize("method", METHODS)


def honest(identify, load: np.ndarray) -> None:
    """An error, or an estimate whose five-sigma intervals hold the truth, as far as it has any: refuted without."""
    try:
        estimate = identify()
    except IparamError:
        return
    known = ~np.isnan(estimate.phi)
    assert known.any() or estimate.refutation is not None
    assert (np.abs(estimate.phi - load) <= 5.0 * estimate.standard_deviation.phi)[known].all()


@pytest.mark.thorough(keep=6)
@every_method
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_at_rest(synthetic_recording, load, method: str, noise: float) -> None:
    still = np.zeros((500, 6))
    recording = synthetic_recording(still + HOME, still, still, noise)
    if noise == 0.0:
        with pytest.raises(IdentificationError, match="the wrench is the same in all samples"):
            identify_payload(recording, "ur5e", method)
        return
    estimate = identify_payload(recording, "ur5e", method)
    assert np.isnan(estimate.phi).all()
    assert estimate.refutation is not None
    assert [cause.cause for cause in estimate.causes] == ["too-little-motion"]
    with pytest.raises(NotIdentifiableError):
        identify_payload(recording, "ur5e", method, partial=False)


@pytest.mark.thorough(keep=9)
@every_method
@pytest.mark.parametrize("joint", [0, 3, 5])
def test_one_joint_moving(synthetic_recording, load, method: str, joint: int) -> None:
    time = np.arange(1000) / 500.0
    q, dq, ddq = np.zeros((3, 1000, 6))
    w = 2.0 * np.pi
    q[:, joint], dq[:, joint], ddq[:, joint] = (
        0.5 * np.sin(w * time),
        0.5 * w * np.cos(w * time),
        -0.5 * w**2 * np.sin(w * time),
    )
    recording = synthetic_recording(q + HOME, dq, ddq)
    honest(lambda: identify_payload(recording, "ur5e", method), load)


@every_method
def test_three_samples(synthetic_recording, load, method: str, excitation) -> None:
    rows = [300, 500, 700]
    recording = synthetic_recording(excitation.q[rows], excitation.dq[rows], excitation.ddq[rows])
    with pytest.raises(IparamError):
        identify_payload(recording, "ur5e", method)


@pytest.mark.thorough(keep=6)
@every_method
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_stuck_sensor(synthetic_recording, excitation, method: str, value: float) -> None:
    recording = synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)
    time = recording.signal("wrench").time
    stuck = recording.with_signal("wrench", time=time, values=np.full((time.size, 6), value))
    with pytest.raises(IdentificationError, match="wrench is"):
        identify_payload(stuck, "ur5e", method)


def test_a_dead_channel_is_not_one_that_is_known_exactly(make_problem: Any) -> None:
    problem = make_problem()
    dead = problem.y.copy()
    dead[:, 2] = 0.0
    weights = first_weights(dataclasses.replace(problem, y=dead))
    deviations = np.sqrt(np.diag(weights.covariance))
    assert deviations[2] == deviations.max()
    assert require_identifiable(dataclasses.replace(problem, y=dead)).rank == 10
