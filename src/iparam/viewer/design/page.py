"""`DesignPanel`: the page for planning by eye. It takes viser's server and imports nothing of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.printable import plain_markdown
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.kinematics import forward_kinematics
from iparam.rounding import number
from iparam.viewer.design.obstacle import Obstacle, place, pose_of
from iparam.viewer.design.sketch import Sketch, joint_range
from iparam.viewer.design.work import DesignWork, PlannedMotion
from iparam.viewer.drawing import PATH, Drawing, add_ground
from iparam.viewer.playback import Playback
from iparam.viewer.track import Track
from iparam.viewer.view import View, ViewInput, pose_text

HANDLE = 0.2
"""Size of what a joint is dragged by, in reaches of the arm."""


@dataclass
class ShownPose:
    """Where the arm of the page stands: positions and velocities (n,) of its joints."""

    q: FloatArray
    dq: FloatArray


def design_view(
    sketch: Sketch,
    payload: tuple[PayloadBox, ...],
    clearance: float,
    *,
    title: str,
    gravity: FloatArray | None = None,
    capsules: bool = False,
) -> tuple[View, ShownPose]:
    """A view of the arm alone, whose boxes and walls the panel draws, and the pose that it stands in."""
    robot = sketch.robot
    shown = ShownPose(sketch.q0, np.zeros(robot.num_joints))

    def motion(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.tile(shown.q, (len(times), 1)), np.tile(shown.dq, (len(times), 1))

    view = View(
        title=title,
        robot=robot,
        tracks=(Track(title, robot, 0.0, motion),),
        loads=(),
        payload=payload,
        cell=WorkCell(ground_height=None),
        clearance=clearance,
        wrench=None,
        capsules=capsules,
        notes=(),
        given=ViewInput(robot=robot, title=title),
        gravity=np.array(STANDARD_GRAVITY) if gravity is None else gravity,
    )
    return view, shown


class DesignPanel:
    """The controls of one page.

    Attributes:
        sketch: as it is now.
        planned: for it, or None.
        message: the last that was said of planning and saving.
    """

    def __init__(self, server: Any, drawing: Drawing, sketch: Sketch, shown: ShownPose, work: DesignWork) -> None:
        self._server, self._gui, self._scene, self.drawing = server, server.gui, server.scene, drawing
        self.sketch, self.message = sketch, ""
        self.planned: PlannedMotion | None = None
        self._shown, self._work = shown, work
        self._reach = max(drawing.extent[1], 0.5 * sketch.robot.reach)
        self._lock = threading.RLock()
        self._changed, self._closed, self._end_plan = threading.Event(), threading.Event(), threading.Event()
        self._planning: threading.Thread | None = None
        self._playback: Playback | None = None
        self._path: Any = None
        self._obstacles: dict[str, Obstacle] = {}
        self._count = 0
        self._objection = ""
        self._reading = self._gui.add_markdown("")
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Start pose"):
            self._add_joints()
        self._cell_tab = tabs.add_tab("Cell")
        with self._cell_tab:
            self._add_cell()
        with tabs.add_tab("Plan"):
            self._add_plan()
        self._show_sketch()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        self._changed.set()

    def close(self) -> None:
        """End all that runs."""
        self._end_plan.set()
        self._closed.set()
        self._changed.set()
        self._watcher.join(2.0)
        if self._planning is not None:
            self._planning.join(10.0)
        if self._playback is not None:
            self._playback.close()

    def change(self, sketch: Sketch) -> None:
        """Take another sketch; a motion that was planned for the last one is no more."""
        with self._lock, self._server.atomic():
            self.sketch = sketch
            self._forget_plan()
            self._show_sketch()
            self._changed.set()

    # The start pose

    def _add_joints(self) -> None:
        robot = self.sketch.robot
        self._gui.add_markdown("Drag the rings at the joints, or the sliders.")
        low, high = joint_range(robot)
        self._units = np.where(robot.chain.prismatic, 1.0, np.pi / 180.0)
        self._sliders, self._handles = [], []
        for joint, name in enumerate(robot.joint_names):
            prismatic = bool(robot.chain.prismatic[joint])
            unit = float(self._units[joint])
            slider = self._gui.add_slider(
                f"{name} [{'m' if prismatic else 'deg'}]",
                min=float(low[joint]) / unit,
                max=float(high[joint]) / unit,
                step=0.001 if prismatic else 0.1,
                initial_value=float(self.sketch.q0[joint]) / unit,
            )
            slider.on_update(self._slid(joint))
            # A ring about z needs the other two axes; an arrow along z only that one.
            handle = self._scene.add_transform_controls(
                f"/joints/{joint}",
                HANDLE * self._reach,
                active_axes=(not prismatic, not prismatic, prismatic),
                disable_axes=not prismatic,
                disable_sliders=True,
                disable_rotations=prismatic,
                depth_test=False,
                opacity=0.8,
            )
            handle.on_update(self._dragged(joint))
            self._sliders.append(slider)
            self._handles.append(handle)
        rings = self._gui.add_checkbox("rings", initial_value=True)

        def switched(event: Any) -> None:
            for handle in self._handles:
                handle.visible = bool(rings.value)

        rings.on_update(switched)

    def _slid(self, joint: int) -> Callable[[Any], None]:
        def moved(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    value = float(self._sliders[joint].value) * self._units[joint]
                    self.change(self.sketch.with_joint(joint, value))

        return moved

    def _dragged(self, joint: int) -> Callable[[Any], None]:
        def moved(event: Any) -> None:
            if event.client is None:
                return
            with self._lock:
                handle = self._handles[joint]
                self.change(self.sketch.dragged(joint, pose_of(handle)))

        return moved

    def _show_sketch(self) -> None:
        self._shown.q, self._shown.dq = self.sketch.q0, np.zeros(self.sketch.robot.num_joints)
        for joint, (slider, handle) in enumerate(zip(self._sliders, self._handles, strict=True)):
            value = float(self.sketch.q0[joint] / self._units[joint])
            if abs(float(slider.value) - value) > 1e-9:
                slider.value = value
            pose = self.sketch.joint_pose(joint)
            place(handle, pose)
        self._show_arm()

    def _show_arm(self) -> None:
        self.drawing.show(0.0)
        self._reading.content = self._text()

    # The cell

    def _add_cell(self) -> None:
        cell = self.sketch.cell
        self._ground = self._gui.add_checkbox("ground", initial_value=cell.ground_height is not None)
        self._height = self._gui.add_number(
            "height of the ground [m]", initial_value=float(cell.ground_height or 0.0), step=0.01
        )
        for control in (self._ground, self._height):
            control.on_update(self._ground_moved)
        self._draw_ground()
        box, wall = self._gui.add_button("Add a box"), self._gui.add_button("Add a wall")
        box.on_click(lambda event: self.add(self._new_box()))
        wall.on_click(lambda event: self.add(self._new_wall()))
        for thing in self.sketch.obstacles:
            self._draw_obstacle(thing)

    def _ground_moved(self, event: Any) -> None:
        if event.client is not None:
            with self._lock:
                self.change(self.sketch.with_ground(float(self._height.value) if self._ground.value else None))
                self._draw_ground()

    def _draw_ground(self) -> None:
        height = self.sketch.cell.ground_height
        add_ground(self._scene, 0.0 if height is None else height, self._reach).visible = height is not None

    def _new_box(self) -> Box:
        side = round(0.2 * self._reach, 2)
        ground = self.sketch.cell.ground_height or 0.0
        center = np.array([round(0.8 * self._reach, 2), 0.0, ground + 0.5 * side])
        return Box(center, np.full(3, 0.5 * side), name="box")

    def _new_wall(self) -> Plane:
        return Plane(np.array([-round(0.8 * self._reach, 2), 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), name="wall")

    def add(self, thing: Box | Plane) -> None:
        """One more box or wall in the cell."""
        with self._lock:
            self.change(self.sketch.added(thing))
            new = next(found for found in self.sketch.obstacles if found.name not in self._obstacles)
            with self._cell_tab:
                self._draw_obstacle(new)

    def remove(self, name: str) -> None:
        """One box or wall less."""
        with self._lock:
            self.change(self.sketch.without(name))
            self._obstacles.pop(name).remove()

    def _draw_obstacle(self, thing: Box | Plane) -> None:
        self._count += 1
        node = f"/cell/{self._count}"
        self._obstacles[thing.name] = Obstacle(self._server, thing, node, self._reach, self.moved, self.remove)

    def moved(self, thing: Box | Plane) -> None:
        """A box or wall is elsewhere, or has another size."""
        with self._lock:
            self.change(self.sketch.changed(thing))

    # The plan

    def _add_plan(self) -> None:
        self._plan_button = self._gui.add_button("Plan", color="blue")
        self._progress = self._gui.add_progress_bar(0.0, visible=False)
        self._save_button = self._gui.add_button("Save")
        self._player = self._gui.add_folder("Motion", visible=False)
        self._outcome = self._gui.add_markdown("")
        self._plan_button.on_click(self._plan_clicked)
        self._save_button.on_click(self._save_clicked)

    def _plan_clicked(self, event: Any) -> None:
        with self._lock:
            if self._planning is not None and self._planning.is_alive():
                self._end_plan.set()
                self._say("ending the search ...")
                return
            self._forget_plan()
            self._end_plan.clear()
            self._plan_button.label, self._progress.visible, self._progress.value = "Stop", True, 0.0
            self._say("starting the workers ...")
            self._planning = threading.Thread(target=self._plan, args=(self.sketch,), daemon=True)
            self._planning.start()

    def _plan(self, sketch: Sketch) -> None:
        def tell(share: float, sentence: str) -> bool:
            self._progress.value = 100.0 * share
            self._say(sentence)
            return not self._end_plan.is_set()

        try:
            planned = self._work.plan(sketch, tell)
        except IparamError as error:
            self._planned(sketch, None, f"**No motion**: {plain_markdown(str(error))}")
        except Exception as error:  # the page is all that a user sees
            self._planned(sketch, None, f"**No motion**: {type(error).__name__}: {plain_markdown(str(error))}")
        else:
            self._planned(sketch, planned, planned_text(planned))

    def _planned(self, sketch: Sketch, planned: PlannedMotion | None, text: str) -> None:
        with self._lock:
            self._plan_button.label, self._progress.visible = "Plan", False
            if self._closed.is_set():
                return
            if planned is None or sketch is not self.sketch:
                changed = "" if planned is None else "The sketch was changed while this was planned: plan again."
                self._say(changed or text)
                return
            self.planned = planned
            self._say(text)
            duration = planned.motion.duration
            points = forward_kinematics(sketch.robot, planned.motion.evaluate(np.linspace(0.0, duration, 400)).q)
            lines = np.stack([points[:-1, :3, 3], points[1:, :3, 3]], axis=1).astype(np.float32)
            self._path = self._scene.add_line_segments(
                "/planned_path", lines, colors=PATH, thickness=1.5, thickness_units="screen"
            )
            self._player.visible = True
            with self._player:
                self._playback = Playback(self._gui, duration, self._play)

    def _play(self, moment: float, charts: bool) -> None:
        with self._lock:
            if self.planned is None:
                return
            found = self.planned.motion.evaluate(moment)
            self._shown.q, self._shown.dq = found.q[0], found.dq[0]
            with self._server.atomic():
                self._show_arm()

    def _forget_plan(self) -> None:
        if self.planned is None:
            return
        self.planned = None
        self._path.remove()
        self._player.visible = False
        self._say("The motion that was planned is not for this sketch: plan again.")
        playback, self._playback = self._playback, None
        if playback is not None:  # in a thread of its own: the player may be waiting for the lock
            threading.Thread(target=playback.remove, daemon=True).start()

    def _save_clicked(self, event: Any) -> None:
        with self._lock:
            try:
                written = self._work.save(self.sketch, self.planned)
            except (IparamError, OSError) as error:
                self._say(f"**Not written**: {plain_markdown(str(error))}")
                return
            self._say("Written: " + plain_markdown(", ".join(written)))

    def _say(self, text: str) -> None:
        self.message = text
        self._outcome.content = text

    # What is true of the sketch

    def _watch(self) -> None:
        """Whether the sketch will do takes a while to say: not at every step of a hand that drags."""
        cell = None
        while True:
            self._changed.wait()
            if self._closed.wait(0.1):
                return
            self._changed.clear()
            sketch = self.sketch
            try:
                if sketch.cell is not cell:
                    self.drawing.collisions = self._work.scene(sketch)
                    cell = sketch.cell
                objection = self._work.objection(sketch)
            except IparamError as error:
                objection = str(error)
            with self._lock:
                if sketch is self.sketch:
                    self._objection = objection
                    with self._server.atomic():
                        self._show_arm()

    def _text(self) -> str:
        robot = self.sketch.robot
        track = self.drawing.arms[0].track
        lines = [plain_markdown(pose_text(track.poses(0.0)[robot.tool_frame], robot.tool_frame))]
        nearest = self.drawing.nearest
        if nearest is not None:
            one, other = nearest.bodies
            lines.append(
                f"nearest: **{plain_markdown(one)} - {plain_markdown(other)}, {1e3 * nearest.distance:.0f} mm**"
            )
        if self._objection:
            lines.append(f"**This start will not do**: {plain_markdown(self._objection)}")
        lines += [f"*{plain_markdown(note)}.*" for note in self.drawing.notes]
        return "\n\n".join(lines)


def planned_text(planned: PlannedMotion) -> str:
    """What was found, for people: in Markdown."""
    rows = [
        f"| {margin.constraint} | {number(margin.margin, 4)} {margin.unit} | {plain_markdown(margin.label)} |"
        for margin in planned.margins
    ]
    lines = [
        f"Condition number **{planned.condition_number:.3f}**, {planned.motion.duration:g} s. Not written yet: Save.",
        "\n".join(["| least margin | | where |", "|---|---|---|", *rows]),
        *(f"*{plain_markdown(note)}.*" for note in planned.notes),
    ]
    return "\n\n".join(lines)
