"""`robot_from_urdf`: a serial arm cut out of a URDF's tree of links."""

from __future__ import annotations

import dataclasses
import os
from typing import Literal, get_args

import numpy as np

from iparam.errors import RobotModelError, UnknownNameError
from iparam.robot.model import JointLimits, Robot
from iparam.robot.plausibility import check_description
from iparam.robot.urdf.elements import UrdfJoint, UrdfTree, joint_of, limit_of, link_of, locked_joint_of, read_tree

PREFERRED_TIP = "tool0"

SideBranches = Literal["lock", "cut"]


def robot_from_urdf(
    source: str | os.PathLike[str],
    tip: str | None = None,
    base: str | None = None,
    side_branches: SideBranches = "lock",
) -> Robot:
    """The serial arm from ``base`` to ``tip`` of a URDF file.

    Links that are rigidly connected to the arm, by fixed joints on the chain, beyond the tip or to its side, are lumped
    into its bodies. So are, by default, links behind moving joints off the chain (a gripper's fingers, a head, joints
    beyond the tip), locked at their zero position: the arm carries their mass whether they move or not. Acceleration
    limits are infinite unless the file gives them. <dynamics>, geometry and meshes are not read, so meshes need not be
    there. What departs from the format and has one sensible reading is read so, as ROS and Pinocchio do, and told in
    the robot's ``notes``.

    Args:
        source: path of the URDF file, already processed by xacro.
        tip: link whose frame becomes the tool frame. Not needed where the tree leaves one choice: one leaf link that
            moves, or several of which one, behind the last joint of an unbranched arm, is called ``tool0``.
        base: link that poses are given in; the root link if not given.
        side_branches: what to do with moving joints off the chain: "lock" them at zero and list them in
            ``locked_joints``, or "cut" them off with all they carry and list those links in ``omitted_links``.
    """
    if side_branches not in get_args(SideBranches):
        raise UnknownNameError("way to treat side branches", side_branches, get_args(SideBranches))
    tree = read_tree(source)
    start = tree.root if base is None else tree.known(base)
    end = _default_tip(tree, start) if tip is None else tree.known(tip)
    path = tree.path(start, end)
    moving = [joint for joint in path if not joint.is_fixed]
    if not moving:
        raise RobotModelError(f"{tree.file}: no joint moves between {start!r} and {end!r}; choose another base or tip=")
    sides, omitted = _off_path(tree, start, path, side_branches == "lock")
    kept = [*path, *sides]
    joints = (*(joint_of(joint) for joint in path), *(locked_joint_of(joint) for joint in sides))
    limits = [limit_of(joint) for joint in moving]
    robot = Robot(
        name=tree.name,
        joints=joints,
        links=tuple(link_of(tree.links[name], tree.place) for name in (start, *(joint.child for joint in kept))),
        limits=JointLimits(
            lower=np.array([limit.lower for limit in limits]),
            upper=np.array([limit.upper for limit in limits]),
            velocity=np.array([limit.velocity for limit in limits]),
            acceleration=np.array([limit.acceleration for limit in limits]),
            torque=np.array([limit.torque for limit in limits]),
        ),
        tool_frame=end,
        locked_joints=tuple(joint.name for joint in sides if not joint.is_fixed),
        omitted_links=tuple(joint.child for joint in omitted),
    )
    check_description(robot, tree.file)
    massless = [joint.child for joint, mass in zip(moving, robot.body_parameters[:, 0], strict=True) if mass == 0.0]
    for link in massless:
        tree.place.elsewhere(f"link {link!r}").note("moves, and has no mass in the file")
    return dataclasses.replace(robot, notes=tree.place.deviations.sentences)


def _off_path(tree: UrdfTree, start: str, path: list[UrdfJoint], lock: bool) -> tuple[list[UrdfJoint], list[UrdfJoint]]:
    """The other joints below ``start``: those whose links the arm carries along, and those that are cut off."""
    kept_links = {start, *(joint.child for joint in path)}
    on_path = {joint.name for joint in path}
    sides: list[UrdfJoint] = []
    omitted: list[UrdfJoint] = []
    for joint in tree.joints_below(start):
        if joint.name in on_path:
            continue
        if joint.parent in kept_links and (joint.is_fixed or (lock and joint.can_be_locked)):
            kept_links.add(joint.child)
            sides.append(joint)
        else:
            omitted.append(joint)
    return sides, omitted


def _default_tip(tree: UrdfTree, start: str) -> str:
    """The only leaf that moves, or a leaf called tool0 behind the last joint of an unbranched arm; else an error."""
    carrier = {start: ""}  # the moving joint that each link moves with
    stands_on: dict[str, str] = {}  # the moving joint before each moving joint
    for joint in tree.joints_below(start):
        carrier[joint.child] = carrier[joint.parent] if joint.is_fixed else joint.name
        if not joint.is_fixed:
            stands_on[joint.name] = carrier[joint.parent]
    leaves = [link for link, joint_name in carrier.items() if joint_name and link not in tree.below]
    if not leaves:
        raise RobotModelError(f"{tree.file}: no joint below {start!r} moves: this is no arm")
    if len(leaves) == 1:
        return leaves[0]
    unbranched = len(set(stands_on.values())) == len(stands_on)
    if unbranched and carrier.get(PREFERRED_TIP) == list(stands_on)[-1]:
        return PREFERRED_TIP
    listed = ", ".join(map(repr, leaves[:20])) + (", ..." if len(leaves) > 20 else "")
    raise RobotModelError(
        f"{tree.file}: the tree of links branches, so say with tip=... which link is the tool. The leaf links are "
        f"{listed}; any other link may be given too"
    )
