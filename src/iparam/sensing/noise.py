"""Seeded models of what sensors do to a signal: noise, bias, drift, quantisation, saturation, delay and dropouts.

`noise_preset` gives the models that iparam knows by name. `MeasurementNoise` is what a prediction needs of them.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording, Signal

Levels = float | tuple[float, ...]
"""One number for all columns of a signal, or one for each."""

_LEVELS = ("white", "bias", "bias_range", "drift", "quantum", "limit")
_TARGET = "target_"


@dataclass(frozen=True)
class SensorNoise:
    """What one sensor adds to the true values, in the order of the attributes. The default is a perfect sensor.

    Attributes:
        white: standard deviation of independent Gaussian noise in every sample [unit of the signal].
        bias: constant error, the same in every run [unit].
        bias_range: half width of the uniform distribution of a constant error drawn for every run [unit].
        drift: standard deviation after 1 s of a random walk that starts at 0 [unit / sqrt(s)].
        quantum: width of a step of the output, which is rounded to whole steps [unit]; 0 for none.
        limit: the output ends at +-limit [unit].
        delay: a value measured at t is stamped t + delay [s].
        dropout: probability that a sample is lost, each on its own, 0 to below 1.
    """

    white: Levels = 0.0
    bias: Levels = 0.0
    bias_range: Levels = 0.0
    drift: Levels = 0.0
    quantum: Levels = 0.0
    limit: Levels = math.inf
    delay: float = 0.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in _LEVELS:
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.ndim > 1 or np.isnan(values).any():
                raise InputError(argument=name, value=getattr(self, name), expected="one number or one for each column")
            if name != "bias" and (values < 0.0).any():
                raise InputError(argument=name, problem=f"must not be negative, got {getattr(self, name)!r}")
            if name != "limit" and not np.isfinite(values).all():
                raise InputError(argument=name, value=getattr(self, name), expected="finite")
            object.__setattr__(self, name, float(values) if values.ndim == 0 else tuple(values.tolist()))
        if not (np.isfinite(self.delay) and self.delay >= 0.0):
            raise InputError(argument="delay", value=self.delay, expected="a finite time, at least 0 s")
        if not 0.0 <= self.dropout < 1.0:
            raise InputError(argument="dropout", value=self.dropout, expected="a probability, at least 0 and below 1")

    def distort(self, name: str, signal: Signal, seed: int) -> Signal:
        """The signal as this sensor would have given it.

        Args:
            name: of the signal; signals of different names get independent noise from one seed.
            signal: the true values.
            seed: each part of the noise depends on it and on ``name`` alone, not on the other parts.
        """
        values, kept = NoiseStream(self, name, seed).measure(signal.time, signal.values)
        if not kept.any():
            kept[:1] = True  # a signal without samples could not be told from a sensor that is not there
        return dataclasses.replace(signal, time=signal.time[kept] + self.delay, values=values[kept])

    def _level(self, part: str, name: str, shape: tuple[int, ...]) -> FloatArray:
        values = np.array(getattr(self, part), dtype=np.float64)
        if values.ndim == 1 and values.size != shape[1]:
            raise InputError(f"the noise of {name!r} gives {part} for {values.size} columns, the signal has {shape[1]}")
        return np.broadcast_to(values, shape[1:])


class NoiseStream:
    """What one sensor makes of a signal that comes part by part: its bias stays, its drift goes on.

    Args:
        noise: of the sensor.
        name, seed: see `SensorNoise.distort`.
    """

    def __init__(self, noise: SensorNoise, name: str, seed: int) -> None:
        self._noise, self._name = noise, name
        self._random = {
            part: np.random.default_rng([seed, zlib.crc32(f"{name}/{part}".encode())])
            for part in ("white", "bias_range", "drift", "dropout")
        }
        self._draw: FloatArray | None = None  # of the constant error
        self._walk: FloatArray | float = 0.0
        self._latest: FloatArray | None = None

    def measure(self, time: FloatArray, true: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """What the sensor says at some times.

        Args:
            time: (T,) later than those of the part before [s].
            true: (T, k) values.

        Returns:
            (T, k) values with noise, and (T,) whether each of them arrives, ``delay`` later.
        """
        noise, name, random, shape = self._noise, self._name, self._random, np.shape(true)
        values = np.array(true, dtype=np.float64)
        values += noise._level("white", name, shape) * random["white"].standard_normal(shape)
        values += noise._level("bias", name, shape)
        if self._draw is None:
            self._draw = np.asarray(random["bias_range"].uniform(-1.0, 1.0, shape[1]))
        values += noise._level("bias_range", name, shape) * self._draw
        if np.any(noise._level("drift", name, shape)):
            before = time[:1] if self._latest is None else self._latest
            pause = np.sqrt(np.diff(time, prepend=before))[:, None]
            walk = self._walk + np.cumsum(pause * random["drift"].standard_normal(shape), axis=0)
            values += noise._level("drift", name, shape) * walk
            self._walk, self._latest = walk[-1], time[-1:]
        quantum = noise._level("quantum", name, shape)
        rounded = np.round(values / np.where(quantum > 0.0, quantum, 1.0)) * quantum
        values = np.where(quantum > 0.0, rounded, values)
        limit = noise._level("limit", name, shape)
        kept = np.asarray(random["dropout"].uniform(size=shape[0]) >= noise.dropout)
        return np.clip(values, -limit, limit), kept


@dataclass(frozen=True)
class NoiseModel:
    """The noise of all sensors of an arm.

    Attributes:
        name: of the model; a recording made with it says so.
        sensors: signal name -> its noise. Signals that are not named stay as they are.
    """

    name: str
    sensors: Mapping[str, SensorNoise]

    def __post_init__(self) -> None:
        for signal, noise in self.sensors.items():
            if signal.startswith(_TARGET):
                raise InputError(f"{signal!r} is a set point, which has no noise")
            if not isinstance(noise, SensorNoise):
                raise InputError(f"the noise of {signal!r} must be a SensorNoise, got {type(noise).__name__}")
        object.__setattr__(self, "sensors", MappingProxyType(dict(self.sensors)))

    def apply(self, recording: Recording, seed: SupportsIndex) -> Recording:
        """The recording as these sensors would have made it.

        Args:
            recording: of perfect sensors.
            seed: a whole number, at least 0; the same one gives the same noise, bit for bit.
        """
        try:
            number = operator.index(seed)
        except TypeError:
            raise InputError(argument="seed", value=seed, expected="a whole number") from None
        if number < 0:
            raise InputError(argument="seed", problem=f"must be at least 0, got {number}")
        signals = {
            name: self.sensors[name].distort(name, signal, number) if name in self.sensors else signal
            for name, signal in recording.signals.items()
        }
        metadata = {**recording.metadata, "noise": self.name, "noise_seed": number}
        return dataclasses.replace(recording, signals=signals, metadata=metadata)


def _wrench(force: float, torque: float) -> tuple[float, ...]:
    return (force,) * 3 + (torque,) * 3


_PRESETS = {
    "ideal": NoiseModel("ideal", {}),
    # White noise as of a UR5e's built-in sensors. dq is derived from the encoders by the controller, which filters it.
    "ur5e": NoiseModel(
        "ur5e",
        {
            "q": SensorNoise(white=5e-5),
            "dq": SensorNoise(white=2e-3),
            "ddq": SensorNoise(white=0.2),
            "tau": SensorNoise(white=0.2),
            "wrench": SensorNoise(white=_wrench(0.5, 0.05), bias_range=_wrench(2.0, 0.1)),
            "accelerometer": SensorNoise(white=0.05),
            "gyro": SensorNoise(white=0.002),
        },
    ),
    # Worse in everything, and with the faults that the other does not have.
    "harsh": NoiseModel(
        "harsh",
        {
            "q": SensorNoise(white=2e-4, quantum=1e-4, dropout=0.005),
            "dq": SensorNoise(white=0.01, quantum=1e-3, dropout=0.005),
            "ddq": SensorNoise(white=1.0, dropout=0.005),
            "tau": SensorNoise(white=1.0, bias_range=1.0, quantum=0.05, dropout=0.005),
            "wrench": SensorNoise(
                white=_wrench(2.0, 0.15),
                bias_range=_wrench(5.0, 0.3),
                drift=_wrench(0.3, 0.02),
                quantum=_wrench(0.1, 0.005),
                limit=_wrench(200.0, 20.0),
                delay=0.004,
                dropout=0.01,
            ),
            "accelerometer": SensorNoise(
                white=0.2, bias_range=0.2, drift=0.01, quantum=0.005, limit=80.0, delay=0.002, dropout=0.01
            ),
            "gyro": SensorNoise(
                white=0.01, bias_range=0.01, drift=5e-4, quantum=2e-4, limit=35.0, delay=0.002, dropout=0.01
            ),
        },
    ),
}


def noise_presets() -> tuple[str, ...]:
    """Names that `noise_preset` accepts."""
    return tuple(_PRESETS)


def noise_preset(name: str) -> NoiseModel:
    """The noise model of that name: "ideal", "ur5e" or "harsh"."""
    if name not in _PRESETS:
        raise UnknownNameError("noise preset", name, noise_presets(), argument="noise")
    return _PRESETS[name]


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
            raise InputError(argument="joint_angle", value=self.joint_angle, expected="a standard deviation from 0 rad")
        if not 0.0 < self.kept <= 1.0:
            raise InputError(argument="kept", value=self.kept, expected="a share of the samples, above 0 and at most 1")

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
            raise InputError(
                f"the noise model {model.name!r} has no noise of the wrench: there is nothing to predict",
                argument="noise",
            )
        return cls(levels, float(np.max(_deviation(angle))), 1.0 - wrench.dropout)


def _deviation(noise: SensorNoise) -> FloatArray:
    return np.sqrt(np.square(noise.white) + np.square(noise.quantum) / 12.0)
