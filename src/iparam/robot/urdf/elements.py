"""What a URDF's <link> and <joint> elements say, as values, and the tree that they make."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import InputError, IparamError
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.description.tree import DescriptionTree, JointBounds, Mimic, TreeJoint
from iparam.robot.model import Joint, JointKind, Link
from iparam.robot.urdf.references import find_referenced
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
_SIZES = {"cylinder": ("radius", "length"), "sphere": ("radius",)}
WORLD = "world"
"""What a robot may hang on without defining it."""

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


def joint_of(joint: UrdfJoint) -> Joint:
    """The joint with its origin and axis; refuses the types that a serial arm cannot have."""
    if joint.type in _UNSUPPORTED:
        raise joint.place.error(
            f"type {joint.type!r} is not supported on the arm; choose base and tip so that it is not between them"
        )
    axis = child(joint.element, "axis", joint.place)
    direction = np.array([1.0, 0.0, 0.0])
    if axis is not None and joint.type != "fixed":
        direction = vector(axis, "xyz", joint.place.inside("axis"), (1.0, 0.0, 0.0))
        if not np.linalg.norm(direction) > 1e-9:
            raise joint.place.inside("axis").error(f"attribute 'xyz' must not be zero, got {axis.get('xyz')!r}")
        if abs(np.linalg.norm(direction) - 1.0) > _NORMALISED:
            joint.place.note("its <axis> is no unit vector, and was normalised")
    return Joint(
        joint.name, _KINDS[joint.type], joint.parent, joint.child, _origin_of(joint.element, joint.place), direction
    )


def mimic_of(joint: UrdfJoint) -> Mimic | None:
    """What the joint follows, by its <mimic>; None if it has none."""
    element = child(joint.element, "mimic", joint.place)
    if element is None or joint.type == "fixed":
        return None
    place = joint.place.inside("mimic")
    ratio = number(element, "multiplier", place, default=1.0)
    return Mimic(attribute(element, "joint", place), ratio, number(element, "offset", place, default=0.0))


def limit_of(joint: UrdfJoint) -> JointBounds:
    """The limits of a moving joint.

    A velocity or effort of zero means "not specified" in practice, and is unknown (infinite) like a missing one. So is
    any limit beyond `LARGEST`, such as the 1e16 that Gazebo writes; the planner says what it does without. A joint
    without lower= and upper= turns or slides without end: URDF's default, 0, would lock it. Where a <safety_controller>
    gives a narrower range, that is the range, as it is for MoveIt: the controller slows the joint down at its ends.
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
        lower, upper = _soft_range(joint, lower, upper)
    elif element is not None and _given_range(element, place) < 2.0 * math.pi:
        joint.place.note("continuous, so that its lower and upper limit do not count: if they do, it is revolute")
    return JointBounds(lower, upper, *(_bound(element, name, place) for name in ("velocity", "acceleration", "effort")))


def _given_range(element: Element, place: Place) -> float:
    """How far a <limit> lets a joint turn; infinite if it does not say, or says 0, as many do."""
    lower, upper = (number(element, end, place, default=0.0, infinite=True) for end in ("lower", "upper"))
    return upper - lower if upper != lower else math.inf


def _soft_range(joint: UrdfJoint, lower: float, upper: float) -> tuple[float, float]:
    """A range as the <safety_controller> narrows it, if there is one that leaves any."""
    element, place = child(joint.element, "safety_controller", joint.place), joint.place.inside("safety_controller")
    if element is None:
        return lower, upper
    ends = (("soft_lower_limit", -math.inf), ("soft_upper_limit", math.inf))
    low, high = (
        open_end if element.get(name) is None else number(element, name, place, infinite=True)
        for name, open_end in ends
    )
    low, high = max(low, lower), min(high, upper)
    if not low < high or (low, high) == (lower, upper):
        return lower, upper
    joint.place.note("has a narrower range by its <safety_controller>, which is taken")
    return low, high


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
    shapes = _geometry_of(element, place), _visual_of(element, place)
    inertial = child(element, "inertial", place)
    if inertial is None:
        return Link(name, None, *shapes)
    mass_element, tensor = child(inertial, "mass", place), child(inertial, "inertia", place)
    if mass_element is None:
        place.note("<inertial> without <mass>; was read as massless")
        return Link(name, None, *shapes)
    place = place.inside("inertial")
    mass = number(mass_element, "value", place.inside("mass"))
    origin = _origin_of(inertial, place)
    rotation = origin[:3, :3]
    try:
        inertia = rotation @ _tensor(tensor, place) @ rotation.T
        if mass == 0.0:  # the centre of a massless body means nothing, but an inertia given to it counts
            massless = InertialParameters.from_phi([0.0, 0.0, 0.0, 0.0, *inertia_entries(inertia)])
            return Link(name, massless, *shapes)
        return Link(name, InertialParameters(mass, origin[:3, 3], inertia), *shapes)
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


