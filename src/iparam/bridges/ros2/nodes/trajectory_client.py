"""`TrajectoryClient`: sends trajectories to a controller's FollowJointTrajectory action, and says how they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iparam.bridges.ros2.backend import ActionClient, GoalStatus, JointTrajectory, Node
from iparam.bridges.ros2.interfaces.action_types import TrajectoryAction
from iparam.bridges.ros2.messages import duration_of

LATE = 2.0
"""Time after the end of a motion in which the arm has to have arrived [s]."""

CODES = {
    0: "successful",
    -1: "the goal is invalid",
    -2: "the joints are not the controller's",
    -3: "its stamp is old",
    -4: "a joint left the path by more than path_tolerance",
    -5: "a joint did not arrive",
}


def action_served(node: Node, name: str) -> bool:
    """Whether somebody serves an action of that name."""
    return f"{name}/_action/send_goal" in dict(node.get_service_names_and_types())


class TrajectoryClient:
    """One trajectory at a time.

    Args:
        node: that it is for.
        types: of the action.
        name: of the action.
        ended: called with "" when a trajectory is done, else with why it is not.
    """

    def __init__(self, node: Node, types: TrajectoryAction, name: str, ended: Callable[[str], None]) -> None:
        self._types, self._ended = types, ended
        self._client: Any = ActionClient(node, types.action, name)
        self._goal: Any = None
        self._stop: Any = None
        self._cancelled = False
        self.busy = False

    def send(self, trajectory: JointTrajectory, path_tolerance: float, goal_tolerance: float) -> None:
        """Ask for a trajectory, with tolerances for each joint on the way and at its end [rad]."""
        goal = self._types.action.Goal(trajectory=trajectory, goal_time_tolerance=duration_of(LATE))
        for part, tolerance in ((goal.path_tolerance, path_tolerance), (goal.goal_tolerance, goal_tolerance)):
            part += [self._types.tolerance(name=name, position=tolerance) for name in trajectory.joint_names]
        self.busy, self._goal, self._cancelled, self._stop = True, None, False, None
        self._client.send_goal_async(goal).add_done_callback(self._answered)

    def cancel(self) -> None:
        """Ask the controller to stop, as soon as it has taken the goal; see `stop_confirmed`."""
        self._cancelled = True
        if self._goal is not None:
            self._stop = self._goal.cancel_goal_async()

    @property
    def stop_confirmed(self) -> bool:
        """Whether the controller has answered to `cancel`, or is done."""
        return not self.busy or (self._stop is not None and self._stop.done())

    def _answered(self, future: Any) -> None:
        goal = future.result()
        if not goal.accepted:
            self._end("the controller refused the trajectory")
            return
        self._goal = goal
        if self._cancelled:  # in between
            self._stop = goal.cancel_goal_async()
        goal.get_result_async().add_done_callback(self._finished)

    def _finished(self, future: Any) -> None:
        found = future.result()
        result = found.result
        if found.status == GoalStatus.STATUS_SUCCEEDED and result.error_code == 0:
            self._end("")
        elif found.status == GoalStatus.STATUS_CANCELED:
            self._end("stopped")
        else:
            reason = CODES.get(result.error_code, f"error {result.error_code}")
            self._end(f"{reason}: {result.error_string}" if result.error_string else reason)

    def _end(self, reason: str) -> None:
        self.busy, self._goal = False, None
        self._ended(reason)
