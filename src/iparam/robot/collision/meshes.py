"""The triangles of mesh files, STL, OBJ and COLLADA.

Only positions and faces are read; nothing of a file is executed, COLLADA's XML is read without entities, and files
beyond `MAX_BYTES` are refused.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from numpy.typing import NDArray

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import FileFormatError
from iparam.files.reading_limit import read_bounded

MAX_BYTES = 100_000_000
SUFFIXES = (".stl", ".obj", ".dae")

_DEEPEST, _MOST_NODES = 64, 100_000  # nodes within nodes of a COLLADA scene, and nodes that it places
_MOST_TRIANGLES = MAX_BYTES // 50
"""Of a COLLADA scene: as many as an STL file can have. A scene may place one part any number of times."""


def mesh_triangles(path: Path) -> FloatArray:
    """(F, 3, 3) corners of the triangles of a mesh file, in its own units, COLLADA's in metres.

    The scene of a COLLADA file places its parts; its ``up_axis`` is not applied, as RViz does not.

    Raises:
        FileFormatError: it cannot be read, or holds no triangle.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"{path}: a mesh must be one of {', '.join(SUFFIXES)}")
    try:
        content = read_bounded(path, MAX_BYTES, f"the mesh {str(path)!r}", "a mesh file")
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise FileFormatError(f"{path}: larger than {MAX_BYTES // 10**6} MB: let a mesh program make it coarser")
    try:
        with np.errstate(all="ignore"):
            triangles = {".stl": _stl, ".obj": _obj, ".dae": _collada}[suffix](content)
    except (
        ValueError,
        IndexError,
        KeyError,
        ParseError,
        DefusedXmlException,
        LookupError,
        RecursionError,
        ArithmeticError,
    ) as error:
        raise FileFormatError(f"{path}: cannot be read as a mesh: {error}") from None
    if not len(triangles):
        raise FileFormatError(f"{path}: holds no triangles")
    if not (np.isfinite(triangles).all() and np.abs(triangles).max() <= LARGEST):
        raise FileFormatError(f"{path}: has a vertex that is not finite, or beyond {LARGEST:g}")
    return triangles


