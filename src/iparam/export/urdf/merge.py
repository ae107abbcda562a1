"""A payload put into a whole robot's URDF: added to a link's <inertial>, or as a link of its own. Every other byte
of the file stays as it was.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError, RobotModelError, UnknownNameError
from iparam.export.comment import comment_lines, decimal, decimals, frame_of, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad
from iparam.export.urdf.inertial import STATEMENT, inertial_element
from iparam.robot.description.tree import DescriptionTree
from iparam.robot.urdf.elements import read_tree
from iparam.spatial.transforms import inverse_transform, rpy_from_rotation

_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_UTF8 = (None, "utf-8", "utf8", "us-ascii", "ascii")


@dataclass(frozen=True)
class Span:
    """Where an element stands in the text, in bytes.

    Attributes:
        start: of its start tag.
        inside: the end of its start tag.
        outside: the start of its end tag; equal to ``end`` if it has none (``<link/>``).
        end: of the element.
    """

    start: int
    inside: int
    outside: int
    end: int

    @property
    def is_closed(self) -> bool:
        """True for ``<link/>``."""
        return self.outside == self.end


class XmlText:
    """The text of a well-formed XML file without a document type definition, in UTF-8.

    Args:
        file: its name, for messages.
        data: its contents.
    """

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        self._declared: str | None = None
        self._open: list[tuple[str, str | None, int, int]] = []
        self._spans: dict[tuple[tuple[str, str | None], ...], Span] = {}
        self._scan()

    def span(self, *path: tuple[str, str | None]) -> Span | None:
        """Of the first element at ``path``: tags and their attribute ``name`` (None if they have none)."""
        return self._spans.get(path)

    def replaced(self, start: int, end: int, text: str) -> str:
        """The whole text with that part exchanged; ``text`` gets the line ends of the file."""
        newline = "\r\n" if b"\r\n" in self.data else "\n"
        part = text.replace("\n", newline).encode("utf-8")
        return (self.data[:start] + part + self.data[end:]).decode("utf-8")

    def indent(self, position: int) -> str:
        """The blanks before ``position`` if nothing else stands before it on its line, else ""."""
        before = self.data[self.data.rfind(b"\n", 0, position) + 1 : position].decode("utf-8", "replace")
        return before if not before.strip() else ""

    def _scan(self) -> None:
        parser = expat.ParserCreate()
        parser.XmlDeclHandler = self._declare
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = lambda tag, attributes: self._start(tag, attributes, parser.CurrentByteIndex)
        parser.EndElementHandler = lambda tag: self._end(parser.CurrentByteIndex)
        try:
            self.data.decode("utf-8")
            parser.Parse(self.data, True)
        except UnicodeDecodeError:
            raise FileFormatError(f"{self.file} is not in UTF-8: save it so first") from None
        except expat.ExpatError as error:
            raise FileFormatError(f"{self.file} is not well-formed XML: {error}") from None
        if not self.data.isascii() and self._declared not in _UTF8:
            raise FileFormatError(f"{self.file} says that it is in {self._declared!r}: save it in UTF-8 first")

    def _declare(self, version: str, encoding: str | None, standalone: int) -> None:
        self._declared = encoding.lower() if encoding else None

    def _refuse(self, *ignored: object) -> NoReturn:
        raise FileFormatError(f"{self.file} has a document type definition, which is refused for safety: remove it")

    def _start(self, tag: str, attributes: dict[str, str], position: int) -> None:
        found = _START_TAG.match(self.data, position)
        if found is None:  # cannot be in a document that expat accepts
            raise FileFormatError(f"{self.file}: cannot find the end of <{tag}>")
        self._open.append((tag, attributes.get("name"), position, found.end()))

    def _end(self, position: int) -> None:
        path = tuple((tag, name) for tag, name, _, _ in self._open)
        _, _, start, inside = self._open.pop()
        if self.data[inside - 2 : inside] == b"/>":
            span = Span(start, inside, inside, inside)
        else:
            span = Span(start, inside, position, self.data.index(b">", position) + 1)
        if len(path) <= 3:
            self._spans.setdefault(path, span)


def merge_into_urdf(
    load: IdentifiedLoad,
    source: str | os.PathLike[str],
    link: str | None = None,
    as_link: str | None = None,
    force: bool = False,
) -> str:
    """The text of a URDF file with the load in it; the rest of the text stays as it is.

    If the file has a link of the name of the load's frame, the load is transformed from there to ``link``, which must
    not move against it. If it has none, ``link``'s frame is taken for the load's.

    Args:
        load: what was identified.
        source: path of the URDF file, already processed by xacro, in UTF-8.
        link: that carries the load; the load's frame if not given.
        as_link: name of a new link that hangs on ``link`` by a fixed joint; if not given, the load is added to what
            ``link`` weighs already.
        force: also merge what no real body can be like, else an `InconsistentLoadError`, and what its own data refute,
            else a `RefutedResultError`.
    """
    if not force:
        load.require_consistency()
        load.require_credit()
    tree = read_tree(source)
    if link is None and load.frame not in tree.links:
        hint = f"Say which link of {tree.file} has that frame."
        raise UnknownNameError("link", load.frame, tree.links, hint=hint, argument="link")
    target = tree.known(load.frame if link is None else link, "link")
    text = XmlText(tree.file, Path(source).read_bytes())
    T_target_frame = _pose_of_frame(tree, target, load.frame)
    if as_link is None:
        return _with_heavier_link(text, tree, target, T_target_frame, load)
    return _with_new_link(text, tree, target, T_target_frame, load, as_link)


def _with_heavier_link(
    text: XmlText, tree: DescriptionTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad
) -> str:
    body = load.parameters.transformed(T_target_frame)
    own = tree.links[target]().inertial
    comment = comment_lines(
        load,
        f"Added to link {target}: {decimal(load.mass)} kg to {decimal(own.mass if own else 0.0)} kg of its own.",
        *STATEMENT,
        *uncertainty(load),
    )
    robot = ("robot", tree.name)
    place = text.span(robot, ("link", target))
    inertial = text.span(robot, ("link", target), ("inertial", None))
    if place is None:
        raise RobotModelError(f"{tree.file}: link {target!r} cannot be found in the text")
    total = body if own is None else own + body
    if inertial is not None:
        indent = text.indent(inertial.start)
        new = f"{xml_comment(comment, indent).removeprefix(indent)}\n{inertial_element(total, indent)}"
        return text.replaced(inertial.start, inertial.end, new)
    outer = text.indent(place.start)
    indent = f"{outer}  "
    new = f"\n{xml_comment(comment, indent)}\n{inertial_element(total, indent)}"
    if not place.is_closed:
        return text.replaced(place.inside, place.inside, new)
    opened = text.data[place.start : place.inside - 2].decode("utf-8").rstrip()
    return text.replaced(place.start, place.end, f"{opened}>{new}\n{outer}</link>")


def _with_new_link(
    text: XmlText, tree: DescriptionTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad, name: str
) -> str:
    if not name.strip() or not name.isprintable():
        raise InputError(f"the new link needs a name, got {name!r}")
    joint = f"{target}-{name}"
    if name in tree.links:
        raise InputError(
            f"{tree.file} has a link {name!r} already: choose another name, or merge into it", argument="link"
        )
    if any(known.name == joint for known in tree.above.values()):
        raise InputError(f"{tree.file} has a joint {joint!r} already: choose another name for the new link")
    robot = text.span(("robot", tree.name))
    if robot is None:
        raise RobotModelError(f"{tree.file}: <robot> cannot be found in the text")
    xyz, rpy = T_target_frame[:3, 3], rpy_from_rotation(T_target_frame[:3, :3])
    comment = comment_lines(load, f"Its link has the axes of {frame_of(load)}.", *STATEMENT, *uncertainty(load))
    new = "\n".join(
        (
            xml_comment(comment, "  "),
            f"  <link name={quoteattr(name)}>",
            inertial_element(load, "    "),
            "  </link>",
            f'  <joint name={quoteattr(joint)} type="fixed">',
            f"    <parent link={quoteattr(target)}/>",
            f"    <child link={quoteattr(name)}/>",
            f'    <origin xyz="{decimals(xyz)}" rpy="{decimals(rpy)}"/>',
            "  </joint>\n",
        )
    )
    line_start = text.data[: robot.outside].endswith(b"\n")
    return text.replaced(robot.outside, robot.outside, new if line_start else f"\n{new}")


def _pose_of_frame(tree: DescriptionTree, link: str, frame: str) -> FloatArray:
    """(4, 4) T_link_frame, through fixed joints only; the identity if there is no link called ``frame``."""
    if frame not in tree.links or frame == link:
        return np.eye(4)
    of_frame, of_link = _rigid_ancestors(tree, frame), _rigid_ancestors(tree, link)
    for ancestor, T_ancestor_frame in of_frame.items():
        if ancestor in of_link:
            pose: FloatArray = inverse_transform(of_link[ancestor]) @ T_ancestor_frame
            return pose
    raise RobotModelError(
        f"{tree.file}: a joint moves between {link!r} and {frame!r}, the frame of the load; choose a link that is "
        f"rigidly connected to {frame!r}"
    )


def _rigid_ancestors(tree: DescriptionTree, link: str) -> dict[str, FloatArray]:
    """T_ancestor_link (4, 4) of the link itself and of those that carry it by fixed joints."""
    poses = {link: np.eye(4)}
    above = tree.above.get(link)
    while above is not None and above.is_fixed:
        poses[above.parent] = above.read_origin() @ poses[above.child]
        above = tree.above.get(above.parent)
    return poses
