"""`NodeParameter`: a parameter of a node, with what it means and what it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from iparam.errors import InputError

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


ROBOT = (
    NodeParameter("robot", "ur5e", "The arm: a name from 'iparam robots', or the path of a URDF file."),
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
    NodeParameter("rate", 0.0, "Rate of the wrench [Hz]; 0 finds it from the first stamps.", 0.0, 1e5),
    NodeParameter("bandwidth", 15.0, "Of the joint motion that the filter lets pass [Hz].", 0.1, 1e3),
    NodeParameter("angle_deviation", 5e-5, "Standard deviation of the noise of an angle [rad].", 1e-9, 1.0),
)
