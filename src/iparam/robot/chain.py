"""A robot packed into the arrays that the native core reads.

Fixed joints are folded away and rigidly connected links are lumped: n moving bodies remain. The recursions move every
joint about or along z, so a body's frame here is its link's frame turned such that z is the joint axis. For joints that
are about z anyway, as all joints of the UR arms, the two are the same; ``link_turns`` leads from one to the other.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, frozen
from iparam.errors import RobotModelError
from iparam.native.library import read_only_pointer

if TYPE_CHECKING:
    from iparam.robot.model import Joint, Robot

IDENTITY = np.eye(4)


@dataclass(frozen=True, eq=False)
class Chain:
    """Packed arrays of a serial chain with n moving bodies; all read-only.

    Attributes:
        origins: (n, 12) rotation (9, by rows) and translation (3) from the parent body's frame to this one's at q = 0.
        prismatic: (n,) True for prismatic joints.
        tool: (1, 12) rotation and translation from the last body's frame to the tool's.
        phi: (n, 10) lumped inertial parameters of each body in its frame, about its origin.
        armature: (n,) rotor inertia at the joint.
        link_turns: (n, 9) rotation of the link's frame in the body's: x_body = R x_link. They have the same origin.
        link_phi: (n, 10) the same lumped parameters as phi, in the links' frames.
        frame_bodies: (F,) the body each frame is fixed to: 0 the base, i the body behind joint i.
        frame_offsets: (F, 12) rotation and translation from that body's frame to the frame.
        packed: all of it up to link_phi in one array, as `Chain` of src/native/chain.hpp has it: the tool, then a row
            a body.
    """

    origins: FloatArray
    prismatic: NDArray[np.bool_]
    tool: FloatArray
    phi: FloatArray
    armature: FloatArray
    link_turns: FloatArray
    link_phi: FloatArray
    frame_bodies: NDArray[np.int64]
    frame_offsets: FloatArray
    packed: FloatArray

    @cached_property
    def address(self) -> int:
        """Of `packed`, for the kernels."""
        return read_only_pointer(self.packed)

    def __reduce__(self) -> tuple[type[Chain], tuple[object, ...]]:
        # Through the constructor: an address means nothing in another process.
        return (Chain, tuple(getattr(self, spec.name) for spec in dataclasses.fields(self)))


def build_chain(robot: Robot) -> Chain:
    """Fold fixed joints, lump rigid links and pack the rest; refuse what is not a serial chain."""
    body_of, offset_of = {robot.base_frame: 0}, {robot.base_frame: IDENTITY}
    origins: list[FloatArray] = []
    turns: list[FloatArray] = []
    for joint in robot.joints:
        if joint.parent not in body_of:
            raise RobotModelError(
                f"joint {joint.name!r} comes before the joint that carries its parent {joint.parent!r}"
            )
        if joint.child in body_of:
            raise RobotModelError(f"link {joint.child!r} is reached twice: closed loops are not supported")
        origin = offset_of[joint.parent] @ joint.origin
        if joint.kind == "fixed":
            body_of[joint.child], offset_of[joint.child] = body_of[joint.parent], origin
            continue
        if body_of[joint.parent] != len(origins):
            raise RobotModelError(f"joint {joint.name!r} branches off the chain: only serial arms are supported")
        turn = np.eye(4)
        turn[:3, :3] = _z_to(joint)
        origins.append(_pack(origin @ turn))
        turns.append(turn)
        body_of[joint.child], offset_of[joint.child] = len(origins), turn.T
    missing = [link.name for link in robot.links if link.name not in body_of]
    if missing:
        raise RobotModelError(f"link {missing[0]!r} is not connected to the base {robot.base_frame!r}")
    count = len(origins)
    if body_of[robot.tool_frame] != count:
        raise RobotModelError(f"tool frame {robot.tool_frame!r} is not behind the last moving joint")
    phi, link_phi = np.zeros((count + 1, 10)), np.zeros((count + 1, 10))
    for link in robot.links:
        if link.inertial is not None:
            body = body_of[link.name]
            phi[body] += link.inertial.transformed(offset_of[link.name]).phi
            turn = turns[body - 1] if body else IDENTITY
            link_phi[body] += link.inertial.transformed(turn @ offset_of[link.name]).phi
    prismatic = np.array([joint.kind == "prismatic" for joint in robot.moving_joints])
    tool = _pack(offset_of[robot.tool_frame])
    link_turns = np.reshape([turn[:3, :3].T.ravel() for turn in turns], (count, 9))
    bodies = np.column_stack(
        [np.reshape(origins, (count, 12)), prismatic, phi[1:], robot.armature, link_turns, link_phi[1:]]
    )
    return Chain(
        origins=frozen(origins),
        prismatic=_read_only(prismatic),
        tool=frozen([tool]),
        phi=frozen(phi[1:]),
        armature=frozen(robot.armature),
        link_turns=frozen(link_turns),
        link_phi=frozen(link_phi[1:]),
        packed=frozen(np.concatenate([tool, bodies.ravel()])),
        frame_bodies=_read_only(np.array([body_of[link.name] for link in robot.links], dtype=np.int64)),
        frame_offsets=frozen([_pack(offset_of[link.name]) for link in robot.links]),
    )


def _z_to(joint: Joint) -> FloatArray:
    """(3, 3) a rotation that takes z to the joint's axis; the identity for an axis that is z to the last digit."""
    axis = joint.axis
    if (axis == (0.0, 0.0, 1.0)).all():
        return np.eye(3)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _pack(transform: FloatArray) -> FloatArray:
    return np.concatenate([transform[:3, :3].ravel(), transform[:3, 3]])


def _read_only(array: NDArray) -> NDArray:  # type: ignore[type-arg]
    array.flags.writeable = False
    return array
