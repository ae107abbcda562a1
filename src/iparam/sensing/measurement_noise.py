"""`MeasurementNoise`: what a prediction needs to know of the sensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.sensing.noise import NoiseModel, SensorNoise


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


def _deviation(noise: SensorNoise) -> FloatArray:
    return np.sqrt(np.square(noise.white) + np.square(noise.quantum) / 12.0)
