"""`read_bag`: the topics of a ROS 2 or ROS 1 bag as a recording."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.contents import BagContents, Samples, Topic, open_bag
from iparam.bridges.bag.joint_order import JointOrder, find_order, samples_of_arm
from iparam.bridges.bag.robot_in_bag import fixed_frames, robot_in_bag
from iparam.bridges.bag.rosbags_backend import IMU, JOINT_STATE, WRENCH
from iparam.bridges.bag.settings import ImportSettings, choose_topic
from iparam.bridges.bag.signals import CollectedSignals, Ordered, choose_clock, order
from iparam.bridges.bag.units import check_acceleration, check_gyro, check_wrench, scale, wrench_remarks
from iparam.bridges.bag.writing import Provenance
from iparam.errors import ContradictionError, FileFormatError, InputError
from iparam.recording.followers import filled_signals, with_followers
from iparam.recording.recording import Recording
from iparam.recording.screening import check_angles, check_clocks, find_faults, to_radians, turns_taken_out
from iparam.recording.units import check_time
from iparam.remarks import Remark, messages, remark
from iparam.robot.catalog import robot_names
from iparam.robot.loading import load_robot, stated_name
from iparam.robot.model import Robot
from iparam.robot.same_arm import check_same_arm
from iparam.sensing.applied_setup import still_to_apply, with_applied
from iparam.sensing.correction import Correction
from iparam.sensing.force_torque import wrist_range_remarks
from iparam.sensing.frame_tree import FrameTree
from iparam.sensing.sensor_frame import BASE, NEAR, SensorFrame, sensor_frame
from iparam.sensing.wrench_source import BaseFrameWrench, Measures, SensorWrench
from iparam.spatial.transforms import rotation_from_rpy, rpy_from_rotation, transform_from

NOTHING = "none"
"""In place of a topic's name: no topic of that type is read."""


def read_bag(
    path: str | os.PathLike[str] | BagContents,
    robot: Robot | str | None = None,
    settings: ImportSettings | None = None,
) -> Recording:
    """Read a bag of ROS 2 or ROS 1 into a recording: joint states, and wrench and IMU where there are any.

    The recording's ``remarks`` say what was left out, and its ``metadata["bag"]`` what was taken from which topic.
    Time zero is the first sample.

    Args:
        path: of the bag: a folder, or a single .mcap, .db3 or .bag file; or what `open_bag` read of it.
        robot: the arm or its name; None takes the name in a bag that iparam wrote, or the arm of its robot_description.
        settings: how to read it.
    """
    chosen = settings if settings is not None else ImportSettings()
    contents = path if isinstance(path, BagContents) else open_bag(path)
    arm, name, remarks = _robot(robot, contents)
    return _Import(contents, arm, name, chosen).run().with_remarks(*remarks)


def _robot(robot: Robot | str | None, contents: BagContents) -> tuple[Robot, str, list[Remark]]:
    """The arm, its name, and what a reader should know about the two."""
    stated = Provenance.from_custom(contents.custom).robot
    if robot is not None:
        arm, name = (robot, robot.name) if isinstance(robot, Robot) else (load_robot(robot), robot)
        return arm, name, check_same_arm(stated, arm, "" if isinstance(robot, Robot) else robot, contents.source)
    described = None if stated.lower() in robot_names() else robot_in_bag(contents)
    if described is None and stated:
        return load_robot(stated_name(stated, contents.source)), stated, []
    if described is None:
        raise InputError(
            f"{contents.source} does not say which robot it belongs to, and no robot_description was recorded in it: "
            "name it, e.g. 'ur5e' or 'arm.urdf'",
            argument="robot",
        )
    return described.robot, described.robot.name, [described.remark]


