"""The page that is served, in a real browser: it opens, the slider moves the arm, nothing is asked of anybody else."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.viewer.view import ViewInput, view_of

viser = pytest.importorskip("viser", reason="the extra viewer is not installed")

from iparam.viewer.viser_backend import ViewServer  # noqa: E402

SLIDER = "document.querySelector('[role=\"slider\"]')"


@pytest.fixture(scope="module")
def served(
    ur5e: iparam.Robot,
    plan: iparam.TrajectoryFile,
    recording: iparam.Recording,
    estimate: iparam.Estimate,
    load: iparam.InertialParameters,
) -> Iterator[ViewServer]:
    given = ViewInput(
        robot=ur5e,
        plans=[("plan.json", plan)],
        recordings=[("run.parquet", recording)],
        results=[("result.json", estimate)],
        truth=load,
        title="all of it",
    )
    server = ViewServer(view_of(given), port=0)
    server.complete()
    yield server
    server.close()


def shown_pose(node: Any) -> np.ndarray:
    w, x, y, z = node.wxyz
    from scipy.spatial.transform import Rotation

    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat([x, y, z, w]).as_matrix(), node.position
    return pose


def test_poses_that_are_sent_are_forward_kinematics(
    served: ViewServer, ur5e: iparam.Robot, plan: iparam.TrajectoryFile, recording: iparam.Recording
) -> None:
    for index in (0, 377, 1000):
        served.panel.show(index / 500.0)
        q = recording.signal("q").values[index]
        for frame, node in served.drawing.arms[0].nodes.items():
            np.testing.assert_allclose(shown_pose(node), iparam.forward_kinematics(ur5e, q, frame), atol=1e-6)
        ghost = plan.trajectory.evaluate(index / 500.0).q[0]
        for frame, node in served.drawing.arms[1].nodes.items():
            np.testing.assert_allclose(shown_pose(node), iparam.forward_kinematics(ur5e, ghost, frame), atol=1e-6)


def test_arrows_and_the_nearest_pair_are_those_that_were_computed(served: ViewServer) -> None:
    drawing = served.drawing
    served.panel.show(0.8)
    track, wrench = drawing.view.tracks[0], drawing.view.wrench
    assert wrench is not None
    assert wrench.predicted is not None
    tool = shown_pose(drawing.arms[0].nodes["tool0"])
    np.testing.assert_allclose(tool, iparam.forward_kinematics(track.robot, track.at(0.8)[0]), atol=1e-6)
    arrows = drawing.view.moment(0.8).arrows()
    assert len(arrows) == 4
    for name, ends in arrows.items():
        assert drawing._arrows[name].name.startswith(drawing.arms[0].tool)  # and moves with it
        np.testing.assert_allclose(drawing._arrows[name].points[0], ends, atol=1e-6)
    assert drawing.nearest is not None
    margins = drawing.view.margins
    assert margins is not None
    near = np.interp(0.8, margins.time, margins.distance)
    assert drawing.nearest.distance == pytest.approx(near, abs=1e-3)


def click_on_slider(chromium: Any, share: float) -> None:
    """A click at a share of its length; a page that is still being built may not hear the first."""
    box = json.loads(chromium.run(f"JSON.stringify({SLIDER}.parentElement.getBoundingClientRect())"))
    place = {"x": box["x"] + share * box["width"], "y": box["y"] + 0.5 * box["height"]}
    for kind in ("mousePressed", "mouseReleased"):
        chromium.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)


def test_the_slider_in_the_page_moves_the_arm(chromium: Any, served: ViewServer) -> None:
    served.panel.show(0.0)
    chromium.open(served.link)
    chromium.until(lambda: chromium.run(f"!!{SLIDER} && document.body.innerText.includes('tool0 at')"))
    chromium.until(lambda: chromium.picture()[100:-50, 50:400].std() > 10.0)  # something stands there
    before, words = chromium.picture(), chromium.run("document.body.innerText")
    chromium.until(lambda: click_on_slider(chromium, 0.25) or 0.3 < served.panel.time < 0.7)
    arm = served.drawing.arms[0]
    pose = iparam.forward_kinematics(arm.robot, arm.track.at(served.panel.time)[0])[:3, 3] * 1e3
    told = f"tool0 at {pose[0]:.1f}, {pose[1]:.1f}, {pose[2]:.1f} mm"
    chromium.until(lambda: told in chromium.run("document.body.innerText"))
    assert told not in words
    chromium.until(lambda: np.abs(chromium.picture()[100:-50, 50:400] - before[100:-50, 50:400]).mean() > 2.0)
    text = chromium.run("document.body.innerText")
    for part in ("nearest", "ghost (plan.json)", "no meshes", "Wrench", "Load", "an arrow of 100 mm"):
        assert part in text
    assert chromium.run("document.querySelectorAll('.uplot').length") >= 3
    assert not chromium.complaints
    assert not chromium.foreign_requests(served.link)


def test_the_motion_plays_and_ends(served: ViewServer) -> None:
    controls = served.panel._playback
    assert controls is not None
    controls.advance(0.0)  # takes what was new
    assert not controls.advance(1.0)  # it stands still
    controls._clicked(None)
    assert controls.advance(0.5)
    assert controls.time > 0.0
    assert controls._slider.value == pytest.approx(controls.time, abs=0.006)
    assert controls.advance(100.0)
    assert controls.time == served.drawing.view.duration
    assert controls._button.label == "Play"


def test_what_comes_from_another_page_is_refused(served: ViewServer) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(served.link, headers=headers))
    address = served.link.replace("http", "ws")
    protocol = [f"viser-v{viser.__version__}"]
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin="http://evil.example", subprotocols=protocol)
    connect(address, origin=served.link.rstrip("/"), subprotocols=protocol).close()


@pytest.mark.parametrize(
    "request_text",
    [
        "GET / HTTP/1.1\r\nHost: [\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: {0}\r\nOrigin: http://[\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: {0}\r\nHost: evil.example\r\n\r\n",
        "GET /{1} HTTP/1.1\r\nHost: {0}\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: {0}\r\n\r\n",
        "GET /{2} HTTP/1.1\r\nHost: {0}\r\n\r\n",
        "GET /\x80 HTTP/1.1\r\nHost: {0}\r\n\r\n",
        "GET http://[ HTTP/1.1\r\nHost: {0}\r\n\r\n",
    ],
)
def test_a_malformed_request_is_told_so(request_text: str, served: ViewServer) -> None:
    address = served.link.removeprefix("http://").rstrip("/")
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=10.0) as peer:
        peer.sendall(request_text.format(address, "x" * 400, "x" * 9000).encode("latin-1"))
        status = peer.makefile("rb").readline().split()[1:2]
    assert status in ([b"400"], [b"403"], [b"404"], []), status


def test_another_address_is_served_to_those_with_the_token_only(estimate: iparam.Estimate) -> None:
    server = ViewServer(view_of(ViewInput(results=[("result.json", estimate)])), host="0.0.0.0", port=0)
    try:
        port, _, token = server.link.rpartition(":")[2].partition("/?token=")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
        jar = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"<title>" in jar.open(f"http://127.0.0.1:{port}/?token={token}").read()
        assert b"<title>" in jar.open(f"http://127.0.0.1:{port}/").read()
    finally:
        server.close()


def test_nothing_can_be_shared_with_the_world(served: ViewServer) -> None:
    """viser opens a tunnel to a public address when a connected page asks for it."""
    assert served._server.request_share_url() is None
    assert served._server._share_tunnel is None
