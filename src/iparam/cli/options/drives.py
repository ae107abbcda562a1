"""The options that say what is known of an arm's drives, shared by the commands that identify from their efforts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note, print_line
from iparam.cli.options.payload import read_load
from iparam.cli.options.recorded_run import JointMotion, motion_source
from iparam.errors import InputError
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.estimation.torque.drives.drive_gains import DriveGains
    from iparam.estimation.torque.torque_model import CoupledDrive
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """The options; a command adds its own to them."""

    motion: JointMotion = "kalman"
    friction: Annotated[str, arg(metavar="auto|TERM,TERM,..")] = "auto"
    """Terms of friction in all joints, e.g. viscous,coulomb,stribeck:0.05; auto: what predicts best, joint by joint."""
    coupled: Annotated[tuple[str, ...], arg(metavar="5+6 ..", help_behavior_hint="(default: what predicts best)")] = ()
    """Joints, from 1, whose sum (5+6), difference (5-6) or mixture (5+0.5*6) a drive turns with, or 'none'."""
    leave_out: Annotated[tuple[int, ...], arg(metavar="JOINT ..", help_behavior_hint="(default: none)")] = ()
    """Joints, from 1, whose efforts are not used: a broken sensor, a joint that hits its stop."""
    known_load: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """A load to calibrate the drives with: a truth or result file, .json. Needs --known-load-run."""
    known_load_run: Annotated[Path | None, arg(metavar="LOG", help_behavior_hint="")] = None
    """Log of the arm with that load; the bare run is the command's own."""

    def check_drives(self) -> None:
        """Refuse options that contradict each other, before any log is read."""
        if (self.known_load is None) != (self.known_load_run is None):
            raise InputError("--known-load and --known-load-run belong together: the load's file, and a log with it")
        if "none" in self.coupled and len(self.coupled) > 1:
            raise InputError(f"--coupled takes couplings or 'none', got {' '.join(self.coupled)}")
        self.drive_settings()

    def drive_settings(self) -> dict[str, Any]:
        """The arguments of the library's functions that the options stand for, all but the gains."""
        settings: dict[str, Any] = {
            "friction": None,
            "couplings": None,
            "leave_out": [joint - 1 for joint in self.leave_out],
            "motion": None if self.motion == "kalman" else motion_source(self.motion),
        }
        if self.friction != "auto":
            terms = tuple(term.strip() for term in self.friction.split(","))
            settings["friction"] = iparam.estimation.torque.FrictionModel(terms)
        if self.coupled:
            names = [name for name in self.coupled if name != "none"]
            settings["couplings"] = [iparam.estimation.torque.Coupling.parse(name) for name in names]
        return settings

    def calibrated_gains(
        self, bare: Recording, loaded: Recording, robot: Robot, given: FloatArray | None
    ) -> DriveGains:
        """The drive gains from the known load, and a run without and with it."""
        load, measurements = read_load(self.known_load or Path(), robot)
        effort = "tau" if loaded.has("tau") else "current"
        if loaded.has(effort) and loaded.signal(effort).fingerprint in measurements:
            note(
                f"{self.known_load} was identified from {self.known_load_run} itself: only what was set right in it "
                "since, such as its mass, tells anything about the drives"
            )
        settings = self.drive_settings()
        return iparam.estimation.torque.gains_from_known_load(
            bare, loaded, robot, load, other=given, motion=settings["motion"], leave_out=settings["leave_out"]
        )


def print_drives(friction_terms: Sequence[Sequence[str]], coupled_drives: Sequence[CoupledDrive], width: int) -> None:
    """Which terms of friction each joint has, joints with the same ones on one line, and the coupled drives.

    Args:
        friction_terms: of each joint; none for one that is left out.
        coupled_drives: that turn with several joints.
        width: of the labels.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for joint, terms in enumerate(friction_terms, 1):
        groups.setdefault(tuple(terms), []).append(str(joint))
    label = "friction"
    for terms, joints in groups.items():
        print_line(f"{label:{width}}{', '.join(terms) or 'none'}: joint{'s'[: len(joints) > 1]} {' '.join(joints)}")
        label = ""
    for drive in coupled_drives:
        print_line(
            f"{'coupled':{width}}{drive.coupling.name}: rotor {number(drive.rotor_inertia, 3)} kg m^2, viscous "
            f"{number(drive.viscous, 3)} N m s/rad, coulomb {number(drive.coulomb, 3)} N m"
        )