@dataclass(eq=False)
class _Import:
    contents: BagContents
    robot: Robot
    robot_name: str
    settings: ImportSettings
    taken: CollectedSignals = field(default_factory=CollectedSignals)
    joints: JointOrder = field(default_factory=lambda: JointOrder(()))
    prefix: str = ""  # before the arm's names in the bag
    passed_over: int = 0  # joint states that are not the arm's

    @cached_property
    def fixed(self) -> FrameTree:
        """Frames beside the robot's own."""
        return fixed_frames(self.contents)

    @property
    def measures(self) -> Measures:
        """Whose wrench the messages are taken for."""
        return self.settings.measures or "action"

    def run(self) -> Recording:
        self.taken.notes += self.contents.remarks
        choice = self._choose()
        joints = self._arm(choice[JOINT_STATE])
        samples = {kind: joints if kind == JOINT_STATE else topic.readable()[0] for kind, topic in choice.items()}
        by_name = {choice[kind].name: found for kind, found in samples.items()}
        clock, found_notes = choose_clock(by_name, self.settings.stamps)
        self.taken.notes += found_notes
        used = joints.stamps if clock == "header" else joints.log_times
        base = int(used[np.flatnonzero(used)[0]]) if used.any() else 0
        wrench_frame: SensorFrame | None = None
        for kind, topic in choice.items():
            found = samples[kind]
            if topic.unreadable:
                self.taken.notes.append(remark("messages-damaged", topic=topic.name, count=topic.unreadable))
            placed = order(topic.name, found, clock, base)
            self.taken.notes += placed.notes
            if kind == JOINT_STATE:
                self._joints(topic, found, placed)
            elif kind == WRENCH:
                wrench_frame = self._wrench(topic, found, placed)
            else:
                self._imu(topic, found, placed)
        return self._recording(clock, wrench_frame)

    def _choose(self) -> dict[str, Topic]:
        """Type -> topic, joint states first."""
        chosen: dict[str, Topic] = {}
        for kind, name, argument in (
            (JOINT_STATE, self.settings.joint_topic, "joint_topic"),
            (WRENCH, self.settings.wrench_topic, "wrench_topic"),
            (IMU, self.settings.imu_topic, "imu_topic"),
        ):
            required = kind == JOINT_STATE
            if name == NOTHING and not required:
                continue
            fits: Callable[[Topic], bool] | None = None
            if self._names_joints:
                fits = self._has_joints if kind == JOINT_STATE else self._has_frame
            topic = choose_topic(self.contents, kind, name, argument, required, self.taken.notes, fits)
            if topic is not None:
                chosen[kind] = topic
        if WRENCH not in chosen and self.settings.wrench_topic != NOTHING:
            self.taken.notes.append(remark("no-wrench-topic", type=WRENCH))
        return chosen

    @property
    def _names_joints(self) -> bool:
        return bool(self.settings.joint_names) or self.settings.joint_prefix is not None

    def _has_joints(self, topic: Topic) -> bool:
        """Whether a topic has the joints that the settings name."""
        prefix = self.settings.joint_prefix or ""
        free = [self.robot.joint_names[joint] for joint in self.robot.free_joints]
        wanted = set(self.settings.joint_names or (prefix + name for name in free))
        return any(wanted <= set(group.names) for group in topic.readable())

    def _has_frame(self, topic: Topic) -> bool:
        """Whether a sensor's topic is of the arm with the prefix that the settings name."""
        prefix = self.settings.joint_prefix
        return bool(prefix) and all(frame.lstrip("/").startswith(str(prefix)) for frame in topic.frames)

    def _arm(self, topic: Topic) -> Samples:
        """The joint states of the arm, without those of others on the same topic."""
        groups = topic.readable()
        self.joints, said = find_order(groups, self.robot, self.settings, topic.name)
        if said is not None:
            self.taken.notes.append(said)
        if self.joints.names[0].endswith(self.robot.joint_names[0]):
            self.prefix = self.joints.names[0].removesuffix(self.robot.joint_names[0])
        samples = samples_of_arm(groups, self.joints)
        self.passed_over = sum(group.stamps.size for group in groups) - samples.stamps.size
        if self.passed_over:
            self.taken.notes.append(remark("other-joints", topic=topic.name, count=self.passed_over))
        return samples

    def _joints(self, source: Topic, samples: Samples, placed: Ordered) -> None:
        topic = source.name
        effort = {"torque": "tau", "current": "current", "ignore": ""}[self.settings.effort]
        for place, name in enumerate(("q", "dq", effort)):
            if not name:
                continue
            whole = samples.present[placed.rows, place]
            values = samples.values[placed.rows, place][whole]
            if samples.uneven[place]:
                self.taken.notes.append(
                    remark("messages-uneven", topic=topic, count=samples.uneven[place], signal=name)
                )
            if name == effort and values.size and not values.any():
                self.taken.notes.append(remark("efforts-zero", topic=topic))
                continue
            self.taken.add(name, topic, placed.stamps[whole], values)
        if "q" not in self.taken.values:
            raise FileFormatError(f"{topic} has no usable joint positions: {' '.join(messages(self.taken.notes))}")
        own = bool(Provenance.from_custom(self.contents.custom).robot)  # written by iparam: torques for sure
        if effort == "tau" and "tau" in self.taken.values and not own and self.robot_name.lower() in robot_names():
            self.taken.notes.append(remark("efforts-taken-for-torques", topic=topic, fix={"effort": "current"}))
        self.taken.report(source, ("q", "dq", effort), self.passed_over)

    def _wrench(self, source: Topic, samples: Samples, placed: Ordered) -> SensorFrame:
        topic, units = source.name, self.settings.units
        frame = self._wrench_frame(source.frames, topic)
        if frame.remark is not None:
            self.taken.notes.append(frame.remark)
        self.taken.add("wrench", topic, placed.stamps, samples.values[placed.rows])
        if "wrench" not in self.taken.values:
            why = " ".join([*messages(self.taken.notes), f"{len(placed.rows)} messages, none with finite numbers"])
            raise FileFormatError(
                f"{topic} has no usable samples: {why}. Read another topic, or leave the wrench out",
                fix={"wrench_topic": NOTHING},
            )
        factors = np.repeat([scale("force", units), scale("torque", units)], 3)
        values = self.taken.values["wrench"] * factors
        check_wrench(values, units, topic)
        self.taken.values["wrench"] = frame.wrench_in_tool(values)
        self.taken.report(source, ("wrench",))
        return frame

    def _wrench_frame(self, frames: Mapping[str, int], topic: str) -> SensorFrame:
        """Where the sensor is: by its messages, or, where they do not tell, by the settings."""
        place = self.settings.place
        try:
            frame = sensor_frame(
                frames,
                self.settings.wrench_frame,
                self.robot,
                self.prefix,
                topic,
                "wrench_frame",
                True,
                self.fixed,
            )
        except FileFormatError:
            if not place or self.settings.wrench_frame is not None:
                raise
            return SensorFrame(next(iter(frames)), _pose(place))
        if not place or frame.pose is None:
            return frame
        if not _placed(frame.pose):
            return SensorFrame(frame.name, _pose(place), frame.remark)
        by_messages = _place(frame.pose)
        try:
            still_to_apply(place, by_messages, ("sensor_rotation", "sensor_offset"), "the setup")
        except ContradictionError:
            raise ContradictionError(
                f"{topic} is in the frame {frame.name!r}, which the robot has at {by_messages.text}, and it was "
                f"told that the sensor is at {place.text}: leave that out (the setup's sensor.rotation and "
                f"sensor.offset), or take {self.robot.tool_frame} if the messages name the wrong frame",
                argument="wrench_frame",
            ) from None
        return frame

    def _applied(self, frame: SensorFrame) -> Correction:
        """What has been done to the wrench, as far as somebody said that it is so."""
        axes: Literal["base"] | None = "base" if frame.pose is None else None
        place = self.settings.place if frame.pose is None else _place(frame.pose)
        known = Correction(measures=self.settings.measures, wrench_frame=axes).merged(place)
        return Provenance.from_custom(self.contents.custom).applied.merged(known)

    def _imu(self, source: Topic, samples: Samples, placed: Ordered) -> None:
        topic, units = source.name, self.settings.units
        try:
            frame = sensor_frame(
                source.frames,
                self.settings.imu_frame,
                self.robot,
                self.prefix,
                topic,
                "imu_frame",
                False,
                self.fixed,
            )
        except FileFormatError as error:
            if self.settings.imu_topic is not None:
                raise
            self.taken.notes.append(remark("imu-left-out", reason=str(error)))  # nobody asked for it
            return
        if frame.remark is not None:
            self.taken.notes.append(frame.remark)
        self.taken.add("gyro", topic, placed.stamps, samples.values[placed.rows, 3:])
        if frame.distance > 1e-3:
            self.taken.notes.append(
                remark(
                    "accelerometer-elsewhere",
                    frame=frame.name,
                    millimetres=1e3 * frame.distance,
                    tool_frame=self.robot.tool_frame,
                )
            )
        else:
            self.taken.add("accelerometer", topic, placed.stamps, samples.values[placed.rows, :3])
        for name, quantity in (("gyro", "gyro"), ("accelerometer", "acceleration")):
            if name in self.taken.values:
                self.taken.values[name] = frame.vectors_in_tool(self.taken.values[name] * scale(quantity, units))
        if "gyro" in self.taken.values:
            check_gyro(self.taken.values["gyro"], float(self.robot.limits.velocity.sum()), units, topic)
        if "accelerometer" in self.taken.values:
            self.taken.notes += check_acceleration(self.taken.values["accelerometer"], units, topic)
        self.taken.report(source, ("accelerometer", "gyro"))

    def _recording(self, clock: str, wrench_frame: SensorFrame | None) -> Recording:
        origin = self._origin(clock)
        signals, filled = filled_signals(self.taken.signals(origin, self.robot.tool_frame), self.robot)
        source = self.contents.source
        if self.settings.angles == "degrees":
            signals = to_radians(signals, self.robot)
        signals, jumping = turns_taken_out(signals, self.robot)
        self.taken.notes += jumping
        if self.settings.angles is None:
            self.taken.notes += check_angles(signals, self.robot, source)
        check_clocks(signals, source)
        self.taken.notes += check_time(
            signals,
            self.robot if self.settings.angles is None else None,
            source,
            sure_of_angles=self.settings.angles is not None,
            convertible=False,
        )
        bag: dict[str, Any] = {
            "name": Path(source).name,
            "storage": list(self.contents.storages),
            "stamps": clock,
            "time_origin_ns": origin,
            "topics": self.taken.topics,
        }
        ros = "ROS 1 bag" if self.contents.storages == ("ros1",) else "ROS 2 bag"
        facts = {"source": ros, "tool_frame": self.robot.tool_frame, "bag": bag}
        recording = with_followers(Recording(self.robot_name, signals, facts), self.robot, filled)
        if wrench_frame is not None:
            bag["wrench"] = {"frame": wrench_frame.name, "measures": self.measures}
            recording = self._with_tool_wrench(recording, wrench_frame).with_metadata(bag=bag)
            recording = with_applied(recording, self._applied(wrench_frame))
            self.taken.notes += wrench_remarks(recording, self.robot, self.measures)
        self.taken.notes += find_faults(recording.signals)
        self.taken.notes += wrist_range_remarks(self.robot_name.lower(), recording)
        return recording.with_remarks(*self.taken.notes)

    def _with_tool_wrench(self, recording: Recording, frame: SensorFrame) -> Recording:
        measures = self.measures
        if frame.name != BASE or frame.pose is not None:
            return recording.with_signal("wrench", SensorWrench(measures=measures).read(recording))
        in_base = dataclasses.replace(recording.signal("wrench"), frame=BASE)
        turned = BaseFrameWrench(self.robot, measures=measures).read(recording.with_signal("wrench", in_base))
        turned = dataclasses.replace(turned, values=turned.values @ self.settings.place.frame_matrix().T)
        lost = recording.signal("wrench").num_samples - turned.num_samples
        if lost:
            self.taken.notes.append(remark("wrench-without-angles", count=lost))
        return recording.with_signal("wrench", turned)

    def _origin(self, clock: str) -> int:
        """The stamp of time zero: what a bag of iparam's own says, else the first sample [ns]."""
        first = self.taken.first_stamp
        stated = Provenance.from_custom(self.contents.custom).time_origin
        # Only if it is near: the bag may have been edited, and large times lose digits.
        if clock == "header" and stated is not None and abs(first - stated) < 10**15:
            return stated
        return first


def _pose(place: Correction) -> FloatArray:
    """(4, 4) T_tool_sensor of a sensor that sits so."""
    angles, offset = (np.zeros(3) if value is None else value for value in (place.sensor_rotation, place.sensor_offset))
    return transform_from(rotation_from_rpy(np.radians(np.asarray(angles, dtype=np.float64))), offset)


def _place(pose: FloatArray) -> Correction:
    """How a sensor sits with that pose (4, 4) T_tool_sensor; nothing for one in the tool frame."""
    if not _placed(pose):
        return Correction()
    angles = np.round(np.degrees(rpy_from_rotation(pose[:3, :3])), 9) + 0.0
    return Correction(sensor_rotation=tuple(angles.tolist()), sensor_offset=tuple((pose[:3, 3] + 0.0).tolist()))


def _placed(pose: FloatArray) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() > NEAR)
