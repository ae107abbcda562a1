"""URDF: an <inertial> element to paste into a <link>."""

from __future__ import annotations

import textwrap

from iparam.export.comment import comment_lines, decimal, decimals, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad
from iparam.spatial.parameters import InertialParameters, inertia_entries

STATEMENT = (
    "origin xyz: the centre of mass in the link's frame [m]; mass [kg].",
    "inertia [kg m^2] about the centre of mass; rpy is 0, so its axes are the link's.",
)


def to_urdf_inertial(load: IdentifiedLoad) -> str:
    """The <inertial> of a link whose frame is the load's frame."""
    return f"{xml_comment(comment_lines(load, *STATEMENT, *uncertainty(load)))}\n{inertial_element(load)}\n"


def inertial_element(body: IdentifiedLoad | InertialParameters, indent: str = "") -> str:
    """<inertial>, with the inertia about the centre of mass in the link's axes; no newline at its end."""
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = inertia_entries(body.inertia_about_com)
    moments = " ".join(f'{name}="{decimal(entry)}"' for name, entry in zip(names, entries, strict=True))
    lines = (
        "<inertial>",
        f'  <origin xyz="{decimals(body.center_of_mass)}" rpy="0.0 0.0 0.0"/>',
        f'  <mass value="{decimal(body.mass)}"/>',
        f"  <inertia {moments}/>",
        "</inertial>",
    )
    return textwrap.indent("\n".join(lines), indent)
