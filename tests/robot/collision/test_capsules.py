"""The arm's capsules: along the joints where nothing else is known, around the shapes of the description else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.capsules import Capsule, arm_shape, link_capsules
from iparam.robot.collision.scene import collision_scene

UR5E = iparam.load_robot("ur5e")
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])


@pytest.mark.parametrize("name", iparam.robot_names())
def test_no_false_alarm_when_the_wrist_turns(name: str) -> None:
    rng, count = np.random.default_rng(0), 300
    # Wrist 1 within 70 degrees of straight ahead: folded back, the flange does hit the forearm.
    q = np.column_stack(
        [
            rng.uniform(-3, 3, count),
            np.full(count, -1.57),
            np.full(count, 1.57),
            rng.uniform(-2.8, -0.35, count),
            *rng.uniform(-3.0, 3.0, (2, count)),
        ]
    )
    assert collision_scene(iparam.load_robot(name)).first_contact(q) is None


def test_parallel_links_lie_beside_each_other() -> None:
    capsules = {c.frame: c for c in link_capsules(UR5E) if c.length > 0.3}
    assert set(capsules) == {"upper_arm_link", "forearm_link"}
    assert capsules["upper_arm_link"].start[2] > 0.1
    assert capsules["forearm_link"].start[2] < 0.05


def test_they_are_given_in_the_frames_of_the_links() -> None:
    # The chain of capsules is connected: the last point of a link is the first of the next one.
    poses = iparam.frame_poses(UR5E, HOME)
    ends = {}
    for capsule in link_capsules(UR5E):
        pose = poses[capsule.frame]
        start, end = (pose[:3, :3] @ point + pose[:3, 3] for point in (capsule.start, capsule.end))
        if capsule.body in ends:
            np.testing.assert_allclose(ends[capsule.body], start, atol=1e-9)
        elif capsule.body:
            np.testing.assert_allclose(ends[capsule.body - 1], start, atol=1e-9)
        ends[capsule.body] = end
    np.testing.assert_allclose(ends[6], poses["tool0"][:3, 3], atol=1e-9)


def test_radii_of_an_unknown_arm_follow_its_mass() -> None:
    guessed = link_capsules(dataclasses.replace(UR5E, name="mine"))
    for capsule, known in zip(guessed, link_capsules(UR5E), strict=True):
        assert 0.5 * known.radius < capsule.radius < 2.0 * known.radius


def test_refusals() -> None:
    with pytest.raises(iparam.InputError, match="radius"):
        Capsule(0, "base", np.zeros(3), np.ones(3), 0.0)
    with pytest.raises(iparam.InputError, match="half_extents"):
        Box((0, 0, 0), (1, 0, 1))
    with pytest.raises(iparam.InputError, match="must not be zero"):
        Plane((0, 0, 0), (0, 0, 0))
    with pytest.raises(iparam.InputError, match="needs Box objects"):
        WorkCell(boxes=(Plane((0, 0, 0), (0, 0, 1)),))  # type: ignore[arg-type]


URDF = """<robot name="two">
  <link name="base"><collision><geometry><cylinder radius="0.05" length="0.1"/></geometry></collision></link>
  <link name="first"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>{first}</link>
  <link name="tip"><collision><geometry><sphere radius="0.03"/></geometry></collision></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="first"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    </joint>
  <joint name="b" type="fixed"><parent link="first"/><child link="tip"/><origin xyz="0 0 0.4"/></joint>
