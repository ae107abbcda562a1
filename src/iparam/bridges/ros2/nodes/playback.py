"""The playback node: sends a planned motion to a joint trajectory controller, if it passes the check."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.backend import (
    LATCHED_QOS,
    OUTPUT_QOS,
    QUIET,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    Node,
    String,
    TimeSpan,
    Trigger,
)
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.interfaces.action_types import trajectory_action
from iparam.bridges.ros2.messages import duration_of
from iparam.bridges.ros2.nodes.playback_plan import PlaybackPlan, PlaybackSettings, stopping_pose
from iparam.bridges.ros2.nodes.trajectory_client import TrajectoryClient, action_served
from iparam.bridges.ros2.parameters import SETUP, NodeParameter, declare, on_change
from iparam.bridges.ros2.readers import JointReader
from iparam.errors import IparamError
from iparam.printable import printable
from iparam.trajectory import TrajectorySamples

FRESH = 0.5
"""Seconds after which a joint state says nothing about where the arm is."""

DELIVERY = 2.0
"""Seconds in which the controller has to confirm the stop at the node's end."""

PARAMETERS = (
    SETUP,
    NodeParameter("trajectory", "", "The motion: .json from 'iparam excite optimize'."),
    NodeParameter("robot", "", "The arm: a name from 'iparam robots', or a URDF file; empty for the motion's own."),
    NodeParameter("tip", "", "The frame taken as the tool; empty for the motion's, or the robot's own."),
    NodeParameter("joint_prefix", "", "Before the names of the joints in messages, e.g. left_."),
    NodeParameter("rate", 0.0, "Points a second; 0 for the file's [Hz].", 0.0, 1e4),
    NodeParameter("scale", 1.0, "Share of the amplitude to play: 0.2 for a first try.", 0.01, 1.0),
    NodeParameter(
        "payload_size", (0.0, 0.0, 0.0), "Box around the payload x y z [m]; zeros: the motion's.", 0.0, 10.0, length=3
    ),
    NodeParameter("payload_mass", 0.0, "Mass of the payload, on the heavy side [kg]; 0: the motion's.", 0.0, 1e3),
    NodeParameter("cell", "", "Work cell: .json with boxes, walls and the ground; empty for the motion's."),
    NodeParameter("limit_fraction", 0.0, "Share of the limits that may be used; 0: the motion's.", 0.0, 1.0),
    NodeParameter(
        "max_displacement", 0.0, "Largest distance of the tool from its start [m]; 0: the motion's.", 0.0, 100.0
    ),
    NodeParameter(
        "gravity",
        (0.0, 0.0, 0.0),
        "Gravity in base axes [m/s^2]; zeros: the motion's.",
        -100.0,
        100.0,
        length=3,
    ),
    NodeParameter("start_tolerance", 0.02, "How far a joint may be from the start pose [rad].", 1e-6, 0.5),
    NodeParameter("lead", 0.5, "Time that the controller has to reach the start pose exactly [s].", 0.01, 60.0),
    NodeParameter(
        "interface",
        "auto",
        "How the controller is asked: by its action, by its topic, or by its action if it serves one (auto).",
        choices=("auto", "action", "topic"),
    ),
    NodeParameter("action", "", "Name of the FollowJointTrajectory action; empty: beside the topic joint_trajectory."),
    NodeParameter(
        "path_tolerance",
        0.05,
        "With the action: how far a joint may be from its path before the controller stops [rad].",
        1e-4,
        0.5,
        read_only=False,
    ),
    NodeParameter(
        "approach_speed", 0.25, "Of the fastest joint on the way to the start, ~/move_to_start [rad/s].", 0.01, 1.0
    ),
    NodeParameter("stop_time", 0.25, "Time in which ~/stop brings the arm to rest [s].", 0.01, 10.0),
)


