"""`ReportInput`: what a report is made from, as far as it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from iparam.errors import InputError
from iparam.estimation.estimate import Estimate
from iparam.recording.recording import Recording
from iparam.report.input_check import check_input
from iparam.report.method_comparison import MethodComparison
from iparam.robot.model import Robot
from iparam.sensing.motion import ToolMotionEstimate
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.storage import TrajectoryFile


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportInput:
    """The estimate, and what else is known; parts of the report that lack their input are left out.

    Attributes:
        estimate: what was found.
        robot: the arm; needed for everything that moves.
        recording: the run that the estimate comes from.
        motion: how the arm moved in it; the Kalman smoother's answer if not given.
        trajectory: what had been planned.
        truth: what the arm really carried, in the tool frame, where that is known.
        comparison: other methods' estimates from the same run.
        delay: by how much the wrench lags behind the joint angles [s].
        title: of the page.
        sources: what the inputs were called, e.g. "recording" -> "run.parquet".
        created: date and time, as it is to be shown.
        truth_frame: that the truth is in; "" if unknown.
        remarks: what is odd about these parts taken together, one sentence each; found here.
    """

    estimate: Estimate
    robot: Robot | None = None
    recording: Recording | None = None
    motion: ToolMotionEstimate | None = None
    trajectory: TrajectoryFile | None = None
    truth: InertialParameters | None = None
    comparison: MethodComparison | None = None
    delay: float = 0.0
    title: str = "Payload identification"
    sources: Mapping[str, str] = field(default_factory=dict)
    created: str = ""
    truth_frame: str = ""
    remarks: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if not np.isfinite(self.delay):
            raise InputError(f"delay must be a finite time in s, got {self.delay!r}")
        if self.recording is not None and self.robot is None:
            raise InputError("a report with a recording needs the robot that was recorded: give robot=...")
        if self.motion is not None and self.recording is None:
            raise InputError("a motion without the recording that it comes from cannot be used: give recording=...")
        if self.trajectory is not None and self.robot is not None:
            planned, joints = self.trajectory.trajectory.num_joints, self.robot.num_joints
            if planned != joints:
                raise InputError(f"the trajectory moves {planned} joints, {self.robot.name} has {joints}")
        if self.truth is not None and self.truth.mass <= 0.0:
            raise InputError(f"the truth must be a body of positive mass, got {self.truth.mass:g} kg")
        object.__setattr__(self, "remarks", check_input(self))
