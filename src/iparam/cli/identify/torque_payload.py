"""`iparam identify torque-payload`: the load from a run without it and a run with it, without a force sensor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.fixes import as_options
from iparam.cli.console.printing import (
    doubts_told_once,
    fail_refuted,
    listed_in_table,
    print_json,
    print_line,
    progress_bar,
    say_refuted,
)
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.controller_logs import ControllerLogOptions
from iparam.cli.options.drives import print_drives
from iparam.cli.options.recorded_run import note_further
from iparam.estimation.estimate_table import doubt_rows, estimate_lines, verdict_row
from iparam.files.kind import FileKind
from iparam.rounding import NORMAL_95, number, numbers

if TYPE_CHECKING:
    from iparam.estimation.torque.payload_from_torque import TorquePayloadEstimate


@dataclass(frozen=True, kw_only=True)
class IdentifyTorquePayload(ControllerLogOptions):
    r"""The load from joint torques or currents of a bare and a loaded run.

    The runs need not follow the same motion.

    Drive gains come from target torques and currents where the logs have them.

    Example:
      iparam identify torque-payload --bare bare.csv --loaded loaded.csv \
          --robot ur10e --columns time,q,dq,current,target_current,target_torque \
          --output result.json
    """

    bare: Annotated[Path, arg(metavar="FILE")]
    """Log of the arm without load: .parquet, .csv, .npz or .mat."""
    loaded: Annotated[Path, arg(metavar="FILE")]
    """Log of the arm with the load."""
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.RESULT)
    ] = None
    """File for the result: .json. Replaced if it exists."""
    overwrite: Overwrite = False

    @doubts_told_once()
    def run(self) -> None:
        """Identify, print and write."""
        self.check_drives()
        robot = self.load_robot()
        bare, loaded = self.load_log(self.bare, robot), self.load_log(self.loaded, robot)
        gains = self.found_gains(robot, bare)
        with progress_bar(f"fitting {robot.name} and its load") as progress:
            found = iparam.identify_payload_from_torque(
                bare, loaded, robot, drive_gains=gains, progress=progress, **self.drive_settings()
            )
        if self.output is not None:
            found.save(self.output)
        say_refuted(found.estimate)
        note_further(found.estimate.remarks, bare, loaded)
        if self.json:
            print_json(found.to_document())
        else:
            self._report(found)
        fail_refuted(found.estimate, self.output)

    def _report(self, found: TorquePayloadEstimate) -> None:
        estimate, standard_deviation = found.estimate, found.estimate.standard_deviation
        low, high = found.mass_interval
        moments = np.linalg.eigvalsh(estimate.inertia_about_com)
        print_line("{:<14} {}".format(*verdict_row(estimate)))
        center, scatter = 1e3 * estimate.center_of_mass, 1e3 * NORMAL_95 * standard_deviation.center_of_mass
        print_line(f"mass           {number(estimate.mass, 4)} kg, 95 % within {number(low, 3)}..{number(high, 3)}")
        print_line(f"centre of mass {' '.join(numbers(center, 1))} mm +- {' '.join(numbers(scatter, 1))} (95 %)")
        print_line(f"inertia        {' '.join(numbers(moments, 4))} kg m^2, principal moments about the centre of mass")
        print_line(f"consistent     {'yes' if estimate.physically_consistent else 'no'}")
        print_drives(found.friction_terms, found.coupled_drives, 15)
        print_line(f"drive gains    {' '.join(numbers(found.drive_gains.values, 3))} {found.drive_gains.unit}".rstrip())
        print_line(f"residuals      {' '.join(numbers(found.torque_rms, 3))} N m, root mean square of each joint")
        print_line(f"samples        {estimate.samples}")
        listed_in_table(estimate.remarks)
        for line in estimate_lines(estimate, as_options, doubt_rows(estimate, as_options)):
            print_line(line)
        if self.output is not None:
            print_line(f"result         {self.output}")
