"""What the commands share that move an arm under guard: their options, the checks before, and saving afterwards."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.bridges.ur.rtde.controller_state import PROTECTIVE_STOP
from iparam.cli.console.interruption import StopRequest, interruption
from iparam.cli.console.printing import AsJson, note, note_remark, print_line, print_table
from iparam.cli.options.mounting import SensorPlaceOptions
from iparam.cli.options.planning import PlanConditionOptions
from iparam.cli.ur.options import (
    PROTECTIVE_STOP_HELP,
    HostOption,
    LiveRun,
    UnsavedRecordingError,
    at_flange,
    check_room,
    clear_protective_stop,
    confirm,
    note_older,
    save_and_clean,
)
from iparam.errors import InputError, IparamError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.rounding import number, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iparam.arrays import FloatArray
    from iparam.bridges.ur.record.recorder import ArmRecorder, RecorderSettings
    from iparam.bridges.ur.record.spill_file import SpillFile
    from iparam.bridges.ur.rtde.controller_state import ControllerSample
    from iparam.bridges.ur.run.command_client import ArmMotion
    from iparam.bridges.ur.run.playback import RunPlan
    from iparam.bridges.ur.run.run_guard import GuardLimits
    from iparam.excitation.constraints.constraint import Constraint
    from iparam.excitation.constraints.validation import Validation
    from iparam.excitation.prediction import Target
    from iparam.recording.recording import Recording
    from iparam.robot.catalog import SafetyLimits
    from iparam.robot.model import Robot
    from iparam.trajectory import PlanConditions, PlannedPayload, Trajectory

MAY_MOVE = (
    "the controller was told to stop, but the arm has not been seen to stand still: it may still move. Look at it, and "
    "have a hand on the emergency stop button"
)


@dataclass(frozen=True, eq=False)
class CheckedMotion:
    """A motion that keeps everything that it has to.

    Attributes:
        trajectory: from rest to rest.
        robot: the arm.
        conditions: payload, cell, clearance and limits that it was checked under.
        gravity: (3,) in base axes [m/s^2]; None for 9.81 downwards.
        validation: its margins.
        fastest: top speed of the tool and of what it carries [m/s].
        title: what to call it above the table of its margins.
    """

    trajectory: Trajectory
    robot: Robot
    conditions: PlanConditions
    gravity: FloatArray | None
    validation: Validation
    fastest: float
    title: str = "the motion"

    @property
    def start(self) -> FloatArray:
        """(6,) where it begins [rad]."""
        return np.asarray(self.trajectory.evaluate(0.0).q[0])


def _fastest(trajectory: Trajectory, robot: Robot, payload: PlannedPayload | None) -> float:
    """Top speed of the tool and of the corners of the payload's box, at 100 samples a second and more [m/s]."""
    box = None if payload is None else iparam.PayloadBox.from_size(payload.size, payload.center)
    times = np.linspace(0.0, trajectory.duration, 2 + round(100.0 * trajectory.duration))
    motion = iparam.excitation.motion_arrays(trajectory, times)
    points = iparam.excitation.ToolSpeedConstraint.of_tool(robot, delivered(robot).tool_speed, box)
    return float(np.linalg.norm(points.vectors(motion), axis=-1).max())


def delivered(robot: Robot) -> SafetyLimits:
    """What the UR controller of ``robot`` allows as delivered."""
    return iparam.robot.catalog.safety_limits(robot) or iparam.robot.catalog.DELIVERED


@dataclass(frozen=True, eq=False)
class Played:
    """A run that ended as it should.

    Attributes:
        recording: of it, which is saved.
        live: what was known of the load while it ran.
    """

    recording: Recording
    live: LiveRun


