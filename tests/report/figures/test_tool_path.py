"""The scales around the path of the tool."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.report.figures.tool_path import bounding_box_ticks


def test_the_bounding_box_holds_the_path_and_is_no_needle() -> None:
    points = np.array([[0.11, 0.2, 0.3], [0.12, 0.21, 1.25]])
    ticks = bounding_box_ticks(points)
    for axis, values in enumerate(ticks):
        assert values[0] <= points[:, axis].min() + 1e-6
        assert values[-1] >= points[:, axis].max() - 1e-6
        assert np.ptp(values) >= 0.55
        assert np.diff(values) == pytest.approx(0.2)
    assert all(np.ptp(values) >= 0.03 for values in bounding_box_ticks(np.zeros((2, 3))))
