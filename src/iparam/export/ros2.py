"""ROS 2: parameters that take the load's weight out of a force/torque sensor's signal."""

from __future__ import annotations

import json
from collections.abc import Sequence

from iparam.export.comment import comment_lines, decimal, decimals, frame_of, line_comment
from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.spatial.parameters import inertia_entries

WORLD_FRAME = "world"


def to_ros2_yaml(load: IdentifiedLoad) -> str:
    """A ROS 2 parameter file for control_toolbox's gravity filter and for admittance_controller, and the inertia."""
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = zip(names, inertia_entries(load.inertia_about_com), strict=True)
    return _parameters(
        load,
        "The inertia [kg m^2], about the centre of mass in the frame's axes, is used by neither of them.",
        ("      inertia_about_com:", *(f"        {name}: {decimal(entry)}" for name, entry in entries)),
    )


def to_ros2_yaml_static(load: StaticLoad) -> str:
    """The same of a load that was identified at rest, which is all that these consumers use."""
    return _parameters(load, "Identified without all of the inertia, which neither of them uses.", ())


def _parameters(load: IdentifiedLoad | StaticLoad, about_inertia: str, inertia: Sequence[str]) -> str:
    frame, world = json.dumps(load.frame, ensure_ascii=False), json.dumps(WORLD_FRAME)  # valid YAML strings
    center = f"[{decimals(load.center_of_mass, ', ')}]"
    comment = comment_lines(
        load,
        f"{frame_of(load)} must be the sensor's frame. mass [kg]; CoG and pos: the centre of mass in it [m].",
        f"{WORLD_FRAME} is a fixed frame with z up: change the name to yours.",
        "Both consumers expect the wrench that the load exerts on the sensor: the weight reads downward.",
        about_inertia,
    )
    weight = -load.mass * STANDARD_GRAVITY[2]
    lines = (
        "/**:",
        "  ros__parameters:",
        "    sensor_filter_chain:  # control_toolbox",
        "      filter1:",
        "        name: gravity_compensation",
        "        type: control_filters/GravityCompensationWrench",
        "        params:",
        f"          world_frame: {world}",
        f"          sensor_frame: {frame}",
        "          tool:",
        f"            mass: {decimal(load.mass)}",
        f"            CoG: {center}",
        f"            pos: {center}  # the same, as some releases call it",
        f"            gravity_field: [{decimals(STANDARD_GRAVITY, ', ')}]  # in world_frame [m/s^2]",
        "    fixed_world_frame:  # admittance_controller, with the next section",
        "      frame:",
        f"        id: {world}",
        "    gravity_compensation:",
        "      frame:",
        f"        id: {frame}",
        "      CoG:",
        f"        pos: {center}",
        f"        force: {decimal(weight)}  # weight: mass * {abs(STANDARD_GRAVITY[2])} [N]",
        "    payload:  # everything, for other nodes",
        f"      frame: {frame}",
        f"      mass: {decimal(load.mass)}",
        f"      center_of_mass: {center}",
        *inertia,
    )
    return line_comment(comment, "#") + "\n".join(lines) + "\n"
