"""`SampleInput`: joint states, wrenches and accelerations of topics, into a matcher."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import STATIC_TRANSFORM_QOS, TRANSFORM_QOS, Imu, JointState, Node, WrenchStamped
from iparam.bridges.ros2.diagnostics import received_time
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.messages import stamp_or_now
from iparam.bridges.ros2.optional_types import types_of
from iparam.bridges.ros2.readers import JointReader, UnknownFrameError, WrenchReader
from iparam.bridges.ros2.serialized import JointStateDecoder, read_linear_acceleration, read_wrench
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.remarks import Remark, remark
from iparam.sensing.frame_tree import FrameTree

TOPICS = ("/tf_static", "/tf")
MOST_NAMED = 12


class TransformListener:
    """Subscribes, if the types of TF are installed; for the thread that the messages come in on.

    Args:
        node: that it is for.
        inputs: its subscriptions.
    """

    def __init__(self, node: Node, inputs: InputNode) -> None:
        self._node, self._inputs = node, inputs
        self.tree = FrameTree()
        self._problem = ""
        try:
            kind = types_of("tf2_msgs", "msg").TFMessage
        except IparamError as error:
            self._problem = f"TF cannot be heard: {error}"
            return
        for topic, qos in zip(TOPICS, (STATIC_TRANSFORM_QOS, TRANSFORM_QOS), strict=True):
            inputs.subscribe(kind, topic, partial(self._take, topic == TOPICS[0]), qos)

    def stop(self) -> None:
        """Listen no more: /tf has hundreds of messages a second."""
        if not self._problem:
            self._inputs.unsubscribe(TOPICS)

    @property
    def sentence(self) -> str:
        """What is there instead of the frame, in words."""
        if self._problem:
            return self._problem
        heard = self.tree.frames
        if not heard:
            return f"nothing has come on {' and '.join(self._inputs.resolve_topic_name(name) for name in TOPICS)}"
        more = f" and {len(heard) - MOST_NAMED} others" if len(heard) > MOST_NAMED else ""
        return f"TF has {', '.join(heard[:MOST_NAMED])}{more}, and no fixed chain from it to the tool"

    def _take(self, static: bool, message: Any, info: Any) -> None:
        for entry in message.transforms:
            try:
                self.tree.add_message(entry, static=static)
            except InputError as error:
                self._node.get_logger().warning(printable(str(error)), throttle_duration_sec=5.0)


COMPLAINTS = 5.0
"""Seconds between two complaints about messages that cannot be used."""


class SampleInput:
    """Subscribes joint_states, wrench and, if there is one, imu, and puts what is good into a matcher.

    Args:
        node: that it is for.
        inputs: its subscriptions.
        matcher: filled from the messages; what cannot be used is counted there as refused.
        joints, wrenches: read them.
        tool: name of the tool's frame in messages, which an imu has to be in.
        process: called after each good message, with the time at which it was received on the system's clock [ns].
        accelerometer: whether to subscribe imu.

    Attributes:
        wrench_frame: that the latest good wrench named.
    """

    def __init__(
        self,
        node: Node,
        inputs: InputNode,
        matcher: SampleMatcher,
        joints: JointReader,
        wrenches: WrenchReader,
        *,
        tool: str,
        process: Callable[[int], None],
        accelerometer: bool = False,
    ) -> None:
        self._node, self._matcher, self._tool, self._process = node, matcher, tool, process
        self._joint_reader, self._wrench_reader = joints, wrenches
        self._decode_joint_state = JointStateDecoder()
        self.wrench_frame = ""
        self._refused: dict[str, str] = {}
        self._stamped: set[str] = set()  # topics
        self._inputs = inputs
        self._transforms: TransformListener | None = None
        inputs.subscribe(JointState, "joint_states", self._joint_state, raw=True)
        inputs.subscribe(WrenchStamped, "wrench", self._wrench, raw=True)
        if accelerometer:
            inputs.subscribe(Imu, "imu", self._imu, raw=True)

    def refused_because(self, name: str) -> Remark:
        """Why no message of a topic could be used so far."""
        if name == "joint_states":
            found = self._refused.get(name, "in a form that cannot be read")
            return remark("joints-not-found", topic=name, wanted=", ".join(self._joint_reader.driven), found=found)
        return remark("messages-refused", topic=name, reason=self._refused.get(name, "they cannot be read"))

    def _joint_state(self, data: bytes, info: Any) -> None:
        buffer = self._matcher.joints
        try:
            message = self._decode_joint_state(data)
        except InputError as error:
            buffer.refuse()
            self._node.get_logger().error(printable(str(error)), throttle_duration_sec=COMPLAINTS)
            return
        found = self._joint_reader.positions_and_velocities(message.names, message.position, message.velocity)
        if found is None:
            buffer.refuse()
            self._refused["joint_states"] = f"of {', '.join(message.names) or f'{len(message.position)} joints'}"
            return
        q, dq = found
        if dq is not None and not np.isfinite(dq).all():
            dq = None  # the positions are still good
        if not self._is_stamped("joint_states", message.stamp):
            buffer.refuse()
            return
        if buffer.add(stamp_or_now(message.stamp, self._node), q, dq):
            self._process(received_time(info))

    def _wrench(self, data: bytes, info: Any) -> None:
        buffer = self._matcher.wrenches
        try:
            message = read_wrench(data)
            wrench = self._wrench_reader.to_tool(message.frame, message.values)
        except UnknownFrameError as error:
            buffer.refuse()
            self._refused["wrench"] = self._ask_transforms(error)
            return
        except InputError as error:
            buffer.refuse()
            self._refused["wrench"] = str(error)
            self._node.get_logger().error(printable(str(error)), throttle_duration_sec=COMPLAINTS)
            return
        self.wrench_frame = message.frame
        if not self._is_stamped("wrench", message.stamp):
            buffer.refuse()
            return
        if buffer.add(stamp_or_now(message.stamp, self._node), wrench):
            self._process(received_time(info))

    def _ask_transforms(self, unknown: UnknownFrameError) -> str:
        """Look for a frame that the robot's description does not have; what is waited for, in words."""
        if self._transforms is None:
            self._transforms = TransformListener(self._node, self._inputs)
        if not self._wrench_reader.find(unknown.frame, self._transforms.tree):
            return f"{unknown}; {self._transforms.sentence}"
        self._transforms.stop()
        self._transforms = None
        self._node.get_logger().info(printable(f"the frame {unknown.frame!r} of the wrench is known by TF"))
        return ""

    def _imu(self, data: bytes, info: Any) -> None:
        buffer = self._matcher.accelerations
        try:
            message = read_linear_acceleration(data)
            if message.frame not in ("", self._tool):
                raise InputError(
                    argument="imu", problem=f"is in the frame {message.frame!r}, not in {self._tool}: left out"
                )
        except InputError as error:
            buffer.refuse()
            self._node.get_logger().error(printable(str(error)), throttle_duration_sec=COMPLAINTS)
            return
        if not self._is_stamped("imu", message.stamp):
            buffer.refuse()
            return
        if buffer.add(stamp_or_now(message.stamp, self._node), message.values):
            self._process(received_time(info))

    def _is_stamped(self, topic: str, stamp: int) -> bool:
        """Whether a message says when it was measured as well as those before it: of one without a stamp [ns] in a
        topic that has stamps, the time at which it came would be off by more than the motion allows.
        """
        if stamp:
            self._stamped.add(topic)
        elif topic in self._stamped:
            self._refused[topic] = "without a stamp, on a topic that has stamps"
            return False
        return True
