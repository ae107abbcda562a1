"""Keeps the tool, what it carries and the elbow slow, and the momentum of the whole small: the limits that controllers
enforce by themselves, and those on speed where people are near (ISO/TS 15066, ISO 10218).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, Margins, MotionArrays, left_of_squares
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.kinematics import body_poses
from iparam.robot.model import Robot

FASTEST = 20.0
"""Of any arm's tool [m/s]."""

TOOL_SPEED, ELBOW_SPEED, MOMENTUM = "tool speed", "elbow speed", "momentum"
CONTROLLER_LIMITS = frozenset((TOOL_SPEED, ELBOW_SPEED, MOMENTUM))
"""Names of the constraints here, which a controller's safety configuration has limits for."""


class _VectorLimit(Constraint):
    """Vectors that are linear in the joint velocities are shorter than a bound b: margin (b^2 - |v|^2) / (2 b), about
    b - |v| where little is left.
    """

    robot: Robot
    orders: tuple[int, ...] = (0, 1)

    @property
    @abstractmethod
    def bound(self) -> float:
        """Of the vectors' length [unit]."""

    @abstractmethod
    def _columns(self, axes: _JointAxes) -> FloatArray:
        """(T, m, 3, n) what each joint contributes to each vector for a velocity of 1, in base axes."""

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self._margins(self.vectors(motion))

    def vectors(self, motion: MotionArrays) -> FloatArray:
        """(T, m, 3) in base axes [unit]."""
        columns = self._columns(_JointAxes.at(self.robot, motion.q))
        return np.asarray(np.einsum("tmin,tn->tmi", columns, motion.dq))

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        axes = _JointAxes.at(self.robot, motion.q)
        columns = self._columns(axes)
        vectors = np.einsum("tmin,tn->tmi", columns, motion.dq)
        turning = np.einsum("tin,tn->tin", axes.turning, motion.dq)  # what each joint contributes
        passing = np.einsum("tmin,tn->tmin", columns, motion.dq)
        # A joint j turns all that the joints behind it contribute, and moves the point under those before it:
        # dv/dq_j = w_j x sum_{i >= j} v_i dq_i + (sum_{i < j} w_i dq_i) x v_j.
        behind = np.cumsum(passing[..., ::-1], axis=-1)[..., ::-1]
        before = np.cumsum(turning, axis=-1) - turning
        by_q = np.cross(axes.turning[:, None], behind, axis=2) + np.cross(before[:, None], columns, axis=2)
        slopes = tuple(-np.einsum("tmi,tmin->tmn", vectors, by) / self.bound for by in (by_q, columns))
        return Margins(self._margins(vectors), slopes)

    def convex_part(self, motion: MotionArrays, weights: FloatArray) -> FloatArray:
        """See `Constraint`: the square of the length is quadratic in the joint velocities."""
        columns = self._columns(_JointAxes.at(self.robot, motion.q))
        count, joints = motion.q.shape
        found = np.zeros((count, 2, joints, 2, joints))
        found[:, 1, :, 1, :] = np.einsum("tm,tmia,tmib->tab", weights, columns, columns) / self.bound
        return found

    def left(self, margins: FloatArray) -> FloatArray:
        """See `Constraint`: b - |v| [unit]."""
        return left_of_squares(margins, self.bound)

    def _margins(self, vectors: FloatArray) -> FloatArray:
        return np.asarray((self.bound**2 - np.sum(vectors**2, axis=-1)) / (2.0 * self.bound))


@dataclass(frozen=True, eq=False)
class _JointAxes:
    """The joints at T poses, in base axes.

    Attributes:
        turning, sliding: (T, 3, n) the axis of each joint if it turns, or slides; else zero.
        poses: (T, n, 4, 4) of the bodies behind the joints.
    """

    turning: FloatArray
    sliding: FloatArray
    poses: FloatArray

    @classmethod
    def at(cls, robot: Robot, q: FloatArray) -> _JointAxes:
        poses = body_poses(robot, q)[:, :-1]
        axes = np.swapaxes(poses[:, :, :3, 2], 1, 2)  # a joint moves about or along z of its body
        return cls(axes * ~robot.chain.prismatic, axes * robot.chain.prismatic, poses)

    def columns(self, places: FloatArray, bodies: NDArray[np.int64]) -> FloatArray:
        """(T, m, 3, n) velocities of points at ``places`` (T, m, 3), each fixed to the body of that number (m,)."""
        arms = places[:, :, :, None] - np.swapaxes(self.poses[:, :, :3, 3], 1, 2)[:, None]
        moved = np.cross(self.turning[:, None], arms, axis=2) + self.sliding[:, None]
        return np.asarray(moved * (np.arange(self.poses.shape[1]) < bodies[:, None])[:, None])


