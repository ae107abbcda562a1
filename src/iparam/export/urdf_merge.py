"""A payload put into a whole robot's URDF: added to a link's <inertial>, or as a link of its own."""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, RobotModelError, UnknownNameError
from iparam.export.decimals import decimal, decimals
from iparam.export.remarks import remarks, xml_comment
from iparam.export.result import IdentifiedLoad
from iparam.export.urdf import STATEMENT, inertial_element
from iparam.export.xml_splice import XmlText
from iparam.robot.urdf_elements import link_of, locked_joint_of
from iparam.robot.urdf_tree import UrdfTree, read_tree
from iparam.spatial.transforms import inverse_transform, rpy_from_rotation


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
        force: also merge what no real body can be like; else that is an `InconsistentLoadError`.
    """
    if not force:
        load.require_consistency()
    tree = read_tree(source)
    if link is None and load.frame not in tree.links:
        hint = f"Say with link= (--link) which link of {tree.file} has that frame."
        raise UnknownNameError("link", load.frame, tree.links, hint=hint)
    target = tree.known(load.frame if link is None else link)
    text = XmlText(tree.file, Path(source).read_bytes())
    T_target_frame = _pose_of_frame(tree, target, load.frame)
    if as_link is None:
        return _with_heavier_link(text, tree, target, T_target_frame, load)
    return _with_new_link(text, tree, target, T_target_frame, load, as_link)


def _with_heavier_link(
    text: XmlText, tree: UrdfTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad
) -> str:
    body = load.parameters.transformed(T_target_frame)
    own = link_of(tree.links[target], tree.file).inertial
    comment = remarks(
        load,
        f"Added to link {target}: {decimal(load.mass)} kg to {decimal(own.mass if own else 0.0)} kg of its own.",
        *STATEMENT,
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
    text: XmlText, tree: UrdfTree, target: str, T_target_frame: FloatArray, load: IdentifiedLoad, name: str
) -> str:
    if not name.strip() or not name.isprintable():
        raise InputError(f"the new link needs a name, got {name!r}")
    joint = f"{target}-{name}"
    if name in tree.links:
        raise InputError(f"{tree.file} has a link {name!r} already: choose another name, or merge into it with link=")
    if any(known.name == joint for known in tree.above.values()):
        raise InputError(f"{tree.file} has a joint {joint!r} already: choose another name for the new link")
    robot = text.span(("robot", tree.name))
    if robot is None:
        raise RobotModelError(f"{tree.file}: <robot> cannot be found in the text")
    xyz, rpy = T_target_frame[:3, 3], rpy_from_rotation(T_target_frame[:3, :3])
    comment = remarks(load, f"Its link has the axes of {load.frame}.", *STATEMENT)
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


def _pose_of_frame(tree: UrdfTree, link: str, frame: str) -> FloatArray:
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


def _rigid_ancestors(tree: UrdfTree, link: str) -> dict[str, FloatArray]:
    """T_ancestor_link (4, 4) of the link itself and of those that carry it by fixed joints."""
    poses = {link: np.eye(4)}
    above = tree.above.get(link)
    while above is not None and above.is_fixed:
        poses[above.parent] = locked_joint_of(above).origin @ poses[above.child]
        above = tree.above.get(above.parent)
    return poses
