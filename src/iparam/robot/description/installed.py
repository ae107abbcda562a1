"""Arms by name whose descriptions come with the package example-robot-data, where that is installed.

The files stay where they are: each has its maker's licence, and what it says is what its publishers say.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iparam.errors import MissingExtraError

_FOLDER = Path("share") / "example-robot-data" / "robots"


@dataclass(frozen=True)
class InstalledArm:
    """An arm of the package.

    Attributes:
        path: of its description below the package's folder of robots.
        tip: the link that its maker calls the flange.
        maker: and what the maker calls it.
        joints: how many it has.
        base: the link that the arm begins at; "" for the root of the description.
    """

    path: str
    tip: str
    maker: str
    joints: int
    base: str = ""


INSTALLED_ARMS = {
    "panda": InstalledArm("panda_description/urdf/panda.urdf", "panda_link8", "Franka Emika Panda, with its hand", 7),
    "xarm7": InstalledArm("xarm_description/urdf/xarm7.urdf", "link_eef", "UFACTORY xArm7", 7),
    "j2s6s200": InstalledArm(
        "kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", "Kinova Jaco 2 (j2s6s200)", 6
    ),
    "z1": InstalledArm("z1_description/urdf/z1.urdf", "link06", "Unitree Z1, with its gripper", 6),
    "so100": InstalledArm("so_arm_description/urdf/so100.urdf", "gripper", "The Robot Studio SO-100", 5),
    "so101": InstalledArm("so_arm_description/urdf/so101.urdf", "gripper_link", "The Robot Studio SO-101", 5),
    "talos_left_arm": InstalledArm(
        "talos_data/robots/talos_left_arm.urdf", "wrist_left_ft_tool_link", "PAL Robotics TALOS, its left arm", 6
    ),
    "tiago": InstalledArm(
        "tiago_description/robots/tiago.urdf", "wrist_ft_tool_link", "PAL Robotics TIAGo, arm and lift", 8
    ),
    "tiago_pro_left_arm": InstalledArm(
        "tiago_pro_description/robots/tiago_pro.urdf",
        "arm_left_tool_link",
        "PAL Robotics TIAGo Pro, its left arm",
        7,
        "torso_lift_link",
    ),
    "baxter_left_arm": InstalledArm(
        "baxter_description/urdf/baxter.urdf", "left_wrist", "Rethink Baxter, its left arm", 7, "left_arm_mount"
    ),
    "pr2_left_arm": InstalledArm(
        "pr2_description/urdf/pr2.urdf", "l_wrist_roll_link", "Willow Garage PR2, its left arm", 7, "torso_lift_link"
    ),
    "g1_left_arm": InstalledArm(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_rubber_hand", "Unitree G1, its left arm", 7, "torso_link"
    ),
    "icub_left_arm": InstalledArm("icub_description/robots/icub.urdf", "l_hand", "iCub, its left arm", 7, "chest"),
    "romeo_left_arm": InstalledArm(
        "romeo_description/urdf/romeo.urdf", "l_wrist", "Aldebaran Romeo, its left arm", 7, "torso"
    ),
    "centauro_left_arm": InstalledArm(
        "centauro_description/urdf/centauro.urdf", "arm1_6", "IIT CENTAURO, its left arm", 6, "torso_2"
    ),
}
"""By name, in lower case. Kinematics, inertias and limits are those of the file."""


def installed_description(name: str) -> Path:
    """The file of the arm of that name.

    Raises:
        MissingExtraError: the package is not installed.
    """
    for folder in _folders():
        path = folder / INSTALLED_ARMS[name].path
        if path.is_file():
            return path
    raise MissingExtraError(f"example-robot-data for {name}", "robots")


def _folders() -> Iterator[Path]:
    """Where packages put shared files: cmeel's in site-packages, this Python's and ROS's."""
    for entry in sys.path:
        yield Path(entry) / "cmeel.prefix" / _FOLDER
    yield Path(sys.prefix) / _FOLDER
    for root in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(root) / _FOLDER
