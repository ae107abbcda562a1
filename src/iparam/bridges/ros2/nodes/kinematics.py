"""The kinematics node: velocity and acceleration of the tool from joint states."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.physical_bounds import Impossible, PhysicalBounds
from iparam.bridges.ros2.backend import (
    OUTPUT_QOS,
    QUIET,
    AccelStamped,
    DiagnosticArray,
    Float64MultiArray,
    JointState,
    Node,
    TwistStamped,
)
from iparam.bridges.ros2.diagnostics import publish_status, sent_time, withheld
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.input_watch import DESCRIPTION, InputWatch, waiting_text
from iparam.bridges.ros2.joint_motion_filter import JointMotionFilter
from iparam.bridges.ros2.matching.array_sets import ArraySets
from iparam.bridges.ros2.matching.stamped_buffer import StampedBuffer
from iparam.bridges.ros2.messages import array_message, stamp_of, write_stamp, write_vector
from iparam.bridges.ros2.parameters import ROBOT, NodeParameter, declare, on_change
from iparam.bridges.ros2.readers import JointReader
from iparam.bridges.ros2.robot_source import RobotSource
from iparam.printable import printable
from iparam.remarks import remark
from iparam.robot.kinematics import tool_motion
from iparam.robot.model import Robot

PARAMETERS = (
    *ROBOT,
    NodeParameter(
        "frame",
        "tool",
        "The axes that the outputs are expressed in: those of the tool, or of the base.",
        choices=("tool", "base"),
        read_only=False,
    ),
    NodeParameter("rate", 0.0, "Rate of joint_states [Hz]; 0 finds it from the first stamps.", 0.0, 1e5),
    NodeParameter("bandwidth", 15.0, "Of the motion that the filter of the accelerations lets pass [Hz].", 0.1, 1e3),
    NodeParameter("angle_deviation", 5e-5, "Standard deviation of the noise of an angle [rad].", 1e-9, 1.0),
)
ARRAYS = ("joint_positions", "joint_velocities", "joint_accelerations")
STATES = 5_000
"""Stamps of joint_states that are remembered, by which one that comes twice is known: ten seconds at 500 Hz."""

VELOCITY, ACCELERATION = "vx,vy,vz,wx,wy,wz", "ax,ay,az,alphax,alphay,alphaz"


class KinematicsNode(Node):
    """Subscribes joint states, publishes the motion of the tool. See the page "ROS 2" of the documentation."""

    def __init__(self) -> None:
        super().__init__("iparam_kinematics")
        values = declare(self, PARAMETERS)
        self.inputs = InputNode(self)
        self._frame: str = values["frame"]
        on_change(self, PARAMETERS, self._change)
        self._values, self._prefix = values, values["joint_prefix"]
        self._sets, self._states = ArraySets(ARRAYS), StampedBuffer(STATES)
        self._heard = time.monotonic()  # when the latest array came
        self._dropped = self._withheld = 0
        self._impossible: Impossible | None = None  # why a motion was withheld since the last report
        self._reported = 0
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT_QOS, event_callbacks=QUIET)
        self._velocity = self.create_publisher(Float64MultiArray, "tool0_velocity", OUTPUT_QOS, event_callbacks=QUIET)
        self._acceleration = self.create_publisher(
            Float64MultiArray, "tool0_acceleration", OUTPUT_QOS, event_callbacks=QUIET
        )
        self._twist = self.create_publisher(Float64MultiArray, "tool0_twist", OUTPUT_QOS, event_callbacks=QUIET)
        self._velocity_stamped = self.create_publisher(
            TwistStamped, "tool0_velocity_stamped", OUTPUT_QOS, event_callbacks=QUIET
        )
        self._acceleration_stamped = self.create_publisher(
            AccelStamped, "tool0_acceleration_stamped", OUTPUT_QOS, event_callbacks=QUIET
        )
        self._watch = InputWatch(self, self.inputs)
        self.create_timer(1.0, self._look)
        self.create_timer(0.1, self._take)
        self._source = RobotSource(self, self.inputs, values["robot"], values["tip"], self._prepare)

    def _prepare(self, robot: Robot) -> None:
        values = self._values
        self._robot, self._reader = robot, JointReader(robot, self._prefix)
        self._sets = ArraySets(ARRAYS)
        self._filter = JointMotionFilter(
            robot.num_joints, values["bandwidth"], values["angle_deviation"], values["rate"]
        )
        self._bounds = PhysicalBounds(robot, bandwidth=values["bandwidth"])
        self.inputs.clear()
        self.inputs.subscribe(JointState, "joint_states", self._joint_state)
        for name in ARRAYS:
            self.inputs.subscribe(Float64MultiArray, name, self._array_callback(name))
        self.get_logger().info(printable(f"{robot.name}: motion of {robot.tool_frame} in {self._frame} axes"))

    def _look(self) -> None:
        """Say that the robot's description is missing; of states, some come by arrays, and none need come at all."""
        missing = self._watch.missing() if DESCRIPTION in self.inputs.topics else ()
        self._watch.log(missing)
        counts = {**self._sets.counts, "joint_states": self._states.counts}
        values: dict[str, object] = {
            "waiting_for": waiting_text(missing),
            "sets": self._sets.matched,
            "withheld": self._withheld,
        }
        values |= {f"{name}.{key}": count for name, each in counts.items() for key, count in vars(each).items()}
        before, self._dropped = self._dropped, sum(each.dropped for each in self._sets.counts.values())
        remarks = list(missing)
        if self._source.problem is not None:
            remarks.insert(0, self._source.problem)
        if self._impossible is not None:
            remarks.insert(0, withheld("motions-withheld", self._impossible, self._withheld - self._reported))
        if self._dropped > before:
            remarks.append(remark("arrays-dropped", count=self._dropped - before))
        publish_status(self, self._diagnostics, values, remarks)
        self._impossible, self._reported = None, self._withheld

    def close(self) -> None:
        """Nothing is left to do."""

    def _change(self, name: str, value: Any) -> None:
        if name == "frame":
            self._frame = value

    def _array_callback(self, name: str) -> Any:
        def callback(message: Float64MultiArray, info: Any) -> None:
            values = np.array(message.data, dtype=np.float64)
            if values.shape != (self._robot.num_joints,) or not np.isfinite(values).all():
                self._sets.refuse(name)
                text = f"{name} needs {self._robot.num_joints} finite numbers, got {values.tolist()}: left out"
                self.get_logger().warning(printable(text), throttle_duration_sec=5.0)
                return
            self._heard = time.monotonic()
            self._sets.add(name, sent_time(info), values)
            self._take()

        return callback

    def _take(self) -> None:
        """Publish for the samples of which all three arrays are known by now."""
        for found in self._sets.take(time.monotonic() - self._heard):
            age = time.time_ns() - found.sent
            q, dq, ddq = found.values
            # Whoever sends arrays says what the accelerations are: they come from no filter, but take torques.
            moves = self._bounds.of_motion(dq, np.zeros_like(ddq))
            if self._withheld_for(moves or self._bounds.of_wrenches(np.zeros((1, 6)), q, dq, ddq)):
                continue
            self._publish(int(self.get_clock().now().nanoseconds) - age, *found.values)

    def _joint_state(self, message: JointState, info: Any) -> None:
        found = self._reader.positions_and_velocities(message.name, message.position, message.velocity)
        if found is None:
            return  # about other joints: a gripper's, perhaps
        q, measured = found
        stamp = stamp_of(message.header, self)
        if not self._states.add(stamp, q):
            return  # not finite, doubled, or older than one that has been used
        self._states.discard(stamp)
        motion = self._filter.step(stamp, q)
        if motion is not None and self._withheld_for(self._bounds.of_motion(motion.dq, motion.ddq)):
            return
        known = measured is not None and bool(np.isfinite(measured).all())
        dq = measured if known else None if motion is None else motion.dq
        if dq is not None and not self._withheld_for(self._bounds.of_motion(dq, np.zeros_like(dq))):
            self._publish(stamp, q, dq, None if motion is None else motion.ddq)

    def _withheld_for(self, impossible: Impossible | None) -> bool:
        """Whether a motion is not published, because no arm of this kind can do it; counts it and says so."""
        if impossible is None:
            return False
        self._withheld, self._impossible = self._withheld + 1, impossible
        self.get_logger().error(printable(f"motions are withheld: {impossible.sentence}"), throttle_duration_sec=5.0)
        return True

    def _publish(self, stamp: int, q: FloatArray, dq: FloatArray, ddq: FloatArray | None) -> None:
        found = tool_motion(self._robot, q, dq, np.zeros_like(q) if ddq is None else ddq)
        frame = self._prefix + self._robot.tool_frame
        if self._frame == "base":
            found, frame = found.in_base(), self._prefix + self._robot.base_frame
        velocity = np.concatenate([found.linear_velocity, found.angular_velocity])
        self._velocity.publish(array_message(velocity, [VELOCITY]))
        twist = TwistStamped()
        write_stamp(twist.header, stamp, frame)
        write_vector(twist.twist.linear, found.linear_velocity)
        write_vector(twist.twist.angular, found.angular_velocity)
        self._velocity_stamped.publish(twist)
        if ddq is None:
            return
        acceleration = np.concatenate([found.linear_acceleration, found.angular_acceleration])
        self._acceleration.publish(array_message(acceleration, [ACCELERATION]))
        whole = np.concatenate([velocity, acceleration])
        self._twist.publish(array_message(whole, [f"{VELOCITY},{ACCELERATION}"]))
        accel = AccelStamped()
        write_stamp(accel.header, stamp, frame)
        write_vector(accel.accel.linear, found.linear_acceleration)
        write_vector(accel.accel.angular, found.angular_acceleration)
        self._acceleration_stamped.publish(accel)
