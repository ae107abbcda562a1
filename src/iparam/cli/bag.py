"""`iparam bag import|export|info`: ROS bags become recordings, and recordings ROS 2 bags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, Suppress, arg

import iparam
from iparam.cli.console.printing import AsJson, note, note_remark, print_json, print_line, print_table
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import Tip, note_model, note_robot_file, robot_of
from iparam.cli.options.mounting import MountingOptions, SensorPlaceOptions, note_unstored
from iparam.cli.options.recorded_run import RecordedRunOptions
from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.files.kind import FileKind
from iparam.remarks import messages
from iparam.robot.catalog import robot_names
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.bridges.bag.contents import BagContents
    from iparam.bridges.bag.settings import ImportSettings
    from iparam.recording.recording import Recording


@dataclass(frozen=True, kw_only=True)
class BagImport(ArmOptions, MountingOptions, SensorPlaceOptions):
    r"""Read joint states, wrench and IMU of a ROS 2 or ROS 1 bag into a recording.

    The robot of a recorded /robot_description is written beside it, as .urdf.

    Example:
      iparam bag import mybag --output run.parquet
      iparam bag import mybag --robot ur5e --output run.parquet
      iparam bag import recorded.mcap --robot ur5e --output run.parquet \
          --joint-prefix left_ --wrench-topic /left/wrench \
          --wrench-measures reaction --units force=mN torque=Nmm
    """

    bag: Positional[Annotated[Path, arg(metavar="BAG")]]
    """The bag: a folder, or a single .mcap, .db3 or .bag file."""
    output: Annotated[Path, arg(metavar="FILE"), Writes(FileKind.RECORDING)]
    """File for the recording: .parquet or .csv. Replaced if it exists."""
    overwrite: Overwrite = False
    robot: Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="(default: the bag's own)")] = None
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Tip = None
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
    """Frame of the wrench: one behind the last joint, or 'base': at the tool, in base axes."""
    measures: Annotated[
        Literal["action", "reaction"] | None,
        arg(metavar="{action,reaction}", help_behavior_hint="(default: action)"),
    ] = None
    """What the robot exerts on the payload, or what the payload exerts on the robot."""
    imu_frame: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the messages')")] = None
    """Frame of the IMU, one behind the last joint."""
    effort: Literal["torque", "current", "ignore"] = "torque"
    """What the efforts of joint states are: torques, motor currents, or nothing of use."""
    angles: Annotated[
        Literal["radians", "degrees"] | None,
        arg(metavar="{radians,degrees}", help_behavior_hint="(default: radians, checked)"),
    ] = None
    """Unit of the joint angles in the bag."""
    units: Annotated[tuple[str, ...], arg(metavar="NAME=UNIT ..", help_behavior_hint="(default: SI, checked)")] = ()
    """Other units: force=mN, torque=Nmm, acceleration=g, gyro=deg/s; SI ones take the numbers as they are."""
    stamps: Literal["header", "log"] = "header"
    """The time that counts: of the messages' headers, or of recording."""
    of_setup: Annotated[tuple[str, ...], Suppress] = ()
    # Which of the options --setup gave.
    json: AsJson = False

    def run(self) -> None:
        """Read, check, write and report."""
        gravity = self.given_gravity()
        settings = self._settings()  # complaints about them come first
        robot = robot_of(self.robot, self.tip, **self.cut()) if self.robot is not None else None
        contents = iparam.bridges.bag.open_bag(self.bag)
        settings = self._still_to_apply(settings, contents)
        described = None if robot is not None else iparam.bridges.bag.robot_in_bag(contents, self.tip, **self.cut())
        if described is not None:
            robot = described.robot
            note_model(robot)
        elif robot is None and (self.tip or self.base or self.lock):
            raise InputError("--tip, --base and --lock are about a robot, and the bag has none: add --robot")
        recording = iparam.recording.with_gravity(iparam.bridges.bag.read_bag(contents, robot, settings), gravity)
        if described is not None:
            recording = self._with_description(recording.with_remarks(described.remark), described.text)
        elif robot is not None and robot.name not in robot_names():
            recording = replace(recording, robot=str(self.robot))  # the URDF's path: its name would not find it again
        recording = self.stating_setup(recording)
        recording.save(self.output)
        note_unstored(recording, self.output)
        note_robot_file(recording.robot, self.output)
        for one in recording.remarks:
            note_remark(one)
        self._report(recording)

    def _settings(self) -> ImportSettings:
        return iparam.bridges.bag.ImportSettings(
            joint_topic=self.joint_topic,
            wrench_topic=self.wrench_topic,
            imu_topic=self.imu_topic,
            joint_names=self.joint_names,
            joint_prefix=self.joint_prefix,
            wrench_frame=self.wrench_frame,
            measures=self.measures,
            place=self.sensor_place(),
            imu_frame=self.imu_frame,
            effort=self.effort,
            angles=self.angles,
            units=self._units(),
            stamps=self.stamps,
        )

    def _still_to_apply(self, settings: ImportSettings, contents: BagContents) -> ImportSettings:
        """The settings without what of a setup had been applied before the bag was written, by iparam."""
        given = replace(
            settings.place,
            measures=settings.measures,
            wrench_frame="base" if settings.wrench_frame == "base" else None,
        )
        left = iparam.sensing.still_to_apply(
            given, iparam.bridges.bag.applied_before(contents), self.of_setup, str(self.setup)
        )
        return replace(
            settings,
            measures=left.measures,
            place=replace(left, measures=None, wrench_frame=None),
            wrench_frame=None if given.wrench_frame and not left.wrench_frame else settings.wrench_frame,
        )

    def _with_description(self, recording: Recording, text: str) -> Recording:
        """The recording with the bag's own robot, which lies beside it from now on."""
        path = self.output.with_suffix(".urdf")
        if path.exists() and path.read_bytes() != text.encode() and not self.overwrite:
            raise InputError(
                f"{path}, where the robot of the bag belongs, holds another: choose another --output, or --overwrite"
            )
        write_atomically(path, text)
        note(f"the robot's description was written to {path}")
        return replace(recording, robot=str(path))

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
                    "remarks": [one.to_document() for one in recording.remarks],
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


