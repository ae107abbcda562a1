"""`WorkCell`: what stands around an arm and must not be hit. Boxes, walls and the ground, in the robot's base frame."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import FileFormatError, InputError, IparamError
from iparam.files.json import read_json, write_json
from iparam.files.kind import FileKind
from iparam.spatial.transforms import is_rotation, rotation_from_rpy, rpy_from_rotation


@dataclass(frozen=True, eq=False)
class Box:
    """A solid box.

    Attributes:
        center: (3,) in the base frame [m].
        half_extents: (3,) half of its edge lengths along its own axes [m].
        rotation: (3, 3) from its axes to those of the base.
        name: what messages call it.
    """

    center: FloatArray
    half_extents: FloatArray
    rotation: FloatArray = field(default_factory=lambda: frozen(np.eye(3)))
    name: str = "box"

    def __post_init__(self) -> None:
        extents = _vector(self.half_extents, f"half_extents of {self.name!r}")
        if (extents <= 0.0).any():
            raise InputError(f"half_extents of {self.name!r} must be positive, got {extents.tolist()}")
        rotation = as_float_array(self.rotation, f"rotation of {self.name!r}")
        if rotation.shape != (3, 3) or not is_rotation(rotation):
            raise InputError(f"rotation of {self.name!r} must be a 3x3 rotation matrix")
        object.__setattr__(self, "center", _vector(self.center, f"center of {self.name!r}"))
        object.__setattr__(self, "half_extents", extents)
        object.__setattr__(self, "rotation", frozen(rotation))


@dataclass(frozen=True, eq=False)
class Plane:
    """A wall: all space behind the plane is solid.

    Attributes:
        point: (3,) any point of it, in the base frame [m].
        normal: (3,) points into the free space; any length, kept as a unit vector.
        name: what messages call it.
    """

    point: FloatArray
    normal: FloatArray
    name: str = "plane"

    def __post_init__(self) -> None:
        normal = _vector(self.normal, f"normal of {self.name!r}")
        length = float(np.linalg.norm(normal))
        if length < 1e-9:
            raise InputError(f"normal of {self.name!r} must not be zero, got {normal.tolist()}")
        object.__setattr__(self, "point", _vector(self.point, f"point of {self.name!r}"))
        object.__setattr__(self, "normal", frozen(normal / length))


@dataclass(frozen=True, eq=False)
class WorkCell:
    """The surroundings of an arm, in its base frame.

    Attributes:
        boxes: solid boxes.
        planes: walls.
        ground_height: z of the ground, whose normal is the base's z axis [m]; None for no ground. The base and the
            first moving link may touch it: they stand on it.
    """

    boxes: tuple[Box, ...] = ()
    planes: tuple[Plane, ...] = ()
    ground_height: float | None = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", tuple(self.boxes))
        object.__setattr__(self, "planes", tuple(self.planes))
        for kind, things in ((Box, self.boxes), (Plane, self.planes)):
            for thing in things:
                if not isinstance(thing, kind):
                    raise InputError(f"a work cell needs {kind.__name__} objects, got {type(thing).__name__}")
        if self.ground_height is not None:
            height = as_bounded_array(self.ground_height, "ground_height")
            if height.shape != ():
                raise InputError(
                    argument="ground_height", problem=f"must be one number or None, got shape {height.shape}"
                )
            object.__setattr__(self, "ground_height", float(height))


def _vector(value: object, name: str) -> FloatArray:
    array = as_bounded_array(value, name)  # type: ignore[arg-type]
    if array.shape != (3,):
        raise InputError(argument=name, problem=f"must have shape (3,), got {array.shape}")
    return frozen(array)


FORMAT = "iparam-cell/1"
MAX_BYTES = 1_000_000


def load_cell(path: str | os.PathLike[str]) -> WorkCell:
    """Read a work cell.

    The file is ``{"format": "iparam-cell/1", "ground_height": 0.0, "boxes": [{"name", "center": [3], "size": [3],
    "rpy": [3]}], "planes": [{"name", "point": [3], "normal": [3]}]}``, lengths in m and angles in rad, in the robot's
    base frame. ``ground_height`` may be null for no ground; names and ``rpy`` may be left out.
    """
    document = read_json(path, MAX_BYTES, wanted=(FileKind.CELL,))
    where, content = document.file, document.content
    if content.get("format") != FORMAT:
        raise FileFormatError(f'{where}: not a work cell: expected an object with "format": "{FORMAT}"')
    try:
        return cell_from_document({key: value for key, value in content.items() if key != "format"})
    except IparamError as error:
        raise FileFormatError(f"{where}: {error}") from None


def save_cell(path: str | os.PathLike[str], cell: WorkCell) -> None:
    """Write a work cell so that `load_cell` gives it back. An existing file is replaced in one step."""
    write_json(path, {"format": FORMAT, **cell_document(cell)})


def cell_document(cell: WorkCell) -> dict[str, Any]:
    """A work cell as its file describes it, without the format."""
    return {
        "ground_height": cell.ground_height,
        "boxes": [
            {
                "name": box.name,
                "center": box.center.tolist(),
                "size": (2.0 * box.half_extents).tolist(),
                "rpy": rpy_from_rotation(box.rotation).tolist(),
            }
            for box in cell.boxes
        ],
        "planes": [
            {"name": plane.name, "point": plane.point.tolist(), "normal": plane.normal.tolist()}
            for plane in cell.planes
        ],
    }


def cell_from_document(content: dict[str, Any]) -> WorkCell:
    """The work cell that `cell_document` described."""
    unknown = set(content) - {"ground_height", "boxes", "planes"}
    if unknown:
        raise FileFormatError(f"unknown key {sorted(unknown)[0]!r}; known: ground_height, boxes, planes")
    try:
        boxes = [_box(item, number) for number, item in enumerate(_list(content, "boxes"))]
        planes = [_plane(item, number) for number, item in enumerate(_list(content, "planes"))]
    except KeyError as error:
        raise FileFormatError(f"a box needs center and size, a plane point and normal; {error} is missing") from None
    return WorkCell(tuple(boxes), tuple(planes), content.get("ground_height", 0.0))


def _list(content: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = content.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise FileFormatError(f"{key!r} must be a list of objects")
    return items


def _box(item: dict[str, Any], number: int) -> Box:
    size = as_float_array(item["size"], f"size of box {number}", (3,))
    rotation = rotation_from_rpy(item.get("rpy", np.zeros(3)))
    return Box(item["center"], size / 2, rotation, str(item.get("name", f"box {number}")))


def _plane(item: dict[str, Any], number: int) -> Plane:
    return Plane(item["point"], item["normal"], str(item.get("name", f"wall {number}")))
