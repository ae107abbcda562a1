"""Mistakes that are made with a recording after it was measured: signs, units, axes, clocks, order, broken channels."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.signal import butter, lfilter

from iparam.arrays import FloatArray
from iparam.recording import Recording


def with_wrench(recording: Recording, values: FloatArray) -> Recording:
    """Other values (T, 6) of the wrench at the same times."""
    return recording.with_signal("wrench", time=recording.signal("wrench").time, values=values)


def scaled(recording: Recording, factors: Sequence[float] | FloatArray) -> Recording:
    """The wrench times six factors, or a (6, 6) matrix."""
    matrix = np.asarray(factors, dtype=np.float64)
    matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
    return with_wrench(recording, recording.signal("wrench").values @ matrix.T)


def rearranged(recording: Recording, axes: Sequence[str]) -> Recording:
    """Forces and torques whose column k is the sensor's axis axes[k], such as "-x"."""
    turn = np.zeros((3, 3))
    for row, name in enumerate(axes):
        turn[row, "xyz".index(name[-1])] = -1.0 if name[0] == "-" else 1.0
    values = recording.signal("wrench").values
    return with_wrench(recording, np.concatenate([values[:, :3] @ turn.T, values[:, 3:] @ turn.T], axis=1))


def in_base_axes(recording: Recording, axes: FloatArray) -> Recording:
    """The wrench about the tool's origin, in the axes of the base; ``axes`` (T, 3, 3) are the tool's."""
    values = recording.signal("wrench").values
    parts = [np.einsum("tij,tj->ti", axes, values[:, part]) for part in (slice(3), slice(3, 6))]
    return with_wrench(recording, np.concatenate(parts, axis=1))


def with_angles(recording: Recording, values: FloatArray) -> Recording:
    """Other joint angles (T, n) at the same times."""
    return recording.with_signal("q", time=recording.signal("q").time, values=values)


def reordered_joints(recording: Recording, order: Sequence[int]) -> Recording:
    """Column k holds the angle of joint order[k]."""
    return with_angles(recording, recording.signal("q").values[:, list(order)])


def offset_joint(recording: Recording, joint: int, degrees: float) -> Recording:
    """One joint's angles with another zero."""
    values = recording.signal("q").values.copy()
    values[:, joint] += np.radians(degrees)
    return with_angles(recording, values)


def frozen_joint(recording: Recording, joint: int, first: float, last: float) -> Recording:
    """One joint's angles stay as they were at ``first`` until ``last``, as shares of the run."""
    values = recording.signal("q").values.copy()
    start, stop = (round(share * (len(values) - 1)) for share in (first, last))
    values[start : stop + 1, joint] = values[start, joint]
    return with_angles(recording, values)


def other_clock(recording: Recording, factor: float) -> Recording:
    """All time stamps times a factor."""
    signals = {name: dataclasses.replace(each, time=each.time * factor) for name, each in recording.signals.items()}
    return dataclasses.replace(recording, signals=signals)


def delayed(recording: Recording, delay: float) -> Recording:
    """The wrench stamped later than it was measured [s]."""
    wrench = recording.signal("wrench")
    return recording.with_signal("wrench", time=wrench.time + delay, values=wrench.values)


def low_passed(recording: Recording, cutoff: float, order: int) -> Recording:
    """The wrench through a Butterworth filter [Hz], as the sensor's electronics has it."""
    wrench = recording.signal("wrench")
    b, a = butter(order, cutoff, fs=wrench.rate)
    start = wrench.values[:50].mean(axis=0)
    return with_wrench(recording, start + lfilter(b, a, wrench.values - start, axis=0))


def held(recording: Recording, every: int) -> Recording:
    """Only every so manyth sample of the wrench is new, the others repeat it."""
    values = recording.signal("wrench").values
    return with_wrench(recording, values[np.arange(len(values)) // every * every])


def dead_channel(recording: Recording, channel: int, first: float) -> Recording:
    """A channel that stays at its value from ``first`` on, a share of the run; at 0 if dead from the start."""
    values = recording.signal("wrench").values.copy()
    start = round(first * (len(values) - 1))
    values[start:, channel] = values[start, channel] if start else 0.0
    return with_wrench(recording, values)


def saturated(recording: Recording, share: float) -> Recording:
    """Forces and torques end at a share of the largest that the run has, of the forces and of the torques."""
    values = recording.signal("wrench").values.copy()
    for part in (slice(3), slice(3, 6)):
        limit = share * np.abs(values[:, part]).max()
        values[:, part] = np.clip(values[:, part], -limit, limit)
    return with_wrench(recording, values)


def added(recording: Recording, offsets: FloatArray) -> Recording:
    """Something (T, 6) on top of the wrench."""
    return with_wrench(recording, recording.signal("wrench").values + offsets)


def spikes(recording: Recording, share: float, size: float, random: np.random.Generator) -> Recording:
    """A share of the samples with a spike in one channel: of ``size`` [N], or a tenth of it [N m]."""
    values = recording.signal("wrench").values.copy()
    rows = np.flatnonzero(random.random(len(values)) < share)
    channels = random.integers(0, 6, rows.size)
    signs = random.choice([-1.0, 1.0], rows.size)
    values[rows, channels] += signs * np.where(channels < 3, size, 0.1 * size)
    return with_wrench(recording, values)
