"""`ShownWrench`: what the sensor measured along a motion and what the load explains of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.run_analysis import RunAnalysis
from iparam.recording.recording import Recording
from iparam.sensing.wrench_source import SensorWrench
from iparam.viewer.source import arrow_scales
from iparam.viewer.track import interpolated


@dataclass(frozen=True, eq=False)
class ShownWrench:
    """Wrenches [force, torque] in the tool frame: what the arm exerts on the load [N, N m].

    Attributes:
        time: (T,) [s], on the clock of the track.
        measured: (T, 6).
        predicted: (T, 6) by the estimate, or None.
        scales: metres of an arrow for a newton and for a newton metre.
    """

    time: FloatArray
    measured: FloatArray
    predicted: FloatArray | None
    scales: tuple[float, float]

    def at(self, time: float) -> dict[str, FloatArray]:
        """(6,) "measured", and "predicted" where there is a prediction, at a time [s]."""
        known = {"measured": self.measured, "predicted": self.predicted}
        return {
            kind: interpolated(np.array([time]), self.time, values)[0]
            for kind, values in known.items()
            if values is not None
        }


def measured_wrench(recording: Recording, origin: float, reach: float) -> ShownWrench | None:
    """The wrench of a recording; None if it has none.

    Args:
        recording: with the signal "wrench" in the tool frame.
        origin: time of its clock that the track counts from [s].
        reach: of the arm [m].
    """
    if not recording.has("wrench"):
        return None
    signal = SensorWrench().read(recording)
    return ShownWrench(signal.time - origin, signal.values, None, _scales(signal.values, reach))


def analyzed_wrench(run: RunAnalysis, origin: float, reach: float) -> ShownWrench:
    """The wrench of a run, as the estimator used it, with what the estimate predicts; see `measured_wrench`."""
    measured = run.problem.y
    return ShownWrench(run.problem.time - origin, measured, run.predicted, _scales(measured, reach))


def _scales(values: FloatArray, reach: float) -> tuple[float, float]:
    return arrow_scales(np.linalg.norm(values.reshape(-1, 2, 3), axis=2).max(axis=0), reach)
