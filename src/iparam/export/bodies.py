"""The load as a body of another program's file: the <inertial> of a <link> in URDF and in Gazebo's SDF, and a <body> of
MuJoCo's MJCF to include in that of the flange.
"""

from __future__ import annotations

import textwrap

from iparam.export.comment import comment_lines, decimal, decimals, frame_of, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad
from iparam.spatial.parameters import InertialParameters, inertia_entries

URDF_STATEMENT = (
    "origin xyz: the centre of mass in the link's frame [m]; mass [kg].",
    "inertia [kg m^2] about the centre of mass; rpy is 0, so its axes are the link's.",
)


def to_urdf_inertial(load: IdentifiedLoad) -> str:
    """The <inertial> of a link whose frame is the load's frame."""
    return f"{xml_comment(comment_lines(load, *URDF_STATEMENT, *uncertainty(load)))}\n{inertial_element(load)}\n"


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


def to_mjcf(load: IdentifiedLoad) -> str:
    """A <body> with the load, in the <mujocoinclude> that lets a model include the file anywhere."""
    xx, xy, xz, _, yy, yz, _, _, zz = load.inertia_about_com.ravel()
    comment = comment_lines(
        load,
        'Put <include file="..."/> of this file, or a copy of the body, into the body whose frame is '
        f"{frame_of(load)}.",
        "pos: the centre of mass in the body's frame [m]; mass [kg].",
        "fullinertia: xx yy zz xy xz yz [kg m^2] about the centre of mass, in the body's axes.",
        *uncertainty(load),
    )
    return "\n".join(
        (
            "<mujocoinclude>",
            xml_comment(comment, "  "),
            '  <body name="payload" pos="0.0 0.0 0.0">',
            f'    <inertial pos="{decimals(load.center_of_mass)}" mass="{decimal(load.mass)}"',
            f'              fullinertia="{decimals((xx, yy, zz, xy, xz, yz))}"/>',
            "  </body>",
            "</mujocoinclude>",
            "",
        )
    )
