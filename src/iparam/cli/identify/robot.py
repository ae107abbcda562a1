"""`iparam identify robot`: the inertial parameters of an arm, its rotors and its friction, from its logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import print_json, print_line, print_table, progress_bar
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.controller_logs import ControllerLogOptions
from iparam.cli.options.drives import print_drives
from iparam.cli.options.recorded_run import note_further
from iparam.errors import ContradictionError, InputError
from iparam.files.kind import FileKind
from iparam.rounding import NORMAL_95, number, numbers

if TYPE_CHECKING:
    from iparam.estimation.torque.robot_identification import RobotEstimate
    from iparam.estimation.torque.validation import TorquePrediction
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot

NAMES = {
    "identified": "identified",
    "ols": "plain least squares",
    "ols_textbook": "the same, textbook friction",
    "maker": "maker's figures",
}


@dataclass(frozen=True, kw_only=True)
class IdentifyRobot(ControllerLogOptions):
    r"""The arm itself, from logs of joint torques or motor currents without load.

    Base parameters, physically consistent links, rotor inertia and friction.

    Example:
      iparam identify robot excitation.csv --robot ur10e \
          --columns time,q,dq,current,target_current,target_torque \
          --validate other.csv --output arm.json --urdf arm.urdf
    """

    logs: Positional[Annotated[tuple[Path, ...], arg(metavar="LOG ..", help_behavior_hint="")]]
    """Logs of the bare arm: .parquet, .csv, .npz or .mat."""
    validate: Annotated[Path | None, arg(metavar="LOG", help_behavior_hint="")] = None
    """A log that is not used, to predict the torques of. --rows and --time-range are not about it."""
    validate_rows: Annotated[str | None, arg(metavar="A:B", help_behavior_hint="(default: all)")] = None
    """Rows of that log, as in --rows: with it, a part of the log itself can be held out."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.ARM)
    ] = None
    """File for the result: .json. Replaced if it exists."""
    urdf: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.URDF)
    ] = None
    """File for the identified arm: .urdf. Replaced if it exists."""
    overwrite: Overwrite = False

    def run(self) -> None:
        """Identify, print and write."""
        if not self.logs:
            raise InputError("give at least one log of the bare arm")
        self.check_drives()
        if self.validate is None and self.validate_rows is not None:
            raise InputError(f"--validate-rows {self.validate_rows} is about the log of --validate: give that, too")
        robot = self.load_robot()
        recordings = [self.load_log(path, robot) for path in self.logs]
        gains = self.found_gains(robot, recordings[0])
        held_out = None if self.validate is None else self._held_out(self.validate, robot, recordings)
        with progress_bar(f"fitting {robot.name}") as progress:
            found = iparam.identify_robot(
                recordings,
                robot,
                drive_gains=gains,
                compare=held_out is not None,
                progress=progress,
                **self.drive_settings(),
            )
        predictions = {} if held_out is None else found.validate(held_out)
        document = found.to_document()
        if predictions:
            document["validation"] = {name: _plain(one) for name, one in predictions.items()}
        if self.output is not None:
            iparam.files.write_json(self.output, document)
        if self.urdf is not None:
            names = {"damping": "viscous", "friction": "coulomb"}
            known = {name: found.friction[term] for name, term in names.items() if term in found.friction}
            dynamics = {name: np.nan_to_num(values) for name, values in known.items()}
            iparam.files.write_atomically(self.urdf, iparam.robot.robot_to_urdf(found.robot, dynamics))
        note_further(found.remarks, *recordings)
        if self.json:
            print_json(document)
        else:
            self._report(found, predictions)

    def _held_out(self, path: Path, robot: Robot, recordings: Sequence[Recording]) -> Recording:
        """The log to predict, none of whose time was fitted."""
        try:
            held_out = self.load_other_log(path, robot, self.validate_rows)
        except InputError as error:
            raise error.renamed({"rows": "validate_rows"}) from error
        end = held_out.start + held_out.duration
        for log, recording in zip(self.logs, recordings, strict=True):
            apart = end < recording.start or recording.start + recording.duration < held_out.start
            if log.samefile(path) and not apart:
                raise ContradictionError(
                    f"the arm is identified from {recording.start:.6g} to {recording.start + recording.duration:.6g} s "
                    f"of {log} and was to be validated with {held_out.start:.6g} to {end:.6g} s of it: that what was "
                    "fitted is predicted says nothing. Part the log by --rows and --validate-rows, or give another one"
                )
        return held_out

    def _report(self, found: RobotEstimate, predictions: dict[str, TorquePrediction]) -> None:
        print_table(
            f"{found.robot.name}: {len(found.base_names)} parameters that the torques determine [kg, m, N, rad, s]",
            ["parameter", "estimate", "+-95 %", "consistent"],
            [
                [name, *numbers([value, NORMAL_95 * standard_deviation, consistent], 4)]
                for name, value, standard_deviation, consistent in zip(
                    found.base_names, found.base_values, found.base_deviation, found.consistent_values, strict=True
                )
            ],
        )
        print_line()
        print_table(
            "Links, physically consistent",
            ["link", "mass [kg]", "centre of mass [mm]", "rotor [kg m^2]"],
            [
                [
                    joint.child,
                    number(phi[0], 3),
                    " ".join(numbers(1e3 * phi[1:4] / phi[0], 1)),
                    number(rotor, 3),
                ]
                for joint, phi, rotor in zip(
                    found.robot.moving_joints, found.link_parameters, found.rotor_inertia, strict=True
                )
            ],
        )
        print_line()
        print_drives(found.friction_terms, found.coupled_drives, 13)
        if found.feedback is not None and found.feedback.damping.any():
            damping = found.feedback.damping
            listed = " ".join(numbers(np.where(damping > 0.0, damping, np.nan), 3))
            print_line(f"feedback     {listed} N m s/rad, of the errors of the joints' own encoders")
        print_line(f"drive gains  {' '.join(numbers(found.drive_gains.values, 3))} {found.drive_gains.unit}".rstrip())
        print_line(f"residuals    {' '.join(numbers(found.fit_rms, 3))} N m, root mean square of each joint")
        if predictions:
            joints = [f"joint {j + 1}" for j in range(found.robot.num_joints)]
            print_line()
            print_table(
                f"Torques of {self.validate}, which was not used: norm of the residuals over that of the torques",
                ["model", *joints],
                [[NAMES[name], *numbers(one.relative, 4)] for name, one in predictions.items()],
            )
            print_table(
                "Root mean square of the residuals [N m]",
                ["model", *joints],
                [[NAMES[name], *numbers(one.rms, 3)] for name, one in predictions.items()],
            )
        for path in (self.output, self.urdf):
            if path is not None:
                print_line(f"written      {path}")


def _plain(prediction: TorquePrediction) -> dict[str, Any]:
    return {
        "rms": iparam.files.numbers_or_null(prediction.rms),
        "relative_residual": iparam.files.numbers_or_null(prediction.relative),
        "joint_moves": prediction.moves.tolist(),
        "samples": prediction.samples,
    }
