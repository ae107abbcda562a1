"""Mesh files are read as they are written, and found where a description refers to them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError
from iparam.files.reading_limit import TooLargeError
from iparam.robot.collision.geometry import mesh_triangles

CORNERS = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 0.0, 3.0], [1.0, 0.5, 0.0], [0, 2, 0]]])

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
   <technique_common><accessor source="#a" count="4" stride="3">
    <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
   </accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  {faces}
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s"><node>
  <translate>10 0 0</translate><rotate>0 0 1 90</rotate><node><scale>2 2 2</scale>{places}</node>
 </node></visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""
ONCE = '<instance_geometry url="#g"/>'
POLYLIST = (
    '<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#p" '
    'offset="1"/><vcount>4</vcount><p>0 1 1 1 2 1 3 1</p></polylist>'
)
TRIANGLES = '<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 2 3</p></triangles>'
POLYGONS = '<polygons count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 3</p></polygons>'


def binary_stl(triangles: np.ndarray, header: bytes = b"part") -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in triangles)
    return header.ljust(80, b" ") + struct.pack("<I", len(triangles)) + rows


def ascii_stl(triangles: np.ndarray) -> bytes:
    lines = ["solid part"]
    for triangle in triangles:
        lines += ["facet normal 0 0 1", "outer loop"]
        lines += ["vertex " + " ".join(map(str, corner)) for corner in triangle.tolist()] + ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid part"]).encode()


@pytest.mark.parametrize(
    "content", [binary_stl(CORNERS), binary_stl(CORNERS, b"solid but binary"), ascii_stl(CORNERS)], ids=len
)
def test_stl(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "part.STL"
    path.write_bytes(content)
    np.testing.assert_allclose(mesh_triangles(path), CORNERS, atol=1e-7)


def test_obj_with_polygons_and_numbers_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "part.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2/2/2 3/3/3 4/4/4\nf -4 -3 -2\n", encoding="utf-8")
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    expected = square[[[0, 1, 2], [0, 2, 3], [0, 1, 2]]]
    # In whatever order.
    assert sorted(map(sorted, mesh_triangles(path).tolist())) == sorted(map(sorted, expected.tolist()))


@pytest.mark.parametrize("faces", [POLYLIST, TRIANGLES, POLYGONS], ids=["polylist", "triangles", "polygons"])
def test_collada_with_its_unit_and_its_scene(faces: str, tmp_path: Path) -> None:
    path = tmp_path / "part.dae"
    path.write_text(COLLADA.format(faces=faces, places=ONCE), encoding="utf-8")
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    turned = 2.0 * square @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + [10.0, 0.0, 0.0]
    # A scene's transforms are read in single precision.
    np.testing.assert_allclose(mesh_triangles(path), 1e-3 * turned[[[0, 1, 2], [0, 2, 3]]], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.stl", b"", "no triangles"),
        ("a.stl", binary_stl(np.full((1, 3, 3), np.nan)), "not finite"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "cannot be read as a mesh"),
        ("a.obj", b"v zero 0 0\nf 1 1 1\n", "cannot be read as a mesh"),
        ("a.dae", b"<COLLADA", "cannot be read as a mesh"),
        ("a.dae", b'<!DOCTYPE x [<!ENTITY a "b">]><COLLADA>&a;</COLLADA>', "cannot be read as a mesh"),
        ("a.ply", b"ply", "must be one of .stl, .obj, .dae"),
    ],
)
def test_what_is_no_mesh_is_refused(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=problem):
        mesh_triangles(path)


def test_a_scene_with_nodes_in_several_places_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "loop.dae"
    scene = '<visual_scene><node id="n"><instance_node url="#n"/></node></visual_scene>'
    path.write_text(f"<COLLADA><library_visual_scenes>{scene}</library_visual_scenes></COLLADA>", encoding="utf-8")
    with pytest.raises(FileFormatError, match="instance_node"):
        mesh_triangles(path)


def test_a_scene_with_a_part_in_very_many_places_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.dae"
    faces = TRIANGLES.replace("0 1 2 0 2 3", "0 1 2 0 2 3 " * 20_000)
    path.write_text(COLLADA.format(faces=faces, places=ONCE * 1000), encoding="utf-8")
    with pytest.raises(FileFormatError, match="very many places"):
        mesh_triangles(path)


def test_a_count_that_stands_for_gigabytes_takes_none_of_them(tmp_path: Path) -> None:
    path = tmp_path / "counted.dae"
    faces = POLYLIST.replace("<vcount>4<", f"<vcount>{10**8}<")
    path.write_text(COLLADA.format(faces=faces, places=ONCE), encoding="utf-8")
    with pytest.raises(TooLargeError):
        mesh_triangles(path)
