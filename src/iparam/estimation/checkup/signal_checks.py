"""Checks of the signals themselves: whether they are there, when they were sampled, and what their channels do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.checkup.check import Check, Level
from iparam.estimation.static.rests import find_rests
from iparam.recording.noise_level import white_noise_level
from iparam.recording.recording import Recording
from iparam.recording.screening import GAP
from iparam.recording.signal import Signal
from iparam.recording.units import LARGEST_FORCE
from iparam.rounding import percent
from iparam.sensing.correction import WRENCH_CHANNELS
from iparam.sensing.saturation import clipped_samples

SLOW_RATE = 50.0
"""Samples a second below which accelerations are poorly known [Hz]."""

SLOWEST_RATE = 10.0
"""Below that they are not known at all [Hz]."""

JITTER = 0.1
"""Deviation of the time between samples, as a share of it, from which stamps are told."""

LOST = 0.1
"""Share of the time in gaps from which too much is missing."""

NOISY = 0.3
"""Noise of a channel, as a share of what changes in it, from which it is told."""

OUTLYING = 10.0
"""Second differences, in units of the noise, that no noise makes."""

MANY_OUTLIERS = 0.001
"""Share of the samples from which outliers are told."""


def signal_checks(recording: Recording) -> Iterator[Check]:
    """All of them, in order."""
    missing = [name for name in ("q", "wrench") if not recording.has(name)]
    found = {name: recording.signal(name) for name in ("q", "wrench") if recording.has(name)}
    yield _rates(recording, found, missing)
    if not found:
        return
    yield _gaps(found)
    yield _stamps(found)
    if "wrench" not in found or found["wrench"].width != 6:
        return
    wrench = found["wrench"]
    yield _force_units(wrench)
    yield _channels(wrench)
    if wrench.num_samples >= 3:
        yield _noise(wrench)
        yield _outliers(wrench)
    if "q" in found:
        yield _rests(found["q"], wrench)


def _rates(recording: Recording, found: dict[str, Signal], missing: list[str]) -> Check:
    if missing:
        what = {"q": "joint angles (q)", "wrench": "wrench (fx .. tz)"}
        there = ", ".join(recording.signals) or "nothing"
        return Check("signals", "red", f"no {' and no '.join(what[name] for name in missing)}; there is {there}")
    text = ", ".join(f"{name} {signal.rate:.4g} Hz" for name, signal in found.items())
    slowest = min(signal.rate for signal in found.values())
    level: Level = "red" if slowest < SLOWEST_RATE else "amber" if slowest < SLOW_RATE else "green"
    why = {"red": ": too slow for accelerations", "amber": ": accelerations are poorly known", "green": ""}[level]
    return Check("signals", level, f"{text} over {recording.duration:.4g} s{why}")


def _gaps(found: dict[str, Signal]) -> Check:
    lost, longest = 0.0, ("", 0.0, 0.0)
    for name, signal in found.items():
        if signal.num_samples < 3:
            continue
        steps = np.diff(signal.time)
        wide = steps > GAP * np.median(steps)
        lost = max(lost, float(steps[wide].sum() / (signal.time[-1] - signal.time[0])))
        if wide.any() and steps.max() > longest[1]:
            longest = name, float(steps.max()), float(signal.time[int(np.argmax(steps))])
    if not longest[0]:
        return Check("gaps", "green", "none")
    name, width, at = longest
    text = f"the longest in {name}, {width:.3g} s from {at:.4g} s on; {percent(lost)} of the time is missing"
    return Check("gaps", "red" if lost > LOST else "amber", text)


def _stamps(found: dict[str, Signal]) -> Check:
    worst, name = 0.0, ""
    for one, signal in found.items():
        steps = np.diff(signal.time)
        if steps.size < 3:
            continue
        usual = steps[steps <= GAP * np.median(steps)]
        share = float(usual.std() / np.median(steps))
        if share > worst:
            worst, name = share, one
    if len(found) == 2:
        q, wrench = found["q"], found["wrench"]
        common = min(q.time[-1], wrench.time[-1]) - max(q.time[0], wrench.time[0])
        whole = max(q.time[-1], wrench.time[-1]) - min(q.time[0], wrench.time[0])
        if common < 0.5 * whole:
            return Check("stamps", "red", f"q and wrench share {common:.3g} of {whole:.3g} s: are their clocks one?")
    if worst > JITTER:
        return Check("stamps", "amber", f"the time between samples of {name} scatters by {percent(worst)}")
    return Check("stamps", "green", "even" if worst < 0.001 else f"even, within {percent(worst)}")


def _force_units(wrench: Signal) -> Check:
    largest = float(np.abs(wrench.values[:, :3]).max())
    torque = float(np.abs(wrench.values[:, 3:]).max())
    if largest > LARGEST_FORCE:
        return Check("units", "red", f"the forces reach {largest:.4g} N, which no wrist bears: are they in mN?")
    return Check("units", "green", f"forces up to {largest:.3g} N, torques up to {torque:.3g} N m")


def _channels(wrench: Signal) -> Check:
    dead = [name for name, column in zip(WRENCH_CHANNELS, wrench.values.T, strict=True) if np.ptp(column) == 0.0]
    if dead:
        return Check("channels", "red", f"{', '.join(dead)} never changed: leave out with --without {' '.join(dead)}")
    shares = clipped_samples(np.asarray(wrench.values)).mean(axis=0).tolist()
    cut = [f"{name} ({percent(share)})" for name, share in zip(WRENCH_CHANNELS, shares, strict=True) if share > 0.0]
    if cut:
        text = f"at a limit of the sensor, where they are left out: {', '.join(cut)}; its range is too small"
        return Check("channels", "amber", text)
    return Check("channels", "green", "all six change, none is cut off")


def _noise(wrench: Signal) -> Check:
    noise, size = white_noise_level(wrench.values), wrench.values.std(axis=0)
    loud = [
        name
        for name, level, signal in zip(WRENCH_CHANNELS, noise, size, strict=True)
        if level > NOISY * max(float(signal), 1e-12)
    ]
    text = f"force {_three(noise[:3])} N, torque {_three(noise[3:])} N m"
    if len(loud) >= 4:
        return Check("noise", "amber", f"{text}: most of what changes in {', '.join(loud)} is noise")
    return Check("noise", "green", text)


def _outliers(wrench: Signal) -> Check:
    noise = np.maximum(white_noise_level(wrench.values), 1e-9 * np.abs(wrench.values).max())
    beyond = (np.abs(np.diff(wrench.values, 2, axis=0)) > OUTLYING * np.sqrt(6.0) * noise).any(axis=1)
    share = float(beyond.mean())
    if share > MANY_OUTLIERS and not (noise < 1e-6 * wrench.values.std(axis=0)).all():
        first = float(wrench.time[1:-1][beyond][0])
        return Check("outliers", "amber", f"{percent(share)} of the samples jump, the first at {first:.4g} s")
    return Check("outliers", "green", "none" if not share else f"{int(beyond.sum())} samples jump")


def _rests(angles: Signal, wrench: Signal) -> Check:
    rests = find_rests(angles, wrench)
    total = sum(rest.stop - rest.start for rest in rests)
    if not rests:
        return Check("rests", "green", "none: nothing to check the noise and the bias by")
    return Check("rests", "green", f"{len(rests)}, {total:.3g} s in all")


def _three(values: FloatArray) -> str:
    return " ".join(f"{value:.2g}" for value in values)
