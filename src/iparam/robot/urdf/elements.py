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
_NORMALISED = 1e-3
"""By how much the length of an axis may differ from 1 in silence: digits are rounded."""


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


def read_joint(element: Element, whole: Place) -> UrdfJoint:
    """Name, type and ends of a <joint> of the file ``whole``."""
    name = attribute(element, "name", whole.elsewhere("a <joint>"))
    place = whole.elsewhere(f"joint {name!r}")
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
            f"type {joint.type!r} is not supported on the arm; choose base and tip= so that it is not between them"
        )
    if not joint.is_fixed and joint.element.find("mimic") is not None:
        joint.place.note("mimics another joint in the file, and was read as one that moves on its own")
    axis = child(joint.element, "axis", joint.place)
    direction = np.array([1.0, 0.0, 0.0])
    if axis is not None and not joint.is_fixed:
        direction = vector(axis, "xyz", joint.place.inside("axis"), (1.0, 0.0, 0.0))
        if not np.linalg.norm(direction) > 1e-9:
            raise joint.place.inside("axis").error(f"attribute 'xyz' must not be zero, got {axis.get('xyz')!r}")
        if abs(np.linalg.norm(direction) - 1.0) > _NORMALISED:
            joint.place.note("its <axis> is no unit vector, and was normalised")
    return Joint(
        joint.name, _KINDS[joint.type], joint.parent, joint.child, _origin(joint.element, joint.place), direction
    )


def limit_of(joint: UrdfJoint) -> UrdfLimit:
    """The limits of a moving joint.

    A velocity or effort of zero means "not specified" in practice, and is read as infinite like a missing one. So is
    any limit beyond `LARGEST`, such as the 1e16 that Gazebo writes. A joint without lower= and upper= turns or slides
    without end: URDF's default, 0, would lock it.
    """
    place = joint.place.inside("limit")
    element = child(joint.element, "limit", joint.place)
    lower, upper = -math.inf, math.inf
    if joint.type != "continuous":
        if element is None or (element.get("lower") is None and element.get("upper") is None):
            joint.place.note(
                f"{joint.type} without lower and upper limit, and was read as unlimited (URDF's default, 0, would "
                "lock it)"
            )
        else:
            lower, upper = _range(element, place)
    return UrdfLimit(lower, upper, *(_bound(element, name, place) for name in ("velocity", "acceleration", "effort")))


def _range(element: Element, place: Place) -> tuple[float, float]:
    lower = number(element, "lower", place, default=0.0, infinite=True)
    upper = number(element, "upper", place, default=0.0, infinite=True)
    if lower > upper and None in (element.get("lower"), element.get("upper")):
        place.note("has one end only, on the far side of URDF's default 0 for the other, and was read as open there")
        lower, upper = (lower, math.inf) if element.get("upper") is None else (-math.inf, upper)
    elif lower > upper:
        place.note("has lower above upper, and was read the other way round")
        lower, upper = upper, lower
    if lower > LARGEST or upper < -LARGEST:
        raise place.error(f"the range from {lower:g} to {upper:g} must begin within +-{LARGEST:g}")
    return lower if lower >= -LARGEST else -math.inf, upper if upper <= LARGEST else math.inf


def link_of(element: Element, whole: Place) -> Link:
    """A <link> of the file ``whole`` with its <inertial>, taken as it is: odd inertias are not refused here."""
    name = attribute(element, "name", whole.elsewhere("a <link>"))
    place = whole.elsewhere(f"link {name!r}")
    inertial = child(element, "inertial", place)
    if inertial is None:
        return Link(name)
    mass_element, tensor = child(inertial, "mass", place), child(inertial, "inertia", place)
    if mass_element is None:
        place.note("<inertial> without <mass>; was read as massless")
        return Link(name)
    place = place.inside("inertial")
    mass = number(mass_element, "value", place.inside("mass"))
    origin = _origin(inertial, place)
    rotation = origin[:3, :3]
    try:
        inertia = rotation @ _tensor(tensor, place) @ rotation.T
        if mass == 0.0:  # the centre of a massless body means nothing, but an inertia given to it counts
            return Link(name, InertialParameters.from_phi([0.0, 0.0, 0.0, 0.0, *inertia_entries(inertia)]))
        return Link(name, InertialParameters(mass, origin[:3, 3], inertia))
    except InputError as error:
        raise place.error(str(error)) from None


def _tensor(element: Element | None, place: Place) -> FloatArray:
    """(3, 3) of an <inertia>; zero without one, and products of inertia that are not given are zero."""
    if element is None:
        place.note("has no <inertia>; was read as a point mass")
        return np.zeros((3, 3))
    inside = place.inside("inertia")
    moments = [number(element, key, inside) for key in ("ixx", "iyy", "izz")]
    if any(element.get(key) is None for key in ("ixy", "ixz", "iyz")):
        inside.note("lacks products of inertia, which were read as 0 (Pinocchio reads all of such an inertia as 0)")
    xy, xz, yz = (number(element, key, inside, default=0.0) for key in ("ixy", "ixz", "iyz"))
    return np.array([[moments[0], xy, xz], [xy, moments[1], yz], [xz, yz, moments[2]]])


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
    if element is not None and element.get(name) is None and name != "acceleration":
        place.note(f"has no {name}, and was read as unlimited in it")
    value = 0.0 if element is None else number(element, name, place, default=0.0, infinite=True)
    if value < 0:
        raise place.error(f"attribute {name!r} must not be negative, got {value:g}")
    return value if 0.0 < value <= LARGEST else math.inf


@dataclass(frozen=True)
class UrdfTree:
    """Links and joints of a file; `read_tree` has checked that they form one tree.

    Attributes:
        place: the file, for messages, with how it departs from the format.
        name: of the robot.
        root: the link that hangs on no other.
        links: the <link> elements by name.
        below: the joints that stand on each link.
        above: the joint that carries each link; the root has none.
    """

    place: Place
    name: str
    root: str
    links: dict[str, Element]
    below: dict[str, list[UrdfJoint]]
    above: dict[str, UrdfJoint]

    @property
    def file(self) -> str:
        """Where it was read, for messages."""
        return self.place.file

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
                    f"{self.file}: {end!r} does not hang on {start!r}; choose a base between {self.root!r} and the tip"
                )
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]


def read_tree(source: str | os.PathLike[str]) -> UrdfTree:
    """The tree of a URDF file; refuses repeated names, loose ends, closed loops and several roots."""
    robot = read_urdf_root(source)
    file = str(Path(source))
    whole = Place(file, "<robot>")
    name = robot.get("name", "").strip()
    if not name:
        name = Path(source).stem
        whole.note(f"has no name, and is called {name!r} after its file")
    elements = robot.findall("link")
    names = [attribute(link, "name", whole.elsewhere("a <link>")) for link in elements]
    joints = [read_joint(element, whole) for element in robot.findall("joint")]
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
    tree = UrdfTree(whole, name, roots[0] if roots else "", links, below, above)
    if not roots or len(tree.joints_below(roots[0])) != len(names) - 1:
        raise whole.error("its joints form a closed loop: only trees are supported")
    return tree
