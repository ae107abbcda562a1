"""The types of FollowJointTrajectory: those of a sourced ROS 2 that has control_msgs, else made from its definition."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from iparam.bridges.ros2.interfaces.message_package import message_package

PACKAGE = "control_msgs"


@dataclass(frozen=True)
class TrajectoryAction:
    """The action of joint trajectory controllers.

    Attributes:
        action: control_msgs/action/FollowJointTrajectory.
        tolerance: control_msgs/msg/JointTolerance.
        source: where they come from, in words.
    """

    action: Any
    tolerance: Any
    source: str


def trajectory_action() -> TrajectoryAction:
    """The types.

    Raises:
        IparamError: they are not installed, and cannot be made.
    """
    source = message_package(PACKAGE, "action")
    actions = importlib.import_module(f"{PACKAGE}.action")
    messages = importlib.import_module(f"{PACKAGE}.msg")
    return TrajectoryAction(actions.FollowJointTrajectory, messages.JointTolerance, source)
