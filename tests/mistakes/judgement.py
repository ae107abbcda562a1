"""What iparam makes of a log with a mistake: its verdict, how far off it is, what it names, and whether that helps."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import shlex
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iparam.arrays import FloatArray
from iparam.cli.main import main
from iparam.errors import IparamError
from iparam.estimation import Estimate, identify_payload
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
        message: the verdict, the causes and the warnings.
        options: that the true cause, as named, proposes; "" for none.
        restored: largest error, in standard deviations, with them; NaN where there are none, infinite for an error.
        believed: whether the result with them is good or usable.
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
    message: str
    options: str = ""
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
        estimate = identify_payload(log.recording, log.robot)
    except IparamError as error:
        seconds = time.perf_counter() - start
        return _outcome(case, REFUSED, nothing, nothing, (), seconds, str(error))
    seconds = time.perf_counter() - start
    assessment = estimate.assessment
    causes = tuple(cause["cause"] for cause in assessment["causes"])
    sentences = [cause["sentence"] for cause in assessment["causes"]]
    message = " | ".join([assessment["sentence"], *sentences, *estimate.warnings])
    off, relative = largest_error(estimate, log.loads), mass_error(estimate, log)
    outcome = _outcome(case, assessment["verdict"], off, relative, causes, seconds, message)
    proposed = [cause.get("correction", "") for cause in assessment["causes"] if cause["cause"] == case.mistake.slug]
    if not any(proposed) or not 1 <= outcome.rank <= 2 or outcome.harmless:
        return outcome
    options = proposed[0]
    found = corrected(log, options)
    restored = float("inf") if found is None else largest_error(found, log.loads, NUM_SHOWN)
    trusted = found is not None and found.assessment["verdict"] in TRUSTED
    return dataclasses.replace(outcome, options=options, restored=restored, believed=trusted)


def corrected(log: Log, options: str) -> Estimate | None:
    """What ``iparam identify payload`` finds with further options, as somebody would type them; None for an error."""
    typed = shlex.split(options)
    arm = () if "--robot" in typed else log.arm_options
    with tempfile.TemporaryDirectory() as folder:
        file, result = Path(folder) / "run.parquet", Path(folder) / "result.json"
        log.recording.save(file)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(["identify", "payload", str(file), *arm, *typed, "--output", str(result)])
        return Estimate.load(result) if result.is_file() else None


def _outcome(
    case: Case,
    verdict: str,
    error: float,
    relative: float,
    causes: tuple[str, ...],
    seconds: float,
    message: str,
) -> Outcome:
    mistake = case.mistake
    right = (mistake.slug, *mistake.same)
    rank = next((place for place, slug in enumerate(causes, start=1) if slug in right), 0)
    return Outcome(case.name, mistake.slug, mistake.size, verdict, error, relative, causes, rank, seconds, message)


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
