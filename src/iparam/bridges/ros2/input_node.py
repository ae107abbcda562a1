"""`InputNode`: where a node's sensor topics come in, so that a message costs little.

At every message rclpy's executors build a list of all that a node has: services, timers, events of publishers. For a
node with parameters that takes longer than identifying from a sample. So the subscriptions are those of a second, bare
node in the same process, NAME_inputs, and are waited for as rclpy's own `wait_for_message` does it; what has come in
the meantime is taken in one go, a message of each topic in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iparam.bridges.ros2.backend import Node, QoSProfile, SubscriptionEventCallbacks, WaitSet, sensor_qos

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
        self._inputs: list[tuple[Any, type, bool, Callable[[Any, Any], None]]] = []
        self._waiting: Any = None

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
        events = SubscriptionEventCallbacks(use_default_callbacks=False)
        quality = self._qos if qos is None else qos
        subscription = self.create_subscription(kind, topic, callback, quality, event_callbacks=events, raw=raw)
        self._inputs.append((subscription.handle, kind, raw, callback))
        context: Any = self.context.handle
        self._waiting = WaitSet(len(self._inputs), 0, 0, 0, 0, 0, context)

    def wait(self, timeout: float) -> None:
        """Wait for messages, at most ``timeout`` [s], and call back for those that have come."""
        self._waiting.clear_entities()
        for handle, _, _, _ in self._inputs:
            self._waiting.add_subscription(handle)
        self._waiting.wait(round(timeout * 1e9))
        for _ in range(MOST):
            found = False
            for handle, kind, raw, callback in self._inputs:
                taken = handle.take_message(kind, raw)
                if taken is not None:
                    found = True
                    callback(*taken)
            if not found:
                return
