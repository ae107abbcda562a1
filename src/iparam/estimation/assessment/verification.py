"""`verify_estimate`: the wrench of a run that was not used, predicted and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.applicability import check_frame, comes_from, compare_arm
from iparam.estimation.assessment.motion_path import SAME, motion_path, shared_motion
from iparam.estimation.assessment.residual_structure import LINEAR
from iparam.estimation.assessment.run_analysis import AXIS_NAMES, RunAnalysis, analyze_run
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.covariance import Scores, score_covariance
from iparam.motion.motion import MotionEstimate
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.regressor.identifiability import PARAMETER_NAMES, turns_gravity
from iparam.remarks import Remark, messages, remark
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, percent
from iparam.sensing.correction import Correction
from iparam.sensing.noise import MeasurementNoise, noise_preset, noise_presets

DEFAULT_THRESHOLD = 2.0
"""Residual in units of what a right load leaves up to which a run counts as predicted: a mass that is 10 % off gives
2.5 on 2 kg."""

SCALE_TOLERANCE = 0.05
"""By how much the load's wrench may have to be scaled to fit the run best, besides what its noise explains."""

TELLING = 0.02
"""Standard deviation of that scale with which a run can tell a right load from a wrong one."""

AS_TELLING = 2.0
"""How many times less than the estimate a run may know of it: a light load is verified as well as it is known."""

LEAST_TELLING = 1.0 / 6.0
"""Largest standard deviation of that scale with which a run says anything: half as heavy is three of them away."""

MASS_TOLERANCE = 0.01
"""Share by which a known mass may be missed: what force sensors promise of their gain."""

FITTED_RANK = 1e-6
"""Share of the largest singular value below which fitted parameters make up nothing."""


