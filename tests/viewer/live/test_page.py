from __future__ import annotations

import urllib.request
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.robot.catalog import catalog_robot
from iparam.robot.kinematics import forward_kinematics
from iparam.viewer.live.page import LiveView, live_scene, load_line
from iparam.viewer.live.state import LiveEvent, LiveState
from iparam.viewer.viser_backend import ViewServer

pytest.importorskip("viser", reason="the extra viewer is not installed")

Q0 = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2])
PULL = np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.5])


def test_what_is_new_is_shown_once() -> None:
    state = LiveState(6)
    view = LiveView(catalog_robot("ur5e"), state)
    assert not view.news()
    assert view.moment(0.0).motions[0][0].tolist() == [0.0] * 6
    state.put(0.0, Q0, PULL, None)
    state.put(1.0, Q0 + 0.1, PULL, None)
    assert view.moment(0.0).motions[0][0].tolist() == (Q0 + 0.1).tolist()
    assert (view.news(), view.news()) == (True, False)


def test_curves_before_anything_is_known() -> None:
    state = LiveState(6)
    view = LiveView(catalog_robot("ur5e"), state)
    assert [len(charts) for charts in view.charts.values()] == [4]  # mass, x, y, z
    state.put(0.0, np.zeros(6), np.zeros(6), None)
    assert [chart.values.shape for chart in view.charts["Load"]] == [(1, 3)] * 4
    now = state.snapshot()
    assert now is not None
    assert "not known yet" in load_line(now)


def test_the_load_is_made_once_for_each_estimate(estimate: iparam.Estimate) -> None:
    state = LiveState(6)
    view = LiveView(catalog_robot("ur5e"), state)
    state.put(0.0, Q0, PULL, None)
    state.put_result(estimate)
    load = view.moment(0.0).load
    assert load is not None
    np.testing.assert_allclose(load.parameters.mass, estimate.mass)
    assert view.moment(0.0).load is load
    state.put_result(None)
    assert view.moment(0.0).load is None


def test_the_arm_of_the_page_stands_where_the_newest_sample_says(estimate: iparam.Estimate) -> None:
    robot, state = catalog_robot("ur5e"), LiveState(6)
    view, q = LiveView(robot, state), Q0
    server = ViewServer(live_scene(robot, "test", Q0), port=0, source=view)
    try:
        with urllib.request.urlopen(server.link) as page:
            assert page.status == 200
        for k in range(1, 40):
            q = q + 0.01
            state.put(0.1 * k, q, PULL, None)
            state.put_event(LiveEvent(0.1 * k, "grasp", "grasped"))
        state.put_result(estimate)
        server.panel.show(0.0)
        tool = server.drawing.arms[0].nodes[robot.tool_frame]
        np.testing.assert_allclose(tool.position, forward_kinematics(robot, q)[:3, 3], atol=1e-6)
        arrow = server.drawing._arrows["measured force"]
        assert arrow.name.startswith(tool.name)
        tail, tip = arrow.points[0]
        np.testing.assert_allclose(tail, 0.0, atol=1e-6)
        np.testing.assert_allclose(tip[:2], 0.0, atol=1e-6)
        assert tip[2] > 0.1
        assert server.drawing.groups["load: load"]
        state.put_result(None)
        server.panel.show(0.0)
        assert "load: load" not in server.drawing.groups
    finally:
        server.close()


def test_the_page_follows_the_arm(chromium: Any) -> None:
    """In a browser: what stands there moves with the samples, and the words with it."""
    robot, state = catalog_robot("ur5e"), LiveState(6)
    view = LiveView(robot, state)
    state.put(0.0, Q0, PULL, None)
    server = ViewServer(live_scene(robot, "test", Q0), port=0, source=view)

    def shown(text: str) -> bool:
        return text in chromium.run("document.body.innerText")

    try:
        chromium.open(server.link)
        chromium.until(lambda: shown("not known yet"))
        chromium.until(lambda: chromium.picture()[100:-50, 50:400].std() > 10.0)  # something stands there
        before = chromium.picture()
        state.put(1.0, Q0 + np.array([1.0, 0.3, -0.3, 0.0, 0.0, 0.0]), PULL, None)
        state.put_event(LiveEvent(1.0, "grasp", "grasped: 0.500 -> 2.500 kg"))
        chromium.until(lambda: shown("grasped: 0.500 -> 2.500 kg"))
        chromium.until(lambda: np.abs(chromium.picture()[100:-50, 50:400] - before[100:-50, 50:400]).mean() > 2.0)
        assert chromium.run("document.querySelectorAll('.uplot').length") >= 4
        assert not chromium.complaints
        assert not chromium.foreign_requests(server.link)
    finally:
        server.close()
