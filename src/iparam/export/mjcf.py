"""MuJoCo's MJCF: a <body> to include in the body of the flange."""

from __future__ import annotations

from iparam.export.comment import comment_lines, decimal, decimals, frame_of, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad


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
