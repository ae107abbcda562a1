"""`iparam robots`: the catalogue, or one robot in detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from iparam.arrays import FloatArray
from iparam.cli.console.printing import AsJson, print_json, print_line, print_table
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import robot_of
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.model import JointKind, Robot
from iparam.rounding import number


@dataclass(frozen=True, kw_only=True)
class Robots(ArmOptions):
    """The robots known by name; with a name or a robot file, that robot in detail.

    Example:
      iparam robots
      iparam robots ur5e
    """

    robot: Annotated[Positional[str | None], arg(metavar="[NAME|ROBOT_FILE]", help_behavior_hint="(default: all)")] = (
        None
    )
    """A name from the list, or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    tip: Annotated[str | None, arg(metavar="LINK|FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the tool."""
    json: AsJson = False

    def run(self) -> None:
        """Print."""
        if self.robot is None:
            _print_catalogue(self.json)
        else:
            _print_robot(robot_of(self.robot, self.tip, **self.cut()), self.json)


def _print_catalogue(as_json: bool) -> None:
    robots = [catalog_robot(name) for name in robot_names()]
    if as_json:
        print_json(
            {
                "robots": [_summary(robot) for robot in robots],
                "from_example_robot_data": {name: arm.maker for name, arm in INSTALLED_ARMS.items()},
            }
        )
        return
    print_table(
        "Robots known by name; a robot file's path works wherever a name does",
        ["name", "joints", "moving mass [kg]", "max speed [rad/s]", "max torque [N m]"],
        [
            [
                robot.name,
                str(robot.num_joints),
                number(_moving_mass(robot), 2),
                _range(robot.limits.velocity, 2),
                _range(robot.limits.torque, 0),
            ]
            for robot in robots
        ],
    )
    print_line()
    print_table(
        "From the package example-robot-data (pip install 'iparam[robots]')",
        ["name", "arm"],
        [[name, arm.maker] for name, arm in INSTALLED_ARMS.items()],
    )


def _print_robot(robot: Robot, as_json: bool) -> None:
    limits = robot.limits
    if as_json:
        print_json(_summary(robot))
        return
    rows = [
        [
            joint.name,
            *(number(float(values[i]), 3) for values in (limits.lower, limits.upper, limits.velocity)),
            *(number(float(values[i]), 1) for values in (limits.acceleration, limits.torque)),
            number(float(robot.body_parameters[i, 0]), 3),
        ]
        for i, joint in enumerate(robot.moving_joints)
    ]
    sliding = any(joint.kind is JointKind.PRISMATIC for joint in robot.moving_joints)
    units = "rad, s, N m; m, s, N for prismatic joints" if sliding else "rad, s, N m"
    print_table(
        f"{robot.name}: joints and their limits [{units}], mass of their links [kg]",
        ["joint", "lower", "upper", "speed", "accel.", "torque", "mass"],
        rows,
    )
    print_line()
    print_line(f"moving mass  {number(_moving_mass(robot), 3)} kg")
    print_line(f"base frame   {robot.base_frame}")
    print_line(f"tool frame   {robot.tool_frame}")


def _summary(robot: Robot) -> dict[str, object]:
    limits = robot.limits
    return {
        "name": robot.name,
        "num_joints": robot.num_joints,
        "joints": list(robot.joint_names),
        "base_frame": robot.base_frame,
        "tool_frame": robot.tool_frame,
        "frames": list(robot.frames),
        "moving_mass": _moving_mass(robot),
        "limits": {
            "lower": limits.lower,
            "upper": limits.upper,
            "velocity": limits.velocity,
            "acceleration": limits.acceleration,
            "torque": limits.torque,
        },
    }


def _moving_mass(robot: Robot) -> float:
    return float(np.sum(robot.body_parameters[:, 0]))


def _range(values: FloatArray, decimals: int) -> str:
    low, high = number(float(values.min()), decimals), number(float(values.max()), decimals)
    return low if low == high else f"{low}..{high}"
