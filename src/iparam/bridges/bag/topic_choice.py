"""Which topics of a bag are read."""

from __future__ import annotations

from collections.abc import Iterable

from iparam.bridges.bag.bag_files import BagContents
from iparam.bridges.bag.topic_log import TopicLog
from iparam.errors import FileFormatError, InputError


def choose_topic(contents: BagContents, kind: str, name: str | None, option: str, required: bool) -> TopicLog | None:
    """The topic to read messages of a type from.

    Args:
        contents: of the bag.
        kind: the type.
        name: of the topic, None for the only one of the type.
        option: that names it, for messages.
        required: whether there has to be one.
    """
    if name is not None:
        return _named(contents, kind, name, option)
    candidates = [log for log in contents.logs if log.topic.type == kind and log.count]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise InputError(
            f"{contents.source} has {len(candidates)} topics of type {kind}: choose one with {option}: "
            f"{topic_list(candidates)}"
        )
    if required:
        raise FileFormatError(
            f"{contents.source} has no messages of type {kind}. Its topics: {topic_list(contents.logs)}"
        )
    return None


def topic_list(logs: Iterable[TopicLog]) -> str:
    """Topics for a message: name, type, number of messages, rate."""
    parts = [f"{log.topic.name} ({log.topic.type}, {log.count} messages, {log.rate:.4g} Hz)" for log in logs]
    return "; ".join(parts) or "none"


def _named(contents: BagContents, kind: str, name: str, option: str) -> TopicLog:
    same = [log for log in contents.logs if log.topic.name.lstrip("/") == name.lstrip("/")]
    if not same:
        raise InputError(f"{option} {name}: {contents.source} has no such topic, but {topic_list(contents.logs)}")
    fitting = [log for log in same if log.topic.type == kind]
    if not fitting:
        raise InputError(f"{option} {name} is of type {same[0].topic.type}; it has to be {kind}")
    log = max(fitting, key=lambda candidate: candidate.count)
    if not log.count:
        raise FileFormatError(f"{option} {name} has no messages in {contents.source}")
    return log
