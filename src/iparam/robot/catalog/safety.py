"""`SafetyLimits`: what a controller's safety configuration allows an arm, as the maker delivers it."""

from __future__ import annotations

from dataclasses import dataclass, replace

SPEED_TOLERANCE = 0.15
"""A controller keeps motions so far below its limits on speed [m/s]: user manual UR5/CB3 3.4.5, section 10.4."""

MOMENTUM_TOLERANCE = 3.0
"""Accuracy of the limit on momentum [kg m/s]: user manual UR5e, table of the configurable safety functions."""


@dataclass(frozen=True, kw_only=True)
class SafetyLimits:
    """What a controller enforces by itself; None for a limit that does not exist, or is not known.

    Two limits of UR controllers are left out. That on power counts the work done on what the arm touches: a free motion
    does none. For that on the stopping time the controller slows motions down by figures that are not published.

    Attributes:
        tool_speed: of the flange and of the tool positions, in the base frame [m/s].
        stopping_distance: that tool and elbow may travel while they are stopped [m].
        elbow_speed: of the elbow [m/s].
        momentum: length of the sum of mass times velocity of the arm and its load [kg m/s].
    """

    tool_speed: float
    stopping_distance: float
    elbow_speed: float | None = None
    momentum: float | None = None

    @property
    def planned(self) -> SafetyLimits:
        """What a motion may use of them: less the controller's tolerances."""
        return replace(
            self,
            tool_speed=self.tool_speed - SPEED_TOLERANCE,
            elbow_speed=None if self.elbow_speed is None else self.elbow_speed - SPEED_TOLERANCE,
            momentum=None if self.momentum is None else self.momentum - MOMENTUM_TOLERANCE,
        )

    def with_tool_speed(self, speed: float) -> SafetyLimits:
        """The same with another limit on the tool's speed [m/s]; a higher one raises the others in proportion."""
        share = max(1.0, speed / self.tool_speed)
        return replace(
            self,
            tool_speed=speed,
            elbow_speed=None if self.elbow_speed is None else share * self.elbow_speed,
            momentum=None if self.momentum is None else share * self.momentum,
        )


DELIVERED = SafetyLimits(tool_speed=1.5, stopping_distance=0.5)
"""Of an arm of Universal Robots that the catalogue does not know."""
