"""Recursive estimators equal their batch forms after any number of samples, in any blocks, for any length."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iparam.errors import InputError
from iparam.estimation import (
    IdentificationError,
    IncrementalSVD,
    RecursiveInstrumentalVariables,
    RecursiveLeastSquares,
    RecursiveTotalLeastSquares,
    least_squares,
    total_least_squares,
)
from iparam.estimation.estimators.recursive import RecursiveInstrumentalState, RecursiveLeastSquaresState
from iparam.estimation.estimators.recursive_total import RecursiveTotalLeastSquaresState
from iparam.estimation.estimators.total_least_squares import solve_total

WHITEN = np.diag([2.0, 2.0, 2.0, 20.0, 20.0, 20.0])
NOISE = np.diag([0.02, 0.01, 0.01, 0.03, *[0.005] * 6, 1.0])
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def data(seed: int, count: int, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    A = random.standard_normal((count, 6, 10)) * np.array([10.0, 5, 5, 5, *[2.0] * 6])
    y = A @ np.array([2.0, 0.1, -0.2, 0.3, 0.03, 0.0, 0.001, 0.02, 0.0, 0.01]) + 0.5
    return A, y + noise * random.standard_normal(y.shape)


def stacked(A: np.ndarray, y: np.ndarray, bias: bool) -> np.ndarray:
    columns = [np.broadcast_to(WHITEN, (len(A), 6, 6))] if bias else []
    return np.concatenate([*columns, WHITEN @ A, (y @ WHITEN.T)[:, :, None]], axis=2).reshape(6 * len(A), -1)


@given(st.integers(0, 1000), st.integers(6, 120), st.integers(1, 50), st.booleans())
@quick
def test_rtls_is_batch_tls(seed: int, count: int, block: int, bias: bool) -> None:
    A, y = data(seed, count)
    state = RecursiveTotalLeastSquaresState(NOISE, WHITEN, bias)
    for start in range(0, count, block):
        part = slice(start, start + block)
        state.update(A[part], y[part]) if block > 1 else state.update(A[start], y[start])
    expected, _ = solve_total(np.linalg.qr(stacked(A, y, bias), mode="r"), NOISE, 6 * bias)
    np.testing.assert_allclose(state.parameters, expected, rtol=1e-8, atol=1e-8)


@given(st.integers(0, 1000), st.integers(6, 120), st.integers(1, 50), st.booleans())
@quick
def test_rls_is_batch_ls(seed: int, count: int, block: int, bias: bool) -> None:
    A, y = data(seed, count)
    state = RecursiveLeastSquaresState(WHITEN, bias)
    for start in range(0, count, block):
        state.update(A[start : start + block], y[start : start + block])
    rows = stacked(A, y, bias)
    expected = np.roll(np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0], -6 * bias)
    np.testing.assert_allclose(state.parameters, expected, rtol=1e-8, atol=1e-8)


def test_forgetting_is_a_weighted_fit() -> None:
    A, y = data(1, 300)
    state = RecursiveLeastSquaresState(WHITEN, True, 0.99)
    for k in range(300):
        state.update(A[k], y[k])
    rows = stacked(A, y, True) * np.repeat(np.sqrt(0.99 ** np.arange(299, -1, -1)), 6)[:, None]
    expected = np.roll(np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0], -6)
    np.testing.assert_allclose(state.parameters, expected, rtol=1e-9, atol=1e-10)


def test_recursive_instruments_are_batch_instruments() -> None:
    A, y = data(2, 200)
    Z = A + 0.1 * np.random.default_rng(5).standard_normal(A.shape)
    state = RecursiveInstrumentalState(WHITEN.T @ WHITEN, False)
    for k in range(200):
        state.update(A[k], y[k], Z[k])
    left, right = stacked(Z, y, False)[:, :-1], stacked(A, y, False)
    expected = np.linalg.solve(left.T @ right[:, :-1], left.T @ right[:, -1])
    np.testing.assert_allclose(state.parameters, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("make", [
    lambda: RecursiveLeastSquaresState(WHITEN, True),
    lambda: RecursiveTotalLeastSquaresState(NOISE, WHITEN, True),
    lambda: RecursiveInstrumentalState(WHITEN, True),
])  # fmt: skip
def test_too_few_samples_are_an_error(make) -> None:
    A, y = data(0, 2)
    state = make()
    with pytest.raises(IdentificationError):
        _ = state.parameters
    for k in range(2):
        state.update(A[k], y[k], *([A[k]] if isinstance(state, RecursiveInstrumentalState) else []))
    with pytest.raises(IdentificationError, match="2 samples"):
        _ = state.parameters


@given(st.integers(0, 100), st.integers(1, 40), st.integers(1, 17), st.integers(1, 9))
@quick
def test_incremental_svd(seed: int, count: int, columns: int, block: int) -> None:
    matrix = np.random.default_rng(seed).standard_normal((count, columns)) * np.logspace(0, -6, columns)
    svd = IncrementalSVD(columns)
    for start in range(0, count, block):
        svd.append(matrix[start : start + block])
    expected = np.zeros(columns)
    found = np.linalg.svd(matrix, compute_uv=False)
    expected[: found.size] = found
    np.testing.assert_allclose(svd.values, expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(svd.vectors.T @ svd.vectors, np.eye(columns), atol=1e-12)
    np.testing.assert_allclose((svd.vectors * svd.values**2) @ svd.vectors.T, matrix.T @ matrix, atol=1e-12)
    triangle = svd.triangle()
    np.testing.assert_allclose(triangle.T @ triangle, matrix.T @ matrix, atol=1e-12)
    assert np.abs(np.tril(triangle, -1)).max(initial=0.0) == 0.0


@pytest.mark.parametrize(("estimator", "batch"), [
    (RecursiveLeastSquares(), least_squares), (RecursiveTotalLeastSquares(), total_least_squares),
])  # fmt: skip
def test_update_returns_the_estimate_of_all_samples_so_far(estimator, batch) -> None:
    A, y = data(4, 60)
    state = estimator.start()
    for k in range(60):
        phi = state.update(A[k], y[k])
        assert phi.shape == (10,)
        if k == 0:
            assert np.isnan(phi).all()
        if k > 2:
            np.testing.assert_allclose(phi, batch(A[: k + 1], y[: k + 1]), rtol=0, atol=1e-8)
    begun = estimator.start()
    begun.update(A[:3], y[:3])  # the first samples as a block, the rest stacked
    np.testing.assert_allclose(begun.update(A[3:].reshape(-1, 10), y[3:].reshape(-1)), phi, rtol=0, atol=1e-10)


def test_update_of_instruments_returns_the_estimate() -> None:
    A, y = data(4, 60)
    state = RecursiveInstrumentalVariables().start()
    assert np.isnan(state.update(A[0], y[0], A[0])).all()
    found = state.update(A[1:], y[1:], A[1:])
    np.testing.assert_allclose(found, least_squares(A, y), rtol=0, atol=1e-10)


@pytest.mark.parametrize("estimator", [RecursiveLeastSquares(), RecursiveTotalLeastSquares()])
def test_updates_of_a_wrong_shape_are_named_and_change_nothing(estimator) -> None:
    A, y = data(4, 20)
    state = estimator.start()
    before = state.update(A, y)
    for wrong_A, wrong_y in ((A[0, :, :9], y[0]), (A[0], y[0, :5]), (A[0].T, y[0]), (A[:2], y[0])):
        with pytest.raises(InputError) as error:
            state.update(wrong_A, wrong_y)
        assert f"{wrong_A.shape} and {wrong_y.shape}" in str(error.value)
    with pytest.raises(InputError, match="finite"):
        state.update(A[0], y[0] * np.nan)
    with pytest.raises(InputError, match=r"whiten.*\(5, 5\)"):
        estimator.start(whiten=np.eye(5))
    assert state.samples == 20
    np.testing.assert_array_equal(state.solution, before)


def test_no_drift_and_constant_memory() -> None:
    """A hundred thousand samples here; the benchmark has the million."""
    A, y = data(7, 2000)
    rls, rtls = RecursiveLeastSquaresState(WHITEN, True), RecursiveTotalLeastSquaresState(NOISE, WHITEN, True)
    for k in range(2000):
        rtls.update(A[k], y[k])
    rls.update(A, y)
    exact = rtls.parameters.copy(), rls.parameters.copy()
    tracemalloc.start()
    rls.update(A, y)
    for k in range(200):
        rtls.update(A[k], y[k])
    before = tracemalloc.get_traced_memory()[0]
    for k in range(200, 2000):
        rtls.update(A[k], y[k])
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    for _ in range(48):
        rls.update(A, y)
    for _ in range(8):
        for k in range(2000):
            rtls.update(A[k], y[k])
    assert grown < 20_000
    np.testing.assert_allclose(rtls.parameters, exact[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rls.parameters, exact[1], rtol=1e-9, atol=1e-9)
