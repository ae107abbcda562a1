"""The page for planning by eye: what a hand moves, what is planned for it, and that nothing stale is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.robot.cell import Box, WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.kinematics import forward_kinematics
from iparam.viewer.design.obstacle import place, pose_of
from iparam.viewer.design.sketch import Sketch
from iparam.viewer.design.work import PlannedMotion, Tell

pytest.importorskip("viser", reason="the extra viewer is not installed")

from iparam.viewer.viser_backend import DesignServer

BY_HAND = SimpleNamespace(client=object())
Q0 = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2])


class SmallMoves:
    """A planner that takes the first motion it thinks of."""

    def __init__(self, robot: iparam.Robot) -> None:
        self.robot, self.saved, self.waiting = robot, [], threading.Event()

    def scene(self, sketch: Sketch) -> CollisionScene:
        return iparam.robot.collision_scene(self.robot, (), sketch.cell)

    def objection(self, sketch: Sketch) -> str:
        return "" if self.scene(sketch).first_contact(sketch.q0[None]) is None else "something touches"

    def plan(self, sketch: Sketch, tell: Tell) -> PlannedMotion:
        while not self.waiting.wait(0.01):
            if not tell(0.5, "thinking"):
                raise iparam.IparamError("stopped before there was a motion")
        a = np.full((6, 1), 0.1)
        motion = iparam.WindowedFourierTrajectory(q0=sketch.q0, a=a, b=0.0 * a, base_freq=1.0, duration=1.0)
        return PlannedMotion(motion, 12.5, ())

    def save(self, sketch: Sketch, planned: PlannedMotion | None) -> tuple[str, ...]:
        self.saved.append((sketch, planned))
        return ("t.json",)


@pytest.fixture
def server(ur5e: iparam.Robot) -> Iterator[DesignServer]:
    cell = WorkCell((Box(np.array([0.6, 0.0, 0.1]), np.full(3, 0.1), name="table"),))
    found = DesignServer(Sketch(ur5e, Q0, cell), SmallMoves(ur5e), port=0)
    yield found
    found.close()


def until(condition: Any) -> None:
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come to this")


def tool_of(server: DesignServer) -> np.ndarray:
    return pose_of(server.drawing.arms[0].nodes["tool0"])


def test_a_ring_that_is_dragged_moves_the_arm_and_the_slider(server: DesignServer, ur5e: iparam.Robot) -> None:
    panel = server.panel
    wanted = Q0 + np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0])
    place(panel._handles[1], Sketch(ur5e, wanted, WorkCell()).joint_pose(1))
    panel._dragged(1)(BY_HAND)
    np.testing.assert_allclose(panel.sketch.q0, wanted, atol=1e-9)
    assert panel._sliders[1].value == pytest.approx(np.degrees(wanted[1]))
    np.testing.assert_allclose(tool_of(server), forward_kinematics(ur5e, wanted), atol=1e-6)
    np.testing.assert_allclose(pose_of(panel._handles[5])[:3, 3], tool_of(server)[:3, 3], atol=1e-6)
    panel._sliders[0].value = 90.0
    panel._slid(0)(BY_HAND)
    assert panel.sketch.q0[0] == pytest.approx(np.pi / 2)


def test_boxes_and_walls_come_go_and_are_moved(server: DesignServer) -> None:
    panel = server.panel
    panel.add(panel._new_box())
    panel.add(panel._new_wall())
    assert [thing.name for thing in panel.sketch.obstacles] == ["table", "box", "wall"]
    table, wall = panel._obstacles["table"], panel._obstacles["wall"]
    pose = np.eye(4)
    pose[:3, 3] = 0.0, 0.7, 0.2
    place(table._handle, pose)
    table._dragged(BY_HAND)
    assert panel.sketch.cell.boxes[0].center.tolist() == [0.0, 0.7, 0.2]
    assert table._place.value == (0.0, 0.7, 0.2)
    table._size.value = (0.4, 0.0, 0.2)  # as it is while a number is typed
    table._typed(BY_HAND)
    assert panel.sketch.cell.boxes[0].half_extents.tolist() == [0.1, 0.1, 0.1]
    table._size.value = (0.4, 0.3, 0.2)
    table._typed(BY_HAND)
    assert panel.sketch.cell.boxes[0].half_extents.tolist() == [0.2, 0.15, 0.1]
    wall._turn.value = (0.0, 2.0, 0.0)
    wall._typed(BY_HAND)
    assert panel.sketch.cell.planes[0].normal.tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(pose_of(wall._handle)[:3, 2], [0.0, 1.0, 0.0], atol=1e-9)
    panel.remove("box")
    assert [thing.name for thing in panel.sketch.obstacles] == ["table", "wall"]


def test_what_is_in_the_way_is_said(server: DesignServer, ur5e: iparam.Robot) -> None:
    panel = server.panel
    until(lambda: server.drawing.nearest is not None)
    assert "will not do" not in panel._reading.content
    tool = forward_kinematics(ur5e, Q0)[:3, 3]
    panel.moved(Box(tool, np.full(3, 0.05), name="table"))
    until(lambda: "This start will not do" in panel._reading.content)
    assert "table" in panel._reading.content


def test_a_plan_is_played_saved_and_dropped_when_the_sketch_changes(server: DesignServer, ur5e: iparam.Robot) -> None:
    panel, work = server.panel, server.panel._work
    panel._plan_clicked(BY_HAND)
    until(lambda: panel.message == "thinking")
    assert panel._plan_button.label == "Stop"
    work.waiting.set()
    until(lambda: panel.planned is not None)
    assert "12.500" in panel.message
    panel._play(0.3, True)
    np.testing.assert_allclose(
        tool_of(server), forward_kinematics(ur5e, panel.planned.motion.evaluate(0.3).q[0]), atol=1e-6
    )
    panel._save_clicked(BY_HAND)
    assert work.saved == [(panel.sketch, panel.planned)]
    panel.change(panel.sketch.with_joint(0, 1.0))
    assert panel.planned is None
    assert "plan again" in panel.message
    np.testing.assert_allclose(tool_of(server), forward_kinematics(ur5e, panel.sketch.q0), atol=1e-6)


def test_a_search_can_be_stopped_and_a_motion_for_another_sketch_is_not_taken(server: DesignServer) -> None:
    panel = server.panel
    panel._plan_clicked(BY_HAND)
    until(lambda: panel.message == "thinking")
    panel._plan_clicked(BY_HAND)
    until(lambda: "stopped before" in panel.message)
    assert panel.planned is None
    panel._plan_clicked(BY_HAND)
    until(lambda: panel.message == "thinking")
    panel.change(panel.sketch.with_joint(0, 1.0))
    panel._work.waiting.set()
    until(lambda: "changed while this was planned" in panel.message)
    assert panel.planned is None


def test_in_a_browser(chromium: Any, server: DesignServer) -> None:
    """Tabs and buttons work with a real mouse; the canvas is not empty; nothing is asked of anybody else."""
    panel = server.panel
    panel._work.waiting.set()
    chromium.open(server.link)
    chromium.until(lambda: "nearest" in (chromium.run("document.body?.innerText") or ""))
    chromium.until(lambda: chromium.picture()[100:-50, 50:400].std() > 10.0)
    chromium.press("Cell", "[role=tab]")
    chromium.press("Add a box", "button")
    chromium.until(lambda: len(panel.sketch.cell.boxes) == 2)
    chromium.press("Plan", "[role=tab]")
    chromium.press("Plan", "button")
    chromium.until(lambda: panel.planned is not None)
    chromium.until(lambda: "12.500" in chromium.run("document.body.innerText"))
    chromium.press("Save", "button")
    chromium.until(lambda: panel._work.saved)
    assert not chromium.complaints
    assert not chromium.foreign_requests(server.link.partition("?")[0])
