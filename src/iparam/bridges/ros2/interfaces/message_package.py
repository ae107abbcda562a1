"""`message_package`: a package of types, of the ROS 2 installation or made from the definitions that come with this."""

from __future__ import annotations

import ctypes
import importlib
import sys

from iparam.bridges.ros2.interfaces.generation import generated_package, libraries_of

INSTALLED = "of the ROS 2 installation"
MADE = "made from its definition"


def message_package(package: str, part: str) -> str:
    """Make ``package.part``, e.g. control_msgs.action, importable; where it comes from, in words.

    Raises:
        IparamError: it is not installed, and cannot be made.
    """
    try:
        importlib.import_module(f"{package}.{part}")
    except ImportError:
        folder = generated_package(package)
    else:
        return MADE if package in _MADE else INSTALLED
    for name in libraries_of(package):
        ctypes.CDLL(str(folder / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    sys.modules.pop(package, None)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    importlib.invalidate_caches()
    importlib.import_module(f"{package}.{part}")
    _MADE.add(package)
    return MADE


_MADE: set[str] = set()