class PlaybackNode(Node):
    """Publishes a joint trajectory when it is asked to and the arm is where it must be.

    See the page "ROS 2" of the documentation.
    """

    def __init__(self) -> None:
        super().__init__("iparam_playback")
        values = declare(self, PARAMETERS)
        self.inputs = InputNode(self)
        names = PlaybackSettings.__dataclass_fields__
        self._plan = PlaybackPlan.load(PlaybackSettings(**{key: values[key] for key in names}))
        self._reader = JointReader(self._plan.robot, values["joint_prefix"])
        self._tolerance, self._lead = values["start_tolerance"], values["lead"]
        self._stop_time: float = values["stop_time"]
        self._state: tuple[FloatArray, FloatArray | None] | None = None
        self._seen = 0.0
        self._until: float | None = None
        self._publisher = self.create_publisher(JointTrajectory, "joint_trajectory", OUTPUT_QOS, event_callbacks=QUIET)
        self._path_tolerance: float = values["path_tolerance"]
        on_change(self, PARAMETERS, self._change)
        self._speed: float = values["approach_speed"]
        self._interface: str = values["interface"]
        topic = self._publisher.topic_name
        self._action: str = values["action"] or f"{topic.rpartition('/')[0]}/follow_joint_trajectory"
        self._client: TrajectoryClient | None = None
        self._states = self.create_publisher(String, "~/state", LATCHED_QOS, event_callbacks=QUIET)
        self.inputs.subscribe(JointState, "joint_states", self._joint_state)
        self.create_service(Trigger, "~/play", self._play)
        self.create_service(Trigger, "~/move_to_start", self._move_to_start)
        self.create_service(Trigger, "~/stop", self._stop)
        self.create_timer(0.1, self._watch)
        self._say("ready")
        for remark in self._plan.remarks:
            self.get_logger().warning(remark)
        duration, share = self._plan.trajectory.duration, values["scale"]
        self.get_logger().info(
            printable(f"{values['trajectory']}: all limits kept; {duration:g} s at {share:g} of the amplitude")
        )

    def _change(self, name: str, value: Any) -> None:
        self._path_tolerance = value

    def close(self) -> None:
        """Stop the arm if it is moving: the controller would play on without this node."""
        client = self._client
        if client is not None and client.busy:
            client.cancel()
            end, executor = time.monotonic() + DELIVERY, self.executor
            while executor is not None and not client.stop_confirmed and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.05)
            if not client.stop_confirmed:
                self.get_logger().error(
                    f"the controller did not confirm the stop within {DELIVERY:g} s: look at the arm, and use the stop "
                    "button"
                )
            self._say("stopped")
        elif self._until is not None:
            self.get_logger().warning(self._halt())
            # With the node goes what it has sent and nobody has received yet.
            if not self._publisher.wait_for_all_acked(TimeSpan(seconds=DELIVERY)):
                self.get_logger().error(
                    f"nobody confirmed the stop within {DELIVERY:g} s: look at the arm, and use the stop button"
                )

    def _say(self, state: str) -> None:
        self._states.publish(String(data=state))

    def _joint_state(self, message: JointState, info: Any) -> None:
        found = self._reader.positions_and_velocities(message.name, message.position, message.velocity)
        if found is None or not np.isfinite(found[0]).all():
            return
        q, dq = found
        self._state = q, dq if dq is not None and np.isfinite(dq).all() else None
        self._seen = time.monotonic()

    def _play(self, request: Any, response: Any) -> Any:
        reason = self._why_not() or (None if self._state is None else self._plan.why_not(*self._state, self._tolerance))
        if reason is not None:
            response.success, response.message = False, reason
            return response
        points = self._plan.points
        self._send(points, self._lead, "playing")
        response.success = True
        response.message = f"{points.num_samples} points, {self._lead + float(points.time[-1]):g} s, by {self._by}"
        return response

    def _move_to_start(self, request: Any, response: Any) -> Any:
        """Move to where the motion starts: slowly, on a line that has been checked, from rest."""
        reason = self._why_not()
        response.success = False
        if reason is None and self._state is not None:
            reason = self._plan.why_not_at_rest(self._state[1])
        if reason is not None or self._state is None:
            response.message = reason or ""
            return response
        try:
            way = self._plan.way_to_start(self._state[0], self._speed)
        except IparamError as error:
            response.message = str(error)
            return response
        response.success = True
        if way is None:
            response.message = "the arm is at the start pose"
            return response
        self._send(way, 0.0, "moving to start")
        response.message = f"{float(way.time[-1]):.1f} s, at most {self._speed:g} rad/s, by {self._by}"
        return response

    @property
    def _by(self) -> str:
        """How trajectories are sent."""
        return f"the topic {self._publisher.topic_name}" if self._client is None else f"the action {self._action}"

    def _send(self, points: TrajectorySamples, lead: float, state: str) -> None:
        message = JointTrajectory(joint_names=list(self._reader.driven))
        driven = list(self._plan.robot.free_joints)
        first = 1 if lead == 0.0 else 0  # where the arm is already
        parts = (points.q[first:, driven], points.dq[first:, driven], points.ddq[first:, driven])
        for t, q, dq, ddq in zip(points.time[first:], *parts, strict=True):
            message.points.append(_point(lead + float(t), q, dq, ddq))
        if self._client is not None:
            self._client.send(message, self._path_tolerance, self._tolerance)
        else:
            self._publisher.publish(message)
            self._until = time.monotonic() + lead + float(points.time[-1])
        self._say(state)

    def _connect(self) -> None:
        """Use the controller's action once it is served, unless the topic is wanted."""
        if self._client is not None or self._interface == "topic" or not action_served(self, self._action):
            return
        self.get_logger().info("the types of FollowJointTrajectory are looked for; to make them takes half a minute")
        try:
            types = trajectory_action()
        except IparamError as error:
            if self._interface == "auto":
                self._interface = "topic"
            self.get_logger().warning(printable(f"the action {self._action} is not used: {error}"))
            return
        self._client = TrajectoryClient(self, types, self._action, self._ended)
        self.get_logger().info(printable(f"trajectories go to the action {self._action}, types {types.source}"))

    def _ended(self, reason: str) -> None:
        if reason and reason != "stopped":
            self.get_logger().error(printable(f"the motion ended early: {reason}"))
        self._say("finished" if not reason else reason if reason == "stopped" else f"aborted: {reason}")

    def _why_not(self) -> str | None:
        if self._until is not None or (self._client is not None and self._client.busy):
            return "it is being played; call ~/stop first"
        if self._client is None and self._interface == "action":
            return f"nobody serves the action {self._action}: is the controller running? (action, interface)"
        if self._client is not None and not action_served(self, self._action):
            return f"nobody serves the action {self._action} any more: is the controller running?"
        if self._client is None and self._publisher.get_subscription_count() == 0:
            return f"nobody listens to {self._publisher.topic_name}: {self._controllers()}"
        if self._state is None or time.monotonic() - self._seen > FRESH:
            return f"where the arm is is not known: no message on joint_states for {FRESH:g} s"
        return None

    def _controllers(self) -> str:
        """How to reach the controllers that do listen, as a clause."""
        listening = [
            name
            for name, types in self.get_topic_names_and_types()
            if "trajectory_msgs/msg/JointTrajectory" in types and self.count_subscribers(name)
        ]
        if not listening:
            return "is the controller running?"
        ways = " or ".join(f"-r joint_trajectory:={name}" for name in listening)
        return f"if this is the controller, start with {ways}"

    def _stop(self, request: Any, response: Any) -> Any:
        client = self._client
        if client is not None:
            response.success, response.message = client.busy, "the controller is asked to stop"
            if client.busy:
                client.cancel()
            else:
                response.message = "nothing is being played"
            return response
        fresh = self._state is not None and time.monotonic() - self._seen <= FRESH
        response.message = self._halt()
        response.success = fresh
        return response

    def _halt(self) -> str:
        """Publish a trajectory that brings the arm to rest, and say what was done."""
        if self._state is None:
            return "where the arm is is not known, so nothing was published: use the stop button"
        q, dq = self._state
        age = time.monotonic() - self._seen
        pose = stopping_pose(self._plan.robot, q, dq, self._stop_time)[list(self._plan.robot.free_joints)]
        rest = np.zeros_like(pose)
        message = JointTrajectory(joint_names=list(self._reader.driven))
        message.points.append(_point(self._stop_time, pose, rest, rest))
        self._publisher.publish(message)
        self._until = None
        self._say("stopped")
        return "stopped" if age <= FRESH else f"stopped where the arm was {age:.1f} s ago: joint_states has ceased"

    def _watch(self) -> None:
        self._connect()
        if self._until is not None and time.monotonic() >= self._until:
            self._until = None
            self._say("finished")


def _point(at: float, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=q.tolist(), velocities=dq.tolist(), accelerations=ddq.tolist(), time_from_start=duration_of(at)
    )
