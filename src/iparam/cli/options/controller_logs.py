"""The options that say how to read the logs of an arm, shared by the commands that read them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import AsJson
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.drives import DriveOptions
from iparam.cli.options.joint_state import Tip, exact_count, robot_of
from iparam.cli.options.mounting import MountingOptions
from iparam.cli.options.recording_file import RecordingFileOptions

if TYPE_CHECKING:
    from iparam.arrays import FloatArray
    from iparam.estimation.torque.drives.drive_gains import DriveGains
    from iparam.robot.model import Robot


@dataclass(frozen=True, kw_only=True)
class ControllerLogOptions(ArmOptions, DriveOptions, RecordingFileOptions, MountingOptions):
    """The options; a command adds its own to them."""

    robot: Annotated[str, arg(metavar="ROBOT")]
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Tip = None
    drive_gains: Annotated[tuple[float, ...], arg(metavar="K0 K1 ..", help_behavior_hint="(default: estimated)")] = ()
    """Torque that an ampere makes at each joint [N m/A]; negative where currents are counted the other way round."""
    json: AsJson = False

    def load_robot(self) -> Robot:
        """The robot."""
        return robot_of(self.robot, self.tip, **self.cut())

    def load_log(self, path: Path, robot: Robot) -> iparam.Recording:
        """One log, with notes on what is wrong with it."""
        return iparam.recording.with_gravity(self.read_file(path, robot), self.given_gravity())

    def load_other_log(self, path: Path, robot: Robot, rows: str | None = None) -> iparam.Recording:
        """A log of another occasion: --rows and --time-range are not about it.

        Args:
            path: the log.
            robot: the arm.
            rows: to read, see `RecordingFileOptions.rows`; None for all.
        """
        return dataclasses.replace(self, rows=rows, time_range=None).load_log(path, robot)

    def gains(self, robot: Robot) -> FloatArray | None:
        """The drive gains, if they are given."""
        if not self.drive_gains:
            return None
        return exact_count(self.drive_gains, "--drive-gains", "torque an ampere [N m/A]", robot.num_joints)

    def found_gains(self, robot: Robot, bare: iparam.Recording) -> FloatArray | DriveGains | None:
        """The drive gains, if they are given or a known load tells them beside the run without load."""
        given = self.gains(robot)
        if self.known_load_run is None:
            return given
        return self.calibrated_gains(bare, self.load_other_log(self.known_load_run, robot), robot, given)
