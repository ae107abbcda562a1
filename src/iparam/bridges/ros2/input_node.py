"""`InputNode`: where a node's sensor topics come in, so that a message costs little; `SampleInput`: the topics of a
node that matches joint states with wrenches, from messages to the matcher.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import (
    Imu,
    JointState,
    Node,
    QoSProfile,
    SubscriptionEventCallbacks,
    WaitSet,
    WrenchStamped,
    qos_policy_name_from_kind,
    sensor_qos,
)
from iparam.bridges.ros2.diagnostics import received_time
from iparam.bridges.ros2.messages import stamp_or_now
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.bridges.ros2.sample_matcher import SampleMatcher
from iparam.bridges.ros2.serialized import JointStateDecoder, read_linear_acceleration, read_wrench
from iparam.errors import InputError
from iparam.printable import printable

MOST = 50
"""Messages of a topic that are taken in one go; services have their turn afterwards."""


class InputNode(Node):
    """Subscriptions and nothing else.

    Args:
        owner: the node that they are for.
        reliable: whether to ask for lost messages again.
    """

    def __init__(self, owner: Node, reliable: bool = False) -> None:
        name = f"{owner.get_name()}_inputs"
        super().__init__(
            name,
            cli_args=["--ros-args", "-r", f"__node:={name}"],  # a new name for the node is not meant for this one
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._qos = sensor_qos(reliable)
        self._inputs: list[_Input] = []
        self._waiting: Any = None
        self._incompatible: dict[str, str] = {}

    @property
    def topics(self) -> dict[str, type]:
        """Types of the messages that are subscribed, by the names of the topics before remapping."""
        return {entry.topic: entry.kind for entry in self._inputs}

    def subscribe(
        self,
        kind: type,
        topic: str,
        callback: Callable[[Any, Any], None],
        qos: QoSProfile | None = None,
        *,
        raw: bool = False,
    ) -> None:
        """Call ``callback`` with each message of a topic, ``raw`` as bytes, and what rclpy knows about its way."""

        def incompatible(event: Any) -> None:
            self._incompatible[topic] = qos_policy_name_from_kind(event.last_policy_kind)

        events = SubscriptionEventCallbacks(incompatible_qos=incompatible, use_default_callbacks=False)
        quality = self._qos if qos is None else qos
        subscription = self.create_subscription(kind, topic, callback, quality, event_callbacks=events, raw=raw)
        self._change([*self._inputs, _Input(subscription, topic, kind, raw, callback)])

    def clear(self) -> None:
        """Subscribe nothing any more."""
        before = self._inputs
        self._change([])
        self._incompatible.clear()
        for entry in before:
            self.destroy_subscription(entry.subscription)

    def _change(self, inputs: list[_Input]) -> None:
        self._inputs = inputs
        context: Any = self.context.handle
        self._waiting = WaitSet(len(inputs), 0, 0, 0, 0, 0, context) if inputs else None

    def incompatible(self) -> dict[str, str]:
        """Topics with a publisher whose quality of service cannot match, and the policy that is in the way."""
        handlers = [handler for entry in self._inputs for handler in entry.subscription.event_handlers]
        if handlers:
            context: Any = self.context.handle
            waiting = WaitSet(0, 0, 0, 0, 0, len(handlers), context)
            waiting.clear_entities()
            for handler in handlers:
                handler.add_to_wait_set(waiting)
            waiting.wait(0)
            for handler in handlers:
                if handler.is_ready(waiting):
                    handler.callback(handler.take_data())
        return self._incompatible

    def wait(self, timeout: float) -> None:
        """Wait for messages, at most ``timeout`` [s], and call back for those that have come."""
        inputs = self._inputs
        if not inputs:
            time.sleep(timeout)
            return
        self._waiting.clear_entities()
        for entry in inputs:
            self._waiting.add_subscription(entry.handle)
        self._waiting.wait(round(timeout * 1e9))
        for _ in range(MOST):
            found = False
            for entry in inputs:
                taken = entry.handle.take_message(entry.kind, entry.raw)
                if taken is not None:
                    found = True
                    entry.callback(*taken)
                    if inputs is not self._inputs:  # it was the description of a robot, and all is set up anew
                        return
            if not found:
                return


class _Input:
    """A subscription of an `InputNode`."""

    __slots__ = ("callback", "handle", "kind", "raw", "subscription", "topic")

    def __init__(
        self, subscription: Any, topic: str, kind: type, raw: bool, callback: Callable[[Any, Any], None]
    ) -> None:
        self.subscription, self.handle, self.topic = subscription, subscription.handle, topic
        self.kind, self.raw, self.callback = kind, raw, callback


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
        inputs.subscribe(JointState, "joint_states", self._joint_state, raw=True)
        inputs.subscribe(WrenchStamped, "wrench", self._wrench, raw=True)
        if accelerometer:
            inputs.subscribe(Imu, "imu", self._imu, raw=True)

    def refused_because(self, name: str) -> str:
        """Why no message of a topic could be used so far."""
        if name == "joint_states":
            wanted = ", ".join(self._joint_reader.driven)
            return f"joint_states come {self._refused.get(name, 'in a form that cannot be read')}, wanted are {wanted}"
        return f"no {name} can be used: {self._refused.get(name, 'they cannot be read')}"

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
        if buffer.add(stamp_or_now(message.stamp, self._node), q, dq):
            self._process(received_time(info))

    def _wrench(self, data: bytes, info: Any) -> None:
        buffer = self._matcher.wrenches
        try:
            message = read_wrench(data)
            wrench = self._wrench_reader.to_tool(message.frame, message.values)
        except InputError as error:
            buffer.refuse()
            self._refused["wrench"] = str(error)
            self._node.get_logger().error(printable(str(error)), throttle_duration_sec=COMPLAINTS)
            return
        self.wrench_frame = message.frame
        if buffer.add(stamp_or_now(message.stamp, self._node), wrench):
            self._process(received_time(info))

    def _imu(self, data: bytes, info: Any) -> None:
        buffer = self._matcher.accelerations
        try:
            message = read_linear_acceleration(data)
            if message.frame not in ("", self._tool):
                raise InputError(f"imu is in the frame {message.frame!r}, not in {self._tool}: left out")
        except InputError as error:
            buffer.refuse()
            self._node.get_logger().error(printable(str(error)), throttle_duration_sec=COMPLAINTS)
            return
        if buffer.add(stamp_or_now(message.stamp, self._node), message.values):
            self._process(received_time(info))
