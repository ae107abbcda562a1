"""The shapes of an SDF file are those of the same arm's URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iparam.robot import load_robot
from iparam.robot.collision.capsules import arm_shape

STL = "solid x\n" + "".join(
    f"facet normal 0 0 0\nouter loop\n{''.join(f'vertex {p}' + chr(10) for p in face)}endloop\nendfacet\n"
    for face in (("0 0 0", "100 0 0", "0 100 0"), ("0 0 0", "100 0 0", "0 0 200"))
)
SHAPES = {  # as SDF, as URDF
    "box": ("<box><size>0.1 0.2 0.3</size></box>", '<box size="0.1 0.2 0.3"/>'),
    "cylinder": (
        "<cylinder><radius>0.05</radius><length>0.3</length></cylinder>",
        '<cylinder radius="0.05" length="0.3"/>',
    ),
    "sphere": ("<sphere><radius>0.07</radius></sphere>", '<sphere radius="0.07"/>'),
    "mesh": (
        "<mesh><uri>part.stl</uri><scale>0.001 0.002 0.001</scale></mesh>",
        '<mesh filename="part.stl" scale="0.001 0.002 0.001"/>',
    ),
}
MASS = "<mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"


def sdf(folder: Path, inner: str) -> Path:
    path = folder / "arm.sdf"
    path.write_text(
        f'<sdf version="1.9"><model name="arm"><link name="base"/><link name="l"><pose>0 0 0.5 0.3 0 0</pose>'
        f'<inertial>{MASS}</inertial>{inner}</link><frame name="mark" attached_to="l"><pose relative_to="l">0 0 1 0 0 0'
        '</pose></frame><joint name="j" type="revolute"><parent>base</parent><child>l</child></joint></model></sdf>',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("kind", SHAPES)
def test_a_shape_is_where_the_urdf_has_it(kind: str, tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_text(STL, encoding="utf-8")
    as_sdf, as_urdf = SHAPES[kind]
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="arm"><link name="base"/><link name="l"><collision><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/>'
        f'<geometry>{as_urdf}</geometry></collision></link><joint name="j" type="continuous"><parent link="base"/>'
        '<child link="l"/></joint></robot>',
        encoding="utf-8",
    )
    pose = "<pose>0.1 0 0.2 0.1 0.2 0.3</pose>"
    seen = "<visual name='v'><geometry><sphere><radius>9</radius></sphere></geometry></visual>"
    (ours,) = (
        load_robot(sdf(tmp_path, f'<collision name="c">{pose}<geometry>{as_sdf}</geometry></collision>{seen}'))
        .link("l")
        .geometry
    )
    (theirs,) = load_robot(path).link("l").geometry
    np.testing.assert_allclose(ours.triangles(), theirs.triangles(), atol=1e-12)


def test_a_pose_may_be_relative_to_a_frame_and_visuals_stand_in_for_collisions(tmp_path: Path) -> None:
    inner = (
        '<visual name="v"><pose relative_to="mark">0 0 0.25 0 0 0</pose><geometry><capsule><radius>0.1</radius>'
        "<length>0.4</length></capsule></geometry></visual>"
    )
    (piece,) = load_robot(sdf(tmp_path, inner)).link("l").geometry
    np.testing.assert_allclose(piece.pose[:3, 3], [0.0, 0.0, 1.25], atol=1e-12)
    assert piece.size == (0.1, 0.4)
    heights = piece.triangles()[..., 2]
    assert heights.min() == pytest.approx(1.25 - 0.3, abs=0.01)
    assert heights.max() == pytest.approx(1.25 + 0.3, abs=0.01)


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        ("<heightmap/>", "not read"),
        ("<box/>", "has no <size>"),
        ("<box><size>1 2</size></box>", "3 numbers"),
        ("<mesh><uri>lost.dae</uri></mesh>", "lost.dae"),
    ],
)
def test_what_cannot_be_read_is_told_when_the_shape_is_asked_for(geometry: str, words: str, tmp_path: Path) -> None:
    inner = f'<collision name="c"><geometry>{geometry}</geometry></collision>'
    note, *_ = arm_shape(load_robot(sdf(tmp_path, inner))).notes
    assert words in note
    assert "capsules along the joints" in note
