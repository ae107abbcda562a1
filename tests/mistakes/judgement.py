"""What iparam makes of a log with a mistake: its verdict, how far off it is, what it names, and whether that helps."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation import Estimate, identify_payload
from iparam.spatial import InertialParameters
from mistakes.corpus import Case, Log

FAR = 4.0
"""Standard deviations that an estimate which is called good or usable may be off by, in any of its numbers."""

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
        restored: largest error, in standard deviations, with the proposed correction; NaN where there is none.
        seconds: of the identification.
        message: the verdict's sentence.
    """

    name: str
    slug: str
    size: str
    verdict: str
    error: float
    relative: float
    causes: tuple[str, ...]
    rank: int
    restored: float
    seconds: float
    message: str

    @property
    def breaks_the_law(self) -> bool:
        """Whether it is wrong and confident."""
        return self.verdict in TRUSTED and self.error > FAR

    @property
    def harmless(self) -> bool:
        """Whether the estimate is trusted, and right: there is nothing to explain or to restore."""
        return self.verdict in TRUSTED and self.error <= FAR


def judge(case: Case) -> Outcome:
    """Identify the load of a case and look at what is said."""
    log = case.log()
    start = time.perf_counter()
    try:
        estimate = identify_payload(log.recording, log.robot)
    except IparamError as error:
        seconds = time.perf_counter() - start
        return _outcome(case, REFUSED, float("nan"), float("nan"), (), float("nan"), seconds, str(error))
    seconds = time.perf_counter() - start
    assessment = estimate.assessment
    causes = tuple(cause["cause"] for cause in assessment["causes"])
    off, relative = largest_error(estimate, log.loads), mass_error(estimate, log)
    message = " | ".join([assessment["sentence"], *estimate.warnings])
    return _outcome(case, assessment["verdict"], off, relative, causes, float("nan"), seconds, message)


def _outcome(
    case: Case,
    verdict: str,
    error: float,
    relative: float,
    causes: tuple[str, ...],
    restored: float,
    seconds: float,
    message: str,
) -> Outcome:
    mistake = case.mistake
    right = (mistake.slug, *mistake.same)
    rank = next((place for place, slug in enumerate(causes, start=1) if slug in right), 0)
    return Outcome(
        case.name, mistake.slug, mistake.size, verdict, error, relative, causes, rank, restored, seconds, message
    )


def mass_error(estimate: Estimate, log: Log) -> float:
    """Of the load that is nearest, as a share of it."""
    return float(min((abs(estimate.mass / load.mass - 1.0) for load in log.loads), default=np.nan))


def largest_error(estimate: Estimate, loads: tuple[InertialParameters, ...]) -> float:
    """Of mass, centre of mass, inertia about it, and phi, in standard deviations; of the load that is nearest."""
    return min(float(np.nanmax(np.abs(_errors(estimate, load)), initial=0.0)) for load in loads)


def _errors(estimate: Estimate, load: InertialParameters) -> FloatArray:
    """NaN where the data do not determine a number."""
    found, known = (_numbers(one.mass, one.center_of_mass, one.inertia_about_com, one.phi) for one in (estimate, load))
    sd = estimate.standard_deviation
    return (found - known) / _numbers(sd.mass, sd.center_of_mass, sd.inertia_about_com, sd.phi)


def _numbers(mass: float, center: FloatArray, inertia: FloatArray, phi: FloatArray) -> FloatArray:
    return np.concatenate([[mass], center, np.asarray(inertia)[np.triu_indices(3)], phi])