def _bound(element: Element | None, name: str, place: Place) -> float:
    value = 0.0 if element is None else number(element, name, place, default=0.0, infinite=True)
    if value < 0:
        raise place.error(f"attribute {name!r} must not be negative, got {value:g}")
    return value if 0.0 < value <= LARGEST else math.inf


def _origin_of(element: Element, place: Place) -> FloatArray:
    """(4, 4) pose of an <origin>, the identity if there is none."""
    origin = child(element, "origin", place)
    if origin is None:
        return np.eye(4)
    place = place.inside("origin")
    if origin.get("quat_xyzw") is not None:
        raise place.error("attribute 'quat_xyzw' is not supported; write the rotation as rpy")
    rpy = vector(origin, "rpy", place, (0.0, 0.0, 0.0))
    return transform_from(rotation_from_rpy(rpy), vector(origin, "xyz", place, (0.0, 0.0, 0.0)))


def _geometry_of(link: Element, place: Place) -> tuple[LinkGeometry, ...]:
    """The shape of a <link>: its <collision> elements, or its <visual> ones if it has none.

    Masses and joints are good without it, so a piece that cannot be understood does not refuse the file: it stands
    there without a mesh, and whoever needs the shape says so.
    """
    return _pieces(link, "collision" if link.find("collision") is not None else "visual", place)


def _visual_of(link: Element, place: Place) -> tuple[LinkGeometry, ...]:
    """What a <link> is drawn with, if that is not its `_geometry_of` already: <visual> beside <collision>."""
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
    pose = _origin_of(element, place)
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


def read_tree(source: str | os.PathLike[str], text: bytes | None = None) -> DescriptionTree:
    """The tree of a URDF file; refuses repeated names, loose ends, closed loops and several roots.

    Args:
        source: path of the file.
        text: the URDF, if it is not what the file holds but was made from that.
    """
    robot = read_urdf_root(source, text)
    whole = Place(str(Path(source)), "<robot>")
    name = robot.get("name", "").strip()
    if not name:
        name = Path(source).stem
        whole.note(f"has no name, and is called {name!r} after its file")
    links = [
        (attribute(element, "name", whole.elsewhere("a <link>")), partial(link_of, element, whole))
        for element in robot.findall("link")
    ]
    joints = [_tree_joint(read_joint(element, whole)) for element in robot.findall("joint")]
    if any(joint.parent == WORLD for joint in joints) and WORLD not in dict(links):
        whole.note(f"hangs on a link {WORLD!r} that it does not define, and which was added, as Drake reads it")
        links.insert(0, (WORLD, partial(Link, WORLD)))
    return DescriptionTree.build(whole, name, links, joints)


def _tree_joint(joint: UrdfJoint) -> TreeJoint:
    return TreeJoint(
        name=joint.name,
        parent=joint.parent,
        child=joint.child,
        is_fixed=joint.type == "fixed",
        place=joint.place,
        read=partial(joint_of, joint),
        read_origin=partial(_origin_of, joint.element, joint.place),
        read_bounds=partial(limit_of, joint),
        refusal=f"type {joint.type!r} is not supported" if joint.type in _UNSUPPORTED else "",
        mimics=joint.element.find("mimic") is not None,
        read_mimic=partial(mimic_of, joint),
    )
