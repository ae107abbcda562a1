"""`iparam bag import`: a ROS 2 bag becomes a recording."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from iparam.cli.joint_state import robot_of
from iparam.cli.output import note, number, print_json, print_line, print_table
from iparam.cli.outputs import Overwrite, Writes
from iparam.errors import InputError
from iparam.file_kind import FileKind
from iparam.robot.catalog import robot_names

if TYPE_CHECKING:
    from iparam.recording.recording import Recording


@dataclass(frozen=True, kw_only=True)
class BagImport:
    r"""Read joint states, wrench and IMU of a ROS 2 bag into a recording.

    Damaged and unfinished bags are read as far as they go.

    Example:
      iparam bag import mybag --robot ur5e --output run.parquet
      iparam bag import recorded.mcap --robot ur5e --output run.parquet \
          --joint-prefix left_ --wrench-topic /left/wrench \
          --wrench-measures reaction --units force=mN torque=Nmm
    """

    bag: Positional[Annotated[Path, arg(metavar="BAG")]]
    """The bag: a folder, or a single .mcap or .db3 file."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the bag's, if iparam's)")] = None
    """A name from 'iparam robots', or the path of a URDF file."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the tool: a link of the URDF, or 'flange'."""
    joint_topic: Annotated[str | None, arg(metavar="TOPIC", help_behavior_hint="(default: the only one)")] = None
    """Topic of the sensor_msgs/JointState."""
    wrench_topic: Annotated[str | None, arg(metavar="TOPIC", help_behavior_hint="(default: the only one)")] = None
    """Topic of the geometry_msgs/WrenchStamped; 'none' to leave it out."""
    imu_topic: Annotated[str | None, arg(metavar="TOPIC", help_behavior_hint="(default: the only one)")] = None
    """Topic of the sensor_msgs/Imu; 'none' to leave it out."""
    joint_names: Annotated[tuple[str, ...], arg(metavar="NAME ..", help_behavior_hint="(default: the robot's)")] = ()
    """The arm's joints as the bag calls them, in the robot's order."""
    joint_prefix: Annotated[str | None, arg(metavar="TEXT", help_behavior_hint="(default: found)")] = None
    """What stands before the robot's joint names in the bag."""
    wrench_frame: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the messages')")] = None
    """Frame of the wrench: tool0, another one behind the last joint, or 'base': at the tool, in base axes."""
    wrench_measures: Literal["action", "reaction"] = "action"
    """What the robot exerts on the payload, or what the payload exerts on the robot."""
    imu_frame: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the messages')")] = None
    """Frame of the IMU, one behind the last joint."""
    effort: Literal["torque", "current", "ignore"] = "torque"
    """What the efforts of joint states are: torques, motor currents, or nothing of use."""
    angles: Annotated[Literal["radians", "degrees"] | None, arg(help_behavior_hint="(default: radians, checked)")] = (
        None
    )
    """Unit of the joint angles in the bag."""
    units: Annotated[tuple[str, ...], arg(metavar="NAME=UNIT ..", help_behavior_hint="(default: SI, checked)")] = ()
    """Other units: force=mN, torque=Nmm, acceleration=g, gyro=deg/s; SI ones take the numbers as they are."""
    stamps: Literal["header", "log"] = "header"
    """The time that counts: of the messages' headers, or of recording."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object, SI units, all digits."""

    def run(self) -> None:
        """Read, check, write and report."""
        from iparam.bridges.bag import ImportSettings, read_bag

        settings = ImportSettings(
            joint_topic=self.joint_topic,
            wrench_topic=self.wrench_topic,
            imu_topic=self.imu_topic,
            joint_names=self.joint_names,
            joint_prefix=self.joint_prefix,
            wrench_frame=self.wrench_frame,
            measures=self.wrench_measures,
            imu_frame=self.imu_frame,
            effort=self.effort,
            angles=self.angles,
            units=self._units(),
            stamps=self.stamps,
        )
        if self.robot is None and self.tip is not None:
            raise InputError("--tip is a frame of a robot: add --robot")
        robot = robot_of(self.robot, self.tip) if self.robot is not None else None
        recording = read_bag(self.bag, robot, settings)
        if robot is not None and robot.name not in robot_names():
            recording = replace(recording, robot=str(self.robot))  # the URDF's path: its name would not find it again
        recording.save(self.output)
        for warning in recording.warnings:
            note(warning)
        self._report(recording)

    def _units(self) -> dict[str, str]:
        pairs = [text.partition("=") for text in self.units]
        for text, (name, _, unit) in zip(self.units, pairs, strict=True):
            if not name or not unit:
                raise InputError(f"--units takes pairs such as force=mN, got {text!r}")
        return {name: unit for name, _, unit in pairs}

    def _report(self, recording: Recording) -> None:
        bag = recording.metadata["bag"]
        if self.json:
            print_json(
                {
                    "robot": recording.robot,
                    "duration": recording.duration,
                    **{name: bag[name] for name in ("storage", "stamps", "time_origin_ns", "topics")},
                    "samples": {name: signal.num_samples for name, signal in recording.signals.items()},
                    "output": str(self.output),
                    "warnings": list(recording.warnings),
                }
            )
            return
        rows = []
        for topic in bag["topics"]:
            counts = [str(topic["messages"]), number(topic["rate"], 1), number(topic["span"], 3), str(topic["dropped"])]
            rows.append([topic["topic"], topic["type"].rpartition("/")[2], *counts, " ".join(topic["signals"]) or "-"])
        title = f"{self.bag}: {', '.join(bag['storage'])}, {recording.robot}"
        print_table(title, ["topic", "type", "messages", "rate Hz", "span s", "dropped", "signals"], rows)
        print_line(f"recording     {self.output}, {number(recording.duration, 3)} s")
