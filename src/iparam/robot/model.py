"""`Robot`: a serial arm as a frozen value. What a description file says, checked, and nothing computed from it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import ContradictionError, InputError, RobotModelError, UnknownNameError
from iparam.robot.chain import Chain, build_chain
from iparam.robot.collision.geometry import LinkGeometry
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import is_transform


class JointKind(StrEnum):
    """How a joint moves its child link."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two links.

    Attributes:
        name: unique in the robot.
        kind: revolute (q in rad), prismatic (q in m) or fixed.
        parent: name of the link it stands on.
        child: name of the link it carries; the child's frame is the joint's frame after its motion.
        origin: (4, 4) T_parent_child at q = 0 [m].
        axis: (3,) unit vector of rotation or translation in the child's frame.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    origin: FloatArray
    axis: FloatArray = field(default_factory=lambda: frozen([0.0, 0.0, 1.0]))

    def __post_init__(self) -> None:
        if self.kind not in list(JointKind):
            raise RobotModelError(f"joint {self.name!r} is {self.kind!r}; known kinds: {', '.join(JointKind)}")
        object.__setattr__(self, "kind", JointKind(self.kind))
        origin = as_float_array(self.origin, f"origin of joint {self.name!r}")
        if origin.shape != (4, 4) or not is_transform(origin):
            raise RobotModelError(f"origin of joint {self.name!r} is not a rigid 4x4 transform")
        axis = as_float_array(self.axis, f"axis of joint {self.name!r}")
        norm = float(np.linalg.norm(axis))
        if axis.shape != (3,) or (norm < 1e-9 and self.kind is not JointKind.FIXED):
            raise RobotModelError(f"axis of joint {self.name!r} must be a non-zero 3-vector, got {axis.tolist()}")
        object.__setattr__(self, "origin", frozen(origin))
        object.__setattr__(self, "axis", frozen(axis / norm if norm > 0 else axis))


