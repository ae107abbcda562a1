"""`iparam excite poses`: a few poses to rest in, for the quick identification without a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson, note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import PlanningOptions, pose_units
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.rounding import number, numbers


@dataclass(frozen=True, kw_only=True)
class Poses(PlanningOptions):
    r"""Choose a few poses to rest in, to identify a load without moving it fast.

    Rests tell mass, centre of mass and bias, and nothing of the inertia.

    Only the wrist moves. The straight joint-space ways between poses hit nothing.

    Options about time and speed have no effect here.

    Example:
      iparam excite poses --robot ur5e --payload-size 0.1 0.15 0.2 \
          --output poses.json
      iparam identify payload run.parquet --static
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.POSES)]
    """File for the poses: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    count: Annotated[int, arg(metavar="N")] = 6
    """How many poses, at least 4."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the random poses to choose from."""
    json: AsJson = False

    def run(self) -> None:
        """Choose, write and print."""
        robot = self.robot_model()
        gravity = self.given_gravity()
        used = STANDARD_GRAVITY if gravity is None else gravity
        chosen = iparam.excitation.choose_poses(self.problem(robot, gravity), self.count, self.seed, used)
        replace(chosen, robot=self.robot or robot.name, gravity=gravity).save(self.output)
        if len(chosen.poses) < self.count:
            note(f"the constraints leave room for {len(chosen.poses)} poses only, not {self.count}")
        if self.json:
            print_json(
                {
                    "robot": robot.name,
                    "poses": chosen.poses,
                    "gravity_in_tool": chosen.gravity_in_tool,
                    "condition_number": chosen.condition_number,
                    "travel": chosen.travel,
                    "margins": {margin.constraint: margin.margin for margin in chosen.margins},
                }
            )
            return
        unit = pose_units(robot)
        rows = [
            [str(place), " ".join(numbers(pose / unit, 1)), " ".join(numbers(gravity, 2))]
            for place, (pose, gravity) in enumerate(zip(chosen.poses, chosen.gravity_in_tool, strict=True), 1)
        ]
        joints = "joints [deg, m]" if robot.chain.prismatic.any() else "joints [deg]"
        print_table("Poses to rest in, in this order", ["pose", joints, "gravity in the tool"], rows)
        print_line()
        print_line(f"condition   {number(chosen.condition_number, 2)} (1.22 is the least there is)")
        print_line(f"travel      {number(np.degrees(chosen.travel), 0)} deg")
        print_line(f"poses       {self.output}")
        print_line("Rest 1 s or longer in each and record all of it, then:")
        print_line("  iparam identify payload FILE --static")
