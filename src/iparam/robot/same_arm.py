"""Whether two models are one arm: their tools move alike, whatever the models and their frames are called."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError
from iparam.remarks import Remark, remark
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import JointKind, Robot

SAME_DISTANCE = 0.02
"""Distance between the tools of two models up to which they are one arm [m]: a calibrated model differs by some mm from
the maker's figures, and the two most alike arms of the catalogue, ur3 and ur3e, by 44 mm."""

SAME_ANGLE = 0.05
"""The same for the angle between the tools [rad]."""

_POSES = 32


@dataclass(frozen=True)
class ArmDifference:
    """How differently the tools of two arms move in the same joint angles, wherever the two have their bases.

    Attributes:
        distance: largest distance between the tools [m]; infinite for arms with other joints.
        angle: largest angle between them [rad].
        tilt: angle between the vertical axes of the bases [rad]: an arm on a wall, and the same arm on a table.
    """

    distance: float
    angle: float
    tilt: float

    @property
    def same(self) -> bool:
        """Whether they are one arm, up to its calibration and how it is mounted."""
        return self.distance <= SAME_DISTANCE and self.angle <= SAME_ANGLE


def arm_difference(one: Robot, other: Robot) -> ArmDifference:
    """Compare two arms at poses all over the joints' ranges, the tool frame of ``one`` where ``other`` has it, too."""
    kinds = [[joint.kind for joint in robot.moving_joints] for robot in (one, other)]
    if kinds[0] != kinds[1]:
        return ArmDifference(np.inf, np.pi, np.pi)
    q = _generic_poses(one)
    poses = [forward_kinematics(robot, q) for robot in (one, _with_tool_frame(other, one.tool_frame))]
    # Seen from the tool in the first pose: where the bases stand, and how they are turned, drops out.
    turns = [np.swapaxes(pose[:1, :3, :3], 1, 2) @ pose[:, :3, :3] for pose in poses]
    moved = [np.einsum("ji,tj->ti", pose[0, :3, :3], pose[:, :3, 3] - pose[0, :3, 3]) for pose in poses]
    up = [pose[0, 2, :3] for pose in poses]
    cosines = 0.5 * (np.einsum("tij,tij->t", turns[0], turns[1]) - 1.0)
    return ArmDifference(
        distance=float(np.linalg.norm(moved[0] - moved[1], axis=1).max()),
        angle=float(np.arccos(np.clip(cosines, -1.0, 1.0)).max()),
        tilt=float(np.arccos(np.clip(up[0] @ up[1], -1.0, 1.0))),
    )


@dataclass(frozen=True)
class ArmComparison:
    """Whether a robot is the arm that data name.

    Attributes:
        same: None if that could not be found out.
        remark: what a reader should know; None if there is nothing to say.
    """

    same: bool | None
    remark: Remark | None = None


def compare_with_stated(stated: str, robot: Robot, given: str = "", holder: str = "the recording") -> ArmComparison:
    """Whether a robot is the arm that data name.

    Args:
        stated: catalogue name or URDF path in the data; "" if they do not say.
        robot: the arm to compute with.
        given: what ``robot`` was called: its name, or its URDF's path; "" if only the model is known.
        holder: of the data, for messages.
    """
    asked = given or robot.name
    if not stated:
        return ArmComparison(None)
    if stated.lower() not in robot_names():
        # A path in a file is not followed. A description that was moved keeps its name.
        if not given or stated == robot.name or Path(stated).name == Path(given).name:
            return ArmComparison(None)
        return ArmComparison(
            None,
            remark("robot-not-compared", holder=holder, stated=stated, given=asked),
        )
    model = catalog_robot(stated)
    if robot is model:
        return ArmComparison(True)
    difference = arm_difference(model, robot)
    if not difference.same:
        how = (
            f"in the same joint angles, {model.tool_frame} of the one and {robot.tool_frame} of the other are up to "
            f"{1e3 * difference.distance:.0f} mm and {np.degrees(difference.angle):.0f} deg apart"
            if np.isfinite(difference.distance)
            else f"its {robot.num_joints} joints are not those of a {model.name}"
        )
        return ArmComparison(False, remark("robot-is-another", holder=holder, stated=model.name, given=asked, how=how))
    if difference.tilt > SAME_ANGLE:
        return ArmComparison(
            True,
            remark(
                "robot-on-tilted-base",
                holder=holder,
                stated=model.name,
                given=asked,
                tilt=float(np.degrees(difference.tilt)),
            ),
        )
    if robot.name.lower() == model.name:
        return ArmComparison(True)
    return ArmComparison(True, remark("robot-of-other-name", holder=holder, stated=model.name, given=asked))


def check_same_arm(stated: str, robot: Robot, given: str = "", holder: str = "the recording") -> list[Remark]:
    """Refuse a robot that is another arm than the one that data name; else what `compare_with_stated` has to say."""
    found = compare_with_stated(stated, robot, given, holder)
    if found.same is False:
        raise ContradictionError(
            f"{found.remark} Leave the robot out to take {stated}; if {holder} is wrong about its robot, correct that",
            argument="robot",
            value=given or robot.name,
        )
    return [] if found.remark is None else [found.remark]


def _generic_poses(robot: Robot) -> FloatArray:
    """Poses (T, n) all over the joints' ranges, the same at every call [rad or m]."""
    reach = np.array([np.pi if joint.kind is JointKind.REVOLUTE else 1.0 for joint in robot.moving_joints])
    return np.random.default_rng(0).uniform(-reach, reach, (_POSES, robot.num_joints))


def _with_tool_frame(robot: Robot, frame: str) -> Robot:
    """The robot with ``frame`` as its tool frame, if that is one behind its last joint."""
    if frame == robot.tool_frame or frame not in robot.frames:
        return robot
    if robot.chain.frame_bodies[robot.frames.index(frame)] != robot.num_joints:
        return robot
    return dataclasses.replace(robot, tool_frame=frame)
