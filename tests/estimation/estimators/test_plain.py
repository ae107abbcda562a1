"""Arrays in, phi out: the textbook's least squares and total least squares, written out a second time here."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation import IdentificationError, NotIdentifiableError, least_squares, total_least_squares

PHI = np.array([2.0, 0.1, -0.2, 0.3, 0.13, 0.004, 0.001, 0.12, -0.02, 0.1])


def noisy(errors_of_A: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A motion of a UR5e with a load, and noise."""
    random = np.random.default_rng(3)
    q, dq, ddq = random.uniform(-2, 2, (3, 400, 6))
    A = iparam.wrench_regressor(iparam.load_robot("ur5e"), q, dq, ddq)
    y = A @ PHI + 0.05 * random.standard_normal((400, 6))
    return A + errors_of_A * random.standard_normal(A.shape), y


@pytest.mark.parametrize("stacked", [False, True])
def test_least_squares_solves_the_normal_equations(stacked: bool) -> None:
    A, y = noisy()
    rows, right = A.reshape(-1, 10), y.reshape(-1)
    expected = np.linalg.inv(rows.T @ rows) @ rows.T @ right
    found = least_squares(rows, right) if stacked else least_squares(A, y)
    assert found.shape == (10,)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("stacked", [False, True])
def test_total_least_squares_is_the_last_right_singular_vector(stacked: bool) -> None:
    A, y = noisy(0.05)
    rows, right = A.reshape(-1, 10), y.reshape(-1)
    _, directions = np.linalg.eigh(np.column_stack([rows, right]).T @ np.column_stack([rows, right]))
    found = total_least_squares(rows, right) if stacked else total_least_squares(A, y)
    np.testing.assert_allclose(found, -directions[:-1, 0] / directions[-1, 0], rtol=0, atol=1e-11)


def test_errors_of_A_pull_least_squares_alone_towards_zero() -> None:
    """The mean error of the mass over ten draws of the noise, which is as large in A as in y."""
    random = np.random.default_rng(0)
    A, _ = noisy()
    errors = []
    for _ in range(10):
        moved = A + 0.5 * random.standard_normal(A.shape)
        y = A @ PHI + 0.5 * random.standard_normal((400, 6))
        errors.append([least_squares(moved, y)[0] - 2.0, total_least_squares(moved, y)[0] - 2.0])
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(10)
    assert mean[0] < -4 * spread[0]
    assert abs(mean[1]) < 4 * spread[1]


@pytest.mark.parametrize("solve", [least_squares, total_least_squares])
def test_exact_data_give_the_truth(solve) -> None:
    A, _ = noisy()
    np.testing.assert_allclose(solve(A, A @ PHI), PHI, rtol=0, atol=1e-12)


@pytest.mark.parametrize("solve", [least_squares, total_least_squares])
@pytest.mark.parametrize(
    ("A", "y"), [((7, 10), (7,)), ((5, 6, 9), (5, 6)), ((5, 6, 10), (4, 6)), ((30, 10), (5, 6)), ((10, 30), (30,)),
                 ((0, 6, 10), (0, 6)), ((5, 10, 6), (5, 6))],
)  # fmt: skip
def test_wrong_shapes_are_named(solve, A: tuple[int, ...], y: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as error:
        solve(np.ones(A), np.ones(y))
    assert str(A) in str(error.value)
    assert str(y) in str(error.value)


@pytest.mark.parametrize("solve", [least_squares, total_least_squares])
def test_what_cannot_be_told_is_not_made_up(solve) -> None:
    robot, still = iparam.load_robot("ur5e"), np.zeros((50, 6))
    A = iparam.wrench_regressor(robot, np.random.default_rng(0).uniform(-2, 2, (50, 6)), still, still)
    with pytest.raises(NotIdentifiableError) as error:
        solve(A, A @ PHI)
    assert error.value.undetermined == ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def test_a_wrench_that_has_nothing_to_do_with_the_motion() -> None:
    A, y = noisy()
    rows = np.linalg.qr(A.reshape(-1, 10))[0]
    across = 1e4 * (y.reshape(-1) - rows @ (rows.T @ y.reshape(-1)))
    across -= rows @ (rows.T @ across)
    with pytest.raises(IdentificationError, match="no solution"):
        total_least_squares(A, across.reshape(-1, 6))
