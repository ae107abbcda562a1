"""`iparam identify payload`: from a recording to the mass, centre of mass and inertia of what the arm carried."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import (
    AsJson,
    doubts_told_once,
    fail_refuted,
    note,
    print_estimate,
    print_json,
    print_line,
    print_table,
    say_refuted,
)
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.payload import read_load, read_result
from iparam.cli.options.recorded_run import Bias, Motion, bias_of, motion_source, note_further
from iparam.cli.options.shape import ShapeOptions
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.rounding import NORMAL_95, number, numbers

if TYPE_CHECKING:
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot

Method = Literal["consistent", "ls", "wls", "tls", "rls", "riv", "rtls", "robust", "logchol", "all"]


@dataclass(frozen=True, kw_only=True)
class IdentifyPayload(CorrectedRunOptions, ShapeOptions):
    r"""Mass, centre of mass and inertia of what the arm carried in a recording.

    Example:
      iparam identify payload run.parquet --robot ur5e --output result.json
      iparam identify payload run.parquet --method all
      iparam identify payload rests.parquet --static
      iparam identify payload slow.parquet --shape part.stl
      iparam identify payload wrench.csv --orientation orientation.csv
    """

    recording: Positional[Annotated[Path, arg(metavar="FILE")]]
    """The recording: .parquet, .csv, .npz or .mat."""
    method: Method = "consistent"
    """The estimator; 'all' prints a table of all of them."""
    bias: Bias = "estimate"
    motion: Motion = "kalman"
    tolerances: Annotated[
        Literal["exact", "calibrated", "lab"] | None, arg(help_behavior_hint="(default: exact if simulated, else lab)")
    ] = None
    """How far arm and sensor may be from what is stated of them."""
    prior: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A guess of the load for --method logchol: a truth or result file, .json."""
    orientation: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A second recording with the orientation of the sensor, stamped by the same clock, its columns named."""
    static: Annotated[bool, arg(help_behavior_hint="")] = False
    """Use the rests only: mass, centre of mass and bias; the inertia with a --shape only."""
    gripper: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Load of the gripper alone: what it holds is printed besides the whole, which --output keeps: .json."""
    output: Annotated[
        Path | None,
        arg(metavar="FILE", help_behavior_hint="(default: not written)"),
        Writes(lambda options: options.written_kind),
    ] = None
    """File for the result: .json. Replaced if it exists."""
    overwrite: Overwrite = False
    json: AsJson = False

    @property
    def written_kind(self) -> FileKind:
        """What --output will be."""
        return FileKind.STATIC_RESULT if self.static and not self.names_shape else FileKind.RESULT

    @doubts_told_once()
    def run(self) -> None:
        """Identify, print and write."""
        if self.method == "all" and self.output is not None:
            raise InputError("--method all prints a table and writes no result: choose one method for --output")
        if self.static:
            self._refuse_options_of_motion()
        if self.prior is not None and not self._takes_prior():
            raise InputError("--prior needs --method logchol")
        if self.gripper is not None and (self.method == "all" or (self.static and not self.names_shape)):
            note(f"--gripper {self.gripper}: what it holds is told for one method and a motion, so not here")
        if self.names_shape and self.method != "consistent":
            raise InputError(f"a shape is a method of its own: leave --method {self.method} out, or the shape")
        shape = self.known_shape()
        recording, robot = self._load()
        if not recording.has("wrench"):
            raise InputError(
                f"{self.recording} has no wrench, but {', '.join(recording.signals)}. If columns of the file hold it, "
                "say which: --map 'wrench=HEADER*'. Without a force sensor, 'iparam identify torque-payload' finds the "
                "load from joint torques or motor currents, of a run with it and a run without"
            )
        prior = self._prior(recording, robot)
        if self.method == "all":
            self._compare(recording, robot)
            return
        if self.static:
            rests = self._at_rest(recording, robot)
            if shape is None:
                self._report_static(rests, recording)
                return
            estimate = iparam.estimation.with_shape(rests, shape)
        else:
            estimate = iparam.identify_payload(
                recording,
                robot,
                self.method if shape is None else iparam.estimation.ShapeEstimator(shape),
                prior=prior,
                **self._settings(recording),
            )
        if self.output is not None:
            estimate.save(self.output)
        say_refuted(estimate)
        note_further(estimate.remarks, recording)
        held = self._held(estimate, robot)
        if self.json:
            print_json({**estimate.to_document(), **({} if held is None else {"held": held.to_document()})})
        else:
            print_estimate(estimate, self.output)
            if held is not None:
                print_line()
                print_line(f"What the gripper holds ({self.gripper} taken away):")
                print_estimate(held, None)
        fail_refuted(estimate, self.output)

    def _held(self, estimate: iparam.Estimate, robot: Robot | None) -> iparam.Estimate | None:
        """The load without the gripper; None without one, or where there is no load to believe."""
        if self.gripper is None or estimate.refutation is not None:
            return None
        gripper, frame = read_result(self.gripper)
        names = ("", str(self.gripper))
        frame = frame or estimate.frame
        held = iparam.combine_estimates(estimate, gripper, minus=True, robot=robot, frame=frame, names=names)
        note_further(one for one in held.remarks if one not in estimate.remarks)
        return held

    def _load(self) -> tuple[Recording, Robot | None]:
        """The recording, and its arm unless it tells the sensor's own motion."""
        recording = self.load_recording(self.recording)
        if self.orientation is not None:
            # What names the columns and counts the rows is about the first file.
            other = dataclasses.replace(self, columns=None, map=None, rows=None)
            recording = recording.joined(other.load_recording(self.orientation))
        if self.robot is None and iparam.sensing.moves_without_arm(recording):
            if self.motion != "kalman":
                raise InputError("--motion chooses among the signals of an arm, and this recording has none of them")
            if self.delay == "estimate":
                raise InputError(
                    "a delay is estimated against joint angles, and there are none: give it in s (--delay)"
                )
            return recording, None
        return self.with_arm(recording, self.recording)

    def _refuse_options_of_motion(self) -> None:
        for option, default in (
            ("method", "consistent"),
            ("bias", "estimate"),
            ("motion", "kalman"),
            ("delay", None),
            ("tolerances", None),
            ("prior", None),
        ):
            if getattr(self, option) != default:
                raise InputError(
                    f"--{option} has no meaning with --static, which averages rests and always estimates the bias: "
                    "leave one of the two out"
                )

    def _at_rest(self, recording: Recording, robot: Robot | None) -> iparam.StaticEstimate:
        correction = self.correction(recording)
        if correction.estimated or correction.remaining():
            raise InputError(
                "--static averages rests: it takes no 'estimate', and no --low-pass, --without or --rezeroed; identify "
                "the load from a motion for these"
            )
        return iparam.identify_static(correction.applied(recording, robot), robot, wrench=correction.wrench_source)

    def _report_static(self, estimate: iparam.StaticEstimate, recording: Recording) -> None:
        if self.output is not None:
            estimate.save(self.output)
        say_refuted(estimate)
        note_further(estimate.remarks, recording)
        if self.json:
            print_json(estimate.to_document())
        else:
            self._print_static(estimate)
        fail_refuted(estimate, self.output)

    def _print_static(self, estimate: iparam.StaticEstimate) -> None:
        standard_deviation, bias = estimate.standard_deviation, estimate.sensor_bias
        rows = [("mass", estimate.mass, standard_deviation.mass, 4, "kg")]
        for axis, value, deviation in zip(
            "xyz", estimate.center_of_mass, standard_deviation.center_of_mass, strict=True
        ):
            rows.append((f"centre of mass {axis}", 1e3 * value, 1e3 * deviation, 3, "mm"))
        for name, unit in (("force", "N"), ("torque", "N m")):
            for axis, value, deviation in zip(
                "xyz", getattr(bias, name), getattr(standard_deviation.sensor_bias, name), strict=True
            ):
                rows.append((f"bias, {name} {axis}", value, deviation, 4, unit))
        lines = []
        for label, value, deviation, digits, unit in rows:
            half = estimate.interval_factor * deviation
            lines.append([label, *numbers([value, value - half, value + half], digits), unit])
        lines.append(["inertia", "-", "-", "-", "not to be seen at rest"])
        title = f"{self.recording}: {len(estimate.rests)} rests, {estimate.num_poses} directions of gravity"
        print_table(title, ["", "value", "95 % from", "to", "unit"], lines)
        print_line()
        print_line(f"residual   {estimate.residual_rms} rms")
        if self.output is not None:
            print_line(f"result     {self.output}")
        for line in wrap(estimate.status, 80):
            print_line(line)

    def _settings(self, recording: Recording) -> dict[str, Any]:
        """What all estimators are given alike."""
        bias = bias_of(self.bias, recording)
        return {
            "motion": motion_source(self.motion),
            "bias": bias,
            "correction": self.correction(recording),
            "tolerances": self.tolerances,
        }

    def _takes_prior(self) -> bool:
        return self.method != "all" and iparam.estimation.make_estimator(self.method).takes_prior

    def _prior(self, recording: Recording, robot: Robot | None) -> iparam.InertialParameters | None:
        if self.prior is None:
            return None
        load, measurements = read_load(self.prior, robot)
        if recording.has("wrench") and recording.signal("wrench").fingerprint in measurements:
            note(f"{self.prior} was identified from this very recording: as a prior, it counts the same data twice")
        return load

    def _compare(self, recording: Recording, robot: Robot | None) -> None:
        found = iparam.estimation.compare_methods(recording, robot, **self._settings(recording))
        good = found.estimates
        if not good:  # for the reason that the default method has
            iparam.identify_payload(recording, robot, partial=False, **self._settings(recording))
        if self.json:
            print_json({name: estimate.to_document() for name, estimate in good.items()})
            self._fail_if_all_refuted(good)
            return
        rows = []
        for name, estimate in good.items():
            standard_deviation, moments = estimate.standard_deviation, np.linalg.eigvalsh(estimate.inertia_about_com)
            rows.append(
                [
                    name,
                    *numbers([estimate.mass, NORMAL_95 * standard_deviation.mass], 4),
                    " ".join(numbers(1e3 * estimate.center_of_mass, 1)),
                    number(1e3 * NORMAL_95 * float(np.max(standard_deviation.center_of_mass)), 2),
                    " ".join(numbers(moments, 5)),
                ]
            )
        header = ["method", "mass kg", "+-95 %", "CoM mm", "+-95 %", "moments kg m^2"]
        print_table(f"{self.recording}: all methods", header, rows)
        impossible = [name for name, estimate in good.items() if not estimate.physically_consistent]
        print_line("consistent        " + (f"all but {', '.join(impossible)}" if impossible else "all"))
        refuted = [name for name, estimate in good.items() if estimate.refutation]
        if refuted:
            which = "all" if len(refuted) == len(good) else ", ".join(refuted)
            print_line(f"REFUTED           {which}, by their own data: do not use these numbers")
        for name, failure in found.failures.items():
            note(f"{name}: {failure}")
        self._fail_if_all_refuted(good)

    @staticmethod
    def _fail_if_all_refuted(found: Mapping[str, iparam.Estimate]) -> None:
        """An error where the data are against every method: then it is not a method that is at fault."""
        refuted = [estimate for estimate in found.values() if estimate.refutation is not None]
        if len(refuted) == len(found):
            say_refuted(refuted[0])
            fail_refuted(refuted[0], None)
