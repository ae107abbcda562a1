"""Criteria: their values, smoothness and derivatives, also where eigenvalues meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from iparam.excitation.information.criteria import Criterion, criterion_value, divided_differences, smoothed

EIGENVALUES = np.array([0.3, 0.9, 1.0, 2.5, 7.0])


def test_values_by_hand() -> None:
    assert criterion_value(Criterion.KAPPA, EIGENVALUES) == pytest.approx(np.sqrt(7.0 / 0.3))
    assert criterion_value(Criterion.D, EIGENVALUES) == pytest.approx(-np.log(np.prod(EIGENVALUES)))
    assert criterion_value(Criterion.A, EIGENVALUES) == pytest.approx(np.log(np.sum(1 / EIGENVALUES)))
    assert criterion_value(Criterion.E, EIGENVALUES) == pytest.approx(-np.log(0.3))
    assert criterion_value(Criterion.KAPPA, np.array([0.0, 1.0])) == np.inf


@pytest.mark.parametrize("order", [5.0, 50.0, 5000.0])
def test_smoothed_kappa_lies_just_above_the_sharp_one(order: float) -> None:
    sharp = 2 * np.log(criterion_value(Criterion.KAPPA, EIGENVALUES))
    value = smoothed(Criterion.KAPPA, EIGENVALUES, order).value
    assert sharp <= value <= sharp + 2 * np.log(EIGENVALUES.size) / order + 1e-12


@settings(deadline=None, max_examples=50)
@given(
    st.sampled_from(list(Criterion)),
    arrays(float, 4, elements=st.floats(0.1, 10.0)),
    st.floats(1.0, 30.0),
)
def test_derivatives_against_central_differences(criterion: Criterion, eigenvalues: np.ndarray, order: float) -> None:
    result = smoothed(criterion, eigenvalues, order)
    step = 1e-5
    for i, unit in enumerate(np.eye(4)):
        ahead, behind = (smoothed(criterion, eigenvalues + sign * step * unit, order) for sign in (1, -1))
        scale = 1.0 + np.abs(result.hessian).max()
        assert result.gradient[i] == pytest.approx((ahead.value - behind.value) / (2 * step), abs=1e-6 * scale)
        np.testing.assert_allclose(
            result.hessian[i], (ahead.gradient - behind.gradient) / (2 * step), atol=1e-4 * scale * order
        )


@pytest.mark.parametrize("criterion", list(Criterion))
def test_second_derivative_of_the_matrix_function_also_at_equal_eigenvalues(criterion: Criterion) -> None:
    rng = np.random.default_rng(1)
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    change = rng.normal(size=(4, 4))
    change = change + change.T
    for eigenvalues in (np.array([0.5, 1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0, 2.0])):
        matrix = (turn * eigenvalues) @ turn.T

        def value(t: float, matrix: np.ndarray = matrix) -> float:
            return smoothed(criterion, np.linalg.eigvalsh(matrix + t * change), 6.0).value

        h = 1e-4
        numeric = (value(h) - 2 * value(0.0) + value(-h)) / h**2
        spectral = smoothed(criterion, eigenvalues, 6.0)
        turned = turn.T @ change @ turn
        exact = np.diag(turned) @ spectral.hessian @ np.diag(turned)
        exact += (divided_differences(eigenvalues, spectral) * turned**2).sum()
        assert exact == pytest.approx(numeric, rel=1e-4, abs=1e-5)
