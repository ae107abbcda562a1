"""The simulation node: joint states and wrenches of a simulated arm in real time, as a real arm's driver sends them."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.backend import (
    OUTPUT_QOS,
    QUIET,
    JointState,
    JointTrajectory,
    Node,
    WrenchStamped,
    sensor_qos,
)
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.messages import write_stamp, write_wrench
from iparam.bridges.ros2.parameters import declare
from iparam.bridges.ros2.readers import JointReader
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.robot.model import Robot
from iparam.simulation.live_arm import LiveArm
from iparam.trajectory import QuinticSpline, Trajectory

BLOCK = 0.02
"""Time by which the arm is ahead of its messages, at most: a motion that comes begins that much later [s]."""

BEHIND = 0.5
"""Seconds behind real time at which that is said."""

AT_START = 1e-6
"""Distance from the start of a motion at which an arm may begin it [rad]."""


class SimulatedArmNode(Node):
    """Publishes what the sensors of a simulated arm say. See the page "ROS 2" of the documentation.

    Args:
        arm: at rest, where the motion starts.
        robot: of which it is.
        motion: that it plays.
        times: how often; None for ever again.
        rest: before each time [s].
    """

    def __init__(
        self, arm: LiveArm, robot: Robot, motion: Trajectory, times: int | None = 1, rest: float = 2.0
    ) -> None:
        super().__init__("iparam_simulation")
        declare(self, ())
        self._arm, self._robot, self._motion = arm, robot, motion
        self._left, self._rest = times, rest
        self._next = rest  # when the motion may begin
        self._joint_reader = JointReader(robot)
        self._state = JointState(name=list(robot.joint_names))
        self._wrench = WrenchStamped()
        quality = sensor_qos(reliable=True)  # as deep as the nodes' inputs: a busy machine loses nothing
        self._states = self.create_publisher(JointState, "joint_states", quality, event_callbacks=QUIET)
        self._wrenches = self.create_publisher(WrenchStamped, "wrench", quality, event_callbacks=QUIET)
        self._due: list[tuple[float, Callable[[int, FloatArray], None], FloatArray]] = []  # messages, latest first
        self.inputs = PacedInputs(InputNode(self), self._work)
        self.inputs.topics.subscribe(JointTrajectory, "joint_trajectory", self._trajectory, OUTPUT_QOS)
        self.get_logger().info(
            printable(f"{robot.name}: joint_states and wrench, in {robot.tool_frame}, at {arm.rate:g} Hz")
        )
        self._begin, self._begin_stamp = time.monotonic(), int(self.get_clock().now().nanoseconds)

    def close(self) -> None:
        """Nothing is left to do."""

    def _work(self) -> float:
        """Publish a message if one is due; the time to the next one [s]."""
        if not self._due:
            self._play_on()
            states, wrenches = self._arm.advance(max(round(BLOCK * self._arm.rate), 1))
            self._due += [(at, self._publish_state, row) for at, row in zip(states.time, states.values, strict=True)]
            self._due += [
                (at, self._publish_wrench, row) for at, row in zip(wrenches.time, wrenches.values, strict=True)
            ]
            self._due.sort(key=lambda message: -message[0])
        due = self._due[-1][0] if self._due else self._arm.time
        late = time.monotonic() - self._begin - due
        if late < 0.0:
            return -late
        if late > BEHIND:
            text = f"{late:.1f} s behind real time: the stamps are true, the messages late (lower physics_rate)"
            self.get_logger().warning(text, throttle_duration_sec=5.0)
        if self._due:
            at, publish, values = self._due.pop()
            publish(self._begin_stamp + round(1e9 * at), values)
        return 0.0

    def _publish_wrench(self, stamp: int, values: FloatArray) -> None:
        write_wrench(self._wrench, stamp, self._robot.tool_frame, values)
        self._wrenches.publish(self._wrench)

    def _publish_state(self, stamp: int, values: FloatArray) -> None:
        write_stamp(self._state.header, stamp, "")
        q, dq, tau = (array("d", part.tobytes()) for part in np.split(values, 3))
        self._state.position, self._state.velocity, self._state.effort = q, dq, tau
        self._states.publish(self._state)

    def _play_on(self) -> None:
        """Begin the motion once more when its time has come."""
        arm = self._arm
        if arm.moving or self._left == 0:
            self._next = arm.time + self._rest
            return
        if arm.time < self._next:
            return
        away = float(np.abs(arm.set_point.q - self._motion.evaluate(0.0).q).max())
        if away > AT_START:
            self.get_logger().warning(f"the motion ends {away:.3g} rad from where it starts: it is not played again")
            self._left = 0
            return
        arm.play(self._motion)
        self._left = None if self._left is None else self._left - 1
        self.get_logger().info(f"moving for {self._motion.duration:g} s")

    def _trajectory(self, message: JointTrajectory, info: Any) -> None:
        """Follow a motion that was sent, from where the arm is; from then on only such motions are played."""
        try:
            motion = self._motion_of(message)
        except IparamError as error:
            self.get_logger().error(printable(f"joint_trajectory: {error}"))
            return
        self._arm.play(motion)
        self._left = 0
        self.get_logger().info(f"moving for {motion.duration:g} s, as joint_trajectory says")

    def _motion_of(self, message: JointTrajectory) -> Trajectory:
        now = self._arm.set_point
        times, points = [0.0], [now.q[0]]
        speed = np.zeros(self._robot.num_joints)
        for point in message.points:
            found = self._joint_reader.positions_and_velocities(message.joint_names, point.positions, point.velocities)
            if found is None:
                raise InputError(f"it is of {', '.join(message.joint_names)}, and not of this arm: left out")
            at = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
            if at > 0.0:  # at 0 the arm is where it is
                times.append(at)
                points.append(found[0])
                speed = np.zeros(self._robot.num_joints) if found[1] is None else found[1]
        return QuinticSpline(
            np.array(times),
            np.array(points),
            start_velocity=now.dq[0],
            end_velocity=speed,
            start_acceleration=now.ddq[0],
        )


class PacedInputs:
    """The inputs of a node that has something to do at times of its own.

    Args:
        topics: its subscriptions.
        work: does what is due and tells when something is due next [s].
    """

    def __init__(self, topics: InputNode, work: Callable[[], float]) -> None:
        self.topics, self._work = topics, work

    def wait(self, timeout: float) -> None:
        """Work, and wait for messages, for ``timeout`` [s] in all."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0.0:
            self.topics.wait(min(left, self._work()))

    def destroy_node(self) -> None:
        """End the subscriptions."""
        self.topics.destroy_node()
