"""`cut_arm`: the serial arm between two links of a description, with all that it carries and all that it stands on."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from iparam.errors import InputError, RobotModelError, UnknownNameError
from iparam.robot.description.arm_choice import default_arm
from iparam.robot.description.tree import DescriptionTree, TreeJoint
from iparam.robot.model import Joint, JointCoupling, JointKind, JointLimits, Robot
from iparam.robot.plausibility import MULTI_TURN, check_description
from iparam.spatial.transforms import inverse_transform

_TILTED = 1e-6


def cut_arm(
    tree: DescriptionTree,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """The serial arm from ``base`` to ``tip`` of a description.

    Links that are rigidly connected to the arm, by fixed joints on the chain, beyond the tip or to its side, are lumped
    into its bodies. So are links behind moving joints off the chain (a gripper's fingers, a head, joints
    beyond the tip): the arm carries their mass whether they move or not. What the base stands on, and what hangs on
    that (a torso, the other arm), stands still with it.

    Args:
        tree: the description.
        tip: link whose frame becomes the tool frame; chosen by `default_arm` if not given.
        base: link that poses are given in; the root link, or the one that the only arm stands on, if not given.
        lock: positions to lock joints at, by name [rad or m]: those off the chain, which are at zero else, and those of
            the chain that are not to move.
    """
    start = None if base is None else tree.known(base, "base")
    remark = ""
    if tip is None:
        arm = default_arm(tree, start)
        start, end, remark = arm.base, arm.tip, arm.remark
    else:
        start, end = tree.root if start is None else start, tree.known(tip, "tip")
    path = tree.path(start, end)
    held = _positions(tree, {} if lock is None else lock)
    couplings = _follow(tree, path, held)
    moving = [joint for joint in path if not joint.is_fixed and joint.name not in held]
    if not moving:
        raise RobotModelError(
            f"{tree.file}: no joint moves between {start!r} and {end!r}"
            + (f" with {', '.join(held)} locked; lock fewer, or" if held else ";")
            + " choose another base or tip"
        )
    joints = tuple(joint.locked(held[joint.name]) if joint.name in held else joint.read() for joint in path)
    above = tree.above.get(start)
    if above is not None and above.refusal:
        above.place.note(f"{above.refusal}, and is held: {start!r} and what it carries begin there, and stand still")
    rest = _rest(tree, start, path, held)
    stopped = [*(joint.name for joint in path if joint.name in held), *rest.locked]
    bounds = [joint.read_bounds() for joint in moving]
    kept = (*joints, *rest.joints)
    robot = Robot(
        name=tree.name,
        joints=kept,
        links=tuple(tree.links[name]() for name in (start, *(joint.child for joint in kept))),
        limits=JointLimits(
            lower=np.array([bound.lower for bound in bounds]),
            upper=np.array([bound.upper for bound in bounds]),
            velocity=np.array([bound.velocity for bound in bounds]),
            acceleration=np.array([bound.acceleration for bound in bounds]),
            torque=np.array([bound.torque for bound in bounds]),
        ),
        tool_frame=end,
        armature=np.array([joint.armature for joint in moving]),
        locked_joints=tuple(stopped),
        omitted_links=tuple(rest.omitted),
        locked_at=tuple(held.get(name, 0.0) for name in stopped),
        root_frame=rest.top,
        source=tree.file,
        couplings=couplings,
    )
    check_description(robot, tree.file)
    massless = [joint.child for joint, mass in zip(moving, robot.body_parameters[:, 0], strict=True) if mass == 0.0]
    for link in massless:
        tree.place.elsewhere(f"link {link!r}").note("moves, and has no mass in the file")
    notes = (*tree.place.deviations.sentences, *([remark] if remark else []), *_tilt(tree, start, held))
    return dataclasses.replace(robot, notes=notes)


@dataclasses.dataclass
class _Rest:
    """What is not on the path: the fixed joints that hold it, which of them move in truth, and links left out.

    ``top`` is the uppermost link that the base stands on.
    """

    joints: list[Joint]
    locked: list[str]
    omitted: list[str]
    top: str


def _rest(tree: DescriptionTree, start: str, path: list[TreeJoint], held: Mapping[str, float]) -> _Rest:
    """All other links that stand still on the arm or under it; joints that are passed upwards are turned round."""
    rest = _Rest([], [], [], start)
    carried = {joint.child for joint in path}
    kept = {start, *carried}
    seen = {joint.name for joint in path}

    def hang_on(top: str) -> None:
        for joint in tree.joints_below(top):
            if joint.name in seen:
                continue
            seen.add(joint.name)
            if joint.parent in kept and (joint.is_fixed or not joint.refusal):
                kept.add(joint.child)
                if joint.parent in carried:
                    carried.add(joint.child)
                rest.joints.append(joint.locked(held.get(joint.name, 0.0)))
                if not joint.is_fixed:
                    rest.locked.append(joint.name)
            else:
                if joint.refusal and joint.parent in carried:
                    joint.place.note(f"{joint.refusal}: {joint.child!r} and all that it carries were left out")
                rest.omitted.append(joint.child)

    hang_on(start)
    link = start
    while (above := tree.above.get(link)) is not None:
        if not (above.is_fixed or not above.refusal):
            break
        seen.add(above.name)
        kept.add(above.parent)
        origin = inverse_transform(above.locked(held.get(above.name, 0.0)).origin)
        rest.joints.append(Joint(above.name, JointKind.FIXED, above.child, above.parent, origin))
        if not above.is_fixed:
            rest.locked.append(above.name)
        link = rest.top = above.parent
        hang_on(link)
    return rest


def _positions(tree: DescriptionTree, lock: Mapping[str, float]) -> dict[str, float]:
    """The positions to lock joints at, checked."""
    movable = {joint.name: joint for joint in tree.above.values() if not joint.is_fixed and not joint.refusal}
    held: dict[str, float] = {}
    for name, value in lock.items():
        if name not in movable:
            raise UnknownNameError("joint to lock", name, movable, hint=f"(in {tree.file})", argument="lock")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(
                argument="lock", problem=f"must hold joint {name!r} at a finite number [rad or m], got {value!r}"
            )
        joint, bounds = movable[name].read(), movable[name].read_bounds()
        if joint.kind is JointKind.REVOLUTE and abs(value) > MULTI_TURN:
            raise InputError(
                f"{name} at {value:g} rad is more than two turns: is it in degrees? It is in rad", argument="lock"
            )
        if not bounds.lower <= value <= bounds.upper:
            tree.place.elsewhere(f"joint {name!r}").note(
                f"is locked at {value:g}, outside its range {bounds.lower:.4g}..{bounds.upper:.4g}"
            )
        held[name] = float(value)
    return held


def _follow(tree: DescriptionTree, path: list[TreeJoint], held: dict[str, float]) -> tuple[JointCoupling, ...]:
    """The joints of the path that follow others of it; all that follow what stands still are added to ``held``."""
    joints = {joint.name: joint for joint in tree.above.values() if not joint.is_fixed and not joint.refusal}
    on_path = {joint.name for joint in path}
    couplings = []
    for joint in joints.values():
        if not joint.mimics or joint.name in held:
            continue
        ratio, offset, leader, seen = 1.0, 0.0, joint, {joint.name}
        while leader.name not in held and (mimic := leader.read_mimic()) is not None:
            if mimic.leader not in joints or mimic.leader in seen:
                why = "itself" if mimic.leader in seen else f"{mimic.leader!r}, which is no moving joint of the file"
                joint.place.note(f"follows {why}, and was read as one that moves on its own")
                leader = joint
                break
            ratio, offset = ratio * mimic.ratio, offset + ratio * mimic.offset
            leader = joints[mimic.leader]
            seen.add(leader.name)
        if leader is joint:
            if joint.name in on_path and joint.read_mimic() is None:
                joint.place.note("follows another joint in a way that is not linear, and was read as moving on its own")
        elif leader.name in on_path and leader.name not in held:
            if joint.name in on_path:
                couplings.append(JointCoupling(joint.name, leader.name, ratio, offset))
                joint.place.note(f"follows another, at {couplings[-1].relation}, and is planned so")
        else:
            at = ratio * held.get(leader.name, 0.0) + offset
            if joint.name in on_path or at != 0.0:
                held[joint.name] = at
            if joint.name in on_path:
                joint.place.note(f"follows {leader.name!r}, which does not move the arm, and is held with it")
    return tuple(couplings)


def _tilt(tree: DescriptionTree, start: str, held: Mapping[str, float]) -> list[str]:
    """A sentence if the base is tilted against the root: gravity is not along its z axis then."""
    turn = np.eye(3)
    for joint in tree.path(tree.root, start):
        if joint.refusal:
            return []
        turn = turn @ joint.locked(held.get(joint.name, 0.0)).origin[:3, :3]
    if np.linalg.norm(turn[2] - (0.0, 0.0, 1.0)) < _TILTED:
        return []
    x, y, z = (-9.81 * turn[2] + 0.0).round(4).tolist()
    angle = np.degrees(np.arccos(np.clip(turn[2, 2], -1.0, 1.0)))
    sentence = (
        f"the base {start!r} is tilted by {angle:.0f} deg against {tree.root!r}: if that stands upright, gravity in "
        f"the axes of the base is {x:g} {y:g} {z:g} m/s^2; state it"
    )
    return [sentence]