def _stl(content: bytes) -> FloatArray:
    if len(content) >= 84:
        count = int.from_bytes(content[80:84], "little")
        if len(content) == 84 + 50 * count or content.lstrip()[:5].lower() != b"solid":
            row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
            whole = min(count, (len(content) - 84) // 50)
            return np.frombuffer(content, row, whole, 84)["corners"].astype(np.float64)
    words = content.split()
    places = [index for index, word in enumerate(words) if word == b"vertex"]
    corners = np.array([[float(word) for word in words[index + 1 : index + 4]] for index in places])
    return corners.reshape(-1, 3, 3)


def _obj(content: bytes) -> FloatArray:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for line in content.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            # Numbers count from 1, or backwards from the last vertex so far.
            corners = [number - 1 if number > 0 else len(vertices) + number for number in numbers]
            faces += _fan(corners)
    return _corners(np.array(vertices).reshape(-1, 3), faces)


def _fan(corners: list[int]) -> list[list[int]]:
    """The triangles of a polygon."""
    return [[corners[0], corners[i], corners[i + 1]] for i in range(1, len(corners) - 1)]


def _corners(vertices: FloatArray, faces: list[list[int]] | NDArray[np.int64]) -> FloatArray:
    index = np.array(faces, dtype=np.int64).reshape(-1, 3)
    if index.size and not (index.min() >= 0 and index.max() < len(vertices)):
        raise ValueError(f"a triangle has vertex {int(index.max()) + 1} of {len(vertices)}")
    return vertices[index].astype(np.float64)


def _collada(content: bytes) -> FloatArray:
    root: Element = fromstring(content, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    unit = root.find("asset/unit")
    metre = float(unit.get("meter", "1")) if unit is not None else 1.0
    geometries = {str(element.get("id")): _collada_mesh(element) for element in root.iter("geometry")}
    nodes = {str(element.get("id")): element for element in root.iter("node")}
    scenes = list(root.iter("visual_scene"))
    parts: list[FloatArray] = []
    placed = triangles = 0

    def place(node: Element, pose: FloatArray, depth: int) -> None:
        nonlocal placed, triangles
        placed += 1
        if depth > _DEEPEST or placed > _MOST_NODES:
            raise ValueError(f"its scene is more than {_DEEPEST} nodes deep, or has more than {_MOST_NODES} nodes")
        for child in node:
            if child.tag in ("matrix", "translate", "rotate", "scale"):
                pose = pose @ _collada_transform(child)
            elif child.tag in ("instance_geometry", "instance_controller"):
                mesh = geometries.get(str(child.get("url", "")).removeprefix("#"))
                if mesh is not None and len(mesh):
                    triangles += len(mesh)
                    if triangles > _MOST_TRIANGLES:
                        raise ValueError(f"its scene has more than {_MOST_TRIANGLES} triangles")
                    parts.append(mesh @ pose[:3, :3].T + pose[:3, 3])
            elif child.tag == "node":
                place(child, pose, depth + 1)
            elif child.tag == "instance_node":
                place(nodes[str(child.get("url", "")).removeprefix("#")], pose, depth + 1)

    for scene in scenes:
        place(scene, np.eye(4), 0)
    if not parts:  # a file without a scene: its parts as they are
        parts = [mesh for mesh in geometries.values() if len(mesh)]
    return metre * np.concatenate(parts) if parts else np.empty((0, 3, 3))


def _collada_transform(element: Element) -> FloatArray:
    numbers = np.array([float(word) for word in (element.text or "").split()])
    pose = np.eye(4)
    if element.tag == "matrix":
        return numbers.reshape(4, 4)
    if element.tag == "translate":
        pose[:3, 3] = numbers
    elif element.tag == "scale":
        pose[:3, :3] = np.diag(numbers)
    else:
        x, y, z = numbers[:3] / np.linalg.norm(numbers[:3])
        angle = np.radians(numbers[3])
        skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        pose[:3, :3] = np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew
    return pose


def _collada_mesh(geometry: Element) -> FloatArray:
    """The triangles of a <geometry>, in its own frame; other primitives than polygons are left out."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return np.empty((0, 3, 3))
    positions = {str(element.get("id")): _collada_positions(mesh, element) for element in mesh.findall("vertices")}
    parts = []
    for primitive in mesh:
        inputs = primitive.findall("input")
        if primitive.tag not in ("triangles", "polylist", "polygons") or not inputs:
            continue
        stride = 1 + max(int(entry.get("offset", "0")) for entry in inputs)
        vertex = next(entry for entry in inputs if entry.get("semantic") == "VERTEX")
        vertices = positions[str(vertex.get("source", "")).removeprefix("#")]
        first = int(vertex.get("offset", "0"))
        indices = [np.array((p.text or "").split(), dtype=np.int64)[first::stride] for p in primitive.findall("p")]
        if primitive.tag == "triangles":
            faces: list[list[int]] = [f for i in indices for f in i[: i.size // 3 * 3].reshape(-1, 3).tolist()]
        elif primitive.tag == "polygons":
            faces = [face for index in indices for face in _fan(index.tolist())]
        else:
            counts = [int(word) for word in (primitive.findtext("vcount") or "").split()]
            ends = np.cumsum([0, *counts])
            faces = [face for a, b in pairwise(ends.tolist()) for face in _fan(indices[0][a:b].tolist())]
        parts.append(_corners(vertices, faces))
    return np.concatenate(parts) if parts else np.empty((0, 3, 3))


def _collada_positions(mesh: Element, vertices: Element) -> FloatArray:
    entry = next(one for one in vertices.findall("input") if one.get("semantic") == "POSITION")
    name = str(entry.get("source", "")).removeprefix("#")
    source = next(one for one in mesh.findall("source") if one.get("id") == name)
    numbers = np.array((source.findtext("float_array") or "").split(), dtype=np.float64)
    accessor = source.find("technique_common/accessor")
    stride = int(accessor.get("stride", "3")) if accessor is not None else 3
    return numbers[: numbers.size // stride * stride].reshape(-1, stride)[:, :3]
