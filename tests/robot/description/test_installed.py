"""Arms of an installed package are known by name, at their flange; without the package the extra is named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import MissingExtraError
from iparam.robot import load_robot, robot_names
from iparam.robot.description.arm_choice import arms_of
from iparam.robot.description.installed import INSTALLED_ARMS
from iparam.robot.loading import read_description


@pytest.mark.parametrize("name", INSTALLED_ARMS)
def test_an_installed_arm_is_its_file_at_the_tip_that_would_be_chosen(
    name: str, example_robot_urdf: Callable[[str], Path]
) -> None:
    arm = INSTALLED_ARMS[name]
    path = example_robot_urdf("panda").parents[2] / arm.path
    robot = load_robot(name.upper())
    assert name not in robot_names()
    assert robot.name == name
    if arm.base:  # one of several
        tree = read_description(path)
        (own,) = (each for each in arms_of(tree, tree.root) if (each.base, each.tip) == (arm.base, arm.tip))
        assert (robot.base_frame, robot.tool_frame, robot.joint_names) == (arm.base, arm.tip, own.joints)
        return
    alone = load_robot(path)
    assert robot.tool_frame == alone.tool_frame
    assert robot.joint_names == alone.joint_names
    np.testing.assert_array_equal(robot.body_parameters, alone.body_parameters)


def test_another_tip_may_be_asked_for(example_robot_urdf: Callable[[str], Path]) -> None:
    example_robot_urdf("panda")
    assert load_robot("panda", tip="panda_hand_tcp").tool_frame == "panda_hand_tcp"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(MissingExtraError, match=r"example-robot-data for panda.*iparam\[robots\]"):
        load_robot("panda")
