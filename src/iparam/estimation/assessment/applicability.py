"""Whether an estimate may be used with a robot and a recording: its frame, its arm, and the data that it comes from."""

from __future__ import annotations

from iparam.errors import ContradictionError
from iparam.estimation.estimate import Estimate
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.robot.same_arm import ArmComparison, compare_with_stated
from iparam.sensing.sensor_frame import rigid_frames, same_place


def check_frame(frame: str, robot: Robot) -> None:
    """Refuse a load that is given in another frame than the tool's.

    Args:
        frame: of the load; "" if it does not say, then it is believed to be the right one.
        robot: whose tool frame it is to be used in.
    """
    if not same_place(frame, robot):
        where = ", and the two are not the same" if frame in rigid_frames(robot) else ""
        raise ContradictionError(
            f"the load is given in the frame {frame!r}, and the tool frame of {robot.name} is {robot.tool_frame!r}"
            f"{where}. Identify the load in {robot.tool_frame!r}; or, if the wrench is in {frame!r}, take that as the "
            "tool",
            fix={"tip": frame},
        )


def compare_arm(estimate: Estimate, robot: Robot) -> ArmComparison:
    """Whether ``robot`` is the arm that the estimate comes from, as far as it says."""
    return compare_with_stated(estimate.robot, robot, holder="the result")


def comes_from(estimate: Estimate, recording: Recording) -> bool | None:
    """Whether the estimate was found from the wrench of this recording; None if that is not known."""
    if not estimate.measurements or not recording.has("wrench"):
        return None
    return recording.signal("wrench").fingerprint in estimate.measurements
