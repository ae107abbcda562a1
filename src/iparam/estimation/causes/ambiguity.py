"""`with_rivals`: an estimate from a corrected recording that counts what would explain the recording as well as its
correction does, and gives another load.

A correction that fits proves little where another one fits as well: forces that are shown too large, and torques that
are shown too small; a clock that is fast, and a gravity that is weaker. Only the recording as it was shows that: put
right, it fits whatever was wrong.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.hypothesis import ALIKE, Explanation, loads_differ
from iparam.estimation.causes.search import Causes
from iparam.estimation.estimate import Cause, Estimate
from iparam.estimation.payload.estimate_assembly import widened
from iparam.rounding import significant

CORRECTIONS = (
    "sensor_rotation",
    "sensor_offset",
    "wrench_scale",
    "gravity",
    "clock",
    "joint_offset",
    "external_force",
)
"""Fields of a `Correction` with numbers that data can be made to fit by. Others are true or not, and the load of those
that would do the same (axes in another order, a turned sensor) is the same."""


@dataclass(frozen=True, eq=False)
class Rival:
    """What explains a recording as well as a correction does: an explanation, and the load (10,) that it gives."""

    explanation: Explanation
    phi: FloatArray


def rivals(causes: Causes, estimate: Estimate) -> tuple[Rival, ...]:
    """What explains a recording as well as the correction did that an estimate comes from, with another load; nothing
    where none of the explanations gives the estimate's load.

    Args:
        causes: of the recording without that correction.
        estimate: with it, of all ten parameters.
    """

    def differs(phi: FloatArray) -> bool:
        return loads_differ(phi, estimate.phi, estimate.standard_deviation.phi)

    own = next(((gain, one) for gain, one in causes.every if not all(differs(phi) for phi in one.loads)), None)
    if own is None:
        return ()
    found = []
    for gain, one in causes.every:
        # More parameters of the same kind find what fewer do, with more errors.
        alike = own[0] - gain < ALIKE if one.cause == own[1].cause else one.as_good_as(own[1], causes.unit)
        if alike and one.plausible:
            found += [Rival(one, phi) for phi in (one.loads if one is own[1] else [one.phi]) if differs(phi)]
    return tuple(found)


def with_rivals(estimate: Estimate, found: tuple[Rival, ...], option: str) -> Estimate:
    """The estimate with intervals that cover the loads of its rivals, and with a cause for each kind of them.

    Args:
        estimate: of all ten parameters.
        found: see `rivals`; several of a kind for those of other loads.
        option: of the correction, as it was typed.
    """
    farthest: dict[str, Rival] = {}
    for one in found:
        before = farthest.get(one.explanation.cause)
        if before is None or _distance(one, estimate) > _distance(before, estimate):
            farthest[one.explanation.cause] = one
    moves = np.array([one.phi - estimate.phi for one in farthest.values()])
    rms = float(np.sqrt(np.sum(estimate.residual_rms.force**2)))
    causes = []
    for slug, one in farthest.items():
        own = f"with a load of {significant(float(one.phi[0]), 4)} kg instead of {significant(estimate.mass, 4)} kg"
        said = f"{one.explanation.finding.rstrip(',')} explains the recording as well as {option}, {own}."
        causes.append(Cause(slug, said, rms, rms))
    remark = (
        f"These data do not tell whether {option} is right: {', '.join(farthest)} would explain them as well, with "
        "another load, and the standard deviations count that. A scale tells (iparam verify --known-mass)."
    )
    return dataclasses.replace(
        widened(estimate, moves.T @ moves),
        causes=(*estimate.causes, *causes),
        warnings=(*estimate.warnings, remark),
    )


def _distance(one: Rival, estimate: Estimate) -> float:
    return float(np.max(np.abs(one.phi - estimate.phi) / estimate.standard_deviation.phi))
