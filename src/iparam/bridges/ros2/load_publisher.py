"""`LoadPublisher`: what the identification node says about the load."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import OUTPUT_QOS, QUIET, Float64MultiArray, InertiaStamped, Node, WrenchStamped
from iparam.bridges.ros2.messages import array_message, write_body, write_stamp, write_values, write_wrench
from iparam.estimation.online import OnlineEstimate
from iparam.estimation.online_result import OnlineQuality
from iparam.regressor.identifiability import PARAMETER_NAMES


class LoadPublisher:
    """Publishes estimates and their quality. The messages are made once and filled again and again: it is quicker.

    Args:
        node: that publishes.
        frame: name of the tool's frame in messages.
    """

    def __init__(self, node: Node, frame: str) -> None:
        phi, size = ",".join(PARAMETER_NAMES), len(PARAMETER_NAMES)
        self._frame = frame
        self._inertia, self._bias = InertiaStamped(), WrenchStamped()
        self._covariance = array_message(np.zeros((size, size)), [phi, phi])
        self._quality = array_message(np.zeros(len(OnlineQuality._fields)), [",".join(OnlineQuality._fields)])

        def publisher(kind: type, topic: str) -> Any:
            return node.create_publisher(kind, topic, OUTPUT_QOS, event_callbacks=QUIET)

        self._to_inertia = publisher(InertiaStamped, "inertia")
        self._to_covariance = publisher(Float64MultiArray, "inertia_covariance")
        self._to_quality = publisher(Float64MultiArray, "inertia_quality")
        self._to_bias = publisher(WrenchStamped, "sensor_bias")

    def estimate(self, stamp: int, estimate: OnlineEstimate) -> None:
        """Publish an estimate at a stamp [ns]."""
        write_stamp(self._inertia.header, stamp, self._frame)
        write_body(self._inertia.inertia, estimate.parameters)
        self._to_inertia.publish(self._inertia)
        write_values(self._covariance, estimate.covariance_phi)
        self._to_covariance.publish(self._covariance)
        if estimate.sensor_bias is not None:
            write_wrench(self._bias, stamp, self._frame, estimate.sensor_bias)
            self._to_bias.publish(self._bias)

    def quality(self, quality: OnlineQuality) -> None:
        """Publish how good the estimate is."""
        write_values(self._quality, np.array(quality, dtype=np.float64))
        self._to_quality.publish(self._quality)