</robot>"""


def from_text(tmp_path: Path, first: str) -> iparam.Robot:
    path = tmp_path / "two.urdf"
    path.write_text(URDF.format(first=first), encoding="utf-8")
    return iparam.load_robot(path, tip="tip")


def test_primitive_shapes_are_enclosed_where_they_are(tmp_path: Path) -> None:
    piece = (
        '<collision><origin xyz="0 0 0.2" rpy="0 0.3 0"/><geometry><box size="0.05 0.05 0.4"/></geometry></collision>'
    )
    robot = from_text(tmp_path, piece + '<visual><geometry><mesh filename="no.stl"/></geometry></visual>')
    shape = arm_shape(robot)
    assert {capsule.link for capsule in shape.capsules} == {"base", "first", "tip"}
    assert shape.notes == ()
    tip = next(capsule for capsule in shape.capsules if capsule.link == "tip")
    assert (tip.frame, tip.body) == ("first", 1)
    np.testing.assert_allclose(0.5 * (tip.start + tip.end), [0.0, 0.0, 0.4], atol=5e-3)
    assert 0.03 <= tip.radius < 0.036
    corners = np.array([[x, y, z] for x in (-0.025, 0.025) for y in (-0.025, 0.025) for z in (-0.2, 0.2)])
    turn = np.array([[np.cos(0.3), 0.0, np.sin(0.3)], [0.0, 1.0, 0.0], [-np.sin(0.3), 0.0, np.cos(0.3)]])
    placed = corners @ turn.T + [0.0, 0.0, 0.2]
    gaps = []
    for capsule in shape.capsules:
        if capsule.link == "first":
            line = capsule.end - capsule.start
            share = np.clip((placed - capsule.start) @ line / (line @ line), 0.0, 1.0)
            gaps.append(np.linalg.norm(placed - capsule.start - share[:, None] * line, axis=1) - capsule.radius)
    assert np.min(gaps, axis=0).max() <= 1e-9


@pytest.mark.parametrize(
    ("first", "note"),
    [
        (
            '<visual><geometry><mesh filename="package://x/no.stl"/></geometry></visual>',
            "no.stl' was not found",
        ),
        ('<collision><geometry><mesh filename="two.urdf"/></geometry></collision>', "must be one of .stl, .obj, .dae"),
        (
            '<collision><geometry><cone r="1"/></geometry></collision>',
            "unknown shape; known: mesh, box",
        ),
        ('<collision><geometry><box size="0 1 1"/></geometry></collision>', "3 positive lengths"),
    ],
)
def test_what_is_missing_is_named_and_joints_stand_for_it(tmp_path: Path, first: str, note: str) -> None:
    robot = from_text(tmp_path, first)
    shape = arm_shape(robot)
    (said,) = shape.notes
    assert note in said
    assert "along the joints" in said
    line = next(c for c in shape.capsules if c.link == "first")
    np.testing.assert_allclose([line.start, line.end], [[0, 0, 0], [0, 0, 0.4]], atol=1e-12)


def test_a_massless_frame_without_a_shape_hits_nothing(tmp_path: Path) -> None:
    path = tmp_path / "two.urdf"
    bare = URDF.format(first="").replace('<inertial><mass value="1"/>', "<!--").replace("</inertial>", "-->")
    path.write_text(bare, encoding="utf-8")
    assert "first" not in {capsule.link for capsule in arm_shape(iparam.load_robot(path, tip="tip")).capsules}


@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_hand"), ("xarm7", None)])
def test_other_makers_arms_are_enclosed(name: str, tip: str | None, example_robot_urdf: Callable[[str], Path]) -> None:
    trimesh = pytest.importorskip("trimesh")
    robot = iparam.load_robot(example_robot_urdf(name), tip=tip)
    shape = arm_shape(robot)
    assert shape.notes == ()
    checked = 0
    for link in robot.links:
        for piece in link.geometry:
            # Read by somebody else's reader; links that turn about z have their own frame for their capsules'.
            if link.name not in {capsule.frame for capsule in shape.capsules} or piece.file is None:
                continue
            mesh = trimesh.load(piece.file, force="mesh")
            points = mesh.vertices @ piece.pose[:3, :3].T + piece.pose[:3, 3]
            gaps = []
            for capsule in shape.capsules:
                if capsule.link == link.name:
                    line = capsule.end - capsule.start
                    share = np.clip((points - capsule.start) @ line / max(line @ line, 1e-30), 0.0, 1.0)
                    gaps.append(np.linalg.norm(points - capsule.start - share[:, None] * line, axis=1) - capsule.radius)
            assert np.min(gaps, axis=0).max() <= 1e-9
            checked += 1
    assert checked >= 7
    assert max(shape.overhang.values()) < 0.1
