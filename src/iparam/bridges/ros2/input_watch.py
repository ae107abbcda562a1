"""`InputWatch`: what a node waits for, in words that name the topic, what there is instead, and the way out."""

from __future__ import annotations

import time
from typing import Any

from iparam.bridges.ros2.backend import Node
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.sample_input import SampleInput
from iparam.printable import printable

PATIENCE = 1.5
"""Seconds that publishers have to be found, and messages to come, before it is said that they do not."""

SAID_AGAIN = 30.0
"""Seconds after which the same sentence is logged again."""

MOST_NAMED = 8


class InputWatch:
    """Looks at the topics of a node, and says what is missing.

    Args:
        node: that it is for.
        inputs: its subscriptions.
    """

    def __init__(self, node: Node, inputs: InputNode) -> None:
        self._node, self._inputs = node, inputs
        self._heard: dict[str, tuple[int, float]] = {}  # messages of a topic, and when there were fewer
        self._said, self._said_at = "", 0.0
        self.began = time.monotonic()

    def sentence(self, matcher: SampleMatcher | None = None, samples: SampleInput | None = None) -> str:
        """What is waited for; "" for nothing, or while it is too early to say.

        Args:
            matcher: of joint states and wrenches; None before the robot is known.
            samples: that fill it.
        """
        now = time.monotonic()
        if now - self.began < PATIENCE:
            return ""
        incompatible = self._inputs.incompatible()
        counts = {} if matcher is None else {"joint_states": matcher.joints.counts, "wrench": matcher.wrenches.counts}
        found = []
        for name, kind in self._inputs.topics.items():
            if name not in (*counts, "robot_description"):
                continue
            received = counts[name].received if name in counts else 0
            silent = self._silence(name, received, now)
            if silent > PATIENCE:
                found.append(self._why_silent(name, kind, received, silent, incompatible.get(name, "")))
            elif samples is not None and received == counts[name].refused:
                found.append(samples.refused_because(name))
        if not found and matcher is not None:
            found += _apart(matcher)
        return printable("; ".join(found))

    def log(self, sentence: str) -> None:
        """Log what is waited for: at once when it is new, and again now and then."""
        now = time.monotonic()
        if sentence and (sentence != self._said or now - self._said_at > SAID_AGAIN):
            self._node.get_logger().warning(f"waiting: {sentence}")
            self._said_at = now
        elif self._said and not sentence:
            self._node.get_logger().info("nothing is missing any more")
        self._said = sentence

    def _silence(self, name: str, received: int, now: float) -> float:
        """Seconds since a message of a topic came, or since the beginning."""
        before, since = self._heard.get(name, (0, self.began))
        if received != before or name not in self._heard:
            since = now if received != before else since
            self._heard[name] = received, since
        return now - since

    def _why_silent(self, name: str, kind: type, received: int, silent: float, policy: str) -> str:
        topic, wanted = self._inputs.resolve_topic_name(name), _type_name(kind)
        publishers = self._inputs.get_publishers_info_by_topic(topic)
        if received and publishers:
            return f"no message on {topic} for {silent:.0f} s"
        if not publishers:
            others = self._published_elsewhere(wanted, topic)
            hint = f"; {wanted} is published on {others}: remap with -r {name}:=..." if others else ""
            if name == "robot_description" and not others:
                hint = "; set the parameter robot to a name from 'iparam robots' or to a robot file"
            return f"nobody publishes {topic} ({wanted}){hint}"
        types = {info.topic_type for info in publishers}
        if wanted not in types:
            return f"{topic} is published as {', '.join(sorted(types))}, not as {wanted}"
        names = ", ".join(sorted({info.node_name for info in publishers}))
        if policy:
            way_out = "set reliable:=false" if policy == "RELIABILITY" else "start it with what this node asks for"
            if name == "robot_description":
                way_out = "it has to be latched (transient local), as robot_state_publisher publishes it"
            return f"{topic} of {names} offers a quality of service ({policy}) that cannot match: {way_out}"
        return f"no message yet on {topic}, which {names} publishes"

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


def _apart(matcher: SampleMatcher) -> list[str]:
    """A sentence where both topics come and nothing fits, with how far their stamps are apart."""
    joints, wrenches = matcher.joints.newest, matcher.wrenches.newest
    if matcher.matched or joints is None or wrenches is None or not matcher.given_up + len(matcher.wrenches):
        return []
    apart = abs(joints - wrenches) * 1e-9
    if apart < 0.5:
        between = f"joint states come every {(matcher.joints.period or 0.0) * 1e-6:.0f} ms"
        return [f"no wrench lies between two joint states that are near enough: {between}; see tolerance"]
    return [f"the stamps of joint_states and wrench are {apart:.3g} s apart: both have to be stamped by one clock"]


def _type_name(kind: Any) -> str:
    package, _, rest = kind.__module__.partition(".")
    return f"{package}/{rest.partition('.')[0]}/{kind.__name__}"
