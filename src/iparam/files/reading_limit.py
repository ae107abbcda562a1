"""How much of a file is taken into memory: bounds against files that are large, or larger inside than they look."""

from __future__ import annotations

import math
import os
from pathlib import Path

from iparam.errors import FileFormatError, InputError

VARIABLE = "IPARAM_READ_LIMIT"
"""The environment variable that sets the bound [GiB]."""

DEFAULT = 2.0
"""The bound where the variable is not set [GiB]: two hours of all 70 columns that a UR arm sends at 500 Hz are 1.9."""

TIME_VARIABLE = "IPARAM_READ_SECONDS"
"""The environment variable that sets how long the parser of a file may take [s]."""

LONGEST = 30.0
"""Seconds where that is not set: ten times what the slowest of the known arms takes on a busy machine."""

_GIB = 1 << 30


class TooLargeError(FileFormatError):
    """A file holds more than is taken into memory; the message says how to raise the bound."""


def reading_limit() -> int:
    """The bytes of contents of one file that are taken into memory, at most."""
    return int(_stated(VARIABLE, DEFAULT, "GiB") * _GIB)


def time_limit() -> float:
    """The seconds that somebody else's parser may take for one file, at most."""
    return _stated(TIME_VARIABLE, LONGEST, "seconds")


def _stated(variable: str, default: float, unit: str) -> float:
    text = os.environ.get(variable, "")
    try:
        limit = float(text or default)
    except ValueError:
        limit = math.nan
    if not 0.0 < limit < 1e6:
        raise InputError(f"the environment variable {variable} must be a positive number of {unit}, got {text!r}")
    return limit


def check_size(size: int, source: str, what: str) -> None:
    """Refuse contents that are larger than the bound.

    Args:
        size: of the contents in memory [bytes].
        source: the file, for messages.
        what: they are, e.g. "70000000 rows of 13 numbers".
    """
    limit = reading_limit()
    if size > limit:
        raise TooLargeError(
            f"{source} holds {what}, {size / _GIB:.3g} GiB, more than the {limit / _GIB:g} GiB that are "
            f"read. Cut it, or set the environment variable {VARIABLE}={max(1, math.ceil(size / _GIB))}"
        )


def read_bounded(path: Path, most: int, name: str, wanted: str) -> bytes:
    """The beginning of a file: ``most`` bytes, and one more where there are more, which its caller refuses.

    Args:
        path: of the file.
        most: the bytes that its caller takes.
        name: of the file, for messages.
        wanted: what to give if it is no file, e.g. "the path of a JSON file".
    """
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "is no file" if path.exists() else "does not exist"
        raise FileFormatError(f"{name} {what}; give {wanted}")
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size or most  # the system's own files say 0; a buffer for all is not needed
        return stream.read(min(size, most) + 1)
