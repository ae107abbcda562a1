"""Lengths in millimetres and angles in degrees are refused by the size of the arm that they are given for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.plausibility import check_angles, check_cell, check_payload_extent, fast_joints
from iparam.robot.urdf.writer import robot_to_urdf

UR5E = iparam.load_robot("ur5e")


def test_the_reach_bounds_every_pose() -> None:
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 6))
    farthest = float(np.linalg.norm(iparam.forward_kinematics(UR5E, q)[:, :3, 3], axis=1).max())
    assert 0.75 * UR5E.reach < farthest <= UR5E.reach


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (WorkCell((Box([500, 0, -425], [600, 400, 25], name="table"),)), r"'table' .* 1200 m long.*millimetres"),
        (WorkCell((Box([900, 900, 50], [20, 20, 20], name="post"),)), r"'post' .* m away from the base.*millimetres"),
        (WorkCell(planes=(Plane([-800, 0, 0], [1, 0, 0], "wall"),)), r"'wall' .* 800 m away"),
        (WorkCell(ground_height=-700.0), r"the ground .* 700 m away"),
    ],
)
def test_a_cell_in_millimetres_is_refused(cell: WorkCell, message: str) -> None:
    with pytest.raises(ContradictionError, match=message):
        check_cell(cell, UR5E)


@pytest.mark.parametrize(
    "cell",
    [
        WorkCell(),
        WorkCell(ground_height=None),
        WorkCell((Box([0.5, 0.0, -0.4], [0.6, 0.4, 0.02]), Box([0, 0, -1], [20, 20, 0.1], name="floor of the hall"))),
        WorkCell(planes=(Plane([0.0, 1500.0, -0.8], [1.0, 0.0, 0.0]),)),  # a point far along a wall near by
    ],
)
def test_a_cell_in_metres_is_taken(cell: WorkCell) -> None:
    check_cell(cell, UR5E)


def test_a_payload_in_millimetres_is_refused() -> None:
    check_payload_extent(2.0, UR5E)  # a long pipe
    with pytest.raises(ContradictionError, match=r"219 m from tool0, and ur5e reaches 1\.2 m: .*millimetres"):
        check_payload_extent(219.0, UR5E)


def test_a_tool_offset_in_millimetres_is_refused() -> None:
    offset = np.eye(4)
    offset[2, 3] = 0.12
    assert UR5E.with_tool(offset).tool_frame == "tcp"
    offset[2, 3] = 120.0
    with pytest.raises(ContradictionError, match=r"120 m from tool0.*millimetres"):
        UR5E.with_tool(offset)


def test_poses_in_degrees_are_refused() -> None:
    check_angles(np.full(6, 6.2), UR5E, "plan.json")
    with pytest.raises(
        ContradictionError, match=r"plan.json begins with elbow_joint at 90 rad.*ends at 3\.142.*degrees"
    ):
        check_angles(np.array([0, 0, 90, 0, 0, 0.0]), UR5E, "plan.json")


def described(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The ur5e as a URDF, with replacements (pattern, text)."""
    text = robot_to_urdf(UR5E)
    for pattern, new in changes:
        text, count = re.subn(pattern, new, text)
        assert count
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    return path


def test_descriptions_with_lengths_in_millimetres_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ContradictionError, match=r"the arm would reach 425.8 m: are its lengths in millimetres"):
        iparam.load_robot(described(tmp_path, ('xyz="-0.425 ', 'xyz="-425.0 ')))
    sensor = ('(<child link="tool0"/>\\s*<origin xyz=)"0.0 0.0 0.0"', r'\1"0.0 0.0 45.0"')
    with pytest.raises(ContradictionError, match=r"'tool0' is 45 m from .* rest of the arm is 1\.2 m long"):
        iparam.load_robot(described(tmp_path, sensor))


def test_a_description_in_degrees_is_refused(tmp_path: Path) -> None:
    path = described(tmp_path, ('lower="[^"]*"', 'lower="-170"'), ('upper="[^"]*"', 'upper="170"'))
    with pytest.raises(ContradictionError, match=r"every joint with limits turns to 170 rad or beyond.*degrees"):
        iparam.load_robot(path)


@pytest.mark.parametrize("upper", ["1e16", "6.2"])
def test_other_large_limits_are_taken(tmp_path: Path, upper: str) -> None:
    """Huge ones stand for none, and one joint may turn often."""
    path = described(tmp_path, ('upper="6[^"]*"', f'upper="{upper}"'), ('lower="-6[^"]*"', 'lower="-600"'))
    assert iparam.load_robot(path).limits.lower[0] == -600.0


def test_speed_limits_in_degrees_are_told(tmp_path: Path) -> None:
    assert fast_joints(UR5E) == ""
    robot = iparam.load_robot(described(tmp_path, ('velocity="[^"]*"', 'velocity="180"')))
    assert "180 rad/s and more: are they in degrees" in fast_joints(robot)
