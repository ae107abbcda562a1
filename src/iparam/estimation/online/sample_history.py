"""`SampleHistory`: sums over the latest samples, over windows of every length, at a constant cost.

Samples are added up in blocks, two blocks of a length in one of twice the length, and so on; of each length the latest
few are kept. So the last second is known in hundredths of seconds and the last minutes in seconds, and what the samples
since any of those instants tell of a load can be had without the samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.problem import NUM_PARAMETERS

UNKNOWNS = NUM_PARAMETERS + 6
"""phi and the sensor's bias."""

ROUNDING = 1e-10
"""Relative variance that is nothing."""

BLOCK = 5
"""Samples of the shortest block."""

KEPT = 8
"""Blocks that are kept of each length."""

LEVELS = 15
"""Lengths: the longest blocks have 5 * 2^14 samples."""


@dataclass(frozen=True, eq=False)
class Belief:
    """[phi, bias] as known at an instant.

    Attributes:
        parameters: (16,).
        covariance: (16, 16); zero for a bias that is known.
    """

    parameters: FloatArray
    covariance: FloatArray

    @cached_property
    def root(self) -> FloatArray:
        """(16, 16) lower triangular F with F F' = covariance."""
        unit = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))
        scaled = self.covariance / np.outer(unit, unit)
        scaled[np.diag_indices(UNKNOWNS)] = 1.0 + ROUNDING
        return np.asarray(unit[:, None] * np.linalg.cholesky(scaled))


@dataclass(frozen=True, eq=False)
class SampleSums:
    """Sums over successive samples.

    Attributes:
        products: (6, 17, 17) of products of [A, bias columns, y] for each component of the wrench.
        errors: (10, 10) what errors of the motion are expected to add to those of the whitened A.
        samples: how many.
        moving: how many of them in motion.
        telling: whether a change of load could be told from each of them.
        before: what was known before the first of them; None for nothing.
    """

    products: FloatArray
    errors: FloatArray
    samples: int
    moving: int
    telling: bool
    before: Belief | None

    def __add__(self, later: SampleSums) -> SampleSums:
        return SampleSums(
            self.products + later.products,
            self.errors + later.errors,
            self.samples + later.samples,
            self.moving + later.moving,
            self.telling and later.telling,
            self.before,
        )


def sum_of(blocks: Sequence[SampleSums]) -> SampleSums:
    """Of successive blocks, the oldest first."""
    first, *others = blocks
    if not others:
        return first
    return replace(
        first,
        products=np.sum([block.products for block in blocks], axis=0),
        errors=np.sum([block.errors for block in blocks], axis=0),
        samples=sum(block.samples for block in blocks),
        moving=sum(block.moving for block in blocks),
        telling=all(block.telling for block in blocks),
    )


class SampleHistory:
    """Takes samples in, and has sums over the latest of them."""

    def __init__(self) -> None:
        self._rows = np.zeros((6, BLOCK, UNKNOWNS + 1))
        self._rows[:, :, NUM_PARAMETERS:-1] = np.eye(6)[:, None]
        self._levels: list[deque[SampleSums]] = []
        self._counts: list[int] = []
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self._levels = [deque(maxlen=KEPT) for _ in range(LEVELS)]
        self._counts = [0] * LEVELS
        self._begin(None)

    def _begin(self, before: Belief | None) -> None:
        self._filled = self._moving = 0
        self._telling, self._before = True, before
        self._errors = np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))

    def add(self, A: FloatArray, y: FloatArray, errors: FloatArray | None, telling: bool) -> None:
        """Take in one sample, A (6, 10), y (6,), and in motion the (10, 10) errors expected in its whitened A' A."""
        rows = self._rows
        rows[:, self._filled, :NUM_PARAMETERS] = A
        rows[:, self._filled, -1] = y
        if errors is not None:
            self._errors += errors
            self._moving += 1
        self._telling = self._telling and telling
        self._filled += 1

    @property
    def full(self) -> bool:
        """Whether a block is complete: `close` is due."""
        return self._filled == BLOCK

    def close(self, known: Belief | None) -> list[int]:
        """End a block; ``known`` after it. The levels of which a block was completed, 0 for the shortest."""
        products = np.swapaxes(self._rows, 1, 2) @ self._rows
        block = SampleSums(products, self._errors, BLOCK, self._moving, self._telling, self._before)
        self._begin(known)
        completed = []
        for level in range(LEVELS):
            kept = self._levels[level]
            kept.append(block)
            completed.append(level)
            self._counts[level] += 1
            if self._counts[level] % 2:
                break
            block = kept[-2] + kept[-1]
        return completed

    def latest(self, level: int, count: int) -> SampleSums | None:
        """Sums over the latest ``count`` blocks of a level; None if there are not so many."""
        kept = self._levels[level]
        return sum_of(list(kept)[-count:]) if len(kept) >= count else None
