"""The options of commands that look at a motion that exists: its file, and what the motion must keep."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, Suppress, arg

from iparam.cli.joint_state import note_other_arm
from iparam.cli.planning_options import PlanningOptions
from iparam.errors import InputError
from iparam.robot.scale import check_angles

if TYPE_CHECKING:
    from iparam.excitation.constraints import Constraint
    from iparam.robot.model import Robot
    from iparam.trajectory import Trajectory, TrajectoryFile


@dataclass(frozen=True, kw_only=True)
class PlannedMotionOptions(PlanningOptions):
    """The options; a command adds its own to them."""

    trajectory: Annotated[Positional[Path], arg(metavar="FILE")]
    """Trajectory: .json."""
    # The motion itself says these.
    q0: Annotated[tuple[float, ...], Suppress] = ()
    duration: Annotated[float, Suppress] = 10.0
    harmonics: Annotated[int, Suppress] = 5
    base_freq: Annotated[float | None, Suppress] = None
    free_start: Annotated[bool, Suppress] = False
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object, SI units, all digits."""

    def load(self) -> tuple[TrajectoryFile, Robot]:
        """The motion and the robot: that of --robot, else the file's."""
        from iparam.trajectory import load_trajectory

        planned = load_trajectory(self.trajectory)
        if not planned.robot and not self.robot and self.preset is None:
            raise InputError(f"{self.trajectory} does not say which robot it belongs to: add --robot")
        robot = self.robot_model(planned.robot)
        if planned.trajectory.num_joints != robot.num_joints:
            raise InputError(
                f"{self.trajectory} moves {planned.trajectory.num_joints} joints, {robot.name} has "
                f"{robot.num_joints}: name its own robot with --robot"
            )
        check_angles(planned.trajectory.evaluate(0.0).q[0], robot, str(self.trajectory))
        note_other_arm(planned.robot, robot, self.robot, str(self.trajectory))
        return planned, robot

    def constraints(self, trajectory: Trajectory, robot: Robot) -> tuple[Constraint, ...]:
        """What the motion must keep; displacements count from its own start."""
        start = tuple(np.degrees(trajectory.evaluate(0.0).q[0]).tolist())
        return dataclasses.replace(self, q0=start).problem(robot).constraints
