"""`NodeParameter`: a parameter of a node, with what it means and what it may be, and its declaration to ROS 2."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
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
from iparam.errors import InputError, IparamError
from iparam.printable import printable
from iparam.robot.gravity import mounted_gravity
from iparam.robot.loading import stated_in_setup
from iparam.sensing.setup import Setup

Plain = bool | int | float | str


@dataclass(frozen=True)
class NodeParameter:
    """A parameter.

    Attributes:
        name: of it.
        default: its value unless told otherwise; a tuple of floats is an array, and an empty one "not given".
        description: what it means, with its unit.
        minimum, maximum: of a number, both included.
        choices: of a text; empty for any text.
        length: of an array; None for any.
        read_only: whether it is set at the start only.
    """

    name: str
    default: Plain | tuple[float, ...]
    description: str
    minimum: float = -math.inf
    maximum: float = math.inf
    choices: tuple[str, ...] = ()
    length: int | None = None
    read_only: bool = True

    @property
    def constraints(self) -> str:
        """What it may be, in words, as far as a range does not say it."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if isinstance(self.default, tuple):
            count = f"{self.length} numbers" if self.length else "numbers"
            return f"{count} or none" if not self.default else count
        return ""

    def check(self, value: Any) -> Any:
        """The value as the library takes it: arrays become tuples.

        Raises:
            InputError: with the value and the bound.
        """
        if isinstance(self.default, tuple):
            numbers = tuple(float(entry) for entry in value)
            if not all(math.isfinite(entry) for entry in numbers):
                raise InputError(f"parameter {self.name} must be finite, got {list(numbers)}")
            if self.length and len(numbers) not in (self.length, *([0] if not self.default else [])):
                raise InputError(f"parameter {self.name} needs {self.length} numbers, got {len(numbers)}")
            for entry in numbers:
                self._in_range(entry)
            return numbers
        if self.choices and value not in self.choices:
            raise InputError(f"parameter {self.name} must be {self.constraints}, got {value!r}")
        if isinstance(self.default, int | float) and not isinstance(self.default, bool):
            self._in_range(value)
        return value

    def _in_range(self, value: float) -> None:
        if not self.minimum <= value <= self.maximum:
            raise InputError(f"parameter {self.name} must be from {self.minimum:g} to {self.maximum:g}, got {value:g}")


SETUP = NodeParameter(
    "setup", "", "A file of 'iparam setup': .toml. It gives the parameters that it knows and that are not given."
)

ROBOT = (
    SETUP,
    NodeParameter(
        "robot", "", "The arm: a name from 'iparam robots', or a robot file; empty: what robot_description describes."
    ),
    NodeParameter("tip", "", "The frame taken as the tool; empty for the robot's own."),
    NodeParameter("joint_prefix", "", "Before the names of the joints and frames in messages, e.g. left_."),
)

GRAVITY = NodeParameter(
    "gravity", (0.0, 0.0, -9.81), "Gravity in the axes of the robot's base [m/s^2].", -100.0, 100.0, length=3
)

MATCHING = (
    NodeParameter(
        "reliable", False, "Ask for lost messages again; then publishers that only try their best are not heard."
    ),
    NodeParameter(
        "tolerance", 0.01, "Time from a wrench to the joint states on either side of it, at most [s].", 1e-4, 1.0
    ),
    NodeParameter("hold", 0.0, "Time to wait for wrenches that come in the wrong order [s].", 0.0, 1.0),
    NodeParameter("wrench_frame", "", "The frame of the sensor, whatever its messages say; empty to believe them."),
    NodeParameter(
        "measures",
        "action",
        "What the sensor reports: what the robot exerts on the load (action), or the opposite (reaction).",
        choices=("action", "reaction"),
    ),
    NodeParameter(
        "sensor_rotation",
        (0.0, 0.0, 0.0),
        "Roll, pitch and yaw of the sensor in the frame that its wrench is taken to be in [deg].",
        -360.0,
        360.0,
        length=3,
    ),
    NodeParameter("sensor_offset", (0.0, 0.0, 0.0), "Its origin in that frame [m].", -1.0, 1.0, length=3),
    NodeParameter("rate", 0.0, "Rate of the wrench [Hz]; 0 finds it from the first stamps.", 0.0, 1e5),
    NodeParameter("bandwidth", 15.0, "Of the joint motion that the filter lets pass [Hz].", 0.1, 1e3),
    NodeParameter("angle_deviation", 5e-5, "Standard deviation of the noise of an angle [rad].", 1e-9, 1.0),
)


