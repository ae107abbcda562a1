"""The options that name a robot and the state of its joints, shared by the commands that compute one state."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.arrays import FloatArray, as_float_array
from iparam.cli.console.printing import AsJson, note, note_remark
from iparam.cli.options.arm import ArmOptions
from iparam.errors import InputError
from iparam.remarks import Severity
from iparam.robot.loading import StatedArm, is_known, load_stated_robot, stated_name
from iparam.robot.model import JointKind, Robot
from iparam.robot.plausibility import fast_joints

Tip = Annotated[
    str | None,
    arg(
        metavar="FRAME",
        help="The frame taken as the tool: a link of the URDF, or 'flange'.",
        help_behavior_hint="(default: the robot's own)",
    ),
]
"""The type of the option ``tip`` that goes with ``robot``."""


@dataclass(frozen=True, eq=False)
class JointState:
    """Joint positions, velocities and accelerations (n,) [rad or m, per s, per s^2]."""

    q: FloatArray
    dq: FloatArray
    ddq: FloatArray


@dataclass(frozen=True, kw_only=True)
class JointStateOptions(ArmOptions):
    """The options; a command adds its own to them."""

    robot: Annotated[str, arg(metavar="ROBOT")]
    """A name from 'iparam robots', or the path of a robot file (URDF, MJCF, xacro: 'FILE NAME:=VALUE')."""
    q: Annotated[tuple[float, ...], arg(metavar="Q0 Q1 ..")]
    """Joint positions, one number a joint [rad, or m for prismatic joints]."""
    dq: Annotated[tuple[float, ...], arg(metavar="DQ0 DQ1 ..", help_behavior_hint="(default: at rest)")] = ()
    """Joint velocities [rad/s]."""
    ddq: Annotated[tuple[float, ...], arg(metavar="DDQ0 DDQ1 ..", help_behavior_hint="(default: zeros)")] = ()
    """Joint accelerations [rad/s^2]."""
    degrees: Annotated[bool, arg(help_behavior_hint="")] = False
    """q, dq and ddq of revolute joints are in degrees. Results stay in radians."""
    tip: Tip = None
    json: AsJson = False

    def load_robot(self) -> Robot:
        """The robot, with a note about what its description leaves out."""
        return robot_of(self.robot, self.tip, **self.cut())

    def joint_state(self, robot: Robot) -> JointState:
        """The state, checked against the robot, with a note where it is beyond the robot's limits."""
        revolute = np.array([joint.kind is JointKind.REVOLUTE for joint in robot.moving_joints])
        scale = np.where(revolute, np.pi / 180.0, 1.0) if self.degrees else np.ones(robot.num_joints)
        given = {"q": self.q, "dq": self.dq or (0.0,) * robot.num_joints, "ddq": self.ddq or (0.0,) * robot.num_joints}
        for name, values in given.items():
            if len(values) != robot.num_joints:
                raise InputError(
                    f"--{name} needs {robot.num_joints} numbers, one for each joint of {robot.name}, got {len(values)}"
                )
        state = JointState(*(as_float_array(values, f"--{name}") * scale for name, values in given.items()))
        self._note_limits(robot, state)
        return state

    def _note_limits(self, robot: Robot, state: JointState) -> None:
        limits = robot.limits
        beyond = (state.q < limits.lower) | (state.q > limits.upper)
        if beyond.any():
            joint = int(np.argmax(beyond))
            range_text = f"{limits.lower[joint]:.4g}..{limits.upper[joint]:.4g}"
            hint = "" if self.degrees else "; for degrees add --degrees"
            note(f"{robot.joint_label(joint)} at {state.q[joint]:.4g} is outside its range {range_text}{hint}")
        if (np.abs(state.dq) > limits.velocity).any():
            joint = int(np.argmax(np.abs(state.dq) > limits.velocity))
            speed, limit = abs(state.dq[joint]), limits.velocity[joint]
            note(f"{robot.joint_label(joint)} at a speed of {speed:.4g} is above its limit of {limit:.4g}")


def robot_of(
    source: str,
    tip: str | None = None,
    stated: StatedArm | None = None,
    *,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
    named_by: str = "",
) -> Robot:
    """The robot that an option names, with notes on its model.

    Args:
        source: its name, or the path of its file.
        tip: the frame that an option names as the tool; None if none does.
        stated: the arm that a file is about: taken where options say nothing, as far as the robot has it.
        base, lock: see `load_robot`.
        named_by: the file that names the robot, if no option does: a path in it is not followed.
    """
    name = stated_name(source, named_by) if named_by else source
    robot = load_stated_robot(name, stated or StatedArm(), tip, base, lock)
    note_model(robot)
    return robot


def note_model(robot: Robot) -> None:
    """Notes about oddities of a robot's description, links that the model leaves out, limits that look like degrees."""
    for remark in robot.notes:
        note(remark)
    if robot.omitted_links:
        note(f"not in the model, because they move on side branches: {', '.join(robot.omitted_links)}")
    if remark := fast_joints(robot):
        note(remark)


def note_robot_file(robot: str, output: Path) -> None:
    """A note on what to add to later commands, where a file was written whose robot is one by its path.

    Args:
        robot: what the file names.
        output: the file.
    """
    if robot and not is_known(robot):
        note(f"{output} names the robot file {robot}, which is not followed: add --robot {shlex.quote(robot)} again")


def note_shape(robot: Robot) -> None:
    """Notes about what is missing of the shape of a robot's links, for the commands that look for collisions."""
    for remark in iparam.robot.arm_shape(robot).notes:
        note(remark)


def note_other_arm(stated: str | None, robot: Robot, given: str | None, holder: str) -> None:
    """A note if a motion was planned for another arm than the one that an option names: it may be tried on that."""
    found = iparam.robot.compare_with_stated(stated or "", robot, given or "", holder)
    if found.same is False and found.remark is not None:
        note_remark(replace(found.remark, severity=Severity.DOUBT))


def exact_count(values: Sequence[float], option: str, meaning: str, count: int) -> FloatArray:
    """The numbers of an option as an array (count,); an error that says what they mean if there are more or fewer."""
    if len(values) != count:
        raise InputError(f"{option} needs {count} numbers, {meaning}, got {len(values)}")
    return as_float_array(values, option)
