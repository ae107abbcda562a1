"""`PageSource`: what a page shows from moment to moment, of a motion that has been or of an arm that moves now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.time_plots import Panel
from iparam.viewer.load_shapes import LoadShapes

ARROW = 0.35
"""Length of the arrow of the largest force, and of the largest torque, in reaches of the arm."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What is to be seen at one time.

    Attributes:
        time: [s].
        motions: q and dq (n,) of each arm [rad or m, and per s].
        wrenches: "measured" and "predicted", where there is one: (6,) [force, torque] in the tool frame, of the arm on
            the load [N, N m].
        scales: metres of an arrow for a newton and for a newton metre.
        marks: where the charts have an upright line [s].
        load: on the tool, beside the loads of the view; None for none.
        above, below: Markdown before the readings and after the charts.
    """

    time: float
    motions: tuple[tuple[FloatArray, FloatArray], ...] = ()
    wrenches: Mapping[str, FloatArray] = field(default_factory=dict)
    scales: tuple[float, float] = (1.0, 1.0)
    marks: tuple[float, ...] = ()
    load: LoadShapes | None = None
    above: tuple[str, ...] = ()
    below: str = ""

    def arrows(self) -> dict[str, FloatArray]:
        """Tail and head (2, 3) in the tool frame [m], by "measured force", "measured torque" and so on."""
        return {
            f"{kind} {name}": np.stack([np.zeros(3), scale * part])
            for kind, wrench in self.wrenches.items()
            for name, part, scale in (("force", wrench[:3], self.scales[0]), ("torque", wrench[3:], self.scales[1]))
        }


class PageSource(Protocol):
    """Gives moments and curves: `View` those of files at any time, `LiveView` always the newest."""

    @property
    def duration(self) -> float:
        """Of what can be played [s]; 0 where the page follows what is new."""

    def news(self) -> bool:
        """Whether there is more to show since the last call."""

    def moment(self, time: float) -> Moment:
        """What is to be seen at a time [s]."""

    @property
    def charts(self) -> Mapping[str, tuple[Panel, ...]]:
        """The curves, by the tab that they stand in."""


def arrow_scales(largest: FloatArray, reach: float) -> tuple[float, float]:
    """Metres of an arrow for a newton and for a newton metre.

    Args:
        largest: (2,) force and torque that are shown [N, N m].
        reach: of the arm [m].
    """
    force, torque = np.maximum(largest, 1e-9).tolist()
    return ARROW * reach / force, 0.6 * ARROW * reach / torque
