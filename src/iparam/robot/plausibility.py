"""Whether lengths and angles that are given for an arm can be in metres and radians, measured by the arm's own size
and ranges: millimetres and degrees stand out.
"""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.robot.cell import Box, WorkCell
from iparam.robot.model import JointKind, Robot

FAR = 10.0
"""Distance from the base, in reaches of the arm, from which on a thing of its cell is not believed to be there."""

LARGE = 100.0
"""Size of a box in the cell that is not believed, in reaches of the arm: a hall's floor may be large."""

LONG = 3.0
"""Distance of a payload's farthest point from the tool that is not believed, in reaches of the arm."""

LONGEST_ARM = 100.0
"""Reach that no arm has [m]."""

MULTI_TURN = 4.0 * np.pi
"""Range to one side beyond which no joint of a real arm turns, if none of its joints has a smaller one [rad]."""

FASTEST_JOINT = 50.0
"""Speed that not even the slowest joint of an arm stays below, if the limits are in rad/s [rad/s]."""

UNLIMITED = 1e4
"""Limits from here on stand for none [rad]."""


def check_cell(cell: WorkCell, robot: Robot) -> None:
    """Refuse surroundings that the arm is far too small to meet: a check against them would check nothing."""
    size = robot.reach
    if size == 0.0:
        return
    for box in cell.boxes:
        longest = 2.0 * float(box.half_extents.max())
        if longest > LARGE * size:
            raise ContradictionError(
                f"{box.name!r} of the work cell is {longest:.4g} m long, and {robot.name} reaches {size:.3g} m: are "
                "its lengths in millimetres? A cell is given in metres"
            )
    distances = [
        *((f"{box.name!r}", _distance(box)) for box in cell.boxes),
        *((f"{plane.name!r}", abs(float(plane.normal @ plane.point))) for plane in cell.planes),
        ("the ground", abs(cell.ground_height or 0.0)),
    ]
    for name, distance in distances:
        if distance > FAR * size:
            raise ContradictionError(
                f"{name} of the work cell is {distance:.4g} m away from the base, and {robot.name} reaches {size:.3g} "
                "m: are its lengths in millimetres? A cell is given in metres; what is so far away can be left out"
            )


def check_payload_extent(farthest: float, robot: Robot) -> None:
    """Refuse a payload whose farthest point is ``farthest`` [m] from the tool's origin, which no such arm can carry."""
    size = robot.reach
    if size > 0.0 and farthest > LONG * size:
        raise ContradictionError(
            f"the payload extends to {farthest:.4g} m from {robot.tool_frame}, and {robot.name} reaches {size:.3g} m: "
            "is its size or its place in millimetres? Both are given in metres"
        )


def check_description(robot: Robot, source: str) -> None:
    """Refuse a description whose lengths or joint limits are not in the units that its format prescribes.

    Args:
        robot: that was described.
        source: the file, for messages.
    """
    size = robot.reach
    if size > LONGEST_ARM:
        raise ContradictionError(
            f"{source}: the arm would reach {size:.4g} m: are its lengths in millimetres? A URDF is in metres"
        )
    chain = robot.chain
    steps = np.linalg.norm(np.concatenate([chain.origins[:, 9:], chain.tool[:, 9:]]), axis=1)  # finite by the above
    names = [*(joint.name for joint in robot.moving_joints), robot.tool_frame]
    longest = int(np.argmax(steps))
    rest = float(np.delete(steps, longest).sum())
    if rest > 0.0 and steps[longest] > FAR * max(rest, 1.0):
        raise ContradictionError(
            f"{source}: {names[longest]!r} is {steps[longest]:.4g} m from what it stands on, and all the rest of the "
            f"arm is {rest:.3g} m long: is that one length in millimetres? A URDF is in metres"
        )
    turning = np.array([joint.kind is JointKind.REVOLUTE for joint in robot.moving_joints])
    ranges = np.maximum(np.abs(robot.limits.lower), np.abs(robot.limits.upper))[turning]
    limited = ranges[ranges < UNLIMITED]
    if limited.size and (limited > MULTI_TURN).all():
        raise ContradictionError(
            f"{source}: every joint with limits turns to {limited.min():.4g} rad or beyond, two whole turns and more: "
            'are they in degrees? A URDF is in radians; joints that turn without end are type="continuous"'
        )


def check_angles(q: FloatArray, robot: Robot, source: str) -> None:
    """Refuse a pose q (n,) so far beyond the joints' ranges that it must be in degrees.

    Args:
        q: joint positions [rad or m].
        robot: the arm; with another number of joints than q, nothing is compared.
        source: of the pose, for messages.
    """
    if q.shape != (robot.num_joints,):
        return
    ranges = np.maximum(np.abs(robot.limits.lower), np.abs(robot.limits.upper))
    beyond = (np.abs(q) > np.maximum(2.0 * ranges, MULTI_TURN)) & ~robot.chain.prismatic
    if beyond.any():
        joint = int(np.argmax(beyond))
        raise ContradictionError(
            f"{source} begins with {robot.joint_names[joint]} at {q[joint]:.4g} rad, and its range on {robot.name} "
            f"ends at {ranges[joint]:.4g}: are its angles in degrees? They are given in rad"
        )


def fast_joints(robot: Robot) -> str:
    """A sentence if all speed limits of turning joints are what no arm reaches in rad/s; else ""."""
    turning = np.array([joint.kind is JointKind.REVOLUTE for joint in robot.moving_joints])
    limits = robot.limits.velocity[turning & np.isfinite(robot.limits.velocity)]
    if not limits.size or limits.min() < FASTEST_JOINT:
        return ""
    return f"the speed limits of {robot.name} are {limits.min():.4g} rad/s and more: are they in degrees a second?"


def _distance(box: Box) -> float:
    """Of the base's origin from the box [m]; 0 inside."""
    inside = np.abs(box.rotation.T @ box.center) - box.half_extents
    return float(np.linalg.norm(np.maximum(inside, 0.0)))
