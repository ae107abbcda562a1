"""Franka: the arguments of libfranka's `setLoad`, and the same under the names of Desk's end-effector file."""

from __future__ import annotations

from iparam.export.comment import comment_lines, frame_of
from iparam.export.load import IdentifiedLoad
from iparam.files.json import json_text


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
