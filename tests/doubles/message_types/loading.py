"""`load_types`: tf2_msgs and control_msgs in this process, as in one that was started from a sourced ROS 2."""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path

from doubles.message_types.generation import generated_package, libraries_of

PACKAGES = ("tf2_msgs", "control_msgs")

ADDED: list[str] = []
"""Folders that were added to the path of this process: no other process is to inherit them without the libraries."""


def load_types() -> None:
    """Make the packages importable, unless they are installed."""
    for package in PACKAGES:
        if find_spec(package) is None:
            load_package(package, generated_package(package))


def load_package(package: str, folder: Path) -> None:
    """Make a package that was generated into a folder importable, and load its libraries."""
    import trajectory_msgs.msg  # noqa: F401  with the libraries that these need

    for name in libraries_of(package):
        ctypes.CDLL(str(folder / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    sys.path.append(str(folder))
    ADDED.append(str(folder))