@dataclass(frozen=True, eq=False)
class Verification:
    """How well an estimate predicts a run; all arrays (6,) are [force, torque] in the tool frame [N, N m].

    Attributes:
        rms: root mean square of measured - predicted.
        noise: standard deviation of the sensor's noise.
        expected: rms that a right load leaves, by the noise, the errors of the motion and those of the estimate.
        noise_source: where the noise is known from, a few words.
        signal: root mean square of the measured wrench about its mean.
        offset: the constant part that was taken for the sensor's bias.
        offset_fitted: whether it was fitted to this run, or is the estimate's own.
        best_scale: the factor by which the load's predicted wrench would fit this run best; 1 if nothing is wrong.
        scale_deviation: its standard deviation, by the noise of the run and the covariance of the estimate.
        threshold: the largest rms that passes, in units of what is expected.
        samples: how many were compared.
        duration: from the first to the last [s].
        shared_motion: share of the run's poses that the motion identified from went through, too; None if unknown.
        mass, mass_deviation: of the estimate [kg].
        known_mass: what the load weighs, where that is known [kg]; None otherwise.
        mass_tolerance: by which share of it the estimate may be off, besides its own interval.
        refuted: whether the data that the estimate comes from are against it: then it passes nothing.
        remarks: what was found in the data.
    """

    rms: FloatArray
    noise: FloatArray
    expected: FloatArray
    noise_source: str
    signal: FloatArray
    offset: FloatArray
    offset_fitted: bool
    best_scale: float
    scale_deviation: float
    threshold: float
    samples: int
    duration: float
    shared_motion: float | None = None
    mass: float = float("nan")
    mass_deviation: float = 0.0
    known_mass: float | None = None
    mass_tolerance: float = MASS_TOLERANCE
    refuted: bool = False
    remarks: tuple[Remark, ...] = ()

    @property
    def by_noise(self) -> FloatArray:
        """(6,) rms in units of what is expected: 1 where nothing is left but noise.

        No sensor is so linear that less than `LINEAR` of the largest signal of force, or of torque, can be expected.
        """
        least = LINEAR * np.repeat([self.signal[:3].max(), self.signal[3:].max()], 3)
        floor = np.maximum(self.expected, np.maximum(least, np.finfo(float).tiny))
        return np.asarray(self.rms / floor)

    @property
    def by_signal(self) -> FloatArray:
        """(6,) rms as a share of the signal; infinite where there is none."""
        return np.asarray(np.divide(self.rms, self.signal, out=np.full(6, np.inf), where=self.signal > 0.0))

    @property
    def passed(self) -> bool:
        """Whether no axis is beyond the threshold, and the load not too heavy or too light, nor refuted."""
        predicted = bool((self.by_noise <= self.threshold).all()) and self.scale_right
        return predicted and self.mass_right and not self.refuted

    @property
    def same_motion(self) -> bool:
        """Whether the run follows the motion that the estimate was identified from."""
        return self.shared_motion is not None and self.shared_motion >= SAME

    @property
    def other_motion(self) -> bool:
        """Whether the run is known to follow another motion than the one that the estimate was identified from."""
        return self.shared_motion is not None and self.shared_motion < SAME

    @property
    def mass_right(self) -> bool:
        """Whether the estimate agrees with the mass that is known, if one is."""
        if self.known_mass is None:
            return True
        own = self.mass_deviation if self.mass_deviation <= LEAST_TELLING * self.known_mass else 0.0  # else any mass is
        return abs(self.mass - self.known_mass) <= self.mass_tolerance * self.known_mass + 3.0 * own

    @property
    def scale_right(self) -> bool:
        """Whether the load's wrench fits as it is, within `SCALE_TOLERANCE` and the noise."""
        return abs(self.best_scale - 1.0) <= SCALE_TOLERANCE + 3.0 * self.scale_deviation

    @property
    def sentence(self) -> str:
        """The outcome, for people."""
        if self.refuted:
            return (
                "The result is refuted by the data that it comes from: a run with the same mistake is no proof of it."
            )
        if not self.mass_right and self.known_mass is not None:
            return (
                f"The result has {self.mass:.4f} +- {NORMAL_95 * self.mass_deviation:.2g} kg (95 %), and the load "
                f"weighs {self.known_mass:.4g} kg ({100 * self.mass_tolerance:g} % allowed): the sensor shows "
                f"{self.mass / self.known_mass:.3f} times the wrench, or gravity is another. No residual shows that."
            )
        worst = int(np.argmax(self.by_noise))
        found = f"{AXIS_NAMES[worst]} is off by {self.by_noise[worst]:.2f} times what is expected"
        if self.passed:
            said = f"The estimate predicts this run: at worst, {found} ({self.threshold:g} allowed)."
            if self.scale_deviation <= TELLING:
                return said
            return f"{said} A load {_percent(3.0 * self.scale_deviation)} heavier or lighter would predict it as well."
        beyond = int(np.count_nonzero(self.by_noise > self.threshold))
        if not beyond:
            scale = f"{self.best_scale:.3f} +- {NORMAL_95 * self.scale_deviation:.3f} (95 %)"
            return f"The estimate does not predict this run: {scale} times the load would fit best."
        return f"The estimate does not predict this run: {found}, and {beyond} of 6 axes exceed {self.threshold:g}."

    def as_json(self) -> dict[str, Any]:
        """The same as plain numbers and lists."""
        return {
            "passed": self.passed,
            "refuted": self.refuted,
            "threshold": self.threshold,
            "rms": {"force": self.rms[:3].tolist(), "torque": self.rms[3:].tolist()},
            "noise": {"force": self.noise[:3].tolist(), "torque": self.noise[3:].tolist()},
            "noise_source": self.noise_source,
            "expected": {"force": self.expected[:3].tolist(), "torque": self.expected[3:].tolist()},
            "rms_by_noise": {"force": self.by_noise[:3].tolist(), "torque": self.by_noise[3:].tolist()},
            "rms_by_signal": {"force": self.by_signal[:3].tolist(), "torque": self.by_signal[3:].tolist()},
            "offset": {"force": self.offset[:3].tolist(), "torque": self.offset[3:].tolist()},
            "offset_fitted": self.offset_fitted,
            "best_scale": self.best_scale,
            "scale_deviation": self.scale_deviation,
            "samples": self.samples,
            "duration": self.duration,
            "shared_motion": self.shared_motion,
            "same_motion": self.same_motion,
            "mass": self.mass,
            "known_mass": self.known_mass,
            "mass_right": None if self.known_mass is None else self.mass_right,
            "warnings": list(messages(self.remarks)),
            "remarks": [one.to_document() for one in self.remarks],
        }


