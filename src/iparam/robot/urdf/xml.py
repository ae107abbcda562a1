"""Reading a URDF file into its links and joints: safe XML, checked numbers, no judgement yet about the tree.

A description may come from anywhere, so document type definitions, entities and external references are refused, and
so are files beyond ``MAX_BYTES``. What is wrong is said with the file, the element and the attribute.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import FileFormatError, InputError, RobotModelError
from iparam.files.reading_limit import read_bounded

MAX_BYTES = 20_000_000

_MOST_NAMED = 8

OTHER_FORMATS = {"mujoco": "MuJoCo's MJCF", "sdf": "Gazebo's SDF", "COLLADA": "a COLLADA mesh", "mesh": "a mesh"}
_WAYS_OUT = {"sdf": ": give the URDF or xacro that it was made from, or convert it to MJCF with sdf2mjcf of gz-mujoco"}


class Deviations:
    """Where a file departs from the format, and how it was read all the same."""

    def __init__(self) -> None:
        self._elements: dict[str, list[str]] = {}

    def add(self, reading: str, element: str) -> None:
        """Note how ``element`` was read."""
        places = self._elements.setdefault(reading, [])
        if element not in places:
            places.append(element)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One for each reading, with the elements that it is about."""
        return tuple(
            f"{', '.join(places[:_MOST_NAMED])}"
            + (f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else "")
            + f": {reading}"
            for reading, places in self._elements.items()
        )


@dataclass(frozen=True)
class Place:
    """Where in which file an element stands, for messages: ``arm.urdf: joint 'elbow'``.

    Attributes:
        file: it.
        element: in the words of a message.
        deviations: of the file, to which what is odd about the element is added.
    """

    file: str
    element: str
    deviations: Deviations = field(default_factory=Deviations, compare=False, repr=False)

    def error(self, problem: str) -> RobotModelError:
        """The error that says where ``problem`` is."""
        return RobotModelError(f"{self.file}: {self.element}: {problem}")

    def note(self, reading: str) -> None:
        """Note that the element departs from the format, and how it was read."""
        self.deviations.add(reading, self.element)

    def inside(self, tag: str) -> Place:
        """The place of a child element."""
        return Place(self.file, f"{self.element} <{tag}>", self.deviations)

    def elsewhere(self, element: str) -> Place:
        """The place of another element of the same file."""
        return Place(self.file, element, self.deviations)


def read_root(source: str | os.PathLike[str], text: bytes | None = None) -> Element:
    """The root element of an XML file, whatever it describes.

    Args:
        source: path of the file.
        text: the XML, if it is not what the file holds but was made from that.
    """
    path = Path(source) if text is not None else Path()
    if text is None:
        path, text = _read_bounded(source)
    try:
        root: Element = fromstring(text, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        kind = type(error).__name__
        raise FileFormatError(
            f"{path} has a document type definition, entities or external references ({kind}), which a robot "
            "description does not need and which are refused for safety: remove them"
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        hint = "; it uses xacro macros: declare xmlns:xacro" if b"xacro:" in text else ""
        raise FileFormatError(f"{path} is not well-formed XML: {error}{hint}") from None
    _leave_default_namespace(root)
    return root


def read_urdf_root(source: str | os.PathLike[str], text: bytes | None = None) -> Element:
    """The <robot> element of a URDF file, or of ``text`` that was made from the file."""
    root = read_root(source, text)
    path = Path(source)
    if root.tag in OTHER_FORMATS:
        raise FileFormatError(
            f"{path} is {OTHER_FORMATS[root.tag]} (<{root.tag}>), not a URDF{_WAYS_OUT.get(root.tag, '')}"
        )
    if root.tag != "robot":
        raise FileFormatError(f"{path} is not a URDF: its root element is <{root.tag}>, expected <robot>")
    if holds_macros(root):
        raise FileFormatError(
            f"{path} holds xacro macros, which are a program and not run under this name: name it .xacro if you trust "
            "it, or run xacro first and load what it writes"
        )
    return root


def holds_macros(root: Element) -> bool:
    """Whether there are elements of xacro in a document."""
    return any("/xacro}" in str(element.tag) for element in root.iter())


def attribute(element: Element, name: str, place: Place) -> str:
    """A required attribute."""
    value = element.get(name)
    if value is None or not value.strip():
        raise place.error(f"attribute {name!r} is missing")
    return value


def number(element: Element, name: str, place: Place, default: float | None = None, infinite: bool = False) -> float:
    """A real attribute within +-LARGEST, or any up to infinity if ``infinite``; required if there is no ``default``."""
    if default is not None and element.get(name) is None:
        return default
    return to_float(attribute(element, name, place), name, place, infinite)


def vector(element: Element, name: str, place: Place, default: tuple[float, float, float]) -> FloatArray:
    """(3,) from an attribute of three numbers separated by blanks."""
    text = element.get(name)
    if text is None:
        return np.array(default)
    words = text.split()
    if len(words) != 3:
        raise place.error(f"attribute {name!r} must be three numbers, got {text!r}")
    return np.array([to_float(word, name, place, False) for word in words])


def child(element: Element, tag: str, place: Place) -> Element | None:
    """The child element of that tag, the first if there are several, as ROS and Pinocchio have it; None without."""
    found = element.findall(tag)
    if len(found) > 1:
        place.note(f"has <{tag}> {len(found)} times; the first counts")
    return found[0] if found else None


def _leave_default_namespace(root: Element) -> None:
    """Name the elements of the root's own namespace as if it had none: readers of ROS know no namespaces."""
    space, brace, _ = root.tag.rpartition("}")
    if brace:
        for element in root.iter():
            if isinstance(element.tag, str):
                element.tag = element.tag.removeprefix(space + brace)


def to_float(text: str, name: str, place: Place, infinite: bool) -> float:
    """The number that ``text`` is, within +-LARGEST, or any up to infinity if ``infinite``."""
    if "${" in text:
        raise place.error(f"attribute {name!r} is {text!r}, a xacro expression: run xacro first")
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and not infinite):
        raise place.error(f"attribute {name!r} must be a finite number, got {_shortened(text)!r}")
    if abs(value) > LARGEST and not infinite:
        raise place.error(f"attribute {name!r} must be within +-{LARGEST:g} in SI units, got {_shortened(text)!r}")
    return value


def _read_bounded(source: str | os.PathLike[str]) -> tuple[Path, bytes]:
    try:
        path = Path(source)
        name = f"the robot description {_shortened(str(path))!r}"
        text = read_bounded(path, MAX_BYTES, name, "the path of a URDF, xacro or MJCF file")
    except TypeError:
        raise InputError(f"a robot description must be given as a path, got {type(source).__name__}") from None
    except OSError as error:
        raise FileFormatError(f"cannot read {_shortened(str(source))!r}: {error.strerror}") from None
    if len(text) > MAX_BYTES:
        raise FileFormatError(f"{path} is larger than {MAX_BYTES // 10**6} MB: that is no URDF of an arm")
    if not text.strip():
        raise FileFormatError(f"{path} is empty")
    return path, text


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."
