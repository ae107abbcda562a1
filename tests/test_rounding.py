"""Numbers as people read them."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.rounding import fixed, significant, with_interval


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (2.00056, 0.00139, "2.0006 ± 0.0014"),
        (-0.0001, 0.3, "0.00 ± 0.30"),
        (12345.6, 230.0, "12346 ± 230"),
        (1, 0, "1.000000 ± 0.000000"),
    ],
)
def test_intervals_have_two_digits(value: float, half_width: float, shown: str) -> None:
    assert with_interval(value, half_width) == shown


def test_numbers_without_end() -> None:
    assert fixed(np.nan, 2) == significant(np.inf) == "–"
    assert significant(0.0) == "0"
    assert significant(1.5e-9) == "1.50e−9".replace("e−9", "e−09")
    assert fixed(-1e9, 1) == "−1.000e+09"
