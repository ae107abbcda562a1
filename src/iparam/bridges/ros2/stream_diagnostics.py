"""What a node that matches topics says about itself: counts, latency, rate."""

from __future__ import annotations

import time
from typing import Any

from iparam.bridges.ros2.backend import OUTPUT_QOS, QUIET, DiagnosticArray, DiagnosticStatus, Node
from iparam.bridges.ros2.latency import LatencyWindow
from iparam.bridges.ros2.messages import status_message, write_stamp
from iparam.bridges.ros2.sample_matcher import SampleMatcher

STALE = 1.0
"""Seconds without a sample after which the state is a warning."""


class StreamDiagnostics:
    """Publishes the state of a node on /diagnostics once a second.

    Args:
        node: of it.
        matcher: of its topics.
    """

    def __init__(self, node: Node, matcher: SampleMatcher) -> None:
        self.latency = LatencyWindow()
        self._node, self._matcher = node, matcher
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT_QOS, event_callbacks=QUIET)
        self._before, self._at, self._last = 0, time.monotonic(), time.monotonic()

    def processed(self, received: int) -> None:
        """Count a sample whose last message came at ``received`` on the system's clock [ns]."""
        self.latency.add((time.time_ns() - received) * 1e-9)
        self._last = time.monotonic()

    def publish(self, values: dict[str, object], remark: str = "") -> None:
        """Publish the counts, with further values; a remark makes it a warning."""
        now = time.monotonic()
        rate = (self._matcher.matched - self._before) / max(now - self._at, 1e-9)
        self._before, self._at = self._matcher.matched, now
        if not remark and now - self._last > STALE:
            remark = f"no sample for {now - self._last:.0f} s: are joint_states and wrench there, with stamps alike?"
        summary = self.latency.summary
        state: dict[str, object] = {
            "matched": self._matcher.matched,
            "unmatched": self._matcher.given_up,
            "rate_hz": rate,
            "latency_p50_ms": 1e3 * summary.median,
            "latency_p99_ms": 1e3 * summary.percentile_99,
            "latency_max_ms": 1e3 * summary.largest,
            "latency_ever_p99_ms": 1e3 * self.latency.percentile_99_ever,
            "latency_ever_ms": 1e3 * self.latency.largest_ever,
            **values,
        }
        for name, buffer in (
            ("joint_states", self._matcher.joints),
            ("wrench", self._matcher.wrenches),
            ("imu", self._matcher.accelerations),
        ):
            if name == "imu" and not buffer.counts.received:
                continue
            state |= {f"{name}.{key}": count for key, count in vars(buffer.counts).items()}
        level = DiagnosticStatus.WARN if remark else DiagnosticStatus.OK
        message = DiagnosticArray(status=[status_message(self._node.get_name(), level, remark or "running", state)])
        write_stamp(message.header, int(self._node.get_clock().now().nanoseconds), "")
        self._publisher.publish(message)


def received_time(info: Any) -> int:
    """When the middleware received a message [ns]; the present time where it does not say."""
    stamp = info.get("received_timestamp", 0) if isinstance(info, dict) else getattr(info, "received_timestamp", 0)
    return int(stamp) if stamp else time.time_ns()
