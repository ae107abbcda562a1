"""`TransformListener`: a `FrameTree` from /tf_static and /tf, for a frame that the description does not have."""

from __future__ import annotations

from functools import partial
from typing import Any

from iparam.bridges.ros2.backend import STATIC_TRANSFORM_QOS, TRANSFORM_QOS, Node
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.optional_types import types_of
from iparam.errors import InputError, IparamError
from iparam.printable import printable
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
