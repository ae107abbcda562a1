"""`load_shape`: a shape from a file. Meshes (.stl .obj .ply .glb), or points with volumes (.csv .npz).

Separate bodies of a mesh, and nodes of a scene, are parts. A body whose surface faces inward is a cavity of the one
around it. Bodies that share vertices on an edge or face are one part.
"""

from __future__ import annotations

import csv
import io
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import FileFormatError, InputError
from iparam.estimation.shape.shape import DEFAULT_TOLERANCE, Part, Shape, hull_corners
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.meshes import mesh_bodies
from iparam.files.numpy_arrays import zipped_arrays
from iparam.files.reading_limit import TooLargeError, read_bounded

MESHES = (".stl", ".obj", ".ply", ".glb")
POINTS = (".csv", ".npz")
MAX_BYTES = 200_000_000
MOST_PARTS = 200
FLAT = 1e-9
"""Volume of a surface, in that of a cube of its length, up to which it is flat."""
FARTHEST = 1e5
"""From the origin, that a shape may reach [m], whatever its unit: a larger one has volumes that are no numbers."""

_NAMES = {
    "points": ("points", "xyz"),
    "volumes": ("volume", "volumes", "point_volume"),
    "parts": ("part", "parts", "point_part"),
}


def load_shape(path: str | os.PathLike[str], *, scale: float = 1.0, tolerance: float = DEFAULT_TOLERANCE) -> Shape:
    """Read a shape.

    Args:
        path: of a mesh or of points.
        scale: metres in one of the file's units, 0.001 for millimetres; volumes are in its third power.
        tolerance: see `Shape` [m].

    Raises:
        FileFormatError: the file cannot be read.
        InputError: a surface is open, or the size says that the file is not in metres.
    """
    file = Path(path)
    if not (np.isfinite(scale) and scale > 0.0):
        raise InputError(argument="scale", value=scale, expected="positive")
    suffix = file.suffix.lower()
    if suffix not in (*MESHES, *POINTS):
        raise FileFormatError(f"{file}: a shape must be one of {', '.join((*MESHES, *POINTS))}")
    if not file.is_file():
        raise FileFormatError(f"{file}: there is no such file")
    try:
        content = read_bounded(file, MAX_BYTES, f"the shape {str(file)!r}", "a shape")
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise FileFormatError(f"{file}: larger than {MAX_BYTES // 10**6} MB: let a mesh program make it coarser")
    if suffix in MESHES:
        names, arrays = in_limited_process(
            mesh_parts, str(file), {"path": str(file), "scale": float(scale)}, content=content
        )
    try:
        if suffix in MESHES:
            parts = [Part(name, arrays[f"moments {i}"], arrays[f"outline {i}"]) for i, name in enumerate(names)]
            return Shape(tuple(parts), tolerance)
        points, volumes, labels = (_csv if suffix == ".csv" else _npz)(file, content)
        return Shape.from_points(points * scale, volumes * scale**3, labels, tolerance=tolerance)
    except InputError as error:
        raise InputError(f"{file}: {error.message}", fix=error.fix) from None


def _csv(file: Path, content: bytes) -> tuple[FloatArray, FloatArray, list[str] | None]:
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace")))
    header = [name.strip().lower() for name in next(rows, [])]
    wanted = ("x", "y", "z", "volume")
    missing = [name for name in wanted if name not in header]
    if missing:
        raise FileFormatError(
            f"{file}: has no column {', '.join(missing)}; points need a header x,y,z,volume and perhaps part"
        )
    places = [header.index(name) for name in wanted]
    part = header.index("part") if "part" in header else None
    numbers, labels = [], []
    for count, row in enumerate(rows, start=2):
        if not row:
            continue
        try:
            numbers.append([float(row[place]) for place in places])
            labels.append("" if part is None else row[part].strip())
        except (ValueError, IndexError):
            raise FileFormatError(f"{file}: line {count} is not a row of x,y,z,volume and perhaps part") from None
    values = np.array(numbers, dtype=np.float64).reshape(-1, 4)
    return values[:, :3], values[:, 3], None if part is None else labels


