"""Shapes from files: every format, parts by bodies and nodes, cavities, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

import iparam
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.estimation import load_shape


def ring() -> trimesh.Trimesh:
    mesh = trimesh.creation.annulus(0.02, 0.05, 0.1)
    mesh.apply_transform(trimesh.transformations.euler_matrix(0.4, 1.1, -0.3))
    mesh.apply_translation([0.1, -0.05, 0.2])
    return mesh


def test_the_bounds_of_a_shape_are_its_surfaces(tmp_path: Path) -> None:
    file = tmp_path / "rod.stl"
    trimesh.creation.box([0.02, 0.03, 1.0]).export(file)
    shape = load_shape(file).placed(iparam.spatial.transform_from(np.eye(3), np.array([0.1, 0.0, 0.5])))
    size, center = shape.bounds
    np.testing.assert_allclose(size, [0.02, 0.03, 1.0], rtol=1e-6)
    np.testing.assert_allclose(center, [0.1, 0.0, 0.5], atol=1e-6)


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".glb"])
def test_a_mesh_is_the_body_that_it_encloses(tmp_path: Path, suffix: str) -> None:
    mesh, path = ring(), tmp_path / f"ring{suffix}"
    mesh.export(path)
    shape = load_shape(path)
    body = shape.body(1000.0 * mesh.volume)
    assert len(shape.parts) == 1
    np.testing.assert_allclose(shape.volume, mesh.volume, rtol=1e-5)
    np.testing.assert_allclose(body.center_of_mass, mesh.center_mass, atol=1e-7)
    np.testing.assert_allclose(body.inertia_about_com, 1000.0 * mesh.moment_inertia, rtol=1e-4, atol=1e-7)


def test_nodes_and_separate_bodies_are_parts(tmp_path: Path) -> None:
    box, rod = trimesh.creation.box([0.1, 0.05, 0.05]), trimesh.creation.cylinder(0.01, 0.2)
    scene = trimesh.Scene()
    scene.add_geometry(box, node_name="head")
    scene.add_geometry(rod, node_name="handle", transform=trimesh.transformations.translation_matrix([0, 0, 0.13]))
    scene.export(tmp_path / "two.glb")
    shape = load_shape(tmp_path / "two.glb")
    assert {part.name: round(float(part.center[2]), 3) for part in shape.parts} == {
        "head": 0.0,
        "handle": 0.13,
    }
    rod.apply_translation([0, 0, 0.13])
    trimesh.util.concatenate([box, rod]).export(tmp_path / "two.stl")
    assert [part.name for part in load_shape(tmp_path / "two.stl").parts] == ["body-1", "body-2"]
    cuboid = "o {0}\n" + "".join(f"v {x} {y} {{1}}{z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    text = ""
    for number, (name, height) in enumerate((("blade", ""), ("grip", "2"))):
        text += cuboid.format(name, height)
        text += "".join(f"f {' '.join(str(int(i) + 8 * number) for i in face.split())}\n" for face in faces)
    (tmp_path / "two.obj").write_text(text, encoding="utf-8")
    named = load_shape(tmp_path / "two.obj", scale=0.01)
    assert sorted(part.name for part in named.parts) == ["blade", "grip"]


def test_bodies_that_touch_count_once_each(tmp_path: Path) -> None:
    """At an edge, or at a face, whose vertices they share in the file."""
    block = trimesh.creation.box([0.1, 0.1, 0.1])
    for shift in ([0.1, 0.0, 0.0], [0.1, 0.1, 0.0]):
        trimesh.util.concatenate([block, block.copy().apply_translation(shift)]).export(tmp_path / "two.stl")
        whole = load_shape(tmp_path / "two.stl").whole
        assert whole.volume == pytest.approx(2e-3, rel=1e-5)
        np.testing.assert_allclose(whole.center, np.array(shift) / 2.0, atol=1e-7)


def test_a_surface_that_faces_inward_is_a_cavity(tmp_path: Path) -> None:
    inner = trimesh.creation.box([0.08, 0.08, 0.08])
    inner.invert()
    trimesh.util.concatenate([trimesh.creation.box([0.1, 0.1, 0.1]), inner]).export(tmp_path / "hollow.stl")
    (part,) = load_shape(tmp_path / "hollow.stl").parts
    assert part.volume == pytest.approx(0.1**3 - 0.08**3, rel=1e-5)
    np.testing.assert_allclose(np.diag(part.spread), (0.1**5 - 0.08**5) / (0.1**3 - 0.08**3) / 12.0, rtol=1e-5)
    whole = trimesh.creation.box([0.1, 0.1, 0.1])
    whole.invert()
    whole.export(tmp_path / "inside_out.stl")
    assert load_shape(tmp_path / "inside_out.stl").volume == pytest.approx(1e-3, rel=1e-5)


def test_points_come_as_a_table_or_as_arrays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points, volumes = rng.uniform(0.0, 0.1, (50, 3)), rng.uniform(1.0, 2.0, 50) * 1e-6
    parts = np.repeat(["head", "handle"], 25)
    rows = "".join(f"{x},{y},{z},{v},{p}\n" for (x, y, z), v, p in zip(points, volumes, parts, strict=True))
    (tmp_path / "a.csv").write_text("x,y,z,volume,part\n" + rows, encoding="utf-8")
    np.savez(tmp_path / "a.npz", points=points, volume=volumes, part=parts)
    np.savez(tmp_path / "b.npz", x=points[:, 0], y=points[:, 1], z=points[:, 2], volume=volumes)
    one, two, three = (load_shape(tmp_path / name) for name in ("a.csv", "a.npz", "b.npz"))
    assert [part.name for part in one.parts] == [part.name for part in two.parts] == ["head", "handle"]
    assert len(three.parts) == 1
    np.testing.assert_allclose(one.body(1.0).phi, two.body(1.0).phi)
    np.testing.assert_allclose(one.body(1.0).phi, three.body(1.0).phi)
    (tmp_path / "mm.csv").write_text("x,y,z,volume\n" + "".join(f"{x},{y},{z},1\n" for x, y, z in 1e3 * points))
    np.testing.assert_allclose(load_shape(tmp_path / "mm.csv", scale=1e-3).volume, 50e-9)


@pytest.mark.parametrize(
    ("name", "content", "error", "word"),
    [
        ("a.csv", "x,y,z\n1,2,3\n", FileFormatError, "no column volume"),
        ("a.csv", "x,y,z,volume\n1,2,three,4\n", FileFormatError, "line 2"),
        ("a.csv", "x,y,z,volume\n", InputError, "at least one"),
        ("a.csv", "x,y,z,volume\n0,0,nan,1\n", InputError, "finite"),
        ("a.npz", "no archive", FileFormatError, "cannot be read as .npz"),
        ("a.stl", "solid nothing\nendsolid\n", FileFormatError, "no triangles|cannot be read"),
        ("a.step", "ISO-10303-21;", FileFormatError, "must be one of .stl"),
    ],
)
def test_a_file_that_is_no_shape_says_why(
    tmp_path: Path, name: str, content: str, error: type[IparamError], word: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(error, match=word):
        load_shape(tmp_path / name)


def test_open_surfaces_and_other_units_are_refused(tmp_path: Path) -> None:
    box = trimesh.creation.box([0.1, 0.1, 0.1])
    box.update_faces(np.arange(len(box.faces)) > 0)
    box.export(tmp_path / "open.stl")
    with pytest.raises(InputError, match="is not closed"):
        load_shape(tmp_path / "open.stl")
    trimesh.creation.box([100.0, 100.0, 100.0]).export(tmp_path / "mm.stl")
    with pytest.raises(InputError, match="100 m long") as caught:
        load_shape(tmp_path / "mm.stl")
    assert caught.value.fix == {"scale": 0.001}
    assert load_shape(tmp_path / "mm.stl", scale=1e-3).volume == pytest.approx(1e-3, rel=1e-5)
    with pytest.raises(FileFormatError, match="no such file"):
        load_shape(tmp_path / "missing.stl")


def test_a_shape_that_is_too_small_is_not_called_one_in_millimetres(tmp_path: Path) -> None:
    trimesh.creation.box((1.0, 0.5, 0.5)).export(tmp_path / "box.stl")
    with pytest.raises(InputError, match=r"0\.0001 m long") as caught:
        load_shape(tmp_path / "box.stl", scale=1e-4)
    assert caught.value.fix == {"scale": 1.0}
    with pytest.raises(InputError, match="100 m long") as caught:
        load_shape(tmp_path / "box.stl", scale=100.0)
    assert caught.value.fix == {"scale": 0.001}


def test_flat_surfaces_are_no_bodies(tmp_path: Path) -> None:
    box = trimesh.creation.box([0.1, 0.1, 0.1])
    sheet = trimesh.Trimesh(
        [[0.2, 0, 0], [0.3, 0, 0], [0.3, 0.1, 0], [0.2, 0.1, 0]], [[0, 1, 2], [0, 2, 3], [2, 1, 0], [3, 2, 0]]
    )
    sheet.export(tmp_path / "flat.stl")
    with pytest.raises(InputError, match="encloses no volume: it is flat"):
        load_shape(tmp_path / "flat.stl")
    trimesh.util.concatenate([box, sheet]).export(tmp_path / "both.stl")
    parts = load_shape(tmp_path / "both.stl").parts
    assert len(parts) == 1
    np.testing.assert_allclose(parts[0].volume, 1e-3, rtol=1e-6)
    (tmp_path / "one.csv").write_text("x,y,z,volume\n0,0,0,1e-6\n", encoding="utf-8")
    with pytest.raises(InputError, match="in one place"):
        load_shape(tmp_path / "one.csv")


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "glb"])
def test_parts_without_names_have_the_same_in_every_format(tmp_path: Path, kind: str) -> None:
    pin = trimesh.creation.box([0.02, 0.02, 0.1])
    pin.apply_translation([0.2, 0.0, 0.0])
    file = tmp_path / f"two.{kind}"
    trimesh.util.concatenate([trimesh.creation.box([0.1, 0.1, 0.1]), pin]).export(file)
    assert [part.name for part in load_shape(file).parts] == ["body-1", "body-2"]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    rows = "".join(f"{x},{y},{z},1e-6\n" for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1))
    (tmp_path / "a.csv").write_text("x,y,z,volume\n" + rows, encoding="utf-8-sig")
    assert load_shape(tmp_path / "a.csv").volume == pytest.approx(8e-6)


@pytest.mark.parametrize("suffix", [".obj", ".stl"])
def test_a_vertex_that_is_not_finite_is_said(tmp_path: Path, suffix: str) -> None:
    mesh, file = trimesh.creation.box([0.1, 0.1, 0.1]), tmp_path / f"a{suffix}"
    mesh.export(file)
    if suffix == ".stl":
        data = bytearray(file.read_bytes())
        data[96:100] = np.float32(np.nan).tobytes()
        file.write_bytes(data)
    else:
        file.write_text(re.sub("v -[0-9.]+", "v nan", file.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    with pytest.raises(FileFormatError, match="a vertex that is not finite"):
        load_shape(file)


def test_messages_have_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_text("a text\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"is not a \.glb file.*binary glTF"):
        load_shape(tmp_path / "a.glb")
    np.savez(tmp_path / "a.npz", points=np.array([{}, 1], dtype=object), volume=np.ones(2))
    with pytest.raises(FileFormatError, match="it holds Python objects"):
        load_shape(tmp_path / "a.npz")
    trimesh.creation.box([1e7, 1e7, 1e7]).export(tmp_path / "huge.stl")
    with pytest.raises(InputError, match=r"huge.stl: reaches 5e\+06 m ") as caught:
        load_shape(tmp_path / "huge.stl")
    assert caught.value.fix == {"scale": 0.001}
    trimesh.creation.box([0.1, 0.1, 0.1]).export(tmp_path / "part.stl")
    with pytest.raises(InputError, match="tolerance must be less than half the size"):
        load_shape(tmp_path / "part.stl", tolerance=1.0)
