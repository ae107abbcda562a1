"""The controller's side of RTDE: the fields that an e-Series controller has, its answers, and what a client asks it."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from iparam.bridges.ur.rtde.fields import RtdeType
from iparam.bridges.ur.rtde.packets import Packet, PacketKind, RtdeError, requested_names
from iparam.bridges.ur.rtde.simulated_time import RUN_UNTIL, SIMULATED_TIME

_UINT16 = struct.Struct(">H")
_DOUBLE = struct.Struct(">d")

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
"""Output fields -> type, of an e-Series controller, and simulated time."""

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


def requested_protocol(payload: bytes) -> int:
    """The version that a client wishes for."""
    if len(payload) != _UINT16.size:
        raise RtdeError(f"a protocol version of {len(payload)} bytes; expected {_UINT16.size}")
    return int(_UINT16.unpack(payload)[0])


def answer(kind: PacketKind, accepted: bool) -> Packet:
    """A controller's yes or no to PROTOCOL_VERSION, START or PAUSE."""
    return Packet(kind, bytes([accepted]))


def requested_outputs(payload: bytes) -> tuple[tuple[str, ...], float]:
    """The names and the frequency [Hz] that a client asks for in protocol version 2."""
    if len(payload) < _DOUBLE.size:
        raise RtdeError(f"a request for outputs of {len(payload)} bytes; expected a frequency of {_DOUBLE.size} first")
    return requested_names(payload[_DOUBLE.size :]), float(_DOUBLE.unpack_from(payload)[0])


def setup_answer(kind: PacketKind, recipe: int, types: tuple[str, ...]) -> Packet:
    """A controller's answer to SETUP_OUTPUTS (version 2) or SETUP_INPUTS.

    Args:
        kind: of the request.
        recipe: number of the agreed recipe, 1 to 255; 0 if there is none because a name was refused.
        types: one for each name, see `RtdeType`; or NOT_FOUND, or IN_USE.
    """
    return Packet(kind, bytes([recipe]) + ",".join(types).encode("ascii"))
