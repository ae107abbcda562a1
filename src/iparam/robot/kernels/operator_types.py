"""What `a * b` or `a[i, j]` is, for arguments of given types, is asked of numba once, and remembered.

A kernel of a hundred lines has some hundred operators on floats and indices. For each of them numba tries the dozens of
rules that it has for that operator, with and without literal values, in order, until one fits: a seventh of the time
that kernels take to compile. The answer depends on the types alone.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterator
from typing import Any

from numba.core import types

_PLAIN = (types.Number, types.Boolean, types.Array, types.Literal, types.BaseTuple)
_MODULES = {operator.__name__, operator.add.__module__, math.__name__}

_resolve = types.Function.get_call_type
_known: dict[tuple[int, int, tuple[Any, ...]], Any] = {}
_kept_alive: list[Any] = []  # whose addresses are keys


def _resolve_once(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    if (
        named
        or getattr(function.typing_key, "__module__", None) not in _MODULES
        or not all(isinstance(kind, _PLAIN) for kind in arguments)
    ):
        return _resolve(function, context, arguments, named)
    key = (id(function), id(context), tuple(arguments))
    found = _known.get(key)
    if found is None:
        found = _resolve(function, context, arguments, named)
        # Rules that are Python functions, compiled for the options of the kernel that asks, are asked anew.
        if found is not None and function._impl_keys.get(found.args) is function.typing_key:
            _known[key] = found
            _kept_alive.append((function, context))
    return found


@contextlib.contextmanager
def remembered_types() -> Iterator[None]:
    """While it lasts, in the thread that holds numba's compiler lock, operators on numbers and arrays are known."""
    base: Any = types.functions.BaseFunction
    before = base.get_call_type
    base.get_call_type = _resolve_once
    try:
        yield
    finally:
        base.get_call_type = before
