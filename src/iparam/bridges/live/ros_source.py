"""`RosSource`: joint states and wrenches of ROS 2 topics, as they come. It only listens."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from iparam.bridges.live.source import LiveSamples
from iparam.bridges.ros2.backend import Node, SignalHandlerOptions, rclpy
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.input_watch import InputWatch, waiting_text
from iparam.bridges.ros2.matching.sample_matcher import MatchedSample, SampleMatcher
from iparam.bridges.ros2.matching.stamped_buffer import PeriodEstimate
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.bridges.ros2.sample_input import SampleInput
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.wrench_source import Measures

PATIENCE = 10.0
"""Time for the first samples, from which the rate is known [s]."""

SILENCE = 2.0
"""Time without a sample after which it is said [s]."""

LEAP = 1_000_000_000
"""Time that counts as passed where the stamps went back [ns]: long enough to be taken for a gap."""


class RosSource:
    """Samples at the instants of the wrench's stamps.

    Args:
        robot: the arm; its joints are found by name, in any order.
        joint_topic, wrench_topic: where joint states and wrenches are published.
        measures: whose wrench the sensor reports; see `iparam.sensing.SensorWrench`.
        gravity: (3,) in base axes; None for 9.81 downwards [m/s^2].
        patience: time for the first samples [s].

    Raises:
        InputError: nothing that fits comes, with what is published instead.
    """

    def __init__(
        self,
        robot: Robot,
        joint_topic: str = "joint_states",
        wrench_topic: str = "wrench",
        *,
        measures: Measures = "action",
        gravity: ArrayLike | None = None,
        patience: float = PATIENCE,
    ) -> None:
        x, y, z = np.asarray(STANDARD_GRAVITY if gravity is None else gravity, dtype=float).tolist()
        self.robot, self.gravity = robot, (x, y, z)
        names = ["-r", f"joint_states:={joint_topic}", "-r", f"wrench:={wrench_topic}"]
        try:
            rclpy.init(args=["iparam", "--ros-args", *names], signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:  # rclpy has several for names that no topic can have
            raise InputError(f"ROS 2 refuses the topics {joint_topic!r} and {wrench_topic!r}: {error}") from None
        self._open = True
        self._notes: list[str] = []
        self._node = Node("iparam_view", start_parameter_services=False, enable_rosout=False)
        self._inputs = InputNode(self._node)
        self._matcher = SampleMatcher()
        self._watch = InputWatch(self._node, self._inputs)
        self._samples = SampleInput(
            self._node,
            self._inputs,
            self._matcher,
            JointReader(robot),
            WrenchReader(robot, measures=measures),
            tool=robot.tool_frame,
            process=lambda received: None,
        )
        self._early: list[MatchedSample] = []
        self._origin = 0
        self._latest: int | None = None
        try:
            self.rate = self._found_rate(patience)
        except BaseException:
            self.close()
            raise
        self._received = time.monotonic()
        self._silent = False

    def read(self, timeout: float) -> LiveSamples | None:
        """See `LiveSource`; it never ends by itself."""
        self._inputs.wait(timeout)
        now = time.monotonic()
        found, self._early = [*self._early, *self._matcher.take()], []
        if found:
            self._received = now
            if self._silent:
                self._silent = False
                self._notes.append("samples come again")
        elif not self._silent and now - self._received > SILENCE:
            self._silent = True
            self._notes.append(f"no sample for {SILENCE:g} s: {self._missing()}")
        return LiveSamples(
            np.array([self._placed(sample.stamp) for sample in found]),
            np.array([sample.q for sample in found]).reshape(-1, self.robot.num_joints),
            np.array([sample.wrench for sample in found]).reshape(-1, 6),
            np.full(len(found), now),
        )

    def notes(self) -> list[str]:
        """See `LiveSource`."""
        notes, self._notes = self._notes, []
        return notes

    def close(self) -> None:
        """Leave ROS 2."""
        if self._open:
            self._open = False
            self._inputs.destroy_node()
            self._node.destroy_node()
            rclpy.try_shutdown()

    def _placed(self, stamp: int) -> float:
        """The time of a stamp, from the first one on [s]; after a clock was set back, `LEAP` behind the one before."""
        if self._latest is None:
            self._origin = stamp
        elif stamp <= self._latest:
            self._notes.append("the stamps went back: a clock was set, or a bag is played again")
            self._origin += stamp - self._latest - LEAP
        self._latest = stamp
        return 1e-9 * (stamp - self._origin)

    def _found_rate(self, patience: float) -> float:
        period, latest, end = PeriodEstimate(), None, time.monotonic() + patience
        while period.period is None:
            if time.monotonic() > end:
                raise InputError(f"not enough came from ROS 2 within {patience:g} s: {self._missing()}")
            self._inputs.wait(0.1)
            for sample in self._matcher.take():
                self._early.append(sample)
                if latest is not None:
                    period.add(sample.stamp - latest)
                latest = sample.stamp
        return 1e9 / period.period

    def _missing(self) -> str:
        """What does not come, and what there is."""
        return waiting_text(self._watch.missing(self._matcher, self._samples)) or "what comes is not enough"
