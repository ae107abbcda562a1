"""Angles whose errors are not white: the load comes out as well as with exact angles, and its intervals hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter

import iparam
from iparam.estimation import identify_payload
from iparam.recording import Recording

RATE = 500.0
FINE = 20
"""Steps of the truth in a sampling period."""

CORNER = 30.0
DEVIATION = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01])

Angles = Callable[[np.ndarray], np.ndarray]
"""From the true angles at the fine rate to those of the log."""


def rounded(q: np.ndarray) -> np.ndarray:
    return np.asarray(np.round(q[::FINE] / 1e-4) * 1e-4)


def held(q: np.ndarray) -> np.ndarray:
    rows = q[::FINE]
    return np.asarray(rows[4 * (np.arange(len(rows)) // 4)])


def in_turn(q: np.ndarray) -> np.ndarray:
    rows = np.arange(len(q[::FINE]))
    return np.column_stack(
        [q[::FINE][np.maximum(6 * ((rows - joint) // 6) + joint, 0), joint] for joint in range(q.shape[1])]
    )


def filtered(q: np.ndarray) -> np.ndarray:
    a = np.exp(-2.0 * np.pi * CORNER / (RATE * FINE))
    return np.asarray(lfilter([0.5 * (1.0 - a), 0.5 * (1.0 - a)], [1.0, -a], q - q[0], axis=0) + q[0])


def together(q: np.ndarray) -> np.ndarray:
    return np.asarray(np.round(held(filtered(q)) / 1e-4) * 1e-4)


@pytest.fixture(scope="module")
def truth() -> iparam.TrajectorySamples:
    from pathlib import Path

    data = Path(__file__).resolve().parents[2] / "data"
    trajectory = iparam.load_trajectory(data / "optimized_ur5e.json").trajectory
    return trajectory.evaluate(np.arange(0.0, 10.0, 1.0 / (RATE * FINE)))


LATE = {"motion-delayed", "angles-low-passed"}
"""Codes of remarks on angles that lag behind the wrench."""

CASES: dict[str, tuple[Angles, float, set[str]]] = {
    "rounding": (rounded, 0.0, set()),
    "late stamps": (lambda q: q[::FINE], 1e-3, {"stamps-scatter"}),
    "filter": (lambda q: filtered(q)[::FINE], 0.0, LATE),
    "held": (held, 0.0, {"rows-repeat-angles"}),
    "refreshed in turn": (in_turn, 0.0, {"joints-repeat-angles"}),
    "together": (together, 1e-3, LATE),
}


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", CASES)
def test_the_load_is_as_good_as_with_exact_angles(
    name: str, truth: iparam.TrajectorySamples, ur5e: iparam.Robot, load: np.ndarray
) -> None:
    change, jitter, codes = CASES[name]
    A = iparam.wrench_regressor(ur5e, truth.q[::FINE], truth.dq[::FINE], truth.ddq[::FINE])
    rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2) / DEVIATION[:, None]
    bound = np.sqrt(np.diag(np.linalg.inv(np.einsum("nci,ncj->ij", rows, rows)))[:10])
    errors, deviations = [], []
    for seed in range(2):
        random = np.random.default_rng(seed)
        y = A @ load + DEVIATION * random.standard_normal((len(A), 6)) + 0.3
        stamps = truth.time[::FINE]
        if jitter:
            stamps = np.sort(stamps + jitter * random.standard_normal(len(A)))
        log = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
            "q", time=stamps, values=change(truth.q)
        )
        found = identify_payload(log.with_signal("wrench", time=stamps, values=y), ur5e)
        errors.append(found.phi - load)
        deviations.append(found.standard_deviation.phi)
        assert codes & {one.code for one in found.remarks} or not codes
        assert not any(one.lowers for one in found.remarks)
    assert np.sqrt(np.mean(np.square(errors) / bound**2)) < 1.5
    assert np.abs(np.array(errors) / np.array(deviations)).max() < 4.0
    assert np.mean(np.abs(np.array(errors) / np.array(deviations)) < 1.96) >= 0.8
