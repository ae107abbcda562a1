"""Builds the native core into the package, and names the wheel after the platform that it is for."""

from __future__ import annotations

import importlib.util
import platform
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Of wheels, editable ones included: the library depends on no version of Python, only on the platform."""

    def dependencies(self) -> list[str]:
        """The compiler of the ziglang wheel where the machine has none."""
        required: list[str] = _builder(self.root).requirements()
        return required

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the library, and take it along."""
        builder = _builder(self.root)
        library = Path("src/iparam/native") / builder.library_name()
        builder.build(Path(self.root) / library)
        build_data["artifacts"].append(f"/{library.as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"


def _builder(root: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("iparam_build_core", Path(root) / "src/native/build_core.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _platform() -> str:
    """The platform tag. On a Mac, one architecture and the oldest system that the library is made for."""
    if sys.platform == "darwin":
        return "macosx_11_0_arm64" if platform.machine() == "arm64" else "macosx_10_15_x86_64"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
