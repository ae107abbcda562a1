"""`find_logs`: the recordings in folders or of globs; `Layout`: what the parts of their names mean."""

from __future__ import annotations

import contextlib
import datetime
import functools
import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iparam.errors import FileFormatError, InputError
from iparam.remarks import Remark, remark

BAG_SUFFIXES = (".mcap", ".db3", ".bag", ".mcap.zstd", ".db3.zstd")
SUFFIXES = (".parquet", ".csv", ".npz", ".mat", *BAG_SUFFIXES)
"""Of the files that are taken for recordings."""

FIELDS = ("arm", "tool", "time")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}|(\*\*?)|(\?)")
_MAGIC = re.compile(r"[*?\[]")
_MOST_NAMED = 3


@dataclass(frozen=True)
class Log:
    """A recording on disk.

    Attributes:
        name: its path below the folder that all recordings of a fleet are in: no result holds more of it.
        path: of the file, or of the folder of a bag.
        size: of all its files [bytes].
        modified: when the last of them was written [ns since 1970].
    """

    name: str
    path: Path
    size: int
    modified: int

    @property
    def is_bag(self) -> bool:
        """Whether it is a ROS bag, by its name."""
        return self.path.is_dir() or self.name.lower().endswith(BAG_SUFFIXES)


def find_logs(patterns: Sequence[str | os.PathLike[str]], outside: Path | None = None) -> list[Log]:
    """The recordings that folders, files or globs name, by name.

    A folder stands for all recordings below it. The folder of a bag, with its metadata.yaml, is one recording. Files of
    other suffixes than `SUFFIXES` are passed over, unless a pattern ends in theirs.

    Args:
        patterns: ``logs``, ``logs/**/*.parquet``, ``logs/1.csv``.
        outside: a folder whose files are none of them, such as that of the table.

    Raises:
        FileFormatError: there are none.
    """
    found: list[str] = []
    roots: list[str] = []
    for pattern in [os.fspath(given) for given in patterns]:
        if not pattern or "\0" in pattern:
            raise InputError(f"a pattern is a folder, a file or a glob such as 'logs/**/*.csv', got {pattern!r}")
        named, root = _named(pattern)
        inside = [os.path.abspath(path) for one in named for path in _logs_of(one, pattern)]
        if outside is not None:
            inside = [path for path in inside if not _is_inside(path, outside)]
        if not inside:
            what = "has no recordings" if named else "is not there"
            raise FileFormatError(
                f"{pattern} {what}: they are folders of bags and files that end in {_listed(SUFFIXES)}"
            )
        found += inside
        roots.append(os.path.abspath(root))
    base = os.path.commonpath(roots)
    return sorted((_log(path, base) for path in dict.fromkeys(found)), key=lambda log: log.name)


def _named(pattern: str) -> tuple[list[str], str]:
    """What a pattern names, and the folder that names begin from."""
    if os.path.lexists(pattern) or not _MAGIC.search(pattern):  # a name may have brackets in it
        is_root = os.path.isdir(pattern) and not _is_bag_folder(pattern)
        return [pattern] * os.path.lexists(pattern), pattern if is_root else os.path.dirname(os.path.abspath(pattern))
    fixed = pattern[: _MAGIC.search(pattern).start()]  # type: ignore[union-attr]
    return glob.glob(pattern, recursive=True), os.path.dirname(fixed) or os.curdir


def _logs_of(path: str, pattern: str) -> Iterator[str]:
    """The recordings that are at a path, or below it."""
    if not os.path.isdir(path):
        suffix = os.path.splitext(path)[1].lower()
        folder = os.path.dirname(os.path.abspath(path))
        if path.lower().endswith(BAG_SUFFIXES) and _is_bag_folder(folder):
            yield folder
        elif path.lower().endswith(SUFFIXES) or (suffix and pattern.lower().endswith(suffix)):
            yield path
        return
    for folder, folders, files in os.walk(path):
        if _is_bag_folder(folder):
            folders.clear()
            yield folder
        else:
            yield from (os.path.join(folder, file) for file in files if file.lower().endswith(SUFFIXES))


