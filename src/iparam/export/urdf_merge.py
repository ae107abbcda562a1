"""A payload put into a whole robot's URDF: added to a link's <inertial>, or as a link of its own. All other
elements and comments stay as they were.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from defusedxml.minidom import parseString

from iparam.arrays import FloatArray
from iparam.errors import InputError, RobotModelError, UnknownNameError
from iparam.export.bodies import URDF_STATEMENT, inertial_element
from iparam.export.comment import comment_lines, decimal, decimals, frame_of, uncertainty, xml_comment
from iparam.export.load import IdentifiedLoad
from iparam.robot.description.tree import DescriptionTree
from iparam.robot.urdf.elements import read_tree
from iparam.spatial.transforms import inverse_transform, rpy_from_rotation


def merge_into_urdf(
    load: IdentifiedLoad,
    source: str | os.PathLike[str],
    link: str | None = None,
    as_link: str | None = None,
    force: bool = False,
) -> str:
    """The text of a URDF file with the load in it; its other elements and its comments stay as they are.

    If the file has a link of the name of the load's frame, the load is transformed from there to ``link``, which must
    not move against it. If it has none, ``link``'s frame is taken for the load's.

    Args:
        load: what was identified.
        source: path of the URDF file, already processed by xacro.
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
    T_target_frame = _pose_of_frame(tree, target, load.frame)
    document = parseString(Path(source).read_bytes(), forbid_dtd=True)
    if as_link is None:
        _make_heavier(document, tree, target, T_target_frame, load)
    else:
        _add_link(document, tree, target, T_target_frame, load, as_link)
    return "\n".join(('<?xml version="1.0"?>', *(_text_of(node) for node in document.childNodes), ""))


def _text_of(node: Any) -> str:
    """An element by hand: xacro, where it is loaded, makes minidom write other blanks and comments."""
    if node.nodeType != node.ELEMENT_NODE:
        return str(node.toxml())
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in node.attributes.items())
    inside = "".join(_text_of(child) for child in node.childNodes)
    return f"<{node.tagName}{attributes}{f'>{inside}</{node.tagName}>' if inside else '/>'}"


def _make_heavier(
    document: Any, tree: DescriptionTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad
) -> None:
    body = load.parameters.transformed(T_target_frame)
    own = tree.links[target]().inertial
    comment = comment_lines(
        load,
        f"Added to link {target}: {decimal(load.mass)} kg to {decimal(own.mass if own else 0.0)} kg of its own.",
        *URDF_STATEMENT,
        *uncertainty(load),
    )
    link = next(
        (one for one in _children(document.documentElement, "link") if one.getAttribute("name") == target), None
    )
    if link is None:  # one that the description takes for granted
        raise RobotModelError(f"{tree.file}: link {target!r} cannot be found in the text")
    new = f"{xml_comment(comment, '    ')}\n{inertial_element(body if own is None else own + body, '    ')}\n  "
    inertial = next(iter(_children(link, "inertial")), None)
    _insert(document, f"\n{new}" if inertial is None else new.strip(), link, inertial or link.firstChild)
    if inertial is not None:
        link.removeChild(inertial)


def _add_link(
    document: Any, tree: DescriptionTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad, name: str
) -> None:
    if not name.strip() or not name.isprintable():
        raise InputError(f"the new link needs a name, got {name!r}")
    joint = f"{target}-{name}"
    if name in tree.links:
        raise InputError(
            f"{tree.file} has a link {name!r} already: choose another name, or merge into it", argument="link"
        )
    if any(known.name == joint for known in tree.above.values()):
        raise InputError(f"{tree.file} has a joint {joint!r} already: choose another name for the new link")
    xyz, rpy = T_target_frame[:3, 3], rpy_from_rotation(T_target_frame[:3, :3])
    comment = comment_lines(load, f"Its link has the axes of {frame_of(load)}.", *URDF_STATEMENT, *uncertainty(load))
    lines = (
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
    _insert(document, "\n".join(lines), document.documentElement, None)


def _children(parent: Any, tag: str) -> list[Any]:
    return [node for node in parent.childNodes if node.nodeName == tag]


def _insert(document: Any, text: str, parent: Any, before: Any) -> None:
    """Put elements and comments, as text, into an element before one of its nodes; at its end if that is None."""
    for node in list(parseString(f"<x>{text}</x>".encode()).documentElement.childNodes):
        parent.insertBefore(document.importNode(node, True), before)


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