@dataclass(frozen=True)
class JointCoupling:
    """A joint that has no drive of its own and follows another: q = ratio * q_leader + offset.

    Attributes:
        joint, leader: names of moving joints; the leader follows no other.
        ratio: without unit, or [rad/m, m/rad].
        offset: [rad or m].
    """

    joint: str
    leader: str
    ratio: float
    offset: float = 0.0

    @property
    def relation(self) -> str:
        """Where it is, in words: "-0.5 times 'elbow' + 0.2"."""
        shift = "" if self.offset == 0.0 else f" {'+' if self.offset > 0.0 else '-'} {abs(self.offset):g}"
        return f"{self.ratio:g} times {self.leader!r}{shift}"


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body and its frame.

    Attributes:
        name: unique in the robot; also the name of its frame.
        inertial: mass, centre of mass and inertia in the link's frame, or None for a massless frame.
        geometry: the pieces of its shape, for collision tests; none if the description has none.
        visual: the pieces that it is drawn with, where the description gives them apart from ``geometry``.
    """

    name: str
    inertial: InertialParameters | None = None
    geometry: tuple[LinkGeometry, ...] = ()
    visual: tuple[LinkGeometry, ...] = ()


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of the n moving joints, in their order from the base. Unknown means infinite.

    Attributes:
        lower, upper: (n,) position [rad or m].
        velocity: (n,) [rad/s or m/s], the same both ways.
        acceleration: (n,) [rad/s^2 or m/s^2].
        torque: (n,) [N m or N].
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    torque: FloatArray

    def __post_init__(self) -> None:
        size = np.shape(self.lower)
        for spec in dataclasses.fields(self):
            try:
                value = np.array(getattr(self, spec.name), dtype=np.float64)
            except (TypeError, ValueError):
                raise RobotModelError(f"limits.{spec.name} must be numbers, got {getattr(self, spec.name)!r}") from None
            if value.ndim != 1 or value.shape != size or np.isnan(value).any():
                raise RobotModelError(f"limits.{spec.name} must be {size} numbers without NaN, got {value.tolist()}")
            if spec.name not in ("lower", "upper") and (value <= 0).any():
                raise RobotModelError(f"limits.{spec.name} must be positive, got {value.tolist()}")
            object.__setattr__(self, spec.name, frozen(value))
        if (self.lower > self.upper).any():
            joint = int(np.argmax(self.lower > self.upper))
            raise RobotModelError(
                f"limits of joint {joint + 1}: lower {self.lower[joint]:g} is above upper {self.upper[joint]:g}"
            )

    @classmethod
    def unlimited(cls, num_joints: int) -> JointLimits:
        """No limits at all, for ``num_joints`` joints."""
        infinite = np.full(num_joints, np.inf)
        return cls(-infinite, infinite, infinite, infinite, infinite)


@dataclass(frozen=True, eq=False)
class Robot:
    """A serial chain of revolute and prismatic joints from ``base_frame`` to ``tool_frame``.

    ``joints`` lists the chain in order from the base, fixed joints included, and may hold further fixed joints that
    hang rigid links on it. Every link's name is a frame that kinematics can be asked for.

    Attributes:
        name: e.g. "ur5e".
        joints: parents before children.
        links: the base link first.
        limits: of the moving joints.
        tool_frame: the link whose frame is the tool; ROS's ``tool0`` for the catalogue robots.
        armature: (n,) rotor inertia seen at the joint, motor inertia x gear ratio^2 [kg m^2 or kg].
        locked_joints: moving joints of the description that do not move the arm: those off the chain, whose links it
            carries, and those on it that were to be held.
        omitted_links: links of the description that were cut off: their mass is not part of the model.
        notes: where the description departs from its format, and how it was read; one sentence each.
        locked_at: positions of ``locked_joints`` [rad or m]; zeros if not given.
        root_frame: the link of the description that all others stand on; the base if not given.
        source: the description's file, for messages; "" without one.
        couplings: of moving joints that follow others (URDF's <mimic>), such as the wrist of a palletiser.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    limits: JointLimits
    tool_frame: str
    armature: FloatArray = field(default_factory=lambda: frozen([]))
    locked_joints: tuple[str, ...] = ()
    omitted_links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    locked_at: tuple[float, ...] = ()
    root_frame: str = ""
    source: str = ""
    couplings: tuple[JointCoupling, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "links", tuple(self.links))
        names = [link.name for link in self.links]
        for kind, every in (("link", names), ("joint", [joint.name for joint in self.joints])):
            repeated = [name for name, count in Counter(every).items() if count > 1]
            if repeated:
                raise RobotModelError(f"robot {self.name!r} has {kind} {repeated[0]!r} more than once")
        if self.tool_frame not in names:
            raise UnknownNameError("frame", self.tool_frame, names)
        known = set(names)
        for joint in self.joints:
            for end in (joint.parent, joint.child):
                if end not in known:
                    raise RobotModelError(f"joint {joint.name!r} refers to link {end!r}, which is not in the robot")
        count = len(self.moving_joints)
        if count == 0:
            raise RobotModelError(f"robot {self.name!r} has no moving joint between its base and {self.tool_frame!r}")
        if self.limits.lower.shape != (count,):
            raise RobotModelError(f"limits are for {self.limits.lower.size} joints, the robot moves {count}")
        armature = as_float_array(self.armature if np.size(self.armature) else np.zeros(count), "armature", (count,))
        if armature.shape != (count,) or (armature < 0).any():
            raise RobotModelError(f"armature must be {count} numbers, none negative, got {armature.tolist()}")
        object.__setattr__(self, "armature", frozen(armature))
        if self.root_frame not in known:
            object.__setattr__(self, "root_frame", self.base_frame)
        if not self.locked_at:
            object.__setattr__(self, "locked_at", (0.0,) * len(self.locked_joints))
        elif len(self.locked_at) != len(self.locked_joints):
            raise RobotModelError(f"{len(self.locked_joints)} joints are locked at {len(self.locked_at)} positions")
        followers = {coupling.joint for coupling in self.couplings}
        for coupling in self.couplings:
            for name in (coupling.joint, coupling.leader):
                if name not in self.joint_names:
                    raise UnknownNameError("moving joint", name, self.joint_names)
            if coupling.leader in followers:
                raise RobotModelError(f"joint {coupling.joint!r} follows {coupling.leader!r}, which follows another")
        self.chain  # noqa: B018  built here so that a description that is no serial chain is refused at once

    @cached_property
    def moving_joints(self) -> tuple[Joint, ...]:
        """The n joints that move, in order from the base: the order of q."""
        return tuple(joint for joint in self.joints if joint.kind is not JointKind.FIXED)

    @property
    def num_joints(self) -> int:
        """n, the number of moving joints."""
        return len(self.moving_joints)

    @cached_property
    def following(self) -> tuple[FloatArray, FloatArray]:
        """S (n, f) and c (n,) with q = S u + c, where u (f,) are the positions of the joints that follow no other."""
        names, led = self.joint_names, {coupling.joint: coupling for coupling in self.couplings}
        free = [name for name in names if name not in led]
        share, shift = np.zeros((len(names), len(free))), np.zeros(len(names))
        for row, name in enumerate(names):
            coupling = led.get(name, JointCoupling(name, name, 1.0))
            share[row, free.index(coupling.leader)] = coupling.ratio
            shift[row] = coupling.offset
        return frozen(share), frozen(shift)

    @cached_property
    def free_joints(self) -> tuple[int, ...]:
        """Indices of the moving joints that follow no other."""
        followers = {coupling.joint for coupling in self.couplings}
        return tuple(index for index, name in enumerate(self.joint_names) if name not in followers)

    def follow(self, q: FloatArray) -> FloatArray:
        """Positions q (..., n) with the joints that follow others where those take them; q itself if none does."""
        return self.with_followers(q[..., list(self.free_joints)]) if self.couplings else q

    def with_followers(self, u: FloatArray, *, rates: bool = False) -> FloatArray:
        """Positions (..., n), or ``rates`` of change, of all joints from those u (..., f) that follow no other."""
        share, shift = self.following
        return np.asarray(u @ share.T if rates else u @ share.T + shift)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in the order of q."""
        return tuple(joint.name for joint in self.moving_joints)

    def joint_label(self, index: int) -> str:
        """A moving joint as people are told of it: its number, from 1, and its name."""
        return f"joint {index + 1} ({self.joint_names[index]})"

    @property
    def base_frame(self) -> str:
        """Name of the fixed frame that poses are given in."""
        return self.links[0].name

    @property
    def lock(self) -> dict[str, float]:
        """Where joints are locked, as `load_robot` takes them [rad or m]; those at zero off the arm are so anyway."""
        above = {joint.child: joint for joint in self.joints}
        on_arm, link = set(), self.tool_frame
        while link != self.base_frame and link in above:
            on_arm.add(above[link].name)
            link = above[link].parent
        stand = zip(self.locked_joints, self.locked_at, strict=True)
        return {name: at for name, at in stand if at != 0.0 or name in on_arm}

    @property
    def frames(self) -> tuple[str, ...]:
        """All frames, the base first."""
        return tuple(link.name for link in self.links)

    @cached_property
    def chain(self) -> Chain:
        """The packed arrays that the native core reads."""
        return build_chain(self)

    @cached_property
    def reach(self) -> float:
        """A bound of the distance of the tool from the base: all links in a line, sliding joints drawn out [m]."""
        chain, limits = self.chain, self.limits
        steps = np.concatenate([chain.origins[:, 9:], chain.tool[:, 9:]])
        travel = np.maximum(np.abs(limits.lower), np.abs(limits.upper))
        with np.errstate(over="ignore"):  # a description may hold any number
            return float(np.linalg.norm(steps, axis=1).sum() + travel[chain.prismatic & np.isfinite(travel)].sum())

    @property
    def body_parameters(self) -> FloatArray:
        """(n, 10) phi of the n moving bodies, rigidly attached links included, each in its link's frame.

        ``joint_torque_regressor(...) @ robot.body_parameters.ravel()`` are the arm's torques, without rotor inertia.
        """
        return self.chain.link_phi

    def link(self, name: str) -> Link:
        """The link of that name."""
        for link in self.links:
            if link.name == name:
                return link
        raise UnknownNameError("link", name, self.frames)

    def with_tool(self, offset: ArrayLike, name: str = "tcp") -> Robot:
        """The same robot with its tool frame moved: a new frame ``name`` at ``offset`` from the present tool frame.

        Args:
            offset: (4, 4) T_tool_new [m].
            name: of the new frame.
        """
        mount = Joint(f"{name}_mount", JointKind.FIXED, self.tool_frame, name, as_float_array(offset, "offset", (4, 4)))
        distance = float(np.linalg.norm(mount.origin[:3, 3]))
        if distance > 10.0 * self.reach > 0.0:
            raise ContradictionError(
                f"the new tool frame is {distance:.4g} m from {self.tool_frame}, and {self.name} reaches "
                f"{self.reach:.3g} m: is the offset in millimetres? It is given in metres"
            )
        return dataclasses.replace(self, joints=(*self.joints, mount), links=(*self.links, Link(name)), tool_frame=name)

    def with_payload(self, payload: InertialParameters, name: str = "payload") -> Robot:
        """The same robot carrying ``payload``, given in the tool frame, rigidly on its tool frame."""
        mount = Joint(f"{name}_mount", JointKind.FIXED, self.tool_frame, name, np.eye(4))
        return dataclasses.replace(self, joints=(*self.joints, mount), links=(*self.links, Link(name, payload)))

    def with_armature(self, armature: ArrayLike) -> Robot:
        """The same robot with the given rotor inertias (n,) [kg m^2 or kg], one number for all joints or one each."""
        values = as_float_array(armature, "armature")
        if values.shape not in ((), (self.num_joints,)):
            raise InputError(
                argument="armature", problem=f"must be one number or {self.num_joints}, got shape {values.shape}"
            )
        return dataclasses.replace(self, armature=np.broadcast_to(values, (self.num_joints,)))

    def __reduce__(self) -> tuple[type[Robot], tuple[object, ...]]:
        # Through the constructor: unpickled arrays would be writable, and what is cached of them wrong.
        return (Robot, tuple(getattr(self, spec.name) for spec in dataclasses.fields(self)))

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.num_joints} joints, {self.base_frame!r} -> {self.tool_frame!r})"