def verify_estimate(
    estimate: Estimate,
    recording: Recording,
    robot: Robot,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    keep_bias: bool = False,
    wrench_noise: ArrayLike | None = None,
    motion: MotionEstimate | None = None,
    delay: float | None = None,
    correction: Correction | None = None,
    known_mass: float | None = None,
    mass_tolerance: float = MASS_TOLERANCE,
) -> Verification:
    """Predict the wrench of a run that the estimate does not come from.

    Args:
        estimate: of the load.
        recording: of another motion with the same load.
        robot: the arm.
        threshold: the largest rms that passes, in units of what a right load leaves: the sensor's noise, and what the
            errors of the motion and of the estimate add to it.
        keep_bias: use the estimate's sensor bias; otherwise six offsets are fitted, since a bias changes between runs.
        wrench_noise: (6,) standard deviation of the sensor's noise [N, N m]; None takes that of the noise preset that
            the recording names, and without one finds it in the spectrum of the residuals, beyond the load's own band.
        motion: how the arm moved; the Kalman smoother's answer if not given.
        delay: by how much the wrench lags behind the joint angles [s]; None compensates what the wrench shows clearly.
        correction: what is to be put right in this recording, as it was in the one that the estimate comes from.
        known_mass: what the load weighs on a scale [kg]. Only this shows a gain that all channels share, or another
            gravity: with them a heavier or lighter load predicts every run as well.
        mass_tolerance: by which share of it the estimate may be off, besides three standard deviations.

    Raises:
        IdentificationError: the run would be predicted by a wrong load as well, since the arm hardly moves; or the
            estimate says so little of the load that there is nothing to verify.
    """
    if not (np.isfinite(threshold) and threshold > 0.0):
        raise InputError(argument="threshold", value=threshold, expected="positive")
    if keep_bias and estimate.sensor_bias is None:
        raise InputError("the estimate has no sensor bias to keep: let the offsets be fitted")
    for name, value in (("known_mass", known_mass), ("mass_tolerance", mass_tolerance)):
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InputError(argument=name, value=value, expected="positive")
    if not estimate.determined:
        raise IdentificationError(f"there is nothing to verify: the result holds no load. {estimate.status}")
    remarks = _agreement(estimate, recording, robot, keep_bias)
    corrected = recording if correction is None else correction.applied(recording, robot)
    shared = shared_motion(estimate.path, motion_path(corrected), robot)
    if shared is not None and shared >= SAME and not comes_from(estimate, recording):
        remarks.append(remark("same-motion", share=100 * shared))
    run = analyze_run(
        recording, robot, estimate, motion=motion, delay=delay, fit_offset=not keep_bias, correction=correction
    )
    noise, source = _noise(recording, wrench_noise)
    noise = run.noise if noise is None else noise
    scale, deviation = _best_scale(run)
    covariance = np.nan_to_num(estimate.covariance_phi, nan=0.0)  # what the estimate does not have claims nothing
    if known_mass is not None:
        covariance = _mass_known(covariance, mass_tolerance * known_mass)
    claimed = _claimed_scale_deviation(run, covariance)
    if claimed > LEAST_TELLING:
        raise IdentificationError(
            f"there is nothing to verify: by its own covariance the load may be {_percent(3.0 * claimed)} heavier or "
            f"lighter (at most {_percent(3.0 * LEAST_TELLING)}). Weigh it, or identify it from a motion that tells "
            "more, or with a sensor of less noise",
            argument="known_mass",
        )
    allowed = max(TELLING, min(AS_TELLING * claimed, LEAST_TELLING))
    if not deviation <= allowed:
        raise IdentificationError(
            f"this run cannot tell whether the load is right: one {_percent(3.0 * deviation)} heavier or lighter would "
            f"be predicted as well (at most {_percent(3.0 * allowed)} is asked for). Record "
            f"{_telling_motion(robot, recording)}, such as one of iparam excite optimize, or with a sensor of less "
            "noise"
        )
    time = run.problem.time
    if run.fitted.any():
        missing = ", ".join(name for name, fit in zip(PARAMETER_NAMES, run.fitted, strict=True) if fit)
        remarks.append(remark("parameters-not-verified", parameters=missing))
    return Verification(
        rms=frozen(run.rms),
        noise=frozen(noise),
        expected=frozen(_expected_rms(run, covariance, noise)),
        noise_source=source,
        signal=frozen(run.signal),
        offset=frozen(run.offset),
        offset_fitted=run.offset_fitted,
        best_scale=scale,
        scale_deviation=float(np.hypot(deviation, claimed)),
        threshold=threshold,
        samples=run.problem.num_samples,
        duration=float(time[-1] - time[0]),
        shared_motion=shared,
        mass=estimate.mass,
        mass_deviation=estimate.standard_deviation.mass,
        known_mass=known_mass,
        mass_tolerance=mass_tolerance,
        refuted=estimate.refutation is not None,
        remarks=(*remarks, *run.problem.remarks),
    )


def _telling_motion(robot: Robot, recording: Recording) -> str:
    """The motion that this arm can make and that tells most of the load's weight."""
    if turns_gravity(robot, recorded_gravity(recording)):
        return "a motion that turns the tool over"
    return f"a faster motion ({robot.name} cannot turn its tool over: accelerations alone tell the weight)"


def _agreement(estimate: Estimate, recording: Recording, robot: Robot, keep_bias: bool) -> list[Remark]:
    """Refuse an estimate that cannot predict this run; remark what is odd about the two."""
    check_frame(estimate.frame, robot)
    arm = compare_arm(estimate, robot)
    if arm.same is False and keep_bias:
        raise ContradictionError(f"{arm.remark} The bias of its sensor is not that of this one: let it be fitted")
    remarks = [] if arm.remark is None else [arm.remark]
    if comes_from(estimate, recording):
        remarks.append(remark("verified-with-own-run"))
    return remarks


