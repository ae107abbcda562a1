"""UFACTORY xArm: a call of its Python SDK's `set_tcp_load`, which knows mass and centre of gravity alone."""

from __future__ import annotations

from iparam.export.comment import comment_lines, frame_of, line_comment, plain_decimal, plain_decimals
from iparam.export.load import IdentifiedLoad, StaticLoad


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
