"""Facts about the signals themselves: whether they are there, when they were sampled, and what their channels do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.checkup.check import Check
from iparam.estimation.static.rests import find_rests
from iparam.recording.noise_level import white_noise_level
from iparam.recording.recording import Recording
from iparam.recording.screening import GAP
from iparam.recording.signal import Signal
from iparam.rounding import percent
from iparam.sensing.correction import WRENCH_CHANNELS
from iparam.sensing.saturation import clipped_samples

OUTLYING = 10.0
"""Second differences, in units of the noise, that no noise makes."""


def signal_facts(recording: Recording) -> Iterator[Check]:
    """All of them, in order."""
    found = {name: recording.signal(name) for name in ("q", "wrench") if recording.has(name)}
    rates = ", ".join(f"{name} {signal.rate:.4g} Hz" for name, signal in found.items()) or "neither q nor wrench"
    yield Check("signals", f"{rates} over {recording.duration:.4g} s")
    long = {name: signal for name, signal in found.items() if signal.num_samples >= 3}
    if not long:
        return
    yield Check("gaps", "; ".join(_gap(name, signal) for name, signal in long.items()))
    yield Check("stamps", ", ".join(f"{name} scatters by {percent(_scatter(one))}" for name, one in long.items()))
    if "wrench" not in long or long["wrench"].width != 6:
        return
    wrench = long["wrench"]
    force, torque = (float(np.abs(wrench.values[:, part]).max()) for part in (slice(3), slice(3, 6)))
    yield Check("wrench", f"forces up to {force:.3g} N, torques up to {torque:.3g} N m")
    yield Check("channels", _channels(wrench))
    noise = white_noise_level(wrench.values)
    yield Check("noise", f"force {_three(noise[:3])} N, torque {_three(noise[3:])} N m")
    least = np.maximum(noise, 1e-9 * np.abs(wrench.values).max())
    jumps = (np.abs(np.diff(wrench.values, 2, axis=0)) > OUTLYING * np.sqrt(6.0) * least).any(axis=1)
    yield Check("outliers", f"{int(jumps.sum())} samples jump" if jumps.any() else "none")
    if "q" in long:
        rests = find_rests(long["q"], wrench)
        total = sum(rest.stop - rest.start for rest in rests)
        yield Check("rests", f"{len(rests)}, {total:.3g} s in all" if rests else "none")


def _gap(name: str, signal: Signal) -> str:
    steps = np.diff(signal.time)
    wide = steps > GAP * np.median(steps)
    if not wide.any():
        return f"{name} none"
    at, lost = int(np.argmax(steps)), float(steps[wide].sum() / (signal.time[-1] - signal.time[0]))
    longest = f"the longest {float(steps[at]):.3g} s from {float(signal.time[at]):.4g} s on"
    return f"{name} {int(wide.sum())}, {longest}, {percent(lost)} of the time in all"


def _scatter(signal: Signal) -> float:
    """Of the time between samples that are no gap, as a share of it."""
    steps = np.diff(signal.time)
    usual = float(np.median(steps))
    return float(steps[steps <= GAP * usual].std() / usual)


def _channels(wrench: Signal) -> str:
    dead = [name for name, column in zip(WRENCH_CHANNELS, wrench.values.T, strict=True) if np.ptp(column) == 0.0]
    if dead:
        return f"{', '.join(dead)} never changed"
    shares = clipped_samples(np.asarray(wrench.values)).mean(axis=0).tolist()
    cut = [f"{name} ({percent(share)})" for name, share in zip(WRENCH_CHANNELS, shares, strict=True) if share > 0.0]
    return f"at a limit of the sensor: {', '.join(cut)}" if cut else "all six change, none is cut off"


def _three(values: FloatArray) -> str:
    return " ".join(f"{value:.2g}" for value in values)
