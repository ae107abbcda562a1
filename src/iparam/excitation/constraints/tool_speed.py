"""Keeps the tool, and what it carries, slow: the limit on speed where people are near (ISO/TS 15066, ISO 10218)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, Margins, MotionArrays, left_of_squares
from iparam.robot.collision.shapes import PayloadBox
from iparam.robot.kinematics import forward_kinematics, jacobian
from iparam.robot.model import Robot

FASTEST = 20.0
"""Of any arm's tool [m/s]."""


@dataclass(frozen=True, eq=False)
class ToolSpeedConstraint(Constraint):
    """No point of the tool's is faster than a limit: margin (s^2 - |v|^2) / (2 s), about s - |v| where little is left.

    The velocity is linear in the place, so that of all points of a box its corners are the fastest.

    Attributes:
        robot: the arm.
        speed: most of each point, in the base frame [m/s].
        points: (m, 3) in the tool frame [m].
        labels: what each point is.
    """

    robot: Robot
    speed: float
    points: FloatArray
    labels: tuple[str, ...]
    name: str = field(default="tool speed", init=False)
    unit: str = field(default="m/s", init=False)
    orders: tuple[int, ...] = field(default=(0, 1), init=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.speed) and self.speed > 0.0):
            raise InputError(f"the largest speed of the tool must be positive, got speed={self.speed!r} m/s")
        if self.speed > FASTEST:
            raise InputError(
                f"the largest speed of the tool, {self.speed:g} m/s, keeps it from nothing: no arm is faster than "
                f"{FASTEST:g} m/s. Is it in mm/s? It is given in m/s"
            )
        points = as_float_array(self.points, "points", (3,))
        if points.ndim != 2 or len(points) != len(self.labels):
            raise InputError(f"points must be (m, 3) with m labels, got {points.shape} and {len(self.labels)}")
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

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`."""
        return self._margins(self._velocities(motion)[0])

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        velocity, linear, angular = self._velocities(motion)
        turning = np.einsum("tin,tn->tin", angular, motion.dq)  # what each joint contributes
        passing = np.einsum("tmin,tn->tmin", linear, motion.dq)
        # A joint j turns all that the joints behind it contribute, and moves the point under those before it:
        # dv/dq_j = w_j x sum_{i >= j} v_i dq_i + (sum_{i < j} w_i dq_i) x v_j.
        behind = np.cumsum(passing[..., ::-1], axis=-1)[..., ::-1]
        before = np.cumsum(turning, axis=-1) - turning
        by_q = np.cross(angular[:, None], behind, axis=2) + np.cross(before[:, None], linear, axis=2)
        slopes = tuple(-np.einsum("tmi,tmin->tmn", velocity, by) / self.speed for by in (by_q, linear))
        return Margins(self._margins(velocity), slopes)

    def convex_part(self, motion: MotionArrays, weights: FloatArray) -> FloatArray:
        """See `Constraint`: the square of the speed is quadratic in the joint velocities."""
        linear = self._velocities(motion)[1]
        count, joints = motion.q.shape
        found = np.zeros((count, 2, joints, 2, joints))
        found[:, 1, :, 1, :] = np.einsum("tm,tmia,tmib->tab", weights, linear, linear) / self.speed
        return found

    def left(self, margins: FloatArray) -> FloatArray:
        """See `Constraint`: s - |v| [m/s]."""
        return left_of_squares(margins, self.speed)

    def _margins(self, velocity: FloatArray) -> FloatArray:
        return np.asarray((self.speed**2 - np.sum(velocity**2, axis=-1)) / (2.0 * self.speed))

    def _velocities(self, motion: MotionArrays) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Velocities (T, m, 3) in base axes, their Jacobians (T, m, 3, n), and that of the angular one (T, 3, n)."""
        J = jacobian(self.robot, motion.q, "base")
        angular, origin = J[:, :3], J[:, 3:]
        turn = forward_kinematics(self.robot, motion.q)[:, :3, :3]
        arm = np.einsum("tij,mj->tmi", turn, self.points)
        linear = origin[:, None] + np.cross(angular[:, None], arm[..., None], axis=2)
        return np.einsum("tmin,tn->tmi", linear, motion.dq), linear, angular
