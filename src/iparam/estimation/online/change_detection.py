"""`ChangeDetector`: notices that the load is no longer the one that was estimated, and knows what it cannot notice.

For windows of every length before the present, two hypotheses about their samples are compared: the load is the one
that was known before the window, or it changed at its beginning by a body of some size. Both are Gaussian, so that the
ratio of their likelihoods (Bayes factor) has a closed form. By Ville's inequality the chance that it ever exceeds K
while nothing changes is at most 1 / K for each window's beginning. How small a change is noticed follows from the
sensor's noise and from time: a mass of d is after n samples of deviation s, s^2 / d^2 * 2 log K of them.

A change that is not noticed yet is a part of what is not known: `undetected` is its mean square by the samples of the
latest window.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.online.partial_solution import REACH
from iparam.estimation.online.sample_history import (
    BLOCK,
    KEPT,
    LEVELS,
    Belief,
    SampleHistory,
    SampleSums,
)
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.native.recursions import change_information

THRESHOLD = 15.0
"""Logarithm of the Bayes factor that means a change."""

SHORT_THRESHOLD = 30.0
"""The same of windows in motion that are shorter than the motion filter's memory: there its errors are not many, but
one, and now and then a large one."""

SUSPICION = 6.0
"""The same for a load that has just changed, and may be still on its way."""

SCALES = np.array([0.01, 0.1, 1.0])
"""Masses by which loads change, in orders of magnitude [kg]."""

SHAPE = np.array([1.0, *[REACH] * 3, *[REACH**2] * 6])
"""Deviations of the ten parameters of a change by 1 kg."""

RESPONSE = 0.2
"""Length of the window whose samples bound an undetected change: what the intervals cover from then on [s]."""

USUAL = 10
"""Windows that a level's usual scatter is reckoned to have had before the first one."""

DELAY = 8
"""Windows of a level before one of them counts as usual: a small change is noticed until then, by longer windows."""

UNTRUSTED = 4
"""Windows of a level in motion that have to be seen before a further one is compared with them, while it is not known
whether a load explains what the sensor shows: one that is turned makes every pose look like another load."""

TOO_SOON = 1.0
"""Time within which a load does not change to and fro in motion: then something is wrong with the model [s]."""


class Evidence(NamedTuple):
    """What the samples of a window say about a change at its beginning, by ``SHAPE`` times u.

    Attributes:
        values, vectors, scores: (10,) eigenvalues and (10, 10) vectors of the information on u, and its score in these.
        usual: mean square of such scores if nothing changes.
        logarithm: of the Bayes factor.
        square: expected square of the change of mass [kg^2].
        mass: its mean [kg].
    """

    values: FloatArray
    vectors: FloatArray
    scores: FloatArray
    usual: float
    logarithm: float
    square: float
    mass: float

    @property
    def likely(self) -> float:
        """Probability of the change if it were as likely as none before the samples."""
        return float(1.0 / (1.0 + np.exp(-min(self.logarithm, 50.0))))

    def mean_square(self, square: float) -> FloatArray:
        """(10, 10) expected square of the change of phi if that of the mass was ``square`` before the samples."""
        gain = square / (1.0 + square * self.values)
        mean = SHAPE * (self.vectors @ (gain * self.scores))
        covariance = self.usual * np.outer(SHAPE, SHAPE) * ((self.vectors * gain) @ self.vectors.T)
        # Where the window shows more of it than noise, it may be a load on its way, now twice as far as on the average.
        mass = mean[0] ** 2
        rising = 3.0 * max(mass - covariance[0, 0], 0.0) / max(mass, 1e-300)
        return np.asarray(covariance + (1.0 + rising) * np.outer(mean, mean))


@dataclass(frozen=True, eq=False)
class Change:
    """That the load has changed.

    Attributes:
        since: sums over the samples that are surely of the new load; None for none.
        before: what was known when the old one was surely still there.
        mass: by how much [kg].
        samples: that have passed since then.
    """

    since: SampleSums | None
    before: Belief
    mass: float
    samples: int