@dataclass(frozen=True, eq=False)
class ToolSpeedConstraint(_VectorLimit):
    """No point of the tool's, or of another frame's, is faster than a limit.

    The velocity is linear in the place, so that of all points of a box its corners are the fastest.

    Attributes:
        robot: the arm.
        speed: most of each point, in the base frame [m/s].
        points: (m, 3) in the frame [m].
        labels: what each point is.
        frame: that the points are fixed to; "" for the tool frame.
        name: of the limit.
    """

    robot: Robot
    speed: float
    points: FloatArray
    labels: tuple[str, ...]
    frame: str = ""
    name: str = TOOL_SPEED
    unit: str = field(default="m/s", init=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.speed) and self.speed > 0.0):
            raise InputError(argument="speed", value=self.speed, expected="positive [m/s]")
        if self.speed > FASTEST:
            raise InputError(
                f"the largest speed of the tool, {self.speed:g} m/s, keeps it from nothing: no arm is faster than "
                f"{FASTEST:g} m/s. Is it in mm/s? It is given in m/s",
                argument="speed",
            )
        points = as_float_array(self.points, "points", (3,))
        if points.ndim != 2 or len(points) != len(self.labels):
            raise InputError(
                argument="points", problem=f"must be (m, 3) with m labels, got {points.shape} and {len(self.labels)}"
            )
        object.__setattr__(self, "points", frozen(points))
        object.__setattr__(self, "scale", 0.5 * float(self.speed))

    @classmethod
    def of_tool(cls, robot: Robot, speed: float, payload: PayloadBox | None = None) -> ToolSpeedConstraint:
        """The tool's origin, and the corners of the box that encloses what it carries."""
        points, labels = [np.zeros(3)], ["tool"]
        if payload is not None:
            for signs in product((-1.0, 1.0), repeat=3):
                named = zip(signs, "xyz", strict=True)
                points.append(payload.center + payload.rotation @ (np.array(signs) * payload.half_extents))
                labels.append("payload corner " + " ".join(f"{'-+'[sign > 0]}{axis}" for sign, axis in named))
        return cls(robot, float(speed), np.array(points), tuple(labels))

    @classmethod
    def of_elbow(cls, robot: Robot, speed: float, frame: str) -> ToolSpeedConstraint:
        """The origin of the frame that the elbow turns."""
        return cls(robot, float(speed), np.zeros((1, 3)), ("elbow",), frame, ELBOW_SPEED)

    @property
    def bound(self) -> float:
        """[m/s]."""
        return self.speed

    def _columns(self, axes: _JointAxes) -> FloatArray:
        chain, frame = self.robot.chain, self.robot.frames.index(self.frame or self.robot.tool_frame)
        body, offset = chain.frame_bodies[frame], chain.frame_offsets[frame]
        local = self.points @ offset[:9].reshape(3, 3).T + offset[9:]
        pose = axes.poses[:, body - 1]
        places = np.einsum("tij,mj->tmi", pose[:, :3, :3], local) + pose[:, None, :3, 3]
        return axes.columns(places, np.full(len(local), body))


@dataclass(frozen=True, eq=False)
class MomentumConstraint(_VectorLimit):
    """The sum of mass times velocity of all that moves is less than a limit.

    Attributes:
        robot: the arm, with what it carries.
        momentum: most of it, in the base frame [kg m/s].
    """

    robot: Robot
    momentum: float
    name: str = field(default=MOMENTUM, init=False)
    unit: str = field(default="kg m/s", init=False)
    labels: tuple[str, ...] = field(default=("arm and load",), init=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", 0.5 * float(self.momentum))

    @property
    def bound(self) -> float:
        """[kg m/s]."""
        return self.momentum

    def _columns(self, axes: _JointAxes) -> FloatArray:
        mass, moment = self.robot.chain.phi[:, 0], self.robot.chain.phi[:, 1:4]
        centers = np.divide(moment, mass[:, None], out=np.zeros_like(moment), where=mass[:, None] > 0.0)
        places = np.einsum("tmij,mj->tmi", axes.poses[:, :, :3, :3], centers) + axes.poses[:, :, :3, 3]
        columns = axes.columns(places, np.arange(1, len(mass) + 1))
        return np.asarray(np.einsum("m,tmin->tin", mass, columns)[:, None])