def _weights(run: RunAnalysis) -> FloatArray:
    """(6,) one over the standard deviation of white noise that is as strong in the band of the motion."""
    return np.asarray(1.0 / np.maximum(run.noise_in_band, 1e-6 * max(float(run.signal.max()), 1e-300)))


def _changes(run: RunAnalysis, wrench: FloatArray) -> FloatArray:
    """What a part (N, 6, ...) of a wrench changes: without its mean where an offset is fitted."""
    return wrench - wrench.mean(axis=0) if run.offset_fitted else wrench


def _tested(run: RunAnalysis, weighted: FloatArray) -> FloatArray:
    """What of a weighted wrench (N, 6) none of the fitted parameters can make up."""
    if not run.fitted.any():
        return weighted
    columns = _weights(run)[:, None] * _changes(run, run.problem.A[:, :, run.fitted])
    basis, values, _ = np.linalg.svd(columns.reshape(-1, columns.shape[2]), full_matrices=False)
    basis = basis[:, values > FITTED_RANK * max(float(values[0]), np.finfo(float).tiny)]
    flat = weighted.ravel()
    return np.asarray(flat - basis @ (basis.T @ flat)).reshape(weighted.shape)


def _best_scale(run: RunAnalysis) -> tuple[float, float]:
    """Least squares of the measured wrench by the load's, weighted by the noise, and its standard deviation.

    The latter is at least that of the wrench's noise; where what is left moves the scale more, as errors of the motion
    do, which last, it is what they show.
    """
    weights = _weights(run)
    known = run.problem.A @ np.where(run.fitted, 0.0, run.phi)
    parts = (known, run.problem.y - run.offset)
    load, measured = (_tested(run, weights * _changes(run, part)) for part in parts)
    squares = float(np.sum(load**2))
    if squares <= 0.0:
        return 1.0, float("inf")
    scale = float(np.sum(load * measured)) / squares
    shown = score_covariance(Scores(np.ascontiguousarray(load[..., None]), measured - scale * load, np.zeros(1)))
    return scale, float(max(1.0 / np.sqrt(squares), np.sqrt(shown.matrix[0, 0]) / squares))


def _claimed_scale_deviation(run: RunAnalysis, covariance: FloatArray) -> float:
    """Standard deviation that the covariance (10, 10) of phi gives the scale of its wrench in this run."""
    regressors = _weights(run)[:, None] * _changes(run, run.problem.A)
    load = _tested(run, regressors @ np.where(run.fitted, 0.0, run.phi))
    squares = float(np.sum(load**2))
    slope = np.einsum("nci,nc->i", regressors, load) / max(squares, np.finfo(float).tiny)
    return float(np.sqrt(max(slope @ covariance @ slope, 0.0)))


def _expected_rms(run: RunAnalysis, covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """(6,) what a right load leaves: the noise, the errors of the motion times the load, and those of the estimate."""
    regressors, uncertainty = _changes(run, run.problem.A), run.problem.uncertainty
    power = noise**2 + np.einsum("nci,ij,ncj->c", regressors, covariance, regressors) / len(regressors)
    if uncertainty is not None:
        power = power + uncertainty.mean(np.diagonal(uncertainty.wrench_covariance(run.phi), axis1=1, axis2=2))
    return np.asarray(np.sqrt(np.maximum(power, 0.0)))


def _mass_known(covariance: FloatArray, deviation: float) -> FloatArray:
    """(10, 10) of phi once the load was weighed, to so many kg."""
    known = covariance[0] / np.hypot(np.sqrt(covariance[0, 0]), deviation)
    return np.asarray(covariance - np.outer(known, known))


def _percent(share: float) -> str:
    return f"{percent(share)}" if share < 1.0 else "several times"


def _noise(recording: Recording, given: ArrayLike | None) -> tuple[FloatArray | None, str]:
    """The sensor's noise (6,) and where it is known from; None if it has to be estimated."""
    if given is not None:
        levels = as_float_array(given, "wrench_noise", (6,))
        if levels.shape != (6,) or (levels < 0.0).any():
            raise InputError(argument="wrench_noise", value=levels, expected="6 standard deviations of at least 0")
        return levels, "given"
    name = recording.metadata.get("noise")
    if isinstance(name, str) and name in noise_presets():
        try:
            return MeasurementNoise.from_model(noise_preset(name)).wrench, f"noise preset {name}"
        except InputError:  # a preset without noise
            pass
    return None, "estimated beyond the band of the motion"
