"""A sensor zeroed with the load on it, and the bias as six more unknowns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.errors import InputError
from iparam.sensing import gravity_offset_matrix, offset_compensated_regressor, resting_regressor

PHI = np.array([2.0, 0.06, -0.04, 0.2, 0.03, 0.002, -0.001, 0.04, 0.003, 0.02])
GRAVITY = np.array([0.0, 0.0, -9.81])
ANGLES = st.lists(st.floats(-6, 6), min_size=6, max_size=6)


@settings(max_examples=50, deadline=None)
@given(q_init=ANGLES)
def test_the_papers_matrix_is_minus_the_regressor_at_rest(q_init: list[float]) -> None:
    robot = iparam.load_robot("ur5e")
    gravity_in_tool = iparam.forward_kinematics(robot, q_init)[:3, :3].T @ GRAVITY
    assert np.abs(gravity_offset_matrix(gravity_in_tool) + resting_regressor(robot, q_init)).max() < 1e-12


@settings(max_examples=50, deadline=None)
@given(q_init=ANGLES, seed=st.integers(0, 1000))
def test_a_sensor_zeroed_with_the_load_shows_the_difference(q_init: list[float], seed: int) -> None:
    robot = iparam.load_robot("ur5e")
    q, dq, ddq = np.random.default_rng(seed).normal(size=(3, 40, 6))
    bias = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.05])
    matrices = iparam.wrench_regressor(robot, q, dq, ddq)
    resting = resting_regressor(robot, q_init)
    shown = matrices @ PHI + bias
    zeroed = shown - (resting @ PHI + bias)
    compensated = offset_compensated_regressor(matrices, resting)
    assert np.abs(compensated @ PHI - zeroed).max() < 1e-10
    stacked = offset_compensated_regressor(matrices.reshape(-1, 10), resting)
    assert np.array_equal(stacked, compensated.reshape(-1, 10))
    found = np.linalg.lstsq(stacked, zeroed.ravel(), rcond=None)[0]
    assert np.abs(found - PHI).max() < 1e-9


def test_what_is_refused() -> None:
    for matrices, resting in (
        (np.zeros((7, 10)), np.zeros((6, 10))),
        (np.zeros((2, 12, 10)), np.zeros((6, 10))),
        (np.zeros((6, 10)), np.zeros((2, 6, 10))),
        (np.zeros((6, 9)), np.zeros((6, 10))),
    ):
        with pytest.raises(InputError):
            offset_compensated_regressor(matrices, resting)
    with pytest.raises(InputError, match="gravity_in_tool"):
        gravity_offset_matrix(np.zeros((2, 3)))
