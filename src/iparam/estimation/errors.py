"""The errors of estimation."""

from __future__ import annotations

from iparam.errors import IparamError


class IdentificationError(IparamError, ValueError):
    """The data cannot be turned into an estimate; the message says why and what would help."""


class RefutedResultError(IparamError, ValueError):
    """The data themselves refute the result: it is written and shown, and nothing acts on it unless told to."""


class NotIdentifiableError(IdentificationError):
    """The motion does not determine some of the parameters.

    Attributes:
        undetermined: their names.
    """

    def __init__(self, message: str, undetermined: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.undetermined = undetermined
