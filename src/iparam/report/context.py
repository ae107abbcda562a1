"""`ReportContext`: the input of a report with what several of its parts need, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.derived_values import DerivedValues, derived_of, derived_values
from iparam.estimation.assessment.run_analysis import RunAnalysis, analyze_run
from iparam.estimation.checkup.check import Checkup
from iparam.estimation.checkup.examination import examine_recording
from iparam.estimation.estimate import Estimate
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import KalmanMotion
from iparam.report.input import ReportInput
from iparam.rounding import NORMAL_95, with_interval
from iparam.spatial.equivalent_body import EquivalentBody, equivalent_body


@dataclass(frozen=True, eq=False)
class ReportContext:
    """The input, and what follows from it.

    Attributes:
        given: the input.
    """

    given: ReportInput

    @property
    def estimate(self) -> Estimate:
        """What was found."""
        return self.given.estimate

    @cached_property
    def derived(self) -> DerivedValues:
        """The ten numbers of the estimate."""
        return derived_values(self.estimate)

    @cached_property
    def true_values(self) -> FloatArray | None:
        """(10,) the ten true numbers, where they are known."""
        return None if self.given.truth is None else derived_of(self.given.truth)

    @cached_property
    def run(self) -> RunAnalysis | None:
        """What the estimate predicts for the recorded run, if that has a wrench."""
        given = self.given
        if given.recording is None or given.robot is None or not given.recording.has("wrench"):
            return None
        return analyze_run(
            given.recording,
            given.robot,
            given.estimate,
            motion=given.motion,
            delay=given.delay,
            correction=given.correction,
        )

    @property
    def corrections(self) -> list[str]:
        """What was put right in the recording before the load was identified, one text each."""
        estimate, found = self.estimate, []
        for name, value in estimate.correction.to_document().items():
            deviations, unit = estimate.correction_deviations.get(name), estimate.correction.unit(name)
            text = f"{estimate.correction.text_of(name)}{unit and ' ' + unit}"
            if deviations is not None:
                pairs = zip(np.ravel(value), deviations, strict=True)
                each = ", ".join(with_interval(float(one), NORMAL_95 * deviation) for one, deviation in pairs)
                text = f"{name.replace('_', ' ')} {each}{unit and ' ' + unit}, estimated along with the load (95 %)"
            found.append(text)
        return found

    @cached_property
    def checkup(self) -> Checkup | None:
        """The checks of the recording, if there is one with a wrench."""
        given = self.given
        if given.recording is None or given.robot is None or not given.recording.has("wrench"):
            return None
        return examine_recording(given.recording, given.robot, correction=given.correction, estimate=given.estimate)

    @cached_property
    def motion(self) -> MotionEstimate | None:
        """The recorded motion, or the planned one."""
        if self.run is not None:
            return self.run.motion
        if self._recorded is not None or self.given.trajectory is None:
            return self._recorded
        planned = self.given.trajectory.trajectory.sample(min(self.given.trajectory.fps, 500.0))
        return MotionEstimate(planned.time, planned.q, planned.dq, planned.ddq)

    @property
    def motion_origin(self) -> str:
        """Where the motion comes from, a few words."""
        return "as planned" if self.run is None and self._recorded is None else "as recorded, smoothed"

    @cached_property
    def _recorded(self) -> MotionEstimate | None:
        """Once for all parts of the page."""
        given = self.given
        if given.motion is not None or given.recording is None or given.robot is None or not given.recording.has("q"):
            return given.motion
        return KalmanMotion().motion(given.correction.applied(given.recording, given.robot), given.robot)

    @cached_property
    def body(self) -> EquivalentBody | None:
        """The box and the ellipsoid that stand for the estimate, if any do."""
        return equivalent_body(self.estimate.parameters) if self.estimate.complete else None

    @cached_property
    def true_body(self) -> EquivalentBody | None:
        """The same for the truth."""
        return None if self.given.truth is None else equivalent_body(self.given.truth)

    @cached_property
    def singular_values(self) -> FloatArray | None:
        """(10,) of the stacked regressor in SI units, divided by the root of the number of samples."""
        if self.run is None:
            return None
        rows = self.run.problem.A.reshape(-1, 10)
        return np.asarray(np.linalg.svd(rows, compute_uv=False) / np.sqrt(self.run.problem.num_samples))
