"""Small arrays of a kernel's own, on its stack: `empty` and `zeros`, as numpy's, of floats.

Numba compiles numpy's functions anew for each number of axes, and counts references to what they return wherever it is
handed on: with these, and without that count, a kernel compiles in less time. Only for a few numbers a joint or a
state: a stack is small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_FLOAT = 8  # bytes


def _on_stack(context: Any, builder: Any, signature: Any, arguments: Any, filled: bool) -> Any:
    (shape,), (given,) = signature.args, arguments
    single = isinstance(shape, types.Integer)
    kinds = [shape] if single else list(shape)
    values = [given] if single else cgutils.unpack_tuple(builder, given)
    lengths = [context.cast(builder, value, kind, types.intp) for value, kind in zip(values, kinds, strict=True)]
    word = context.get_value_type(types.intp)
    size = word(_FLOAT)
    strides: list[Any] = []
    for length in reversed(lengths):
        strides.insert(0, size)
        size = builder.mul(size, length)
    data = builder.alloca(context.get_data_type(types.float64), size=builder.udiv(size, word(_FLOAT)))
    if filled:
        cgutils.memset(builder, data, size, 0)
    array = make_array(signature.return_type)(context, builder)
    populate_array(array, data=data, shape=lengths, strides=strides, itemsize=word(_FLOAT), meminfo=None)
    return array._getvalue()


def _workspace(filled: bool) -> Any:
    def typed(typing: Any, shape: Any) -> tuple[Any, Callable[..., Any]]:
        axes = 1 if isinstance(shape, types.Integer) else len(shape)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _on_stack(context, builder, signature, arguments, filled)

        return types.Array(types.float64, axes, "C")(shape), generate

    return intrinsic(typed)


empty, zeros = _workspace(filled=False), _workspace(filled=True)
