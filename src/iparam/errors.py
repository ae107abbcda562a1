"""The errors that iparam raises on purpose.

Every one derives from :class:`IparamError`, so ``except iparam.IparamError`` catches exactly what the library
refuses; anything else that escapes is a bug. A message gives the value, the bound and the way out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Self

from iparam.fixes import Plain, fix_text


class IparamError(Exception):
    """Root of all errors raised on purpose by iparam.

    Args:
        message: what is wrong, and the way out; "" makes it of argument and problem.
        argument: of the function that was called, if the error is about one.
        value: that it has.
        expected: what it has to be, to follow "must be".
        problem: what is wrong with it, to follow its name; "" makes it of value and ``expected``.
        fix: arguments that would correct it, by name.

    Attributes:
        message: what is wrong, without the fix, which each interface writes in its own way.
        argument, value, expected, problem, fix: as given, or as made.
        opens: whether the message begins with the argument, as one that was made of it does.
    """

    argument: str
    value: object
    expected: str
    problem: str
    fix: dict[str, Plain]
    message: str
    opens: bool

    def __init__(
        self,
        message: str = "",
        *,
        argument: str = "",
        value: object = None,
        expected: str = "",
        problem: str = "",
        fix: Mapping[str, Plain] | None = None,
    ) -> None:
        self.argument, self.value, self.expected, self.fix = argument, value, expected, dict(fix or {})
        self.problem = problem or (f"must be {expected}, got {_shown(value)}" if expected else "")
        self.opens, self.message = not message, message or f"{argument} {self.problem}"
        named = argument if self.opens or not argument else f"{argument}=..."
        super().__init__(self.told(named, fix_text(self.fix)))

    def told(self, argument: str, fix: str) -> str:
        """The whole text.

        Args:
            argument: as an interface writes it, "" if the error is about none.
            fix: in the same way.
        """
        about = f"{argument} {self.problem}" if self.opens else self.message
        named = f" ({argument})" if argument and not self.opens and self.argument not in self.fix else ""
        return f"{about}{named}{f'. Set {fix}' if fix else ''}"

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same error for those who know its arguments by other names.

        Args:
            names: argument -> what it is called there.
        """
        fix = {names.get(name, name): value for name, value in self.fix.items()}
        again = type(self).__new__(type(self))
        vars(again).update(vars(self))
        IparamError.__init__(
            again,
            "" if self.opens else self.message,
            argument=names.get(self.argument, self.argument),
            value=self.value,
            expected=self.expected,
            problem=self.problem,
            fix=fix,
        )
        return again

    def __reduce__(self) -> tuple[Any, ...]:
        """As from another process: a class may take other arguments than its message."""
        return _again, (type(self), self.args, vars(self))


def _shown(value: object) -> str:
    """A value in a message: numbers of numpy as those of Python, and not too long."""
    text = repr(value.tolist() if hasattr(value, "tolist") else value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _again(kind: type[IparamError], arguments: tuple[Any, ...], attributes: Mapping[str, Any]) -> IparamError:
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(attributes)
    return error


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
        self.path = path
        super().__init__(
            f"{file} names the {kind} {path}, and a path in a file is not followed. Name it yourself if you trust it",
            argument=argument,
            value=path,
            fix={argument: path},
        )


class UnknownNameError(IparamError, LookupError):
    """A robot, frame, method or column of that name does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: object, known: Iterable[str], hint: str = "", *, argument: str = "") -> None:
        choices = list(known)
        close = difflib.get_close_matches(str(name), choices, n=1)
        message = f"unknown {kind} {str(name)!r}"
        if close:
            message += f"; did you mean {close[0]!r}?"
        message += f" Known: {', '.join(choices)}." if close else f"; known: {', '.join(choices)}."
        super().__init__(f"{message} {hint}".rstrip(), argument=argument, value=name)


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