@dataclass(frozen=True, kw_only=True)
class BagExport(RecordedRunOptions):
    r"""Write a recording as a ROS 2 bag: joint states, wrench and IMU.

    Example:
      iparam bag export run.parquet --output mybag
      iparam bag export run.parquet --output mybag-sqlite3 --storage sqlite3 \
          --wrench-topic /force_torque_sensor_broadcaster/wrench
    """

    recording: Positional[Annotated[Path, arg(metavar="FILE")]]
    """The recording: .parquet, .csv, .npz or .mat."""
    output: Annotated[Path, arg(metavar="FOLDER"), Writes(FileKind.BAG)]
    """The bag, a new folder."""
    storage: Literal["mcap", "sqlite3"] = "mcap"
    """Kind of the bag's file."""
    joint_topic: Annotated[str, arg(metavar="TOPIC")] = "/joint_states"
    """Topic for q, dq and tau, as sensor_msgs/JointState."""
    wrench_topic: Annotated[str, arg(metavar="TOPIC")] = "/wrench"
    """Topic for the wrench, as geometry_msgs/WrenchStamped."""
    imu_topic: Annotated[str, arg(metavar="TOPIC")] = "/imu"
    """Topic for accelerometer and gyro, as sensor_msgs/Imu."""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """Replace a bag that is there; a folder with anything else in it is never replaced."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object."""

    def run(self) -> None:
        """Read, write and report."""
        iparam.bridges.bag.check_bag_folder(self.output, self.overwrite)
        recording, robot = self.load_run(self.recording)
        recording, turned = iparam.sensing.in_tool_frame(recording, robot)
        for one in turned:
            note_remark(one)
        topics = iparam.bridges.bag.write_bag(
            recording,
            self.output,
            robot,
            self.storage,
            joint_topic=self.joint_topic,
            wrench_topic=self.wrench_topic,
            imu_topic=self.imu_topic,
            overwrite=self.overwrite,
        )
        without = iparam.bridges.bag.left_out(recording)
        if without:
            note(f"ROS has no message for {', '.join(without)}: not in the bag")
        if self.json:
            written = [
                {"topic": topic.topic, "type": topic.type, "signals": topic.signals, "messages": topic.messages}
                for topic in topics
            ]
            print_json({"output": str(self.output), "storage": self.storage, "topics": written, "left_out": without})
            return
        rows = [[topic.topic, topic.type, str(topic.messages), " ".join(topic.signals)] for topic in topics]
        print_table(f"{self.recording}, {robot.name}", ["topic", "type", "messages", "signals"], rows)
        print_line(f"bag           {self.output} ({self.storage})")


@dataclass(frozen=True, kw_only=True)
class BagInfo:
    r"""List the topics of a ROS 2 or ROS 1 bag.

    Example:
      iparam bag info mybag
      iparam bag info recorded.mcap --json
    """

    bag: Positional[Annotated[Path, arg(metavar="BAG")]]
    """The bag: a folder, or a single .mcap, .db3 or .bag file."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print one JSON object."""

    def run(self) -> None:
        """Read and list."""
        contents = iparam.bridges.bag.open_bag(self.bag, kept_types=())
        for remark in contents.remarks:
            note_remark(remark)
        if self.json:
            topics = [
                {
                    "topic": topic.name,
                    "type": topic.type,
                    "messages": topic.count,
                    "rate": topic.rate,
                    "span": topic.span,
                }
                for topic in contents.topics
            ]
            print_json(
                {
                    "storage": list(contents.storages),
                    "topics": topics,
                    "warnings": list(messages(contents.remarks)),
                    "remarks": [one.to_document() for one in contents.remarks],
                }
            )
            return
        rows = [
            [topic.name, topic.type, str(topic.count), number(topic.rate, 1), number(topic.span, 3)]
            for topic in contents.topics
        ]
        title = f"{self.bag}: {', '.join(contents.storages)}"
        print_table(title, ["topic", "type", "messages", "rate Hz", "span s"], rows)