@dataclass(frozen=True, kw_only=True)
class PlayingOptions(PlanConditionOptions, SensorPlaceOptions, HostOption):
    """The options; a command adds its own to them."""

    max_deviation: Annotated[float, arg(metavar="RAD")] = 0.05
    """Stop if a joint is further than this from where it should be [rad]."""
    max_silence: Annotated[
        float | None, arg(metavar="S", help_behavior_hint="(default: by what the connection shows, 0.1 or more)")
    ] = None
    """Stop if the controller sends nothing for so long, or nobody watches the arm [s]; at most 2."""
    approach_speed: Annotated[float, arg(metavar="RAD/S")] = 0.25
    """Speed of the fastest joint on the way to the start [rad/s]."""
    wrench: Literal["auto", "tcp-force", "raw"] = "auto"
    """Field that the wrench is made from. auto: raw, if the controller has it in newtons."""
    measures: Literal["reaction", "action"] = "reaction"
    """Whose wrench the controller reports: of the load on the arm (reaction), or the opposite."""
    yes: Annotated[bool, arg(help_behavior_hint="")] = False
    """Move without asking first. Needed where there is no terminal."""
    json: AsJson = False

    def guard_limits(self) -> GuardLimits:
        """When to stop; refuses what no guard should be told."""
        if not (np.isfinite(self.approach_speed) and 0.0 < self.approach_speed <= 1.0):
            raise InputError(f"--approach-speed must be above 0 and at most 1 rad/s, got {self.approach_speed:g}")
        limits = iparam.bridges.ur.GuardLimits(self.max_deviation)
        return limits if self.max_silence is None else dataclasses.replace(limits, silence=self.max_silence)

    def recorder_settings(self, robot: Robot, name: str) -> RecorderSettings:
        """What is recorded of ``robot``, which the recording calls ``name``."""
        return iparam.bridges.ur.RecorderSettings(
            self.host,
            at_flange(robot),
            name,
            wrench=self.wrench,
            measures=self.measures,
            place=self.sensor_place(),
        )

    def checked(
        self,
        trajectory: Trajectory,
        robot: Robot,
        conditions: PlanConditions,
        gravity: FloatArray | None,
        what: str = "the motion",
    ) -> CheckedMotion:
        """The motion with its margins; raises where one is negative."""
        if self.max_speed is None:  # the controller may have been told another limit: only its user knows
            limits = conditions.limits
            speed = min(limits.speed or np.inf, delivered(robot).planned.tool_speed)
            conditions = dataclasses.replace(conditions, limits=dataclasses.replace(limits, speed=speed))
        constraints = self.constraints(trajectory, robot, conditions, gravity)
        result = self._kept(trajectory, constraints, robot, what)
        fastest = _fastest(trajectory, robot, conditions.payload)
        return CheckedMotion(trajectory, robot, conditions, gravity, result, fastest, what)

    def _kept(self, trajectory: Trajectory, constraints: Sequence[Constraint], robot: Robot, what: str) -> Validation:
        """The margins; raises where one is negative."""
        result = iparam.excitation.validate(trajectory, constraints)
        if result.satisfied:
            return result
        message = f"{what} is not valid, so the arm stays where it is: {'; '.join(result.violations)}"
        broken = {margin.constraint for margin in result.margins if not margin.margin >= 0.0}
        if self.max_speed is None and broken & iparam.excitation.CONTROLLER_LIMITS:
            allowed = delivered(robot)
            message += (
                f". As delivered, the controller stops the arm at a tool speed of {allowed.tool_speed:g} m/s, and "
                f"{allowed.planned.tool_speed:g} m/s are played; if its safety configuration allows more, state up to "
                "which speed to play with --max-speed. --speed-scale plays slower"
            )
        raise IparamError(message)

    def look(self, recorder: ArmRecorder, motion: CheckedMotion, dry_run: bool = False) -> RunPlan:
        """Look at the arm, check the way to the start, and print what is going to happen."""
        sample = recorder.first_sample()
        if sample.safety == PROTECTIVE_STOP and not (self.yes or dry_run):
            sample = clear_protective_stop(self.host, recorder)
        iparam.bridges.ur.check_ready(sample, self.max_speed is not None)
        name = iparam.bridges.ur.robot_name_of(self.host, recorder.version.major)
        model = iparam.bridges.ur.check_model(sample, motion.robot, name)
        if iparam.bridges.ur.takes_remote_control(self.host) is False:
            raise IparamError(
                f"{self.host} is in local control: choose Remote Control at the top right of the teach pendant"
            )
        self._check_tool_positions(motion, sample)
        way = iparam.bridges.ur.approach_path(sample.q, motion.start, self.approach_speed)
        fastest = motion.fastest
        if way is not None:
            # Displacements count from the start, and the way only leads there.
            limits_of_way = dataclasses.replace(motion.conditions.limits, displacement=None)
            free = dataclasses.replace(motion.conditions, limits=limits_of_way, preset="")
            what = f"the way to the start, a straight line of {way.duration:.1f} s in joint space,"
            fastest = max(fastest, self.checked(way, motion.robot, free, motion.gravity, what).fastest)
        if not self.json:
            self._print_plan(motion, sample.q, model)
        return iparam.bridges.ur.RunPlan(
            motion.robot, motion.trajectory, sample.q, self.approach_speed, recorder.rate, self.guard_limits(), fastest
        )

    def _check_tool_positions(self, motion: CheckedMotion, sample: ControllerSample) -> None:
        """The speed of the flange and of the controller's TCP, where it measures the tool's speed."""
        speed, offset = motion.conditions.limits.speed, sample.field("tcp_offset")
        if speed is None:
            return
        points, labels = [np.zeros(3)], ["flange"]
        if offset is not None:
            points.append(offset[:3])
            labels.append("TCP of the controller")
        positions = iparam.excitation.ToolSpeedConstraint(
            at_flange(motion.robot), speed, np.array(points), tuple(labels)
        )
        self._kept(motion.trajectory, (positions,), motion.robot, motion.title)

    def _print_plan(self, motion: CheckedMotion, present: FloatArray, model: str) -> None:
        rows = [[m.constraint, number(m.margin, 4), m.unit, m.label] for m in motion.validation.margins]
        print_table(f"Least margins of {motion.title}", ["constraint", "margin", "unit", "where"], rows)
        speed = float(np.abs(motion.trajectory.sample(100.0).dq).max())
        print_line()
        print_line(f"controller    {self.host}, arm: {model}")
        print_line(f"arm is at     {' '.join(numbers(np.degrees(present), 1))} deg")
        print_line(f"start         {' '.join(numbers(np.degrees(motion.start), 1))} deg")
        print_line(f"motion        {motion.trajectory.duration:.2f} s, joints up to {speed:.2f} rad/s")
        print_line("stop          Ctrl-C or Ctrl-Z, and the emergency stop button: have a hand on it")
        sys.stdout.flush()

    def record_motion(
        self,
        motion: CheckedMotion,
        recorder: ArmRecorder,
        spill: SpillFile,
        output: Path,
        targets: Sequence[Target],
        facts: Mapping[str, Any],
        until_reached: bool = False,
    ) -> Played:
        """Ask, move and save.

        Args:
            motion: to play.
            recorder: started, or to be started now.
            spill: of the recorder.
            output: file for the recording.
            targets: precisions that the live line reckons the time left for.
            facts: entries to add to the recording's metadata.
            until_reached: whether the motion ends when the targets are reached.
        """
        with iparam.bridges.ur.ArmMotion(self.host) as commands:
            try:
                if not recorder.running:
                    recorder.start()
                note_older(spill)
                way = float(np.abs(motion.start - recorder.first_sample().q).max()) / self.approach_speed
                check_room(recorder, output, motion.trajectory.duration + 2.0 * way)
                plan = self.look(recorder, motion)
                confirm("Is the cell clear, and may the arm move?", self.yes, "the arm stays where it is")
                commands.connect()
                commands.load(plan.set_points())
                plan = self._settled(plan, recorder)
            except BaseException:
                recorder.stop()
                spill.remove()  # nothing has moved: there is nothing to keep
                raise
            with interruption() as requested:
                gravity = np.array(STANDARD_GRAVITY) if motion.gravity is None else motion.gravity
                health = iparam.bridges.ur.RecordingHealth(
                    recorder.robot, recorder.rate, targets, gravity, motion.trajectory
                )
                live = LiveRun(recorder, health, until_reached)
                facts = {**facts, "max_silence": plan.limits.silence}
                run = _GuardedRun(motion, plan, recorder, commands, spill, output, live, facts, self.stating_setup)
                return Played(run.play(requested), live)

    def _settled(self, plan: RunPlan, recorder: ArmRecorder) -> RunPlan:
        """The plan with the silence that this connection needs, unless one is stated; says which it is."""
        limit, why = plan.limits.silence, "as stated"
        if self.max_silence is None:
            longest = iparam.bridges.ur.longest_silence(delivered(plan.robot).stopping_distance, plan.fastest)
            seen = iparam.bridges.ur.observe_silence(recorder, longest)
            limit = seen.limit
            why = f"the connection had gaps of up to {1e3 * seen.largest_gap:.0f} ms; {longest:.2f} s at most"
        if not self.json:
            print_line(f"guard         stops the arm after {limit:.2f} s without data or watch ({why})")
            sys.stdout.flush()
        return dataclasses.replace(plan, limits=dataclasses.replace(plan.limits, silence=limit))


