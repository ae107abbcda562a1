"""`align`: signals of different rates at common times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

MAX_GAP = 4.5
"""Periods of a signal across which it may be interpolated: up to three lost samples, with room for jitter."""

Interpolation = Literal["cubic", "linear"]


@dataclass(frozen=True, eq=False)
class AlignedSamples:
    """Signals at common times.

    Attributes:
        time: (T,) [s].
        values: name -> (T, k).
        remarks: what was left out, and why.
    """

    time: FloatArray
    values: Mapping[str, FloatArray]
    remarks: tuple[Remark, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", frozen(self.time))
        object.__setattr__(self, "values", MappingProxyType({k: frozen(v) for k, v in self.values.items()}))

    def __getitem__(self, name: str) -> FloatArray:
        """The values (T, k) of a signal."""
        if name not in self.values:
            raise UnknownNameError("aligned signal", name, self.values)
        return self.values[name]


def align(
    recording: Recording,
    names: Iterable[str],
    rate: float | None = None,
    times: ArrayLike | None = None,
    method: Interpolation = "cubic",
    max_gap: float = MAX_GAP,
) -> AlignedSamples:
    """Bring signals to common times.

    The default is a cubic spline through the samples: for motion far below the sampling rate its error is negligible
    (a sine of a tenth of the rate: 4e-4 of its amplitude, where straight lines lose 5 %), it needs no even spacing, and
    it gives a sample back exactly at its own time. There is no low-pass in it: an estimator counts on noise that is
    independent from sample to sample, so going to a lower rate picks samples rather than blending them. Nothing is
    extrapolated, and nothing is interpolated across a gap.

    Args:
        recording: where they are.
        names: of the signals.
        rate: of the common times [Hz], starting with the first time that all signals cover.
        times: (T,) common times, increasing [s]. If neither is given: the time stamps of the first signal.
        method: "cubic" or "linear".
        max_gap: periods of a signal without a sample beyond which there is a gap in it.
    """
    wanted = list(dict.fromkeys([names] if isinstance(names, str) else names))
    if not wanted:
        raise InputError("align needs the name of at least one signal")
    if method not in ("cubic", "linear"):
        raise UnknownNameError("interpolation", method, ("cubic", "linear"))
    signals = {name: recording.signal(name) for name in wanted}
    start, stop = (float(x) for x in _common_span(signals))
    grid = _times(next(iter(signals.values())), start, stop, rate, times)
    inside = (grid >= start) & (grid <= stop)
    remarks = []
    if not inside.all() and times is not None:
        remarks.append(remark("times-not-covered", count=np.count_nonzero(~inside)))
    kept = inside.copy()
    for name, signal in signals.items():
        covered = _covered(signal, grid, max_gap)
        lost = inside & ~covered
        if lost.any():
            first = float(grid[np.argmax(lost)])
            remarks.append(remark("samples-in-gaps", count=np.count_nonzero(lost), signal=name, start=first))
        kept &= covered
    if not kept.any():
        raise InputError(f"no time is covered by all of {', '.join(wanted)}: every common time falls into a gap")
    grid = grid[kept]
    values = {name: interpolate(signal, grid, method, max_gap) for name, signal in signals.items()}
    return AlignedSamples(grid, values, tuple(remarks))


def interpolate(signal: Signal, times: FloatArray, method: Interpolation, max_gap: float = MAX_GAP) -> FloatArray:
    """The values (T, k) of a signal at times (T,) that it covers; stretches between gaps are separate curves."""
    from scipy.interpolate import CubicSpline

    rows = np.clip(np.searchsorted(signal.time, times), 0, signal.num_samples - 1)
    exact = signal.time[rows] == times
    values = signal.values[rows].copy()
    edges = np.concatenate([[0], _gaps(signal, max_gap) + 1, [signal.num_samples]])
    for first, last in pairwise(edges.tolist()):
        part = ~exact & (times > signal.time[first]) & (times < signal.time[last - 1])
        if not part.any():
            continue
        knots, samples = signal.time[first:last], signal.values[first:last]
        if method == "cubic":
            values[part] = CubicSpline(knots, samples)(times[part])
        else:
            values[part] = np.stack([np.interp(times[part], knots, column) for column in samples.T], axis=1)
    return values


def _common_span(signals: Mapping[str, Signal]) -> tuple[float, float]:
    start = max(signal.time[0] for signal in signals.values())
    stop = min(signal.time[-1] for signal in signals.values())
    if start > stop:
        spans = ", ".join(f"{name} {s.time[0]:.6g} to {s.time[-1]:.6g} s" for name, s in signals.items())
        raise InputError(f"the signals have no time in common: {spans}. Were they stamped by two clocks?")
    return start, stop


def _times(first: Signal, start: float, stop: float, rate: float | None, times: ArrayLike | None) -> FloatArray:
    if rate is not None and times is not None:
        raise InputError("give either rate or times, not both")
    if times is not None:
        grid = as_float_array(times, "times")
        if grid.ndim != 1 or grid.size == 0 or (np.diff(grid) <= 0).any():
            raise InputError(
                argument="times", problem=f"must be strictly increasing with shape (T,), got shape {grid.shape}"
            )
        return grid
    if rate is None:
        return first.time
    if not (np.isfinite(rate) and rate > 0):
        raise InputError(argument="rate", problem=f"must be positive, got {rate!r} Hz")
    return start + np.arange(int(np.floor((stop - start) * rate * (1.0 + 1e-12))) + 1) / rate


def _gaps(signal: Signal, max_gap: float) -> NDArray[np.int64]:
    """Indices of the samples after which a gap follows."""
    if signal.num_samples < 3:
        return np.empty(0, dtype=np.int64)
    steps = np.diff(signal.time)
    return np.flatnonzero(steps > max_gap * np.median(steps))


def _covered(signal: Signal, times: FloatArray, max_gap: float) -> NDArray[np.bool_]:
    """Which times lie within the signal and not inside one of its gaps."""
    after = np.searchsorted(signal.time, times, "left")
    exact = signal.time[np.clip(after, 0, signal.num_samples - 1)] == times
    in_gap = np.isin(after - 1, _gaps(signal, max_gap))
    return np.asarray(exact | ((after > 0) & (after < signal.num_samples) & ~in_gap))
