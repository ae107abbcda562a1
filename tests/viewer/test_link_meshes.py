from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.robot.collision.capsules import link_capsules
from iparam.viewer.link_meshes import arm_meshes, capsule_meshes, capsule_triangles, ellipsoid_triangles


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Of a closed surface whose faces look outwards."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_a_capsule_is_closed_and_of_its_size() -> None:
    start, end, radius = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.1, 0.5]), 0.06
    vertices, faces = capsule_triangles(start, end, radius)
    way = end - start
    along = np.clip((vertices - start) @ way / (way @ way), 0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(vertices - start - along[:, None] * way, axis=1), radius, atol=1e-12)
    exact = np.pi * radius**2 * np.linalg.norm(way) + 4.0 / 3.0 * np.pi * radius**3
    assert 0.95 * exact < volume(vertices, faces) < exact


def test_an_ellipsoid_is_where_its_matrix_says() -> None:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(3, 3)) * 0.1
    matrix, center = root @ root.T, rng.normal(size=3)
    vertices, faces = ellipsoid_triangles(center, matrix)
    away = vertices - center
    np.testing.assert_allclose(np.einsum("vi,ij,vj->v", away, np.linalg.inv(matrix), away), 1.0, rtol=1e-9)
    exact = 4.0 / 3.0 * np.pi * np.sqrt(np.linalg.det(matrix))
    assert 0.9 * exact < volume(vertices, faces) < exact


def test_an_arm_without_meshes_shows_its_capsules_and_says_so(ur5e: iparam.Robot) -> None:
    drawn = arm_meshes(ur5e)
    assert len(drawn.meshes) == len(link_capsules(ur5e)) == len(capsule_meshes(ur5e))
    assert drawn.notes == (
        "the description of ur5e has no meshes: the arm is drawn as the capsules of its collision tests",
    )


@pytest.mark.parametrize("name", ["panda", "xarm7", "talos_left_arm"])
def test_meshes_are_found_and_made_coarse_enough(name: str) -> None:
    try:
        robot = iparam.load_robot(name)
    except iparam.MissingExtraError:
        pytest.skip("example-robot-data is not installed")
    drawn = arm_meshes(robot, most=10_000)
    assert not drawn.notes
    bodies = dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
    assert {bodies[mesh.frame] for mesh in drawn.meshes} == set(range(robot.num_joints + 1))
    assert sum(len(mesh.faces) for mesh in drawn.meshes) <= 10_000 + 200 * len(drawn.meshes)
    fine = {mesh.frame: mesh for mesh in arm_meshes(robot, most=10**7).meshes}
    for mesh in drawn.meshes:  # coarser, and of the same size
        whole = fine[mesh.frame].vertices
        np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), np.ptp(whole, axis=0), atol=0.02)
        assert mesh.faces.min() == 0
        assert mesh.faces.max() < len(mesh.vertices)


def test_a_link_whose_mesh_is_missing_shows_its_capsules() -> None:
    try:
        robot = iparam.load_robot("panda")
    except iparam.MissingExtraError:
        pytest.skip("example-robot-data is not installed")
    links = [
        dataclasses.replace(link, geometry=tuple(dataclasses.replace(p, file=None) for p in link.geometry), visual=())
        if link.name == "panda_link4"
        else link
        for link in robot.links
    ]
    drawn = arm_meshes(dataclasses.replace(robot, links=tuple(links)))
    assert len(drawn.notes) == 1
    assert "panda_link4" in drawn.notes[0]
    assert "was not found: capsules stand for what is missing" in drawn.notes[0]
    assert any(mesh.smooth and mesh.frame == "panda_link4" for mesh in drawn.meshes)