def _npz(file: Path, content: bytes) -> tuple[FloatArray, FloatArray, list[Any] | None]:
    try:
        arrays = zipped_arrays(io.BytesIO(content), str(file))
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, TooLargeError):
            raise
        raise FileFormatError(
            f"{file}: cannot be read as .npz: {error}; numpy.savez writes arrays of numbers"
        ) from None
    found = {key: next((arrays[name] for name in names if name in arrays), None) for key, names in _NAMES.items()}
    points, volumes, labels = found["points"], found["volumes"], found["parts"]
    if points is None and {"x", "y", "z"} <= set(arrays):
        points = np.stack([np.atleast_1d(arrays[axis]) for axis in "xyz"], axis=-1)
    if points is None or volumes is None:
        raise FileFormatError(
            f"{file}: needs points (n, 3) or x, y and z, and volume (n,), perhaps part (n,); has {', '.join(arrays)}"
        )
    if any(array.dtype.kind == "O" for array in (points, volumes)):
        raise FileFormatError(f"{file}: it holds Python objects, and numbers are needed: numpy.savez writes these")
    try:
        place, volume = np.asarray(points, dtype=np.float64), np.asarray(volumes, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{file}: points and volumes must be numbers: {error}") from None
    if place.ndim != 2 or place.shape[1] != 3 or volume.shape != (len(place),):
        raise FileFormatError(f"{file}: points must be (n, 3) and volume (n,), got {place.shape} and {volume.shape}")
    return place, volume, None if labels is None else np.atleast_1d(labels).tolist()


def mesh_parts(path: str, content: bytes, scale: float) -> Outcome:
    """The names of the bodies of a mesh, and the moments and outline of each [m]."""
    file = Path(path)
    bodies = _bodies(file, content)
    if len(bodies) > MOST_PARTS:
        raise InputError(f"{file}: has {len(bodies)} separate bodies, more than {MOST_PARTS}: leave out small ones")
    extent = scale * max(float(np.abs(triangles).max()) for _, triangles in bodies)
    if extent > FARTHEST:
        raise InputError(
            f"{file}: reaches {extent:.3g} m from its origin, more than {FARTHEST:g} m: is the file in millimetres",
            fix={"scale": 0.001},
        )
    arrays = {}
    for index, (_, triangles) in enumerate(bodies):
        arrays[f"moments {index}"] = volume_moments(triangles * scale)
        arrays[f"outline {index}"] = hull_corners(triangles.reshape(-1, 3) * scale)
    return [name for name, _ in bodies], arrays


def volume_moments(triangles: FloatArray) -> FloatArray:
    """(4, 4) integral of [x, 1] [x, 1]' over the inside of a surface (F, 3, 3); negative if it faces inward."""
    middle = triangles.reshape(-1, 3).mean(axis=0)
    local = triangles - middle  # far from the origin the sums would lose digits
    six = np.linalg.det(local)
    total = local.sum(axis=1)
    found, move = np.empty((4, 4)), np.eye(4)
    # Integrals over the tetrahedra of the origin and each triangle.
    found[:3, :3] = np.einsum("f,fi,fj->ij", six, total, total) + np.einsum("f,fki,fkj->ij", six, local, local)
    found[:3, :3] /= 120.0
    found[:3, 3] = found[3, :3] = six @ total / 24.0
    found[3, 3] = six.sum() / 6.0
    move[:3, 3] = middle
    return np.asarray(move @ found @ move.T)


def _bodies(file: Path, content: bytes) -> list[tuple[str, FloatArray]]:
    """The name and the triangles (F, 3, 3) of each body, with those of its cavities, in the file's units."""
    kind = file.suffix.lower()[1:]
    if kind == "glb" and not content.startswith(b"glTF"):
        raise FileFormatError(f"{file}: is not a .glb file, which begins with 'glTF': export it again as binary glTF")
    found: list[tuple[str, FloatArray]] = []
    for node, mesh in mesh_bodies(content, kind):
        if not np.isfinite(np.asarray(mesh.vertices)).all():
            raise FileFormatError(f"{file}: has a vertex that is not finite: repair it in a mesh program")
        mesh.process()
        pieces = _pieces(file, node, mesh)
        single = len(pieces) == 1
        for number, triangles in enumerate(pieces, start=1):
            found.append((node if single else f"{node}-{number}", triangles))
    if not found:
        raise FileFormatError(f"{file}: holds no triangles")
    if len({name for name, _ in found}) < len(found):
        return [(f"{name}-{index}", triangles) for index, (name, triangles) in enumerate(found, start=1)]
    return found


def _pieces(file: Path, node: str, mesh: Any) -> list[FloatArray]:
    """The triangles of the bodies of a mesh: connected surfaces, those that face inward with the one around them."""
    surfaces = _surfaces(f"{file}: {node}", mesh)
    volumes = [volume_moments(one)[3, 3] / max(float(np.ptp(one, axis=(0, 1)).max()), 1e-300) ** 3 for one in surfaces]
    solid = [(one, volume) for one, volume in zip(surfaces, volumes, strict=True) if abs(volume) > FLAT]
    if not solid:
        raise InputError(f"{file}: {node} encloses no volume: it is flat")
    if max(volume for _, volume in solid) < 0.0:  # all inside out
        return [one[:, ::-1] for one, _ in solid]
    outer = sorted((one for one, volume in solid if volume > 0.0), key=lambda one: float(np.ptp(one)))
    for cavity in (one for one, volume in solid if volume < 0.0):
        low, high = cavity.min(axis=(0, 1)), cavity.max(axis=(0, 1))
        around = [
            index
            for index, body in enumerate(outer)
            if (body.min(axis=(0, 1)) <= low).all()
            and (body.max(axis=(0, 1)) >= high).all()
            and volume_moments(np.concatenate([body, cavity]))[3, 3] > 0.0  # and not what fills the cavity
        ]
        if not around:
            raise InputError(f"{file}: {node} has a surface that faces inward and lies in no body")
        outer[around[0]] = np.concatenate([outer[around[0]], cavity])
    return outer


def _surfaces(name: str, mesh: Any) -> list[FloatArray]:
    """The closed surfaces (F, 3, 3) of a mesh: by its own vertices or, if these are repeated, by those in one place."""
    if np.abs(mesh.vertices).max() > LARGEST:
        raise InputError(argument=name, problem=f"has a vertex beyond {LARGEST:g}")
    if _open_edges(mesh.faces):
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
    if missing := _open_edges(mesh.faces):
        raise InputError(
            argument=name,
            problem=(
                f"is not closed, or its triangles face different ways ({missing} edges have no partner), so it has no "
                "inside; repair it in a CAD or mesh program (bodies that touch may be nodes of a .glb), or give "
                "points with volumes (.csv)"
            ),
        )
    triangles, pairs = np.asarray(mesh.triangles, dtype=np.float64), np.asarray(mesh.face_adjacency)
    graph = coo_array((np.ones(len(pairs), dtype=bool), tuple(pairs.T)), shape=(len(triangles),) * 2)
    count, label = connected_components(graph, directed=False)
    pieces = [np.flatnonzero(label == piece) for piece in range(count)] if count <= MOST_PARTS else []
    if not pieces or any(_open_edges(mesh.faces[piece]) for piece in pieces):
        return [triangles]  # bodies that share edges are one
    return [triangles[piece] for piece in pieces]


def _open_edges(faces: Any) -> int:
    """How many edges of triangles (F, 3) are not walked as often one way as the other."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    way = np.sign(edges[:, 1] - edges[:, 0])
    code = edges.min(axis=1) * (int(edges.max(initial=0)) + 1) + edges.max(axis=1)
    return int(np.abs(np.bincount(np.unique(code, return_inverse=True)[1], way)).sum())
