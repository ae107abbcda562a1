"""Which numbers of a joint state belong to which joint of the robot: messages list joints in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.contents import IntArray, JointSamples
from iparam.bridges.bag.settings import ImportSettings
from iparam.errors import FileFormatError, InputError
from iparam.recording.followers import joint_count
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot


@dataclass(frozen=True)
class JointOrder:
    """The robot's joints as a bag calls them.

    Attributes:
        names: in the order of the robot; without those that follow others where the bag has none of them.
        unnamed: whether messages that name no joints are taken to be in that order.
    """

    names: tuple[str, ...]
    unnamed: bool = False

    def columns(self, joints: tuple[str, ...]) -> IntArray | None:
        """Where the robot's joints stand in a message that lists ``joints``; None if it lacks one."""
        if not joints and self.unnamed:
            return np.arange(len(self.names))
        if len(set(joints)) < len(joints) or not set(self.names) <= set(joints):
            return None
        return np.array([joints.index(name) for name in self.names])


@dataclass(frozen=True, eq=False)
class JointValues:
    """One field of joint states, for the robot's joints.

    Attributes:
        places: (M,) which of the messages in question have it for all joints.
        values: (M, n), may be NaN.
        uneven: how many have another number of values than of names.
    """

    places: IntArray
    values: FloatArray
    uneven: int


def find_order(
    samples: JointSamples, robot: Robot, settings: ImportSettings, topic: str
) -> tuple[JointOrder, Remark | None]:
    """The joints by the settings or by their names, and a remark if there is something to say."""
    lists = Counter(samples.names)
    if settings.joint_names:
        if len(settings.joint_names) not in (robot.num_joints, len(robot.free_joints)):
            raise InputError(
                f"{len(settings.joint_names)} joint names were given, and {joint_count(robot)}: "
                f"{', '.join(robot.joint_names)}",
                argument="joint_names",
            )
        order = JointOrder(settings.joint_names, unnamed=True)
    else:
        for wanted in dict.fromkeys((robot.joint_names, _leaders(robot))):
            prefix, said = _prefix(lists, wanted, robot, settings, topic)
            order = JointOrder(tuple(prefix + name for name in wanted))
            if any(order.columns(joints) is not None for joints in lists):
                return order, said
    if all(order.columns(joints) is None for joints in lists):
        raise _mismatch(lists, order.names, robot, topic)
    return order, None


def _leaders(robot: Robot) -> tuple[str, ...]:
    """The joints that follow no other: those that a driver knows of."""
    return tuple(robot.joint_names[joint] for joint in robot.free_joints)


def _prefix(
    lists: Counter[tuple[str, ...]], wanted: Sequence[str], robot: Robot, settings: ImportSettings, topic: str
) -> tuple[str, Remark | None]:
    if settings.joint_prefix is not None:
        return settings.joint_prefix, None
    if any(set(wanted) <= set(joints) for joints in lists):
        return "", None
    found = {
        joint.removesuffix(wanted[0])
        for joints in lists
        for joint in joints
        if joint.endswith(wanted[0]) and {joint.removesuffix(wanted[0]) + name for name in wanted} <= set(joints)
    }
    if len(found) > 1:
        raise InputError(
            f"{topic} has the joints of {len(found)} arms like {robot.name}: choose one by its prefix, "
            f"{' or '.join(sorted(found))}",
            argument="joint_prefix",
        )
    if found:
        prefix = found.pop()
        return prefix, remark("joint-prefix", topic=topic, prefix=prefix)
    return "", None


def _mismatch(lists: Counter[tuple[str, ...]], wanted: Sequence[str], robot: Robot, topic: str) -> FileFormatError:
    joints = list(dict.fromkeys(name for names, _ in lists.most_common() for name in names))
    if not joints:
        return FileFormatError(
            f"the messages of {topic} do not name their joints. If they come in the order of {robot.name}, give the "
            "names",
            fix={"joint_names": tuple(robot.joint_names)},
        )
    return FileFormatError(
        f"the joints of {topic} are not those of {robot.name}. The bag has: {', '.join(joints)}. Wanted: "
        f"{', '.join(wanted)}. Give the bag's names in the order of the robot, or another robot",
        argument="joint_names",
    )


def messages_of_arm(samples: JointSamples, order: JointOrder) -> list[int]:
    """Which messages have all joints of the robot; others on the same topic may be a gripper's."""
    complete = {joints for joints in set(samples.names) if order.columns(joints) is not None}
    return [row for row, joints in enumerate(samples.names) if joints in complete]


def joint_values(samples: JointSamples, values: Sequence[FloatArray], order: JointOrder, rows: IntArray) -> JointValues:
    """Values of the robot's joints, in its order.

    Args:
        samples: the messages.
        values: one of their fields: position, velocity or effort.
        order: the joints.
        rows: (K,) the messages in question, in the order of time.
    """
    columns = {joints: order.columns(joints) for joints in set(samples.names)}
    places: list[int] = []
    found: list[FloatArray] = []
    uneven = 0
    for place, row in enumerate(rows.tolist()):
        joints = samples.names[row]
        chosen, numbers = columns[joints], values[row]
        if chosen is None or numbers.size != (len(joints) or chosen.size):
            uneven += numbers.size > 0
            continue
        places.append(place)
        found.append(numbers[chosen])
    array = np.array(found, dtype=np.float64).reshape(-1, len(order.names))
    return JointValues(np.array(places, dtype=np.int64), array, uneven)
