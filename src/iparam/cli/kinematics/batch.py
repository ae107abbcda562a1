"""`iparam kinematics batch`: the motion of the tool along a whole trajectory or recording."""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from tyro.conf import arg

import iparam
from iparam.arrays import FloatArray
from iparam.cli.console.printing import AsJson, note_remark, print_json, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import Tip, note_other_arm, robot_of
from iparam.cli.options.planning import Blend, blended, read_plan
from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.files.json import json_line
from iparam.files.kind import FileKind
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles

FORMAT = "iparam-states/1"
SUFFIXES = (".json", ".csv", ".parquet")
FIELDS = {
    "time": ("time",),
    "position": ("x", "y", "z"),
    "quaternion_xyzw": ("qx", "qy", "qz", "qw"),
    **{
        vector: tuple(f"{vector}_{axis}" for axis in "xyz")
        for vector in ("linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration")
    },
}
"""Fields of a state in JSON -> its columns in CSV and Parquet."""
COLUMNS = tuple(column for columns in FIELDS.values() for column in columns)
MOST_STATES = 2_000_000
"""Of a planned motion: an hour at 500 Hz. A slip in a trajectory file must not fill a disk."""


@dataclass(frozen=True, kw_only=True)
class Batch(ArmOptions):
    """Pose, velocity and acceleration of the tool frame for every sample of a file.

    A recording needs q, dq and ddq: iparam does not differentiate positions here.

    Example:
      iparam kinematics batch --input trajectory.json --output states.parquet
      iparam kinematics batch --input run.csv --output states.json --robot ur5e
    """

    input: Annotated[Path, arg(metavar="FILE")]
    """Trajectory, .json, or recording: .parquet, .csv, .npz or .mat."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.STATES)]
    """File for the states: .json, .csv or .parquet. Replaced if it exists."""
    overwrite: Overwrite = False
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the file's)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, xacro, MJCF)."""
    fps: Annotated[float | None, arg(metavar="HZ", help_behavior_hint="(default: the trajectory's)")] = None
    """Samples a second taken from a trajectory."""
    blend: Blend = None
    tip: Tip = None
    frame: Literal["tool", "base"] = "tool"
    """Axes of the velocities and accelerations. The pose is always in the base."""
    json: AsJson = False

    def run(self) -> None:
        """Compute and write."""
        if self.output.suffix.lower() not in SUFFIXES:
            raise InputError(f"--output {self.output}: its suffix must be one of {', '.join(SUFFIXES)}")
        is_plan = self.input.suffix.lower() == ".json"
        robot, time, motion = self._planned() if is_plan else self._recorded()
        check_angles(motion[0][0], robot, str(self.input))
        header = {
            "robot": robot.name,
            "base_frame": robot.base_frame,
            "tool_frame": robot.tool_frame,
            "axes": self.frame,
        }
        states = _states(robot, time, motion, self.frame)
        write_atomically(self.output, _content(self.output.suffix.lower(), header, states))
        if self.json:
            print_json({"robot": robot.name, "states": len(states), "output": str(self.output)})
        else:
            say(f"{len(states)} states of {robot.name} written to {self.output}")

    def _recorded(self) -> tuple[Robot, FloatArray, tuple[FloatArray, ...]]:
        if self.fps is not None or self.blend is not None:
            raise InputError("--fps and --blend are for trajectory files; the samples of a recording stay as they are")
        recording = iparam.Recording.load(self.input, robot=self.robot, tip=self.tip)
        for remark in recording.remarks:
            note_remark(remark)
        name = self.robot or recording.robot
        if not name:
            raise InputError(f"{self.input} does not say which robot it belongs to: add --robot")
        robot = robot_of(name, self.tip, **self.cut(), named_by="" if self.robot else str(self.input))
        signals = [recording.signal(name) for name in ("q", "dq", "ddq")]
        if any(not np.array_equal(one.time, signals[0].time) for one in signals):
            raise InputError(f"{self.input}: q, dq and ddq have different time stamps: align them first")
        for one in signals:
            if one.width != robot.num_joints:
                raise InputError(f"{self.input} moves {one.width} joints, {robot.name} has {robot.num_joints}")
        return robot, signals[0].time, tuple(one.values for one in signals)

    def _planned(self) -> tuple[Robot, FloatArray, tuple[FloatArray, ...]]:
        planned = blended(read_plan(self.input), self.blend)
        name, fps = self.robot or planned.robot, planned.fps if self.fps is None else self.fps
        if not name:
            raise InputError(f"{self.input} does not say which robot it belongs to: add --robot")
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
        return robot, motion.time, (motion.q, motion.dq, motion.ddq)


def _states(
    robot: Robot, time: FloatArray, joints: tuple[FloatArray, ...], axes: Literal["tool", "base"]
) -> FloatArray:
    """(N, columns) in the order of `COLUMNS`."""
    from scipy.spatial.transform import Rotation

    motion = iparam.tool_motion(robot, *joints)
    motion = motion.in_base() if axes == "base" else motion
    columns = (
        time[:, None],
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
        raise InputError(f"the motion at time {time[row]:g} s is too large to compute with")
    return states


def _content(suffix: str, header: dict[str, Any], states: FloatArray) -> bytes:
    """A file of states: a JSON object with one a field, or a table of columns; a CSV has no place for the header."""
    if suffix == ".json":
        edges = np.cumsum([0, *map(len, FIELDS.values())]).tolist()
        places = dict(zip(FIELDS, pairwise(edges), strict=True))
        rows = [
            {name: row[a] if name == "time" else row[a:b] for name, (a, b) in places.items()} for row in states.tolist()
        ]
        return f"{json_line({'format': FORMAT, **header, 'states': rows})}\n".encode()
    import pyarrow.csv
    import pyarrow.parquet

    table = pyarrow.table(dict(zip(COLUMNS, states.T, strict=True)))
    stream = io.BytesIO()
    if suffix == ".csv":
        stream.write((",".join(COLUMNS) + "\n").encode())
        pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(include_header=False))
    else:
        pyarrow.parquet.write_table(table.replace_schema_metadata({"format": FORMAT, **header}), stream)
    return stream.getvalue()
