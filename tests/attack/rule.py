"""The rule that every run of the command keeps, whatever it is given, and the one function that judges by it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

EXIT_CODES = (0, 1, 2, 130)
"""Done, failed, bad usage, interrupted."""

BAD_USAGE = 2
"""The one at which an error names the option that it is about."""

BROKEN_PIPE = 141
"""What the exit code may be, too, where the reader of standard output has gone."""

LONGEST = 60.0
"""Seconds that a run may take; all inputs are small."""

MOST_MEMORY = 1 << 30
"""Bytes that a run may take on top of what the loaded program has; all inputs are small."""

_TELLTALES = (
    (b"Traceback (most recent call last)", "prints a traceback"),
    (b"This is a bug in iparam", "calls itself a bug"),
    (b"Exception ignored in", "prints an exception that it ignores"),
    (b"not enough memory", "ran out of the memory that it may take"),
    (b"malloc of size", "ran out of the memory that it may take"),
    (b"Unable to allocate", "ran out of the memory that it may take"),
    (b"ulimit -v", "ran out of the memory that it may take, or has a bug"),
)
_PYTHON_WARNING = re.compile(rb"\.pyx?:\d+: \w*Warning: .*")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""All of C0 but line feed and tab, DEL, C1, and what turns the direction of writing."""


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes:
        code: exit code; -n if signal n ended it; None if it was stopped because it took too long.
        out, err: what it wrote to standard output and standard error.
        seconds: that it took.
        memory: bytes that its resident memory grew by at most.
    """

    code: int | None
    out: bytes
    err: bytes
    seconds: float = 0.0
    memory: int = 0


Snapshot = Mapping[str, tuple[object, ...]]
"""Relative path -> kind, permissions, and for files and links: node, size, time of change and contents."""


def snapshot(folder: Path) -> Snapshot:
    """Everything below ``folder``. A device or a pipe counts by its node and is not read."""
    found: dict[str, tuple[object, ...]] = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            facts = os.lstat(path)
            kept: tuple[object, ...] = (stat.S_IFMT(facts.st_mode), stat.S_IMODE(facts.st_mode))
            if stat.S_ISREG(facts.st_mode):
                with open(path, "rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                kept += (facts.st_ino, facts.st_size, facts.st_mtime_ns, digest)
            elif stat.S_ISLNK(facts.st_mode):
                kept += (facts.st_ino, os.readlink(path))
            elif not stat.S_ISDIR(facts.st_mode):
                kept += (facts.st_ino, facts.st_rdev)
            found[os.path.relpath(path, folder)] = kept
    return found


def violations(
    ending: Ending,
    before: Snapshot,
    after: Snapshot,
    outputs: Collection[str] = (),
    *,
    codes: Collection[int] = EXIT_CODES,
    longest: float = LONGEST,
    most_memory: int = MOST_MEMORY,
) -> list[str]:
    """What a run did that none may do, a sentence each; none if it kept the rule.

    Args:
        ending: how it ended.
        before, after: the folder that it ran in.
        outputs: relative paths that it was asked to write: a file, or a folder with whatever it puts inside.
        codes: exit codes that are allowed.
        longest: seconds that it may take.
        most_memory: bytes that it may take.
    """
    found = []
    if ending.code is None or ending.seconds > longest:
        found.append(f"takes more than {longest:g} s")
    elif ending.code < 0:
        found.append(f"is ended by signal {-ending.code}")
    elif ending.code not in codes:
        found.append(f"has the exit code {ending.code}")
    if ending.memory > most_memory:
        found.append(f"takes {ending.memory >> 20} MB of memory, more than {most_memory >> 20}")
    for name, stream in (("standard output", ending.out), ("standard error", ending.err)):
        found += [sentence for telltale, sentence in _TELLTALES if telltale in stream]
        warning = _PYTHON_WARNING.search(stream)
        if warning:
            found.append(f"shows a warning of Python's: {warning[0][-100:]!r}")
        control = hostile_character(stream)
        if control:
            found.append(f"writes {control} to {name}")
    found += _changes(before, after, outputs)
    return list(dict.fromkeys(found))


def hostile_character(stream: bytes) -> str:
    """The first thing in ``stream`` that a terminal could take for an order, described; "" if there is none."""
    try:
        text = stream.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"bytes that are not UTF-8 ({stream[error.start : error.start + 8]!r})"
    control = _CONTROLS.search(text)
    return f"the control character {control[0]!r}" if control else ""


def _changes(before: Snapshot, after: Snapshot, outputs: Collection[str]) -> list[str]:
    free = {os.path.normpath(name) for name in outputs}
    found = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or any(path == one or path.startswith(one + os.sep) for one in free):
            continue
        what = "leaves behind" if path not in before else "removes" if path not in after else "changes"
        found.append(f"{what} {path!r}")
    return found
