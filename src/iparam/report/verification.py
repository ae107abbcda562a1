"""`verify_estimate`: the wrench of a run that was not used, predicted and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import ContradictionError, InputError
from iparam.estimation.agreement import check_frame, comes_from, compare_arm
from iparam.estimation.estimate import Estimate
from iparam.excitation.measurement_noise import MeasurementNoise
from iparam.recording.recording import Recording
from iparam.report.run_analysis import AXIS_NAMES, RunAnalysis, analyze_run
from iparam.robot.model import Robot
from iparam.sensing.motion import ToolMotionEstimate
from iparam.sensing.noise import noise_preset, noise_presets

DEFAULT_THRESHOLD = 2.0
"""Residual in units of the noise up to which a run counts as predicted: a mass that is 10 % off gives 2.5 on 2 kg."""

NEGLIGIBLE = 1e-3
"""Share of the signal that counts as noise where a sensor has less: nobody needs a better prediction."""


@dataclass(frozen=True, eq=False)
class Verification:
    """How well an estimate predicts a run; all arrays (6,) are [force, torque] in tool0 [N, N m].

    Attributes:
        rms: root mean square of measured - predicted.
        noise: standard deviation of the sensor's noise.
        noise_source: where the noise is known from, a few words.
        signal: root mean square of the measured wrench about its mean.
        offset: the constant part that was taken for the sensor's bias.
        offset_fitted: whether it was fitted to this run, or is the estimate's own.
        best_scale: the factor by which the load's predicted wrench would fit this run best; 1 if nothing is wrong.
        threshold: the largest rms that passes, in units of the noise.
        samples: how many were compared.
        duration: from the first to the last [s].
        warnings: what was found wrong with the data, one sentence each.
    """

    rms: FloatArray
    noise: FloatArray
    noise_source: str
    signal: FloatArray
    offset: FloatArray
    offset_fitted: bool
    best_scale: float
    threshold: float
    samples: int
    duration: float
    warnings: tuple[str, ...] = ()

    @property
    def by_noise(self) -> FloatArray:
        """(6,) rms in units of the noise: 1 where nothing is left but noise.

        Noise below a thousandth of the largest signal of force, or of torque, counts as that much.
        """
        least = NEGLIGIBLE * np.repeat([self.signal[:3].max(), self.signal[3:].max()], 3)
        floor = np.maximum(self.noise, np.maximum(least, np.finfo(float).tiny))
        return np.asarray(self.rms / floor)

    @property
    def by_signal(self) -> FloatArray:
        """(6,) rms as a share of the signal; infinite where there is none."""
        return np.asarray(np.divide(self.rms, self.signal, out=np.full(6, np.inf), where=self.signal > 0.0))

    @property
    def passed(self) -> bool:
        """Whether no axis is beyond the threshold."""
        return bool((self.by_noise <= self.threshold).all())

    @property
    def sentence(self) -> str:
        """The outcome, for people."""
        worst = int(np.argmax(self.by_noise))
        found = f"{AXIS_NAMES[worst]} is off by {self.by_noise[worst]:.2f} times the noise"
        if self.passed:
            return f"The estimate predicts this run: at worst, {found} ({self.threshold:g} allowed)."
        beyond = int(np.count_nonzero(self.by_noise > self.threshold))
        return f"The estimate does not predict this run: {found}, and {beyond} of 6 axes exceed {self.threshold:g}."

    def as_json(self) -> dict[str, Any]:
        """The same as plain numbers and lists."""
        return {
            "passed": self.passed,
            "threshold": self.threshold,
            "rms": {"force": self.rms[:3].tolist(), "torque": self.rms[3:].tolist()},
            "noise": {"force": self.noise[:3].tolist(), "torque": self.noise[3:].tolist()},
            "noise_source": self.noise_source,
            "rms_by_noise": {"force": self.by_noise[:3].tolist(), "torque": self.by_noise[3:].tolist()},
            "rms_by_signal": {"force": self.by_signal[:3].tolist(), "torque": self.by_signal[3:].tolist()},
            "offset": {"force": self.offset[:3].tolist(), "torque": self.offset[3:].tolist()},
            "offset_fitted": self.offset_fitted,
            "best_scale": self.best_scale,
            "samples": self.samples,
            "duration": self.duration,
            "warnings": list(self.warnings),
        }


def verify_estimate(
    estimate: Estimate,
    recording: Recording,
    robot: Robot,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    keep_bias: bool = False,
    wrench_noise: ArrayLike | None = None,
    motion: ToolMotionEstimate | None = None,
    delay: float = 0.0,
) -> Verification:
    """Predict the wrench of a run that the estimate does not come from.

    Args:
        estimate: of the load.
        recording: of another motion with the same load.
        robot: the arm.
        threshold: the largest rms that passes, in units of the noise.
        keep_bias: use the estimate's sensor bias; otherwise six offsets are fitted, since a bias changes between runs.
        wrench_noise: (6,) standard deviation of the sensor's noise [N, N m]; None takes that of the noise preset that
            the recording names, and without one estimates it from the second differences of what is left.
        motion: how the arm moved; the Kalman smoother's answer if not given.
        delay: by how much the wrench lags behind the joint angles [s].
    """
    if not (np.isfinite(threshold) and threshold > 0.0):
        raise InputError(f"threshold must be positive, got {threshold!r}")
    if keep_bias and estimate.sensor_bias is None:
        raise InputError("the estimate has no sensor bias to keep: let the offsets be fitted")
    remarks = _agreement(estimate, recording, robot, keep_bias)
    run = analyze_run(recording, robot, estimate, motion=motion, delay=delay, fit_offset=not keep_bias)
    noise, source = _noise(recording, wrench_noise)
    time = run.problem.time
    return Verification(
        rms=frozen(run.rms),
        noise=frozen(run.noise if noise is None else noise),
        noise_source=source,
        signal=frozen(run.signal),
        offset=frozen(run.offset),
        offset_fitted=run.offset_fitted,
        best_scale=_best_scale(run),
        threshold=threshold,
        samples=run.problem.num_samples,
        duration=float(time[-1] - time[0]),
        warnings=(*remarks, *run.problem.warnings),
    )


def _agreement(estimate: Estimate, recording: Recording, robot: Robot, keep_bias: bool) -> list[str]:
    """Refuse an estimate that cannot predict this run; what is odd about the two, one sentence each."""
    check_frame(estimate.frame, robot)
    arm = compare_arm(estimate, robot)
    if arm.same is False and keep_bias:
        raise ContradictionError(f"{arm.sentence}: the bias of its sensor is not that of this one; let it be fitted")
    remarks = [arm.sentence] if arm.sentence else []
    if comes_from(estimate, recording):
        remarks.append("the result comes from this very run: that it predicts it proves little. Verify with another")
    return remarks


def _best_scale(run: RunAnalysis) -> float:
    """Least squares of measured by predicted wrench, both about their means, weighted by the noise."""
    weight = 1.0 / np.maximum(run.noise, 1e-6 * max(float(run.signal.max()), 1e-300))
    predicted = weight * (run.predicted - run.predicted.mean(axis=0))
    measured = weight * (run.problem.y - run.problem.y.mean(axis=0))
    return float(np.sum(predicted * measured) / max(float(np.sum(predicted**2)), 1e-300))


def _noise(recording: Recording, given: ArrayLike | None) -> tuple[FloatArray | None, str]:
    """The sensor's noise (6,) and where it is known from; None if it has to be estimated."""
    if given is not None:
        levels = as_float_array(given, "wrench_noise", (6,))
        if levels.shape != (6,) or (levels < 0.0).any():
            raise InputError(f"wrench_noise must be 6 standard deviations of at least 0, got {levels.tolist()}")
        return levels, "given"
    name = recording.metadata.get("noise")
    if isinstance(name, str) and name in noise_presets():
        try:
            return MeasurementNoise.from_model(noise_preset(name)).wrench, f"noise preset {name}"
        except InputError:  # a preset without noise
            pass
    return None, "estimated from second differences"
