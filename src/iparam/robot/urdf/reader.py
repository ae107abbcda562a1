"""`robot_from_urdf`: a serial arm cut out of a URDF's tree of links."""

from __future__ import annotations

import os
from collections.abc import Mapping

from iparam.robot.description.arm import SideBranches, cut_arm
from iparam.robot.model import Robot
from iparam.robot.urdf.elements import read_tree


def robot_from_urdf(
    source: str | os.PathLike[str],
    tip: str | None = None,
    base: str | None = None,
    side_branches: SideBranches = "lock",
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """The serial arm from ``base`` to ``tip`` of a URDF file that needs no xacro; see `cut_arm`.

    Acceleration limits are infinite unless the file gives them. <dynamics>, geometry and meshes are not read, so meshes
    need not be there. What departs from the format and has one sensible reading is read so, as ROS and Pinocchio do,
    and told in the robot's ``notes``.
    """
    return cut_arm(read_tree(source), tip, base, side_branches, lock)
