"""ABB: a declaration of RAPID's `loaddata`."""

from __future__ import annotations

import numpy as np

from iparam.export.comment import comment_lines, frame_of, line_comment, plain_decimal, plain_decimals
from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.spatial.inertia import principal_axes
from iparam.spatial.transforms import quaternion_from_rotation

LEAST_CENTER = 1e-4
"""Of a centre of gravity [m]: a controller refuses loads whose centre is the origin, and takes them for undefined."""


def to_abb(load: IdentifiedLoad) -> str:
    """``PERS loaddata``: mass, centre of gravity, orientation of the axes of moment, and moments about them."""
    rotation, moments = principal_axes(load.inertia_about_com)
    lines = (
        "ix iy iz [kg m^2]: the principal moments about the centre of gravity;",
        "aom: the principal axes in that frame, a quaternion [q1, q2, q3, q4] with the real part first.",
    )
    return _declared(load, quaternion_from_rotation(rotation), moments, lines)


def to_abb_static(load: StaticLoad) -> str:
    """The same for a load whose inertia is not known: moments of 0, which the controller takes for a point mass."""
    lines = ("Identified without all of the inertia: ix iy iz are 0, a point mass to the controller.",)
    return _declared(load, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), lines)


def _declared(
    load: IdentifiedLoad | StaticLoad, quaternion: np.ndarray, moments: np.ndarray, lines: tuple[str, ...]
) -> str:
    at_origin = bool(np.abs(load.center_of_mass).max() < LEAST_CENTER)
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