class ChangeDetector:
    """Compares the hypotheses, one window with each sample.

    Args:
        weights: (6,) inverse variances of the sensor's noise.
        period: time between samples [s].
        memory: samples for which an error of the motion lasts.

    Attributes:
        trusted: whether a load has been seen to explain what the sensor shows in motion.
        noise: variance of the sensor's noise, in that of the weights: 1, or more where they are wrong.
    """

    def __init__(self, weights: FloatArray, period: float, memory: int = 0) -> None:
        self._weights, self._memory = weights, memory
        self._usual = np.full(LEVELS, float(USUAL))  # sums of squares of the usual scatter
        self._windows = np.full(LEVELS, float(USUAL))
        wanted = RESPONSE / period / (KEPT * BLOCK)
        self._grain = int(np.clip(np.ceil(np.log2(max(wanted, 1.0))), 0, LEVELS - 3))
        self._soon = TOO_SOON / period / BLOCK
        self._changed_by = 0.0
        self.trusted = False
        self.noise = 1.0
        self.forget()

    def forget(self) -> None:
        """The load is another one; what is usual stays."""
        self._blocks = 0
        self._scatter: list[deque[float]] = [deque() for _ in range(LEVELS)]
        self._seen = np.zeros((2, LEVELS))  # windows in motion, and their scatter, while not trusted
        self._waiting: deque[tuple[int, SampleSums]] = deque()
        self._latest: dict[int, Evidence] = {}
        self._response: SampleSums | None = None  # of the window that bounds an undetected change, to be weighed
        self._recent: Evidence | None = None
        self._undetected: FloatArray | None = None

    @property
    def suspicious(self) -> bool:
        """Whether the latest samples speak for a change, if not loudly enough."""
        return any(found.logarithm > SUSPICION for found in self._latest.values())

    def completed(self, history: SampleHistory, levels: list[int]) -> None:
        """Look at the windows of two blocks of each of these levels, of which one was completed, in time."""
        self._blocks += 1
        for level in levels:
            window = history.latest(level, 2)
            if window is None or window.before is None or not window.telling:
                self._latest.pop(level, None)
            else:
                self._waiting.append((level, window))
        if self._grain in levels:
            window = history.latest(self._grain, KEPT)
            known = window is not None and window.before is not None and window.telling
            self._response = window if known else None
            if not known:
                self._recent = self._undetected = None

    def examine(self, history: SampleHistory) -> Change | None:
        """Look at one window that waits for it, if any does; the change, if there was one."""
        if self._response is not None:
            self._recent, _ = self._weigh(self._response, self._grain + 2)
            self._response = self._undetected = None
            return None
        if not self._waiting:
            return None
        level, window = self._waiting.popleft()
        found, scatter = self._weigh(window, level)
        if window.moving and not self.trusted:
            self._seen[:, level] += 1.0, scatter
            if self._seen[0, level] <= UNTRUSTED:
                return None
        short = window.moving > 0 and window.samples < self._memory
        if found.logarithm > (SHORT_THRESHOLD if short else THRESHOLD):
            change = self._located(history, level)
            if window.moving and self._blocks < self._soon and self._changed_by * change.mass < 0.0:
                self._learn(level, scatter)
                self.trusted = False
            self._changed_by = change.mass
            return change
        self._scatter[level].append(scatter)
        if len(self._scatter[level]) > DELAY:
            self._learn(level, self._scatter[level].popleft())
        self._latest[level] = found
        self._undetected = None
        return None

    @property
    def undetected(self) -> FloatArray:
        """(10, 10) mean square of a change of phi in the latest window that was not noticed."""
        if self._undetected is None:
            self._undetected = self._bound()
        return self._undetected

    def _bound(self) -> FloatArray:
        chosen = self._recent
        if chosen is None and self._latest:  # the load is a new one: the longest window that there is
            chosen = self._latest[max(self._latest)]
        worst = 0.0 if chosen is None else chosen.square
        for level, found in self._latest.items():
            shorter = level < self._grain + 2
            if shorter and found.logarithm > 0.0 and found.likely * found.square > worst:
                worst, chosen = found.likely * found.square, found
        return np.zeros((NUM_PARAMETERS, NUM_PARAMETERS)) if chosen is None else chosen.mean_square(worst)

    def _learn(self, level: int, scatter: float) -> None:
        self._usual[level] += scatter
        self._windows[level] += 1.0

    def _usual_scatter(self, level: int) -> float:
        seen = 0.0 if self.trusted else self._seen[1, level] / max(self._seen[0, level], 1.0)
        return float(max(self.noise, self._usual[level] / self._windows[level], seen))

    def _weigh(self, window: SampleSums, level: int) -> tuple[Evidence, float]:
        """The evidence for a change at the beginning of a window, and its scatter, 1 if nothing changed."""
        values, vectors, scores = self._information(window)
        usual = self._usual_scatter(level)
        variances = SCALES[:, None] ** 2
        gain = variances / (1.0 + variances * values)
        power = (gain * scores**2).sum(axis=1)
        logarithm = 0.5 * (power / usual - np.log1p(variances * values).sum(axis=1))
        means = gain @ (vectors[0] * scores)
        squares = usual * gain @ vectors[0] ** 2 + means**2
        top = float(logarithm.max())
        share = np.exp(logarithm - top)
        total = float(share.sum())
        found = Evidence(
            *(values, vectors, scores, usual, top + float(np.log(total / len(share))), float(share @ squares) / total),
            float(share @ means) / total,
        )
        return found, float(power[-1] / max((gain[-1] * values).sum(), 1.0))

    def _information(self, window: SampleSums) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the samples tell of a change by ``SHAPE`` times u (10,), the load before it being known as it was:
        eigenvalues (10,) and vectors (10, 10) of the information on u, and its score (10,) in these.
        """
        assert window.before is not None
        before = window.before
        information, score = change_information(
            window.products, window.errors, self._weights, before.parameters, before.root, SHAPE
        )
        values, vectors = np.linalg.eigh(information)
        return np.maximum(values, 0.0), vectors, vectors.T @ score

    def _located(self, history: SampleHistory, level: int) -> Change:
        """Where in the latest windows the change most likely was; the samples near that place are of neither load."""
        fine = max(level - 2, 0)
        best, chosen = -np.inf, None
        for grain, counts in ((fine, range(1, KEPT + 1)), (fine + 1, range(KEPT // 2 + 1, KEPT + 1))):
            for count in counts:
                window = history.latest(grain, count) if grain < LEVELS else None
                if window is None or window.before is None:
                    continue
                found, _ = self._weigh(window, level)
                if found.logarithm > best:
                    best, chosen = found.logarithm, (grain, count, window, found.mass)
        assert chosen is not None
        grain, count, window, mass = chosen
        before = window.before
        earlier = history.latest(grain, count + 1)
        if earlier is not None and earlier.before is not None:
            before = earlier.before
        since = history.latest(grain, count - 1) if count > 1 else None
        assert before is not None
        return Change(since, before, mass, window.samples)
