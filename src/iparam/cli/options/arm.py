"""The options that say which arm of a description is meant, where that holds more than one arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import arg

from iparam.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ArmOptions:
    """The options; a command adds its own to them, ``tip`` among these."""

    base: Annotated[
        str | None, arg(metavar="FRAME", help_behavior_hint="(default: the root, or what the only arm stands on)")
    ] = None
    """The link that the arm begins at and poses are given in; the rest of the robot stands still."""
    lock: Annotated[tuple[str, ...], arg(metavar="JOINT=Q ..", help_behavior_hint="(default: others at zero)")] = ()
    """Joints that do not move, and where they stand [rad or m], e.g. torso_lift_joint=0.2."""

    def cut(self) -> dict[str, Any]:
        """Base and locked joints, as `load_robot` takes them."""
        return {"base": self.base, "lock": _positions(self.lock)}


def _positions(texts: tuple[str, ...]) -> dict[str, float]:
    positions: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            position = float(value)
        except ValueError:
            position = math.nan
        if not name or not math.isfinite(position):
            raise InputError(f"--lock takes JOINT=Q, a joint's name and its position [rad or m], got {text!r}")
        if name in positions:
            raise InputError(f"--lock names {name} twice")
        positions[name] = position
    return positions