def _is_bag_folder(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "metadata.yaml")) and any(
        name.lower().endswith(BAG_SUFFIXES) for name in os.listdir(folder)
    )


def _is_inside(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))  # links may lead in a circle


def _log(path: str, base: str) -> Log:
    name = os.path.relpath(path, base).replace(os.sep, "/").encode("utf-8", "backslashreplace").decode()
    files = [os.path.join(path, file) for file in os.listdir(path)] if os.path.isdir(path) else [path]
    size = modified = 0
    for file in files:
        with contextlib.suppress(OSError):  # a dead link: who reads it says so
            status = os.stat(file)
            size, modified = size + status.st_size, max(modified, status.st_mtime_ns)
    return Log(name, Path(path), size, modified)


@dataclass(frozen=True)
class Layout:
    """A pattern of names, such as ``{arm}/{tool}/{time}``; ``*`` is any text without a slash, ``**`` any text.

    Attributes:
        text: the pattern; it is compared with the end of a name. One without a recording's suffix fits all of them.
    """

    text: str

    def __post_init__(self) -> None:
        named = [match[1] for match in _PLACEHOLDER.finditer(self.text) if match[1] is not None]
        if not named or not set(named) <= set(FIELDS) or len(set(named)) < len(named):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            example = "{arm}/{tool}/{time}"
            raise InputError(
                argument="layout", problem=f"must name some of {known}, each once, e.g. {example!r}; got {self.text!r}"
            )

    @functools.cached_property
    def _expression(self) -> re.Pattern[str]:
        parts, end = [], 0
        for match in _PLACEHOLDER.finditer(self.text):
            parts.append(re.escape(self.text[end : match.start()]))
            end = match.end()
            if match[1] is not None:
                parts.append(f"(?P<{match[1]}>[^/]+?)")
            else:
                parts.append(".*" if match[2] == "**" else "[^/]*" if match[2] else "[^/]")
        return re.compile(f"(?:.*?/)??{''.join(parts)}{re.escape(self.text[end:])}")

    def labels(self, name: str) -> dict[str, Any] | None:
        """The columns ``arm``, ``tool`` and ``recorded`` that a name states; None where it does not fit the pattern."""
        suffix = max((end for end in SUFFIXES if name.lower().endswith(end)), key=len, default="")
        match = self._expression.fullmatch(name.removesuffix(name[len(name) - len(suffix) :]))
        match = match or self._expression.fullmatch(name)
        if match is None:
            return None
        found = match.groupdict()
        labels: dict[str, Any] = {key: found[key] for key in ("arm", "tool") if key in found}
        when = moment_of(found.get("time", ""))
        return labels if when is None else {**labels, "recorded": when}

    def misfits(self, names: Sequence[str]) -> Remark | None:
        """A remark about names that do not fit, if there are some.

        Raises:
            InputError: none fits.
        """
        others = [name for name in names if self.labels(name) is None]
        if not others:
            return None
        if len(others) == len(names):
            raise InputError(argument="layout", problem=f"{self.text!r} fits none of the recordings: {_listed(others)}")
        return remark(
            "layout-misfits", layout=self.text, count=len(others), recordings=len(names), names=_listed(others)
        )


def moment_of(text: str) -> datetime.datetime | None:
    """A time: ISO 8601, or its digits from the year on with whatever between them; UTC unless it says."""
    if not text:
        return None
    with contextlib.suppress(ValueError):
        found = datetime.datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
    digits = re.sub(r"\D+", "", text)[:14]
    for size, form in ((14, "%Y%m%d%H%M%S"), (12, "%Y%m%d%H%M"), (8, "%Y%m%d")):
        if len(digits) >= size:
            with contextlib.suppress(ValueError):
                return datetime.datetime.strptime(digits[:size], form).replace(tzinfo=datetime.UTC)
    return None


def _listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    if names is SUFFIXES:
        return ", ".join(names)
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
