"""Numbers, texts and poses as SDFormat writes them: as the text of elements."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import LARGEST, FloatArray
from iparam.robot.urdf.xml import Place, child, to_float
from iparam.spatial.transforms import rotation_from_quaternion, rotation_from_rpy, transform_from


def pose_of(element: Element | None, place: Place) -> FloatArray:
    """(4, 4) of a <pose>: x y z and roll pitch yaw, or a quaternion with its real part last."""
    if element is None or not (element.text or "").strip():
        return np.eye(4)
    place = place.inside("pose")
    if element.get("rotation_format", "euler_rpy") == "quat_xyzw":
        values = numbers_of(element, 7, place)
        turn = rotation_from_quaternion(np.roll(values[3:], 1) / (np.linalg.norm(values[3:]) or 1.0))
        return transform_from(turn, values[:3])
    values = numbers_of(element, 6, place)
    angles = np.radians(values[3:]) if element.get("degrees", "false") in ("true", "1") else values[3:]
    return transform_from(rotation_from_rpy(angles), values[:3])


def text_of(element: Element, tag: str, place: Place) -> str:
    """The text of an element's child, "" if it has none."""
    found = child(element, tag, place)
    return "" if found is None else (found.text or "").strip()


def number_of(element: Element, tag: str, place: Place, default: float, infinite: bool = False) -> float:
    """The number in an element's child, ``default`` if it has none."""
    text = text_of(element, tag, place)
    return to_float(text, tag, place, infinite) if text else default


def numbers_of(element: Element, count: int, place: Place) -> FloatArray:
    """(count,) the numbers in an element."""
    words = (element.text or "").split()
    if len(words) != count:
        raise place.error(f"must be {count} numbers, got {' '.join(words)[:200]!r}")
    return np.array([to_float(word, str(element.tag), place, False) for word in words])


def bound_of(limit: Element, tag: str, place: Place) -> float:
    """A limit of speed or effort; none, zero and negative ones stand for unlimited in SDF."""
    value = number_of(limit, tag, place, math.inf, infinite=True)
    return value if 0.0 < value <= LARGEST else math.inf
