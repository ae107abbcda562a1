"""`iparam doctor`: the checks of a recording, before anything is identified from it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.fixes import corrected
from iparam.cli.console.printing import AsJson, print_json, print_line
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.payload import read_result
from iparam.cli.options.recorded_run import Bias, Motion, bias_of, motion_source
from iparam.errors import IparamError
from iparam.printable import printable

if TYPE_CHECKING:
    from iparam.estimation.checkup.check import Check, Checkup, Level
    from iparam.robot.model import Robot

_COLORS = {"": "", "green": "\x1b[32m", "amber": "\x1b[33m", "red": "\x1b[31m"}
_WIDTH, _LEVEL, _NAME = 80, 7, 12


@dataclass(frozen=True, kw_only=True)
class Doctor(CorrectedRunOptions):
    r"""What a recording holds, and what identify makes of it: green, amber or red.

    The exit code is 1 if something is red. Corrections can be tried out.

    Example:
      iparam doctor run.parquet
      iparam doctor run.csv --robot ur5e --sensor-rotation 0 0 90
      iparam doctor run.parquet --setup setup.toml
    """

    recording: Positional[Annotated[Path, arg(metavar="FILE")]]
    """The recording: .parquet, .csv, .npz or .mat."""
    motion: Motion = "kalman"
    bias: Bias = "estimate"
    setup: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: none)")] = None
    """Options from a file of 'iparam setup', which is held against the recording: .toml."""
    json: AsJson = False

    def run(self) -> None:
        """Check and print."""
        recording, robot = self.load_run(self.recording)
        found = iparam.estimation.examine_recording(
            recording,
            robot,
            motion=motion_source(self.motion),
            bias=bias_of(self.bias, recording),
            correction=self.correction(recording),
        )
        if self.setup is not None:
            more = self._setup_checks(self.setup, found, recording, robot)
            found = dataclasses.replace(found, checks=(*found.checks, *more))
        if self.json:
            print_json({"recording": str(self.recording), **found.to_document()})
        else:
            self._report(found)
        if found.level == "red":
            count = found.count("red")
            raise IparamError(
                f"{count} check{'s are' if count > 1 else ' is'} red: do not believe a load from this run"
            )

    def _setup_checks(self, path: Path, found: Checkup, recording: iparam.Recording, robot: Robot) -> Iterator[Check]:
        setup = iparam.sensing.Setup.load(path)
        if setup.gripper is not None and found.estimate is not None and found.estimate.refutation is None:
            gripper, frame = read_result(setup.gripper)
            yield iparam.estimation.check_gripper(found.estimate, gripper, robot, frame, str(setup.gripper))
        yield iparam.estimation.check_setup(setup, found, recording, str(path))

    def _report(self, found: Checkup) -> None:
        for check in found.checks:
            self._print(check.level, check.name, corrected(check.finding, check.fix))
        for cause in found.causes:
            self._print("", "cause", corrected(cause.sentence, cause.fix))

    def _print(self, level: Level, name: str, text: str) -> None:
        lines = wrap(printable(text), _WIDTH - _LEVEL - _NAME) or [""]
        shown = f"{level:<{_LEVEL}}"
        shown = f"{_COLORS[level]}{shown}\x1b[0m" if sys.stdout.isatty() else shown
        sys.stdout.write(f"{shown}{name:<{_NAME}}{lines[0]}\n")
        for line in lines[1:]:
            print_line(f"{'':<{_LEVEL + _NAME}}{line}")
