"""`TransformListener`: a `FrameTree` from /tf_static and /tf, for a frame that the description does not have."""

from __future__ import annotations

import importlib
import threading
from functools import partial
from typing import Any

from iparam.bridges.ros2.backend import STATIC_TRANSFORM_QOS, TRANSFORM_QOS, Node
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.interfaces.message_package import message_package
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.sensing.frame_tree import FrameTree

PACKAGE = "tf2_msgs"
TOPICS = ("/tf_static", "/tf")
MOST_NAMED = 12


class TransformListener:
    """Subscribes when its types are there; where they have to be made first, that takes some seconds, once.

    Args:
        node: that it is for.
        inputs: its subscriptions.
    """

    def __init__(self, node: Node, inputs: InputNode) -> None:
        self._node, self._inputs = node, inputs
        self.tree = FrameTree()
        self._problem = ""
        self._subscribed = self._ready = False
        self._maker = threading.Thread(target=self._make, name="tf2 types", daemon=True)
        self._maker.start()

    def _make(self) -> None:
        try:
            message_package(PACKAGE, "msg")
            self._ready = True
        except IparamError as error:
            self._problem = str(error)

    def listen(self) -> None:
        """Subscribe as soon as that can be; for the thread that the messages come in on."""
        if self._subscribed or not self._ready:
            return
        self._subscribed = True
        kind = importlib.import_module(f"{PACKAGE}.msg").TFMessage
        for topic, qos in zip(TOPICS, (STATIC_TRANSFORM_QOS, TRANSFORM_QOS), strict=True):
            self._inputs.subscribe(kind, topic, partial(self._take, topic == TOPICS[0]), qos)

    def stop(self) -> None:
        """Listen no more: /tf has hundreds of messages a second."""
        if self._subscribed:
            self._inputs.unsubscribe(TOPICS)
            self._subscribed = self._ready = False

    @property
    def sentence(self) -> str:
        """What is there instead of the frame, in words."""
        if self._problem:
            return f"TF cannot be heard: {self._problem}"
        if not self._subscribed:
            return "the types of TF are being made, which takes some seconds, once"
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
