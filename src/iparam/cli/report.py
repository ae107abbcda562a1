"""`iparam report`: one HTML page about an identification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.joint_state import robot_of
from iparam.cli.options.planning import Blend, blended, read_plan
from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.files.kind import FileKind

if TYPE_CHECKING:
    from iparam.estimation.assessment.method_comparison import MethodComparison
    from iparam.recording.recording import Recording
    from iparam.report.input import ReportInput
    from iparam.robot.model import Robot
    from iparam.sensing.correction import Correction
    from iparam.trajectory import TrajectoryFile


@dataclass(frozen=True, kw_only=True)
class Report(CorrectedRunOptions):
    r"""Write one HTML page about an identification.

    One file, no network. Parts without their input are left out.

    The arm can be turned and played where viser is installed.

    Example:
      iparam report result.json --recording run.parquet --trajectory t.json \
          --truth truth.json --methods all --output report.html
      iparam report result.json --output report.html
    """

    result: Positional[Annotated[Path, arg(metavar="RESULT")]]
    """The load, from 'iparam identify payload --output': .json."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.REPORT)]
    """File for the page: .html. Replaced if it exists."""
    overwrite: Overwrite = False
    recording: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """The run that the result comes from: .parquet, .csv, .npz or .mat."""
    trajectory: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """The motion as planned: .json."""
    blend: Blend = None
    truth: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """What the arm really carried, from 'iparam simulate --truth': .json."""
    methods: Annotated[tuple[str, ...], arg(metavar="NAME ..", help_behavior_hint="")] = ()
    """Estimators to compare on the recording: names, or 'all'."""
    no_scene: Annotated[bool, arg(help_behavior_hint="")] = False
    """Leave out the arm to turn and to play, which is 1 MB of the page."""
    title: Annotated[str, arg(metavar="TEXT")] = "Payload identification"
    """Heading of the page."""
    json: AsJson = False

    def run(self) -> None:
        """Draw and write."""
        if self.methods and self.recording is None:
            raise InputError("--methods needs the run to compare them on: add --recording")

        iparam.report.require_plot_extra()

        estimate = iparam.Estimate.load(self.result)
        planned = None if self.trajectory is None else blended(read_plan(self.trajectory), self.blend)
        truth = None if self.truth is None else iparam.simulation.GroundTruth.load(self.truth)
        recording, robot = (
            (None, self._robot(planned, estimate.frame)) if self.recording is None else self.load_run(self.recording)
        )
        correction = iparam.sensing.Correction()
        if recording is not None:
            correction = self.known_correction(recording, estimate.correction)
        given = {"result": self.result, "recording": self.recording, "trajectory": self.trajectory, "truth": self.truth}
        content = iparam.report.ReportInput(
            estimate=estimate,
            robot=robot,
            recording=recording,
            trajectory=planned,
            truth=None if truth is None else truth.payload,
            comparison=self._comparison(recording, robot, correction),
            correction=correction,
            title=self.title,
            sources={name: path.name for name, path in given.items() if path is not None},
            created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
            truth_frame="" if truth is None else truth.frame,
        )
        for one in content.remarks:
            note_remark(one)
        iparam.report.write_report(self.output, replace(content, scene=self._scene(content)))
        if self.json:
            print_json({"report": str(self.output)})
        else:
            print_line(f"report    {self.output}")

    def _scene(self, content: ReportInput) -> str:
        """The motion to turn and to play; "" where nothing moves, or nothing can draw it."""
        motions = content.recording is not None and content.recording.has("q"), content.trajectory is not None
        if self.no_scene or content.robot is None or not any(motions):
            return ""
        recordings = [("run", content.recording)] if motions[0] and content.recording is not None else []
        plans = [("plan", content.trajectory)] if content.trajectory is not None and not recordings else []
        given = iparam.viewer.ViewInput(
            robot=content.robot,
            recordings=recordings,
            plans=plans,
            results=[("load", content.estimate)] if content.estimate.complete else [],
            truth=content.truth,
            title=content.title,
        )
        try:
            return iparam.viewer.embedded_scene(iparam.viewer.view_of(given).complete())
        except MissingExtraError:  # the pictures are there without it
            return ""
        except IparamError as error:
            note(f"without a scene to turn: {error}")
            return ""

    def _robot(self, planned: TrajectoryFile | None, frame: str) -> Robot | None:
        """The arm of a report without a recording, with the tool frame of the result."""
        name = self.robot or (planned.robot if planned is not None else None)
        if name:
            stated = iparam.robot.StatedArm() if planned is None else planned.arm
            named_by = "" if self.robot else str(self.trajectory)
            arm = replace(stated, tip=frame) if frame else stated
            return robot_of(name, self.tip, arm, **self.cut(), named_by=named_by)
        if planned is not None:
            note(f"{self.trajectory} does not say which robot it belongs to: add --robot to show the motion")
        return None

    def _comparison(
        self, recording: Recording | None, robot: Robot | None, correction: Correction
    ) -> MethodComparison | None:
        if not self.methods or recording is None or robot is None:
            return None

        names = iparam.estimation.METHODS if "all" in self.methods else self.methods
        return iparam.estimation.compare_methods(recording, robot, names, correction=correction)
