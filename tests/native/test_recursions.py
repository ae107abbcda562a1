"""Kernels of the estimators against the same formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.signal import lfilter

from iparam.native import recursions


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (7, 17), (300, 5), (777, 66)])
def test_folded_rows_add_to_the_gram_matrix(rows: int, columns: int) -> None:
    random = np.random.default_rng(rows)
    r, known = np.triu(random.normal(size=(columns, columns))), random.normal(size=(rows, columns))
    known[:, columns // 2] = 0.0  # a column without anything in it
    gram = r.T @ r + known.T @ known
    recursions.fold_rows(r, known)
    assert (np.tril(r, -1) == 0.0).all()
    np.testing.assert_allclose(r.T @ r, gram, rtol=0.0, atol=1e-13 * np.abs(gram).max())


def test_a_triangle_is_solved_if_it_determines_something() -> None:
    random = np.random.default_rng(0)
    r = np.triu(random.normal(size=(5, 5)))
    found = recursions.solve_triangle(r)
    assert found is not None
    np.testing.assert_allclose(r[:4, :4] @ found, r[:4, 4], rtol=1e-12)
    for pivot in (0.0, 1e-12, np.nan):
        r[2, 2] = pivot
        assert recursions.solve_triangle(r) is None


@pytest.mark.parametrize("columns", [1, 4, 17])
def test_appended_rows_make_the_decomposition_of_all_rows(columns: int) -> None:
    random = np.random.default_rng(columns)
    values, vectors, known = np.zeros(columns), np.eye(columns), np.zeros((0, columns))
    for count in (1, 6, 30, 6, 500):
        rows = random.normal(size=(count, columns)) * np.logspace(0.0, -6.0, columns)
        recursions.append_rows(values, vectors, rows)
        known = np.concatenate([known, rows])
    expected = np.linalg.svd(known, compute_uv=False)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-15 * expected[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(columns), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(known @ vectors, axis=0), values, rtol=1e-9)


@pytest.mark.parametrize("exact", [0, 6])
def test_total_least_squares_has_the_least_ratio(exact: int) -> None:
    random = np.random.default_rng(exact)
    size = exact + 11
    rows = random.normal(size=(200, size))
    rows[:, -1] = rows[:, :-1] @ random.normal(size=size - 1) + 0.1 * random.normal(size=200)
    root = random.normal(size=(11, 11))
    noise, r, solution = root @ root.T, np.linalg.qr(rows, mode="r"), np.empty(size - 1)
    ratio = recursions.solve_total(r, exact, noise, solution)
    block = r[exact:, exact:]
    ratios, directions = eigh(block.T @ block, noise)
    assert ratio == pytest.approx(ratios[0], rel=1e-10)
    best = directions[:, 0] / -directions[-1, 0]
    np.testing.assert_allclose(solution[exact:], best[:-1], rtol=1e-9)
    left = rows @ np.append(solution, -1.0)
    np.testing.assert_allclose(rows[:, :exact].T @ left, 0.0, atol=1e-10)
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    again, triangle = np.empty(size - 1), np.empty((size, size))
    by_svd = recursions.solve_total_of_svd(values, np.ascontiguousarray(vectors.T), exact, noise, triangle, again)
    assert by_svd == pytest.approx(ratio, rel=1e-10)
    np.testing.assert_allclose(again, solution, rtol=1e-9)
    assert recursions.solve_total(np.zeros((size, size)), exact, noise, again) < 0.0


@pytest.mark.parametrize("unknowns", [10, 16])
def test_a_weighed_innovation(unknowns: int) -> None:
    random = np.random.default_rng(unknowns)
    A, y, parameters = random.normal(size=(6, 10)), random.normal(size=6), random.normal(size=unknowns)
    whiten = np.tril(random.normal(size=(6, 6))) + 3.0 * np.eye(6)
    root = random.normal(size=(unknowns, unknowns))
    design = whiten @ np.concatenate([A, np.eye(6)], axis=1)[:, :unknowns]
    innovation = whiten @ y - design @ parameters
    for covariance in (root @ root.T, np.zeros((unknowns, unknowns))):
        score, information = np.ones((2, unknowns))
        square = recursions.add_innovation(whiten, A, y, parameters, covariance, score, information)
        weighted = np.linalg.solve(np.eye(6) + design @ covariance @ design.T, np.column_stack([innovation, design]))
        assert square == pytest.approx(innovation @ weighted[:, 0] / 6.0, rel=1e-9)
        expected = design.T @ weighted
        np.testing.assert_allclose(score - 1.0, expected[:, 0], rtol=1e-8, atol=1e-10 * np.abs(expected[:, 0]).max())
        np.testing.assert_allclose(information - 1.0, np.diag(expected[:, 1:]), rtol=1e-8)


def test_the_information_on_a_change_is_that_of_the_samples_without_what_the_state_may_be() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(6, 40, 17))
    products = np.einsum("cni,cnj->cij", rows, rows)
    weights, parameters, shape = random.uniform(0.5, 2.0, 6), random.normal(size=16), random.uniform(0.1, 1.0, 10)
    root, errors = np.tril(random.normal(size=(16, 16))), np.zeros((10, 10))
    information, score = recursions.change_information(products, errors, weights, parameters, root, shape)
    gram = np.tensordot(weights, products, 1)
    state, change = gram[:16, :16], gram[:16, :10] * shape
    gain = np.linalg.inv(np.linalg.inv(root @ root.T) + state)
    right = gram[:16, 16] - state @ parameters
    np.testing.assert_allclose(information, shape[:, None] * change[:10] - change.T @ gain @ change, rtol=1e-6)
    np.testing.assert_allclose(score, shape * right[:10] - change.T @ gain @ right, rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (500, 1), (300, 10)])
def test_a_filter_of_second_order(shape: tuple[int, int]) -> None:
    factors = np.array([[0.2, 0.3, 0.1], [1.0, -1.2, 0.5]])
    values = np.random.default_rng(0).normal(size=shape)
    found = recursions.recursive_filter(factors, values)
    np.testing.assert_allclose(found, lfilter(*factors, values, axis=0), rtol=1e-12, atol=1e-13)


def test_tension_goes_to_the_side_of_the_motion_and_stays_at_rest() -> None:
    side = np.array([[1.0], [1.0], [0.0], [-1.0]])
    decay, state = np.exp(-np.abs(side)), np.zeros((5, 1))
    recursions.presliding(side, decay, state)
    up = 1.0 - np.exp(-2.0)
    np.testing.assert_allclose(state[:, 0], [0.0, 1.0 - np.exp(-1.0), up, up, -1.0 + (up + 1.0) * np.exp(-1.0)])
