"""`iparam calibrate sensor`: what a force/torque sensor does to a wrench, from loads that are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.payload import read_load
from iparam.cli.options.recorded_run import Motion, motion_source, note_further
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.rounding import NORMAL_95, number, numbers

if TYPE_CHECKING:
    from iparam.estimation.corrections.sensor_calibration import SensorCalibration

NOTABLE = 3.0
"""Standard deviations from which a crosstalk is shown."""


@dataclass(frozen=True, kw_only=True)
class CalibrateSensor(CorrectedRunOptions):
    r"""Gains, crosstalk, turn and place of a wrist sensor, from loads that are known.

    The load is all that is behind the sensor, known by a scale and a drawing.

    Example:
      iparam calibrate sensor run.parquet --known-load weight.json \
          --output sensor.json
      iparam calibrate sensor a.parquet b.parquet --known-load a.json b.json
      iparam identify payload other.parquet --sensor sensor.json
    """

    recordings: Positional[Annotated[tuple[Path, ...], arg(metavar="FILE ..", help_behavior_hint="")]]
    """Runs that excite the known loads: .parquet, .csv, .npz or .mat."""
    known_load: Annotated[tuple[Path, ...], arg(metavar="FILE ..")]
    """The load of each run, or of all: a truth or result file, .json, in the tool frame."""
    motion: Motion = "kalman"
    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: not written)"), Writes(FileKind.SENSOR)
    ] = None
    """File for the calibration: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    def run(self) -> None:
        """Calibrate, print and write."""
        if not self.recordings:
            raise InputError("no run was given: name at least one recording")
        if self.sensor is not None:
            raise InputError("--sensor is what is calibrated here: leave it out")
        if len(self.known_load) not in (1, len(self.recordings)):
            raise InputError(
                f"--known-load has {len(self.known_load)} files for {len(self.recordings)} runs: give one for each, or "
                "one for all"
            )
        runs = [self.load_run(path) for path in self.recordings]
        robot = runs[0][1]
        correction, *others = [self.known_correction(run, iparam.sensing.Correction()) for run, _ in runs]
        if any(other != correction for other in others):
            raise InputError(
                f"the setup has been applied to some of the {len(runs)} runs and not to others: import or record all "
                "with it, or none"
            )
        loads = []
        for path in self.known_load:
            load, measurements = read_load(path, robot)
            if any(run.signal("wrench").fingerprint in measurements for run, _ in runs if run.has("wrench")):
                raise InputError(
                    f"{path} was identified from this very run: a sensor is not calibrated by what it measured itself"
                )
            if measurements:
                note(f"{path} was identified, not weighed: its own errors are not in the intervals")
            loads.append(load)
        found = iparam.estimation.calibrate_sensor(
            [run for run, _ in runs],
            robot,
            loads * (len(runs) if len(loads) == 1 else 1),
            motion=motion_source(self.motion),
            correction=correction,
        )
        if self.output is not None:
            found.save(self.output)
        note_further(found.remarks, *(run for run, _ in runs))
        if self.json:
            print_json(found.to_document())
        else:
            self._report(found)

    def _report(self, found: SensorCalibration) -> None:
        figures, deviations = found.figures, found.standard_deviation
        channels = iparam.sensing.WRENCH_CHANNELS
        rows = [
            [f"gain {name}", *numbers([value, NORMAL_95 * deviation], 5), ""]
            for name, value, deviation in zip(channels, figures.gains, deviations.gains, strict=True)
        ]
        for axis, value, deviation in zip(("roll", "pitch", "yaw"), figures.rotation, deviations.rotation, strict=True):
            rows.append([axis, *numbers([value, NORMAL_95 * deviation], 3), "deg"])
        for axis, value, deviation in zip("xyz", figures.offset, deviations.offset, strict=True):
            rows.append([f"origin {axis}", *numbers([1e3 * value, 1e3 * NORMAL_95 * deviation], 2), "mm"])
        for i, to in enumerate(channels):
            for j, source in enumerate(channels):
                value, deviation = figures.crosstalk[i, j], deviations.crosstalk[i, j]
                if abs(value) > NOTABLE * deviation > 0.0:
                    unit = {(0, 1): "1/m", (1, 0): "m"}.get((i // 3, j // 3), "")
                    rows.append([f"{source} in {to}", number(value, 5), number(NORMAL_95 * deviation, 5), unit])
        print_table(f"Sensor at {found.frame}, {found.samples} samples", ["", "value", "+-95 %", ""], rows)
        print_line()
        residual = iparam.estimation.Wrench(found.residual_rms[:3], found.residual_rms[3:])
        print_line(f"residual   {residual} rms")
        if self.output is not None:
            print_line(f"sensor     {self.output}: use it with --sensor")
