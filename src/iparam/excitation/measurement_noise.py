"""`MeasurementNoise`: what a prediction needs to know of the sensors, and what noisy joint angles do to an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.recording import JointProcess, choose_processes
from iparam.sensing.noise import NoiseModel, SensorNoise

_CHOICE_SEED = 0


@dataclass(frozen=True, eq=False)
class MeasurementNoise:
    """White noise of the sensors at the rate of a recording.

    Attributes:
        wrench: (6,) standard deviations of [force, torque] [N, N m], all positive.
        joint_angle: standard deviation of a joint angle; 0 for exact angles [rad].
        kept: share of the samples that arrive, above 0.
    """

    wrench: FloatArray
    joint_angle: float = 0.0
    kept: float = 1.0

    def __post_init__(self) -> None:
        wrench = as_float_array(self.wrench, "wrench noise")
        if wrench.shape != (6,) or (wrench <= 0.0).any():
            raise InputError(
                f"wrench noise must be 6 positive standard deviations [N, N m], got {np.atleast_1d(wrench).tolist()}: "
                "without noise there is nothing to predict"
            )
        object.__setattr__(self, "wrench", frozen(wrench))
        if not (np.isfinite(self.joint_angle) and self.joint_angle >= 0.0):
            raise InputError(f"joint_angle noise must be a standard deviation from 0 rad, got {self.joint_angle!r}")
        if not 0.0 < self.kept <= 1.0:
            raise InputError(f"kept must be a share of the samples, above 0 and at most 1, got {self.kept!r}")

    @classmethod
    def from_model(cls, model: NoiseModel) -> MeasurementNoise:
        """That of a noise model, e.g. ``noise_preset("ur5e")``.

        White noise and rounding (a step has the variance of a uniform error) count; an offset is estimated with the
        parameters, and drift, delay and saturation are left out.
        """
        perfect = SensorNoise()
        wrench, angle = model.sensors.get("wrench", perfect), model.sensors.get("q", perfect)
        levels = np.broadcast_to(_deviation(wrench), (6,))
        if (levels <= 0.0).any():
            raise InputError(f"the noise model {model.name!r} has no noise of the wrench: there is nothing to predict")
        return cls(levels, float(np.max(_deviation(angle))), 1.0 - wrench.dropout)


def expected_processes(times: FloatArray, q: FloatArray, joint_angle: float) -> tuple[JointProcess, ...]:
    """The models that the smoother will choose for angles q (T, n) measured with this noise, from one such run."""
    noise = joint_angle * np.random.default_rng(_CHOICE_SEED).standard_normal(q.shape)
    return choose_processes(times, q + noise)


def joint_noise_covariance(
    weights: FloatArray, rate: float, processes: Sequence[JointProcess], joint_angle: float
) -> FloatArray:
    """(p, p) what white noise of the joint angles adds to the covariance of an estimate, to first order.

    The smoother turns angles into q, dq and ddq, whose errors are therefore correlated over time and with each other.
    Away from its ends it is a linear filter with the response H = 1 / (1 + (f / bandwidth)^(2 m)), followed by
    derivatives; the adjoint of that filter carries the weight of each error back to the angle samples, which are
    independent. Samples before and after the motion are taken to exist, with the arm at rest.

    Args:
        weights: (3, T, n, p) by how much the estimate changes with an error of q, dq and ddq of each sample and joint.
        rate: of the samples [Hz].
        processes: the smoother's models, one a joint.
        joint_angle: standard deviation of an angle sample [rad].
    """
    from scipy.fft import irfft, next_fast_len, rfft

    orders, count, joints, size = weights.shape
    padded = next_fast_len(2 * count)
    frequencies = np.arange(padded // 2 + 1) * (rate / padded)
    total = np.zeros((size, size))
    for joint in range(joints):
        process = processes[joint]
        response = 1.0 / (1.0 + (frequencies / process.bandwidth) ** (2 * process.order))
        spectrum = np.zeros((frequencies.size, size), dtype=np.complex128)
        for order in range(orders):
            adjoint = response * (-2j * np.pi * frequencies) ** order
            spectrum += adjoint[:, None] * rfft(weights[order, :, joint], padded, axis=0)
        per_sample = irfft(spectrum, padded, axis=0)
        total += joint_angle**2 * (per_sample.T @ per_sample)
    return total


def _deviation(noise: SensorNoise) -> FloatArray:
    return np.sqrt(np.square(noise.white) + np.square(noise.quantum) / 12.0)
