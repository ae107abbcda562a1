"""An arm with a trajectory controller, as a process of its own: it moves, and it misbehaves as it is told to.

It publishes joint_states 100 times a second, plays what comes by /controller/joint_trajectory, and what comes by the
action beside it while that is served. Orders are words on /double:

    serve, vanish       the action begins or ceases to be served; what is played goes on
    deaf, hear          the topic ceases or begins to be listened to; what is played goes on
    obey, refuse        a request to cancel is accepted, or is not
    brake, coast        what is cancelled, or replaced by topic, stops or goes on to its end all the same
    prompt, tardy       goals and cancellations are answered at once, or `LATE` s later
    blind, show         joint states cease or come
    abandon             the goal ends as aborted, and what is played goes on
    freeze              the arm stands still, as with a protective stop; the goal goes on for ever
    slow                what is played from now on takes 2.5 times as long, as with a speed slider
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import sys
import time
import warnings
from typing import Any

import numpy as np

NAME = "/controller/follow_joint_trajectory"
TOPIC = "/controller/joint_trajectory"
LATE = 1.0
BRAKING = 0.2
"""Time in which it comes to rest [s]."""


class Arm:
    """Where it is: on a path, or at rest at its end."""

    def __init__(self, q: np.ndarray) -> None:
        self.times, self.path = np.zeros(1), q[None]
        self.begun, self.slowness = time.monotonic(), 1.0

    def at(self, now: float) -> tuple[np.ndarray, np.ndarray]:
        def place(t: float) -> np.ndarray:
            return np.array([np.interp(t, self.times, joint) for joint in self.path.T])

        t = now - self.begun
        return place(t), (place(t + 1e-3) - place(t - 1e-3)) / 2e-3

    @property
    def arrived(self) -> bool:
        return time.monotonic() - self.begun >= self.times[-1]

    def follow(self, points: list[Any]) -> None:
        now = time.monotonic()
        times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in points]
        q, _ = self.at(now)
        self.times = np.array([0.0, *times]) * self.slowness
        self.path = np.array([q, *(point.positions for point in points)])
        self.begun = now

    def brake(self) -> None:
        now = time.monotonic()
        q, dq = self.at(now)
        s = np.linspace(0.0, BRAKING, 21)
        self.times, self.path, self.begun = s, q + dq * (s - s**2 / (2.0 * BRAKING))[:, None], now

    def freeze(self) -> None:
        now = time.monotonic()
        self.times, self.path, self.begun = np.zeros(1), self.at(now)[0][None], now


class Double:
    """The node."""

    def __init__(self, names: list[str], q: np.ndarray, orders: list[str]) -> None:
        import rclpy
        from doubles.message_types.loading import load_types
        from rclpy.callback_groups import ReentrantCallbackGroup
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        rclpy.init()
        self.node = rclpy.create_node("arm_double")
        self.group = ReentrantCallbackGroup()
        load_types()
        self.action = importlib.import_module("control_msgs.action").FollowJointTrajectory
        self.names, self.arm = names, Arm(q)
        self.server: Any = None
        self.listener: Any = None
        self.goal: Any = None
        self.abandoned = False
        self.flags = {"obey": True, "brake": True, "prompt": True, "show": True, "frozen": False}
        self.states = self.node.create_publisher(JointState, "/joint_states", 10)
        self.node.create_subscription(String, "/double", lambda message: self.order(message.data), 10)
        self.node.create_timer(0.01, self.tick, callback_group=self.group)
        for word in orders:
            self.order(word)

    def order(self, word: str) -> None:
        opposites = {"refuse": "obey", "coast": "brake", "tardy": "prompt", "blind": "show"}
        if word == "serve":
            self.serve()
        elif word == "vanish":
            self.server.destroy()
        elif word == "hear":
            from trajectory_msgs.msg import JointTrajectory

            self.listener = self.node.create_subscription(JointTrajectory, TOPIC, self.published, 10)
        elif word == "deaf":
            self.node.destroy_subscription(self.listener)
        elif word == "slow":
            self.arm.slowness = 2.5
        elif word == "abandon":
            self.abandoned, goal, self.goal = True, self.goal, None
            goal.execute()
        elif word == "freeze":
            self.flags["frozen"] = True
            self.arm.freeze()
        else:
            self.flags[opposites.get(word, word)] = word not in opposites

    def serve(self) -> None:
        from rclpy.action import ActionServer

        self.server = ActionServer(
            self.node,
            self.action,
            NAME,
            execute_callback=self.execute,
            goal_callback=self.asked,
            handle_accepted_callback=self.accepted,
            cancel_callback=self.cancelled,
            callback_group=self.group,
        )

    async def answer(self) -> None:
        until = time.monotonic() + (0.0 if self.flags["prompt"] else LATE)
        while time.monotonic() < until:
            await asyncio.sleep(0)

    async def asked(self, goal: Any) -> Any:
        from rclpy.action import GoalResponse

        await self.answer()
        return GoalResponse.ACCEPT

    def accepted(self, goal: Any) -> None:
        self.goal, self.flags["frozen"] = goal, False
        self.arm.follow(goal.request.trajectory.points)
        print("playing", flush=True)

    async def cancelled(self, goal: Any) -> Any:
        from rclpy.action import CancelResponse

        await self.answer()
        print("asked to cancel", flush=True)
        if not self.flags["obey"]:
            return CancelResponse.REJECT
        if self.flags["brake"]:
            self.arm.brake()
        return CancelResponse.ACCEPT

    def published(self, message: Any) -> None:
        print("asked by topic", flush=True)
        if len(message.points) > 1 or self.flags["brake"]:
            self.flags["frozen"] = False
            self.arm.follow(message.points)

    def execute(self, goal: Any) -> Any:
        if goal.is_cancel_requested:
            goal.canceled()
        elif self.abandoned:
            goal.abort()
            return self.action.Result(error_code=-4)
        else:
            goal.succeed()
        return self.action.Result()

    def tick(self) -> None:
        from sensor_msgs.msg import JointState

        now = time.monotonic()
        q, dq = self.arm.at(now)
        if self.flags["show"]:
            message = JointState(name=self.names, position=q.tolist(), velocity=dq.tolist())
            message.header.stamp = self.node.get_clock().now().to_msg()
            self.states.publish(message)
        goal = self.goal
        if goal is not None and (goal.is_cancel_requested or (self.arm.arrived and not self.flags["frozen"])):
            self.goal = None
            goal.execute()


def main() -> None:
    """Arguments: names of the joints, angles at the start, then orders."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import rclpy
        from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    names, angles, *orders = sys.argv[1:]
    double = Double(names.split(","), np.array([float(value) for value in angles.split(",")]), orders)
    executor = SingleThreadedExecutor()
    executor.add_node(double.node)
    print("ready", flush=True)
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()
    executor.shutdown()
    double.node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
