"""The options that say how to read a recording and which arm it is of, shared by the commands that read one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note, note_remark
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import note_model
from iparam.cli.options.mounting import MountingOptions
from iparam.cli.options.recording_file import RecordingFileOptions
from iparam.errors import InputError
from iparam.remarks import Remark
from iparam.robot.loading import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from iparam.motion.sources import MotionSource
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot

JointMotion = Annotated[
    Literal["kalman", "angles", "set-points", "butterworth"], arg(help="Where the motion comes from.")
]
"""The type of the option ``motion`` of commands that take it from the joints."""

Motion = Annotated[
    Literal["kalman", "angles", "set-points", "accelerometer", "butterworth"],
    arg(help="Where the motion comes from."),
]
"""The same where an accelerometer at the tool may tell a part of it."""


Bias = Annotated[
    Literal["estimate", "none", "zeroed"],
    arg(help="The sensor's bias: estimated, none, or what is left of a zeroing with the load on in the first pose."),
]
"""The type of the option ``bias``."""


def bias_of(bias: Bias, recording: Recording) -> Bias:
    """The treatment of the bias that is typed, or that the recording's setup asks for; with a note on the latter."""
    if bias != "estimate" or iparam.sensing.pending_setup(recording).get("zeroed") != "with load":
        return bias
    note("--bias zeroed, as the recording's setup says")
    return "zeroed"


@dataclass(frozen=True, kw_only=True)
class RecordedRunOptions(ArmOptions, RecordingFileOptions, MountingOptions):
    """The options; a command adds its own to them."""

    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the recording's)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the recording's)")] = None
    """The frame taken as the tool: a link of the URDF, or 'flange'."""

    def load_run(self, path: Path) -> tuple[iparam.Recording, Robot]:
        """The recording and its arm, which must not contradict each other; with notes on what is wrong with it."""
        return self.with_arm(self.load_recording(path), path)

    def load_recording(self, path: Path) -> iparam.Recording:
        """The recording, with notes on what is wrong with it, under the gravity of the options."""
        robot: Robot | str | None = self.robot
        if self.robot is not None and (self.base is not None or self.lock):
            robot = load_robot(self.robot, tip=self.tip, **self.cut())
        return iparam.recording.with_gravity(self.read_file(path, robot, self.tip), self.given_gravity())

    def with_arm(self, recording: iparam.Recording, path: Path) -> tuple[iparam.Recording, Robot]:
        """The recording and its arm, which must not contradict each other, with notes on the model."""
        if not (self.robot or recording.robot):
            raise InputError(f"{path} does not say which robot it belongs to: name it", argument="robot")
        robot = iparam.sensing.recorded_robot(recording, self.robot, self.tip, **self.cut(), file=path)
        note_model(robot)
        told = iparam.recording.with_followers(iparam.sensing.with_told_frame(recording, robot, self.tip), robot)
        note_further(told.remarks, recording)
        iparam.sensing.check_run(told, robot, uses_wrench=recording.has("wrench"))
        return told, robot


def motion_source(name: str) -> MotionSource:
    """The source of motion that an option `Motion` names."""
    sources: dict[str, Callable[[], MotionSource]] = {
        "kalman": iparam.motion.KalmanMotion,
        "angles": partial(iparam.motion.KalmanMotion, angles_alone=True),
        "set-points": iparam.motion.SetPointMotion,
        "accelerometer": iparam.motion.AccelerometerMotion,
        "butterworth": iparam.motion.ButterworthMotion,
    }
    return sources[name]()


def note_further(remarks: Iterable[Remark], *recordings: Recording) -> None:
    """Notes on what was found, without those that were given when the recordings were loaded."""
    given = {one for recording in recordings for one in recording.remarks}
    for one in remarks:
        if one not in given:
            note_remark(one)
