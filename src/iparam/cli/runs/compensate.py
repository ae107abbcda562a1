"""`iparam compensate`: takes an identified load out of a recording's wrench."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.mounting import note_unstored
from iparam.cli.options.recorded_run import note_further
from iparam.files.kind import FileKind
from iparam.rounding import numbers


@dataclass(frozen=True, kw_only=True)
class Compensate(CorrectedRunOptions):
    r"""Take an identified load out of the wrench of a recording.

    So with the sensor's bias. What is left is what touches the tool.

    Example:
      iparam compensate run.parquet --result result.json --output clean.parquet
    """

    recording: Positional[Annotated[Path, arg(metavar="FILE")]]
    """The recording: .parquet, .csv, .npz or .mat."""
    result: Annotated[Path, arg(metavar="FILE")]
    """The load, from 'iparam identify payload --output': .json."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording without the load: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    zeroed: Annotated[bool, arg(help_behavior_hint="")] = False
    """The sensor was zeroed with the load on it, in the first pose of the recording."""
    accept_refuted: Annotated[bool, arg(help_behavior_hint="")] = False
    """Take it out even if its own data refute it."""
    json: AsJson = False

    def run(self) -> None:
        """Compensate, write and report."""
        estimate = iparam.Estimate.load(self.result)
        if not self.accept_refuted:
            estimate.require_credit(
                "a load is taken out of the wrench as if it were true, which --accept-refuted allows"
            )
        recording, robot = self.load_run(self.recording)
        correction = self.known_correction(recording, estimate.correction.for_another_run())
        clean = iparam.estimation.compensate_wrench(
            recording, robot, estimate, zeroed=self.zeroed, correction=correction
        )
        if self.setup is not None:
            clean = iparam.sensing.with_setup_stated(clean, iparam.sensing.Setup.load(self.setup))
        clean.save(self.output)
        note_unstored(clean, self.output)
        before, after = (np.sqrt(np.mean(part.signal("wrench").values ** 2, axis=0)) for part in (recording, clean))
        note_further(clean.remarks, recording)
        if self.json:
            print_json(
                {
                    "samples": clean.signal("wrench").num_samples,
                    "rms_before": {"force": before[:3], "torque": before[3:]},
                    "rms_after": {"force": after[:3], "torque": after[3:]},
                    "output": str(self.output),
                    "warnings": list(clean.warnings),
                    "remarks": [one.to_document() for one in clean.remarks],
                }
            )
            return
        print_line(f"load          {estimate.mass:.4f} kg ({estimate.method})")
        for title, values in (("before", before), ("after", after)):
            force, torque = " ".join(numbers(values[:3], 3)), " ".join(numbers(values[3:], 4))
            print_line(f"{title:<14}{force} N, {torque} N m rms")
        print_line(f"recording     {self.output}")
