"""`iparam robots`: the catalogue, one robot in detail, or the arms in a folder of descriptions."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from iparam.arrays import FloatArray
from iparam.cli.console.printing import AsJson, print_json, print_line, print_table
from iparam.cli.options.arm import ArmOptions
from iparam.cli.options.joint_state import robot_of
from iparam.errors import InputError
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.robot.description.folder import FolderEntry, arms_in_folder
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.loading import read_description
from iparam.robot.model import JointKind, Robot
from iparam.rounding import number


@dataclass(frozen=True, kw_only=True)
class Robots(ArmOptions):
    """The robots known by name; with a name or a robot file, that robot in detail.

    With --from, the arms that the robot files in a folder hold: URDF and MJCF.

    Example:
      iparam robots
      iparam robots ur5e
      iparam robots --from my_ws/src
    """

    robot: Annotated[Positional[str | None], arg(metavar="[ROBOT]", help_behavior_hint="(default: list all)")] = None
    """A name from the list, or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    from_: Annotated[Path | None, arg(name="from", metavar="FOLDER", help_behavior_hint="")] = None
    """List what can be loaded in that folder and those in it."""
    tip: Annotated[str | None, arg(metavar="FRAME", help_behavior_hint="(default: the robot's own)")] = None
    """The frame taken as the tool."""
    json: AsJson = False

    def run(self) -> None:
        """Print."""
        if self.from_ is not None:
            if self.robot is not None:
                raise InputError("give a robot or --from with a folder, not both")
            _print_folder(self.from_, self.json)
        elif self.robot is None:
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


def _print_folder(folder: Path, as_json: bool) -> None:
    entries = []
    for entry in arms_in_folder(folder, read_description):
        entries.append(entry)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{len(entries)} found\r")
            sys.stderr.flush()
    if as_json:
        print_json({"folder": str(folder), "descriptions": [_entry(entry) for entry in entries]})
        return
    for entry in entries:
        file, robot = shlex.quote(str(entry.path)), entry.robot
        if robot is None:
            print_line(entry.problem)
            continue
        open_ends = ", ".join(kind for kind, limited in entry.limited.items() if not limited)
        options = f"--base {shlex.quote(robot.base_frame)} --tip {shlex.quote(robot.tool_frame)}"
        joints = "1 joint" if robot.num_joints == 1 else f"{robot.num_joints} joints"
        facts = f"{joints}, {number(_moving_mass(robot), 2)} kg"
        print_line(f"{file} {options}: {facts}" + (f", not all with limits of {open_ends}" if open_ends else ""))
    arms = sum(entry.robot is not None for entry in entries)
    print_line(f"arms: {arms}; descriptions in which none can be told: {len(entries) - arms}")


def _entry(entry: FolderEntry) -> dict[str, object]:
    if entry.robot is None:
        return {"file": str(entry.path), "problem": entry.problem}
    return {
        "file": str(entry.path),
        "name": entry.robot.name,
        "base": entry.robot.base_frame,
        "tip": entry.robot.tool_frame,
        "joints": list(entry.robot.joint_names),
        "moving_mass": _moving_mass(entry.robot),
        "limits": entry.limited,
        "notes": list(entry.robot.notes),
    }


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
