"""`Check` and `Checkup`: what was looked at in a recording, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from iparam.estimation.estimate import Estimate

Level = Literal["", "green", "amber", "red"]

_ORDER: dict[Level, int] = {"": 0, "green": 1, "amber": 2, "red": 3}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: a word or two.
        finding: one sentence or some figures.
        level: "green" if a load from these data may be believed, "amber" if that costs accuracy or should be known,
            "red" if it is not to be believed; "" for a fact that is no judgement.
    """

    name: str
    finding: str
    level: Level = ""


@dataclass(frozen=True, eq=False)
class Checkup:
    """All that was looked at.

    Attributes:
        checks: facts first, then judgements.
        estimate: the load that the data show, for what it is worth; None where they show none.
    """

    checks: tuple[Check, ...]
    estimate: Estimate | None = None

    @property
    def level(self) -> Level:
        """The worst of the judgements."""
        return max((check.level for check in self.checks), key=_ORDER.__getitem__, default="")

    @property
    def causes(self) -> tuple[str, ...]:
        """What would explain data that a load alone does not, best first, a sentence each."""
        found = () if self.estimate is None else self.estimate.assessment["causes"]
        return tuple(str(cause["sentence"]) for cause in found)

    def count(self, level: Level) -> int:
        """How many there are of a level."""
        return sum(check.level == level for check in self.checks)

    def to_document(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {
            "level": self.level,
            "checks": [{"check": one.name, "level": one.level or None, "finding": one.finding} for one in self.checks],
            "causes": [] if self.estimate is None else self.estimate.assessment["causes"],
            "verdict": None if self.estimate is None else self.estimate.assessment["verdict"],
        }
