"""`iparam verify`: whether a result predicts a motion that was not used to find it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, print_json, print_line, print_table, say, say_refuted
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.recorded_run import note_further
from iparam.errors import IparamError
from iparam.rounding import NORMAL_95, number, numbers, percent

if TYPE_CHECKING:
    from iparam.estimation.assessment.verification import Verification

REPEATED = "this run follows the motion that the result was identified from, so that predicting it proves little"
_WIDTH = 100  # of a line

UNKNOWN = "the result does not say which motion it was identified from, and this run may follow the same"


@dataclass(frozen=True, kw_only=True)
class Verify(CorrectedRunOptions):
    r"""Predict the wrench of a motion that was not used, and compare.

    Exit code 0: within --threshold, --known-mass met, not refuted, another motion.

    Example:
      iparam verify result.json heldout.parquet
      iparam verify result.json heldout.parquet --known-mass 2.0
      iparam verify result.json heldout.csv --robot ur5e --threshold 1.5 --json
    """

    result: Positional[Annotated[Path, arg(metavar="RESULT")]]
    """The load, from 'iparam identify payload --output': .json."""
    recording: Positional[Annotated[Path, arg(metavar="RECORDING")]]
    """Another run with the same load: .parquet, .csv, .npz or .mat."""
    threshold: Annotated[float, arg(metavar="N")] = 2.0
    """Largest error (rms) that passes, by what noise, motion and result let expect."""
    keep_bias: Annotated[bool, arg(help_behavior_hint="")] = False
    """Use the result's sensor bias. By default six offsets are fitted: a bias changes."""
    known_mass: Annotated[float | None, arg(metavar="KG", help_behavior_hint="(default: not known)")] = None
    """What the load weighs on a scale [kg]: only this shows a gain that all channels share."""
    mass_tolerance: Annotated[float, arg(metavar="SHARE")] = 0.01
    """By which share of --known-mass the result may be off, besides its interval."""
    accept_same_motion: Annotated[bool, arg(help_behavior_hint="")] = False
    """Pass a run that follows the motion identified from, or may: errors that come with the poses repeat in it."""
    json: AsJson = False

    def run(self) -> None:
        """Compare and print."""
        estimate = iparam.Estimate.load(self.result)
        say_refuted(estimate)
        recording, robot = self.load_run(self.recording)
        found = iparam.estimation.verify_estimate(
            estimate,
            recording,
            robot,
            threshold=self.threshold,
            keep_bias=self.keep_bias,
            known_mass=self.known_mass,
            mass_tolerance=self.mass_tolerance,
            correction=self.known_correction(recording, estimate.correction.for_another_run()),
        )
        repeated = not found.other_motion and not self.accept_same_motion
        doubt = REPEATED if found.same_motion else UNKNOWN
        if not found.other_motion:
            say(f"WARNING: {doubt}.")
        note_further(found.remarks, recording)
        if self.json:
            print_json({**found.as_json(), "passed": found.passed and not repeated})
        else:
            self._report(found, repeated)
        if not found.passed:
            raise IparamError(found.sentence)
        if repeated:
            raise IparamError(
                f"{doubt}: verify with another one, say of another "
                "--duration or --q0 of the plan, or add --accept-same-motion"
            )

    def _report(self, found: Verification, repeated: bool) -> None:
        rows = [
            [
                f"{axis} [{unit}]",
                *numbers([found.rms[i], found.expected[i], found.signal[i]], 4),
                number(found.by_noise[i], 2),
                f"{percent(found.by_signal[i])}",
                "ok" if found.by_noise[i] <= found.threshold else "TOO LARGE",
            ]
            for i, (axis, unit) in enumerate(
                zip(iparam.estimation.AXIS_NAMES, iparam.estimation.AXIS_UNITS, strict=True)
            )
        ]
        title = f"Measured - predicted over {found.duration:.4g} s, {found.samples} samples"
        print_table(title, ["", "rms", "expected", "signal", "rms/expected", "rms/signal", ""], rows)
        print_line()
        offset = f"{' '.join(numbers(found.offset[:3], 3))} N, {' '.join(numbers(found.offset[3:], 4))} N m"
        levels = f"{' '.join(numbers(found.noise[:3], 3))} N, {' '.join(numbers(found.noise[3:], 4))} N m"
        print_line(f"noise     {levels} ({found.noise_source})")
        print_line(f"offset    {offset} ({'fitted' if found.offset_fitted else 'of the result'})")
        scale = f"{number(found.best_scale, 4)} +- {number(NORMAL_95 * found.scale_deviation, 4)} (95 %)"
        print_line(f"scale     {scale} times the predicted wrench of the load would fit best")
        if found.shared_motion is not None:
            which = "THE SAME as" if found.same_motion else "another than"
            shared = f"{100 * found.shared_motion:.0f} % of its poses are on that path"
            print_line(f"motion    {which} the one identified from ({shared})")
        if found.known_mass is not None:
            agreed = "agrees" if found.mass_right else "DOES NOT AGREE"
            print_line(f"mass      {number(found.mass, 4)} kg {agreed} with {found.known_mass:g} kg")
        if found.passed:
            head = "matches   " if repeated else "passed    "
            for line in wrap(f"{head}{found.sentence}", _WIDTH, subsequent_indent=" " * len(head)):
                print_line(line)
