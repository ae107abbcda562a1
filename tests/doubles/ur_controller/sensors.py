"""Noise of the twin's sensors, sample by sample: what `iparam.sensing.SensorNoise` does to a whole signal at once."""

from __future__ import annotations

import zlib
from collections import deque

import numpy as np

from iparam.arrays import FloatArray
from iparam.sensing.noise import NoiseModel, SensorNoise

BLOCK = 512  # random numbers are drawn for this many samples at a time


class LiveSensor:
    """One sensor's output.

    A controller's packet has every field, so that a lost sample shows as the value before it, and a delayed one as the
    value of then.

    Args:
        name: of the signal; names get independent noise from one seed.
        noise: of the sensor.
        width: numbers in a sample.
        seed: of the noise; the same one gives the same noise.
        period: between two samples [s].
    """

    def __init__(self, name: str, noise: SensorNoise, width: int, seed: int, period: float) -> None:
        def random(part: str) -> np.random.Generator:
            return np.random.default_rng([seed, zlib.crc32(f"{name}/{part}".encode())])

        self._noise, self._width = noise, width
        self._white, self._drift, self._dropout = random("white"), random("drift"), random("dropout")
        drawn = random("bias_range").uniform(-1.0, 1.0, width)
        self._bias = np.asarray(noise.bias) + np.asarray(noise.bias_range) * drawn
        self._walk = np.zeros(width)
        self._walk_step = np.sqrt(period) * np.asarray(noise.drift)
        self._drifts = bool(np.any(self._walk_step))
        self._quantum, self._limit = np.asarray(noise.quantum), np.asarray(noise.limit)
        self._rounds, self._ends = bool(self._quantum.any()), bool(np.isfinite(self._limit).any())
        self._late = deque[FloatArray](maxlen=1 + round(noise.delay / period))
        self._row = BLOCK
        self._last: FloatArray | None = None

    def read(self, truth: FloatArray) -> FloatArray:
        """The sensor's value (width,) when the true one is ``truth``."""
        if self._row == BLOCK:
            self._row = 0
            self._white_block = np.asarray(self._noise.white) * self._white.standard_normal((BLOCK, self._width))
            self._drift_block = self._walk_step * self._drift.standard_normal((BLOCK, self._width))
            self._lost = self._dropout.uniform(size=BLOCK) < self._noise.dropout
        row = self._row
        self._row += 1
        value = truth + self._white_block[row] + self._bias
        if self._drifts:
            self._walk += self._drift_block[row]
            value += self._walk
        if self._rounds:
            quantum = np.where(self._quantum > 0.0, self._quantum, 1.0)
            value = np.where(self._quantum > 0.0, np.round(value / quantum) * quantum, value)
        if self._ends:
            value = np.clip(value, -self._limit, self._limit)
        if self._lost[row] and self._last is not None:
            value = self._last
        self._last = value
        self._late.append(value)
        return self._late[0]


class LiveSensors:
    """The sensors of an arm.

    Args:
        model: noise of the signals by name; a signal that it does not name is perfect.
        widths: signal name -> numbers in a sample.
        seed: of the noise.
        period: between two samples [s].
    """

    def __init__(self, model: NoiseModel, widths: dict[str, int], seed: int, period: float) -> None:
        self._sensors = {
            name: LiveSensor(name, model.sensors[name], width, seed, period)
            for name, width in widths.items()
            if name in model.sensors
        }

    def read(self, name: str, truth: FloatArray) -> FloatArray:
        """What the sensor of a signal says."""
        sensor = self._sensors.get(name)
        return truth if sensor is None else sensor.read(truth)
