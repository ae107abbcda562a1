from __future__ import annotations

import urllib.request
from typing import Any

import numpy as np
import pytest

from iparam.robot.catalog import catalog_robot
from iparam.robot.kinematics import forward_kinematics
from iparam.viewer.live.page import bounds_of, chart_rows, live_view, load_line, with_uprights
from iparam.viewer.live.state import LiveEvent, LiveState
from iparam.viewer.viser_backend import LiveServer

pytest.importorskip("viser", reason="the extra viewer is not installed")


def test_uprights_stand_where_something_happened_and_change_no_curve() -> None:
    time, curve = np.array([0.0, 1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0, 8.0])
    times, shown, events = with_uprights(time, (curve,), [1.5, 9.0])
    assert (np.diff(times) >= 0.0).all()
    assert times[~np.isnan(shown)].tolist() == time.tolist()
    assert shown[~np.isnan(shown)].tolist() == curve.tolist()
    low, high = bounds_of([curve])
    assert events.max() == high
    assert (np.delete(events, np.argmax(events)) < low).all()  # out of sight
    assert times[np.argmax(events)] == 1.5


def test_the_range_of_an_axis_holds_all_that_is_known_and_little_more() -> None:
    assert bounds_of([np.full(3, np.nan)]) == (0.0, 1.0)
    low, high = bounds_of([np.array([np.nan, 0.99, 2.5]), np.array([1.0, 2.61, np.nan])])
    assert 0.0 < low < 0.99
    assert 2.61 < high < 3.5
    low, high = bounds_of([np.full(4, 2.0)])
    assert low < 2.0 < high


def test_curves_before_anything_is_known() -> None:
    state = LiveState(6)
    state.put(0.0, np.zeros(6), np.zeros(6), None)
    now = state.snapshot()
    assert now is not None
    charts = chart_rows(now)
    assert [len(rows) for rows in charts] == [5, 5, 5, 5]  # mass, x, y, z
    assert len({len(row) for rows in charts for row in rows}) == 1
    assert "not known yet" in load_line(now)


def test_the_arm_of_the_page_stands_where_the_newest_sample_says() -> None:
    robot, state = catalog_robot("ur5e"), LiveState(6)
    view = live_view(robot, state, "test")
    q = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2])
    state.put(0.0, q, np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.5]), None)
    server = LiveServer(view, state)
    try:
        with urllib.request.urlopen(server.link) as page:
            assert page.status == 200
        for k in range(1, 40):
            q = q + 0.01
            state.put(0.1 * k, q, np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.5]), None)
            state.put_event(LiveEvent(0.1 * k, "grasp", "grasped"))
        now = state.snapshot()
        assert now is not None
        server.panel.show(now, 1e9)
        tool = server.drawing.arms[0].nodes[robot.tool_frame]
        np.testing.assert_allclose(tool.position, forward_kinematics(robot, q)[:3, 3], atol=1e-6)
        arrow = server.drawing._arrows["measured force"]
        assert arrow.name.startswith(tool.name)
        tail, tip = arrow.points[0]
        np.testing.assert_allclose(tail, 0.0, atol=1e-6)
        np.testing.assert_allclose(tip[:2], 0.0, atol=1e-6)
        assert tip[2] > 0.1
    finally:
        server.close()


def test_the_page_follows_the_arm(chromium: Any) -> None:
    """In a browser: what stands there moves with the samples, and the words with it."""
    robot, state = catalog_robot("ur5e"), LiveState(6)
    q, pull = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2]), np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.5])
    state.put(0.0, q, pull, None)
    server = LiveServer(live_view(robot, state, "test"), state)

    def shown(text: str) -> bool:
        return text in chromium.run("document.body.innerText")

    try:
        chromium.open(server.link)
        chromium.until(lambda: shown("not known yet"))
        chromium.until(lambda: chromium.picture()[100:-50, 50:400].std() > 10.0)  # something stands there
        before = chromium.picture()
        state.put(1.0, q + np.array([1.0, 0.3, -0.3, 0.0, 0.0, 0.0]), pull, None)
        state.put_event(LiveEvent(1.0, "grasp", "grasped: 0.500 -> 2.500 kg"))
        chromium.until(lambda: shown("grasped: 0.500 -> 2.500 kg"))
        chromium.until(lambda: np.abs(chromium.picture()[100:-50, 50:400] - before[100:-50, 50:400]).mean() > 2.0)
        assert chromium.run("document.querySelectorAll('.uplot').length") >= 4
        assert not chromium.complaints
        assert not chromium.foreign_requests(server.link)
    finally:
        server.close()
