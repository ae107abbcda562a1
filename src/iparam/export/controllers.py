"""Loads as the controllers of robot arms take them.

Universal Robots: a call of URScript's `set_target_payload`. ABB: a declaration of RAPID's `loaddata`. KUKA: the load
data of a tool, as in the controller's ``$config.dat``. Franka: the arguments of libfranka's `setLoad`, and the same
under the names of Desk's end-effector file. UFACTORY xArm: a call of its Python SDK's `set_tcp_load`, which knows mass
and centre of gravity alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.errors import ContradictionError
from iparam.estimation.estimate import SENSOR_FRAME
from iparam.export.comment import comment_lines, frame_of, line_comment, plain_decimal, plain_decimals
from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.files.json import json_text
from iparam.robot.catalog.ur_robot import TOOL_FRAME
from iparam.spatial.inertia import principal_axes
from iparam.spatial.transforms import quaternion_from_rotation, rpy_from_rotation

ROS_FLANGE = "flange"
"""ROS's frame at a UR's flange whose axes are not the controller's: its x points where the controller's z does."""


def to_urscript(load: IdentifiedLoad) -> str:
    """``set_target_payload(m, cog, inertia)``, and the older ``set_payload(m, cog)`` in a comment."""
    _require_controllers_axes(load)
    xx, xy, xz, _, yy, yz, _, _, zz = load.inertia_about_com.ravel()
    mass, center = plain_decimal(load.mass), plain_decimals(load.center_of_mass)
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the controller's flange frame ({TOOL_FRAME} in ROS); the load is all that hangs on "
        "it.",
        "m [kg]; cog [m]: the centre of gravity from the middle of the flange, in the flange's axes;",
        "inertia [kg m^2]: [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about the centre of gravity, in the flange's axes.",
        "Setting the payload also zeroes the force/torque sensor of an e-Series.",
        "Before software 5.10 (e-Series) or 3.15 (CB3), which have no set_target_payload, use instead:",
        f"  set_payload({mass}, [{center}])",
    )
    inertia = plain_decimals((xx, yy, zz, xy, xz, yz))
    return f"{line_comment(comment, '#', ascii_only=True)}set_target_payload({mass}, [{center}], [{inertia}])\n"


def to_urscript_static(load: StaticLoad) -> str:
    """``set_payload(m, cog)``: the controller then takes the load for a point."""
    _require_controllers_axes(load)
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the controller's flange frame ({TOOL_FRAME} in ROS); the load is all that hangs on "
        "it.",
        "m [kg]; cog [m]: the centre of gravity from the middle of the flange, in the flange's axes.",
        "Identified without all of the inertia: set_target_payload wants it, from a motion that shows it.",
        "Setting the payload also zeroes the force/torque sensor of an e-Series.",
    )
    mass, center = plain_decimal(load.mass), plain_decimals(load.center_of_mass)
    return f"{line_comment(comment, '#', ascii_only=True)}set_payload({mass}, [{center}])\n"


def _require_controllers_axes(load: IdentifiedLoad | StaticLoad) -> None:
    if load.frame == SENSOR_FRAME:
        raise ContradictionError(
            "the load is given in the axes of a sensor that belongs to no arm, since it was identified without joint "
            "angles: identify it with the robot, or turn it into the flange's frame first"
        )
    if load.frame == ROS_FLANGE:
        raise ContradictionError(
            f"the load is given in {ROS_FLANGE!r}, whose axes are not those of the controller's flange, {TOOL_FRAME}: "
            "identify it with the robot's own tool frame, without a tip"
        )


ABB_LEAST_CENTER = 1e-4
"""Of a centre of gravity [m]: a controller refuses loads whose centre is the origin, and takes them for undefined."""


def to_abb(load: IdentifiedLoad) -> str:
    """``PERS loaddata``: mass, centre of gravity, orientation of the axes of moment, and moments about them."""
    rotation, moments = principal_axes(load.inertia_about_com)
    lines = (
        "ix iy iz [kg m^2]: the principal moments about the centre of gravity;",
        "aom: the principal axes in that frame, a quaternion [q1, q2, q3, q4] with the real part first.",
    )
    return _rapid_declaration(load, quaternion_from_rotation(rotation), moments, lines)


def to_abb_static(load: StaticLoad) -> str:
    """The same for a load whose inertia is not known: moments of 0, which the controller takes for a point mass."""
    lines = ("Identified without all of the inertia: ix iy iz are 0, a point mass to the controller.",)
    return _rapid_declaration(load, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), lines)


def _rapid_declaration(
    load: IdentifiedLoad | StaticLoad, quaternion: np.ndarray, moments: np.ndarray, lines: tuple[str, ...]
) -> str:
    at_origin = bool(np.abs(load.center_of_mass).max() < ABB_LEAST_CENTER)
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the wrist coordinate system (tool0), at the flange, for the load of a tooldata;",
        "a GripLoad counts in the tool coordinate system: identify with the TCP as the tool frame, without gripper.",
        "mass [kg]; cog [mm]: the centre of gravity;",
        *lines,
        *(["The centre of gravity is all but the origin: a controller may take the load for undefined."] * at_origin),
        "iparam_load is a name: change it to yours, or put the value into a tooldata.",
    )
    numbers = plain_decimals(moments)
    value = (
        f"[{plain_decimal(load.mass)}, [{plain_decimals(1e3 * load.center_of_mass)}], "
        f"[{plain_decimals(quaternion)}], {numbers}]"
    )
    return f"{line_comment(comment, '!', ascii_only=True)}PERS loaddata iparam_load := {value};\n"


def to_kuka(load: IdentifiedLoad) -> str:
    """A KRL assignment to ``LOAD_DATA``: mass, pose of the principal axes in the flange frame, principal moments."""
    rotation, moments = principal_axes(load.inertia_about_com)
    c, b, a = np.degrees(rpy_from_rotation(rotation))
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the controller's FLANGE frame; the load is all that hangs on it.",
        "M [kg]; X Y Z [mm]: the centre of mass in FLANGE;",
        "A B C [deg]: the principal axes in FLANGE, turned about Z, then the new Y, then the new X;",
        "J [kg m^2]: the principal moments about the centre of mass (JX, JY, JZ in the tool's menu).",
        "[1] is the tool's number: change it to yours.",
    )
    pose = _krl_fields("XYZABC", (*(1e3 * load.center_of_mass), a, b, c))
    data = f"LOAD_DATA[1]={{M {plain_decimal(load.mass)},CM {{{pose}}},J {{{_krl_fields('XYZ', moments)}}}}}"
    return f"{line_comment(comment, ';', ascii_only=True)}{data}\n"


def _krl_fields(names: str, values: Iterable[float]) -> str:
    return ",".join(f"{name} {plain_decimal(value)}" for name, value in zip(names, values, strict=True))


def to_franka(load: IdentifiedLoad) -> str:
    """A JSON object with ``setLoad`` for libfranka and ``endEffector`` for Desk's ``endeffector-config.json``."""
    inertia = load.inertia_about_com.ravel(order="F").tolist()
    document = {
        "comment": comment_lines(
            load,
            f"{frame_of(load)} must be Franka's flange frame F (link8 of the URDF).",
            "Mass [kg]; centre of mass in F [m]; inertia [kg m^2] about the centre of mass, in the axes of F.",
            "Inertia: 3x3, column by column (the matrix is symmetric, so row by row is the same).",
            "Use one of the two: setLoad adds to the end effector that is configured in Desk.",
        ),
        "setLoad": {
            "load_mass": load.mass,
            "F_x_Cload": load.center_of_mass.tolist(),
            "load_inertia": inertia,
        },
        "endEffector": {
            "mass": load.mass,
            "centerOfMass": load.center_of_mass.tolist(),
            "inertia": inertia,
        },
    }
    return json_text(document)


def to_xarm(load: IdentifiedLoad | StaticLoad) -> str:
    """``arm.set_tcp_load(weight, center_of_gravity)``."""
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the flange's frame (link_eef of the URDF); the load is all that hangs on it.",
        "weight [kg]; center_of_gravity [mm] from the middle of the flange, in its axes.",
        "The controller knows no inertia: that about the centre of mass [kg m^2] is not applied; fast motions show it.",
        "It holds until it is set anew; arm.save_conf() keeps it.",
    )
    call = f"arm.set_tcp_load({plain_decimal(load.mass)}, [{plain_decimals(1e3 * load.center_of_mass)}])"
    return f"{line_comment(comment, '#', ascii_only=True)}{call}\n"
