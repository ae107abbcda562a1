"""The kinematics node: velocity and acceleration of the tool from joint states."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.backend import (
    OUTPUT_QOS,
    QUIET,
    AccelStamped,
    Float64MultiArray,
    JointState,
    Node,
    TwistStamped,
)
from iparam.bridges.ros2.description.robot_source import RobotSource
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.input_watch import InputWatch
from iparam.bridges.ros2.joint_motion_filter import JointMotionFilter
from iparam.bridges.ros2.messages import array_message, stamp_of, write_stamp, write_vector
from iparam.bridges.ros2.parameters import ROBOT, NodeParameter, declare, on_change
from iparam.bridges.ros2.readers import JointReader
from iparam.printable import printable
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
        self._parts: dict[str, FloatArray] = {}
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
        RobotSource(self, self.inputs, values["robot"], values["tip"], self._prepare)

    def _prepare(self, robot: Robot) -> None:
        values = self._values
        self._robot, self._reader = robot, JointReader(robot, self._prefix)
        self._filter = JointMotionFilter(
            robot.num_joints, values["bandwidth"], values["angle_deviation"], values["rate"]
        )
        rest = np.zeros(robot.num_joints)
        tool_motion(robot, rest, rest, rest)  # loads the compiled code before the first message
        self.inputs.clear()
        self.inputs.subscribe(JointState, "joint_states", self._joint_state)
        for name in ARRAYS:
            self.inputs.subscribe(Float64MultiArray, name, self._array_callback(name))
        self.get_logger().info(printable(f"{robot.name}: motion of {robot.tool_frame} in {self._frame} axes"))

    def _look(self) -> None:
        """Say that the robot's description is missing; of states, some come by arrays, and none need come at all."""
        self._watch.log(self._watch.sentence() if "robot_description" in self.inputs.topics else "")

    def close(self) -> None:
        """Nothing is left to do."""

    def _change(self, name: str, value: Any) -> None:
        if name == "frame":
            self._frame = value

    def _array_callback(self, name: str) -> Any:
        def callback(message: Float64MultiArray, info: Any) -> None:
            values = np.array(message.data, dtype=np.float64)
            if values.shape != (self._robot.num_joints,) or not np.isfinite(values).all():
                text = f"{name} needs {self._robot.num_joints} finite numbers, got {values.tolist()}: left out"
                self.get_logger().warning(printable(text), throttle_duration_sec=5.0)
                return
            self._parts[name] = values
            if len(self._parts) == len(ARRAYS):
                q, dq, ddq = (self._parts[part] for part in ARRAYS)
                self._parts.clear()
                self._publish(int(self.get_clock().now().nanoseconds), q, dq, ddq)

        return callback

    def _joint_state(self, message: JointState, info: Any) -> None:
        found = self._reader.positions_and_velocities(message.name, message.position, message.velocity)
        if found is None:
            return  # about other joints: a gripper's, perhaps
        q, measured = found
        if not np.isfinite(q).all():
            self.get_logger().warning("joint_states: a position is not finite: left out", throttle_duration_sec=5.0)
            return
        stamp = stamp_of(message.header, self)
        motion = self._filter.step(stamp, q)
        known = measured is not None and bool(np.isfinite(measured).all())
        dq = measured if known else None if motion is None else motion.dq
        if dq is not None:
            self._publish(stamp, q, dq, None if motion is None else motion.ddq)

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
