"""`iparam ur run`: a UR arm plays a checked motion while everything is recorded."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.printing import print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import PlannedMotionOptions
from iparam.cli.ur.options import PRECISION, require_somebody_to_ask
from iparam.cli.ur.playing import CheckedMotion, Played, PlayingOptions
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind

if TYPE_CHECKING:
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.robot.model import Robot
    from iparam.trajectory import Trajectory, TrajectoryFile

MOST_SLOW = 0.02
"""Least share of a plan's speed that can be asked for."""


@dataclass(frozen=True, kw_only=True)
class Run(PlannedMotionOptions, PlayingOptions):
    r"""Move a UR arm through a planned motion, and record.

    THE ARM MOVES: read 'On a real robot' in the documentation first.

    First, motion and way to its start must pass 'excite check', as planned.

    It stops on safety stops, deviation, lost data, Ctrl-C and Ctrl-Z, and saves.

    Example:
      iparam ur run t.json --host 192.168.0.10 --dry-run
      iparam ur run t.json --host 192.168.0.10 --amplitude 0.2 --output a.parquet
      iparam ur run t.json --host 192.168.0.10 --output run.parquet
      iparam ur run t.json --host 192.168.0.10 --payload-size 0.1 0.15 0.2 \
          --payload-mass 2.5 --cell cell.json --output run.parquet
    """

    output: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(needed unless --dry-run)"), Writes(FileKind.RECORDING)
    ] = None
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    dry_run: Annotated[bool, arg(help_behavior_hint="")] = False
    """Check everything, the arm and the way to the start too, and say what would be done. Nothing moves."""
    amplitude: Annotated[float | None, arg(metavar="SHARE", help_behavior_hint="(default: the whole motion)")] = None
    """Play the motion at this share of its amplitude about the start, e.g. 0.2."""
    speed_scale: Annotated[float | None, arg(metavar="SHARE", help_behavior_hint="(default: as planned)")] = None
    """Play the motion at this share of its speed, e.g. 0.25: the same path, four times as slow."""
    until_precision: Annotated[str | None, arg(metavar="TARGETS", help_behavior_hint="(default: play it all)")] = None
    """End the motion as soon as the load is known so well, standard deviations: mass=0.5%,com=1mm,inertia=5%.
    If it never is, the run is saved and the exit code is 1."""

    def run(self) -> None:
        """Check, ask, move, record, print and write."""
        self.guard_limits()
        targets = iparam.excitation.parse_targets(self.until_precision or PRECISION)
        if self.output is None and not self.dry_run:
            raise InputError("--output is needed, the file for the recording: .parquet or .csv")
        require_somebody_to_ask(self.yes or self.dry_run, "move", "the cell is clear")
        planned, robot = self.load()
        motion = self._checked_plan(planned, robot)
        settings = self.recorder_settings(robot, self.robot or planned.robot or robot.name)
        if self.output is None or self.dry_run:
            self._only_look(iparam.bridges.ur.ArmRecorder(settings), motion)
            return
        iparam.bridges.ur.require_ur_rtde()
        spill = iparam.bridges.ur.SpillFile(self.output)
        facts = {
            "trajectory": str(self.trajectory),
            "blend": self.blend,
            "amplitude": self.amplitude,
            "speed_scale": self.speed_scale,
        }
        until_reached = self.until_precision is not None
        try:
            recorder = iparam.bridges.ur.ArmRecorder(settings, spill)
            played = self.record_motion(motion, recorder, spill, self.output, targets, facts, until_reached)
        finally:
            spill.close()
        self._report(played)
        if until_reached and not played.live.ended_early:
            known = played.live.latest
            reached = known is not None and known.reached
            if not reached:
                raise IparamError(
                    f"the whole motion was played, and --until-precision {self.until_precision} was not reached "
                    f"({'nothing is known of it' if known is None else known.precision}): {self.output} holds the run, "
                    "which 'iparam identify payload' reads. For more, play a longer or faster plan ('iparam excite "
                    "predict' says which), or ask for less"
                )

    def _checked_plan(self, planned: TrajectoryFile, robot: Robot) -> CheckedMotion:
        """The file's motion at the share of amplitude and speed that is asked for."""
        trajectory = self._scaled(planned.trajectory)
        gravity, conditions = self.agreed_gravity(planned), self.conditions(planned.conditions)
        motion = self.checked(trajectory, robot, conditions, gravity)
        if conditions.preset:  # whose geometry is a rough one: a real arm has links
            real = dataclasses.replace(conditions.limits, clearance=0.0)
            whole = dataclasses.replace(conditions, limits=real, preset="")
            self.checked(trajectory, robot, whole, gravity, f"the motion of the {conditions.preset} problem")
        shares = ((self.amplitude, "amplitude"), (self.speed_scale, "speed"))
        shown = "".join(f" at {share:g} of its {what}" for share, what in shares if share is not None)
        return dataclasses.replace(motion, title=f"{motion.title}{shown}")

    def _scaled(self, planned: Trajectory) -> Trajectory:
        motion = planned if self.amplitude is None else iparam.trajectory.ScaledMotion(planned, self.amplitude)
        if self.speed_scale is None:
            return motion
        if not (np.isfinite(self.speed_scale) and MOST_SLOW <= self.speed_scale <= 1.0):
            raise InputError(f"--speed-scale must be {MOST_SLOW:g} to 1, got {self.speed_scale:g}")
        return motion.time_scaled(1.0 / self.speed_scale)

    def _only_look(self, recorder: ArmRecorder, motion: CheckedMotion) -> None:
        """All checks, and nothing else."""
        recorder.start()
        try:
            self.look(recorder, motion, dry_run=True)
        finally:
            recorder.stop()
        if self.json:
            print_json({"moved": False, "duration": motion.trajectory.duration, "valid": True})
        else:
            print_line("dry run       all checks passed; nothing has moved, and nothing was written")

    def _report(self, played: Played) -> None:
        recording, live = played.recording, played.live
        facts, known = recording.metadata, live.latest
        if self.json:
            print_json(
                {
                    "output": str(self.output),
                    "duration": recording.duration,
                    "samples": recording.signal("q").num_samples,
                    "metadata": dict(facts),
                    "precision": None if known is None else known.as_json(),
                    "warnings": list(recording.warnings),
                    "remarks": [one.to_document() for one in recording.remarks],
                }
            )
            return
        what = "the whole motion" if live.ended_early is None else f"until {live.ended_early}"
        print_line(f"played        {what}, {recording.duration:.2f} s recorded, {facts['gap_count']} gaps")
        if known is not None:
            print_line(f"standard dev. {known.precision}")
        print_line(f"recording     {self.output}")
