from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.plotting import Panel
from iparam.viewer.curves import bounds_of, with_uprights
from iparam.viewer.view import ViewInput, view_of


def test_uprights_stand_where_something_happened_and_change_no_curve() -> None:
    time, curve = np.array([0.0, 1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0, 8.0])
    chart = Panel("test", time, curve[:, None], ("curve",))
    times, shown, events = with_uprights(chart, [1.5, 9.0])
    assert (np.diff(times) >= 0.0).all()
    assert times[~np.isnan(shown)].tolist() == time.tolist()
    assert shown[~np.isnan(shown)].tolist() == curve.tolist()
    low, high = bounds_of(chart.values)
    assert events.max() == high
    assert (np.delete(events, np.argmax(events)) < low).all()  # out of sight
    assert times[np.argmax(events)] == 1.5
    rows = with_uprights(chart, [2.5, 0.5, 1.0])  # in any order, and on a sample
    assert (np.diff(rows[0]) >= 0.0).all()
    assert rows[0][rows[-1] == high].tolist() == [0.5, 1.0, 2.5]


def test_the_range_of_an_axis_holds_all_that_is_known_and_little_more() -> None:
    assert bounds_of(np.full(3, np.nan)) == (0.0, 1.0)
    low, high = bounds_of(np.array([np.nan, 0.99, 2.5, 1.0, 2.61, np.nan]))
    assert 0.0 < low < 0.99
    assert 2.61 < high < 3.5
    low, high = bounds_of(np.full(4, 2.0))
    assert low < 2.0 < high


def test_the_curves_of_a_run_are_its_signals(
    ur5e: iparam.Robot, recording: iparam.Recording, estimate: iparam.Estimate
) -> None:
    given = ViewInput(robot=ur5e, recordings=[("run", recording)], results=[("result", estimate)])
    charts = view_of(given).complete().charts
    nearest, q, _ = charts["Motion"]
    force, residual, *_ = charts["Wrench"]
    assert nearest.values.min() > 0.0
    np.testing.assert_allclose(q.values[0], np.degrees(recording.signal("q").values[0]), atol=1e-9)
    measured = recording.signal("wrench").values[:, :3]
    assert force.values[:, :3].max() == pytest.approx(measured.max())  # thinned, but with its extremes
    assert np.abs(residual.values).max() < 0.01 * np.abs(measured).max()
