"""What a page for planning by eye needs from outside: whether a sketch will do, a motion for it, and files of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from iparam.excitation.constraints.constraint import WorstMargin
from iparam.robot.collision.scene import CollisionScene
from iparam.trajectory.trajectory import Trajectory
from iparam.viewer.design.sketch import Sketch

Tell = Callable[[float, str], bool]
"""Given the share of the time that has passed and a sentence; False asks the search to end with what it has."""


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """What was found for a sketch.

    Attributes:
        motion: it.
        condition_number: of the regressor along it.
        margins: its least margins.
        notes: what else there is to say, one sentence each.
    """

    motion: Trajectory
    condition_number: float
    margins: tuple[WorstMargin, ...]
    notes: tuple[str, ...] = ()


class DesignWork(Protocol):
    """Who plans and writes."""

    def scene(self, sketch: Sketch) -> CollisionScene:
        """Arm, payload and the sketch's cell, for distances."""

    def objection(self, sketch: Sketch) -> str:
        """Why nothing can be planned for a sketch; empty if something can."""

    def plan(self, sketch: Sketch, tell: Tell) -> PlannedMotion:
        """The best motion for a sketch.

        Raises:
            IparamError: there is none.
        """

    def save(self, sketch: Sketch, planned: PlannedMotion | None) -> tuple[str, ...]:
        """Write the cell and, if there is one, the motion; the files' names, each with what it is."""
