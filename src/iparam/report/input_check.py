"""Whether the parts of a report belong together: the result, its run, what was planned, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iparam.errors import ContradictionError
from iparam.estimation.agreement import check_frame, comes_from, compare_arm
from iparam.recording.recording import Recording
from iparam.robot.same_arm import compare_with_stated
from iparam.sensing.run_check import check_run
from iparam.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from iparam.report.report_input import ReportInput

NEAR_PLAN = 0.1
"""Distance from the nearest recorded pose up to which a planned one was played [rad]."""

_SAMPLES = 500
_MOST_POSES = 100_000  # 28 a second in an hour, close enough together for any arm


def check_input(given: ReportInput) -> tuple[str, ...]:
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
        raise ContradictionError(f"{arm.sentence}. Give the recording and the trajectory that the result comes from")
    remarks = [arm.sentence] if arm.sentence else []
    planned = given.trajectory
    if planned is not None:
        stated = compare_with_stated(planned.robot or "", robot, holder="the trajectory")
        remarks += [stated.sentence] if stated.same is False else []
    if recording is not None:
        remarks += check_run(recording, robot, uses_wrench=recording.has("wrench")).remarks
        if comes_from(estimate, recording) is False:
            remarks.append("the result does not come from this recording: its residuals are those of another run")
        if planned is not None and recording.has("q") and recording.metadata.get("dry_run") is None:
            remarks += _not_played(recording, planned.trajectory)
    return tuple(remarks)


def _not_played(recording: Recording, trajectory: Trajectory) -> list[str]:
    """A sentence if the recording does not come near all of the planned motion, whenever it may have been played."""
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
    sentence = (
        f"the recording is not of this trajectory, or not of all of it: it never comes nearer than "
        f"{distances[worst]:.2g} rad to what was planned for {motion.time[worst]:.3g} s"
    )
    return [sentence]
