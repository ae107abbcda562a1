"""`ShownWrench`: what the sensor measured along a motion and what the load explains of it, as arrows and as curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.run_analysis import RunAnalysis
from iparam.recording.recording import Recording
from iparam.sensing.wrench_source import SensorWrench
from iparam.viewer.track import interpolated

ARROW = 0.35
"""Length of the arrow of the largest force, and of the largest torque, in reaches of the arm."""


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

    @property
    def residual(self) -> FloatArray | None:
        """(T, 6) measured - predicted."""
        return None if self.predicted is None else self.measured - self.predicted

    def arrows(self, time: float, tool: FloatArray) -> dict[str, FloatArray]:
        """Tail and head (2, 3) of each arrow in the base frame at a time [m].

        Args:
            time: [s].
            tool: (4, 4) pose of the tool frame then; its origin is where the wrench is measured.

        Returns:
            "measured force", "measured torque", and the same "predicted", where there is a prediction.
        """
        found = {}
        for kind, values in (("measured", self.measured), ("predicted", self.predicted)):
            if values is None:
                continue
            wrench = interpolated(np.array([time]), self.time, values)[0]
            for name, part, scale in (("force", wrench[:3], self.scales[0]), ("torque", wrench[3:], self.scales[1])):
                tip = tool[:3, 3] + scale * tool[:3, :3] @ part
                found[f"{kind} {name}"] = np.stack([tool[:3, 3], tip])
        return found


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
    force, torque = (float(np.linalg.norm(values[:, part], axis=1).max()) for part in (slice(3), slice(3, 6)))
    return ARROW * reach / max(force, 1e-9), 0.6 * ARROW * reach / max(torque, 1e-9)
