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
from iparam.bridges.ros2.messages import duration_of
from iparam.bridges.ros2.nodes.playback_plan import PlaybackPlan, PlaybackSettings, stopping_pose
from iparam.bridges.ros2.parameters import NodeParameter, declare
from iparam.bridges.ros2.readers import JointReader
from iparam.printable import printable

FRESH = 0.5
"""Seconds after which a joint state says nothing about where the arm is."""

DELIVERY = 2.0
"""Seconds in which the controller has to confirm the stop at the node's end."""

PARAMETERS = (
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
    NodeParameter("stop_time", 0.25, "Time in which ~/stop brings the arm to rest [s].", 0.01, 10.0),
)


class PlaybackNode(Node):
    """Publishes a joint trajectory when it is asked to and the arm is where it must be. See docs/ros2.md."""

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
        self._states = self.create_publisher(String, "~/state", LATCHED_QOS, event_callbacks=QUIET)
        self.inputs.subscribe(JointState, "joint_states", self._joint_state)
        self.create_service(Trigger, "~/play", self._play)
        self.create_service(Trigger, "~/stop", self._stop)
        self.create_timer(0.1, self._watch)
        self._say("ready")
        for remark in self._plan.remarks:
            self.get_logger().warning(remark)
        duration, share = self._plan.trajectory.duration, values["scale"]
        self.get_logger().info(
            printable(f"{values['trajectory']}: all limits kept; {duration:g} s at {share:g} of the amplitude")
        )

    def close(self) -> None:
        """Stop the arm if it is moving: the controller would play on without this node."""
        if self._until is not None:
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
        reason = self._why_not()
        if reason is not None:
            response.success, response.message = False, reason
            return response
        message = JointTrajectory(joint_names=list(self._reader.driven))
        points, driven = self._plan.points, list(self._plan.robot.free_joints)
        parts = (points.q[:, driven], points.dq[:, driven], points.ddq[:, driven])
        for t, q, dq, ddq in zip(points.time, *parts, strict=True):
            message.points.append(_point(self._lead + float(t), q, dq, ddq))
        self._publisher.publish(message)
        self._until = time.monotonic() + self._lead + float(points.time[-1])
        self._say("playing")
        response.success = True
        response.message = f"{points.num_samples} points, {self._lead + float(points.time[-1]):g} s"
        return response

    def _why_not(self) -> str | None:
        if self._until is not None:
            return "it is being played; call ~/stop first"
        if self._publisher.get_subscription_count() == 0:
            return f"nobody listens to {self._publisher.topic_name}: is the controller running?"
        if self._state is None or time.monotonic() - self._seen > FRESH:
            return f"where the arm is is not known: no message on joint_states for {FRESH:g} s"
        return self._plan.why_not(*self._state, self._tolerance)

    def _stop(self, request: Any, response: Any) -> Any:
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
        if self._until is not None and time.monotonic() >= self._until:
            self._until = None
            self._say("finished")


def _point(at: float, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=q.tolist(), velocities=dq.tolist(), accelerations=ddq.tolist(), time_from_start=duration_of(at)
    )
