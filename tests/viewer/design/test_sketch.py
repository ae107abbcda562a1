"""A start pose and a cell that a hand changes: joints stay in their ranges, names tell things apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import iparam
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.kinematics import forward_kinematics
from iparam.viewer.design.sketch import Sketch, joint_range

SLIDING = """<robot name="lift"><link name="base"/><link name="carriage"/><link name="arm"/>
<joint name="lift" type="prismatic"><parent link="base"/><child link="carriage"/><axis xyz="0 1 1"/>
<limit lower="0" upper="0.5" velocity="1" effort="100"/></joint>
<joint name="turn" type="continuous"><parent link="carriage"/><child link="arm"/><axis xyz="1 0 0"/>
<origin xyz="0 0.1 0.2" rpy="0.3 0.2 0.1"/><limit velocity="1" effort="10"/></joint></robot>"""


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> list[iparam.Robot]:
    path = tmp_path_factory.mktemp("arms") / "lift.urdf"
    path.write_text(SLIDING)
    return [iparam.load_robot("ur5e"), iparam.load_robot(str(path))]


@given(st.integers(0, 1), st.integers(0, 10**6))
def test_a_body_that_is_dragged_takes_its_joint_along(arms: list[iparam.Robot], which: int, seed: int) -> None:
    robot, random = arms[which], np.random.default_rng(seed)
    low, high = joint_range(robot)
    sketch = Sketch(robot, random.uniform(low, high), WorkCell())
    joint = int(random.integers(robot.num_joints))
    near = 0.9 * np.pi if not robot.chain.prismatic[joint] else 1.0
    wanted = np.clip(sketch.q0[joint] + random.uniform(-near, near), low[joint], high[joint])
    there = sketch.with_joint(joint, wanted).joint_pose(joint)
    found = sketch.dragged(joint, there)
    np.testing.assert_allclose(found.q0[joint], wanted, atol=1e-9)
    others = np.arange(robot.num_joints) != joint
    assert (found.q0[others] == sketch.q0[others]).all()


def test_the_handle_of_the_last_joint_is_where_its_tool_is(arms: list[iparam.Robot]) -> None:
    robot = arms[0]  # whose tool frame has the origin of its last body
    sketch = Sketch(robot, np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2]), WorkCell())
    tool = forward_kinematics(robot, sketch.q0)
    np.testing.assert_allclose(sketch.joint_pose(5)[:3, 3], tool[:3, 3], atol=1e-12)
    np.testing.assert_allclose(sketch.joint_pose(5)[:3, 2], tool[:3, 2], atol=1e-12)


def test_joints_stay_within_their_ranges(arms: list[iparam.Robot]) -> None:
    for robot in arms:
        low, high = joint_range(robot)
        assert (np.isfinite(low) & np.isfinite(high)).all()
        sketch = Sketch(robot, np.zeros(robot.num_joints), WorkCell())
        assert sketch.with_joint(0, 1e9).q0[0] == high[0]
        assert sketch.with_joint(0, -1e9).q0[0] == low[0]


def test_things_of_the_same_name_get_numbers_and_can_be_changed_and_removed(arms: list[iparam.Robot]) -> None:
    box = Box(np.zeros(3), np.ones(3))
    sketch = Sketch(arms[0], np.zeros(6), WorkCell((box, box)))
    sketch = sketch.added(box).added(Plane(np.zeros(3), np.array([1.0, 0.0, 0.0]), "wall"))
    assert [thing.name for thing in sketch.obstacles] == ["box", "box 2", "box 3", "wall"]
    sketch = sketch.changed(Box(np.ones(3), np.ones(3), name="box 2")).without("box")
    assert [thing.name for thing in sketch.obstacles] == ["box 2", "box 3", "wall"]
    assert sketch.cell.boxes[0].center.tolist() == [1.0, 1.0, 1.0]
    assert sketch.with_ground(None).cell.ground_height is None
    with pytest.raises(iparam.InputError, match="no 'table' in the cell"):
        sketch.without("table")