@dataclass(frozen=True, eq=False)
class _GuardedRun:
    """One run from the first command to the saved recording."""

    motion: CheckedMotion
    plan: RunPlan
    recorder: ArmRecorder
    commands: ArmMotion
    spill: SpillFile
    output: Path
    live: LiveRun
    facts: Mapping[str, Any]
    stating: Callable[[Recording], Recording]

    def play(self, requested: StopRequest) -> Recording:
        """Move; save whatever has been recorded, however it ends; raise if it did not end well."""
        since, reason = self.recorder.duration, "a fault in iparam"
        error: IparamError | None = None
        unsaved: UnsavedRecordingError | None = None
        try:
            since = iparam.bridges.ur.play(
                self.plan, self.recorder, self.commands, requested, self.live.show, self.live.enough
            )
            reason = ""
        except iparam.bridges.ur.InterruptedRunError as stopped:
            error, reason = stopped, f"{stopped} ({requested.cause})"
        except IparamError as stopped:
            error, reason = stopped, str(stopped)
        finally:
            self.commands.close()  # first of all, the arm stops
            # The controller ends its program by itself after the silence.
            patience = self.plan.limits.silence + iparam.bridges.ur.BRAKING
            at_rest = iparam.bridges.ur.comes_to_rest(self.recorder, patience)
            self.live.end()
            if not at_rest:
                note(MAY_MOVE)
            self.recorder.stop()
            recording = self._recording(since, reason)
            try:
                save_and_clean(self.recorder, recording, self.output, self.spill)
            except UnsavedRecordingError as failed:
                unsaved = failed
                if error is None and reason:  # what comes next is another exception
                    note(str(unsaved))
        for one in recording.remarks:
            note_remark(one)
        if error is not None:
            self._explain(error, reason, recording, unsaved)
        if unsaved is not None:
            raise IparamError(f"the motion was played, but {unsaved}")
        if not at_rest:
            raise IparamError(f"the motion was played and saved to {self.output}, but the arm may still move")
        return recording

    def _recording(self, since: float, reason: str) -> Recording:
        facts = {**self.facts, "stopped_by": reason or None, "ended_early": self.live.ended_early}
        recording = iparam.recording.with_gravity(self.recorder.recording(since, **facts), self.motion.gravity)
        return self.stating(recording)

    def _explain(
        self, error: IparamError, reason: str, recording: Recording, unsaved: UnsavedRecordingError | None
    ) -> None:
        """Raise what ended the run, with what there is of its recording."""
        saved = str(unsaved or f"{recording.duration:.2f} s were saved to {self.output}")
        last = self.recorder.latest()
        if last is not None and last.safety == PROTECTIVE_STOP:
            note(PROTECTIVE_STOP_HELP)
        if isinstance(error, iparam.bridges.ur.InterruptedRunError) and unsaved is None:
            note(f"{reason}; {saved}")
            raise KeyboardInterrupt
        raise IparamError(f"the run was stopped: {reason}; {saved}")
