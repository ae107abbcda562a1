"""Recursive filters from their functions of s: the same as scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import bilinear, lfilter

from iparam.estimation.causes.recursive_filter import recursive_filter

VALUES = np.random.default_rng(0).normal(size=(200, 2, 3))


@pytest.mark.parametrize(
    ("ahead", "back"),
    [
        ([1.0], [0.03, 1.0]),
        ([-1.0, 0.0], [0.03, 1.0]),
        ([1.0], [0.0005, 0.03, 1.0]),
        ([1.0, 0.0, 0.0], [1.0, 0.4, 300.0]),
        ([0.02, 1.0], [0.5, 0.7, 3.0]),
    ],
)
def test_it_is_the_filter(ahead: list[float], back: list[float]) -> None:
    expected = lfilter(*bilinear(ahead, back, fs=125.0), VALUES, axis=0)
    np.testing.assert_allclose(recursive_filter(ahead, back, VALUES, 1.0 / 125.0), expected, atol=1e-11)
