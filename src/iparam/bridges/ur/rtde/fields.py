"""The fields of RTDE: their types, which field has which, and the packing of a recipe's values. Pure, no sockets."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from iparam.bridges.ur.rtde.packets import RtdeError
from iparam.bridges.ur.rtde.simulated_time import RUN_UNTIL, SIMULATED_TIME

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

REGISTERS = 48
"""Integer and double registers in each direction; the last half is the RTDE clients' own."""


def _named(kind: RtdeType, names: str) -> dict[str, RtdeType]:
    return dict.fromkeys(names.split(), kind)


def _registers(direction: str) -> dict[str, RtdeType]:
    table = _named(RtdeType.UINT32, f"{direction}_bit_registers0_to_31 {direction}_bit_registers32_to_63")
    table |= {f"{direction}_bit_register_{i}": RtdeType.BOOL for i in range(64, 128)}
    table |= {f"{direction}_int_register_{i}": RtdeType.INT32 for i in range(REGISTERS)}
    return table | {f"{direction}_double_register_{i}": RtdeType.DOUBLE for i in range(REGISTERS)}


OUTPUT_TYPES: Mapping[str, RtdeType] = (
    _named(
        RtdeType.DOUBLE,
        "timestamp actual_execution_time target_speed_fraction speed_scaling actual_momentum actual_main_voltage "
        "actual_robot_voltage actual_robot_current tcp_force_scalar payload io_current tool_output_current "
        "tool_temperature standard_analog_input0 standard_analog_input1 standard_analog_output0 "
        "standard_analog_output1 tool_analog_input0 tool_analog_input1 collision_detection_ratio "
        "joint_position_deviation_ratio",
    )
    | _named(
        RtdeType.VECTOR6D,
        "target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current "
        "actual_current_window joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose "
        "target_TCP_speed joint_temperatures actual_joint_voltage payload_inertia ft_raw_wrench tcp_offset",
    )
    | _named(RtdeType.VECTOR3D, "actual_tool_accelerometer payload_cog elbow_position elbow_velocity")
    | _named(RtdeType.VECTOR6INT32, "joint_mode")
    | _named(
        RtdeType.INT32,
        "robot_mode safety_mode safety_status tool_output_voltage time_scale_source",
    )
    | _named(
        RtdeType.UINT32,
        "runtime_state robot_status_bits safety_status_bits analog_io_types tool_analog_input_types",
    )
    | _named(RtdeType.UINT64, "actual_digital_input_bits actual_digital_output_bits")
    | _named(RtdeType.UINT8, "tool_mode tool_output_mode")
    | _registers("output")
    | _registers("input")
    | _named(RtdeType.DOUBLE, SIMULATED_TIME)
)
"""Output fields -> type, of an e-Series controller and of the twin."""

INPUT_TYPES: Mapping[str, RtdeType] = (
    _named(RtdeType.UINT32, "speed_slider_mask")
    | _named(
        RtdeType.DOUBLE,
        "speed_slider_fraction standard_analog_output_0 standard_analog_output_1 external_force_torque_scale",
    )
    | _named(
        RtdeType.UINT8,
        "standard_digital_output_mask configurable_digital_output_mask standard_digital_output "
        "configurable_digital_output standard_analog_output_mask standard_analog_output_type "
        "tool_digital_output_mask tool_digital_output",
    )
    | _named(RtdeType.VECTOR6D, "external_force_torque")
    | _registers("input")
    | _named(RtdeType.DOUBLE, RUN_UNTIL)
)
"""Input fields -> type."""


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
