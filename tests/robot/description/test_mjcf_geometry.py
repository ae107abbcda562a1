"""The shapes of an MJCF file are where MuJoCo has them, and the capsules around them enclose them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.robot import load_robot
from iparam.robot.collision.capsules import arm_shape

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo to read MJCF")

INERTIAL = '<inertial mass="1" pos="0 0 0.1" diaginertia="0.01 0.01 0.01"/>'
TETRAHEDRON = "0 0 0  0.2 0 0  0 0.1 0  0 0 0.15"
GEOMS = (
    '<geom type="box" size="0.03 0.05 0.1" pos="0.02 0 0.1" euler="20 30 0"/>',
    '<geom type="capsule" size="0.04" fromto="0 0 0 0.1 0.1 0.2"/>',
    '<geom type="cylinder" size="0.05 0.1" pos="0 0.03 0.1" euler="0 40 0"/>',
    '<geom type="ellipsoid" size="0.03 0.05 0.12" euler="10 0 50"/>',
    '<geom type="mesh" mesh="part" pos="0.05 0 0" euler="0 0 70"/>',
    '<geom type="sphere" size="0.06" pos="0 0 0.1"/>',
)


def model(*geoms: str, asset: str = f'<mesh name="part" vertex="{TETRAHEDRON}"/>') -> str:
    bodies = "".join(
        f'<body name="l{i}" pos="0.1 0 0.3" euler="15 {20 * i} 0">{INERTIAL}<joint name="j{i}" axis="0 {i} 1"/>{geom}'
        for i, geom in enumerate(geoms)
    )
    return f"<mujoco><asset>{asset}</asset><worldbody>{bodies}{'</body>' * len(geoms)}</worldbody></mujoco>"


def write(folder: Path, text: str) -> Path:
    path = folder / "arm.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_point_of_every_kind_of_geom_is_in_a_capsule_of_its_link(tmp_path: Path) -> None:
    path = write(tmp_path, model(*GEOMS))
    robot, compiled, random = load_robot(path), mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(2)
    shape, data = arm_shape(robot), mujoco.MjData(compiled)
    assert not shape.notes
    assert {capsule.body for capsule in shape.capsules} == set(range(1, 7))
    q = random.uniform(-1.0, 1.0, 6)
    data.qpos[:] = q
    mujoco.mj_kinematics(compiled, data)
    for geom in range(compiled.ngeom):
        body = int(compiled.geom_bodyid[geom])
        world = on_surface(compiled, geom, random) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        reach = []
        for capsule in (one for one in shape.capsules if one.body == body):
            pose = iparam.forward_kinematics(robot, q, frame=capsule.frame)
            start, end = (pose[:3, :3] @ point + pose[:3, 3] for point in (capsule.start, capsule.end))
            along = np.clip((world - start) @ (end - start) / max((end - start) @ (end - start), 1e-12), 0.0, 1.0)
            reach.append(np.linalg.norm(world - start - along[:, None] * (end - start), axis=1) - capsule.radius)
        outside = np.min(reach, axis=0)
        assert outside.max() < 1e-7  # meshes are compiled in single precision
        assert outside.max() > -0.03  # and they are no larger than they need be


def on_surface(compiled, geom: int, random: np.random.Generator) -> np.ndarray:
    """(P, 3) points on a geom, in its own frame, by MuJoCo's definitions of its sizes."""
    size, kind = compiled.geom_size[geom], mujoco.mjtGeom(int(compiled.geom_type[geom])).name
    unit = random.normal(size=(200, 3))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    if kind == "mjGEOM_MESH":
        return np.array(compiled.mesh_vert[:4], dtype=np.float64)
    if kind == "mjGEOM_BOX":
        return size * np.sign(unit)
    if kind == "mjGEOM_SPHERE":
        return size[0] * unit
    if kind == "mjGEOM_ELLIPSOID":
        return size * unit
    if kind == "mjGEOM_CAPSULE":
        return size[0] * unit + np.sign(unit[:, 2:]) * [0.0, 0.0, size[1]]
    around = unit[:, :2] / np.linalg.norm(unit[:, :2], axis=1)[:, None]
    return np.column_stack([size[0] * around, size[1] * np.sign(unit[:, 2])])


def test_what_collides_is_the_shape_and_what_is_seen_only_where_nothing_does(tmp_path: Path) -> None:
    seen = '<geom type="sphere" size="0.5" contype="0" conaffinity="0"/>'
    robot = load_robot(write(tmp_path, model(seen + GEOMS[5], seen)))
    assert [[piece.size for piece in link.geometry] for link in robot.links[1:3]] == [[(0.06,)], [(0.5,)]]


def test_a_floor_is_no_part_of_the_arm_and_a_table_under_it_is(tmp_path: Path) -> None:
    around = '<worldbody><geom type="plane" size="1 1 1"/><geom name="table" type="box" size="0.5 0.5 0.2"/>'
    robot = load_robot(write(tmp_path, model(*GEOMS).replace("<worldbody>", around)))
    assert [piece.size for piece in robot.link("world").geometry] == [(1.0, 1.0, 0.4)]
