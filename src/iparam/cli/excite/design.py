"""`iparam excite design`: planning by eye, in the browser."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import Suppress, arg

import iparam
from iparam.cli.console.interruption import interruption
from iparam.cli.console.printing import note, print_line, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.excite.optimize import progress_line
from iparam.cli.options.page import PageOptions
from iparam.cli.options.planning import PlanningOptions, pose_units
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.excitation.search.optimizer import Progress
    from iparam.excitation.search.problem import ExcitationProblem
    from iparam.robot.collision.scene import CollisionScene
    from iparam.robot.model import Robot
    from iparam.trajectory import PlanConditions
    from iparam.viewer import PlannedMotion, Sketch
    from iparam.viewer.design.work import Tell


@dataclass(frozen=True, kw_only=True)
class Design(PlanningOptions, PageOptions):
    r"""Plan by eye: move the start pose and the cell in the browser, plan, look, save.

    A page on this machine until Ctrl-C. Nothing in it moves a real arm.

    What is saved is what 'iparam excite optimize' writes and --cell reads.

    Example:
      iparam excite design --robot ur5e --payload-size 0.1 0.15 0.2 \
          --payload-mass 2 --output t.json --cell-output cell.json
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.TRAJECTORY)]
    """File for the trajectory: .json. Replaced when the page saves."""
    cell_output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: in the trajectory only)"), Writes(FileKind.CELL)
    ] = None
    """File for the work cell: .json. Replaced when the page saves."""
    overwrite: Overwrite = False
    time_budget: Annotated[float, arg(metavar="S")] = 15.0
    """Time to search each time that the page plans [s]."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the random starts."""
    # The page's own start is what is seen, and a preset has its own.
    free_start: Annotated[bool, Suppress] = False
    preset: Annotated[Literal["reference"] | None, Suppress] = None

    def run(self) -> None:
        """Serve the page until Ctrl-C."""
        iparam.viewer.require_viser()
        if not (math.isfinite(self.time_budget) and self.time_budget > 0.0):
            raise InputError(f"--time-budget must be positive, got {self.time_budget:g}")
        self.check_page()
        robot = self.robot_model()
        conditions = self.conditions()
        work = _Planner(self, robot, conditions)
        sketch = iparam.viewer.Sketch(robot, self._begin(robot), conditions.cell)
        with interruption() as stop:
            server = iparam.viewer.DesignServer(
                sketch,
                work,
                payload=work.payload,
                clearance=conditions.limits.clearance,
                title=f"{robot.name}: planning by eye",
                gravity=self.given_gravity(),
                capsules=self.capsules,
                host=self.host,
                port=self.port,
            )
            try:
                for sentence in server.drawing.notes:
                    note(sentence)
                print_line(f"page      {server.link}")
                say("Ctrl-C ends it; nothing is written before Save is clicked")
                stop.wait()
            finally:
                server.close()
        if not work.saved:
            say("nothing was saved")

    def _begin(self, robot: Robot) -> FloatArray:
        """The pose that the page begins with: --q0, else the one that the planner would choose."""
        try:
            return np.asarray(self.problem(robot, self.given_gravity()).q0)
        except IparamError as error:  # the page is where that is put right
            note(str(error))
            return np.asarray(iparam.excitation.default_start(robot))


class _Planner:
    """What the page asks for, by the options of the command."""

    def __init__(self, options: Design, robot: Robot, conditions: PlanConditions) -> None:
        self._options, self._robot, self._conditions = options, robot, conditions
        carried = conditions.payload
        self.payload = () if carried is None else (iparam.robot.PayloadBox.from_size(carried.size, carried.center),)
        self.saved = False

    def _asked(self, sketch: Sketch) -> PlanConditions:
        return self._conditions.changed(cell=sketch.cell)

    def _problem(self, sketch: Sketch) -> ExcitationProblem:
        start = tuple((sketch.q0 / pose_units(self._robot)).tolist())
        options = dataclasses.replace(self._options, q0=start)
        return options.problem_under(self._asked(sketch), self._robot, options.given_gravity())

    def scene(self, sketch: Sketch) -> CollisionScene:
        """Arm, payload and cell."""
        return iparam.robot.collision_scene(self._robot, self.payload, sketch.cell)

    def objection(self, sketch: Sketch) -> str:
        """Why nothing can be planned for a sketch."""
        try:
            self._problem(sketch).check_start()
        except IparamError as error:
            return str(error)
        return ""

    def plan(self, sketch: Sketch, tell: Tell) -> PlannedMotion:
        """Search."""

        def show(progress: Progress) -> bool:
            return tell(min(progress.seconds / self._options.time_budget, 1.0), progress_line(progress))

        result = iparam.optimize_excitation(
            self._problem(sketch), seed=self._options.seed, time_budget=self._options.time_budget, progress=show
        )
        notes = ["stopped: the best motion until then"] if result.interrupted else []
        return iparam.viewer.PlannedMotion(
            result.trajectory, result.condition_number, result.margins, (*notes, *result.failures)
        )

    def save(self, sketch: Sketch, planned: PlannedMotion | None) -> tuple[str, ...]:
        """Write what there is."""
        options, written = self._options, []
        if planned is not None:
            problem, asked = self._problem(sketch), self._asked(sketch)
            options.write(options.output, problem, planned.motion, planned.condition_number, asked)
            written.append(f"{options.output} (trajectory)")
        if options.cell_output is not None:
            iparam.robot.save_cell(options.cell_output, sketch.cell)
            written.append(f"{options.cell_output} (work cell)")
        if not written:
            raise InputError("there is no motion yet: click Plan first (--cell-output writes the cell alone)")
        self.saved = True
        for name in written:
            print_line(f"written   {name}")
        return tuple(written)
