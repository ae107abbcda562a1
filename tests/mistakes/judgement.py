"""What iparam makes of a log with a mistake: its verdict, how far off it is, what it names, and whether that helps."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

import iparam
from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation import Estimate, identify_payload
from iparam.remarks import Plain
from iparam.sensing.correction import Correction
from iparam.spatial import InertialParameters
from mistakes.corpus import Case, Log

FAR = 4.0
"""Standard deviations that an estimate which is called good or usable may be off by, in any of its numbers."""

TOGETHER = 2.8
"""Standard deviations that all of ten independent numbers stay within in 95 of 100 cases."""

NUM_SHOWN = 10
"""Mass, centre of mass, and inertia about it: the numbers that people are shown."""

TRUSTED = ("good", "usable")
REFUSED = "refused"


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        name: of the case.
        slug: of its mistake.
        size: of its mistake.
        verdict: good, usable or refuted; or "refused", where there is no result but an error that says why.
        error: largest error of any of the load's numbers in its standard deviation; NaN where none was given.
        relative: error of the mass, as a share of it.
        causes: slugs named, best first.
        rank: of the true cause among them, from 1; 0 where it is not named.
        seconds: of the identification.
        codes: of the remarks.
        fix: that the true cause, as named, proposes; empty for none.
        restored: largest error, in standard deviations, with it; NaN where there is none, infinite for an error.
        believed: whether the result with it is good or usable.
    """

    name: str
    slug: str
    size: str
    verdict: str
    error: float
    relative: float
    causes: tuple[str, ...]
    rank: int
    seconds: float
    codes: tuple[str, ...]
    fix: Mapping[str, Plain] = field(default_factory=dict)
    restored: float = float("nan")
    believed: bool = False

    @property
    def breaks_the_law(self) -> bool:
        """Whether it is wrong and confident."""
        return self.verdict in TRUSTED and self.error > FAR

    @property
    def harmless(self) -> bool:
        """Whether the estimate is trusted, and right: there is nothing to explain or to restore."""
        return self.verdict in TRUSTED and self.error <= FAR

    @property
    def is_restored(self) -> bool:
        """Whether all ten numbers of the corrected result are in their intervals: those that hold with 95 % together,
        of 2.8 standard deviations each.
        """
        return self.restored <= TOGETHER


def judge(case: Case) -> Outcome:
    """Identify the load of a case, look at what is said, and do what is proposed."""
    log, nothing = case.log(), float("nan")
    start = time.perf_counter()
    try:
        estimate = identify_payload(log.recording, log.robot, tolerances="exact")
    except IparamError:
        seconds = time.perf_counter() - start
        return _outcome(case, REFUSED, nothing, nothing, (), seconds, ())
    seconds = time.perf_counter() - start
    assessment = estimate.assessment
    causes = tuple(cause["cause"] for cause in assessment["causes"])
    codes = tuple(one.code for one in estimate.remarks)
    off, relative = largest_error(estimate, log.loads), mass_error(estimate, log)
    outcome = _outcome(case, assessment["verdict"], off, relative, causes, seconds, codes)
    proposed = [cause["fix"] for cause in assessment["causes"] if cause["cause"] == case.mistake.slug]
    if not any(proposed) or not 1 <= outcome.rank <= 2 or outcome.harmless:
        return outcome
    found = corrected(log, proposed[0])
    restored = float("inf") if found is None else largest_error(found, log.loads, NUM_SHOWN)
    trusted = found is not None and found.assessment["verdict"] in TRUSTED
    return dataclasses.replace(outcome, fix=proposed[0], restored=restored, believed=trusted)


def corrected(log: Log, fix: Mapping[str, Plain]) -> Estimate | None:
    """What is found with a fix: another robot, or a correction; None for an error."""
    rest = dict(fix)
    robot = iparam.load_robot(str(rest.pop("robot"))) if "robot" in rest else log.robot
    with contextlib.suppress(IparamError):
        return identify_payload(log.recording, robot, correction=Correction.from_document(rest), tolerances="exact")
    return None


def _outcome(
    case: Case,
    verdict: str,
    error: float,
    relative: float,
    causes: tuple[str, ...],
    seconds: float,
    codes: tuple[str, ...],
) -> Outcome:
    mistake = case.mistake
    right = (mistake.slug, *mistake.same)
    rank = next((place for place, slug in enumerate(causes, start=1) if slug in right), 0)
    return Outcome(case.name, mistake.slug, mistake.size, verdict, error, relative, causes, rank, seconds, codes)


def mass_error(estimate: Estimate, log: Log) -> float:
    """Of the load that is nearest, as a share of it."""
    return float(min((abs(estimate.mass / load.mass - 1.0) for load in log.loads), default=np.nan))


def largest_error(estimate: Estimate, loads: tuple[InertialParameters, ...], numbers: int | None = None) -> float:
    """In standard deviations, of the load that is nearest: of mass, centre of mass, inertia about it, and phi, or of
    the first ``numbers`` of these.
    """
    return min(float(np.nanmax(np.abs(_errors(estimate, load))[:numbers], initial=0.0)) for load in loads)


def _errors(estimate: Estimate, load: InertialParameters) -> FloatArray:
    """NaN where the data do not determine a number."""
    found, known = (_numbers(one.mass, one.center_of_mass, one.inertia_about_com, one.phi) for one in (estimate, load))
    sd = estimate.standard_deviation
    return (found - known) / _numbers(sd.mass, sd.center_of_mass, sd.inertia_about_com, sd.phi)


def _numbers(mass: float, center: FloatArray, inertia: FloatArray, phi: FloatArray) -> FloatArray:
    return np.concatenate([[mass], center, np.asarray(inertia)[np.triu_indices(3)], phi])
