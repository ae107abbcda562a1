"""`iparam excite random`: a random motion that hits nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import Suppress, arg

import iparam
from iparam.cli.console.printing import AsJson, live_line, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import PlanningOptions
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY

if TYPE_CHECKING:
    from iparam.excitation.search.random_search import RandomSearchResult, SearchProgress


@dataclass(frozen=True, kw_only=True)
class Random(PlanningOptions):
    r"""Draw random motions until one keeps every limit and hits nothing.

    They are Fourier series from rest to rest, smaller after every 20 refused ones.
    'iparam excite optimize' takes longer and finds motions that tell far more.

    Example:
      iparam excite random --robot ur5e --duration 10 --seed 0 \
          --payload-size 0.1 0.15 0.2 --output t.json
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.TRAJECTORY)]
    """File for the trajectory: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the random coefficients."""
    amplitude: Annotated[float, arg(metavar="RAD/S")] = 0.2
    """Bound of the first random coefficients."""
    max_attempts: Annotated[int, arg(metavar="N")] = 200
    """Motions to try."""
    json: AsJson = False
    # The base frequency is one over the duration, the start pose stays, and a preset has its own motion.
    base_freq: Annotated[float | None, Suppress] = None
    free_start: Annotated[bool, Suppress] = False
    preset: Annotated[Literal["reference"] | None, Suppress] = None

    def run(self) -> None:
        """Search and write."""
        robot = self.robot_model()
        gravity = self.given_gravity()
        problem = self.problem(robot, gravity)
        with live_line("preparing") as show:
            result = iparam.excitation.random_search(
                problem.q0,
                self.duration,
                problem.constraints,
                seed=self.seed,
                num_harmonics=self.harmonics,
                amplitude=self.amplitude,
                max_attempts=self.max_attempts,
                progress=None if show is None else lambda progress: show(_line(progress)),
                following=robot.following[0] if robot.couplings else None,
            )
        condition = iparam.excitation.condition_number(
            robot, result.trajectory, STANDARD_GRAVITY if gravity is None else gravity, problem.fps
        ).regressor
        self.write(self.output, problem, result.trajectory, condition if np.isfinite(condition) else None)
        self._report(result, condition)

    def _report(self, result: RandomSearchResult, condition: float) -> None:
        if self.json:
            print_json(
                {
                    "attempts": result.attempts,
                    "amplitude": result.amplitude,
                    "refusals": [{"reason": refusal.reason, "count": refusal.count} for refusal in result.refusals],
                    "condition_number": condition,
                    "output": str(self.output),
                }
            )
            return
        if result.refusals:
            rows = [[refusal.reason, str(refusal.count)] for refusal in result.refusals]
            print_table("Refused motions", ["reason", "count"], rows)
            print_line()
        print_line(f"attempts          {result.attempts}")
        print_line(f"amplitude         {result.amplitude:.4g} rad/s")
        print_line(f"condition number  {condition:.4g}")
        print_line(f"written           {self.output}")


def _line(progress: SearchProgress) -> str:
    """How the search goes."""
    last = progress.reason or "accepted"
    return f"motion {progress.attempts} of {progress.max_attempts}, {progress.amplitude:.3g} rad/s: {last}"
