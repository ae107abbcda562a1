"""Whether a recording's time is in seconds: its stamps, its sampling rate, and the speeds that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.recording.signal import Signal

if TYPE_CHECKING:
    from iparam.robot.model import Robot

PLAUSIBLE_RATES = (1.0, 1e5)
"""Bounds of what sensors of an arm are read at [Hz]."""

USUAL_RATES = (20.0, 1e4)
"""Bounds of the rates that a guess of the true unit should lead to [Hz]."""

DATES = (1e9, 4e9)
"""Seconds since 1970 in the years 2001 and 2096."""

FAST = 3.0
"""Speed of a joint that is not believed, in units of its limit."""

_FINER = {"ms": 1e3, "us": 1e6, "ns": 1e9}
"""Unit -> how many of it are a second."""

_FACTORS = {**_FINER, "min": 1 / 60, "ks": 1e-3}
_WINDOWS = 200
_LEAST_WINDOWS = 20
_WINDOW = 10  # samples at least over which a speed is taken: single stamps jitter
_MOVED = 0.05  # rad; less is no motion that tells a speed
_ALIKE = 0.9  # correlation from which a derivative is one, but for its scale
_ORDERS = (("q", "dq", "ddq"), ("target_q", "target_dq", "target_ddq"))


def check_time(signals: Mapping[str, Signal], robot: Robot | None, source: str) -> list[str]:
    """Refuse a time that the data themselves show not to be in seconds; say where it is only odd.

    Three things tell: stamps that are dates in another unit; recorded velocities that are not the slope of the recorded
    positions; positions that change faster than the arm can move.

    Args:
        signals: of a recording.
        robot: the arm, None if unknown.
        source: of the signals, for messages.
    """
    for name, signal in signals.items():
        for unit, factor in _FINER.items():
            if DATES[0] * factor <= signal.time[0] <= DATES[1] * factor:
                raise ContradictionError(
                    f"{source}: the time of {name} begins at {signal.time[0]:.6g} s, which is a date in {unit} and "
                    f"none in seconds: {_conversion(unit)}"
                )
    notes = _check_derivatives(signals, source)
    _check_speeds(signals, robot, source)
    return notes + _odd_rates(signals)


def time_hint(time: FloatArray, slowest: float = PLAUSIBLE_RATES[0]) -> str:
    """A sentence that asks for the unit if samples come at a rate that no sensor has; else "".

    Args:
        time: (T,) of the samples.
        slowest: rate up to which to ask [Hz]: `USUAL_RATES` begin where the data have proved useless already.
    """
    if time.size < 3:
        return ""
    period = float(np.median(np.diff(time)))
    if slowest < 1.0 / period <= PLAUSIBLE_RATES[1]:
        return ""
    likely = [unit for unit, factor in _FACTORS.items() if USUAL_RATES[0] <= factor / period <= USUAL_RATES[1]]
    if not likely:
        return f"a sample every {period:.3g} s: is its time in seconds?"
    rate = _FACTORS[likely[0]] / period
    return (
        f"a sample every {period:.3g} s: is its time in seconds? In {likely[0]} it would be {rate:.4g} Hz; then "
        f"{_conversion(likely[0])}"
    )


def _conversion(unit: str) -> str:
    factor = _FACTORS[unit]
    return (
        f"divide the column time by {factor:.0f}" if factor > 1.0 else f"multiply the column time by {1 / factor:.0f}"
    )


def _check_derivatives(signals: Mapping[str, Signal], source: str) -> list[str]:
    """Compare what velocities and accelerations add up to with what positions and velocities change by."""
    notes = []
    for lower, higher in (pair for names in _ORDERS for pair in pairwise(names)):
        if lower not in signals or higher not in signals or signals[lower].width != signals[higher].width:
            continue
        scale = _scale_of_derivative(signals[lower], signals[higher])
        if scale is None or 0.9 < scale < 1.1:
            continue
        for unit, factor in _FACTORS.items():
            if abs(scale / factor - 1.0) < 0.02:
                raise ContradictionError(
                    f"{source}: {higher} is {scale:.4g} times the slope of {lower} over time: the time is in {unit}, "
                    f"not in seconds; {_conversion(unit)}"
                )
        notes.append(f"{higher} is {scale:.3g} times the slope of {lower} over time: are all three in SI units?")
    return notes


def _scale_of_derivative(position: Signal, velocity: Signal) -> float | None:
    """How many times too large the velocity is for the position and the time; None if they do not tell."""
    start, stop = max(position.time[0], velocity.time[0]), min(position.time[-1], velocity.time[-1])
    rows = np.flatnonzero((position.time >= start) & (position.time <= stop))
    if rows.size <= _LEAST_WINDOWS:
        return None
    chosen = rows[np.unique(np.linspace(0, rows.size - 1, _WINDOWS + 1).astype(np.int64))]
    product = size = other = 0.0
    for places, speeds in zip(position.values[chosen].T, velocity.values.T, strict=True):
        if np.ptp(places) > _MOVED:
            # A joint at a time: an hour of all of them would fill memory.
            integral = np.append(0.0, np.cumsum(0.5 * np.diff(velocity.time) * (speeds[1:] + speeds[:-1])))
            changes, sums = np.diff(places), np.diff(np.interp(position.time[chosen], velocity.time, integral))
            product, size, other = product + changes @ sums, size + changes @ changes, other + sums @ sums
    if size == 0.0 or other == 0.0 or product < _ALIKE * np.sqrt(size * other):
        return None
    return float(product / size)


def _check_speeds(signals: Mapping[str, Signal], robot: Robot | None, source: str) -> None:
    """Refuse angles that change many times faster than the arm can turn; a few outliers do not count."""
    if robot is None:
        return
    turning = np.array([joint.kind == "revolute" for joint in robot.moving_joints])
    for name in ("q", "target_q"):
        signal = signals.get(name)
        if signal is None or signal.width != robot.num_joints or signal.num_samples < _LEAST_WINDOWS * _WINDOW:
            continue
        windows = min(_WINDOWS, signal.num_samples // _WINDOW)
        chosen = np.linspace(0, signal.num_samples - 1, windows + 1).astype(np.int64)
        slopes = np.abs(np.diff(signal.values[chosen], axis=0)) / np.diff(signal.time[chosen])[:, None]
        speeds = np.quantile(slopes, 0.9, axis=0)
        over = np.flatnonzero(turning & (speeds > FAST * robot.limits.velocity))
        if over.size:
            joint = int(over[0])
            raise ContradictionError(
                f"{source}: {name}{joint} moves at {speeds[joint]:.4g} rad/s, and {robot.name} at most at "
                f"{robot.limits.velocity[joint]:.4g}: is its time in seconds, and are its angles in rad? Samples "
                f"come every {float(np.median(np.diff(signal.time))):.3g} s"
            )


def _odd_rates(signals: Mapping[str, Signal]) -> list[str]:
    """One sentence for all signals that share an odd rate."""
    hints: dict[str, list[str]] = {}
    for name, signal in signals.items():
        hint = time_hint(signal.time)
        if hint:
            hints.setdefault(hint, []).append(name)
    return [f"{', '.join(names)}: {hint}" for hint, names in hints.items()]
