"""Work cells as JSON files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from iparam.arrays import as_float_array
from iparam.errors import FileFormatError, IparamError
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.spatial.transforms import rotation_from_rpy

FORMAT = "iparam-cell/1"
MAX_BYTES = 1_000_000


def load_cell(path: str | os.PathLike[str]) -> WorkCell:
    """Read a work cell.

    The file is ``{"format": "iparam-cell/1", "ground_height": 0.0, "boxes": [{"name", "center": [3], "size": [3],
    "rpy": [3]}], "planes": [{"name", "point": [3], "normal": [3]}]}``, lengths in m and angles in rad, in the robot's
    base frame. ``ground_height`` may be null for no ground; names and ``rpy`` may be left out.
    """
    where = Path(path)
    try:
        content = json.loads(_read_bounded(where).decode("utf-8"))
    except OSError as error:
        raise FileFormatError(f"{where}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{where}: not JSON that can be read: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileFormatError(f'{where}: not a work cell: expected an object with "format": "{FORMAT}"')
    unknown = set(content) - {"format", "ground_height", "boxes", "planes"}
    if unknown:
        raise FileFormatError(f"{where}: unknown key {sorted(unknown)[0]!r}; known: ground_height, boxes, planes")
    try:
        boxes = [_box(item, number) for number, item in enumerate(_list(content, "boxes"))]
        planes = [_plane(item, number) for number, item in enumerate(_list(content, "planes"))]
        return WorkCell(tuple(boxes), tuple(planes), content.get("ground_height", 0.0))
    except KeyError as error:
        raise FileFormatError(
            f"{where}: a box needs center and size, a plane point and normal; {error} is missing"
        ) from None
    except IparamError as error:
        raise FileFormatError(f"{where}: {error}") from None


def _read_bounded(where: Path) -> bytes:
    """A file's contents, as long as it is one: a device may have no end, and a pipe nobody who writes to it."""
    if where.exists() and not where.is_file():
        raise FileFormatError(f"{where}: is a {'folder' if where.is_dir() else 'device'}, not a file with a work cell")
    with where.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileFormatError(f"{where}: larger than {MAX_BYTES // 1000} kB, the most that is read as a work cell")
    return data


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
