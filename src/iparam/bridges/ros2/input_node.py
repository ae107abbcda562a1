"""`InputNode`: where a node's sensor topics come in, so that a message costs little."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from iparam.bridges.ros2.backend import (
    Node,
    QoSProfile,
    SubscriptionEventCallbacks,
    WaitSet,
    qos_policy_name_from_kind,
    sensor_qos,
)

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

    def unsubscribe(self, topics: Sequence[str]) -> None:
        """Subscribe these no more."""
        gone = [entry for entry in self._inputs if entry.topic in topics]
        self._change([entry for entry in self._inputs if entry not in gone])
        for entry in gone:
            self._incompatible.pop(entry.topic, None)
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
