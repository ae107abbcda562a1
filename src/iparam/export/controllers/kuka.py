"""KUKA: the load data of a tool, as in the controller's ``$config.dat``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iparam.export.comment import comment_lines, frame_of, line_comment, plain_decimal
from iparam.export.load import IdentifiedLoad
from iparam.spatial.inertia import principal_axes
from iparam.spatial.transforms import rpy_from_rotation


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
    pose = _fields("XYZABC", (*(1e3 * load.center_of_mass), a, b, c))
    data = f"LOAD_DATA[1]={{M {plain_decimal(load.mass)},CM {{{pose}}},J {{{_fields('XYZ', moments)}}}}}"
    return f"{line_comment(comment, ';', ascii_only=True)}{data}\n"


def _fields(names: str, values: Iterable[float]) -> str:
    return ",".join(f"{name} {plain_decimal(value)}" for name, value in zip(names, values, strict=True))
