"""Which numbers of a joint state belong to which joint of the robot: messages list joints in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iparam.bridges.bag.contents import IntArray, Samples
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


def find_order(
    groups: Sequence[Samples], robot: Robot, settings: ImportSettings, topic: str
) -> tuple[JointOrder, Remark | None]:
    """The joints by the settings or by their names, and a remark if there is something to say."""
    lists: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        lists[group.names] += group.stamps.size
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


def samples_of_arm(groups: Sequence[Samples], order: JointOrder) -> Samples:
    """The messages that have all joints of the robot, in its order; others on the same topic may be a gripper's."""
    parts = []
    for group in groups:
        columns = order.columns(group.names)
        if columns is not None and (group.names or group.values.shape[2] == columns.size):
            parts.append((group, group.values[:, :, columns]))
    times = np.concatenate([group.log_times for group, _ in parts])
    rows = np.argsort(times, kind="stable") if len(parts) > 1 else np.arange(times.size)
    return Samples(
        np.concatenate([group.stamps for group, _ in parts])[rows],
        times[rows],
        np.concatenate([values for _, values in parts])[rows],
        order.names,
        np.concatenate([group.present for group, _ in parts])[rows],
        tuple(np.sum([group.uneven for group, _ in parts], axis=0).tolist()),
    )
