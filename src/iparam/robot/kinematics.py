"""Where the frames of a robot are and how its tool moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.native import rigid_body as native
from iparam.robot.batching import JointBatch, joint_batch, run_batched
from iparam.robot.model import Robot

Axes = Literal["tool", "base"]


@dataclass(frozen=True, eq=False)
class Tool0Twist:
    """Motion of the tool frame's origin, relative to the base, in tool or base axes.

    The linear acceleration is that of the point (the derivative of its velocity), without gravity; an accelerometer
    there reads ``linear_acceleration - g``.

    Attributes:
        pose: (..., 4, 4) T_base_tool [m].
        linear_velocity: (..., 3) [m/s].
        angular_velocity: (..., 3) [rad/s].
        linear_acceleration: (..., 3) [m/s^2].
        angular_acceleration: (..., 3) [rad/s^2].
        axes: "tool" or "base", the axes the vectors are expressed in.
    """

    pose: FloatArray
    linear_velocity: FloatArray
    angular_velocity: FloatArray
    linear_acceleration: FloatArray
    angular_acceleration: FloatArray
    axes: Axes = "tool"

    def in_base(self) -> Tool0Twist:
        """The same motion in base axes."""
        return self._turned("base", self.pose[..., :3, :3])

    def in_tool(self) -> Tool0Twist:
        """The same motion in tool axes."""
        return self._turned("tool", np.swapaxes(self.pose[..., :3, :3], -1, -2))

    def _turned(self, axes: Axes, rotation: FloatArray) -> Tool0Twist:
        if axes == self.axes:
            return self
        vectors = (self.linear_velocity, self.angular_velocity, self.linear_acceleration, self.angular_acceleration)
        v, w, a, alpha = (np.einsum("...ij,...j->...i", rotation, vector) for vector in vectors)
        return Tool0Twist(self.pose, v, w, a, alpha, axes)


def forward_kinematics(robot: Robot, q: ArrayLike, frame: str | None = None) -> FloatArray:
    """Pose of the tool frame, or of any other frame, in the base frame.

    Args:
        robot: the arm.
        q: (..., n) joint positions [rad or m].
        frame: one of ``robot.frames``; None for the tool frame.

    Returns:
        (..., 4, 4) T_base_frame [m].
    """
    if frame is not None and frame not in robot.frames:
        raise UnknownNameError("frame", frame, robot.frames)
    index = robot.frames.index(robot.tool_frame if frame is None else frame)
    batch = joint_batch(robot, q=q)
    return batch.unflatten(_frame_poses(robot, batch, slice(index, index + 1)))[..., 0, :, :]


def frame_poses(robot: Robot, q: ArrayLike) -> dict[str, FloatArray]:
    """Poses of all frames in the base frame: name -> (..., 4, 4) T_base_frame [m], the base first."""
    batch = joint_batch(robot, q=q)
    poses = batch.unflatten(_frame_poses(robot, batch, slice(None)))
    return {name: poses[..., i, :, :] for i, name in enumerate(robot.frames)}


def tool_motion(robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike) -> Tool0Twist:
    """Pose, velocity and acceleration of the tool frame, in tool axes.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad or m, per s, per s^2].
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    chain = robot.chain
    outputs = [batch.empty(4, 4), *(batch.empty(3) for _ in range(4))]
    run_batched(native.tool_motion, (chain.address,), (*batch.arrays, *outputs), batch.size)
    pose, v, w, a, alpha = (batch.unflatten(output) for output in outputs)
    return Tool0Twist(pose, v, w, a, alpha)


def joint_axes(robot: Robot, q: ArrayLike, frame: Axes = "tool") -> FloatArray:
    """The axes that joints turn the tool about: the upper half of :func:`jacobian`, without its kernel.

    Args:
        robot: the arm.
        q: (..., n) joint positions [rad or m].
        frame: the axes they are expressed in, "tool" or "base".

    Returns:
        (..., 3, n) unit vectors; zero for joints that slide.
    """
    _require_axes(frame)
    turns = body_poses(robot, q)[..., :3, :3]
    axes = np.swapaxes(turns[..., :-1, :, 2], -1, -2) * ~robot.chain.prismatic  # a joint turns about z of its body
    return np.asarray(np.swapaxes(turns[..., -1, :, :], -1, -2) @ axes if frame == "tool" else axes)


