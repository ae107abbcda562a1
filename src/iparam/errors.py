"""The errors that iparam raises on purpose.

Every one derives from :class:`IparamError`, so ``except iparam.IparamError`` catches exactly what the library
refuses; anything else that escapes is a bug. A message gives the value, the bound and the way out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class IparamError(Exception):
    """Root of all errors raised on purpose by iparam."""


class InputError(IparamError, ValueError):
    """An argument has the wrong shape, type or value."""


class ContradictionError(InputError):
    """Two statements about one thing do not agree, and to believe either would give wrong numbers.

    The message gives both, and the way out. Where both can be meant, a warning says so instead.
    """


class StatedPathError(InputError):
    """A file names another file that nobody named to the program. It is not followed: it may be a program, or wrong.

    Attributes:
        path: the file that is named.
        argument: that takes it, if it can be trusted.
    """

    def __init__(self, file: object, kind: str, path: str, argument: str) -> None:
        self.path, self.argument = path, argument
        super().__init__(
            f"{file} names the {kind} {path}, and a path in a file is not followed: add {argument}={path!r} if you "
            "trust it"
        )


class UnknownNameError(IparamError, LookupError):
    """A robot, frame, method or column of that name does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: object, known: Iterable[str], hint: str = "") -> None:
        choices = list(known)
        close = difflib.get_close_matches(str(name), choices, n=1)
        message = f"unknown {kind} {str(name)!r}"
        if close:
            message += f"; did you mean {close[0]!r}?"
        message += f" Known: {', '.join(choices)}." if close else f"; known: {', '.join(choices)}."
        super().__init__(f"{message} {hint}".rstrip())


class RobotModelError(IparamError, ValueError):
    """A robot description is malformed, or describes something that is not a serial arm."""


class FileFormatError(IparamError, ValueError):
    """A file cannot be read as what it was said to be."""


class FileWriteError(IparamError, OSError):
    """A file cannot be written: the disk is full, or its folder may not be written to."""


class MissingExtraError(IparamError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, hint: str = "") -> None:
        super().__init__(f"this needs {package}, which is not installed: pip install 'iparam[{extra}]'{hint}")
