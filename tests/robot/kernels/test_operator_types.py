"""What is remembered of operators is what numba says, and outside of iparam's kernels numba is as it was."""

from __future__ import annotations

import math
import operator
from itertools import product
from typing import Any

import pytest
from numba.core import types
from numba.core.registry import cpu_target

from iparam.robot.kernels import operator_types
from iparam.robot.kernels.operator_types import remembered_types

NUMBERS = (types.float64, types.int64, types.boolean, types.IntegerLiteral(2))
MATRIX = types.Array(types.float64, 2, "C")
PAIR = types.UniTuple(types.int64, 2)
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    *(
        (function, pair)
        for function in (operator.add, operator.truediv, operator.lt)
        for pair in product(NUMBERS, NUMBERS)
    ),
    (operator.getitem, (MATRIX, PAIR)),
    (operator.setitem, (MATRIX, PAIR, types.float64)),
    (operator.iadd, (MATRIX, MATRIX)),
    (math.sqrt, (types.float64,)),
]


def test_what_is_remembered_is_what_numba_says() -> None:
    context = cpu_target.typing_context
    context.refresh()
    said = [context.resolve_function_type(function, kinds, {}) for function, kinds in CASES]
    with remembered_types():
        first = [context.resolve_function_type(function, kinds, {}) for function, kinds in CASES]
        count = len(operator_types._known)
        second = [context.resolve_function_type(function, kinds, {}) for function, kinds in CASES]
        assert len(operator_types._known) == count > 0
    assert said == first == second
    assert any(a is b for a, b in zip(first, second, strict=True))


def test_an_operator_without_a_rule_is_refused_each_time() -> None:
    context = cpu_target.typing_context
    context.refresh()
    with remembered_types():
        for _ in range(2):
            with pytest.raises(Exception, match="No implementation of function"):
                context.resolve_function_type(operator.add, (MATRIX, types.Dummy("nothing")), {})


def test_numba_is_left_as_it_was() -> None:
    before = types.Function.get_call_type
    with remembered_types(), remembered_types():
        assert types.Function.get_call_type is not before
    assert types.Function.get_call_type is before
