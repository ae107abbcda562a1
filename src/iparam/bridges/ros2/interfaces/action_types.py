"""The types of FollowJointTrajectory: those of a sourced ROS 2 that has control_msgs, else made from its definition."""

from __future__ import annotations

import ctypes
import importlib
import sys
from dataclasses import dataclass
from typing import Any

from iparam.bridges.ros2.interfaces.generation import generated_package, libraries_of

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
    source = "of the ROS 2 installation"
    try:
        actions = importlib.import_module(f"{PACKAGE}.action")
    except ImportError:
        folder = generated_package(PACKAGE)
        for name in libraries_of(PACKAGE):
            ctypes.CDLL(str(folder / "lib" / name), mode=ctypes.RTLD_GLOBAL)
        sys.modules.pop(PACKAGE, None)
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        importlib.invalidate_caches()
        actions, source = importlib.import_module(f"{PACKAGE}.action"), "made from its definition"
    messages = importlib.import_module(f"{PACKAGE}.msg")
    return TrajectoryAction(actions.FollowJointTrajectory, messages.JointTolerance, source)
