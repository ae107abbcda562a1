"""`ControllerSample`: one package of a controller, with names for what is asked of it most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iparam.arrays import FloatArray


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
