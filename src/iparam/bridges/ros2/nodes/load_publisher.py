"""`LoadPublisher`: estimates of a load, and how good they are, as messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import (
    OUTPUT_QOS,
    QUIET,
    Float64MultiArray,
    InertiaStamped,
    Node,
    WrenchStamped,
)
from iparam.bridges.ros2.messages import array_message, write_body, write_stamp, write_values, write_wrench
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.result import OnlineQuality
from iparam.regressor.identifiability import PARAMETER_NAMES
from iparam.remarks import Remark, remark


class LoadPublisher:
    """Publishes estimates and their quality. The messages are made once and filled again and again: it is quicker.

    Args:
        node: that publishes.

    Attributes:
        frame: name of the tool's frame in messages.
    """

    def __init__(self, node: Node) -> None:
        phi, size = ",".join(PARAMETER_NAMES), len(PARAMETER_NAMES)
        self._node = node
        self.frame = ""
        self._inertia, self._bias = InertiaStamped(), WrenchStamped()
        self._deviation = array_message(np.zeros(size), [",".join(DERIVED_NAMES)])
        self._covariance = array_message(np.zeros((size, size)), [phi, phi])
        self._quality = array_message(np.zeros(len(OnlineQuality._fields)), [",".join(OnlineQuality._fields)])

        def publisher(kind: type, topic: str) -> Any:
            return node.create_publisher(kind, topic, OUTPUT_QOS, event_callbacks=QUIET)

        self._to_inertia = publisher(InertiaStamped, "inertia")
        self._to_deviation = publisher(Float64MultiArray, "inertia_deviation")
        self._to_covariance = publisher(Float64MultiArray, "inertia_covariance")
        self._to_quality = publisher(Float64MultiArray, "inertia_quality")
        self._to_bias = publisher(WrenchStamped, "sensor_bias")

    def estimate(self, stamp: int, estimate: OnlineEstimate) -> None:
        """Publish an estimate at a stamp [ns]."""
        write_stamp(self._inertia.header, stamp, self.frame)
        values, deviations = estimate.derived
        write_body(self._inertia.inertia, values)
        self._to_inertia.publish(self._inertia)
        write_values(self._deviation, deviations)
        self._to_deviation.publish(self._deviation)
        write_values(self._covariance, estimate.covariance_phi)
        self._to_covariance.publish(self._covariance)
        if estimate.sensor_bias is not None:
            write_wrench(self._bias, stamp, self.frame, estimate.sensor_bias)
            self._to_bias.publish(self._bias)

    def withdraw(self, stamp: int) -> None:
        """Say at a stamp [ns] that the load published before is not to be believed: an inertia with nothing in it."""
        empty = InertiaStamped()
        write_stamp(empty.header, stamp, self.frame)
        self._to_inertia.publish(empty)

    def quality(self, quality: OnlineQuality) -> None:
        """Publish how good the estimate is."""
        write_values(self._quality, np.array(quality, dtype=np.float64))
        self._to_quality.publish(self._quality)

    def rivals(self) -> tuple[Remark, ...]:
        """What to say if another node has the same name, or publishes a load on the same topic."""
        own, found = _path(self._node.get_name(), self._node.get_namespace()), []
        names = [_path(*entry) for entry in self._node.get_node_names_and_namespaces()]
        if names.count(own) > 1:
            found.append(remark("node-name-shared", count=names.count(own), node=own))
        topic = self._node.resolve_topic_name("inertia")
        publishers = [
            _path(info.node_name, info.node_namespace) for info in self._node.get_publishers_info_by_topic(topic)
        ]
        if len(publishers) > 1:
            others = ", ".join(sorted(set(publishers) - {own})) or "another node of this name"
            found.append(remark("load-published-twice", topic=topic, others=others))
        return tuple(found)


def _path(name: str, namespace: str) -> str:
    """Of a node, as ROS 2 writes it."""
    return f"{namespace.rstrip('/')}/{name}"
