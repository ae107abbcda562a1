"""`iparam bag export`: a recording becomes a ROS 2 bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from iparam.cli.output import note, print_json, print_line, print_table
from iparam.cli.outputs import Writes
from iparam.cli.recorded_run import RecordedRunOptions
from iparam.file_kind import FileKind


@dataclass(frozen=True, kw_only=True)
class BagExport(RecordedRunOptions):
    r"""Write a recording as a ROS 2 bag: joint states, wrench and IMU.

    Example:
      iparam bag export run.parquet --output mybag
      iparam bag export run.parquet --output mybag --storage sqlite3 \
          --wrench-topic /force_torque_sensor_broadcaster/wrench
    """

    recording: Positional[Annotated[Path, arg(metavar="FILE")]]
    """The recording: .parquet or .csv."""
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
        from iparam.bridges.bag import write_bag
        from iparam.bridges.bag.output_folder import check_bag_folder
        from iparam.bridges.bag.writing import left_out

        check_bag_folder(self.output, self.overwrite)
        recording, robot = self.load_run(self.recording)
        topics = write_bag(
            recording,
            self.output,
            robot,
            self.storage,
            joint_topic=self.joint_topic,
            wrench_topic=self.wrench_topic,
            imu_topic=self.imu_topic,
            overwrite=self.overwrite,
        )
        without = left_out(recording)
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
