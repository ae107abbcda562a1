"""`ReportInput`: what a report is made from, as far as it is there, and whether its parts belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.applicability import check_frame, comes_from, compare_arm
from iparam.estimation.assessment.method_comparison import MethodComparison
from iparam.estimation.estimate import Estimate
from iparam.motion.motion import MotionEstimate
from iparam.recording.recording import Recording
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.robot.same_arm import compare_with_stated
from iparam.sensing.correction import Correction
from iparam.sensing.run_check import check_run
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.storage import TrajectoryFile
from iparam.trajectory.trajectory import Trajectory


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
        delay: by how much the wrench lags behind the joint angles [s]; None compensates what the wrench shows clearly.
        correction: what was put right in the recording before the load was identified.
        title: of the page.
        sources: what the inputs were called, e.g. "recording" -> "run.parquet".
        created: date and time, as it is to be shown.
        truth_frame: that the truth is in; "" if unknown.
        scene: the motion as a scene to turn and to play, an HTML document that needs nothing else; "" for none.
        remarks: what is odd about these parts taken together; found here.
    """

    estimate: Estimate
    robot: Robot | None = None
    recording: Recording | None = None
    motion: MotionEstimate | None = None
    trajectory: TrajectoryFile | None = None
    truth: InertialParameters | None = None
    comparison: MethodComparison | None = None
    delay: float | None = None
    correction: Correction = field(default_factory=Correction)
    title: str = "Payload identification"
    sources: Mapping[str, str] = field(default_factory=dict)
    created: str = ""
    truth_frame: str = ""
    scene: str = ""
    remarks: tuple[Remark, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.delay is not None and not np.isfinite(self.delay):
            raise InputError(argument="delay", value=self.delay, expected="a finite time in s")
        if self.recording is not None and self.robot is None:
            raise InputError("a report with a recording needs the robot that was recorded", argument="robot")
        if self.motion is not None and self.recording is None:
            raise InputError("a motion without the recording that it comes from cannot be used", argument="recording")
        if self.trajectory is not None and self.robot is not None:
            planned, joints = self.trajectory.trajectory.num_joints, self.robot.num_joints
            if planned != joints:
                raise InputError(f"the trajectory moves {planned} joints, {self.robot.name} has {joints}")
        if self.truth is not None and self.truth.mass <= 0.0:
            raise InputError(f"the truth must be a body of positive mass, got {self.truth.mass:g} kg")
        object.__setattr__(self, "remarks", check_input(self))


NEAR_PLAN = 0.1
"""Distance from the nearest recorded pose up to which a planned one was played [rad]."""

_SAMPLES = 500
_MOST_POSES = 100_000  # 28 a second in an hour, close enough together for any arm


def check_input(given: ReportInput) -> tuple[Remark, ...]:
    """Refuse parts that contradict each other; what is odd about them, one sentence each."""
    estimate, robot, recording = given.estimate, given.robot, given.recording
    if given.truth_frame and estimate.frame and given.truth_frame != estimate.frame:
        raise ContradictionError(
            f"the truth is in the frame {given.truth_frame!r}, and the result in {estimate.frame!r}: their numbers "
            "cannot be compared. Identify the load in the frame of the truth"
        )
    if robot is None:
        return ()
    check_frame(estimate.frame, robot)
    arm = compare_arm(estimate, robot)
    if arm.same is False:
        raise ContradictionError(f"{arm.remark} Give the recording and the trajectory that the result comes from")
    remarks = [] if arm.remark is None else [arm.remark]
    planned = given.trajectory
    if planned is not None:
        stated = compare_with_stated(planned.robot or "", robot, holder="the trajectory")
        remarks += [stated.remark] if stated.same is False and stated.remark is not None else []
    if recording is not None:
        remarks += check_run(recording, robot, uses_wrench=recording.has("wrench")).remarks
        if comes_from(estimate, recording) is False:
            remarks.append(remark("result-of-other-recording"))
        if planned is not None and recording.has("q") and not _scaled(recording):
            remarks += _not_played(recording, planned.trajectory)
    return tuple(remarks)


def _scaled(recording: Recording) -> bool:
    """Whether a plan was played at a share of its amplitude or speed, and is not to be found in the recording."""
    return any(recording.metadata.get(name) is not None for name in ("amplitude", "speed_scale", "dry_run"))


def _not_played(recording: Recording, trajectory: Trajectory) -> list[Remark]:
    """A remark if the recording does not come near all of the planned motion, whenever it may have been played."""
    from scipy.spatial import cKDTree

    motion = trajectory.evaluate(np.linspace(0.0, trajectory.duration, _SAMPLES))
    angles = recording.signal("q").values
    angles = angles[:: max(1, len(angles) // _MOST_POSES)]
    if angles.shape[1] != motion.q.shape[1]:
        return []
    distances = cKDTree(angles).query(motion.q)[0]
    worst = int(np.argmax(distances))
    if distances[worst] <= NEAR_PLAN:
        return []
    return [remark("trajectory-not-played", distance=distances[worst], time=motion.time[worst])]
