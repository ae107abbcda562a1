"""The verdict on an estimate: whether to use it, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from iparam.estimation.assessment.derived_values import derived_values, parameter_scales
from iparam.remarks import Remark, Severity, messages
from iparam.rounding import significant

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate, Refutation

Word = Literal["good", "usable", "refuted"]
"""The verdict of a result file."""

COARSE = 0.2
"""Half width of a 95 % interval, as a share of the parameter's scale, from which an estimate is of little use."""

UNSEEN = (
    "No residual shows a gain that all channels share, and hardly one of all forces, or a sensor some mm elsewhere: "
    "weigh the load to be sure."
)
"""What is said beside every verdict that lets a load be used."""

UNSEEN_AT_REST = (
    "A weight alone shows no gain and no other unit of all forces, or of all torques, and no sensor elsewhere: weigh "
    "the load to be sure."
)
"""What is said beside a load of which the data show the weight alone."""


@dataclass(frozen=True)
class Rule:
    """One rule of the verdict.

    Attributes:
        name: what is asked for.
        number: what the result has; NaN where it is not known.
        bound: the largest number that passes.
        passed: whether it does.
    """

    name: str
    number: float
    bound: float
    passed: bool

    @classmethod
    def at_most(cls, name: str, number: float, bound: float) -> Rule:
        """The rule that a number is at most a bound."""
        return cls(name, float(number), bound, bool(number <= bound))

    def to_document(self) -> dict[str, Any]:
        """As in a result file."""
        known = np.isfinite(self.number)
        return {
            "rule": self.name,
            "number": self.number if known else None,
            "bound": self.bound,
            "passed": self.passed,
        }


@dataclass(frozen=True)
class Verdict:
    """What to make of an estimate.

    Attributes:
        level: "good", "caution", "poor" or "refuted".
        heading: a few words.
        sentence: why.
        rules: that were evaluated, in their order; the first that does not pass decides.
        unseen: what such data do not show, and what does; "" where there is more to be done first.
    """

    level: Literal["good", "caution", "poor", "refuted"]
    heading: str
    sentence: str
    rules: tuple[Rule, ...] = ()
    unseen: str = ""

    @property
    def word(self) -> Word:
        """The level in the three words of a result file."""
        return "usable" if self.level in ("caution", "poor") else self.level  # type: ignore[return-value]


def refuting(refutation: Refutation | None, remarks: Iterable[Remark]) -> tuple[str, ...]:
    """What refutes a result, for people: its refutation, and the remarks that do."""
    own = () if refutation is None else (refutation.sentence,)
    return (*own, *messages(one for one in remarks if one.severity is Severity.REFUTED))


def first_rules(against: Sequence[str], unknown: int) -> list[Rule]:
    """The rules of every verdict: that nothing refutes the result and, if so, how many parameters are not known."""
    rules = [Rule.at_most("refutations", len(against), 0)]
    return rules if against else [*rules, Rule.at_most("parameters not determined", unknown, 0)]


def verdict_on(estimate: Estimate) -> Verdict:
    """The verdict by numbers and severities: refuted if the data are against it, poor if no body is like that, the
    intervals are wide or some of it is not known, caution if a remark is a doubt, else good.
    """
    doubts = sum(one.lowers for one in estimate.remarks)
    against = refuting(estimate.refutation, estimate.remarks)
    rules = first_rules(against, int(np.isnan(estimate.phi).sum()))
    if against:
        return Verdict("refuted", "Refuted: do not use it", against[0], tuple(rules))
    if not estimate.complete:
        known = ", ".join(estimate.determined) or "nothing of the load"
        at_rest = not any("inertia" in name for name in estimate.determined)
        unseen = "" if "mass" not in estimate.determined else UNSEEN_AT_REST if at_rest else UNSEEN
        return Verdict("poor", "A part only", f"The data determine only {known}.", tuple(rules), unseen)
    rules.append(Rule.at_most("violations of physical consistency", not estimate.physically_consistent, 0))
    if not estimate.physically_consistent:
        why = "No rigid body has these parameters. Use the method consistent, or a motion that excites the load more."
        return Verdict("poor", "Not usable as it is", why, tuple(rules))
    shares = derived_values(estimate).half_widths / parameter_scales(estimate.parameters)
    rules.append(Rule.at_most("largest half width of a 95 % interval, as a share of its scale", shares.max(), COARSE))
    rules.append(Rule.at_most("doubts", doubts, 0))
    if np.isnan(shares).all():
        why = "The precision of these numbers is not known."
        return Verdict("caution", "Usable, precision not known", why, tuple(rules))
    mass, center, inertia = float(shares[0]), derived_values(estimate).half_widths[1:4], float(shares[4:].max())
    precision = (
        f"With 95 % confidence the mass is known to ±{significant(100 * mass, 2)} %, the centre of mass to "
        f"±{significant(1e3 * float(np.max(center)), 2)} mm on each axis, and the inertia to "
        f"±{significant(100 * inertia, 2)} % of its largest moment."
    )
    if shares.max() > COARSE:
        why = f"{precision} A longer or faster motion would tell more."
        return Verdict("poor", "Too uncertain", why, tuple(rules))
    if doubts:
        return Verdict("caution", f"Usable, with {doubts} doubt{'s' * (doubts > 1)}", precision, tuple(rules), UNSEEN)
    return Verdict("good", "Good", precision, tuple(rules), UNSEEN)
