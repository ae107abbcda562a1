"""What a bag says of its robot: the description that was published, and the frames that are fixed to each other."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from iparam.bridges.bag.bag_files import BagContents
from iparam.bridges.bag.messages import readable_messages
from iparam.bridges.bag.topic_log import DESCRIPTION, TRANSFORMS
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.robot.loading import load_description
from iparam.robot.model import Robot
from iparam.sensing.frame_tree import FrameTree


@dataclass(frozen=True, eq=False)
class RobotInBag:
    """The arm of a bag's robot_description.

    Attributes:
        robot: it.
        text: of the description.
        topic: that had it.
        remark: a sentence that says so.
    """

    robot: Robot
    text: str
    topic: str
    remark: str


def robot_in_bag(
    contents: BagContents, tip: str | None = None, base: str | None = None, lock: Mapping[str, float] | None = None
) -> RobotInBag | None:
    """The arm that a bag describes; None if it describes none.

    Args:
        contents: of the bag.
        tip, base, lock: which arm of the description, see `iparam.load_robot`.

    Raises:
        InputError: there are two different descriptions.
        FileFormatError: the description is none of an arm.
    """
    found: dict[str, str] = {}  # text -> topic
    for log in contents.logs:
        if log.topic.type == DESCRIPTION and log.kept:
            for message in readable_messages(log):
                if message.data.strip():
                    found.setdefault(message.data, log.topic.name)
    if not found:
        return None
    if len(found) > 1:
        topics = ", ".join(dict.fromkeys(found.values()))
        raise InputError(
            f"{contents.source} has {len(found)} different robot descriptions ({topics}): name that of its arm with "
            "--robot"
        )
    text, topic = next(iter(found.items()))
    try:
        robot = load_description(text, f"{topic} of {contents.source}", tip, base, lock)
    except IparamError as error:
        raise FileFormatError(f"{error}. Or name the robot with --robot") from None
    remark = f"the robot is that of {topic}: {robot.name}, {robot.num_joints} joints, tool frame {robot.tool_frame}"
    return RobotInBag(robot, text, topic, remark)


def fixed_frames(contents: BagContents) -> FrameTree:
    """The frames that are fixed to each other by the bag's tf_static; what is no transform does not count."""
    tree = FrameTree()
    for log in contents.logs:
        if log.topic.type == TRANSFORMS and log.kept:
            for message in readable_messages(log):
                for each in message.transforms:
                    with contextlib.suppress(InputError):
                        tree.add_message(each, static=True)
    return tree
