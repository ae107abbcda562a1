"""`DescriptionTree`: links and joints of a description, whatever its format. Readers make it, `cut_arm` takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import RobotModelError, UnknownNameError
from iparam.robot.model import Joint, JointKind, Link
from iparam.robot.urdf.xml import Place
from iparam.spatial.transforms import exp_so3, transform_from


@dataclass(frozen=True)
class JointBounds:
    """Limits of one moving joint, infinite where unknown: [rad or m], per second, per second^2, [N m or N]."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    acceleration: float = np.inf
    torque: float = np.inf


@dataclass(frozen=True)
class Mimic:
    """What a joint follows: q = ratio * q_leader + offset [rad or m]."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """A joint of a description: its ends, and the rest, read only if the arm needs it.

    What is wrong with a joint that is neither on the arm nor carried by it does not matter.

    Attributes:
        name, parent, child: of the joint and of the links that it connects.
        is_fixed: the child does not move in its parent.
        place: where it stands, for messages.
        read: the joint with its origin and axis; an error if no serial arm can have it.
        read_origin: (4, 4) T_parent_child at zero, alone.
        read_bounds: its limits.
        refusal: why it can neither move an arm nor be held still; "" if it can.
        mimics: it follows another joint.
        read_mimic: how; None if it does not, or in a way that is not linear.
        armature: rotor inertia at the joint [kg m^2 or kg].
    """

    name: str
    parent: str
    child: str
    is_fixed: bool
    place: Place
    read: Callable[[], Joint]
    read_origin: Callable[[], FloatArray]
    read_bounds: Callable[[], JointBounds]
    refusal: str = ""
    mimics: bool = False
    armature: float = 0.0
    read_mimic: Callable[[], Mimic | None] = lambda: None

    @classmethod
    def known(
        cls,
        joint: Joint,
        place: Place,
        bounds: JointBounds | None = None,
        mimics: bool = False,
        armature: float = 0.0,
        mimic: Mimic | None = None,
    ) -> Self:
        """A joint that was read already."""
        return cls(
            name=joint.name,
            parent=joint.parent,
            child=joint.child,
            is_fixed=joint.kind is JointKind.FIXED,
            place=place,
            read=lambda: joint,
            read_origin=lambda: joint.origin,
            read_bounds=lambda: JointBounds() if bounds is None else bounds,
            mimics=mimics or mimic is not None,
            armature=armature,
            read_mimic=lambda: mimic,
        )

    @classmethod
    def refused(cls, name: str, parent: str, child: str, place: Place, refusal: str) -> Self:
        """A joint of a kind that no serial arm has."""
        fail: Callable[[], Joint] = partial(_refuse, place, refusal)
        return cls(name, parent, child, False, place, fail, lambda: np.eye(4), JointBounds, refusal)

    def locked(self, position: float = 0.0) -> Joint:
        """The joint as a fixed one, held at ``position`` [rad or m]."""
        if position == 0.0 or self.is_fixed:
            origin = self.read_origin()
        else:
            joint = self.read()
            turning = joint.kind is JointKind.REVOLUTE
            motion = (
                transform_from(exp_so3(position * joint.axis), np.zeros(3))
                if turning
                else transform_from(np.eye(3), position * joint.axis)
            )
            origin = joint.origin @ motion
        return Joint(self.name, JointKind.FIXED, self.parent, self.child, origin)


@dataclass(frozen=True, eq=False)
class DescriptionTree:
    """Links and joints that form one tree.

    Attributes:
        place: the file, for messages, with how it departs from the format.
        name: of the robot.
        root: the link that hangs on no other.
        links: by name, each read when it is asked for.
        below: the joints that stand on each link.
        above: the joint that carries each link; the root has none.
        frames: those of the links that only mark a place on another.
    """

    place: Place
    name: str
    root: str
    links: Mapping[str, Callable[[], Link]]
    below: Mapping[str, list[TreeJoint]]
    above: Mapping[str, TreeJoint]
    frames: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        whole: Place,
        name: str,
        links: Iterable[tuple[str, Callable[[], Link]]],
        joints: Iterable[TreeJoint],
        frames: Iterable[str] = (),
    ) -> Self:
        """The tree of links and joints; refuses repeated names, loose ends, closed loops and several roots."""
        named, edges = list(links), list(joints)
        names = [link for link, _ in named]
        if not names:
            raise whole.error("has no <link>")
        for kind, every in (("link", names), ("joint", [joint.name for joint in edges])):
            if repeated := [key for key, count in Counter(every).items() if count > 1]:
                raise whole.error(f"{kind} {repeated[0]!r} is defined more than once")
        known = dict(named)
        below: dict[str, list[TreeJoint]] = {}
        above: dict[str, TreeJoint] = {}
        for joint in edges:
            for end in (joint.parent, joint.child):
                if end not in known:
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
            raise whole.error(
                f"has {len(roots)} root links ({', '.join(map(repr, roots[:10]))}): connect them by joints"
            )
        tree = cls(whole, name, roots[0] if roots else "", known, below, above, frozenset(frames))
        if not roots or len(tree.joints_below(roots[0])) != len(names) - 1:
            raise whole.error("its joints form a closed loop: only trees are supported")
        return tree

    @property
    def file(self) -> str:
        """Where it was read, for messages."""
        return self.place.file

    def known(self, link: str, argument: str = "") -> str:
        """``link``, which ``argument`` names, if it exists."""
        if link not in self.links:
            raise UnknownNameError("link", link, self.links, hint=f"(in {self.file})", argument=argument)
        return link

    def joints_below(self, start: str) -> list[TreeJoint]:
        """All joints that ``start`` carries, parents before children."""
        joints = list(self.below.get(start, []))
        for joint in joints:  # grows while it is walked
            joints += self.below.get(joint.child, [])
        return joints

    def path(self, start: str, end: str) -> list[TreeJoint]:
        """The joints from ``start`` down to ``end``."""
        joints: list[TreeJoint] = []
        link = end
        while link != start:
            if link not in self.above:
                raise RobotModelError(
                    f"{self.file}: {end!r} does not hang on {start!r}; choose a base between {self.root!r} and the tip"
                )
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]


def _refuse(place: Place, refusal: str) -> Joint:
    raise place.error(f"{refusal} on the arm; choose base and tip so that it is not between them")
