"""What an SDF's <collision> and <visual> elements say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.description.sdf_values import numbers_of, text_of
from iparam.robot.urdf.references import find_referenced
from iparam.robot.urdf.xml import Place, child

_LENGTHS = {"cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}
_NO_BODY = ("empty", "plane")  # a plane is a ground, which a cell states
_VECTORS = {"box": "size", "ellipsoid": "radii"}


def sdf_geometry(
    link: Element, pose_in_link: Callable[[Element, Place], FloatArray], place: Place
) -> tuple[LinkGeometry, ...]:
    """The shape of a <link>: its <collision> elements, or its <visual> ones if it has none.

    A piece that cannot be understood stands there without a mesh, as in `iparam.robot.urdf.geometry`.

    Args:
        link: the element.
        pose_in_link: (4, 4) of an element in it.
        place: of the link.
    """
    tag = "collision" if link.find("collision") is not None else "visual"
    pieces: list[LinkGeometry] = []
    for element in link.findall(tag):
        where = place.inside(tag)
        try:
            piece = _piece(element, pose_in_link, where)
        except IparamError as error:
            reason = str(error).removeprefix(f"{place.file}: ")
            piece = LinkGeometry(GeometryKind.MESH, np.eye(4), reference=f"<{tag}> ({reason})")
        if piece is not None:
            pieces.append(piece)
    return tuple(pieces)


def _piece(element: Element, pose_in_link: Callable[[Element, Place], FloatArray], place: Place) -> LinkGeometry | None:
    geometry = child(element, "geometry", place)
    if geometry is None or not len(geometry):
        return None
    shape = geometry[0]
    kind, where = str(shape.tag), place.inside(str(shape.tag))
    if kind in _NO_BODY:
        return None
    pose = pose_in_link(element, place)
    if kind == "mesh":
        reference, scaled = text_of(shape, "uri", where), child(shape, "scale", where)
        scale = np.ones(3) if scaled is None else numbers_of(scaled, 3, where.inside("scale"))
        found = find_referenced(reference, Path(place.file))
        return LinkGeometry(GeometryKind.MESH, pose, reference=reference, file=found, scale=scale)
    tags = (_VECTORS[kind],) if kind in _VECTORS else _LENGTHS.get(kind)
    if tags is None:
        raise where.error(f"a shape that is not read; known: mesh, {', '.join((*_VECTORS, *_LENGTHS))}")
    size: list[float] = []
    for tag in tags:
        entry = child(shape, tag, where)
        if entry is None:
            raise where.error(f"has no <{tag}>")
        size += numbers_of(entry, 3 if kind in _VECTORS else 1, where.inside(tag)).tolist()
    return LinkGeometry(GeometryKind(kind), pose, tuple(size))
