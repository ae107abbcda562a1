"""What sensors add to a wrench: white, 1/f, quantised, thermal and hysteretic noise, each with its covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TIMES = np.geomspace(0.02, 20.0, 10)
"""Time constants of the first-order processes whose sum is 1/f noise [s]."""

KINDS = ("white", "1/f", "quantised", "thermal", "hysteretic")


@dataclass(frozen=True, eq=False)
class Noise:
    """Of the six channels of a wrench.

    Attributes:
        values: (T, 6) what is added.
        white: (6,) standard deviation of its white part.
        coloured: (6,) standard deviation of its 1/f part.
        shapes: (K, T, 6) of what is added in sizes that are drawn for each channel.
        spread: (K, 6) standard deviations of these sizes.
    """

    values: np.ndarray
    white: np.ndarray
    coloured: np.ndarray
    shapes: np.ndarray
    spread: np.ndarray

    def autocovariance(self, period: float) -> np.ndarray:
        """(T,) of the 1/f part at so many samples' distance, for a standard deviation of 1."""
        return np.exp(-period * np.arange(len(self.values))[:, None] / TIMES).mean(axis=1)


def noise(kind: str, exact: np.ndarray, time: np.ndarray, level: np.ndarray, random: np.random.Generator) -> Noise:
    """That of a wrench (T, 6) at times (T,) [s]; ``level`` (6,) says how large."""
    size, none = exact.shape, np.zeros((0, *exact.shape))
    white, coloured, values = level, np.zeros(6), random.normal(size=size) * level
    if kind == "1/f":
        white, coloured = 0.3 * level, level
        values = 0.3 * values + _coloured(len(time), float(time[-1] / (time.size - 1)), random) * coloured
    elif kind == "quantised":
        values, step = 0.8 * values, 2.0 * level  # enough noise for the error of rounding to be white, too
        values = step * np.round((exact + values) / step) - exact
        white = np.hypot(0.8 * level, step / np.sqrt(12.0))
    elif kind == "thermal":
        shape = 1.0 - np.exp(-time / random.uniform(4.0, 40.0))
        none = np.broadcast_to(shape[:, None], size)[None]
        values = values + shape[:, None] * random.normal(size=6) * 4.0 * level
    elif kind == "hysteretic":
        width = random.uniform(0.002, 0.008) * np.ptp(exact, axis=0)
        none = _play(exact, width)[None]
        values = values + none[0]
    shapes = np.asarray(none)
    spread = np.broadcast_to(4.0 * level if kind == "thermal" else np.ones(6), (len(shapes), 6))
    return Noise(values, white, coloured, shapes, spread)


def _coloured(count: int, period: float, random: np.random.Generator) -> np.ndarray:
    """(T, 6) of standard deviation 1."""
    decay = np.exp(-period / TIMES)[:, None]
    state, values = random.normal(size=(TIMES.size, 6)), np.empty((count, 6))
    for index in range(count):
        values[index] = state.sum(axis=0)
        state = decay * state + np.sqrt(1.0 - decay**2) * random.normal(size=state.shape)
    return values / np.sqrt(TIMES.size)


def _play(exact: np.ndarray, width: np.ndarray) -> np.ndarray:
    """(T, 6) how far behind a value what follows it with some slack is."""
    behind, at = np.empty_like(exact), exact[0]
    for index, value in enumerate(exact):
        at = np.clip(at, value - width, value + width)
        behind[index] = at - value
    return behind
