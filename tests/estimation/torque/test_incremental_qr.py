"""Incremental triangles are those of a factorisation of all rows, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.estimation.torque.incremental_qr import IncrementalQR, TimeBlocks


def up_to_signs(triangle: np.ndarray) -> np.ndarray:
    return triangle * np.where(np.diag(triangle) < 0.0, -1.0, 1.0)[:, None]


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_equals_a_batch_factorisation(chunk: int) -> None:
    rows = np.random.default_rng(0).normal(size=(1000, 12)) * np.logspace(-5, 3, 12)
    factor = IncrementalQR(12)
    for start in range(0, 1000, chunk):
        factor.add(rows[start : start + chunk])
    assert factor.num_rows == 1000
    batch = np.linalg.qr(rows, mode="r")
    found = up_to_signs(factor.triangle)
    np.testing.assert_allclose(found, up_to_signs(batch), rtol=1e-9, atol=1e-9 * np.linalg.norm(rows, axis=0).min())


def test_memory_does_not_grow() -> None:
    factor = IncrementalQR(5)
    for seed in range(200):
        factor.add(np.random.default_rng(seed).normal(size=(1000, 5)))
        assert factor.triangle.shape == (5, 5)
    assert factor.num_rows == 200_000


def test_merging_is_adding_all_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 6))
    parts = [IncrementalQR(6), IncrementalQR(6)]
    parts[0].add(rows[:50])
    parts[1].add(rows[50:])
    parts[0].merge(parts[1])
    assert parts[0].num_rows == 300
    np.testing.assert_allclose(up_to_signs(parts[0].triangle), up_to_signs(np.linalg.qr(rows, mode="r")), rtol=1e-10)


def test_wrong_rows_are_refused() -> None:
    with pytest.raises(InputError, match="at least one column"):
        IncrementalQR(0)
    with pytest.raises(InputError, match="shape"):
        IncrementalQR(3).add(np.zeros(3))
    with pytest.raises(InputError, match="finite"):
        IncrementalQR(3).add(np.full((1, 3), np.nan))


def test_time_blocks_are_bounded_equally_long_and_complete() -> None:
    blocks = TimeBlocks(most=8)
    rng = np.random.default_rng(0)
    every = []
    for count in range(100):
        rows = rng.normal(size=(10, 3))
        every.append(rows)
        blocks.add({"a": rows[:6], "b": rows[6:]} if count % 3 else {"a": rows})
        assert len(blocks.blocks) <= 8
    sizes = [sum(factor.num_rows for factor in block.values()) for block in blocks.blocks]
    assert len(set(sizes[:-1])) == 1
    assert sum(sizes) == 1000
    totals = blocks.totals()
    gram = sum(factor.triangle.T @ factor.triangle for factor in totals.values())
    np.testing.assert_allclose(gram, np.concatenate(every).T @ np.concatenate(every), rtol=1e-10)
