"""Checked conversion of user input to float64 arrays: the one gate in front of the native core. And `remembered`,
for what is computed from the same arrays again and again.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import hashlib
import math
import os
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.errors import InputError

FloatArray = NDArray[np.float64]

LARGEST = 1e9
"""What no length, angle, mass or inertia of an arm and its surroundings reaches, in SI units; the powers of what is
within it are still numbers."""

ROUNDING = 1e-9
"""Share of the largest term of a sum by which a number may differ from what is computed again. Files hold all 16 digits
of a number; another machine's arithmetic changes the last few of them, which is a million times less."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_FLOAT64 = np.dtype(np.float64)
_FEW = 32


def as_float_array(value: ArrayLike, name: str, trailing: tuple[int, ...] = ()) -> FloatArray:
    """Return ``value`` as a finite, C-contiguous float64 array whose last axes are ``trailing``.

    Integers and booleans are widened to float64 before anything is computed with them, so that small integer types
    cannot overflow. Complex numbers, strings and objects are refused rather than cast.

    Args:
        value: anything array-like, shape (..., *trailing).
        name: what the error message calls it.
        trailing: the required last axes; () accepts any shape.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(
            argument=name, problem=f"is ragged: its rows have different lengths; expected {_shape_text(trailing)}"
        ) from None
    if array.dtype != _FLOAT64:
        if array.dtype.kind not in "fiub":
            raise InputError(argument=name, problem=f"must hold real numbers, got dtype {array.dtype}")
        array = array.astype(np.float64)
    if trailing and array.shape[-len(trailing) :] != trailing:
        raise InputError(argument=name, problem=f"must have {_shape_text(trailing)}, got {array.shape}")
    if not _all_finite(array):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        at = f" at index {where if len(where) > 1 else where[0]}" if where else ""
        raise InputError(argument=name, problem=f"must be finite, got {array[where]}{at}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def as_bounded_array(value: ArrayLike, name: str) -> FloatArray:
    """`as_float_array` of what is also within +-LARGEST, so that nothing computed from it overflows."""
    array = as_float_array(value, name)
    beyond = np.abs(array) > LARGEST
    if beyond.any():
        raise InputError(
            argument=name, problem=f"must stay within +-{LARGEST:g}, got {array[beyond][0]:g}: in SI units?"
        )
    return array


def _all_finite(array: FloatArray) -> bool:
    # One joint state is the common case, and there numpy's reductions are slow. A plain sum is not finite if any entry
    # is not; it may also have overflowed, so that only a finite one decides.
    if array.size <= _FEW and math.isfinite(sum(array.ravel().tolist())):
        return True
    return bool(np.isfinite(array).all())


def block_means(values: FloatArray, size: int) -> FloatArray:
    """(N // size, ...) the means of every ``size`` successive ones of values (N, ...); those at the end may be left."""
    if size == 1:
        return values
    count = len(values) // size
    return np.asarray(values[: count * size].reshape(count, size, *values.shape[1:]).mean(axis=1))


def frozen(array: ArrayLike) -> FloatArray:
    """A read-only float64 copy, for the fields of frozen values; one that is read-only already is taken as it is."""
    given = array if isinstance(array, np.ndarray) and array.base is None else None
    if given is not None and given.dtype == _FLOAT64 and given.flags.c_contiguous and not given.flags.writeable:
        return given
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def kernel_input(array: FloatArray) -> FloatArray:
    """The array, or a copy if it is read-only or strided: the native core takes neither."""
    return array if array.flags.carray else array.copy()


def remembered(function: Callable[Arguments, Result], most: int = 16) -> Callable[Arguments, Result]:
    """Compute a function once for the same content of its arguments.

    Meant for a function that depends on nothing else, whose result is small and cannot be changed, and which takes far
    longer than reading its arguments: it is then free to identify one recording by several methods. Arguments are
    arrays, numbers, texts, paths, and tuples, lists and frozen dataclasses of these.

    Args:
        function: to be called.
        most: results that are kept, the last ones; of the arguments only a digest is.
    """
    known: dict[bytes, Result] = {}

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        content = hashlib.blake2b(digest_size=16)
        _read_content(content, (args, sorted(kwargs.items())))
        key = content.digest()
        if key in known:
            return known[key]
        result = function(*args, **kwargs)
        while len(known) >= most:
            known.pop(next(iter(known)), None)
        known[key] = result
        return result

    return call


def _read_content(content: Any, value: object) -> None:
    """Add all that a value is to a hash; no two values may add the same."""
    if isinstance(value, np.ndarray):
        content.update(f"array {value.dtype.str} {value.shape};".encode())
        content.update(np.ascontiguousarray(value).data)
    elif isinstance(value, tuple | list):
        content.update(f"{len(value)} values;".encode())
        for one in value:
            _read_content(content, one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        content.update(f"{type(value).__module__}.{type(value).__qualname__};".encode())
        for spec in dataclasses.fields(value):
            _read_content(content, getattr(value, spec.name))
    elif value is None or isinstance(value, bool | int | float | str | np.generic | os.PathLike):
        text = repr(value)
        content.update(f"{len(text)} {text};".encode())
    else:
        raise TypeError(f"cannot tell the content of a {type(value).__qualname__}")


def _shape_text(trailing: tuple[int, ...]) -> str:
    return f"shape (..., {', '.join(str(n) for n in trailing)})" if trailing else "a rectangular array"


def _read_only(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


# Of recordings and results: Python neither copies such mappings nor sends them to another process by itself.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


def covariance_problem(covariance: FloatArray) -> str:
    """Why a matrix (k, k) is no covariance, beyond rounding; "" where it is one."""
    variance = np.diag(covariance)
    if (variance < 0.0).any():
        return f"has a negative variance, {float(variance.min()):.3g}"
    unit = np.sqrt(variance)
    if (np.abs(covariance - covariance.T) > ROUNDING * np.outer(unit, unit)).any():
        return "is not symmetric"
    if (np.abs(covariance) > (1.0 + ROUNDING) * np.outer(unit, unit)).any():
        return "has a correlation above 1"
    unit = np.where(unit > 0.0, unit, 1.0)
    least = float(np.linalg.eigvalsh(covariance / np.outer(unit, unit)).min(initial=0.0))
    return (
        "" if least >= -ROUNDING else f"is not positive semidefinite: its correlations have the eigenvalue {least:.3g}"
    )
