"""`View`: everything that a page shows, as values; made from what files held by `view_of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.applicability import check_frame, compare_arm
from iparam.estimation.assessment.run_analysis import analyze_run
from iparam.estimation.estimate import Estimate
from iparam.plotting.time_plots import Panel
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import collision_scene
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.storage import TrajectoryFile
from iparam.viewer.curves import joint_charts, margin_chart, wrench_charts
from iparam.viewer.load_shapes import LoadShapes, estimated_load, known_load
from iparam.viewer.margins import Margins, motion_margins
from iparam.viewer.source import Moment
from iparam.viewer.track import Track, planned_track, recorded_track, standing_track
from iparam.viewer.wrench import ShownWrench, analyzed_wrench, measured_wrench

MOST_ARMS, MOST_LOADS = 2, 2
"""Motions and results that can be told from each other in one picture; the truth comes on top."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ViewInput:
    """What is to be seen; each thing with the name that the page calls it by.

    Attributes:
        robot: the arm; None shows results alone.
        plans, recordings, results: at most two motions and two results.
        truth: what the arm really carried, in the tool frame, where that is known.
        cell: the surroundings, in place of those of the plan.
        gravity: (3,) in base axes, against which the picture is upright [m/s^2]; None for what the first motion says.
        capsules: draw the arm as the capsules of its collision tests, whatever meshes there are.
        title: of the page.
    """

    robot: Robot | None = None
    plans: Sequence[tuple[str, TrajectoryFile]] = ()
    recordings: Sequence[tuple[str, Recording]] = ()
    results: Sequence[tuple[str, Estimate]] = ()
    truth: InertialParameters | None = None
    cell: WorkCell | None = None
    gravity: FloatArray | None = None
    capsules: bool = False
    title: str = "iparam view"

    def __post_init__(self) -> None:
        motions = len(self.plans) + len(self.recordings)
        if not motions and not self.results and self.truth is None and self.robot is None:
            raise InputError("there is nothing to show: give a plan, a recording or a result")
        if motions > MOST_ARMS or len(self.results) > MOST_LOADS:
            raise InputError(
                f"at most {MOST_ARMS} motions and {MOST_LOADS} results can be told apart in one picture, got {motions} "
                f"and {len(self.results)}"
            )
        if motions and self.robot is None:
            raise InputError("a plan or a recording needs the robot that moves", argument="robot")


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """What is shown.

    Attributes:
        title: of the page.
        robot: the arm, or None.
        tracks: its motions: the first is the arm's, the second that of its ghost.
        loads: on its tool, estimates first and the truth last.
        payload: boxes on the tool that the plan keeps clear of everything.
        cell: the surroundings.
        clearance: that the plan has to keep [m].
        wrench: measured along the first track, or None.
        capsules: see `ViewInput`.
        notes: what a viewer should know, one sentence each.
        margins: along the first track; None before `complete`.
        given: what it was made from.
        gravity: (3,) in base axes [m/s^2]: the picture is upright, however the arm is mounted.
    """

    title: str
    robot: Robot | None
    tracks: tuple[Track, ...]
    loads: tuple[LoadShapes, ...]
    payload: tuple[PayloadBox, ...]
    cell: WorkCell
    clearance: float
    wrench: ShownWrench | None
    capsules: bool
    notes: tuple[str, ...]
    given: ViewInput
    margins: Margins | None = None
    charts: Mapping[str, tuple[Panel, ...]] = field(default_factory=dict)
    gravity: FloatArray = field(default_factory=lambda: np.array(STANDARD_GRAVITY))

    @property
    def duration(self) -> float:
        """Of the longest motion [s]; 0 if nothing moves."""
        return max((track.duration for track in self.tracks), default=0.0)

    def news(self) -> bool:
        """See `PageSource`: nothing comes by itself."""
        return False

    def moment(self, time: float) -> Moment:
        """See `PageSource`."""
        motions = tuple(track.at(time) for track in self.tracks)
        if self.wrench is None:
            return Moment(time, motions, marks=(time,))
        return Moment(time, motions, self.wrench.at(time), self.wrench.scales, marks=(time,))

    def complete(self) -> View:
        """The same view with what takes seconds: the margins along the motion, and the wrench that a load predicts."""
        wrench, margins, given = self.wrench, None, self.given
        if wrench is not None and given.results and self.robot is not None:
            recording, estimate = given.recordings[0][1], given.results[0][1]
            run = analyze_run(recording, self.robot, estimate, correction=estimate.correction)
            wrench = analyzed_wrench(run, self.tracks[0].origin, self.robot.reach)
        if self.tracks:
            track = self.tracks[0]
            scene = collision_scene(track.robot, self.payload, self.cell)
            q, _ = track.motion(track.samples)
            margins = motion_margins(scene, track.samples, q, self.clearance)
        return replace(self, wrench=wrench, margins=margins, charts=_charts(self.tracks, wrench, margins))


