"""Links of one body in groups: the room between them stays free, and none of them is forgotten."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.robot.collision.capsules import arm_shape, gathered
from iparam.robot.collision.scene import collision_scene


def boxes(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.0, 1.0, (count, 3))
    return {f"l{i}": np.array([corner, corner + rng.uniform(0.0, 0.2, 3)]) for i, corner in enumerate(corners)}


@pytest.mark.parametrize("most", [1, 5, 30, 40])
def test_every_link_is_in_one_group_of_its_largest(most: int) -> None:
    given = boxes(30)
    groups = gathered(given, most)
    assert len(groups) == min(most, 30)
    assert sorted(name for group in groups.values() for name in group) == sorted(given)
    for name, group in groups.items():
        sizes = {one: np.prod(np.maximum(np.diff(given[one], axis=0), 0.02)) for one in group}
        assert sizes[name] == max(sizes.values())


def test_neighbours_and_what_is_inside_come_together() -> None:
    near = {f"a{i}": np.array([[0.1 * i, 0.0, 0.0], [0.1 * i + 0.1, 0.1, 0.1]]) for i in range(4)}
    far = {"b": np.array([[3.0, 0.0, 0.0], [3.1, 0.1, 0.1]]), "c": np.array([[3.02, 0.02, 0.02], [3.05, 0.05, 0.05]])}
    groups = gathered({**near, **far}, 2)
    assert sorted(map(sorted, groups.values())) == [["a0", "a1", "a2", "a3"], ["b", "c"]]


def test_a_base_of_many_links_leaves_the_room_between_them(tmp_path: Path) -> None:
    """Posts all around, more of them than groups, and an arm in the middle that reaches between them, not to them."""
    count = 24
    angles = 2.0 * np.pi * np.arange(count) / count
    posts = "".join(
        f'<link name="p{i}"><collision><origin xyz="{0.9 * np.cos(a):.6f} {0.9 * np.sin(a):.6f} .5"/><geometry>'
        '<box size=".05 .05 1"/></geometry></collision></link>'
        f'<joint name="f{i}" type="fixed"><parent link="base"/><child link="p{i}"/></joint>'
        for i, a in enumerate(angles)
    )
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/>'
        '</inertial><collision><origin xyz=".12 0 0"/><geometry><box size=".2 .05 .05"/></geometry></collision></link>'
        for i in range(3)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="{"base" if i == 0 else f"l{i - 1}"}"/><child link="l{i}"/>'
        f'<origin xyz="{".24 0 0" if i else "0 0 .5"}"/><axis xyz="0 {int(i > 0)} {int(i == 0)}"/>'
        '<limit lower="-3" upper="3" velocity="1" effort="9"/></joint>'
        for i in range(3)
    )
    (tmp_path / "a.urdf").write_text(
        f'<robot name="a"><link name="base"/>{posts}{links}{joints}</robot>', encoding="utf-8"
    )
    robot = iparam.load_robot(tmp_path / "a.urdf", tip="l2")
    shape, scene = arm_shape(robot), collision_scene(robot)
    assert not any("p" in name for pair in scene.touching for name in pair)
    # Between two posts of one group, and stretched out towards its middle.
    poses = np.column_stack([np.linspace(-3.0, 3.0, 200), np.zeros((200, 2))])
    assert scene.first_contact(poses) is None
    for name in {capsule.link for capsule in shape.capsules if capsule.body == 0}:
        assert shape.overhang[name] < 0.15
    corners = np.array([[0.9 * np.cos(a), 0.9 * np.sin(a), z] for a in angles for z in (0.0, 1.0)])
    for corner in corners:  # every post is in a capsule
        gaps = []
        for capsule in (one for one in shape.capsules if one.body == 0):
            way = capsule.end - capsule.start
            along = np.clip((corner - capsule.start) @ way / max(way @ way, 1e-12), 0.0, 1.0)
            gaps.append(np.linalg.norm(corner - capsule.start - along * way) - capsule.radius)
        assert min(gaps) <= 1e-9