def body_poses(robot: Robot, q: ArrayLike) -> FloatArray:
    """(..., n + 1, 4, 4) poses in the base frame of the bodies behind the n joints (see `Chain`) and of the tool."""
    chain, count = robot.chain, robot.num_joints
    batch = joint_batch(robot, q=q)
    bodies = np.arange(1, count + 2, dtype=np.int64)
    bodies[-1] = count  # which the tool is fixed to
    bodies.flags.writeable = False
    offsets = frozen(np.concatenate([np.tile([*np.eye(3).ravel(), 0.0, 0.0, 0.0], (count, 1)), chain.tool]))
    return batch.unflatten(_fixed_poses(robot, batch, bodies, offsets))


def jacobian(robot: Robot, q: ArrayLike, frame: Axes = "tool") -> FloatArray:
    """Geometric Jacobian of the tool: [omega, v] of its origin = J dq.

    Args:
        robot: the arm.
        q: (..., n) joint positions [rad or m].
        frame: the axes it is expressed in, "tool" or "base"; the point is the tool's origin in both.

    Returns:
        (..., 6, n), rows [omega (3), v (3)].
    """
    batch = joint_batch(robot, q=q, dq=np.zeros(robot.num_joints))
    return batch.unflatten(_jacobians(robot, batch, frame)[0])


def jacobian_derivative(robot: Robot, q: ArrayLike, dq: ArrayLike, frame: Axes = "tool") -> FloatArray:
    """Time derivative of the entries of :func:`jacobian` along the motion dq.

    Args:
        robot: the arm.
        q, dq: (..., n) joint positions and velocities.
        frame: as in :func:`jacobian`; in tool axes the turning of the axes is part of the derivative.

    Returns:
        (..., 6, n).
    """
    batch = joint_batch(robot, q=q, dq=dq)
    return batch.unflatten(_jacobians(robot, batch, frame)[1])


def manipulability(robot: Robot, q: ArrayLike) -> FloatArray:
    """Yoshikawa's measure (...,): the product of the Jacobian's singular values; 0 at a singularity.

    It mixes units (rad and m), so it compares poses of one arm, not different arms.
    """
    return np.asarray(np.prod(_singular_values(robot, q), axis=-1))


def smallest_singular_value(robot: Robot, q: ArrayLike) -> FloatArray:
    """The Jacobian's smallest singular value (...,): the least tool speed that a unit joint speed brings."""
    return _singular_values(robot, q)[..., -1]


def is_singular(robot: Robot, q: ArrayLike, threshold: float = 1e-3) -> NDArray[np.bool_]:
    """Whether the arm is at a singularity (...,): smallest singular value below ``threshold``.

    An arm with fewer than six joints is judged by the motions that it has.

    Args:
        robot: the arm.
        q: (..., n) joint positions [rad; m for prismatic joints].
        threshold: of the smallest singular value of the Jacobian, rad and m alike.
    """
    if not threshold > 0:
        raise InputError(argument="threshold", problem=f"must be positive, got {threshold}")
    return np.asarray(smallest_singular_value(robot, q) < threshold)


def _singular_values(robot: Robot, q: ArrayLike) -> FloatArray:
    return np.asarray(np.linalg.svd(jacobian(robot, q, "base"), compute_uv=False), dtype=np.float64)


def _frame_poses(robot: Robot, batch: JointBatch, which: slice) -> FloatArray:
    return _fixed_poses(robot, batch, robot.chain.frame_bodies[which], robot.chain.frame_offsets[which])


def _fixed_poses(robot: Robot, batch: JointBatch, bodies: NDArray[np.int64], offsets: FloatArray) -> FloatArray:
    """(N, F, 4, 4) of frames with offsets (F, 12) from the bodies (F,) that they are fixed to."""
    chain, poses = robot.chain, batch.empty(bodies.size, 4, 4)
    constants = (chain.address, bodies.size, bodies.copy(), offsets.copy())
    run_batched(native.frame_poses, constants, (*batch.arrays, poses), batch.size)
    return poses


def _jacobians(robot: Robot, batch: JointBatch, frame: Axes) -> tuple[FloatArray, FloatArray]:
    _require_axes(frame)
    chain = robot.chain
    outputs = (batch.empty(6, robot.num_joints), batch.empty(6, robot.num_joints))
    run_batched(native.jacobian, (chain.address, frame == "tool"), (*batch.arrays, *outputs), batch.size)
    return outputs


def _require_axes(frame: Axes) -> None:
    if frame not in ("tool", "base"):
        raise UnknownNameError("Jacobian frame", frame, ("tool", "base"))
