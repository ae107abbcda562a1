"""Entries that are left out of a problem leave the solution, and the covariance, of rows that are not there."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.estimation.corrections.problem_changes import LEAST_ENTRIES, without_entries
from iparam.estimation.payload.problem import PayloadProblem


def problem(bias: bool) -> tuple[PayloadProblem, np.ndarray]:
    random = np.random.default_rng(3)
    speeds, phases = random.uniform(0.01, 0.06, (6, 10)), random.uniform(0.0, 6.0, (6, 10))
    A, phi = np.sin(np.arange(400.0)[:, None, None] * speeds + phases), random.standard_normal(10)
    y = A @ phi + bias * random.standard_normal(6) + 0.1 * random.standard_normal((400, 6))
    missing = np.repeat(random.random((20, 6)) < np.array([0.0, 0.6, 0.3, 0.0, 0.5, 0.0]), 20, axis=0)
    return PayloadProblem(A, y, np.arange(400.0), bias=bias), missing


def gram(rows: np.ndarray) -> np.ndarray:
    return rows.T @ rows


@pytest.mark.parametrize("bias", [True, False])
def test_entries_that_are_left_out_take_no_part(bias: bool) -> None:
    whole, missing = problem(bias)
    changed = without_entries(whole, missing)
    used = ~missing.ravel()
    rows, target = whole.design.reshape(2400, -1)[used], whole.y.ravel()[used]
    expected = np.linalg.lstsq(rows, target, rcond=None)[0]
    filled = changed.design.reshape(2400, -1)
    found = np.linalg.lstsq(filled, changed.y.ravel(), rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(gram(filled))[:10, :10], np.linalg.inv(gram(rows))[:10, :10], rtol=1e-9)
    left = (changed.y - changed.design @ found)[missing]
    assert 0.05 < left.std() < 0.2, "as loud as the noise of the others"


def test_a_channel_with_hardly_any_left_is_not_used() -> None:
    whole, missing = problem(bias=True)
    missing[LEAST_ENTRIES - 1 :, 5] = True
    changed = without_entries(whole, missing)
    assert not changed.A[:, 5].any()
    assert changed.missing is not None
    assert not changed.missing[:, 5].any()


def test_nothing_missing_changes_nothing() -> None:
    whole, missing = problem(bias=True)
    assert without_entries(whole, np.zeros_like(missing)) is whole
