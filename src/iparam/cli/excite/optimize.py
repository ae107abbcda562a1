"""`iparam excite optimize`: the motion that tells most about a payload, within the limits of arm and cell."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, live_line, note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import PlanningOptions, note_shapes_beyond_preset
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.rounding import number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from iparam.excitation.constraints.constraint import WorstMargin
    from iparam.excitation.information.information import Information
    from iparam.excitation.search.optimizer import OptimizationResult, Progress
    from iparam.robot.model import Robot


@dataclass(frozen=True, kw_only=True)
class Optimize(PlanningOptions, SchedulerOptions):
    r"""Plan the motion that tells most about a payload, within all limits.

    What is written keeps every limit at 1000 samples a second.

    Ctrl-C ends the search and keeps the best motion so far.

    Example:
      iparam excite optimize --robot ur5e --payload-size 0.1 0.15 0.2 \
          --payload-mass 2 --time-budget 30 --output t.json
      iparam excite optimize --preset reference --time-budget 120 --output t.json
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.TRAJECTORY)]
    """File for the trajectory: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    criterion: Literal["kappa", "d", "a", "e"] = "kappa"
    """What to minimise: condition number, or D-, A- or E-optimality."""
    identify: Literal["payload", "robot"] = "payload"
    """What the motion is for: the payload's wrench, or the arm's own joint torques."""
    noise: Annotated[str | None, arg(metavar="PRESET", help_behavior_hint="(default: raw SI units)")] = None
    """Weight the wrench by a sensor's noise: ur5e or harsh."""
    relative: Annotated[bool, arg(help_behavior_hint="")] = False
    """Count each parameter in units of its expected size."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the random starts."""
    starts: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: as many as the time allows)")] = None
    """Random starts. With a number, the result does not depend on the machine's speed."""
    time_budget: Annotated[float | None, arg(metavar="S", help_behavior_hint="(default: 30 without --starts)")] = None
    """Time to search [s]."""
    json: AsJson = False

    def run(self) -> None:
        """Plan and write."""
        robot, gravity = self.robot_model(), self.given_gravity()
        problem = dataclasses.replace(
            self.problem(robot, gravity),
            criterion=iparam.excitation.Criterion(self.criterion),
            information=self._information(robot, STANDARD_GRAVITY if gravity is None else gravity),
        )
        if self.identify == "payload" and problem.information.size < 10:
            note(
                f"{robot.name} cannot turn its tool about all axes: of a payload's ten parameters it can tell "
                f"{problem.information.size} combinations, and the motion is planned for those"
            )
        with self.executor() as executor, live_line("starting the workers") as show:
            result = iparam.optimize_excitation(
                problem,
                seed=self.seed,
                starts=self.starts,
                time_budget=self.time_budget,
                executor=executor,
                progress=None if show is None else lambda progress: show(progress_line(progress)),
            )
        if self.preset is not None:
            boxes = (iparam.excitation.SphereChecker().payload,)
            note_shapes_beyond_preset(result.trajectory, robot, boxes, self.conditions())
        checked = self.write(self.output, problem, result.trajectory, result.condition_number)
        if result.interrupted:
            note("interrupted: this is the best motion found until then")
        for reason in result.failures:
            note(f"not every start came to an end: {reason}. This is the best motion of those that did")
        self._report(result, checked.margins)

    def _information(self, robot: Robot, gravity: ArrayLike) -> Information:
        """What is to be identified, in the units that the options ask for, under gravity (3,)."""
        if self.identify == "robot":
            if self.noise is not None:
                raise InputError("--noise weights the wrench of a payload; it has no meaning with --identify robot")
            arm = iparam.excitation.TorqueInformation.of_robot(robot, gravity=gravity)
            return dataclasses.replace(arm, column_scales=iparam.excitation.arm_scales(arm)) if self.relative else arm
        payload = iparam.excitation.WrenchInformation(robot, gravity=gravity_vector(gravity))
        if self.noise is not None:
            deviations = iparam.sensing.MeasurementNoise.from_model(iparam.noise_preset(self.noise)).wrench
            payload = dataclasses.replace(payload, row_weights=1.0 / deviations**2)
        if self.relative:
            carried = self.conditions().payload
            guess = None if carried is None else carried.parameters
            if guess is None:
                raise InputError("--relative needs a guess of the payload: add --payload-mass and --payload-size")
            payload = dataclasses.replace(payload, column_scales=iparam.excitation.payload_scales(guess))
        return payload

    def _report(self, result: OptimizationResult, margins: tuple[WorstMargin, ...]) -> None:
        if self.json:
            print_json(
                {
                    "condition_number": result.condition_number,
                    "criterion": self.criterion,
                    "value": result.value,
                    "starts": [
                        {"index": s.index, "initial": s.initial, "final": s.final, "seconds": s.seconds}
                        for s in result.starts
                    ],
                    "n_evaluations": result.n_evaluations,
                    "seconds": result.seconds,
                    "interrupted": result.interrupted,
                    "failures": list(result.failures),
                    "margins": {margin.constraint: margin.margin for margin in margins},
                    "output": str(self.output),
                }
            )
            return
        rows = [[m.constraint, number(m.margin, 4), m.unit, number(m.time, 3), m.label] for m in margins]
        print_table("Least margins at 1000 samples a second", ["constraint", "margin", "unit", "at [s]", "where"], rows)
        print_line()
        finals = sorted(start.final for start in result.starts)
        print_line(f"condition number  {result.condition_number:.4f}")
        if self.criterion != "kappa":
            print_line(f"criterion {self.criterion.upper()}       {result.value:.4f}")
        print_line(
            f"starts            {len(finals)}, from {finals[0]:.4f} to {finals[-1]:.4f}, in {result.seconds:.1f} s"
        )
        print_line(f"written           {self.output}")


def progress_line(progress: Progress) -> str:
    """How the search goes."""
    best = f"best {progress.best:.4f}, valid" if progress.best < 1e300 else "nothing valid yet"
    remaining = "" if progress.time_left == float("inf") else f", {progress.time_left:.0f} s left"
    return f"{progress.finished} starts done, {best}{remaining}"
