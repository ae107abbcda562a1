"""How the values of options are read: as tyro does it, but what cannot be is said in words that are not Python's.

tyro tells which of its types could not be made of which list of texts; whoever typed `--workers 2.5` wants to know that
a whole number is needed.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Union, get_args

from tyro.conf import UseAppendAction
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    UnsupportedTypeAnnotationError,
)

_NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}


def registry() -> ConstructorRegistry:
    """The rules, for `tyro.cli`."""
    made = ConstructorRegistry()
    made.primitive_rule(_number)
    made.primitive_rule(_numbers)
    made.primitive_rule(_any_numbers)
    made.primitive_rule(_optional)
    return made


def _number(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    kind: Any = info.type
    if kind not in _NUMBERS:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=kind.__name__.upper(),
        instance_from_str=lambda texts: _read(kind, texts[0]),
        is_instance=lambda value: _is_number(kind, value),
        str_from_instance=lambda value: [str(value)],
    )


def _numbers(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """So many numbers of one kind."""
    kinds = get_args(info.type)
    if info.type_origin is not tuple or len(set(kinds)) != 1 or kinds[0] not in _NUMBERS:
        return None
    kind, count = kinds[0], len(kinds)
    return PrimitiveConstructorSpec(
        nargs=count,
        metavar=" ".join([kind.__name__.upper()] * count),
        instance_from_str=lambda texts: tuple(_read(kind, text) for text in texts),
        is_instance=lambda value: (
            isinstance(value, tuple) and len(value) == count and all(_is_number(kind, one) for one in value)
        ),
        str_from_instance=lambda value: [str(one) for one in value],
    )


def _any_numbers(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """As many numbers, or groups of so many, as are given."""
    kinds = get_args(info.type)
    if info.type_origin is not tuple or kinds[1:] != (Ellipsis,) or UseAppendAction in info.markers:  # tyro collects
        return None
    one = PrimitiveTypeInfo.make(kinds[0], info.markers)
    inner = _number(one) or _numbers(one)
    if inner is None or not isinstance(inner.nargs, int):
        return None
    spec, count = inner, inner.nargs

    def read(texts: list[str]) -> Any:
        if len(texts) % count:
            raise ValueError(f"it needs {count} numbers, or some times {count}, got {len(texts)}")
        return tuple(spec.instance_from_str(texts[first : first + count]) for first in range(0, len(texts), count))

    return PrimitiveConstructorSpec(
        nargs="*",
        metavar=f"[{spec.metavar} [{spec.metavar} ...]]",
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, tuple) and all(spec.is_instance(one) for one in value),
        str_from_instance=lambda value: [text for one in value for text in spec.str_from_instance(one)],
    )


def _read(kind: Any, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"it needs {_NUMBERS[kind]}, got {text!r}") from None


def _is_number(kind: Any, value: object) -> bool:
    return isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)


def _optional(
    info: PrimitiveTypeInfo,
) -> PrimitiveConstructorSpec[Any] | UnsupportedTypeAnnotationError | None:
    """A value that may be left out, `X | None`: its complaints are those of X."""
    kinds = get_args(info.type)
    if info.type_origin not in (Union, types.UnionType) or len(kinds) != 2 or types.NoneType not in kinds:
        return None
    (kind,) = (one for one in kinds if one is not types.NoneType)
    inner = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, info.markers))
    if isinstance(inner, UnsupportedTypeAnnotationError):
        return inner
    return dataclasses.replace(
        inner, is_instance=lambda value: value is None or inner.is_instance(value), str_from_instance=_text_of(inner)
    )


def _text_of(inner: PrimitiveConstructorSpec[Any]) -> Any:
    return lambda value: ["None"] if value is None else inner.str_from_instance(value)
