"""The checks that every trajectory family makes of its numbers, in one place so that all refuse alike."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import LARGEST, FloatArray, as_float_array, frozen
from iparam.errors import InputError

SMALLEST = 1e-9
"""With LARGEST, the bounds of durations [s], frequencies [Hz] and scale factors; no joint value may be beyond either.

Far outside of what an arm can do, and narrow enough that nothing overflows on the way.
"""

MAX_HARMONICS = 10_000
TIME_SLACK = 1e-12
"""Part of the duration by which a time may lie outside it: room for the rounding of i / fps."""


MAX_SAMPLES = 3_600_000
"""An hour at 1 kHz: a check of so many still ends within a minute."""

VALIDATION_RATE = 1000.0
"""Samples a second on which a motion must keep every constraint, with no tolerance [Hz]."""


def validation_times(duration: float, rate: float = VALIDATION_RATE) -> FloatArray:
    """Times from 0 to the duration, both included, at least ``rate`` [Hz] a second [s]: where a motion is checked."""
    count = int(np.ceil(duration * rate * (1.0 - TIME_SLACK))) + 1
    if count > MAX_SAMPLES:
        raise InputError(
            f"{count} samples are more than {MAX_SAMPLES}, got {duration:g} s and {rate:g} Hz: shorten the motion, or "
            "lower the rate",
            argument="duration",
        )
    return np.linspace(0.0, duration, max(count, 2))


def positive_number(value: ArrayLike, name: str, unit: str = "") -> float:
    """``value`` as a float between SMALLEST and LARGEST; ``unit`` is for the message."""
    array = as_float_array(value, name)
    if array.shape != ():
        raise InputError(argument=name, problem=f"must be one number, got shape {array.shape}")
    number = float(array)
    if not SMALLEST <= number <= LARGEST:
        raise InputError(
            argument=name, problem=f"must be between {SMALLEST:g} and {LARGEST:g}{unit and ' ' + unit}, got {number:g}"
        )
    return number


def bounded(array: FloatArray, name: str) -> FloatArray:
    """``array``, frozen, if no element is beyond LARGEST."""
    beyond = np.abs(array) > LARGEST
    if beyond.any():
        where = tuple(int(i) for i in np.argwhere(beyond)[0])
        raise InputError(
            argument=name, problem=f"must stay within +-{LARGEST:g}, got {array[where]:g} at index {where}"
        )
    return frozen(array)


def joint_vector(value: ArrayLike, name: str, num_joints: int | None = None) -> FloatArray:
    """``value`` as a frozen (n,) array with n >= 1, or n = ``num_joints`` if given."""
    array = as_float_array(value, name)
    if array.ndim != 1 or array.size == 0 or num_joints not in (None, array.size):
        expected = "(n,), one number a joint" if num_joints is None else f"({num_joints},)"
        raise InputError(argument=name, problem=f"must have shape {expected}, got {array.shape}")
    return bounded(array, name)


def coefficients(value: ArrayLike, name: str, num_joints: int) -> FloatArray:
    """``value`` as a frozen (n, K) array with n = ``num_joints`` rows and K >= 1 harmonics."""
    array = as_float_array(value, name)
    if array.ndim != 2 or array.shape[0] != num_joints or not 1 <= array.shape[1] <= MAX_HARMONICS:
        raise InputError(
            argument=name,
            problem=(
                f"must have shape ({num_joints}, K), a row for each joint and K = 1 to {MAX_HARMONICS} harmonics, got "
                f"{array.shape}"
            ),
        )
    return bounded(array, name)


def coefficient_pair(a: ArrayLike, b: ArrayLike, num_joints: int) -> tuple[FloatArray, FloatArray]:
    """The sine and cosine coefficients as frozen (n, K) arrays of one shape."""
    sine, cosine = coefficients(a, "a", num_joints), coefficients(b, "b", num_joints)
    if sine.shape != cosine.shape:
        raise InputError(f"a and b must have the same shape, got {sine.shape} and {cosine.shape}")
    return sine, cosine


def harmonic_count(value: SupportsIndex) -> int:
    """``value`` as a number of harmonics, 1 to MAX_HARMONICS."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InputError(argument="num_harmonics", value=value, expected="a whole number") from None
    if not 1 <= count <= MAX_HARMONICS:
        raise InputError(argument="num_harmonics", problem=f"must be between 1 and {MAX_HARMONICS}, got {count}")
    return count


def times_within(times: ArrayLike, duration: float) -> FloatArray:
    """``times`` as a (T,) array clipped to [0, duration]; a single number becomes (1,).

    Raises:
        InputError: if a time lies outside by more than the rounding that TIME_SLACK allows.
    """
    array = np.atleast_1d(as_float_array(times, "times"))
    if array.ndim != 1:
        raise InputError(argument="times", problem=f"must have shape (T,), got {array.shape}")
    slack = TIME_SLACK * duration
    outside = (array < -slack) | (array > duration + slack)
    if outside.any():
        index = int(np.argmax(outside))
        raise InputError(
            argument="times",
            problem=f"must lie between 0 and the duration, {duration!r} s, got {array[index]!r} at {index}",
        )
    return np.clip(array, 0.0, duration)
