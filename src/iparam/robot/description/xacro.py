"""`expand_xacro`: what xacro makes of a file. A xacro file is a program: load only files that you trust."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iparam.errors import FileFormatError, InputError, MissingExtraError, UnknownNameError
from iparam.files.limited_process import Outcome, in_limited_process

MAX_BYTES = 20_000_000
"""Of what a file may expand to."""

_ROOTS = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "COLCON_PREFIX_PATH", "CMAKE_PREFIX_PATH")
_ARGUMENTS = re.compile(r"\s+(?=[^\s:=/\\]+:=)")


def without_arguments(source: str | os.PathLike[str]) -> str:
    """The path of a file, without the arguments behind it; see `split_arguments`."""
    return _ARGUMENTS.split(os.fspath(source), maxsplit=1)[0]


def split_arguments(source: str | os.PathLike[str]) -> tuple[str, dict[str, str]]:
    """The path of a file and the arguments that stand behind it, as one writes them for xacro.

    ``"ur.urdf.xacro ur_type:=ur5e name:=left"`` names a file and two arguments. A value with blanks is quoted:
    ``"name:='my arm'"``.
    """
    path = without_arguments(source)
    behind = os.fspath(source)[len(path) :]
    arguments: dict[str, str] = {}
    try:
        words = shlex.split(behind)
    except ValueError as error:
        raise InputError(f"the arguments{behind} behind {path} cannot be read: {error}") from None
    for word in words:
        name, mark, value = word.partition(":=")
        if not mark or not name or name in arguments:
            fault = "is there twice" if name in arguments else "is no NAME:=VALUE; quote a value that has blanks"
            raise InputError(f"behind {path} stand arguments as xacro takes them, and {word!r} {fault}")
        arguments[name] = value
    return path, arguments


class _Arguments(dict[str, str]):
    """Arguments that remember which names a file asked for; xacro itself says nothing of one that it has no use for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def expand_xacro(source: str | os.PathLike[str], arguments: Mapping[str, str] | None = None) -> bytes:
    """The URDF that a xacro file stands for.

    ``$(find package)`` is looked for above the file, then where ROS's variables point to.

    Args:
        source: path of the file.
        arguments: values by the names of its arguments; the others have their defaults.

    Raises:
        MissingExtraError: the package `xacro` is not installed.
        FileFormatError: xacro refuses the file.
        UnknownNameError: the file has no argument of that name.
    """
    text, _ = in_limited_process(
        xacro_text, os.fspath(source), {"source": os.fspath(source), "arguments": dict(arguments or {})}
    )
    return str(text).encode()


def xacro_text(source: str, arguments: dict[str, str]) -> Outcome:
    """See `expand_xacro`, in whose process it runs."""
    xacro = _require_xacro()
    path = Path(source)
    said = io.StringIO()
    known, lost = _Arguments(arguments), list[str]()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), _packages_near(path, lost):
            text: bytes = xacro.process_file(str(path), mappings=known).toxml(encoding="utf-8")
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except Exception as error:  # expressions in the file may fail in any way
        if lost:
            raise FileFormatError(
                f"{path}: the package {lost[0]!r} is not beside it or above it, nor where {' or '.join(_ROOTS[:2])} "
                "points to"
            ) from None
        reason = " ".join(str(error).split()) or type(error).__name__
        missing = re.match(r"Undefined substitution argument (\S+)", reason)
        name = missing[1] if missing else "NAME"
        raise FileFormatError(
            f"{path}: xacro cannot process it: {reason[:500]}. Arguments stand behind its path, the whole in quotes: "
            f"'{path.name} {name}:=VALUE'"
        ) from None
    for name in arguments:
        if name not in known.asked:
            raise UnknownNameError("xacro argument", name, sorted(known.asked), hint=f"(of {path})")
    if b"<link" not in text:
        raise FileFormatError(f"{path} defines macros, and no link: load the file that uses them")
    if len(text) > MAX_BYTES:
        raise FileFormatError(f"{path} expands to more than {MAX_BYTES // 10**6} MB: that is no URDF of an arm")
    return text.decode(), {}


def _require_xacro() -> Any:
    try:
        import xacro
    except ImportError:
        raise MissingExtraError("xacro", "xacro") from None
    return xacro


@contextlib.contextmanager
def _packages_near(path: Path, lost: list[str]) -> Iterator[None]:
    """Let xacro find packages without an installed ROS, by its own lookup first where there is one.

    Args:
        path: of the file.
        lost: where the names of those that are not found are put.
    """
    from xacro import substitution_args

    own = substitution_args._eval_find

    def find(package: str) -> str:
        with contextlib.suppress(Exception):
            return str(own(package))
        found = _package_folder(package, path)
        if found is None:
            lost.append(package)
            raise LookupError(package)
        return str(found)

    substitution_args._eval_find = find
    try:
        yield
    finally:
        substitution_args._eval_find = own


def _package_folder(package: str, path: Path) -> Path | None:
    if not package or Path(package).name != package or package in (".", ".."):
        return None
    above = path.resolve().parents
    near = [place for folder in above for place in (folder, folder / package, folder / "src" / package)]
    near += [folder / "share" / package for folder in above]
    named = [folder for folder in near if folder.name == package and folder.is_dir()]
    # A folder of that name is a package if it says so; else, if nothing does, it was copied without that file.
    for folder in (*(one for one in named if (one / "package.xml").is_file()), *named):
        return folder
    for variable in _ROOTS:
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            for candidate in (Path(root) / "share" / package, Path(root) / package):
                if candidate.is_dir():
                    return candidate
    return None
