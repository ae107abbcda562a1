"""`Remark`: what a stage has to say about the data, as a value: code and values for programs, a message for people.

Each code has one severity and one message here; nothing else in the program writes the sentence, or reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from iparam.errors import UnknownNameError


class Severity(StrEnum):
    """How far a remark affects a result: the first two leave it as it is."""

    INFO = "info"
    CORRECTED = "corrected"
    DOUBT = "doubt"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Remark:
    """One thing to know about data, a plan or a result; made by `remark`.

    Attributes:
        code: from `CODES`.
        severity: of this occurrence.
        message: for people.
        values: the numbers and names in the message.
    """

    code: str
    severity: Severity
    message: str
    values: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return self.message

    def to_document(self) -> dict[str, Any]:
        """As in a result file."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "values": dict(self.values),
            "fix": None,
        }


CODES: dict[str, tuple[Severity, str]] = {
    "assumed-window": (
        Severity.INFO,
        (
            "The trajectory file does not name its format or the window of its Fourier series. The window "
            "256 r^4 (1 - r)^4, r = t / T, was assumed."
        ),
    ),
    "reference-limits": (
        Severity.DOUBT,
        (
            "The reference problem lets the wrist joints turn at {planned:.3g} rad/s, and the {robot} allows "
            "{limit:.3g} rad/s. Plan a motion for a real arm without the preset."
        ),
    ),
    "above-rated-load": (
        Severity.DOUBT,
        "The load of {mass:.4g} kg is above the rated load of {robot}, {rated:g} kg.",
    ),
}
"""Severity and message of every remark; values stand in braces."""


def remark(code: str, severity: Severity | None = None, **values: float | str) -> Remark:
    """The remark of a code with its values.

    Args:
        code: from `CODES`.
        severity: that it has here, where that is not the usual one.
        values: all that the message names.
    """
    if code not in CODES:
        raise UnknownNameError("remark", code, CODES)
    usual, message = CODES[code]
    return Remark(code, severity or usual, message.format(**values), MappingProxyType(dict(values)))
