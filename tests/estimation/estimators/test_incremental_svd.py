"""Columns that come in blocks have the singular vectors and values of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iparam.errors import InputError
from iparam.estimation import incremental_svd_update, total_least_squares

PHI = np.array([2.0, 0.1, -0.2, 0.3, 0.03, 0.0, 0.001, 0.02, 0.0, 0.01])


@given(st.integers(0, 100), st.integers(1, 40), st.integers(1, 12), st.integers(1, 9), st.booleans())
@settings(max_examples=50, deadline=None)
def test_blocks_of_columns(seed: int, columns: int, rows: int, block: int, matrix: bool) -> None:
    data = np.random.default_rng(seed).standard_normal((rows, columns)) * np.logspace(0, -6, rows)[:, None]
    U, S = np.zeros((rows, 0)), np.zeros((0, 0) if matrix else 0)
    for start in range(0, columns, block):
        part = data[:, start : start + block]
        U, S = incremental_svd_update(U, S, part[:, 0] if part.shape[1] == 1 else part)
    values = np.diag(S) if matrix else S
    expected = np.linalg.svd(data, compute_uv=False)
    np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(U.T @ U, np.eye(values.size), atol=1e-12)
    np.testing.assert_allclose((U * values**2) @ U.T, data @ data.T, atol=1e-12)


def test_dependent_columns_add_no_vector() -> None:
    random = np.random.default_rng(0)
    data = random.standard_normal((8, 3))
    U, S = incremental_svd_update(np.zeros((8, 0)), np.zeros(0), data)
    U, S = incremental_svd_update(U, S, data @ random.standard_normal((3, 20)))
    assert U.shape == (8, 3)
    assert S.shape == (3,)
    assert incremental_svd_update(U, S, np.zeros((8, 2)))[0].shape == (8, 3)


def test_no_more_vectors_than_rows_and_no_drift() -> None:
    """Also where nothing is dropped: ten directions in eleven rows, and 2000 updates."""
    random = np.random.default_rng(0)
    spanned = random.standard_normal((11, 10))
    U, S, total = np.zeros((11, 0)), np.zeros(0), np.zeros((11, 11))
    for _ in range(2000):
        data = spanned @ random.standard_normal((10, 6))
        U, S = incremental_svd_update(U, S, data, eps=0.0)
        total += data @ data.T
        assert U.shape[1] <= 11
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-14)
    np.testing.assert_allclose((U * S**2) @ U.T, total, rtol=0, atol=1e-10 * total.max())


def test_the_last_vector_of_samples_is_total_least_squares() -> None:
    """As Kubus et al. (2008) do it: two samples first, then one after the other."""
    random = np.random.default_rng(1)
    A = random.standard_normal((300, 6, 10))
    y = A @ PHI + 0.01 * random.standard_normal((300, 6))
    A = A + 0.01 * random.standard_normal(A.shape)
    samples = np.concatenate([A, y[:, :, None]], axis=2)
    U, S, _ = np.linalg.svd(samples[:2].reshape(-1, 11).T, full_matrices=False)
    for sample in samples[2:]:
        U, S = incremental_svd_update(U, S, sample.T)
    np.testing.assert_allclose(-U[:-1, -1] / U[-1, -1], total_least_squares(A, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("U", "S", "new"), [
    ((11, 3), (2,), (11, 6)), ((11, 3), (3, 2), (11, 6)), ((11, 3), (3,), (6, 11)), ((11,), (11,), (11, 6)),
    ((11, 3), (3,), (10,)),
])  # fmt: skip
def test_wrong_shapes_are_named(U: tuple[int, ...], S: tuple[int, ...], new: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as error:
        incremental_svd_update(np.ones(U), np.ones(S), np.ones(new))
    assert all(str(shape) in str(error.value) for shape in (U, S, new))
