"""Bodies that share faces, edges or corners are told apart, and each is closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from iparam.errors import InputError
from iparam.estimation import load_shape
from iparam.estimation.shape.mesh_points import closed_volume
from iparam.estimation.shape.touching_bodies import touching_surfaces


def cube(x: float = 0, y: float = 0, z: float = 0, size: float = 1.0) -> trimesh.Trimesh:
    return trimesh.creation.box([size] * 3).apply_translation([x, y, z])


def inverted(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    mesh.invert()
    return mesh


CASE = [cube(size=3.0), inverted(cube())]
BODIES = {
    "a face": ([cube(), cube(0, 0, 1)], [1.0, 1.0]),
    "an edge": ([cube(), cube(0, 1, 1)], [1.0, 1.0]),
    "a corner": ([cube(), cube(1, 1, 1)], [1.0, 1.0]),
    "a row": ([cube(), cube(0, 0, 1), cube(0, 0, 2)], [1.0] * 3),
    "four about an edge": ([cube(), cube(0, 0, 1), cube(0, 1, 0), cube(0, 1, 1)], [1.0] * 4),
    "a core in its case": ([*CASE, cube()], [-1.0, 1.0, 27.0]),
    "apart": ([cube(), cube(0, 0, 3)], [1.0, 1.0]),
}


@pytest.mark.parametrize("touching", BODIES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("inside_out", [False, True])
def test_each_body_is_a_surface_of_its_own(touching: str, turned: bool, inside_out: bool) -> None:
    meshes, volumes = BODIES[touching]
    whole = trimesh.util.concatenate(meshes)
    if turned:
        whole.apply_transform(trimesh.transformations.euler_matrix(0.4, 1.1, -0.3))
        whole.apply_translation([0.1, 0.2, 0.3])
    whole.vertices = whole.vertices.astype(np.float32)
    whole.merge_vertices()
    triangles = np.asarray(whole.triangles)
    found = touching_surfaces(triangles[:, ::-1] if inside_out else triangles)
    sign = -1.0 if inside_out else 1.0
    assert sorted(sign * closed_volume("it", one) for one in found) == pytest.approx(volumes, rel=1e-5)
    assert sum(len(one) for one in found) == len(triangles)


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply"])
@pytest.mark.parametrize("touching", BODIES)
def test_files_of_them_are_read(touching: str, suffix: str, tmp_path: Path) -> None:
    meshes, volumes = BODIES[touching]
    trimesh.util.concatenate(meshes).export(tmp_path / f"it{suffix}")
    shape = load_shape(tmp_path / f"it{suffix}", scale=0.05)
    expected = [volume - 1.0 if volume == 27.0 else volume for volume in volumes if volume > 0.0]
    assert sorted(part.volume / 0.05**3 for part in shape.parts) == pytest.approx(expected, rel=1e-5)
    assert shape.remarks == ()


def test_a_surface_with_a_hole_is_still_refused(tmp_path: Path) -> None:
    whole = trimesh.util.concatenate([cube(), cube(0, 0, 1)])
    whole.update_faces(np.arange(len(whole.faces)) > 0)
    whole.export(tmp_path / "it.stl")
    with pytest.raises(InputError, match="is not closed"):
        load_shape(tmp_path / "it.stl", scale=0.05)
