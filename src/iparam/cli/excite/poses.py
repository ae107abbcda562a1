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
from iparam.cli.options.shape import ShapeOptions
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.rounding import NORMAL_95, number, numbers, percent

REST_SAMPLES = 500
"""Of a rest of a second, whose mean counts."""


@dataclass(frozen=True, kw_only=True)
class Poses(PlanningOptions, ShapeOptions):
    r"""Choose a few poses to rest in, to identify a load without moving it fast.

    Rests tell mass, centre of mass and bias; with a --shape the inertia, too.

    Only the wrist moves. The straight joint-space ways between poses hit nothing.

    Options about time and speed have no effect here.

    Example:
      iparam excite poses --robot ur5e --payload-size 0.1 0.15 0.2 \
          --output poses.json
      iparam identify payload run.parquet --static
      iparam excite poses --robot ur5e --shape part.stl --payload-mass 2 \
          --output poses.json
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.POSES)]
    """File for the poses: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    count: Annotated[int, arg(metavar="N")] = 6
    """How many poses, at least 4."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """Of the random poses to choose from."""
    json: AsJson = False

    noise: Annotated[str, arg(metavar="PRESET")] = "ur5e"
    """With --shape: noise of the sensor in rests of 1 s at 500 Hz: ur5e or harsh."""

    def run(self) -> None:
        """Choose, write and print."""
        shape = self.known_shape()
        known = self.with_stated_mass(shape)
        if shape is not None and known.payload_mass is None:
            raise InputError(
                "--shape says where the load is and not how heavy: add a guess, --payload-mass [kg], or the densities "
                "of all parts, --density"
            )
        known.with_box_of(shape)._choose(shape)

    def _criterion(self, shape: iparam.estimation.Shape) -> iparam.excitation.RestCriterion:
        phi, covariance = iparam.estimation.shape_moments(shape, self.payload_mass or 0.0)
        noise = iparam.sensing.MeasurementNoise.from_model(iparam.noise_preset(self.noise)).wrench
        body = iparam.InertialParameters.from_phi(phi)
        return iparam.excitation.RestCriterion(body, covariance, noise / np.sqrt(REST_SAMPLES))

    def _choose(self, shape: iparam.estimation.Shape | None) -> None:
        if shape is not None:
            self.check_box(shape, self.conditions().payload)
        criterion = None if shape is None else self._criterion(shape)
        robot = self.robot_model()
        gravity = self.given_gravity()
        used = STANDARD_GRAVITY if gravity is None else gravity
        chosen = iparam.excitation.choose_poses(self.problem(robot, gravity), self.count, self.seed, used, criterion)
        expected = None
        if shape is not None and criterion is not None:
            rests = criterion.by_rests_alone(iparam.excitation.regressors_at_rest(robot, chosen.poses, used))
            expected = criterion.relative(
                iparam.estimation.expected_with_shape(shape, rests, self.payload_mass or criterion.payload.mass)
            )
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
                    **({} if expected is None else {"relative_inertia": expected}),
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
        if expected is not None:
            print_line(f"inertia     +-{percent(NORMAL_95 * expected)} (95 %) expected with the shape")
        print_line(f"poses       {self.output}")
        print_line("Rest 1 s or longer in each and record all of it, then:")
        print_line(f"  iparam identify payload FILE --static{self.typed_shape()}")
