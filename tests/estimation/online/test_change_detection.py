"""Whether the load has changed: the hypotheses against their densities, and what must not look like a change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from iparam.estimation.online.change_detection import SCALES, SHAPE, THRESHOLD, ChangeDetector
from iparam.estimation.online.sample_history import BLOCK, Belief, SampleHistory

WEIGHTS = np.array([4.0] * 3 + [400.0] * 3)


def belief(random: np.random.Generator) -> Belief:
    root = 0.1 * random.normal(size=(16, 16))
    return Belief(random.normal(size=16), root @ root.T)


def test_the_bayes_factor_is_the_ratio_of_two_densities() -> None:
    random = np.random.default_rng(0)
    history, known = SampleHistory(), belief(random)
    A, y = random.normal(size=(3 * BLOCK, 6, 10)), random.normal(size=(3 * BLOCK, 6))
    for k in range(3 * BLOCK):
        history.add(A[k], y[k], None, True)
        if history.full:
            history.close(known)
    window = history.latest(0, 2)
    assert window is not None
    found, _ = ChangeDetector(WEIGHTS, 0.002)._weigh(window, 0)
    design = np.concatenate([A[BLOCK:], np.broadcast_to(np.eye(6), (2 * BLOCK, 6, 6))], axis=2).reshape(-1, 16)
    noise = np.diag(np.tile(1.0 / WEIGHTS, 2 * BLOCK))
    density = []
    for scale in (0.0, *SCALES):
        covariance = known.covariance.copy()
        covariance[:10, :10] += np.diag((scale * SHAPE) ** 2)
        at = multivariate_normal(design @ known.parameters, noise + design @ covariance @ design.T)
        density.append(at.logpdf(y[BLOCK:].ravel()))
    expected = np.logaddexp.reduce(np.array(density[1:])) - np.log(len(SCALES)) - density[0]
    assert found.logarithm == pytest.approx(expected, rel=1e-6, abs=1e-5)


def test_a_history_has_sums_over_windows_of_every_length() -> None:
    random = np.random.default_rng(1)
    history, rows = SampleHistory(), []
    for _ in range(16 * BLOCK):
        A, y = random.normal(size=(6, 10)), random.normal(size=6)
        rows.append(np.concatenate([A, np.eye(6), y[:, None]], axis=1))
        history.add(A, y, np.eye(10), True)
        if history.full:
            history.close(None)
    for level, count in ((0, 1), (0, 8), (2, 2), (3, 1), (4, 1)):
        window = history.latest(level, count)
        assert window is not None
        assert window.samples == window.moving == BLOCK * 2**level * count
        latest = np.array(rows[-window.samples :])
        np.testing.assert_allclose(window.products, np.einsum("nci,ncj->cij", latest, latest), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(window.errors, window.samples * np.eye(10))
    assert history.latest(3, 3) is None


@pytest.mark.parametrize("step", [0.0, 0.02, 0.5])
def test_a_small_change_at_rest_is_noticed_in_the_time_that_it_takes_and_covered_until_then(step: float) -> None:
    """Against one that is known exactly: 20 g take about a second with 0.5 N of noise, and no change none."""
    random, weight = np.random.default_rng(2), 9.81
    A = np.zeros((6, 10))
    A[2, 0] = weight
    A[3, 2], A[4, 1] = weight, -weight
    known = Belief(np.array([1.0, *[0.0] * 15]), 1e-8 * np.eye(16))
    history, detector = SampleHistory(), ChangeDetector(WEIGHTS, 0.002)
    uncovered, noticed = 0, 0
    for k in range(3000):
        y = A @ known.parameters[:10] + random.standard_normal(6) / np.sqrt(WEIGHTS)
        y[2] += step * weight
        history.add(A, y, None, True)
        if history.full:
            detector.completed(history, history.close(known))
        change = detector.examine(history)
        if change is not None:
            noticed = k + 1
            assert change.mass == pytest.approx(step, abs=4.0 * 0.5 / weight / np.sqrt(change.samples))
            break
        uncovered += step > 1.96 * np.sqrt(detector.undetected[0, 0])
    if not step:
        assert not noticed
        return
    fewest = 2.0 * THRESHOLD * 0.25 / (weight * step) ** 2
    # Windows are as long as two blocks, each twice the one below, and the size of the change has to be found, too.
    assert fewest / 2.0 < noticed < max(6.0 * fewest, 4 * BLOCK)
    assert uncovered < 125  # a quarter of a second
