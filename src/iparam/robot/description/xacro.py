"""`expand_xacro`: what xacro makes of a file. A xacro file is a program: load only files that you trust."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iparam.errors import FileFormatError, IparamError, MissingExtraError

MAX_BYTES = 20_000_000
"""Of what a file may expand to."""

_ROOTS = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "COLCON_PREFIX_PATH", "CMAKE_PREFIX_PATH")


def expand_xacro(source: str | os.PathLike[str]) -> bytes:
    """The URDF that a xacro file stands for, with the default of every argument.

    ``$(find package)`` is looked for above the file, then where ROS's variables point to.

    Raises:
        MissingExtraError: the package `xacro` is not installed.
        FileFormatError: xacro refuses the file.
    """
    xacro = _require_xacro()
    path = Path(source)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), _packages_near(path):
            text: bytes = xacro.process_file(str(path), mappings={}).toxml(encoding="utf-8")
    except IparamError:
        raise
    except Exception as error:  # expressions in the file may fail in any way
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileFormatError(
            f"{path}: xacro cannot process it: {reason[:500]}. If it needs arguments, run xacro with them and load the "
            "URDF that it writes"
        ) from None
    if len(text) > MAX_BYTES:
        raise FileFormatError(f"{path} expands to more than {MAX_BYTES // 10**6} MB: that is no URDF of an arm")
    return text


def _require_xacro() -> Any:
    try:
        import xacro
    except ImportError:
        raise MissingExtraError("xacro", "xacro") from None
    return xacro


@contextlib.contextmanager
def _packages_near(path: Path) -> Iterator[None]:
    """Let xacro find packages without an installed ROS, by its own lookup first where there is one."""
    from xacro import substitution_args

    own = substitution_args._eval_find

    def find(package: str) -> str:
        with contextlib.suppress(Exception):
            return str(own(package))
        found = _package_folder(package, path)
        if found is None:
            raise FileFormatError(
                f"{path}: the package {package!r} is not beside it or above it, nor where {' or '.join(_ROOTS[:2])} "
                "points to"
            )
        return str(found)

    substitution_args._eval_find = find
    try:
        yield
    finally:
        substitution_args._eval_find = own


def _package_folder(package: str, path: Path) -> Path | None:
    if not package or Path(package).name != package or package in (".", ".."):
        return None
    for folder in path.resolve().parents:
        if folder.name == package and (folder / "package.xml").is_file():
            return folder
        for candidate in (folder / package, folder / "src" / package, folder / "share" / package):
            if (candidate / "package.xml").is_file() or (candidate / "urdf").is_dir():
                return candidate
    for variable in _ROOTS:
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            for candidate in (Path(root) / "share" / package, Path(root) / package):
                if candidate.is_dir():
                    return candidate
    return None
