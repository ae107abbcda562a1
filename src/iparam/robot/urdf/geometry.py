"""What a URDF's <origin>, <collision> and <visual> elements say."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.urdf.references import find_referenced
from iparam.robot.urdf.xml import Place, attribute, child, number, vector
from iparam.spatial.transforms import rotation_from_rpy, transform_from

_SIZES = {"cylinder": ("radius", "length"), "sphere": ("radius",)}


def origin_of(element: Element, place: Place) -> FloatArray:
    """(4, 4) pose of an <origin>, the identity if there is none."""
    origin = child(element, "origin", place)
    if origin is None:
        return np.eye(4)
    place = place.inside("origin")
    if origin.get("quat_xyzw") is not None:
        raise place.error("attribute 'quat_xyzw' is not supported; write the rotation as rpy")
    rpy = vector(origin, "rpy", place, (0.0, 0.0, 0.0))
    return transform_from(rotation_from_rpy(rpy), vector(origin, "xyz", place, (0.0, 0.0, 0.0)))


def geometry_of(link: Element, place: Place) -> tuple[LinkGeometry, ...]:
    """The shape of a <link>: its <collision> elements, or its <visual> ones if it has none.

    Masses and joints are good without it, so a piece that cannot be understood does not refuse the file: it stands
    there without a mesh, and whoever needs the shape says so.
    """
    return _pieces(link, "collision" if link.find("collision") is not None else "visual", place)


def visual_of(link: Element, place: Place) -> tuple[LinkGeometry, ...]:
    """What a <link> is drawn with, if that is not its `geometry_of` already: <visual> beside <collision>."""
    return _pieces(link, "visual", place) if link.find("collision") is not None else ()


def _pieces(link: Element, tag: str, place: Place) -> tuple[LinkGeometry, ...]:
    pieces: list[LinkGeometry] = []
    for element in link.findall(tag):
        try:
            piece = _piece(element, place.inside(tag))
        except IparamError as error:
            piece = LinkGeometry(GeometryKind.MESH, np.eye(4), reference=f"<{tag}> ({error})")
        if piece is not None:
            pieces.append(piece)
    return tuple(pieces)


def _piece(element: Element, place: Place) -> LinkGeometry | None:
    geometry = element.find("geometry")
    if geometry is None or not len(geometry):
        return None
    shape = geometry[0]
    pose = origin_of(element, place)
    where = place.inside(str(shape.tag))
    if shape.tag == "mesh":
        reference = attribute(shape, "filename", where)
        scale = vector(shape, "scale", where, (1.0, 1.0, 1.0))
        found = find_referenced(reference, Path(place.file))
        return LinkGeometry(GeometryKind.MESH, pose, reference=reference, file=found, scale=scale)
    if shape.tag == "box":
        size = vector(shape, "size", where, (0.0, 0.0, 0.0))
        return LinkGeometry(GeometryKind.BOX, pose, tuple(size.tolist()))
    if shape.tag in _SIZES:
        lengths = tuple(number(shape, name, where) for name in _SIZES[shape.tag])
        return LinkGeometry(GeometryKind(shape.tag), pose, lengths)
    raise where.error("unknown shape; known: mesh, box, cylinder, sphere")
