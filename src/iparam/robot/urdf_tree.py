"""A URDF's links and joints as one tree."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from iparam.errors import RobotModelError, UnknownNameError
from iparam.robot.urdf_elements import UrdfJoint, read_joint
from iparam.robot.urdf_xml import Place, attribute, read_urdf_root


@dataclass(frozen=True)
class UrdfTree:
    """Links and joints of a file; `read_tree` has checked that they form one tree.

    Attributes:
        file: where it was read, for messages.
        name: of the robot.
        root: the link that hangs on no other.
        links: the <link> elements by name.
        below: the joints that stand on each link.
        above: the joint that carries each link; the root has none.
    """

    file: str
    name: str
    root: str
    links: dict[str, Element]
    below: dict[str, list[UrdfJoint]]
    above: dict[str, UrdfJoint]

    def known(self, link: str) -> str:
        """``link``, if it exists."""
        if link not in self.links:
            raise UnknownNameError("link", link, self.links, hint=f"(in {self.file})")
        return link

    def joints_below(self, start: str) -> list[UrdfJoint]:
        """All joints that ``start`` carries, parents before children."""
        joints = list(self.below.get(start, []))
        for joint in joints:  # grows while it is walked
            joints += self.below.get(joint.child, [])
        return joints

    def path(self, start: str, end: str) -> list[UrdfJoint]:
        """The joints from ``start`` down to ``end``."""
        joints: list[UrdfJoint] = []
        link = end
        while link != start:
            if link not in self.above:
                raise RobotModelError(
                    f"{self.file}: {end!r} does not hang on {start!r}; choose a base= between {self.root!r} and the tip"
                )
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]


def read_tree(source: str | os.PathLike[str]) -> UrdfTree:
    """The tree of a URDF file; refuses repeated names, loose ends, closed loops and several roots."""
    robot = read_urdf_root(source)
    file = str(Path(source))
    whole = Place(file, "<robot>")
    name = attribute(robot, "name", whole)
    elements = robot.findall("link")
    names = [attribute(link, "name", Place(file, "a <link>")) for link in elements]
    joints = [read_joint(element, file) for element in robot.findall("joint")]
    if not names:
        raise whole.error("has no <link>")
    for kind, every in (("link", names), ("joint", [joint.name for joint in joints])):
        if repeated := [key for key, count in Counter(every).items() if count > 1]:
            raise whole.error(f"{kind} {repeated[0]!r} is defined more than once")
    below: dict[str, list[UrdfJoint]] = {}
    above: dict[str, UrdfJoint] = {}
    links = dict(zip(names, elements, strict=True))
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in links:
                raise joint.place.error(f"refers to link {end!r}, which is not defined")
        if joint.child in above:
            raise joint.place.error(
                f"carries link {joint.child!r}, which already hangs on joint {above[joint.child].name!r}: "
                "closed loops are not supported"
            )
        above[joint.child] = joint
        below.setdefault(joint.parent, []).append(joint)
    roots = [link for link in names if link not in above]
    if len(roots) > 1:
        raise whole.error(f"has {len(roots)} root links ({', '.join(map(repr, roots[:10]))}): connect them by joints")
    tree = UrdfTree(file, name, roots[0] if roots else "", links, below, above)
    if not roots or len(tree.joints_below(roots[0])) != len(names) - 1:
        raise whole.error("its joints form a closed loop: only trees are supported")
    return tree
