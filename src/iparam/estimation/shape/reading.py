"""`load_shape`: a shape from a file. Meshes (.stl .obj .ply .glb), or points with volumes (.csv .npz).

Separate bodies of a mesh, and nodes of a scene, are parts. A body whose surface faces inward is a cavity of the one
around it. Where a mesh has one body only, `segments` divides it by where its points are.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError, MissingExtraError
from iparam.estimation.shape.mesh_points import FLAT, MOST_CROSSING, box_corners, closed_volume, mesh_points, overlaps
from iparam.estimation.shape.point_moments import thinned
from iparam.estimation.shape.shape import DEFAULT_TOLERANCE, Part, Shape
from iparam.estimation.shape.touching_bodies import surfaces_of, touching_surfaces
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.numpy_arrays import zipped_arrays
from iparam.files.reading_limit import TooLargeError, read_bounded

MESHES = (".stl", ".obj", ".ply", ".glb")
POINTS = (".csv", ".npz")
MAX_BYTES = 200_000_000
MOST_POINTS = 2_000_000
MOST_PARTS = 200
FARTHEST = 1e5
"""From the origin, that a shape may reach [m], whatever its unit: a larger one has volumes that are no numbers."""

_NAMES = {
    "points": ("points", "xyz"),
    "volumes": ("volume", "volumes", "point_volume"),
    "parts": ("part", "parts", "point_part"),
}


def load_shape(
    path: str | os.PathLike[str], *, scale: float = 1.0, segments: int = 1, tolerance: float = DEFAULT_TOLERANCE
) -> Shape:
    """Read a shape.

    Args:
        path: of a mesh or of points.
        scale: metres in one of the file's units, 0.001 for millimetres; volumes are in its third power.
        segments: into how many parts a shape of a single part is divided, by nearness (k-means of its points).
        tolerance: see `Shape` [m].

    Raises:
        FileFormatError: the file cannot be read.
        InputError: a surface is open, or the size says that the file is not in metres.
    """
    file = Path(path)
    if not (np.isfinite(scale) and scale > 0.0):
        raise InputError(f"scale must be positive, got {scale!r}")
    if not 1 <= segments <= MOST_PARTS:
        raise InputError(f"segments must be 1 to {MOST_PARTS}, got {segments}")
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
    remarks: tuple[str, ...] = ()
    outline: FloatArray = np.empty((0, 3))
    if suffix in MESHES:
        found, arrays = in_limited_process(
            mesh_parts, str(file), {"path": str(file), "scale": float(scale)}, content=content
        )
        parts = [
            Part(name, arrays[f"points {index}"], arrays[f"volumes {index}"])
            for index, name in enumerate(found["names"])
        ]
        remarks, outline = tuple(found["remarks"]), arrays["outline"]
    else:
        parts = _point_parts(file, content, scale)
    try:
        if len(parts) > 1 and segments > 1:
            raise InputError(
                f"it has {len(parts)} separate bodies, its parts: leave segments= out, it divides a single one"
            )
        if segments > 1:
            parts = _segmented(parts[0], segments)
        shape = Shape(tuple(parts), tolerance, remarks=remarks, outline=outline)
        half = 0.5 * float(shape.bounds[0].max())
        if tolerance >= half and tolerance > DEFAULT_TOLERANCE:
            raise InputError(
                f"tolerance must be less than half the size of the shape, {half:.3g} m, got {tolerance:g} m: what is "
                "off by more is no shape"
            )
        return shape
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _point_parts(file: Path, content: bytes, scale: float) -> list[Part]:
    if file.suffix.lower() == ".csv":
        points, volumes, labels = _csv(file, content)
    else:
        points, volumes, labels = _npz(file, content)
    if len(points) > MOST_POINTS:
        raise FileFormatError(f"{file}: has {len(points)} points, more than {MOST_POINTS}: thin them out")
    if not (np.isfinite(points).all() and np.isfinite(volumes).all()):
        raise FileFormatError(f"{file}: has a coordinate or volume that is not finite")
    try:
        shape = Shape.from_points(points * scale, volumes * scale**3, labels)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return [Part(part.name, *thinned(part.points, part.volumes)) for part in shape.parts]


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
    """The bodies of a mesh, what is odd about them, and the corners (8 k, 3) of the boxes around them [m]."""
    file = Path(path)
    bodies = _bodies(file, content)
    if len(bodies) > MOST_PARTS:
        raise InputError(f"{file}: has {len(bodies)} separate bodies, more than {MOST_PARTS}: leave out small ones")
    _refuse_extent(file, bodies, scale)
    parts = [Part(name, *mesh_points(triangles * scale)) for name, triangles in bodies]
    outline = np.concatenate([box_corners(triangles * scale) for _, triangles in bodies])
    shares = overlaps([triangles for _, triangles in bodies])
    arrays = {"outline": outline}
    for index, part in enumerate(parts):
        arrays |= {f"points {index}": part.points, f"volumes {index}": part.volumes}
    return {"names": [part.name for part in parts], "remarks": _said_of_overlaps(file, parts, shares)}, arrays


def _refuse_extent(file: Path, bodies: list[tuple[str, FloatArray]], scale: float) -> None:
    """Refuse a size that no unit of length explains, before volumes are taken of it."""
    extent = scale * max(float(np.abs(triangles).max()) for _, triangles in bodies)
    if extent > FARTHEST:
        raise InputError(
            f"{file}: reaches {extent:.3g} m from its origin, more than {FARTHEST:g} m: for a file in millimetres give "
            "scale=0.001, or export it anew in metres"
        )


def _said_of_overlaps(file: Path, parts: list[Part], shares: FloatArray) -> tuple[str, ...]:
    """A sentence if a body lies in larger ones by more than what crossing surfaces of scans make."""
    if not shares.max(initial=0.0) > MOST_CROSSING:
        return ()
    volumes = np.array([part.volume for part in parts])
    twice = float(shares @ volumes)
    percent = 100.0 * twice / (float(volumes.sum()) - twice)
    most = int(np.argmax(shares))
    sentence = (
        f"Bodies of {file.name} lie in each other, {100 * shares[most]:.0f} % of {parts[most].name} in a larger one: "
        f"{percent:{'.0f' if percent >= 1.0 else '.1g'}} % of what they fill counts for two of them, with the "
        "densities of both. Where there is only one, cut it out of the other in a CAD program."
    )
    return (sentence,)


def _bodies(file: Path, content: bytes) -> list[tuple[str, FloatArray]]:
    """The name and the triangles (F, 3, 3) of each body, with those of its cavities, in the file's units."""
    try:
        trimesh = import_module("trimesh")
    except ImportError:
        raise MissingExtraError("trimesh", "shape") from None
    logging.getLogger("trimesh").addHandler(logging.NullHandler())  # or Python prints its tracebacks where nobody asked
    kind = file.suffix.lower()[1:]
    settings = {"obj": {"skip_materials": True, "split_objects": True}}.get(kind, {})
    if kind == "glb" and not content.startswith(b"glTF"):
        raise FileFormatError(f"{file}: is not a .glb file, which begins with 'glTF': export it again as binary glTF")
    # Unprocessed: trimesh drops triangles with a vertex that is not finite, and leaves a hole.
    scene = trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False, **settings)
    for mesh in scene.geometry.values():
        if not np.isfinite(np.asarray(mesh.vertices)).all():
            raise FileFormatError(f"{file}: has a vertex that is not finite: repair it in a mesh program")
        if hasattr(mesh, "process"):
            mesh.process()
    found: list[tuple[str, FloatArray]] = []
    for node, mesh in _placed(scene):
        pieces = _pieces(file, node, mesh)
        single = len(pieces) == 1
        for number, triangles in enumerate(pieces, start=1):
            found.append((node if single else f"{node}-{number}", triangles))
    if not found:
        raise FileFormatError(f"{file}: holds no triangles")
    if len({name for name, _ in found}) < len(found):
        return [(f"{name}-{index}", triangles) for index, (name, triangles) in enumerate(found, start=1)]
    return found


