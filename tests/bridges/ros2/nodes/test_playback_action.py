"""Playing a plan by FollowJointTrajectory, against a small action server whose types are made from the definition."""

from __future__ import annotations

import importlib
import signal
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.ros2.nodes.playback_plan import PlaybackPlan, PlaybackSettings

NODE = "/iparam_playback"
DATA = Path(__file__).parents[3] / "data"
GOOD = DATA / "optimized_ur5e.json"
ACTION = "/controller/follow_joint_trajectory"


class Controller:
    """Takes goals, keeps them, and ends them as it is told to."""

    def __init__(self, peer: Any) -> None:
        from rclpy.action import ActionServer, CancelResponse, GoalResponse

        self.action = importlib.import_module("control_msgs.action").FollowJointTrajectory
        self.accepts, self.code, self.goals = True, 0, []
        responses = {True: GoalResponse.ACCEPT, False: GoalResponse.REJECT}
        self.server = ActionServer(
            peer.node,
            self.action,
            ACTION,
            execute_callback=self._execute,
            goal_callback=lambda goal: responses[self.accepts],
            handle_accepted_callback=self.goals.append,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def _execute(self, goal: Any) -> Any:
        result = self.action.Result(error_code=self.code)
        if goal.is_cancel_requested:
            goal.canceled()
        elif self.code:
            result.error_string = "elbow_joint by 0.07 rad"
            goal.abort()
        else:
            goal.succeed()
        return result


@pytest.fixture
def controller(peer: Any) -> Iterator[Controller]:
    """It goes with its test: the end of its ROS node alone would leave it to others on the network."""
    found = Controller(peer)
    yield found
    found.server.destroy()


def test_a_plan_is_played_by_the_action(
    peer: Any,
    controller: Controller,
    start_node: Callable[..., Any],
    ur5e: iparam.Robot,
    joint_state: Callable[..., Any],
) -> None:
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    joints = peer.publisher(JointState, "joint_states")
    states = peer.listen(String, f"{NODE}/state", QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    node = start_node("play", trajectory=GOOD, scale=0.5, rate=50.0, action=ACTION, path_tolerance=0.04)
    peer.until(lambda: "trajectories go to the action" in node.text, "the action")
    peer.connected(joints)
    start = iparam.load_trajectory(GOOD).trajectory.evaluate(0.0).q[0]

    def arm_at(q: np.ndarray, dq: np.ndarray) -> None:
        for _ in range(3):
            joints.publish(joint_state(ur5e.joint_names, 0, q, dq))
            peer.spin(0.05)

    def said(text: str) -> None:
        peer.until(lambda: states and states[-1].data == text, f"{text!r}, not {[state.data for state in states]}")

    rest, away = np.zeros(6), start + np.array([0.3, 0.0, -0.2, 0.0, 0.1, 0.0])
    arm_at(away, rest)
    refused = peer.call(f"{NODE}/play")
    assert not refused.success
    assert "is 0.3 rad from the start pose" in refused.message
    arm_at(away, rest + 0.1)
    assert "let the arm come to rest first" in peer.call(f"{NODE}/move_to_start").message

    arm_at(away, rest)
    moved = peer.call(f"{NODE}/move_to_start")
    assert moved.success, moved.message
    peer.until(lambda: controller.goals, "the way to the start")
    way = controller.goals[-1].request
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in way.trajectory.points])
    speeds = np.array([point.velocities for point in way.trajectory.points])
    assert np.abs(speeds).max() <= 0.25 * (1.0 + 1e-9)  # approach_speed
    assert (np.diff(times) > 0.0).all()
    np.testing.assert_allclose(way.trajectory.points[-1].positions, start, atol=1e-12)
    np.testing.assert_allclose(speeds[-1], 0.0, atol=1e-12)
    said("moving to start")
    assert "call ~/stop first" in peer.call(f"{NODE}/play").message
    controller.goals[-1].execute()
    said("finished")

    arm_at(start, rest)
    answer = peer.call(f"{NODE}/play")
    assert answer.success, answer.message
    assert f"by the action {ACTION}" in answer.message
    peer.until(lambda: len(controller.goals) == 2, "the motion")
    goal = controller.goals[-1].request
    assert [(entry.name, entry.position) for entry in goal.path_tolerance] == [(n, 0.04) for n in ur5e.joint_names]
    assert {entry.position for entry in goal.goal_tolerance} == {0.02}
    assert len(goal.trajectory.points) == 501
    controller.code = -4
    controller.goals[-1].execute()
    said("aborted: a joint left the path by more than path_tolerance: elbow_joint by 0.07 rad")

    controller.code = 0
    arm_at(start, rest)
    assert peer.call(f"{NODE}/play").success
    peer.until(lambda: len(controller.goals) == 3, "the motion again")
    assert not peer.call(f"{NODE}/stop").success  # the cancellation is accepted, which is no stop yet
    assert controller.goals[-1].is_cancel_requested
    controller.goals[-1].execute()
    said("stopped")

    controller.accepts = False
    arm_at(start, rest)
    assert peer.call(f"{NODE}/play").success
    said("aborted: the controller refused the trajectory")

    controller.accepts = True
    arm_at(start, rest)
    assert peer.call(f"{NODE}/play").success
    peer.until(lambda: len(controller.goals) == 4, "the last motion")
    node.command.send_signal(
        signal.SIGINT
    )  # Ctrl-C in the middle: the controller is asked to stop before the node ends
    peer.until(lambda: controller.goals[-1].is_cancel_requested, "the cancellation at the end")
    controller.goals[-1].execute()
    peer.spin(0.2)
    assert node.command.wait(60.0) == 0
    assert "Traceback" not in node.text
    assert "may still move" not in node.text.partition("the controller refused the trajectory")[2]


def test_without_a_server_the_action_is_asked_for_in_vain(
    peer: Any, start_node: Callable[..., Any], ur5e: iparam.Robot, joint_state: Callable[..., Any]
) -> None:
    start_node("play", trajectory=GOOD, action=ACTION, interface="action")
    answer = peer.call(f"{NODE}/play")
    assert not answer.success
    assert f"nobody serves the action {ACTION}" in answer.message


@pytest.mark.skipif(find_spec("control_msgs") is not None, reason="a sourced ROS 2 has control_msgs")
def test_without_the_types_of_the_action_the_topic_is_used_or_the_node_ends(
    peer: Any, controller: Controller, start_node: Callable[..., Any]
) -> None:
    node = start_node("play", sourced=False, trajectory=GOOD, action=ACTION)
    peer.until(lambda: f"the action {ACTION} is not used" in node.text, "what is missing")
    assert node.text.count("apt install ros-$ROS_DISTRO-control-msgs") == 1
    answer = peer.call(f"{NODE}/play")
    assert not answer.success
    assert "nobody listens to /joint_trajectory" in answer.message
    assert node.stop() == 0
    asked = start_node("play", sourced=False, trajectory=GOOD, action=ACTION, interface="action")
    assert asked.command.wait(60.0) == 1
    assert "apt install ros-$ROS_DISTRO-control-msgs" in asked.text
    assert "Traceback" not in asked.text


def test_the_way_to_the_start_is_checked(tmp_path: Path) -> None:
    plan = PlaybackPlan.load(PlaybackSettings(str(GOOD)))
    start = plan.points.q[0]
    assert plan.way_to_start(start, 0.25) is None
    folded = start.copy()
    folded[2] = 3.1  # the forearm lies in the upper arm
    with pytest.raises(iparam.IparamError, match="the way to the start, a straight line of"):
        plan.way_to_start(folded, 0.25)
