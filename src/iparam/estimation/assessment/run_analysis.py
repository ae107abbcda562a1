"""`RunAnalysis`: what an estimate predicts for a run, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
"""The channels of a wrench in words, in the order of its columns."""

AXIS_UNITS = ("N", "N", "N", "N m", "N m", "N m")
"""Their units."""

_UNSEEN = 1e-6  # share of the strongest column, or singular value, that is none


@dataclass(frozen=True, eq=False)
class RunAnalysis:
    """A run as the estimate sees it; all wrenches are [force, torque] in the tool frame [N, N m].

    Attributes:
        motion: how the arm moved.
        problem: regressors and measured wrenches of N samples.
        predicted: (N, 6) A phi + offset.
        phi: (10,) of the estimate; what that does not have, because its data did not determine it, is fitted to this
            run: the prediction is one of the rest.
        fitted: (10,) which those are.
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
    phi: FloatArray
    fitted: NDArray[np.bool_]

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
        recording = recording.with_remarks(*restamped)
        motion = KalmanMotion().motion(recording, robot)
    problem = problem_from_recording(recording, robot, motion=motion, delay=delay, correction=correction.remaining())
    bias = estimate.sensor_bias
    free = fit_offset or bias is None
    offset = np.zeros(6) if bias is None or fit_offset else np.concatenate([bias.force, bias.torque])
    fitted = np.isnan(estimate.phi)
    phi = np.where(fitted, 0.0, estimate.phi)
    if fitted.any():
        phi[fitted] = _fitted_rest(problem, phi, fitted, offset, free)
    load = problem.A @ phi
    if free:
        offset = np.mean(problem.y - load, axis=0)
    predicted = load + offset
    return RunAnalysis(motion, problem, predicted, problem.y - predicted, offset, free, phi, fitted)


def _fitted_rest(
    problem: PayloadProblem, phi: FloatArray, fitted: NDArray[np.bool_], offset: FloatArray, free: bool
) -> FloatArray:
    """The entries of phi that are to be fitted, by least squares weighted by the noise; zero where nothing shows them.

    Args:
        problem: the run.
        phi: (10,) the others, and zeros.
        fitted: (10,) which are to be fitted.
        offset: (6,) of the wrench.
        free: whether the offset is another, to be fitted along.
    """
    rest = problem.y - problem.A @ phi - offset
    columns = problem.A[:, :, fitted]
    if free:
        rest, columns = rest - rest.mean(axis=0), columns - columns.mean(axis=0)
    level = white_noise_level(problem.y)
    weights = 1.0 / np.maximum(level, 1e-6 * max(float(np.abs(problem.y).max()), 1e-300))
    design = (weights[:, None] * columns).reshape(-1, columns.shape[2])
    norms = np.linalg.norm(weights[:, None] * problem.A, axis=(0, 1))
    scale = np.where(norms[fitted] > _UNSEEN * norms.max(), norms[fitted], np.inf)
    found = np.linalg.lstsq(design / scale, (weights * rest).ravel(), rcond=_UNSEEN)[0]
    return np.asarray(found / scale)