def _placed(scene: Any) -> Iterator[tuple[str, Any]]:
    """The name and the mesh, in the scene's frame, of each node that has one."""
    for node in sorted(scene.graph.nodes_geometry):
        transform, geometry = scene.graph[node]
        mesh = scene.geometry[geometry]
        if not hasattr(mesh, "faces") or not len(mesh.faces):
            continue
        placed = mesh.copy()
        placed.apply_transform(transform)
        yield "body" if re.fullmatch(r"geometry(_\d+)?", str(node)) else str(node), placed


def _pieces(file: Path, node: str, mesh: Any) -> list[FloatArray]:
    """The triangles of the bodies of a mesh: connected surfaces, those that face inward with the one around them."""
    surfaces, volumes = _closed_surfaces(f"{file}: {node}", mesh)
    solid = [
        abs(volume) > FLAT * float(np.ptp(one, axis=(0, 1)).max()) ** 3
        for one, volume in zip(surfaces, volumes, strict=True)
    ]
    if not any(solid):
        raise InputError(f"{file}: {node} encloses no volume: it is flat")
    surfaces, volumes = list(compress(surfaces, solid)), list(compress(volumes, solid))
    if max(volumes, default=0.0) <= 0.0:  # all inside out
        surfaces, volumes = [triangles[:, ::-1] for triangles in surfaces], [-volume for volume in volumes]
    outer = [triangles for triangles, volume in zip(surfaces, volumes, strict=True) if volume > 0.0]
    inner = [(triangles, -volume) for triangles, volume in zip(surfaces, volumes, strict=True) if volume <= 0.0]
    bodies = [volume for volume in volumes if volume > 0.0]
    for cavity, hollow in inner:
        low, high = cavity.min(axis=(0, 1)), cavity.max(axis=(0, 1))
        around = [
            index
            for index, body in enumerate(outer)
            if (body.min(axis=(0, 1)) <= low).all()
            and (body.max(axis=(0, 1)) >= high).all()
            and bodies[index] > (1.0 + FLAT) * hollow  # and not what fills the cavity
        ]
        if not around:
            raise InputError(f"{file}: {node} has a surface that faces inward and lies in no body")
        closest = min(around, key=lambda index: float(np.ptp(outer[index].reshape(-1, 3), axis=0).max()))
        outer[closest] = np.concatenate([outer[closest], cavity])
    return outer