def declare(node: Node, parameters: Sequence[NodeParameter]) -> dict[str, Any]:
    """Declare parameters and return their values, checked.

    Raises:
        InputError: if one was given a value that it cannot have.
    """
    values: dict[str, Any] = {}
    by_setup: dict[str, Plain | tuple[float, ...]] = {}
    for parameter in parameters:
        default = by_setup.get(parameter.name, parameter.default)
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
        if parameter.name == SETUP.name and value:
            by_setup = _of_setup(node, str(value), {entry.name for entry in parameters})
    _mention_unknown(node, values)
    return values


def _of_setup(node: Node, path: str, known: Collection[str]) -> dict[str, Plain | tuple[float, ...]]:
    """What a setup says of the parameters of a node; of an arm that is given it says nothing of the frames."""
    setup = Setup.load(os.path.expanduser(path))
    if "sensor_rotation" in known:
        _check_sensor(setup, path)
    found = setup_parameters(setup)
    if "robot" in getattr(node, "_parameter_overrides", {}):
        found = {name: value for name, value in found.items() if name not in ("robot", "tip")}
    elif "robot" in known:
        stated_in_setup(setup.robot, os.path.expanduser(path))
    taken = {name: value for name, value in found.items() if name in known}
    words = ", ".join(f"{name}: {value}" for name, value in taken.items())
    node.get_logger().info(printable(f"from {path}: {words or 'nothing that concerns this node'}"))
    return taken


def _check_sensor(setup: Setup, path: str) -> None:
    """Refuse what no node can make good."""
    for entry, value, reason in (
        ("sensor.frame = 'base'", setup.wrench_frame == "base", "a node needs the wrench of the sensor itself"),
        ("sensor.calibration", setup.sensor is not None, "nodes take wrenches as they come"),
        ("robot.base", setup.base is not None, "a node takes the base of the robot's description"),
    ):
        if value:
            raise InputError(f"{path} has {entry}: {reason}. Leave it out of the setup for ROS 2")


def setup_parameters(setup: Setup) -> dict[str, Plain | tuple[float, ...]]:
    """The parameters that a setup gives."""
    found: dict[str, Plain | tuple[float, ...]] = {"robot": setup.robot}
    if setup.mounting is not None or setup.gravity is not None:
        size = setup.gravity[0] if setup.gravity is not None and len(setup.gravity) == 1 else None
        vector = setup.gravity if setup.gravity is not None and len(setup.gravity) == 3 else None
        mounting = "floor" if setup.mounting is None else setup.mounting
        found["gravity"] = tuple(map(float, mounted_gravity(mounting, size) if vector is None else vector))
    for name, value in (
        ("tip", setup.tip),
        ("measures", setup.measures),
        ("sensor_rotation", setup.sensor_rotation),
        ("sensor_offset", setup.sensor_offset),
        ("known_load", None if setup.gripper is None else str(setup.gripper)),
        ("bias", {None: None, "with load": "zeroed", "without load": "none", "never": "estimate"}[setup.zeroed]),
    ):
        if value is not None:
            found[name] = value
    return found


def changeable(parameters: Iterable[NodeParameter], names: Sequence[str]) -> tuple[NodeParameter, ...]:
    """Parameters of which those named can be set while the node runs."""
    return tuple(replace(entry, read_only=False) if entry.name in names else entry for entry in parameters)


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
