"""`Check` and `Checkup`: what was looked at in a recording, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from iparam.estimation.estimate import Cause, Estimate
from iparam.fixes import Plain

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
        fix: what to change in the setup to correct it; empty where no setting does.
    """

    name: str
    finding: str
    level: Level = ""
    fix: Mapping[str, Plain] = field(default_factory=dict)


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
    def causes(self) -> tuple[Cause, ...]:
        """What would explain data that a load alone does not, best first."""
        if self.estimate is None:
            return ()
        refutation = self.estimate.refutation
        return self.estimate.causes if refutation is None else refutation.causes

    def count(self, level: Level) -> int:
        """How many there are of a level."""
        return sum(check.level == level for check in self.checks)

    def to_document(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {
            "level": self.level,
            "checks": [
                {"check": one.name, "level": one.level or None, "finding": one.finding, "fix": dict(one.fix)}
                for one in self.checks
            ],
            "causes": [cause.to_document() for cause in self.causes],
            "remarks": [] if self.estimate is None else [one.to_document() for one in self.estimate.remarks],
            "verdict": None if self.estimate is None else self.estimate.assessment["verdict"],
            "rules": [] if self.estimate is None else self.estimate.assessment["rules"],
        }
