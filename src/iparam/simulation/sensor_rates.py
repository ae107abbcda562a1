"""How often the simulated sensors are read, in steps of the physics."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.errors import InputError
from iparam.trajectory.checks import TIME_SLACK, positive_number


@dataclass(frozen=True)
class SensorRates:
    """Samples a second of each group of signals [Hz].

    A rate need not divide the physics rate: a sample is taken at the step nearest to its time and stamped with that
    step's time, so the stamps are always true and then not quite evenly spaced.

    Attributes:
        joints: joint angles, velocities, torques and set points.
        wrench: the force/torque sensor.
        imu: accelerometer and gyro.
    """

    joints: float = 500.0
    wrench: float = 500.0
    imu: float = 500.0

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            rate = positive_number(getattr(self, spec.name), f"the sensor rate {spec.name!r}", "Hz")
            object.__setattr__(self, spec.name, rate)

    @classmethod
    def all_at(cls, rate: float) -> SensorRates:
        """The same ``rate`` [Hz] for all."""
        return cls(rate, rate, rate)

    def steps(self, physics_rate: float, last_step: int) -> dict[str, NDArray[np.int64]]:
        """For each group the physics steps 0..last_step at which it is read, in order."""
        return {
            spec.name: _steps(spec.name, getattr(self, spec.name), physics_rate, last_step)
            for spec in dataclasses.fields(self)
        }


def _steps(name: str, rate: float, physics_rate: float, last_step: int) -> NDArray[np.int64]:
    ratio = physics_rate / rate
    if ratio < 1.0 - TIME_SLACK:
        raise InputError(
            f"the sensor rate {name!r} is {rate:g} Hz, more than the physics rate, {physics_rate:g} Hz: there is "
            "nothing to measure between two steps"
        )
    count = int(np.floor(last_step / ratio + 0.5)) + 1
    steps: NDArray[np.int64] = np.floor(np.arange(count) * ratio + 0.5).astype(np.int64)
    return steps[steps <= last_step]