def _charts(
    tracks: Sequence[Track], wrench: ShownWrench | None, margins: Margins | None
) -> dict[str, tuple[Panel, ...]]:
    """The curves by the tab that they stand in."""
    charts: dict[str, tuple[Panel, ...]] = {}
    if tracks:
        charts["Motion"] = (*((margin_chart(margins),) if margins is not None else ()), *joint_charts(tracks[0]))
    if wrench is not None:
        charts["Wrench"] = wrench_charts(wrench)
    return charts


def view_of(given: ViewInput) -> View:
    """The view of some plans, recordings and results, without what takes seconds: see `View.complete`."""
    robot = given.robot
    tracks: list[Track] = []
    wrench = None
    if robot is not None:
        runs = [(name, _corrected(recording, robot, given)) for name, recording in given.recordings]
        tracks = [recorded_track(recording, robot, name) for name, recording in runs]
        tracks += [planned_track(plan, robot, name) for name, plan in given.plans]
        if not tracks:
            tracks = [standing_track(robot)]
        if runs:
            wrench = measured_wrench(runs[0][1], tracks[0].origin, robot.reach)
    for _, estimate in given.results:
        if robot is not None:
            check_frame(estimate.frame, robot)
            arm = compare_arm(estimate, robot)
            if arm.same is False:
                raise ContradictionError(str(arm.remark))
    loads = [estimated_load(estimate, name) for name, estimate in given.results]
    if given.truth is not None and given.truth.mass > 0.0:
        loads.append(known_load(given.truth, "truth"))
    conditions = next((plan.conditions for _, plan in given.plans if plan.conditions is not None), None)
    carried = None if conditions is None else conditions.payload
    cell = given.cell or (WorkCell() if conditions is None else conditions.cell)
    return View(
        title=given.title,
        robot=robot,
        tracks=tuple(tracks),
        loads=tuple(loads),
        payload=() if carried is None else (PayloadBox.from_size(carried.size, carried.center),),
        cell=cell,
        clearance=0.0 if conditions is None else conditions.limits.clearance,
        wrench=wrench,
        capsules=given.capsules,
        notes=_notes(given, loads),
        given=given,
        charts=_charts(tracks, wrench, None),
        gravity=_gravity(given),
    )


def _gravity(given: ViewInput) -> FloatArray:
    """(3,) that is given, else what the first motion says."""
    if given.gravity is not None:
        return given.gravity
    if given.recordings:
        return recorded_gravity(given.recordings[0][1])
    planned = next((plan.gravity for _, plan in given.plans if plan.gravity is not None), None)
    return np.array(STANDARD_GRAVITY) if planned is None else planned


def _corrected(recording: Recording, robot: Robot, given: ViewInput) -> Recording:
    """A recording with what the first result put right in it."""
    return given.results[0][1].correction.applied(recording, robot) if given.results else recording


def _notes(given: ViewInput, loads: list[LoadShapes]) -> tuple[str, ...]:
    notes = []
    for load in loads:
        if load.body is None:
            notes.append(f"{load.name}: no body of positive density has these parameters, so no box stands for them")
    for name, estimate in given.results:
        if estimate.refutation is not None:
            notes.append(f"{name} is refuted by its own data: {estimate.refutation.reason}")
    if given.recordings and not given.recordings[0][1].has("wrench") and given.results:
        notes.append("the recording has no wrench: there is nothing to compare the prediction with")
    return tuple(notes)
