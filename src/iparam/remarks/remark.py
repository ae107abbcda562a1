"""`Remark`: what a stage has to say about the data, as a value: code and values for programs, a message for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from iparam.fixes import Plain


class Severity(StrEnum):
    """How far a remark affects a result: the first two leave it as it is."""

    INFO = "info"
    CORRECTED = "corrected"
    DOUBT = "doubt"
    REFUTED = "refuted"


class Kind(NamedTuple):
    """What all remarks of one code have in common.

    Attributes:
        severity: that they usually have.
        template: of their message, with the values in braces.
    """

    severity: Severity
    template: str


@dataclass(frozen=True)
class Remark:
    """One thing to know about data, a plan or a result; made by `iparam.remarks.remark`.

    Attributes:
        code: from `iparam.remarks.CODES`.
        severity: of this occurrence.
        message: for people.
        values: the numbers and names in the message.
        fix: what to change in the setup, field by field, to correct what the remark is about; None if nothing does.
    """

    code: str
    severity: Severity
    message: str
    values: Mapping[str, Plain] = field(default_factory=dict)
    fix: Mapping[str, Plain] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))
        if self.fix is not None:
            object.__setattr__(self, "fix", MappingProxyType(dict(self.fix)))

    def __str__(self) -> str:
        return self.message

    def __hash__(self) -> int:
        return hash((self.code, self.message))

    def __reduce__(self) -> tuple[Any, ...]:
        fix = None if self.fix is None else dict(self.fix)
        return Remark, (self.code, self.severity, self.message, dict(self.values), fix)

    @property
    def lowers(self) -> bool:
        """Whether it makes a result less than good."""
        return self.severity in (Severity.DOUBT, Severity.REFUTED)

    def of(self, owner: str) -> Remark:
        """The same, said of one part of a combination."""
        return replace(self, message=f"{owner}: {self.message}", values={**self.values, "owner": owner})

    def to_document(self) -> dict[str, Any]:
        """As in a file."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "values": {name: _listed(value) for name, value in self.values.items()},
            "fix": None if self.fix is None else {name: _listed(value) for name, value in self.fix.items()},
        }


def messages(remarks: Iterable[Remark]) -> tuple[str, ...]:
    """The messages of remarks, each once."""
    return tuple(dict.fromkeys(one.message for one in remarks))


def _listed(value: Plain) -> Any:
    return [_listed(part) for part in value] if isinstance(value, tuple) else value
