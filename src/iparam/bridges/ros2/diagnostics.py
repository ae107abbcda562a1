"""What a node that matches topics says about itself: counts, latency, rate; in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.bridges.physical_bounds import Impossible
from iparam.bridges.ros2.backend import OUTPUT_QOS, QUIET, DiagnosticArray, DiagnosticStatus, Node
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.messages import status_message, write_stamp
from iparam.printable import printable
from iparam.remarks import Remark, Severity, messages, remark


@dataclass(frozen=True)
class LatencySummary:
    """Of the samples in the window.

    Attributes:
        samples: how many.
        median, percentile_99, largest: [s]; 0 without samples.
    """

    samples: int = 0
    median: float = 0.0
    percentile_99: float = 0.0
    largest: float = 0.0


class LatencyWindow:
    """The latencies of the latest samples.

    Args:
        size: of the window, in samples.
    """

    def __init__(self, size: int = 5_000) -> None:
        self._values = np.zeros(size)
        self._count = 0

    def add(self, latency: float) -> None:
        """Take one in [s]; a clock that was set back between the two readings makes it 0."""
        self._values[self._count % self._values.size] = max(latency, 0.0)
        self._count += 1

    @property
    def summary(self) -> LatencySummary:
        """Median, 99th percentile and maximum."""
        count = min(self._count, self._values.size)
        if not count:
            return LatencySummary()
        part = self._values[:count]
        median, high = np.percentile(part, (50.0, 99.0))
        return LatencySummary(count, float(median), float(high), float(part.max()))


LEVELS = {
    Severity.INFO: DiagnosticStatus.OK,
    Severity.CORRECTED: DiagnosticStatus.OK,
    Severity.DOUBT: DiagnosticStatus.WARN,
    Severity.REFUTED: DiagnosticStatus.ERROR,
}
"""Of a status, by the severity of its remarks."""

STALE = 1.0
"""Seconds without a sample after which the state is a warning."""


class StreamDiagnostics:
    """Publishes the state of a node on /diagnostics once a second.

    Args:
        node: of it.
    """

    def __init__(self, node: Node) -> None:
        self.latency = LatencyWindow()
        self._node, self._matcher = node, SampleMatcher()
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT_QOS, event_callbacks=QUIET)
        self._before, self._at = 0, time.monotonic()
        self._last: float | None = None  # until it is first published, a node starts and cannot have any

    def follow(self, matcher: SampleMatcher) -> None:
        """Count what a matcher does from now on."""
        self._matcher, self._before = matcher, 0

    def processed(self, received: int) -> None:
        """Count a sample whose last message came at ``received`` on the system's clock [ns]."""
        self.latency.add((time.time_ns() - received) * 1e-9)
        self._last = time.monotonic()

    def publish(self, values: dict[str, object], remarks: Sequence[Remark] = ()) -> None:
        """Publish the counts, with further values and remarks; see `publish_status`."""
        now = time.monotonic()
        self._last = now if self._last is None else self._last
        rate = (self._matcher.matched - self._before) / max(now - self._at, 1e-9)
        self._before, self._at = self._matcher.matched, now
        if not remarks and now - self._last > STALE:
            remarks = [remark("no-sample", seconds=now - self._last)]
        summary = self.latency.summary
        state: dict[str, object] = {
            "matched": self._matcher.matched,
            "unmatched": self._matcher.given_up,
            "rate_hz": rate,
            "latency_p50_ms": 1e3 * summary.median,
            "latency_p99_ms": 1e3 * summary.percentile_99,
            "latency_max_ms": 1e3 * summary.largest,
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
        publish_status(self._node, self._publisher, state, remarks)


def publish_status(node: Node, publisher: Any, values: dict[str, object], remarks: Sequence[Remark] = ()) -> None:
    """Publish the state of a node on its publisher of /diagnostics: a doubt makes it a warning, a refuting remark an
    error. The key "remarks" lists their codes, and each of their values has a key "CODE.NAME".
    """
    level = max((LEVELS[one.severity] for one in remarks), default=DiagnosticStatus.OK)
    said: dict[str, object] = {"remarks": ", ".join(one.code for one in remarks)}
    said |= {f"{one.code}.{name}": value for one in remarks for name, value in one.values.items()}
    text = " ".join(messages(remarks)) or "running"
    status = status_message(node.get_name(), level, printable(text), {**values, **said})
    message = DiagnosticArray(status=[status])
    write_stamp(message.header, int(node.get_clock().now().nanoseconds), "")
    publisher.publish(message)


def withheld(code: str, why: Impossible, count: int = 1) -> Remark:
    """The remark that something is withheld because an arm cannot do it, with its number and its bound.

    Args:
        code: of what it is about.
        why: it is withheld.
        count: how many of them.
    """
    values: dict[str, Any] = {"quantity": why.quantity, "value": why.value, "bound": why.bound, "joint": why.joint}
    return remark(code, count=count, reason=why.sentence, **values)


def sent_time(info: Any) -> int:
    """When a message was sent, by its sender's clock [ns]; when it was received where the middleware does not say."""
    stamp = info.get("source_timestamp", 0) if isinstance(info, dict) else getattr(info, "source_timestamp", 0)
    return int(stamp) if stamp else received_time(info)


def received_time(info: Any) -> int:
    """When the middleware received a message [ns]; the present time where it does not say."""
    stamp = info.get("received_timestamp", 0) if isinstance(info, dict) else getattr(info, "received_timestamp", 0)
    return int(stamp) if stamp else time.time_ns()
