"""Whether two models are one arm is told from how their tools move, not from their names."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.robot.catalog import robot_names
from iparam.robot.model import Joint, JointKind, Link, Robot
from iparam.robot.same_arm import SAME_DISTANCE, arm_difference, check_same_arm, compare_with_stated
from iparam.spatial.transforms import rotation_from_rpy, transform_from

UR5E = iparam.load_robot("ur5e")


def mounted(rpy: tuple[float, float, float]) -> Robot:
    """The ur5e on a base that stands somewhere else, turned."""
    mount = Joint("mount", JointKind.FIXED, "world", "base", transform_from(rotation_from_rpy(rpy), [0.3, -1.0, 0.7]))
    return dataclasses.replace(
        UR5E, name="cell", joints=(mount, *UR5E.joints), links=(Link("world"), *UR5E.links), tool_frame="tool0"
    )


def calibrated() -> Robot:
    """The ur5e with origins that are off by what a calibration corrects."""
    rng = np.random.default_rng(1)
    joints = [
        dataclasses.replace(
            joint,
            origin=joint.origin @ transform_from(rotation_from_rpy(rng.normal(0, 5e-4, 3)), rng.normal(0, 5e-4, 3)),
        )
        for joint in UR5E.joints
    ]
    return dataclasses.replace(UR5E, joints=tuple(joints))


@pytest.mark.parametrize(("one", "other"), list(combinations(robot_names(), 2)))
def test_no_two_arms_of_the_catalogue_are_the_same(one: str, other: str) -> None:
    difference = arm_difference(iparam.load_robot(one), iparam.load_robot(other))
    assert difference.distance > 2.0 * SAME_DISTANCE
    assert not difference.same


@pytest.mark.parametrize("robot", [UR5E, calibrated(), mounted((0.0, 0.0, np.pi)), UR5E.with_tool(np.eye(4))])
def test_calibration_place_and_names_make_no_other_arm(robot: Robot) -> None:
    difference = arm_difference(UR5E, robot)
    assert difference.same
    assert difference.tilt < 0.02


def test_a_tilted_base_is_told() -> None:
    difference = arm_difference(UR5E, mounted((np.pi / 2, 0.0, 0.0)))
    assert difference.same
    assert difference.tilt == pytest.approx(np.pi / 2)
    (said,) = check_same_arm("ur5e", mounted((np.pi / 2, 0.0, 0.0)))
    assert (said.code, said.lowers) == ("robot-on-tilted-base", True)
    assert said.values["tilt"] == pytest.approx(90.0)


def test_arms_with_other_joints_differ() -> None:
    joint = iparam.Joint("j", iparam.robot.JointKind.REVOLUTE, "base", "tip", np.eye(4))
    limits = iparam.JointLimits.unlimited(1)
    short = iparam.Robot("one", (joint,), (iparam.Link("base"), iparam.Link("tip")), limits, "tip")
    assert not arm_difference(UR5E, short).same
    with pytest.raises(ContradictionError, match="its 1 joints are not those of a ur5e"):
        check_same_arm("ur5e", short)


def test_another_arm_is_refused_with_both_names_and_how_far_apart() -> None:
    with pytest.raises(ContradictionError, match=r"run .*ur5e.*ur5 .* 63 mm ") as refused:
        check_same_arm("UR5e", iparam.load_robot("ur5"), "ur5", "run")
    assert (refused.value.argument, refused.value.value) == ("robot", "ur5")


@pytest.mark.parametrize(
    ("stated", "robot", "given", "code"),
    [
        ("", UR5E, "ur5e", ""),
        ("ur5e", UR5E, "ur5e", ""),
        ("UR5e", UR5E, "ur5e", ""),
        ("ur5e", calibrated(), "mine/ur5e.urdf", ""),
        ("ur5e", mounted((0.0, 0.0, 1.0)), "cell.urdf", "robot-of-other-name"),
        ("old/cell.urdf", UR5E, "new/cell.urdf", ""),  # the description was moved
        ("old/cell.urdf", UR5E, "", ""),  # nothing but the model is known: loading has compared the names
        ("old/cell.urdf", UR5E, "ur5e", "robot-not-compared"),
    ],
)
def test_one_arm_by_two_names_is_said_where_it_is_not_plain(stated: str, robot: Robot, given: str, code: str) -> None:
    found = compare_with_stated(stated, robot, given)
    assert found.same is not False
    assert (found.remark.code if found.remark else "") == code
