"""Universal Robots: a call of URScript's `set_target_payload`."""

from __future__ import annotations

from iparam.errors import ContradictionError
from iparam.estimation.estimate import SENSOR_FRAME
from iparam.export.comment import comment_lines, frame_of, line_comment, plain_decimal, plain_decimals
from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.robot.catalog.ur_robot import TOOL_FRAME

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
