"""The types of RTDE's fields, and the packing of a recipe's values. Pure, no sockets."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from iparam.bridges.ur.rtde.packets import RtdeError

Value = float | int | bool | Sequence[float] | Sequence[int]
"""A field's value: a number, or a vector of three or six."""


class RtdeType(StrEnum):
    """The types of fields, as a controller spells them."""

    BOOL = "BOOL"
    UINT8 = "UINT8"
    UINT32 = "UINT32"
    UINT64 = "UINT64"
    INT32 = "INT32"
    DOUBLE = "DOUBLE"
    VECTOR3D = "VECTOR3D"
    VECTOR6D = "VECTOR6D"
    VECTOR6INT32 = "VECTOR6INT32"
    VECTOR6UINT32 = "VECTOR6UINT32"

    @property
    def numbers(self) -> int:
        """Numbers in a value."""
        return int(_LAYOUT[self][:-1] or "1")

    @property
    def layout(self) -> str:
        """The code of `struct` without the byte order."""
        return _LAYOUT[self]


_LAYOUT = {
    RtdeType.BOOL: "?",
    RtdeType.UINT8: "B",
    RtdeType.UINT32: "I",
    RtdeType.UINT64: "Q",
    RtdeType.INT32: "i",
    RtdeType.DOUBLE: "d",
    RtdeType.VECTOR3D: "3d",
    RtdeType.VECTOR6D: "6d",
    RtdeType.VECTOR6INT32: "6i",
    RtdeType.VECTOR6UINT32: "6I",
}

NOT_FOUND = "NOT_FOUND"
IN_USE = "IN_USE"


@dataclass(frozen=True)
class Recipe:
    """The fields of a data package, in order.

    Attributes:
        names: of the fields, in the order of the package.
        types: of the fields.
    """

    names: tuple[str, ...]
    types: tuple[RtdeType, ...]
    _struct: struct.Struct = field(init=False, repr=False, compare=False)
    _slices: tuple[tuple[str, int, int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.names) != len(self.types):
            raise RtdeError(f"a recipe of {len(self.names)} fields with {len(self.types)} types")
        object.__setattr__(self, "_struct", struct.Struct(">" + "".join(kind.layout for kind in self.types)))
        place, slices = 0, []
        for name, kind in zip(self.names, self.types, strict=True):
            slices.append((name, place, kind.numbers))
            place += kind.numbers
        object.__setattr__(self, "_slices", tuple(slices))

    @classmethod
    def agreed(cls, names: Sequence[str], types: Sequence[str]) -> Recipe:
        """The recipe of a controller's answer to a setup: the names asked for, and the types that it gave.

        Raises:
            RtdeError: the controller refused a field, or gave a type that iparam does not know.
        """
        for refusal, reason in ((NOT_FOUND, "does not have"), (IN_USE, "says are in use by another client")):
            refused = [name for name, kind in zip(names, types, strict=False) if kind == refusal]
            if refused:
                raise RtdeError(f"fields that the controller {reason}: {', '.join(refused)}")
        unknown = sorted(set(types) - set(RtdeType))
        if unknown:
            raise RtdeError(f"types that are no RTDE: {', '.join(unknown)}")
        return cls(tuple(names), tuple(RtdeType(kind) for kind in types))

    @property
    def size(self) -> int:
        """Bytes of the packed values."""
        return self._struct.size

    def pack(self, values: Mapping[str, Value]) -> bytes:
        """The values as bytes; other fields in ``values`` are left out."""
        flat: list[float | int] = []
        for name, _, count in self._slices:
            value = values[name]
            if isinstance(value, int | float):
                flat.append(value)
            elif len(value) == count:
                flat.extend(value)
            else:
                raise RtdeError(f"{name} has {count} numbers, got {len(value)}")
        try:
            return self._struct.pack(*flat)
        except struct.error as error:
            raise RtdeError(f"values that do not fit the recipe: {error}") from None

    def unpack(self, payload: bytes) -> dict[str, float | int | bool | tuple[float, ...]]:
        """Field name -> number, or tuple of three or six; the reverse of `pack`."""
        if len(payload) != self._struct.size:
            raise RtdeError(f"a data package of {len(payload)} bytes; the recipe has {self._struct.size}")
        flat = self._struct.unpack(payload)
        return {name: flat[place] if count == 1 else flat[place : place + count] for name, place, count in self._slices}
