"""`types_of`: types that a sourced ROS 2 has and the package index lacks: of TF and of FollowJointTrajectory."""

from __future__ import annotations

import importlib
from typing import Any

from iparam.errors import IparamError


def types_of(package: str, part: str) -> Any:
    """The module of a package's types, e.g. control_msgs.action.

    Raises:
        IparamError: it is not installed, or not for this Python.
    """
    try:
        return importlib.import_module(f"{package}.{part}")
    except ImportError as error:
        raise IparamError(
            f"this needs {package}, which comes with ROS 2 and not with pip: apt install "
            f"ros-$ROS_DISTRO-{package.replace('_', '-')}, and source ROS 2 before the start ({error})"
        ) from error
