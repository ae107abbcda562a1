"""`iparam ur check-payload`: whether the load that a UR controller reckons with is the one that hangs there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from tyro.conf import Suppress, arg

import iparam
from iparam.cli.console.printing import note, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.planning import read_plan, require_planned_frame
from iparam.cli.ur.options import PRECISION, asked_model, require_somebody_to_ask
from iparam.cli.ur.playing import CheckedMotion, PlayingOptions
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind
from iparam.rounding import NORMAL_95, number, numbers

if TYPE_CHECKING:
    from iparam.bridges.ur.record.recorder import ArmRecorder
    from iparam.bridges.ur.run.payload_check import PayloadCheck
    from iparam.robot.model import Robot
    from iparam.trajectory import TrajectoryFile

SLOWEST, FASTEST = 0.05, 1.0
"""Speeds that can be asked for [rad/s]: beyond, loads show their inertia, or a check takes minutes."""

_AT_FLANGE = 1e-6  # m and rad


@dataclass(frozen=True, kw_only=True)
class CheckPayload(PlayingOptions):
    r"""Turn the wrist a little, and compare the controller's payload with the wrench.

    THE ARM MOVES, joints 4 to 6: read 'On a real robot' in the documentation.

    Wrench and TCP force judge, the motors' currents are told.

    The exit code is 0 only if the controller reckons with what hangs there.

    Example:
      iparam ur check-payload --host 192.168.0.10 --plan t.json --output c.parquet
      iparam ur check-payload --host 192.168.0.10 --payload-size 0.1 0.15 0.2 \
          --cell cell.json --angle 20 --output c.parquet
    """

    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    plan: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(or --payload-size)")] = None
    """Trajectory that was planned for this load: says its box, the cell and how the arm is mounted. Not played."""
    angle: Annotated[float, arg(metavar="DEG")] = 45.0
    """Most that a joint of the wrist turns [deg]; less where there is no room."""
    speed: Annotated[float, arg(metavar="RAD/S")] = 0.5
    """Of the fastest joint [rad/s]."""
    # A motion of the wrist has none of these.
    q0: Annotated[tuple[float, ...], Suppress] = ()
    preset: Annotated[Literal["reference"] | None, Suppress] = None
    duration: Annotated[float, Suppress] = 10.0
    harmonics: Annotated[int, Suppress] = 5
    base_freq: Annotated[float | None, Suppress] = None
    free_start: Annotated[bool, Suppress] = False

    def run(self) -> None:
        """Look, ask, move, compare and print."""
        self.guard_limits()
        if not (np.isfinite(self.angle) and 5.0 <= self.angle <= 90.0):
            raise InputError(f"--angle must be 5 to 90 deg, got {self.angle:g}")
        if not (np.isfinite(self.speed) and SLOWEST <= self.speed <= FASTEST):
            raise InputError(f"--speed must be {SLOWEST:g} to {FASTEST:g} rad/s, got {self.speed:g}")
        if self.plan is None and not self.payload_size:
            raise InputError(
                "what hangs on the flange has a size, and must hit nothing: add --plan t.json, the trajectory that was "
                "planned for it, or --payload-size X Y Z"
            )
        require_somebody_to_ask(self.yes, "move", "the cell is clear")
        planned = None if self.plan is None else read_plan(self.plan)
        name = self.robot or (planned.robot if planned is not None else None) or asked_model(self.host)
        arm = None if planned is None else planned.arm
        robot = self.robot_model(name, arm, "" if self.plan is None else str(self.plan))
        if planned is not None and not self.payload_size:
            if planned.conditions is None or planned.conditions.payload is None:
                raise InputError(
                    f"{self.plan} was planned without a payload: say how large it is, --payload-size X Y Z"
                )
            require_planned_frame(planned, robot, str(self.plan))
        iparam.bridges.ur.require_ur_rtde()
        spill = iparam.bridges.ur.SpillFile(self.output)
        recorder = iparam.bridges.ur.ArmRecorder(self.recorder_settings(robot, name), spill)
        try:
            recorder.start()
            try:
                motion = self._motion(recorder, robot, planned)
            except BaseException:
                recorder.stop()
                spill.remove()
                raise
            at_flange = self._tcp_at_flange(recorder)
            targets = iparam.excitation.parse_targets(PRECISION.split(",inertia", maxsplit=1)[0])
            played = self.record_motion(motion, recorder, spill, self.output, targets, {"check": "payload"})
        finally:
            spill.close()
        found = iparam.bridges.ur.check_payload(played.recording, recorder.robot, tcp_at_flange=at_flange)
        self._report(found, at_flange)
        if not found.passed:
            raise IparamError(f"{found.sentence} Identify what hangs there ('iparam ur run'), and set that")

    def _motion(self, recorder: ArmRecorder, robot: Robot, planned: TrajectoryFile | None) -> CheckedMotion:
        """The first motion of the wrist, where the arm stands, that is free."""
        sample = recorder.first_sample()
        payload = iparam.bridges.ur.configured_payload(sample.columns, sample.row)
        if payload is None:
            raise InputError(f"{self.host} does not show its payload, so there is nothing to check")
        iparam.bridges.ur.require_payload(payload)
        gravity = self.given_gravity()
        if planned is not None:
            gravity = iparam.robot.agreed_gravity(gravity, planned.gravity, str(self.plan))
        conditions = self.conditions(None if planned is None else planned.conditions)
        reason: IparamError | None = None
        for trajectory in iparam.bridges.ur.wrist_motions(sample.q, self.speed, np.radians(self.angle)):
            try:
                return self.checked(trajectory, robot, conditions, gravity, "the motion of the wrist")
            except IparamError as error:
                reason = error
        raise IparamError(f"{reason}. Move the arm to where its wrist can turn by 10 deg to both sides")

    def _tcp_at_flange(self, recorder: ArmRecorder) -> bool:
        offset = recorder.first_sample().field("tcp_offset")
        return offset is not None and bool(np.abs(offset).max() <= _AT_FLANGE)

    def _report(self, found: PayloadCheck, at_flange: bool) -> None:
        if self.json:
            print_json({"output": str(self.output), **found.as_json()})
            return
        rows = []
        for name, each in found.witnesses.items():
            scale = f"{number(each.best_scale, 3)} +- {number(NORMAL_95 * each.scale_deviation, 3)}"
            residuals = [f"{number(float(np.max(each.rms[part])), 3)} {unit}" for part, unit in _PARTS]
            worst = number(float(each.by_noise.max()), 2)
            rows.append([name, *residuals, worst, scale, "agrees" if each.passed else "CONTRADICTS"])
        title = f"{self.host}: measured - predicted from the controller's payload"
        heads = ["", "force rms", "torque rms", "rms/expected", "best fitting scale, 95 %", ""]
        print_table(title, heads, rows)
        print_line()
        center = " ".join(numbers(1e3 * np.array(found.payload.get("center_of_gravity", [0.0] * 3)), 1))
        print_line(f"payload       {found.payload['mass']:.4f} kg at {center} mm, by the controller")
        print_line(f"by this run   {found.shown}")
        if found.currents is not None:
            off = f"{found.currents.difference:.2f} A rms from the controller's targets of {found.currents.target:.2f}"
            print_line(f"currents      {found.currents.joint}: {off} A; friction is part of it")
        if not at_flange and found.wrench is not None:
            note("the TCP force did not judge: the controller's TCP is not at the flange, and it may count about that")
        print_line(f"recording     {self.output}")
        if found.passed:
            print_line()
            print_line(found.sentence)
            print_line("So slow a motion does not show its inertia: 'iparam verify' does, with a run of another plan.")


_PARTS = ((slice(3), "N"), (slice(3, 6), "N m"))
