"""`RunAnalysis`: what an estimate predicts for a run, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.problem_from_recording import problem_from_recording
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import KalmanMotion
from iparam.recording.noise_level import SpectralNoise, noise_beside, white_noise_level
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction

AXIS_NAMES = ("force x", "force y", "force z", "torque x", "torque y", "torque z")
AXIS_UNITS = ("N", "N", "N", "N m", "N m", "N m")


@dataclass(frozen=True, eq=False)
class RunAnalysis:
    """A run as the estimate sees it; all wrenches are [force, torque] in the tool frame [N, N m].

    Attributes:
        motion: how the arm moved.
        problem: regressors and measured wrenches of N samples.
        predicted: (N, 6) A phi + offset.
        residual: (N, 6) measured - predicted.
        offset: (6,) the constant part that is no load: the sensor's bias.
        offset_fitted: whether the offset was fitted to this run, or is the estimate's own bias.
    """

    motion: MotionEstimate
    problem: PayloadProblem
    predicted: FloatArray
    residual: FloatArray
    offset: FloatArray
    offset_fitted: bool

    @property
    def rms(self) -> FloatArray:
        """(6,) root mean square of the residual."""
        return np.asarray(np.sqrt(np.mean(self.residual**2, axis=0)))

    @property
    def signal(self) -> FloatArray:
        """(6,) root mean square of the measured wrench about its mean: what there was to predict."""
        return np.asarray(self.problem.y.std(axis=0))

    @property
    def noise(self) -> FloatArray:
        """(6,) standard deviation of the wrench's noise: what the residual holds beyond the band of the load's wrench.

        Where the run is too short for a spectrum, it is that of white noise, from second differences.
        """
        found = self._spectral
        return white_noise_level(self.residual) if found is None else found.level

    @property
    def noise_in_band(self) -> FloatArray:
        """(6,) standard deviation of white noise as strong as the wrench's where the load's wrench has its power."""
        found = self._spectral
        return white_noise_level(self.residual) if found is None else found.in_band

    @cached_property
    def _spectral(self) -> SpectralNoise | None:
        return noise_beside(self.residual, self.predicted)


def analyze_run(
    recording: Recording,
    robot: Robot,
    estimate: Estimate,
    *,
    motion: MotionEstimate | None = None,
    delay: float | None = None,
    fit_offset: bool = False,
    correction: Correction | None = None,
) -> RunAnalysis:
    """Predict the wrench of a run.

    Args:
        recording: with q and wrench.
        robot: the arm.
        estimate: of the load.
        motion: how the arm moved; the Kalman smoother's answer if not given.
        delay: see `problem_from_recording`.
        fit_offset: fit six constant offsets to this run. An estimate without a bias of its own always gets them:
            its sensor had none, or was zeroed with the load on it, which is a constant offset, too.
        correction: what is to be put right in the recording; its values must be known.
    """
    correction = Correction() if correction is None else correction
    recording = correction.applied(recording, robot)
    if motion is None:
        recording, restamped = evenly_stamped(recording)
        recording = recording.with_warnings(*restamped)
        motion = KalmanMotion().motion(recording, robot)
    problem = problem_from_recording(recording, robot, motion=motion, delay=delay, correction=correction.remaining())
    load = problem.A @ estimate.phi
    bias = estimate.sensor_bias
    if fit_offset or bias is None:
        offset = np.mean(problem.y - load, axis=0)
    else:
        offset = np.concatenate([bias.force, bias.torque])
    predicted = load + offset
    return RunAnalysis(motion, problem, predicted, problem.y - predicted, offset, fit_offset or bias is None)
