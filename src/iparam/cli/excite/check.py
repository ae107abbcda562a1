"""`iparam excite check`: whether a trajectory keeps every limit, and how much room it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import print_json, print_line, print_table
from iparam.cli.options.planning import PlannedMotionOptions, note_shapes_beyond_preset
from iparam.errors import IparamError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.excitation.constraints.validation import Validation
    from iparam.excitation.information.condition import ConditionNumber


@dataclass(frozen=True, kw_only=True)
class Check(PlannedMotionOptions):
    r"""Check a trajectory against the limits of arm, payload and cell.

    The exit code is 0 only if all hold at 1000 samples a second, with no tolerance.

    Payload, cell, clearance and limits are the file's, but for options given.

    Example:
      iparam excite check t.json
      iparam excite check t.json --payload-size 0.1 0.15 0.2 --payload-mass 3
      iparam excite check t.json --preset reference --json
    """

    rate: Annotated[float, arg(metavar="HZ")] = 1000.0
    """Samples a second to look at."""
    moving_ends: Annotated[bool, arg(help_behavior_hint="")] = False
    """Accept a motion that does not start and end at rest."""

    def run(self) -> None:
        """Check and print."""
        planned, robot = self.load()
        conditions, gravity = self.conditions(planned.conditions), self.agreed_gravity(planned)
        constraints = self.constraints(planned.trajectory, robot, conditions, gravity)
        condition = iparam.excitation.condition_number(
            robot, planned.trajectory, STANDARD_GRAVITY if gravity is None else gravity, planned.fps
        )
        result = iparam.excitation.validate(
            planned.trajectory, constraints, self.rate, require_rest=not self.moving_ends
        )
        usable = iparam.excitation.usable_limits(robot, conditions.limits)
        if conditions.preset:
            box = conditions.payload
            boxes = () if box is None else (iparam.PayloadBox.from_size(box.size, box.center),)
            note_shapes_beyond_preset(planned.trajectory, robot, boxes, conditions)
        untested = next((c.untested for c in constraints if isinstance(c, iparam.excitation.DistanceConstraint)), ())
        if self.json:
            print_json(
                {
                    "robot": robot.name,
                    "tool_frame": robot.tool_frame,
                    "duration": planned.trajectory.duration,
                    "condition_number": condition.regressor,
                    "condition_number_of_gram": condition.gram,
                    "condition_number_stated": planned.condition_number,
                    "conditions": conditions.to_config(),
                    **result.as_json(),
                    "limits_not_given": usable.as_json(),
                    "untested_pairs": [list(pair) for pair in untested],
                }
            )
        else:
            _print(result, condition, planned.condition_number, "" if conditions.preset else usable.reservation)
            if untested:
                pairs = ", ".join(f"{one} - {other}" for one, other in untested)
                print_line(f"{'untested':<8} always touching, or never: {pairs}; nor links that share a joint")
        if not result.satisfied:
            moving = not self.moving_ends and not (result.start.at_rest and result.end.at_rest)
            advice = ". With --blend S it starts and ends at rest" if moving else ""
            raise IparamError(f"{self.trajectory} is not valid: {'; '.join(result.violations)}{advice}")


def _print(result: Validation, condition: ConditionNumber, stated: float | None, reservation: str) -> None:
    rows = [
        [m.constraint, number(m.margin, 4), m.unit, number(m.time, 3), m.label, "ok" if m.margin >= 0.0 else "VIOLATED"]
        for m in result.margins
    ]
    title = f"Least margins at {result.rate:g} samples a second"
    print_table(title, ["constraint", "margin", "unit", "at [s]", "where", ""], rows)
    print_line()
    for name, end in (("start", result.start), ("end", result.end)):
        rest = "at rest" if end.at_rest else f"{end.velocity:.4g} rad/s, {end.acceleration:.4g} rad/s^2"
        print_line(f"{name:<8}{rest}")
    said = "" if stated is None else f"; the file says {stated:.5g}"
    print_line(f"condition number  {condition}{said}")
    kept = f"all limits kept{'; ' if reservation else ''}{reservation}"
    print_line(f"{'result':<8}{kept if result.satisfied else 'NOT valid'}")
