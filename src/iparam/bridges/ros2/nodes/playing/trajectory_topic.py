"""`PublishedTrajectory`: a motion that goes to a controller by its topic, which never answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from iparam.bridges.ros2.backend import JointTrajectory


class PublishedTrajectory:
    """A `played_motion.Channel`: a trajectory on a topic, which another one ends.

    Args:
        publisher: of the topic.
        stopping: makes the trajectory that brings the arm to rest from where it is.
    """

    reports = False
    refused = False
    ended: str | None = None

    def __init__(self, publisher: Any, stopping: Callable[[], JointTrajectory | None]) -> None:
        self.name = f"the topic {publisher.topic_name}"
        self.begun: float | None = time.monotonic()
        self._publisher, self._stopping = publisher, stopping

    @property
    def alive(self) -> bool:
        """Whether somebody listens."""
        return bool(self._publisher.get_subscription_count())

    def stop(self) -> None:
        """Publish the trajectory to rest, unless nothing is known of where the arm is."""
        message = self._stopping()
        if message is not None:
            self._publisher.publish(message)
