"""`iparam view`: the arm, the plan, the run and the load in the browser."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.interruption import interruption
from iparam.cli.console.printing import AsJson, note, print_json, print_line, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import robot_of
from iparam.cli.options.planning import read_plan
from iparam.cli.options.recorded_run import RecordedRunOptions
from iparam.cli.ur.options import asked_model
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind, kind_of

if TYPE_CHECKING:
    from iparam.bridges.live.source import LiveSource
    from iparam.robot.cell import WorkCell
    from iparam.robot.model import Robot
    from iparam.viewer.view import View as ViewContent
    from iparam.viewer.viser_backend import ViewServer


@dataclass(frozen=True, kw_only=True)
class View(RecordedRunOptions):
    """Show a plan, a recording or a result in the browser, or several together.

    A page on this machine until Ctrl-C; with --output one file, to be sent.

    Live, the load is identified while the arm moves. Nothing moves the arm.

    Two motions are an arm and its ghost, two results are two loads.

    A work cell and the truth of a simulation are files like the others.

    Example:
      iparam view plan.json
      iparam view run.parquet result.json truth.json
      iparam view plan.json other_plan.json --output view.html
      iparam view result.json --robot panda
      iparam view run.parquet --live
      iparam view --ur 192.168.0.10
      iparam view --ros --robot ur5e --wrench-topic /force_torque_sensor/wrench
    """

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")]] = ()
    """Plans, recordings, results, a work cell, a simulation's truth."""
    live: Annotated[bool, arg(help_behavior_hint="")] = False
    """Replay the recording as if the arm moved now, and identify the load on the way."""
    ur: Annotated[str | None, arg(metavar="HOST", help_behavior_hint="")] = None
    """Follow the UR arm at this address, live. It only listens."""
    ur_port: Annotated[int, arg(metavar="PORT")] = 30004
    """Port of RTDE, with --ur."""
    ros: Annotated[bool, arg(help_behavior_hint="")] = False
    """Follow the arm whose joint states and wrenches are published on ROS 2, live. It only listens."""
    joint_topic: Annotated[str, arg(metavar="TOPIC")] = "joint_states"
    """With --ros: of sensor_msgs/JointState."""
    wrench_topic: Annotated[str, arg(metavar="TOPIC")] = "wrench"
    """With --ros: of geometry_msgs/WrenchStamped, in a frame that moves with the load."""
    measures: Literal["action", "reaction"] = "action"
    """With --ros: whose wrench the sensor reports: of the arm on the load (action), or the opposite."""
    capsules: Annotated[bool, arg(help_behavior_hint="")] = False
    """Draw the arm as the capsules of its collision tests, not with its meshes."""
    host: Annotated[str, arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address to serve the page on. Another than this machine's own has a token in its link."""
    port: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: the first free one from 8080)")] = None
    """Port to serve the page on."""
    output: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint=""), Writes(FileKind.VIEW)] = None
    """Write one file instead of serving a page: .html."""
    overwrite: Overwrite = False
    json: AsJson = False

    def run(self) -> None:
        """Show until Ctrl-C, or write."""
        iparam.viewer.require_viser()
        if self.port is not None and not 0 < self.port < 65536:
            raise InputError(f"--port must be 1 to 65535, got {self.port}")
        if self.live or self.ros or self.ur is not None:
            self._follow()
            return
        view = self._view()
        if self.output is not None:
            iparam.viewer.write_view(self.output, view.complete())
            self._tell("view", str(self.output))
            return
        with interruption() as stop:
            server = iparam.viewer.ViewServer(view, self.host, self.port)
            try:
                for sentence in server.drawing.notes:
                    note(sentence)
                self._tell("page", server.link)
                say("Ctrl-C ends it")
                # Not here, or Ctrl-C would wait until all margins are known.
                threading.Thread(target=_complete, args=(server,), daemon=True).start()
                stop.wait()
            finally:
                server.close()

    def _tell(self, what: str, where: str) -> None:
        if self.json:
            print_json({what: where})
        else:
            print_line(f"{what:<10}{where}")

    def _follow(self) -> None:
        """Show an arm as it moves, until Ctrl-C."""
        if self.output is not None:
            raise InputError("a live page is served and not written: leave --output out, or --live and --ur")
        source, title, cell = self._source()
        feed = iparam.bridges.live.LiveFeed(source)
        try:
            with interruption() as stop:
                feed.start()
                while not feed.state.changed.wait(0.05) and not feed.ended.is_set() and not stop.is_set():
                    pass  # the page is arranged around the first pose
                first = feed.state.snapshot()
                scene = iparam.viewer.live_scene(
                    source.robot,
                    title,
                    None if first is None else first.q,
                    cell=cell,
                    gravity=source.gravity,
                    capsules=self.capsules,
                )
                live = iparam.viewer.LiveView(source.robot, feed.state)
                page = iparam.viewer.ViewServer(scene, self.host, self.port, live)
                try:
                    for sentence in page.drawing.notes:
                        note(sentence)
                    self._tell("page", page.link)
                    say("Ctrl-C ends it")
                    told = 0
                    while not stop.wait(0.1):
                        said = feed.notes[told:]
                        told += len(said)
                        for sentence in said:
                            note(sentence)
                        if feed.failure is not None:
                            raise feed.failure
                finally:
                    page.close()
        finally:
            feed.stop()

    def _source(self) -> tuple[LiveSource, str, WorkCell | None]:
        """Where samples come from, what the page is called, and the surroundings."""
        kinds = {path: kind_of(path) for path in self.files}
        cells = [path for path, kind in kinds.items() if kind is FileKind.CELL]
        others = [path for path in self.files if path not in cells]
        cell = iparam.robot.load_cell(cells[0]) if cells else None
        if self.ros:
            if self.live or self.ur is not None or others or len(cells) > 1:
                raise InputError("--ros follows an arm: beside it only one work cell can be given")
            if not self.robot:
                raise InputError("--ros needs to know the arm: add --robot, a name or the arm's file")
            robot = robot_of(self.robot, self.tip, iparam.robot.StatedArm(), **self.cut())
            say(f"waiting for {self.joint_topic} and {self.wrench_topic}")
            followed = iparam.bridges.live.RosSource(
                robot, self.joint_topic, self.wrench_topic, measures=self.measures, gravity=self.given_gravity()
            )
            return followed, f"{robot.name} on ROS 2", cell
        if self.ur is not None:
            if self.live or others or len(cells) > 1:
                raise InputError("--ur follows an arm: beside it only one work cell can be given")
            if not 0 < self.ur_port < 65536:
                raise InputError(f"--ur-port must be 1 to 65535, got {self.ur_port}")
            name = self.robot or asked_model(self.ur, self.ur_port)
            robot = robot_of(name, self.tip, iparam.robot.StatedArm(), **self.cut())
            source = iparam.bridges.live.UrSource(self.ur, robot, self.ur_port, gravity=self.given_gravity())
            return source, f"{name} at {self.ur}", cell
        no_run = (FileKind.TRAJECTORY, FileKind.RESULT, FileKind.TRUTH)
        if len(others) != 1 or len(cells) > 1 or kinds[others[0]] in no_run:
            raise InputError("--live replays one recording; beside it only one work cell can be given")
        recording, robot = self.load_run(others[0])
        return iparam.bridges.live.ReplaySource(recording, robot), others[0].name, cell

    def _view(self) -> ViewContent:
        kinds = {path: kind_of(path) for path in self.files}
        of = {kind: [path for path in self.files if kinds[path] is kind] for kind in set(kinds.values())}
        for path in of.get(FileKind.STATIC_RESULT, []):
            raise InputError(f"{path} is a result from rests, which has no inertia to draw")
        taken = (FileKind.TRAJECTORY, FileKind.RESULT, FileKind.TRUTH, FileKind.CELL)
        for kind in taken[2:]:
            if len(of.get(kind, [])) > 1:
                raise InputError(f"{of[kind][0]} and {of[kind][1]} are both {kind}: give one")
        plans = [(path.name, read_plan(path)) for path in of.get(FileKind.TRAJECTORY, [])]
        results = [(path.name, iparam.Estimate.load(path)) for path in of.get(FileKind.RESULT, [])]
        truths = [iparam.simulation.GroundTruth.load(path) for path in of.get(FileKind.TRUTH, [])]
        cells = [iparam.robot.load_cell(path) for path in of.get(FileKind.CELL, [])]
        runs = [(path, *self.load_run(path)) for path in self.files if kinds[path] not in taken]
        robot: Robot | None = runs[0][2] if runs else None
        if robot is None:
            by_plan = next(((file, plan.robot) for file, plan in plans if plan.robot), ("", None))
            named_by, name = ("", self.robot) if self.robot else by_plan
            stated = next((plan.arm for _, plan in plans), iparam.robot.StatedArm())
            frame = next((estimate.frame for _, estimate in results if estimate.frame), stated.tip)
            if name:
                robot = robot_of(name, self.tip, replace(stated, tip=frame), **self.cut(), named_by=named_by)
            elif plans:
                raise InputError(f"{plans[0][0]} does not say which robot it belongs to: add --robot")
        shown = ", ".join(path.name for path in self.files) or (robot.name if robot is not None else "")
        return iparam.viewer.view_of(
            iparam.viewer.ViewInput(
                robot=robot,
                plans=plans,
                recordings=[(path.name, recording) for path, recording, _ in runs],
                results=results,
                truth=truths[0].payload if truths else None,
                cell=cells[0] if cells else None,
                gravity=self.given_gravity(),
                capsules=self.capsules,
                title=shown,
            )
        )


def _complete(server: ViewServer) -> None:
    """Add what takes seconds; what cannot be had is said, and the page shows the rest."""
    try:
        server.complete()
    except IparamError as error:
        note(str(error))