def _closed_surfaces(name: str, mesh: Any) -> tuple[list[FloatArray], list[float]]:
    """The connected surfaces of a mesh and their volumes: by its own vertices, or, where they are repeated for every
    triangle or normal, by vertices in the same place; there, bodies may share faces.
    """
    try:
        surfaces = _connected(mesh)
        return surfaces, [closed_volume(name, triangles) for triangles in surfaces]
    except InputError:
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        triangles = np.asarray(mesh.triangles, dtype=np.float64)
        closed_volume(name, triangles)
        surfaces = touching_surfaces(triangles)
        return surfaces, [closed_volume(name, one) for one in surfaces]


def _connected(mesh: Any) -> list[FloatArray]:
    """The triangles (F, 3, 3) of each part of a mesh whose faces hang together by edges of two faces."""
    triangles, pairs = np.asarray(mesh.triangles, dtype=np.float64), np.asarray(mesh.face_adjacency)
    return surfaces_of(triangles, pairs.T)


def _segmented(part: Part, count: int) -> list[Part]:
    """A part divided into pieces of points near each other, in the order of where they are along it."""
    size = float(np.ptp(part.points, axis=0).max())
    centers, label = kmeans2(part.points / size, min(count, len(part.points)), minit="++", seed=0)
    along = np.linalg.svd(part.points - part.points.mean(axis=0), full_matrices=False)[2][0]
    order = [index for index in np.argsort(centers @ along) if (label == index).any()]
    return [
        Part(f"{part.name}-{number}", part.points[label == index], part.volumes[label == index])
        for number, index in enumerate(order, start=1)
    ]
