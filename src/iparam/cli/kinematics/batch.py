"""`iparam kinematics batch`: the motion of the tool along a whole trajectory or recording."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.arrays import FloatArray
from iparam.cli.console.printing import note_remark, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.kinematics.sample_files import SampleBlock, is_trajectory_file, read_table
from iparam.cli.kinematics.state_files import StatesHeader, writer_type
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import Tip, note_other_arm, robot_of
from iparam.cli.options.planning import Blend, blended, read_plan
from iparam.errors import ContradictionError, InputError
from iparam.files.atomic import atomic_file
from iparam.files.kind import FileKind
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles

MOST_STATES = 2_000_000
"""Of a planned motion: an hour at 500 Hz. A slip in a trajectory file must not fill a disk."""


@dataclass(frozen=True, kw_only=True)
class Batch(ArmOptions):
    """Pose, velocity and acceleration of the tool frame for every sample of a file.

    Input: a trajectory file, or a table with columns time, q0.., dq0.., ddq0..

    Output: a table with pose, velocity and acceleration at every time.

    Example:
      iparam kinematics batch --input trajectory.json --output states.csv
      iparam kinematics batch --input samples.csv --output states.json --robot ur5e
    """

    input: Annotated[Path, arg(metavar="FILE")]
    """Trajectory or table: .json, .csv or .parquet."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.STATES)]
    """File for the states: .json, .csv or .parquet. Replaced if it exists."""
    overwrite: Overwrite = False
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the trajectory's)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, xacro, MJCF). A table needs it."""
    fps: Annotated[float | None, arg(metavar="HZ", help_behavior_hint="(default: the trajectory's)")] = None
    """Samples a second taken from a trajectory."""
    blend: Blend = None
    tip: Tip = None
    frame: Literal["tool", "base"] = "tool"
    """Axes of the velocities and accelerations. The pose is always in the base."""

    def run(self) -> None:
        """Compute and write."""
        make_writer = writer_type(self.output)
        robot, blocks = self._open_input()
        header = StatesHeader(robot.name, robot.base_frame, robot.tool_frame, self.frame)
        count = 0
        with atomic_file(self.output) as file, closing(make_writer(file, header)) as writer:
            for block in blocks:
                check_angles(block.q[0], robot, str(self.input))
                writer.write(_states(robot, block, self.frame))
                count += block.time.size
                if sys.stderr.isatty():
                    sys.stderr.write(f"\r{count} samples\r")
                    sys.stderr.flush()
        say(f"{count} states of {robot.name} written to {self.output}")

    def _open_input(self) -> tuple[Robot, Iterator[SampleBlock]]:
        if is_trajectory_file(self.input):
            return self._open_trajectory()
        if self.fps is not None:
            raise InputError("--fps is for trajectory files; the samples of a table are taken as they are")
        if self.blend is not None:
            raise InputError(
                "--blend is for trajectory files; iparam.trajectory.apply_jerk_limit does the same to arrays of samples"
            )
        stated = self._stated_robot()
        if not (self.robot or stated):
            raise InputError(f"{self.input} does not say which robot it belongs to: add --robot")
        robot = robot_of(self.robot or stated, self.tip, **self.cut(), named_by="" if self.robot else str(self.input))
        for one in iparam.robot.check_same_arm(stated, robot, self.robot or stated, str(self.input)):
            note_remark(one)
        return robot, read_table(self.input, robot.num_joints)

    def _stated_robot(self) -> str:
        """The robot that a recording names, "" if it does not; refuses joint angles in another unit."""
        if self.input.suffix.lower() != ".parquet":
            return ""

        document = iparam.recording.stated_in_parquet(self.input) or {"robot": "", "signals": {}}
        for name in ("q", "dq", "ddq"):
            unit, needed = document["signals"].get(name, {}).get("unit", ""), iparam.recording.default_unit(name)
            if unit not in ("", needed):
                raise ContradictionError(
                    f"{self.input}: {name} is in {unit!r}, and is needed in {needed!r}: convert it, e.g. with "
                    "iparam.Recording.load(...).save(...)"
                )
        if document.get("time_unit", "s") != "s":
            raise ContradictionError(
                f"{self.input}: time is in {document['time_unit']!r}, and is needed in 's': convert it, e.g. with "
                "iparam.Recording.load(...).save(...)"
            )
        return str(document["robot"])

    def _open_trajectory(self) -> tuple[Robot, Iterator[SampleBlock]]:
        planned = blended(read_plan(self.input), self.blend)
        name, fps = self.robot or planned.robot, planned.fps if self.fps is None else self.fps
        if not name:
            raise InputError(f"{self.input} does not say which robot it belongs to: add --robot")
        if fps is None:
            raise InputError(f"{self.input} does not say how often to sample it: add --fps")
        robot = robot_of(name, self.tip, planned.arm, **self.cut(), named_by="" if self.robot else str(self.input))
        if planned.trajectory.num_joints != robot.num_joints:
            raise InputError(
                f"{self.input} moves {planned.trajectory.num_joints} joints, {robot.name} has {robot.num_joints}"
            )
        note_other_arm(planned.robot, robot, self.robot, str(self.input))
        count = planned.trajectory.duration * fps
        if count > MOST_STATES:
            raise InputError(
                f"{self.input}: {planned.trajectory.duration:g} s at {fps:g} Hz are {count:.3g} states, more than the "
                f"{MOST_STATES} that are written; sample less often, e.g. --fps {0.9 * MOST_STATES * fps / count:.2g}"
            )
        motion = planned.trajectory.sample(fps)
        return robot, SampleBlock(motion.time, motion.q, motion.dq, motion.ddq).split()


def _states(robot: Robot, block: SampleBlock, axes: Literal["tool", "base"]) -> FloatArray:
    """(N, columns) in the order of `iparam.cli.kinematics.state_files.COLUMNS`."""
    from scipy.spatial.transform import Rotation

    motion = iparam.tool_motion(robot, block.q, block.dq, block.ddq)
    motion = motion.in_base() if axes == "base" else motion
    columns = (
        block.time[:, None],
        motion.pose[:, :3, 3],
        Rotation.from_matrix(motion.pose[:, :3, :3]).as_quat(canonical=True),  # qw >= 0
        motion.linear_velocity,
        motion.angular_velocity,
        motion.linear_acceleration,
        motion.angular_acceleration,
    )
    states: FloatArray = np.concatenate(columns, axis=1)
    if not np.isfinite(states).all():
        row = int(np.argwhere(~np.isfinite(states))[0, 0])
        raise InputError(f"the motion at time {block.time[row]:g} s is too large to compute with")
    return states
