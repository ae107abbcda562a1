"""`iparam ur record`: a UR controller's data at its full rate, as a recording."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.cli.console.interruption import StopRequest, interruption
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.joint_state import robot_of
from iparam.cli.options.mounting import MountingOptions, SensorPlaceOptions, note_unstored
from iparam.cli.ur.options import (
    PRECISION,
    HostOption,
    StatusLine,
    asked_model,
    at_flange,
    check_room,
    note_older,
    save_and_clean,
)
from iparam.errors import InputError
from iparam.files.kind import FileKind
from iparam.robot.batching import STANDARD_GRAVITY

if TYPE_CHECKING:
    from iparam.bridges.ur.record.health import RecordingHealth
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.bridges.ur.record.spill_file import SpillFile
    from iparam.recording.recording import Recording

_LOOK = 0.05  # s


@dataclass(frozen=True, kw_only=True)
class Record(MountingOptions, SensorPlaceOptions, HostOption):
    r"""Record what a UR arm measures, at the controller's rate (500 Hz, e-Series).

    It only listens: the arm can be moved by any program, or by hand.

    A lost connection is made again, the gap is recorded.

    Ctrl-C ends and saves, and so does Ctrl-Z.

    Example:
      iparam ur record --host 192.168.0.10 --duration 30 --output run.parquet
      iparam ur record --host 192.168.0.10 --wrench tcp-force --output run.csv
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    duration: Annotated[float | None, arg(metavar="S", help_behavior_hint="(default: until Ctrl-C)")] = None
    """How long to record [s]."""
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: ask the controller)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    wrench: Literal["auto", "tcp-force", "raw"] = "auto"
    """Field that the wrench is made from. auto: raw, if the controller has it in newtons."""
    measures: Literal["reaction", "action"] = "reaction"
    """Whose wrench the controller reports: of the load on the arm (reaction), or the opposite."""
    port: Annotated[int, arg(metavar="PORT")] = 30004
    """Port of RTDE."""
    give_up_after: Annotated[float | None, arg(metavar="S", help_behavior_hint="(default: never)")] = None
    """End if there is no connection for so long [s]; what was recorded is saved."""
    precision: Annotated[str, arg(metavar="TARGETS")] = PRECISION
    """What the live line reckons the time left for, standard deviations."""
    json: AsJson = False

    def run(self) -> None:
        """Record, print and write."""
        for option, value in (("--duration", self.duration), ("--give-up-after", self.give_up_after)):
            if value is not None and not value > 0.0:
                raise InputError(f"{option} must be positive, got {value:g} s")
        if not 0 < self.port < 65536:
            raise InputError(f"--port must be 1 to 65535, got {self.port}")
        gravity = self.given_gravity()
        targets = iparam.excitation.parse_targets(self.precision)
        name = self.robot or asked_model(self.host, self.port)
        settings = iparam.bridges.ur.RecorderSettings(
            self.host,
            at_flange(robot_of(name)),
            name,
            self.port,
            self.wrench,
            self.measures,
            float("inf") if self.give_up_after is None else self.give_up_after,
            self.sensor_place(),
        )
        spill = iparam.bridges.ur.SpillFile(self.output)
        recorder = iparam.bridges.ur.ArmRecorder(settings, spill)
        try:
            with interruption() as requested:
                recorder.start()
                try:
                    check_room(recorder, self.output, self.duration)
                    self._check_arm(recorder)
                except BaseException:
                    recorder.stop()
                    spill.remove()  # of a recording that was none
                    raise
                note_older(spill)
                vector = np.array(STANDARD_GRAVITY) if gravity is None else gravity
                health = iparam.bridges.ur.RecordingHealth(settings.robot, recorder.rate, targets, vector)
                try:
                    self._watch(recorder, spill, requested, health)
                finally:
                    recorder.stop()
                recording = self.stating_setup(iparam.recording.with_gravity(recorder.recording(), gravity))
                save_and_clean(recorder, recording, self.output, spill)
                note_unstored(recording, self.output)
        finally:
            spill.close()
        for one in recording.remarks:
            note_remark(one)
        self._report(recording)
        if recorder.failure is not None:
            raise recorder.failure

    def _check_arm(self, recorder: ArmRecorder) -> None:
        """Refuse the name or the file of another arm than the controller has."""
        if self.robot is None:
            return
        name = iparam.bridges.ur.robot_name_of(self.host, recorder.version.major)
        try:
            iparam.bridges.ur.check_model(recorder.first_sample(), recorder.robot, name, "it is a")
        except iparam.bridges.ur.RunStoppedError as error:
            raise InputError(
                f"--robot {self.robot}: {error}. Leave --robot out to record the arm that the controller names, or "
                "connect to the other one; a setup of another arm does not belong here"
            ) from None

    def _watch(self, recorder: ArmRecorder, spill: SpillFile, requested: StopRequest, health: RecordingHealth) -> None:
        line, lost = StatusLine(), 0
        worth = iparam.bridges.ur.HealthWatch(recorder, health)
        unkept: str | None = None
        begun = time.monotonic()
        while recorder.running and not requested.is_set():
            if self.duration is not None and time.monotonic() - begun >= self.duration:
                break
            if recorder.connected:
                line.show(*(worth.latest.words() if worth.latest else (f"{recorder.duration:.1f} s",)))
            elif recorder.last_fault:
                line.show(f"no connection: {recorder.last_fault}; trying again")
            if recorder.reconnections > lost:
                line.end()
                note(f"the connection was lost ({recorder.last_fault}) and made again")
                lost = recorder.reconnections
            if (recorder.spill_fault is None) != (unkept is None):
                line.end()
                unkept = recorder.spill_fault
                note(
                    "all that was recorded is on disk again"
                    if unkept is None
                    else f"{unkept}; {spill.held}. What comes now is in memory alone: make room, or end with Ctrl-C"
                )
            time.sleep(_LOOK)
        worth.stop()
        line.end()

    def _report(self, recording: Recording) -> None:
        facts, q = recording.metadata, recording.signal("q")
        if self.json:
            print_json(
                {
                    "output": str(self.output),
                    "robot": recording.robot,
                    "samples": q.num_samples,
                    "duration": recording.duration,
                    "rate": q.rate,
                    "signals": list(recording.signals),
                    "metadata": dict(facts),
                    "warnings": list(recording.warnings),
                    "remarks": [one.to_document() for one in recording.remarks],
                }
            )
            return
        print_line(
            f"recorded      {recording.duration:.2f} s of {recording.robot}, software {facts['controller_version']}"
        )
        print_line(f"samples       {q.num_samples}, {q.rate:.0f} Hz")
        print_line(f"gaps          {facts['gap_count']}, about {facts['lost_samples']} samples lost")
        print_line(f"wrench        {_wrench_text(recording)}")
        print_line(f"recording     {self.output}")


def _wrench_text(recording: Recording) -> str:
    field = {"raw": "the sensor's raw wrench", "tcp-force": "the TCP force, turned from base axes"}
    return field.get(str(recording.metadata["wrench_field"]), "none")
