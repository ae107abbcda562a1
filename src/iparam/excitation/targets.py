"""Targets for the precision of a payload's parameters: "mass=0.5%,com=1mm,inertia=5%"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from iparam.errors import InputError, UnknownNameError
from iparam.excitation.prediction import Prediction

EXAMPLE = "mass=0.5%,com=1mm,inertia=5%"

_UNITS = {
    "mass": {"%": 0.01, "g": 0.001, "kg": 1.0},
    "com": {"mm": 0.001, "cm": 0.01, "m": 1.0},
    "inertia": {"%": 0.01},
}


@dataclass(frozen=True)
class Target:
    """A standard deviation that an estimate should reach.

    Attributes:
        quantity: "mass"; "com", the centre of mass in its worst direction; "inertia", the whole tensor about the
            centre of mass in the Frobenius norm.
        value: the largest standard deviation [kg, m, or a share if ``relative``].
        relative: whether it is a share of the quantity itself.
    """

    quantity: str
    value: float
    relative: bool

    def __str__(self) -> str:
        if self.relative:
            return f"{self.quantity}={100 * self.value:g}%"
        return f"{self.quantity}={1000 * self.value:g}{'mm' if self.quantity == 'com' else 'g'}"

    def excess(self, prediction: Prediction) -> float:
        """Predicted over wanted standard deviation: at most 1 where the target is reached."""
        if self.quantity == "mass":
            return (prediction.relative_mass if self.relative else prediction.mass) / self.value
        if self.quantity == "com":
            return prediction.worst_center_of_mass / self.value
        return prediction.relative_inertia / self.value


def parse_targets(text: str) -> tuple[Target, ...]:
    """The targets in a text such as "mass=0.5%,com=1mm,inertia=5%", each at most once.

    Units: mass in %, g or kg; com in mm, cm or m; inertia in %. All are standard deviations.
    """
    targets: list[Target] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([A-Za-z_]+)\s*=\s*([0-9.eE+-]+?)\s*([A-Za-z%]*)\s*", part)
        if match is None:
            raise InputError(f"target {part.strip()!r} is not of the form name=number and unit; example: {EXAMPLE}")
        name, number, unit = match[1].lower(), match[2], match[3]
        if name not in _UNITS:
            raise UnknownNameError("target", match[1], _UNITS, hint=f"Example: {EXAMPLE}.")
        if unit not in _UNITS[name]:
            units = ", ".join(_UNITS[name])
            raise InputError(f"target {part.strip()!r} needs a unit that fits {name}: {units}; example: {EXAMPLE}")
        try:
            value = float(number) * _UNITS[name][unit]
        except ValueError:
            raise InputError(f"target {part.strip()!r}: {number!r} is not a number; example: {EXAMPLE}") from None
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"target {part.strip()!r} must be positive and finite")
        if name in (target.quantity for target in targets):
            raise InputError(f"target {name} is given twice in {text!r}")
        targets.append(Target(name, value, unit == "%"))
    return tuple(targets)
