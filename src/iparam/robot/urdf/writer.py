"""`robot_to_urdf`: a robot as a URDF, with all that a URDF can hold of it."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.robot.model import Joint, JointKind, Link, Robot
from iparam.spatial.transforms import rpy_from_rotation


def robot_to_urdf(robot: Robot, dynamics: Mapping[str, ArrayLike] | None = None) -> str:
    """The URDF of a robot: frames, joints, limits and inertias, to the last digit; no geometry.

    A URDF has no place for rotor inertia, which is left out.

    Args:
        robot: the arm.
        dynamics: ``damping`` (n,) [N m s/rad] and ``friction`` (n,) [N m] of the moving joints, as far as known.
    """
    lines = ['<?xml version="1.0"?>', "<!-- Written by iparam. -->", f"<robot name={quoteattr(robot.name)}>"]
    lines += [line for link in robot.links for line in _link(link)]
    moving = {joint.name: index for index, joint in enumerate(robot.moving_joints)}
    for joint in robot.joints:
        lines += _joint(robot, joint, moving.get(joint.name), dynamics or {})
    return "\n".join([*lines, "</robot>", ""])


def _link(link: Link) -> list[str]:
    if link.inertial is None:
        return [f"  <link name={quoteattr(link.name)}/>"]
    body, tensor = link.inertial, link.inertial.inertia_about_com
    moments = " ".join(
        f'i{a}{b}="{_number(tensor[i, j])}"'
        for i, j, a, b in (
            (0, 0, "x", "x"),
            (0, 1, "x", "y"),
            (0, 2, "x", "z"),
            (1, 1, "y", "y"),
            (1, 2, "y", "z"),
            (2, 2, "z", "z"),
        )
    )
    return [
        f"  <link name={quoteattr(link.name)}>",
        "    <inertial>",
        f'      <origin xyz="{_numbers(body.center_of_mass)}" rpy="0 0 0"/>',
        f'      <mass value="{_number(body.mass)}"/>',
        f"      <inertia {moments}/>",
        "    </inertial>",
        "  </link>",
    ]


def _joint(robot: Robot, joint: Joint, index: int | None, dynamics: Mapping[str, ArrayLike]) -> list[str]:
    kind = str(joint.kind)
    limits = robot.limits
    bounded = index is not None and bool(np.isfinite(limits.lower[index]) and np.isfinite(limits.upper[index]))
    if joint.kind is JointKind.REVOLUTE and not bounded:
        kind = "continuous"
    turn = rpy_from_rotation(joint.origin[:3, :3])
    lines = [
        f'  <joint name={quoteattr(joint.name)} type="{kind}">',
        f"    <parent link={quoteattr(joint.parent)}/>",
        f"    <child link={quoteattr(joint.child)}/>",
        f'    <origin xyz="{_numbers(joint.origin[:3, 3])}" rpy="{_numbers(turn)}"/>',
    ]
    if index is not None:
        lines.append(f'    <axis xyz="{_numbers(joint.axis)}"/>')
        bounds = f'lower="{_number(limits.lower[index])}" upper="{_number(limits.upper[index])}" ' if bounded else ""
        effort, velocity = (_finite(values[index]) for values in (limits.torque, limits.velocity))
        faster = limits.acceleration[index]
        more = f' acceleration="{_number(faster)}"' if np.isfinite(faster) else ""
        lines.append(f'    <limit {bounds}effort="{effort}" velocity="{velocity}"{more}/>')
        lines += [
            f'    <mimic joint={quoteattr(coupling.leader)} multiplier="{_number(coupling.ratio)}" '
            f'offset="{_number(coupling.offset)}"/>'
            for coupling in robot.couplings
            if coupling.joint == joint.name
        ]
        if dynamics:
            given = " ".join(f'{name}="{_number(np.asarray(values)[index])}"' for name, values in dynamics.items())
            lines.append(f"    <dynamics {given}/>")
    return [*lines, "  </joint>"]


def _numbers(values: FloatArray) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    return repr(float(value) + 0.0)


def _finite(value: float) -> str:
    """A limit; a URDF must state it, and 0 is what files have for none."""
    return _number(value if np.isfinite(value) else 0.0)
