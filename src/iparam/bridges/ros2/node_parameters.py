"""Declaring parameters to ROS 2: with descriptions and ranges, and with a reason when a value is refused."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from iparam.bridges.ros2.backend import (
    FloatingPointRange,
    IntegerRange,
    Node,
    ParameterDescriptor,
    ParameterUninitializedException,
    RosParameter,
    SetParametersResult,
)
from iparam.bridges.ros2.parameters import NodeParameter
from iparam.errors import InputError, IparamError
from iparam.printable import printable


def declare(node: Node, parameters: Iterable[NodeParameter]) -> dict[str, Any]:
    """Declare parameters and return their values, checked.

    Raises:
        InputError: if one was given a value that it cannot have.
    """
    values: dict[str, Any] = {}
    for parameter in parameters:
        default = parameter.default
        if isinstance(default, tuple):
            default = list(default) if default else RosParameter.Type.DOUBLE_ARRAY  # type: ignore[assignment]
        try:
            node.declare_parameter(parameter.name, default, _descriptor(parameter))
            value = node.get_parameter(parameter.name).value
        except ParameterUninitializedException:
            value = ()
        except Exception as error:  # rclpy has a class of its own for each reason
            raise InputError(_reason(parameter, error)) from None
        values[parameter.name] = parameter.check(() if value is None else value)
    _mention_unknown(node, values)
    return values


def on_change(node: Node, parameters: Sequence[NodeParameter], change: Callable[[str, Any], None]) -> None:
    """Call ``change`` with name and value when a parameter is set; what it refuses is refused, with its reason."""
    known = {parameter.name: parameter for parameter in parameters if not parameter.read_only}

    def callback(changes: list[Any]) -> SetParametersResult:
        try:
            for entry in changes:
                if entry.name in known:
                    change(entry.name, known[entry.name].check(entry.value))
        except IparamError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(callback)


def _descriptor(parameter: NodeParameter) -> ParameterDescriptor:
    described = ParameterDescriptor(
        description=parameter.description,
        additional_constraints=parameter.constraints,
        read_only=parameter.read_only,
    )
    default = parameter.default
    if isinstance(default, bool | str | tuple) or not math.isfinite(parameter.minimum + parameter.maximum):
        return described
    if isinstance(default, int):
        bounds = IntegerRange(from_value=int(parameter.minimum), to_value=int(parameter.maximum), step=0)
        described.integer_range = [bounds]
    else:
        described.floating_point_range = [
            FloatingPointRange(from_value=float(parameter.minimum), to_value=float(parameter.maximum), step=0.0)
        ]
    return described


def _reason(parameter: NodeParameter, error: Exception) -> str:
    text = " ".join(str(error).split())
    if type(error).__name__ == "InvalidParameterTypeException":
        hint = " Write 500.0 and not 500." if isinstance(parameter.default, float | tuple) else ""
        return f"{text}.{hint}"
    return f"parameter {parameter.name}: {text}"


def _mention_unknown(node: Node, declared: Iterable[str]) -> None:
    """ROS 2 says nothing about a misspelt parameter. A file may be shared by nodes, so that it is no error."""
    names = [*declared, "use_sim_time", "start_type_description_service"]
    for name in getattr(node, "_parameter_overrides", {}):
        if name not in names and not name.startswith("qos_overrides"):
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            node.get_logger().warning(printable(f"there is no parameter {name}{hint}"))
