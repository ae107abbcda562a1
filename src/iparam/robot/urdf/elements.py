"""What a URDF's <link> and <joint> elements say, as values, and the tree that they make."""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import InputError, RobotModelError, UnknownNameError
from iparam.robot.model import Joint, JointKind, Link
from iparam.robot.urdf.xml import Place, attribute, child, number, read_urdf_root, vector
from iparam.spatial.parameters import InertialParameters, inertia_entries
from iparam.spatial.transforms import rotation_from_rpy, transform_from

_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
_UNSUPPORTED = ("floating", "planar")


@dataclass(frozen=True)
class UrdfJoint:
    """A <joint>: its ends, and the element itself, read further only if the joint lies on the chain.

    Attributes:
        name, parent, child: of the joint and of the links that it connects.
        type: revolute, continuous, prismatic, fixed, floating or planar.
        element: the XML.
        place: where it stands, for messages.
    """

    name: str
    parent: str
    child: str
    type: str
    element: Element
    place: Place

    @property
    def can_be_locked(self) -> bool:
        """True if the joint has a zero position to hold its child at."""
        return self.type not in _UNSUPPORTED

    @property
    def is_fixed(self) -> bool:
        """True if the child does not move in its parent."""
        return self.type == "fixed"


@dataclass(frozen=True)
class UrdfLimit:
    """Limits of one moving joint, infinite where unknown: [rad or m], per second, per second^2, [N m or N]."""

    lower: float
    upper: float
    velocity: float
    acceleration: float
    torque: float


def read_joint(element: Element, file: str) -> UrdfJoint:
    """Name, type and ends of a <joint>."""
    name = attribute(element, "name", Place(file, "a <joint>"))
    place = Place(file, f"joint {name!r}")
    kind = attribute(element, "type", place)
    if kind not in _KINDS and kind not in _UNSUPPORTED:
        raise place.error(f"unknown type {kind!r}; known: {', '.join((*_KINDS, *_UNSUPPORTED))}")
    ends = []
    for tag in ("parent", "child"):
        end = child(element, tag, place)
        if end is None:
            raise place.error(f"has no <{tag} link=...>")
        ends.append(attribute(end, "link", place.inside(tag)))
    return UrdfJoint(name, ends[0], ends[1], kind, element, place)


def locked_joint_of(joint: UrdfJoint) -> Joint:
    """The joint as a fixed one, at its zero position."""
    return Joint(joint.name, JointKind.FIXED, joint.parent, joint.child, _origin(joint.element, joint.place))


def joint_of(joint: UrdfJoint) -> Joint:
    """The joint with its origin and axis; refuses the types that a serial arm cannot have."""
    if joint.type in _UNSUPPORTED:
        raise joint.place.error(
            f"type {joint.type!r} is not supported on the arm; choose base= and tip= so that it is not between them"
        )
    if not joint.is_fixed and joint.element.find("mimic") is not None:
        raise joint.place.error("mimics another joint, which is not supported on the arm; choose another tip=")
    axis = child(joint.element, "axis", joint.place)
    direction = np.array([1.0, 0.0, 0.0])
    if axis is not None and not joint.is_fixed:
        direction = vector(axis, "xyz", joint.place.inside("axis"), (1.0, 0.0, 0.0))
        if not np.linalg.norm(direction) > 1e-9:
            raise joint.place.inside("axis").error(f"attribute 'xyz' must not be zero, got {axis.get('xyz')!r}")
    return Joint(
        joint.name, _KINDS[joint.type], joint.parent, joint.child, _origin(joint.element, joint.place), direction
    )


def limit_of(joint: UrdfJoint) -> UrdfLimit:
    """The limits of a moving joint.

    A velocity or effort of zero means "not specified" in practice, and is read as infinite like a missing one. So is
    any limit beyond `LARGEST`, such as the 1e16 that Gazebo writes. Position limits may only be missing on a continuous
    joint.
    """
    place = joint.place.inside("limit")
    element = child(joint.element, "limit", joint.place)
    lower, upper = -math.inf, math.inf
    if joint.type != "continuous":
        if element is None or (element.get("lower") is None and element.get("upper") is None):
            raise place.error(
                f"a {joint.type} joint needs lower= and upper= (URDF's default, 0, would lock it); give them, or "
                'make it type="continuous"'
            )
        lower = number(element, "lower", place, default=0.0, infinite=True)
        upper = number(element, "upper", place, default=0.0, infinite=True)
        if lower > upper:
            raise place.error(f"lower {lower:g} is above upper {upper:g}")
        if lower > LARGEST or upper < -LARGEST:
            raise place.error(f"the range from {lower:g} to {upper:g} must begin within +-{LARGEST:g}")
        lower = lower if lower >= -LARGEST else -math.inf
        upper = upper if upper <= LARGEST else math.inf
    return UrdfLimit(lower, upper, *(_bound(element, name, place) for name in ("velocity", "acceleration", "effort")))


def link_of(element: Element, file: str) -> Link:
    """A <link> with its <inertial>, taken as it is: odd inertias are not refused here."""
    name = attribute(element, "name", Place(file, "a <link>"))
    place = Place(file, f"link {name!r}")
    inertial = child(element, "inertial", place)
    if inertial is None:
        return Link(name)
    place = place.inside("inertial")
    parts = {}
    for tag in ("mass", "inertia"):
        found = child(inertial, tag, place)
        if found is None:
            raise place.error(f"has no <{tag}>")
        parts[tag] = found
    xx, xy, xz, yy, yz, zz = (
        number(parts["inertia"], key, place.inside("inertia")) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    mass = number(parts["mass"], "value", place.inside("mass"))
    origin = _origin(inertial, place)
    rotation = origin[:3, :3]
    try:
        inertia = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
        if mass == 0.0:  # the centre of a massless body means nothing, but an inertia given to it counts
            return Link(name, InertialParameters.from_phi([0.0, 0.0, 0.0, 0.0, *inertia_entries(inertia)]))
        return Link(name, InertialParameters(mass, origin[:3, 3], inertia))
    except InputError as error:
        raise place.error(str(error)) from None


def _origin(element: Element, place: Place) -> FloatArray:
    """(4, 4) pose of an <origin>, the identity if there is none."""
    origin = child(element, "origin", place)
    if origin is None:
        return np.eye(4)
    place = place.inside("origin")
    if origin.get("quat_xyzw") is not None:
        raise place.error("attribute 'quat_xyzw' is not supported; write the rotation as rpy=")
    rpy = vector(origin, "rpy", place, (0.0, 0.0, 0.0))
    return transform_from(rotation_from_rpy(rpy), vector(origin, "xyz", place, (0.0, 0.0, 0.0)))


def _bound(element: Element | None, name: str, place: Place) -> float:
    value = 0.0 if element is None else number(element, name, place, default=0.0, infinite=True)
    if value < 0:
        raise place.error(f"attribute {name!r} must not be negative, got {value:g}")
    return value if 0.0 < value <= LARGEST else math.inf


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
