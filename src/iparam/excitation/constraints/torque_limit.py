"""Keeps the joint torques that a motion needs within what the drives can give."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, Margins, MotionArrays
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.dynamics import inverse_dynamics, inverse_dynamics_derivatives
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters


@dataclass(frozen=True, eq=False)
class TorqueLimitConstraint(Constraint):
    """Joint torques of the arm, with what it is assumed to carry, within +-limits; infinite limits are left out.

    Friction is not in the model: leave room for it in the limits.

    Attributes:
        robot: the arm, without the payload.
        limits: (n,) [N m, or N for prismatic joints].
        payload: what it carries, in its tool frame; None for nothing.
        gravity: (3,) in base axes [m/s^2].
    """

    robot: Robot
    limits: FloatArray
    payload: InertialParameters | None = None
    gravity: FloatArray = field(default_factory=lambda: gravity_vector(STANDARD_GRAVITY))
    name: str = field(default="joint torque", init=False)
    unit: str = field(default="N m", init=False)
    orders: tuple[int, ...] = field(default=(0, 1, 2), init=False)
    scale: float = field(init=False)
    labels: tuple[str, ...] = field(init=False)
    _loaded: Robot = field(init=False, repr=False)

    def __post_init__(self) -> None:
        count = self.robot.num_joints
        limits = np.array(self.limits, dtype=np.float64)
        if limits.shape != (count,) or not (limits > 0).all():
            raise InputError(
                f"torque limits must be {count} positive numbers, infinite for none, got {limits.tolist()}"
            )
        limited = np.isfinite(limits)
        names = [joint for joint, finite in zip(self.robot.joint_names, limited, strict=True) if finite]
        loaded = self.robot if self.payload is None else self.robot.with_payload(self.payload, "assumed_payload")
        values = {
            "limits": frozen(limits),
            "gravity": gravity_vector(self.gravity),
            "scale": float(limits[limited].min()) if limited.any() else 1.0,
            "labels": tuple(f"{joint} {side}" for side in ("lower", "upper") for joint in names),
            "_loaded": loaded,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_robot(cls, robot: Robot, payload: InertialParameters | None = None) -> TorqueLimitConstraint:
        """The robot's own torque limits."""
        return cls(robot, robot.limits.torque, payload)

    def margins(self, motion: MotionArrays) -> FloatArray:
        """See `Constraint`; the lower bounds first, then the upper ones."""
        return self._margins(inverse_dynamics(self._loaded, motion.q, motion.dq, motion.ddq, self.gravity))

    def linearize(self, motion: MotionArrays) -> Margins:
        """See `Constraint`."""
        found = inverse_dynamics_derivatives(self._loaded, motion.q, motion.dq, motion.ddq, self.gravity)
        limited = np.isfinite(self.limits)
        slopes = (slope[:, limited] for slope in (found.by_q, found.by_dq, found.by_ddq))
        gradients = tuple(np.concatenate([slope, -slope], axis=1) for slope in slopes)
        return Margins(self._margins(found.torques), gradients)

    def _margins(self, torques: FloatArray) -> FloatArray:
        limited = np.isfinite(self.limits)
        values, bound = torques[:, limited], self.limits[limited]
        return np.concatenate([values + bound, bound - values], axis=1)
