"""The two ways of a trajectory to a controller: its FollowJointTrajectory action (`TrajectoryClient`, each trajectory a
`SentGoal`), and its topic (`PublishedTrajectory`), which never answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from iparam.bridges.ros2.backend import ActionClient, GoalStatus, JointTrajectory, Node
from iparam.bridges.ros2.messages import duration_of
from iparam.bridges.ros2.optional_types import types_of

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
    """Whether somebody serves an action of that name. Clients have its services, too; the status is the server's."""
    return node.count_publishers(f"{name}/_action/status") > 0


class TrajectoryClient:
    """Sends trajectories.

    Args:
        node: that it is for.
        name: of the action.

    Raises:
        IparamError: its types are not installed.
    """

    def __init__(self, node: Node, name: str) -> None:
        self._name = name
        self._action = types_of("control_msgs", "action").FollowJointTrajectory
        self._tolerance = types_of("control_msgs", "msg").JointTolerance
        self._client: Any = ActionClient(node, self._action, name)

    @property
    def served(self) -> bool:
        """Whether there is a controller on the other side."""
        return bool(self._client.server_is_ready())

    def send(self, trajectory: JointTrajectory, path_tolerance: float, goal_tolerance: float) -> SentGoal:
        """Ask for a trajectory, with tolerances for each joint on the way and at its end [rad]."""
        goal = self._action.Goal(trajectory=trajectory, goal_time_tolerance=duration_of(LATE))
        for part, tolerance in ((goal.path_tolerance, path_tolerance), (goal.goal_tolerance, goal_tolerance)):
            part += [self._tolerance(name=name, position=tolerance) for name in trajectory.joint_names]
        return SentGoal(self, f"the action {self._name}", self._client.send_goal_async(goal))


class SentGoal:
    """A `played_motion.Channel`: one goal, and all that the controller says of it."""

    reports = True

    def __init__(self, client: TrajectoryClient, name: str, answer: Any) -> None:
        self.name = name
        self.begun: float | None = None
        self.ended: str | None = None
        self.refused = False
        self._client = client
        self._goal: Any = None
        self._stop_wanted = False
        answer.add_done_callback(self._answered)

    @property
    def alive(self) -> bool:
        """Whether somebody serves the action."""
        return self._client.served

    def stop(self) -> None:
        """Ask the controller to cancel the goal, as soon as it has taken it."""
        self._stop_wanted, self.refused = True, False
        if self._goal is not None and self.ended is None:
            self._goal.cancel_goal_async().add_done_callback(self._cancel_answered)

    def _answered(self, future: Any) -> None:
        goal = future.result()
        if not goal.accepted:
            self.ended = "the controller refused the trajectory"
            return
        self._goal, self.begun = goal, time.monotonic()
        goal.get_result_async().add_done_callback(self._finished)
        if self._stop_wanted:  # in between
            self.stop()

    def _cancel_answered(self, future: Any) -> None:
        self.refused = not future.result().goals_canceling

    def _finished(self, future: Any) -> None:
        found = future.result()
        result = found.result
        if found.status == GoalStatus.STATUS_SUCCEEDED and result.error_code == 0:
            self.ended = ""
        elif found.status == GoalStatus.STATUS_CANCELED:
            self.ended = "the controller cancelled it"
        else:
            reason = CODES.get(result.error_code, f"error {result.error_code}")
            self.ended = f"{reason}: {result.error_string}" if result.error_string else reason


class PublishedTrajectory:
    """A `played_motion.Channel`: a trajectory on a topic, which another one ends.

    Args:
        publisher: of the topic.
        stopping: makes the trajectory that brings the arm to rest from where it is.
    """

    reports = False
    refused = False
    ended: str | None = None

    def __init__(self, publisher: Any, stopping: Callable[[], JointTrajectory | None]) -> None:
        self.name = f"the topic {publisher.topic_name}"
        self.begun: float | None = time.monotonic()
        self._publisher, self._stopping = publisher, stopping

    @property
    def alive(self) -> bool:
        """Whether somebody listens."""
        return bool(self._publisher.get_subscription_count())

    def stop(self) -> None:
        """Publish the trajectory to rest, unless nothing is known of where the arm is."""
        message = self._stopping()
        if message is not None:
            self._publisher.publish(message)
