"""What is drawn of a long signal."""

from __future__ import annotations

import numpy as np

from iparam.report.sections.wrench import envelope


def test_an_envelope_covers_all_samples() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    time, low, high = envelope(np.arange(1000.0), values, 20)
    assert time.shape == low.shape == high.shape == (20,)
    assert low.min() == values.min()
    assert high.max() == values.max()
    assert [part.size for part in envelope(np.arange(3.0), values[:3], 20)] == [3, 3, 3]
