"""What a controller's modes and safety states mean, and `ControllerSample`: one package of it, with names for what
is asked of it most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iparam.arrays import FloatArray

ROBOT_MODES = {
    -1: "no controller",
    0: "disconnected",
    1: "waiting for the safety confirmation",
    2: "booting",
    3: "powered off",
    4: "powered on, brakes closed",
    5: "idle, brakes closed",
    6: "in freedrive",
    7: "running",
    8: "updating its firmware",
}
RUNNING = 7

SAFETY_STATES = {
    1: "normal",
    2: "reduced",
    3: "protective stop",
    4: "recovery",
    5: "safeguard stop",
    6: "emergency stop (system)",
    7: "emergency stop (robot)",
    8: "violation",
    9: "fault",
}
"""Those that safety_mode and safety_status share; later software has more, all of which are stops."""

PROTECTIVE_STOP = 3

REDUCED = 2

MOVING_STATES = (1, REDUCED)
"""Safety states in which an arm may move: normal and reduced."""


def robot_mode_name(mode: int) -> str:
    """A robot_mode in words."""
    return ROBOT_MODES.get(mode, f"in an unknown mode ({mode})")


def safety_name(state: int) -> str:
    """A safety_status or safety_mode in words."""
    return SAFETY_STATES.get(state, f"safety state {state}")


@dataclass(frozen=True, eq=False)
class ControllerSample:
    """The controller's latest package.

    Attributes:
        received: when it came [s, this computer's monotonic clock].
        time: on the recording's axis [s].
        columns: field -> columns of the row.
        row: its numbers.
    """

    received: float
    time: float
    columns: Mapping[str, slice] = field(repr=False)
    row: FloatArray = field(repr=False)

    def field(self, name: str) -> FloatArray | None:
        """A field's numbers, None if the controller does not send it."""
        return self.row[self.columns[name]] if name in self.columns else None

    @property
    def q(self) -> FloatArray:
        """(6,) joint angles [rad]."""
        return self.row[self.columns["actual_q"]]

    @property
    def safety(self) -> int:
        """The safety state; see `controller_state`."""
        status = self.field("safety_status")
        return int(self.row[self.columns["safety_mode"]][0] if status is None else status[0])

    @property
    def robot_mode(self) -> int:
        """See `controller_state`."""
        return int(self.row[self.columns["robot_mode"]][0])
