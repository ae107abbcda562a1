"""`iparam ur run`: a UR arm plays a checked motion while everything is recorded."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.bridges.ur.rtde.controller_state import PROTECTIVE_STOP
from iparam.cli.console.interruption import StopRequest, interruption
from iparam.cli.console.printing import note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import PlannedMotionOptions
from iparam.cli.ur.options import (
    PRECISION,
    PROTECTIVE_STOP_HELP,
    HostOption,
    LiveRun,
    UnsavedRecordingError,
    clear_protective_stop,
    confirm,
    note_older,
    require_somebody_to_ask,
    save_and_clean,
)
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.catalog.ur_robot import TOOL_FRAME as FLANGE
from iparam.rounding import number, numbers

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.bridges.ur.record.spill_file import SpillFile
    from iparam.bridges.ur.run.command_client import ArmMotion
    from iparam.bridges.ur.run.playback import RunPlan
    from iparam.bridges.ur.run.run_guard import GuardLimits
    from iparam.excitation.constraints.validation import Validation
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot
    from iparam.trajectory import PlanConditions, Trajectory

MOST_SLOW = 0.02
"""Least share of a plan's speed that can be asked for."""


@dataclass(frozen=True, kw_only=True)
class Run(PlannedMotionOptions, HostOption):
    r"""Move a UR arm through a planned motion, and record.

    THE ARM MOVES: read docs/platforms/real-robot.md first.

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
    """End the motion as soon as the load is known so well, standard deviations: mass=0.5%,com=1mm,inertia=5%."""
    max_deviation: Annotated[float, arg(metavar="RAD")] = 0.05
    """Stop if a joint is further than this from where it should be [rad]."""
    max_silence: Annotated[float, arg(metavar="S")] = 0.1
    """Stop if the controller sends nothing for so long, or nobody watches the arm [s]; at most 2."""
    approach_speed: Annotated[float, arg(metavar="RAD/S")] = 0.25
    """Speed of the fastest joint on the way to the start [rad/s]."""
    wrench: Literal["auto", "tcp-force", "raw"] = "auto"
    """Field that the wrench is made from. auto: raw, if the controller has it in newtons."""
    measures: Literal["reaction", "action"] = "reaction"
    """Whose wrench the controller reports: of the load on the arm (reaction), or the opposite."""
    yes: Annotated[bool, arg(help_behavior_hint="")] = False
    """Move without asking first. Needed where there is no terminal."""

    def run(self) -> None:
        """Check, ask, move, record, print and write."""
        if not (np.isfinite(self.approach_speed) and 0.0 < self.approach_speed <= 1.0):
            raise InputError(f"--approach-speed must be above 0 and at most 1 rad/s, got {self.approach_speed:g}")
        limits = iparam.bridges.ur.GuardLimits(self.max_deviation, self.max_silence)
        targets = iparam.excitation.parse_targets(self.until_precision or PRECISION)
        if self.output is None and not self.dry_run:
            raise InputError("--output is needed, the file for the recording: .parquet or .csv")
        require_somebody_to_ask(self.yes or self.dry_run, "move", "the cell is clear")
        iparam.bridges.ur.require_ur_rtde()
        planned, robot = self.load()
        trajectory = self._scaled(planned.trajectory)
        gravity = self.agreed_gravity(planned)
        conditions = self.conditions(planned.conditions)
        checked = self._checked(trajectory, robot, "the motion", conditions, gravity)
        if conditions.preset:  # whose geometry is a rough one: a real arm has links
            real = dataclasses.replace(conditions.limits, clearance=0.0)
            whole = dataclasses.replace(conditions, limits=real, preset="")
            self._checked(trajectory, robot, f"the motion of the {conditions.preset} problem", whole, gravity)
        settings = iparam.bridges.ur.RecorderSettings(
            self.host,
            _at_flange(robot),
            self.robot or planned.robot or robot.name,
            wrench=self.wrench,
            measures=self.measures,
        )
        if self.output is None or self.dry_run:
            self._look(iparam.bridges.ur.ArmRecorder(settings), trajectory, robot, limits, checked, conditions, gravity)
            return
        spill = iparam.bridges.ur.SpillFile(self.output)
        recorder = iparam.bridges.ur.ArmRecorder(settings, spill)
        try:
            with iparam.bridges.ur.ArmMotion(self.host) as motion:
                try:
                    recorder.start()
                    note_older(spill)
                    plan = self._plan(recorder, trajectory, robot, limits, checked, conditions, gravity)
                    confirm("Is the cell clear, and may the arm move?", self.yes, "the arm stays where it is")
                    motion.connect()
                    motion.load(plan.set_points())
                except BaseException:
                    recorder.stop()
                    spill.remove()  # nothing has moved: there is nothing to keep
                    raise
                with interruption() as requested:
                    vector = np.array(STANDARD_GRAVITY) if gravity is None else gravity
                    health = iparam.bridges.ur.RecordingHealth(
                        settings.robot, recorder.rate, targets, vector, plan.trajectory
                    )
                    live = LiveRun(recorder, health, self.until_precision is not None)
                    self._play(plan, recorder, motion, spill, requested, gravity, self.output, live)
        finally:
            spill.close()

    def _scaled(self, planned: Trajectory) -> Trajectory:
        """The motion at the share of amplitude and speed that is asked for."""
        motion = planned if self.amplitude is None else iparam.trajectory.ScaledMotion(planned, self.amplitude)
        if self.speed_scale is None:
            return motion
        if not (np.isfinite(self.speed_scale) and MOST_SLOW <= self.speed_scale <= 1.0):
            raise InputError(f"--speed-scale must be {MOST_SLOW:g} to 1, got {self.speed_scale:g}")
        return motion.time_scaled(1.0 / self.speed_scale)

    def _look(
        self,
        recorder: ArmRecorder,
        trajectory: Trajectory,
        robot: Robot,
        limits: GuardLimits,
        checked: Validation,
        conditions: PlanConditions,
        gravity: FloatArray | None,
    ) -> None:
        """All checks, and nothing else."""
        recorder.start()
        try:
            plan = self._plan(recorder, trajectory, robot, limits, checked, conditions, gravity)
        finally:
            recorder.stop()
        if self.json:
            print_json({"moved": False, "duration": plan.trajectory.duration, "valid": True})
        else:
            print_line("dry run       all checks passed; nothing has moved, and nothing was written")

    def _checked(
        self, trajectory: Trajectory, robot: Robot, what: str, conditions: PlanConditions, gravity: FloatArray | None
    ) -> Validation:
        """The motion's margins; raises where one is negative."""
        result = iparam.excitation.validate(trajectory, self.constraints(trajectory, robot, conditions, gravity))
        if not result.satisfied:
            raise IparamError(f"{what} is not valid, so the arm stays where it is: {'; '.join(result.violations)}")
        return result

    def _plan(
        self,
        recorder: ArmRecorder,
        trajectory: Trajectory,
        robot: Robot,
        limits: GuardLimits,
        checked: Validation,
        conditions: PlanConditions,
        gravity: FloatArray | None,
    ) -> iparam.bridges.ur.RunPlan:
        """Look at the arm, check the way to the start, and print what is going to happen."""
        sample = recorder.first_sample()
        if sample.safety == PROTECTIVE_STOP and not (self.yes or self.dry_run):
            sample = clear_protective_stop(self.host, recorder)
        iparam.bridges.ur.check_ready(sample)
        model = iparam.bridges.ur.check_model(
            sample, robot, iparam.bridges.ur.robot_name_of(self.host, recorder.version.major)
        )
        if iparam.bridges.ur.takes_remote_control(self.host) is False:
            raise IparamError(
                f"{self.host} is in local control: choose Remote Control at the top right of the teach pendant"
            )
        start = trajectory.evaluate(0.0).q[0]
        way = iparam.bridges.ur.approach_path(sample.q, start, self.approach_speed)
        if way is not None:
            # Displacements count from the start, and the way only leads there.
            limits_of_way = dataclasses.replace(conditions.limits, displacement=None)
            free = dataclasses.replace(conditions, limits=limits_of_way, preset="")
            what = f"the way to the start, a straight line of {way.duration:.1f} s in joint space,"
            self._checked(way, robot, what, free, gravity)
        speed = float(np.abs(trajectory.sample(100.0).dq).max())
        plan = iparam.bridges.ur.RunPlan(robot, trajectory, sample.q, self.approach_speed, recorder.rate, limits)
        if not self.json:
            self._print_plan(sample.q, start, trajectory.duration, speed, checked, model)
        return plan

    def _print_plan(
        self, present: FloatArray, start: FloatArray, duration: float, speed: float, checked: Validation, model: str
    ) -> None:
        rows = [[m.constraint, number(m.margin, 4), m.unit, m.label] for m in checked.margins]
        print_table(
            "Least margins of the motion" + self._share_text(),
            ["constraint", "margin", "unit", "where"],
            rows,
        )
        print_line()
        print_line(f"controller    {self.host}, arm: {model}")
        print_line(f"arm is at     {' '.join(numbers(np.degrees(present), 1))} deg")
        print_line(f"start         {' '.join(numbers(np.degrees(start), 1))} deg")
        print_line(f"motion        {duration:.2f} s, joints up to {speed:.2f} rad/s")
        print_line("stop          Ctrl-C or Ctrl-Z, and the emergency stop button: have a hand on it")
        sys.stdout.flush()

    def _share_text(self) -> str:
        shares = ((self.amplitude, "amplitude"), (self.speed_scale, "speed"))
        return "".join(f" at {share:g} of its {what}" for share, what in shares if share is not None)

    def _play(
        self,
        plan: RunPlan,
        recorder: ArmRecorder,
        motion: ArmMotion,
        spill: SpillFile,
        requested: StopRequest,
        gravity: FloatArray | None,
        output: Path,
        live: LiveRun,
    ) -> None:
        """Move; save whatever has been recorded, however it ends."""
        since, reason = recorder.duration, "a fault in iparam"
        error: IparamError | None = None
        unsaved: UnsavedRecordingError | None = None
        try:
            since = iparam.bridges.ur.play(plan, recorder, motion, requested, live.show, live.enough)
            reason = ""
        except iparam.bridges.ur.InterruptedRunError as stopped:
            error, reason = stopped, f"{stopped} ({requested.cause})"
        except IparamError as stopped:
            error, reason = stopped, str(stopped)
        finally:
            motion.close()  # first of all, the arm stops
            live.end()
            recorder.stop()
            facts = {
                "trajectory": str(self.trajectory),
                "amplitude": self.amplitude,
                "speed_scale": self.speed_scale,
                "stopped_by": reason or None,
                "ended_early": live.ended_early,
            }
            recording = iparam.recording.with_gravity(recorder.recording(since, **facts), gravity)
            try:
                save_and_clean(recorder, recording, output, spill)
            except UnsavedRecordingError as failed:
                unsaved = failed
                if error is None and reason:  # what comes next is another exception
                    note(str(unsaved))
        for warning in recording.warnings:
            note(warning)
        if error is not None and not motion.stopped:
            note(
                "the controller did not confirm the stop. It ends its program when nothing comes for "
                f"{plan.limits.silence:g} s: look at the arm"
            )
        if error is None and unsaved is None:
            self._report(recording, live)
            return
        if error is None:
            raise IparamError(f"the motion was played, but {unsaved}")
        saved = str(unsaved or f"{recording.duration:.2f} s were saved to {output}")
        last = recorder.latest()
        if last is not None and last.safety == PROTECTIVE_STOP:
            note(PROTECTIVE_STOP_HELP)
        if isinstance(error, iparam.bridges.ur.InterruptedRunError) and unsaved is None:
            note(f"{reason}; {saved}")
            raise KeyboardInterrupt
        raise IparamError(f"the run was stopped: {reason}; {saved}")

    def _report(self, recording: Recording, live: LiveRun) -> None:
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
                }
            )
            return
        what = "the whole motion" if live.ended_early is None else f"until {live.ended_early}"
        print_line(f"played        {what}, {recording.duration:.2f} s recorded, {facts['gap_count']} gaps")
        if known is not None:
            print_line(f"standard dev. {known.precision}")
        print_line(f"recording     {self.output}")


def _at_flange(robot: Robot) -> Robot:
    """The arm with the frame as its tool that a controller measures in, whatever tip the motion was planned with."""
    if FLANGE in iparam.sensing.rigid_frames(robot):
        return dataclasses.replace(robot, tool_frame=FLANGE)
    return robot
