"""The verdict on an estimate: whether to use it, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from iparam.estimation.assessment.derived_values import derived_values, parameter_scales
from iparam.remarks import Severity
from iparam.rounding import significant

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate

Word = Literal["good", "usable", "refuted"]
"""The verdict of a result file."""

COARSE = 0.2
"""Half width of a 95 % interval, as a share of the parameter's scale, from which an estimate is of little use."""

UNSEEN = (
    "No residual shows a gain that all channels share, and hardly one of all forces, or a sensor some mm elsewhere: "
    "weigh the load (iparam verify --known-mass)."
)
"""What is said beside every verdict that lets a load be used."""

UNSEEN_AT_REST = (
    "A weight alone shows no gain and no other unit of all forces, or of all torques, and no sensor elsewhere: weigh "
    "the load (iparam verify --known-mass)."
)
"""What is said beside a load of which the data show the weight alone."""


@dataclass(frozen=True)
class Verdict:
    """What to make of an estimate.

    Attributes:
        level: "good", "caution", "poor" or "refuted".
        heading: a few words.
        sentence: why.
        unseen: what such data do not show, and what does; "" where there is more to be done first.
    """

    level: Literal["good", "caution", "poor", "refuted"]
    heading: str
    sentence: str
    unseen: str = ""

    @property
    def word(self) -> Word:
        """The level in the three words of a result file."""
        return "usable" if self.level in ("caution", "poor") else self.level  # type: ignore[return-value]


def verdict_on(estimate: Estimate) -> Verdict:
    """The verdict: refuted if the data are against it, poor if no body is like that, the intervals are wide or some of
    it is not known, caution if there are warnings, else good.
    """
    if estimate.refutation is not None:
        return Verdict("refuted", "Refuted: do not use it", estimate.refutation.sentence)
    if not estimate.complete:
        known = ", ".join(estimate.determined) or "nothing of the load"
        at_rest = not any("inertia" in name for name in estimate.determined)
        unseen = "" if "mass" not in estimate.determined else UNSEEN_AT_REST if at_rest else UNSEEN
        return Verdict("poor", "A part only", f"The data determine only {known}.", unseen)
    if not estimate.physically_consistent:
        why = "No rigid body has these parameters. Use the method consistent, or a motion that excites the load more."
        return Verdict("poor", "Not usable as it is", why)
    shares = derived_values(estimate).half_widths / parameter_scales(estimate.parameters)
    if np.isnan(shares).all():
        return Verdict("caution", "Usable, precision not known", "Nobody said how precise these numbers are.")
    mass, center, inertia = float(shares[0]), derived_values(estimate).half_widths[1:4], float(shares[4:].max())
    precision = (
        f"With 95 % confidence the mass is known to ±{significant(100 * mass, 2)} %, the centre of mass to "
        f"±{significant(1e3 * float(np.max(center)), 2)} mm on each axis, and the inertia to "
        f"±{significant(100 * inertia, 2)} % of its largest moment."
    )
    if shares.max() > COARSE:
        return Verdict("poor", "Too uncertain", f"{precision} A longer or faster motion would tell more.")
    count = len(estimate.warnings) + sum(one.severity is Severity.DOUBT for one in estimate.remarks)
    if count:
        return Verdict("caution", f"Usable, with {count} warning{'s' * (count > 1)}", precision, UNSEEN)
    return Verdict("good", "Good", precision, UNSEEN)
