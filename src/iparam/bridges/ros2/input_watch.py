"""`InputWatch`: what a node waits for: the topic, what there is instead, and the way out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from iparam.bridges.ros2.backend import Node
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.sample_input import SampleInput
from iparam.printable import printable
from iparam.remarks import Remark, messages, remark

PATIENCE = 1.5
"""Seconds that publishers have to be found, and messages to come, before it is said that they do not."""

SAID_AGAIN = 30.0
"""Seconds after which the same sentence is logged again."""

MOST_NAMED = 8

DESCRIPTION = "robot_description"


class InputWatch:
    """Looks at the topics of a node, and says what is missing.

    Args:
        node: that it is for.
        inputs: its subscriptions.
    """

    def __init__(self, node: Node, inputs: InputNode) -> None:
        self._node, self._inputs = node, inputs
        self._heard: dict[str, tuple[int, float]] = {}  # messages of a topic, and when there were fewer
        self._said: tuple[str, ...] = ()  # codes
        self._said_at = 0.0
        self.began = time.monotonic()

    def missing(self, matcher: SampleMatcher | None = None, samples: SampleInput | None = None) -> tuple[Remark, ...]:
        """What is waited for; nothing while it is too early to say.

        Args:
            matcher: of joint states and wrenches; None before the robot is known.
            samples: that fill it.
        """
        now = time.monotonic()
        if now - self.began < PATIENCE:
            return ()
        incompatible = self._inputs.incompatible()
        counts = {} if matcher is None else {"joint_states": matcher.joints.counts, "wrench": matcher.wrenches.counts}
        found = []
        for name, kind in self._inputs.topics.items():
            if name not in (*counts, DESCRIPTION):
                continue
            received = counts[name].received if name in counts else 0
            silent = self._silence(name, received, now)
            if silent > PATIENCE:
                found.append(self._why_silent(name, kind, received, silent, incompatible.get(name, "")))
            elif samples is not None and received == counts[name].refused:
                found.append(samples.refused_because(name))
        if not found and matcher is not None:
            found += _apart(matcher)
        return tuple(found)

    def log(self, missing: Sequence[Remark]) -> None:
        """Log what is waited for: at once when it is new, and again now and then."""
        now, codes = time.monotonic(), tuple(one.code for one in missing)
        if codes and (codes != self._said or now - self._said_at > SAID_AGAIN):
            self._node.get_logger().warning(f"waiting: {waiting_text(missing)}")
            self._said_at = now
        elif self._said and not codes:
            self._node.get_logger().info("nothing is missing any more")
        self._said = codes

    def _silence(self, name: str, received: int, now: float) -> float:
        """Seconds since a message of a topic came, or since the beginning."""
        before, since = self._heard.get(name, (0, self.began))
        if received != before or name not in self._heard:
            since = now if received != before else since
            self._heard[name] = received, since
        return now - since

    def _why_silent(self, name: str, kind: type, received: int, silent: float, policy: str) -> Remark:
        topic, wanted = self._inputs.resolve_topic_name(name), _type_name(kind)
        publishers = self._inputs.get_publishers_info_by_topic(topic)
        if received and publishers:
            return remark("topic-silent", topic=topic, seconds=silent)
        if not publishers:
            others = self._published_elsewhere(wanted, topic)
            if others:
                return remark("topic-elsewhere", topic=topic, type=wanted, others=others, name=name)
            return remark(f"{'description' if name == DESCRIPTION else 'topic'}-unpublished", topic=topic, type=wanted)
        types = {info.topic_type for info in publishers}
        if wanted not in types:
            return remark("topic-of-other-type", topic=topic, types=", ".join(sorted(types)), type=wanted)
        names = ", ".join(sorted({info.node_name for info in publishers}))
        if not policy:
            return remark("topic-empty", topic=topic, publishers=names)
        advice = "Set reliable:=false." if policy == "RELIABILITY" else "Start it with what this node asks for."
        if name == DESCRIPTION:
            advice = "It has to be latched (transient local), as robot_state_publisher publishes it."
        return remark("quality-of-service", topic=topic, publishers=names, policy=policy, advice=advice)

    def _published_elsewhere(self, wanted: str, topic: str) -> str:
        own = self._node.get_name()
        others = [
            name
            for name, types in self._inputs.get_topic_names_and_types()
            if wanted in types
            and name != topic
            and any(info.node_name != own for info in self._inputs.get_publishers_info_by_topic(name))
        ]
        return ", ".join(sorted(others)[:MOST_NAMED])


def waiting_text(missing: Sequence[Remark]) -> str:
    """What is waited for, for people."""
    return printable(" ".join(messages(missing)))


def _apart(matcher: SampleMatcher) -> list[Remark]:
    """What to say where both topics come and nothing fits: how far their stamps are apart."""
    joints, wrenches = matcher.joints.newest, matcher.wrenches.newest
    if matcher.matched or joints is None or wrenches is None or not matcher.given_up + len(matcher.wrenches):
        return []
    apart = abs(joints - wrenches) * 1e-9
    if apart < 0.5:
        return [remark("joint-states-too-far-apart", milliseconds=(matcher.joints.period or 0.0) * 1e-6)]
    return [remark("stamps-apart", seconds=apart)]


def _type_name(kind: Any) -> str:
    package, _, rest = kind.__module__.partition(".")
    return f"{package}/{rest.partition('.')[0]}/{kind.__name__}"
