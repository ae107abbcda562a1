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
from iparam.remarks import remark
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

FAR = 1.0
"""Standard deviations from which on a load counts that what explains the data better gives."""

FAR_UNCORRECTED = 2.0
"""Standard deviations from which on the load of a sound recording without a correction counts: two estimates of one
load that differ by what the correction adds to the intervals mostly stay below."""


@dataclass(frozen=True, eq=False)
class Rival:
    """What explains a recording as well as a correction does: an explanation, and the load (10,) that it gives."""

    explanation: Explanation
    phi: FloatArray


def rivals(causes: Causes, estimate: Estimate, residual_squares: float) -> tuple[Rival, ...]:
    """What explains a recording as well as the correction did that an estimate comes from, with another load.

    Args:
        causes: of the recording without that correction.
        estimate: with it, of all ten parameters.
        residual_squares: what the load leaves of the recording with it, in the unit of `Explanation.squares`.
    """

    def differs(phi: FloatArray) -> bool:
        return loads_differ(phi, estimate.phi, estimate.standard_deviation.phi)

    if not causes.every:
        return ()
    own = next(((gain, one) for gain, one in causes.every if not all(differs(phi) for phi in one.loads)), None)
    most, corrected = causes.every[0][0], (causes.base.squares - residual_squares) / causes.unit
    if most > corrected + (-ALIKE if own is None else ALIKE):  # the correction took over what another mistake did
        others = [one for gain, one in causes.every if most - gain < ALIKE and one.plausible]
        return tuple(Rival(one, one.phi) for one in others if _distance(one.phi, estimate) > FAR)
    if own is None:
        return ()
    found = []
    for gain, one in causes.every:
        # More parameters of the same kind find what fewer do, with more errors.
        alike = own[0] - gain < ALIKE if one.cause == own[1].cause else one.as_good_as(own[1], causes.unit)
        if alike and one.plausible:
            found += [Rival(one, phi) for phi in (one.loads if one is own[1] else [one.phi]) if differs(phi)]
    return tuple(found)


def with_rivals(estimate: Estimate, found: tuple[Rival, ...], correction: str) -> Estimate:
    """The estimate with intervals that cover the loads of its rivals, and with a cause for each kind of them.

    Args:
        estimate: of all ten parameters.
        found: see `rivals`; several of a kind for those of other loads.
        correction: what was corrected, for people.
    """
    farthest: dict[str, Rival] = {}
    for one in found:
        before = farthest.get(one.explanation.cause)
        if before is None or _distance(one.phi, estimate) > _distance(before.phi, estimate):
            farthest[one.explanation.cause] = one
    moves = np.array([one.phi - estimate.phi for one in farthest.values()])
    rms = float(np.sqrt(np.sum(estimate.residual_rms.force**2)))
    causes = []
    told = {one.cause for one in estimate.causes}
    for slug, one in farthest.items():
        if slug in told:
            continue
        own = f"with a load of {significant(float(one.phi[0]), 4)} kg instead of {significant(estimate.mass, 4)} kg"
        said = f"{one.explanation.finding.rstrip(',')} explains the recording as well as {correction}, {own}."
        causes.append(Cause(slug, said, rms, rms))
    return dataclasses.replace(
        widened(estimate, moves.T @ moves, "alternatives"),
        causes=(*estimate.causes, *causes),
        remarks=(
            *estimate.remarks,
            remark("correction-ambiguous", correction=correction, others=", ".join(farthest)),
        ),
    )


def with_uncorrected(estimate: Estimate, moves: FloatArray, correction: str) -> Estimate:
    """The estimate with intervals that cover the loads of a recording which is sound without what was estimated along.

    Args:
        estimate: of all ten parameters.
        moves: (K, 10) to the loads that the recording as it is gives, alone and with small mistakes that it speaks for.
        correction: what was estimated, with what was found, for people.
    """
    if estimate.gain is not None:  # a shape holds it
        moves = moves @ estimate.gain.T
    far = moves[np.max(np.abs(moves) / estimate.standard_deviation.phi, axis=1) > FAR_UNCORRECTED]
    if not far.size:
        return estimate
    return dataclasses.replace(
        widened(estimate, far.T @ far, "alternatives"),
        remarks=(*estimate.remarks, remark("correction-not-needed", correction=correction)),
    )


def _distance(phi: FloatArray, estimate: Estimate) -> float:
    return float(np.max(np.abs(phi - estimate.phi) / estimate.standard_deviation.phi))
