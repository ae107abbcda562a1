"""Arms of an installed package are known by name, at their flange; without the package the extra is named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import MissingExtraError
from iparam.robot import load_robot, robot_names
from iparam.robot.description.installed import INSTALLED_ARMS


@pytest.mark.parametrize("name", INSTALLED_ARMS)
def test_an_installed_arm_is_its_file_at_the_tip_that_would_be_chosen(
    name: str, example_robot_urdf: Callable[[str], Path]
) -> None:
    path = example_robot_urdf("panda").parents[2] / INSTALLED_ARMS[name].path
    robot, own = load_robot(name.upper()), load_robot(path)
    assert name not in robot_names()
    assert robot.name == name
    assert robot.tool_frame == own.tool_frame
    assert robot.joint_names == own.joint_names
    np.testing.assert_array_equal(robot.body_parameters, own.body_parameters)


def test_another_tip_may_be_asked_for(example_robot_urdf: Callable[[str], Path]) -> None:
    example_robot_urdf("panda")
    assert load_robot("panda", tip="panda_hand_tcp").tool_frame == "panda_hand_tcp"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(MissingExtraError, match=r"example-robot-data for panda.*iparam\[robots\]"):
        load_robot("panda")
