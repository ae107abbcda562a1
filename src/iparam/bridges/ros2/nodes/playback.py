"""The playback node: sends a planned motion to a joint trajectory controller, if it passes the check."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.arm_sight import FRESH, ArmSight
from iparam.bridges.ros2.backend import (
    LATCHED_QOS,
    OUTPUT_QOS,
    QUIET,
    DiagnosticArray,
    DiagnosticStatus,
    Future,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    Node,
    ReentrantCallbackGroup,
    String,
    TimeSpan,
    Trigger,
)
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.messages import duration_of, status_message, write_stamp
from iparam.bridges.ros2.nodes.playback_plan import PlaybackPlan, PlaybackSettings, stopping_pose
from iparam.bridges.ros2.nodes.playing.channels import PublishedTrajectory, TrajectoryClient, action_served
from iparam.bridges.ros2.nodes.playing.played_motion import Channel, Path, Phase, PlayedMotion
from iparam.bridges.ros2.parameters import SETUP, NodeParameter, declare, on_change
from iparam.bridges.ros2.readers import JointReader
from iparam.errors import IparamError
from iparam.printable import printable
from iparam.trajectory import TrajectorySamples

DELIVERY = 1.0
"""Seconds at the node's end for its last messages to arrive, by topic."""

LOOK = 0.1
"""Seconds between two looks at how far the motion is."""

REPORT = 1.0
"""Seconds between two messages on /diagnostics while nothing changes."""

WHAT_TO_DO = "Look at the arm, have a hand on the stop button, and call ~/stop again"

LEVELS: dict[Phase | None, bytes] = {
    Phase.STOPPING: DiagnosticStatus.WARN,
    Phase.ABORTED: DiagnosticStatus.WARN,
    Phase.UNKNOWN: DiagnosticStatus.ERROR,
}
"""On /diagnostics; OK for the others."""

