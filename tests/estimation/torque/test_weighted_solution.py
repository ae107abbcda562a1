"""How far a solution moves when a block is left out: against solving again without it."""

from __future__ import annotations

import numpy as np

from iparam.estimation.torque.weighted_solution import move_without


def test_the_move_is_that_of_solving_again_without_the_block() -> None:
    rng = np.random.default_rng(0)
    rows, right = rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 3.0], rng.normal(size=60)
    block = slice(10, 35)
    kept = np.delete(np.arange(60), np.arange(10, 35))
    solution = np.linalg.lstsq(rows, right, rcond=None)[0]
    without = np.linalg.lstsq(rows[kept], right[kept], rcond=None)[0]
    half = np.linalg.inv(np.linalg.cholesky(rows.T @ rows)).T  # half half' is the inverse of the information
    own = rows[block] @ half
    move = half @ move_without(own.T @ own, own.T @ (right[block] - rows[block] @ solution))
    np.testing.assert_allclose(solution - move, without, rtol=1e-9)
