"""Gazebo's SDF: an <inertial> element to paste into a <link>."""

from __future__ import annotations

from iparam.export.comment import comment_lines, decimal, decimals, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad
from iparam.spatial.parameters import inertia_entries


def to_sdf_inertial(load: IdentifiedLoad) -> str:
    """The <inertial> of a link whose frame is the load's frame."""
    comment = comment_lines(
        load,
        "pose: the centre of mass in the link's frame [m], then roll pitch yaw, which are 0; mass [kg].",
        "inertia [kg m^2] about the centre of mass, in the axes of the pose, which are the link's.",
        *uncertainty(load),
    )
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = zip(names, inertia_entries(load.inertia_about_com), strict=True)
    return "\n".join(
        (
            xml_comment(comment),
            "<inertial>",
            f"  <pose>{decimals(load.center_of_mass)} 0.0 0.0 0.0</pose>",
            f"  <mass>{decimal(load.mass)}</mass>",
            "  <inertia>",
            *(f"    <{name}>{decimal(entry)}</{name}>" for name, entry in entries),
            "  </inertia>",
            "</inertial>",
            "",
        )
    )
