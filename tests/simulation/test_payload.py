"""Payloads: analytic inertia, placement, and meshes against the formulas and against MuJoCo's own integral."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError
from iparam.simulation import Payload, shapes
from iparam.spatial import rotation_from_rpy

trimesh = pytest.importorskip("trimesh")


class TestSolids:
    def test_a_box_stands_in_front_of_the_flange(self) -> None:
        body = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2)).parameters
        np.testing.assert_allclose(body.center_of_mass, [0.0, 0.0, 0.1])
        np.testing.assert_allclose(
            np.diag(body.inertia_about_com), [0.0625 / 6.0, 0.05 / 6.0, 0.0325 / 6.0], rtol=1e-14
        )
        np.testing.assert_allclose(body.inertia_about_origin[0, 0], 0.0625 / 6.0 + 2.0 * 0.01)

    def test_offset_and_rotation(self) -> None:
        turn = rotation_from_rpy([0.3, -0.2, 0.9])
        straight = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2), offset=(0.0, 0.0, 0.0)).parameters
        turned = Payload.box(
            mass=2.0, size=(0.1, 0.15, 0.2), offset=(1, 2, 3), rotation_rpy=(0.3, -0.2, 0.9)
        ).parameters
        np.testing.assert_allclose(turned.center_of_mass, [1.0, 2.0, 3.0])
        np.testing.assert_allclose(turned.inertia_about_com, turn @ straight.inertia_about_com @ turn.T, atol=1e-15)

    def test_a_turned_shape_still_touches_the_flange(self) -> None:
        lying = Payload.cylinder(mass=1.0, radius=0.03, length=0.2, rotation_rpy=(0.0, np.pi / 2, 0.0)).parameters
        np.testing.assert_allclose(lying.center_of_mass, [0.0, 0.0, 0.03], atol=1e-12)
        tilted = Payload.box(mass=1.0, size=(0.2, 0.2, 0.2), rotation_rpy=(np.pi / 4, 0.0, 0.0)).parameters
        np.testing.assert_allclose(tilted.center_of_mass, [0.0, 0.0, 0.1 * np.sqrt(2.0)], atol=1e-12)

    def test_density(self) -> None:
        assert Payload.box(density=2700.0, size=(0.1, 0.15, 0.2)).parameters.mass == pytest.approx(8.1)
        assert Payload.sphere(density=1000.0, radius=0.1).parameters.mass == pytest.approx(4000.0 / 3.0 * np.pi * 1e-3)
        assert Payload.cylinder(density=1000.0, radius=0.1, length=0.2).parameters.mass == pytest.approx(2.0 * np.pi)

    def test_two_stages_are_two_cylinders(self) -> None:
        body = Payload.two_stage_cylinder(
            density=1000.0, radius1=0.05, length1=0.1, radius2=0.02, length2=0.2
        ).parameters
        below = iparam.InertialParameters.cylinder(1000.0 * np.pi * 0.05**2 * 0.1, 0.05, 0.1)
        above = iparam.InertialParameters.cylinder(1000.0 * np.pi * 0.02**2 * 0.2, 0.02, 0.2)
        shift = np.eye(4)
        shift[2, 3] = 0.05
        expected = below.transformed(shift)
        shift[2, 3] = 0.2
        expected = expected + above.transformed(shift)
        np.testing.assert_allclose(body.phi, expected.phi, rtol=1e-12, atol=1e-15)

    def test_two_equal_stages_are_one_cylinder(self) -> None:
        two = Payload.two_stage_cylinder(mass=2.0, radius1=0.03, length1=0.1, radius2=0.03, length2=0.15)
        one = Payload.cylinder(mass=2.0, radius=0.03, length=0.25)
        np.testing.assert_allclose(two.parameters.phi, one.parameters.phi, rtol=1e-12, atol=1e-15)

    @pytest.mark.parametrize("given", [{}, {"mass": 1.0, "density": 1.0}, {"mass": -1.0}, {"mass": 0.0}])
    def test_mass_or_density(self, given: dict[str, float]) -> None:
        with pytest.raises(InputError):
            Payload.sphere(radius=0.1, **given)

    def test_sizes_must_be_positive(self) -> None:
        with pytest.raises(InputError, match="3 positive lengths"):
            Payload.box(mass=1.0, size=(0.1, 0.0, 0.1))

    def test_millimetres_are_noticed(self) -> None:
        with pytest.raises(InputError, match="wrong units"):
            Payload.box(density=2700.0, size=(100.0, 150.0, 200.0))

    def test_the_farthest_point_is_known(self) -> None:
        box = Payload.box(mass=1.0, size=(0.2, 0.2, 0.3), offset=(0.0, 0.3, 0.4))
        assert box.farthest == pytest.approx(np.linalg.norm([0.1, 0.4, 0.55]))
        ball = Payload.sphere(mass=1.0, radius=0.1)
        assert 0.2 <= ball.farthest < 0.25
        assert Payload.from_parameters(box.parameters).farthest == pytest.approx(0.5)

    def test_what_no_body_has_is_refused(self) -> None:
        impossible = iparam.InertialParameters(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))
        with pytest.raises(InputError, match="no rigid body"):
            Payload.from_parameters(impossible)


def saved(mesh, folder: Path, suffix: str = ".stl") -> Path:
    path = folder / f"part{suffix}"
    mesh.export(path)
    return path


def mujoco_integrals(path: Path) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it, at density 1000, by MuJoCo's own integration."""
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec()
    spec.add_mesh(name="part", file=str(path), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT)
    body = spec.worldbody.add_body(name="part")
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="part", density=1000.0)
    model = spec.compile()
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.body("part").iquat)
    axes = turn.reshape(3, 3)
    part = model.body("part")
    return float(part.mass[0]), part.ipos, axes @ np.diag(part.inertia) @ axes.T


