"""What a bag says of its robot: the description that was published, and the frames that are fixed to each other."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from iparam.bridges.bag.contents import BagContents
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.remarks import Remark, remark
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
        remark: that says so.
    """

    robot: Robot
    text: str
    topic: str
    remark: Remark


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
    for topic in contents.topics:
        for text in topic.texts:
            if text.strip():
                found.setdefault(text, topic.name)
    if not found:
        return None
    if len(found) > 1:
        topics = ", ".join(dict.fromkeys(found.values()))
        raise InputError(
            f"{contents.source} has {len(found)} different robot descriptions ({topics}): name that of its arm",
            argument="robot",
        )
    text, name = next(iter(found.items()))
    try:
        robot = load_description(text, f"{name} of {contents.source}", tip, base, lock)
    except IparamError as error:
        raise FileFormatError(f"{error}. Or name the robot", argument="robot") from None
    said = remark("robot-from-bag", topic=name, robot=robot.name, joints=robot.num_joints, tool_frame=robot.tool_frame)
    return RobotInBag(robot, text, name, said)


def fixed_frames(contents: BagContents) -> FrameTree:
    """The frames that are fixed to each other by the bag's tf_static; what is no transform does not count."""
    tree = FrameTree()
    for topic in contents.topics:
        for parent, child, place, turn in topic.transforms:
            with contextlib.suppress(InputError):
                tree.add(parent, child, place, turn, static=True)
    return tree