PARAMETERS = (
    SETUP,
    NodeParameter("trajectory", "", "The motion: .json from 'iparam excite optimize'."),
    NodeParameter("robot", "", "The arm: a name from 'iparam robots', or a URDF file; empty for the motion's own."),
    NodeParameter("tip", "", "The frame taken as the tool; empty for the motion's, or the robot's own."),
    NodeParameter("joint_prefix", "", "Before the names of the joints in messages, e.g. left_."),
    NodeParameter("rate", 0.0, "Points a second; 0 for the file's [Hz].", 0.0, 1e4),
    NodeParameter("scale", 1.0, "Share of the amplitude to play: 0.2 for a first try.", 0.01, 1.0),
    NodeParameter(
        "blend",
        0.0,
        "Start and end at rest, with limited jerk, within this time [s]; 0: the motion as it is.",
        0.0,
        60.0,
    ),
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
    """Sends a joint trajectory when it is asked to and the arm is where it must be.

    See the page "ROS 2" of the documentation.
    """

    BETWEEN = 0.02
    """Seconds between two looks at services and timers: a request to stop must not wait."""

    def __init__(self) -> None:
        super().__init__("iparam_playback")
        values = declare(self, PARAMETERS)
        self.inputs = InputNode(self)
        names = PlaybackSettings.__dataclass_fields__
        self._plan = PlaybackPlan.load(PlaybackSettings(**{key: values[key] for key in names}))
        self._reader = JointReader(self._plan.robot, values["joint_prefix"])
        self._tolerance, self._lead = values["start_tolerance"], values["lead"]
        self._stop_time: float = values["stop_time"]
        self._arm = ArmSight()
        self._motion: PlayedMotion | None = None
        self._stops: list[Future[None]] = []
        self._publisher = self.create_publisher(JointTrajectory, "joint_trajectory", OUTPUT_QOS, event_callbacks=QUIET)
        self._path_tolerance: float = values["path_tolerance"]
        on_change(self, PARAMETERS, self._change)
        self._speed: float = values["approach_speed"]
        self._interface: str = values["interface"]
        topic = self._publisher.topic_name
        self._action: str = values["action"] or f"{topic.rpartition('/')[0]}/follow_joint_trajectory"
        self._client: TrajectoryClient | None = None
        if self._interface == "action":
            self._client = TrajectoryClient(self, self._action)
        self._states = self.create_publisher(String, "~/state", LATCHED_QOS, event_callbacks=QUIET)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT_QOS, event_callbacks=QUIET)
        self._said, self._reported = "", 0.0
        self._phase: Phase | None = None
        self.inputs.subscribe(JointState, "joint_states", self._joint_state)
        self.create_service(Trigger, "~/play", self._play)
        self.create_service(Trigger, "~/move_to_start", self._move_to_start)
        # It answers when the arm stands still or does not; all else goes on meanwhile.
        self.create_service(Trigger, "~/stop", self._stop, callback_group=ReentrantCallbackGroup())
        self.create_timer(LOOK, self._watch)
        self._report()
        for remark in self._plan.remarks:
            say = self.get_logger().warning if remark.lowers else self.get_logger().info
            say(printable(remark.message))
        duration, share = self._plan.trajectory.duration, values["scale"]
        self.get_logger().info(
            printable(f"{values['trajectory']}: all limits kept; {duration:g} s at {share:g} of the amplitude")
        )

    def _change(self, name: str, value: Any) -> None:
        self._path_tolerance = value

    def close(self) -> None:
        """Stop the arm if it is moving: the controller would play on without this node.

        Raises:
            IparamError: it may still move.
        """
        motion, executor = self._motion, self.executor
        if motion is None or motion.over or executor is None:
            return
        motion.stop(time.monotonic())
        self._report()
        while motion.phase is Phase.STOPPING or self._stops:
            self.inputs.wait(self.BETWEEN)
            executor.spin_once(timeout_sec=0.0)
            self._watch()
        for publisher in (self._publisher, self._states, self._diagnostics):
            publisher.wait_for_all_acked(TimeSpan(seconds=DELIVERY))  # what nobody has received yet goes with the node
        if not motion.over:
            raise IparamError(f"the stop is not confirmed, and the arm {motion.state}. {WHAT_TO_DO}")

    def _joint_state(self, message: JointState, info: Any) -> None:
        found = self._reader.positions_and_velocities(message.name, message.position, message.velocity)
        if found is None or not np.isfinite(found[0]).all():
            return
        q, dq = found
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        self._arm.see(time.monotonic(), stamp, q, dq if dq is not None and np.isfinite(dq).all() else None)

    def _play(self, request: Any, response: Any) -> Any:
        arm = self._arm
        reason = self._why_not() or (None if arm.q is None else self._plan.why_not(arm.q, arm.dq, self._tolerance))
        if reason is not None:
            response.success, response.message = False, reason
            return response
        points = self._plan.points
        by = self._send(points, self._lead, "playing")
        response.success = True
        response.message = f"{points.num_samples} points, {self._lead + float(points.time[-1]):g} s, by {by}"
        return response

    def _move_to_start(self, request: Any, response: Any) -> Any:
        """Move to where the motion starts: slowly, on a line that has been checked, from rest."""
        reason, q = self._why_not(), self._arm.q
        response.success = False
        if reason is None:
            reason = self._plan.why_not_at_rest(self._arm.dq)
        if reason is not None or q is None:
            response.message = reason or ""
            return response
        try:
            way = self._plan.way_to_start(q, self._speed)
        except IparamError as error:
            response.message = str(error)
            return response
        response.success = True
        if way is None:
            response.message = "the arm is at the start pose"
            return response
        by = self._send(way, 0.0, "moving to start")
        response.message = f"{float(way.time[-1]):.1f} s, at most {self._speed:g} rad/s, by {by}"
        return response

    def _send(self, points: TrajectorySamples, lead: float, name: str) -> str:
        """Begin a motion, and say how it was sent."""
        message = JointTrajectory(joint_names=list(self._reader.driven))
        driven = list(self._plan.robot.free_joints)
        first = 1 if lead == 0.0 else 0  # where the arm is already
        parts = (points.q[first:, driven], points.dq[first:, driven], points.ddq[first:, driven])
        for t, q, dq, ddq in zip(points.time[first:], *parts, strict=True):
            message.points.append(_point(lead + float(t), q, dq, ddq))
        channel: Channel
        if self._client is not None:
            channel = self._client.send(message, self._path_tolerance, self._tolerance)
        else:
            channel = PublishedTrajectory(self._publisher, self._stopping_trajectory)
            self._publisher.publish(message)
        path = Path(*(np.concatenate([part[:1], part]) for part in (points.time, points.q, points.dq)))
        path.time[1:] += lead
        self._motion = PlayedMotion(name, channel, path, self._tolerance, self._stop_time, time.monotonic())
        self._report()
        return channel.name

    def _connect(self) -> None:
        """Use the controller's action once it is served, unless the topic is wanted."""
        if self._client is not None or self._interface != "auto" or not action_served(self, self._action):
            return
        try:
            self._client = TrajectoryClient(self, self._action)
        except IparamError as error:  # only with "auto"
            self._interface = "topic"
            self.get_logger().warning(printable(f"the action {self._action} is not used, but the topic: {error}"))
            return
        self.get_logger().info(printable(f"trajectories go to the action {self._action}"))

    def _why_not(self) -> str | None:
        motion = self._motion
        if motion is not None and not motion.over:
            if motion.phase is Phase.UNKNOWN:
                return f"the arm {motion.state}. {WHAT_TO_DO}"
            return "it is being played; call ~/stop first"
        if self._client is not None and not self._client.served:
            return f"nobody serves the action {self._action}: is the controller running? (action, interface)"
        if self._client is None and self._publisher.get_subscription_count() == 0:
            return f"nobody listens to {self._publisher.topic_name}: {self._controllers()}"
        if not self._arm.fresh(time.monotonic()):
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

    async def _stop(self, request: Any, response: Any) -> Any:
        """Stop by the channel of the latest motion, and answer when the arm stands still, or could have by now."""
        now = time.monotonic()
        if self._motion is None:  # the arm may play what another node has sent
            still = Path(*(np.zeros((1, *shape)) for shape in ((), (1,), (1,))))
            channel = PublishedTrajectory(self._publisher, self._stopping_trajectory)
            self._motion = PlayedMotion("ready", channel, still, self._tolerance, self._stop_time, now)
        motion = self._motion
        motion.stop(now)
        self._report()
        done: Future[None] = Future()
        self._stops.append(done)
        await done
        self._stops.remove(done)
        response.success = motion.over
        response.message = motion.state if motion.over else f"NOT STOPPED: the arm {motion.state}. {WHAT_TO_DO}"
        return response

    def _stopping_trajectory(self) -> JointTrajectory | None:
        """A trajectory that brings the arm to rest: from where it is, or where it should be if that is not known."""
        now, q, dq = time.monotonic(), self._arm.q, self._arm.dq
        if not self._arm.fresh(now):
            planned = None if self._motion is None else self._motion.planned(now)
            q, dq = (None, None) if planned is None else planned
        if q is None:
            return None
        pose = stopping_pose(self._plan.robot, q, dq, self._stop_time)[list(self._plan.robot.free_joints)]
        rest = np.zeros_like(pose)
        message = JointTrajectory(joint_names=list(self._reader.driven))
        message.points.append(_point(self._stop_time, pose, rest, rest))
        return message

    def _watch(self) -> None:
        """See how far the motion is, and tell whoever waits for its stop."""
        motion = self._motion
        if motion is None or motion.over:
            self._connect()
        else:
            motion.look(time.monotonic(), self._arm)
        self._report()
        for done in self._stops:
            if not done.done() and (motion is None or motion.phase is not Phase.STOPPING):
                done.set_result(None)

    def _report(self) -> None:
        """Publish and log the state when it changes; diagnostics now and then."""
        now, motion = time.monotonic(), self._motion
        phase, state = (None, "ready") if motion is None else (motion.phase, motion.state)
        changed = state != self._said
        if changed:
            self._states.publish(String(data=state))
        if phase is not self._phase and motion is not None:
            logger = self.get_logger()
            if phase is Phase.UNKNOWN:
                logger.error(printable(f"the arm {state}. {WHAT_TO_DO}"))
            elif phase is Phase.ABORTED:
                logger.error(printable(f"the motion ended early: {state}"))
            else:
                logger.info(printable(state))
        if changed or now - self._reported >= REPORT:
            values: dict[str, object] = {
                "phase": "ready" if phase is None else phase.value,
                "channel": "" if motion is None else motion.channel.name,
                "joint_states": "fresh" if self._arm.fresh(now) else "none",
                "still_for_s": self._arm.still_for(now),
            }
            status = status_message(self.get_name(), LEVELS.get(phase, DiagnosticStatus.OK), state, values)
            message = DiagnosticArray(status=[status])
            write_stamp(message.header, int(self.get_clock().now().nanoseconds), "")
            self._diagnostics.publish(message)
            self._reported = now
        self._said, self._phase = state, phase


def _point(at: float, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=q.tolist(), velocities=dq.tolist(), accelerations=ddq.tolist(), time_from_start=duration_of(at)
    )