# A mesh is inscribed in its sphere or cylinder: with n segments it lacks about 2 pi^2 / (3 n^2) of the cross section.
SHAPES = {
    "box": (lambda: trimesh.creation.box((0.1, 0.15, 0.2)), Payload.box(density=1000.0, size=(0.1, 0.15, 0.2)), 1e-7),
    "cylinder": (
        lambda: trimesh.creation.cylinder(0.05, 0.2, sections=128),
        Payload.cylinder(density=1000.0, radius=0.05, length=0.2),
        2.0 * 2.0 * np.pi**2 / (3.0 * 128**2),
    ),
    "sphere": (
        lambda: trimesh.creation.icosphere(5, 0.08),
        Payload.sphere(density=1000.0, radius=0.08),
        2e-3,
    ),
}


class TestMeshes:
    @pytest.mark.parametrize("suffix", [".stl", ".obj"])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_trimesh_mujoco_and_formula_agree(self, shape: str, suffix: str, tmp_path: Path) -> None:
        make, exact, tolerance = SHAPES[shape]
        path = saved(make(), tmp_path, suffix)
        body = Payload.mesh(path, density=1000.0, offset=(0.0, 0.0, 0.0)).parameters
        np.testing.assert_allclose(body.mass, exact.parameters.mass, rtol=tolerance)
        np.testing.assert_allclose(body.center_of_mass, np.zeros(3), atol=1e-6)
        np.testing.assert_allclose(
            body.inertia_about_com,
            exact.parameters.inertia_about_com,
            rtol=0,
            atol=2.0 * tolerance * np.abs(exact.parameters.inertia_about_com).max(),
        )
        # MuJoCo keeps a mesh's vertices in single precision.
        mass, center, inertia = mujoco_integrals(path)
        np.testing.assert_allclose(body.mass, mass, rtol=1e-6)
        np.testing.assert_allclose(body.center_of_mass, center, atol=1e-7)
        np.testing.assert_allclose(body.inertia_about_com, inertia, rtol=0, atol=3e-6 * np.abs(inertia).max())

    def test_a_mesh_without_an_offset_stands_in_front_of_the_flange(self, tmp_path: Path) -> None:
        mesh = trimesh.creation.box((0.1, 0.15, 0.2))
        mesh.apply_translation((1.0, 2.0, 3.0))
        path = saved(mesh, tmp_path, ".obj")
        standing = Payload.mesh(path, mass=2.0)
        same = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
        np.testing.assert_allclose(standing.parameters.phi, same.parameters.phi, atol=1e-9)
        placed = Payload.mesh(path, mass=2.0, offset=(-1.0, -2.0, -2.9))
        np.testing.assert_allclose(placed.parameters.phi, same.parameters.phi, atol=1e-9)

    def test_rotation_and_scale(self, tmp_path: Path) -> None:
        path = saved(trimesh.creation.box((100.0, 150.0, 200.0)), tmp_path)
        turned = Payload.mesh(path, mass=2.0, scale=0.001, rotation_rpy=(0.1, 0.2, 0.3))
        same = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2), rotation_rpy=(0.1, 0.2, 0.3))
        np.testing.assert_allclose(turned.parameters.phi, same.parameters.phi, atol=1e-9)

    def test_a_mesh_inside_out_is_turned(self, tmp_path: Path) -> None:
        mesh = trimesh.creation.box((0.1, 0.15, 0.2))
        mesh.invert()
        same = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
        found = Payload.mesh(saved(mesh, tmp_path), mass=2.0).parameters.phi
        np.testing.assert_allclose(found, same.parameters.phi, atol=1e-9)

    def test_an_open_mesh(self, tmp_path: Path) -> None:
        mesh = trimesh.creation.box((0.1, 0.15, 0.2))
        mesh.update_faces(np.arange(11))
        with pytest.raises(InputError, match="not watertight, 3 of its edges"):
            Payload.mesh(saved(mesh, tmp_path), mass=1.0)

    def test_triangles_that_face_in_and_out_by_turns(self, tmp_path: Path) -> None:
        mesh = trimesh.creation.box((0.1, 0.15, 0.2))
        faces = mesh.faces.copy()
        faces[::2] = faces[::2, ::-1]
        path = saved(trimesh.Trimesh(mesh.vertices, faces, process=False), tmp_path, ".obj")
        with pytest.raises(InputError, match="face opposite ways"):
            Payload.mesh(path, mass=1.0)

    def test_a_flat_mesh(self, tmp_path: Path) -> None:
        path = tmp_path / "flat.obj"  # a tetrahedron whose four corners lie in a plane
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", encoding="utf-8")
        with pytest.raises(InputError, match="encloses no volume"):
            Payload.mesh(path, mass=1.0)

    @pytest.mark.parametrize(("edge", "message"), [(100.0, r"100 m long.*scale = 0\.001"), (1e-4, "0.0001 m long")])
    def test_wrong_units(self, edge: float, message: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=message):
            Payload.mesh(saved(trimesh.creation.box((edge, edge, edge)), tmp_path), mass=1.0)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("no triangles.obj", b"hello\n"),
            ("empty.stl", b""),
            ("rubbish.stl", b"\x00\x12garbage" * 40),
            ("not a number.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
            ("index.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 9\n"),
            ("flat vertex.obj", b"v .1 .1 -.1\nv .1 .1 .1\nf 2 4 1\nf 5 2 1\nv -.1 -.1 -.1\nv -.1 -.1 .1\nv -.1 .1"),
            ("vertex 0.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 -9\n"),
            ("part.step", b"ISO-10303-21;"),
        ],
    )
    def test_unreadable_files(self, name: str, content: bytes, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            Payload.mesh(tmp_path / name, mass=1.0)

    def test_numbers_that_are_too_large(self, tmp_path: Path) -> None:
        path = tmp_path / "huge.obj"
        path.write_text("v 0 0 -1e308\nv 1 0 0\nv 0 1 0\nv 0 0 1e308\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        with pytest.raises(InputError, match=r"huge\.obj: the mesh is .* m long"):
            Payload.mesh(path, mass=1.0)

    def test_a_file_that_is_too_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = saved(trimesh.creation.box((0.1, 0.1, 0.1)), tmp_path)
        monkeypatch.setattr(shapes, "MAX_BYTES", 100)
        with pytest.raises(FileFormatError, match="let a mesh program make it coarser"):
            Payload.mesh(path, mass=1.0)

    def test_what_trimesh_says_to_itself_is_not_printed(self, tmp_path: Path) -> None:
        path = tmp_path / "damaged.stl"
        text = trimesh.creation.box((0.1, 0.1, 0.1)).export(file_type="stl_ascii")
        path.write_text(
            text.replace("normal 0", "normal x", 1) if "normal 0" in text else text.replace("normal", "", 1)
        )
        program = (
            "import sys\nfrom iparam.errors import IparamError\nfrom iparam.simulation import Payload\n"
            "try: Payload.mesh(sys.argv[1], mass=1.0)\nexcept IparamError: pass"
        )
        done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
        assert done.stderr == ""

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileFormatError, match="no such file"):
            Payload.mesh(tmp_path / "missing.obj", mass=1.0)
