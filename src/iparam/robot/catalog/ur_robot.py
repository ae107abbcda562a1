"""An arm of Universal Robots from the maker's nominal figures.

Frames: ``base`` is the controller's base frame, which is also the base of the DH table and the maker's
``base_link_inertia``. ROS's ``base_link`` is another frame: ``base`` turned by pi about z. The links follow, each with
its frame on its joint, then the fixed frames ``flange`` (ROS: x forward) and ``tool0`` (z forward), which coincides
with ``wrist_3_link``. The base does not move, so its mass is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.model import Joint, JointKind, JointLimits, Link, Robot
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import rotation_from_rpy, transform_from

BASE_FRAME = "base"
TOOL_FRAME = "tool0"

ACCELERATION_LIMIT = 8.0
"""The maker does not publish acceleration limits; this is iparam's own, conservative one for every joint [rad/s^2]."""

JOINT_OF_LINK = {
    "shoulder": "shoulder_pan_joint",
    "upper_arm": "shoulder_lift_joint",
    "forearm": "elbow_joint",
    "wrist_1": "wrist_1_joint",
    "wrist_2": "wrist_2_joint",
    "wrist_3": "wrist_3_joint",
}

# The maker's rpy (0, -pi/2, -pi/2) and (pi/2, 0, pi/2) without the rounding of pi/2: the product is exactly I.
_WRIST_TO_FLANGE = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
_FLANGE_TO_TOOL = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def ur_robot(name: str, figures_of: Mapping[str, Mapping[str, Any]]) -> Robot:
    """The arm of that name with these figures of each link, see `CatalogArm.links`."""
    joints: list[Joint] = []
    links = [Link(BASE_FRAME)]
    for link, joint_name in JOINT_OF_LINK.items():
        figures = figures_of[link]
        child = f"{link}_link"
        origin = transform_from(rotation_from_rpy(figures["origin"]["rpy"]), figures["origin"]["xyz"])
        joints.append(Joint(joint_name, JointKind.REVOLUTE, links[-1].name, child, origin))
        links.append(Link(child, _inertial(figures)))
    for joint_name, child, rotation in (
        ("wrist_3-flange", "flange", _WRIST_TO_FLANGE),
        ("flange-tool0", TOOL_FRAME, _FLANGE_TO_TOOL),
    ):
        joints.append(Joint(joint_name, JointKind.FIXED, links[-1].name, child, transform_from(rotation, np.zeros(3))))
        links.append(Link(child))
    limits = [figures_of[link]["limits"] for link in JOINT_OF_LINK]
    return Robot(
        name=name,
        joints=tuple(joints),
        links=tuple(links),
        limits=JointLimits(
            lower=np.radians([limit["position"][0] for limit in limits]),
            upper=np.radians([limit["position"][1] for limit in limits]),
            velocity=np.radians([limit["velocity"] for limit in limits]),
            acceleration=np.full(len(limits), ACCELERATION_LIMIT),
            torque=np.array([limit["torque"] for limit in limits], dtype=np.float64),
        ),
        tool_frame=TOOL_FRAME,
    )


def _inertial(figures: Mapping[str, Any]) -> InertialParameters:
    """Mass and inertia in the link's own axes, from a tensor that the maker gives in turned axes."""
    xx, xy, xz, yy, yz, zz = figures["inertia"]["tensor"]
    tensor: FloatArray = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)
    rotation = rotation_from_rpy(figures["inertia"]["rpy"])
    return InertialParameters(
        mass=figures["link"]["mass"],
        center_of_mass=np.array(figures["link"]["center_of_mass"], dtype=np.float64),
        inertia_about_com=rotation @ tensor @ rotation.T,
    )
