"""The information that a motion gives about the arm itself, from its joint torques."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import MotionArrays
from iparam.excitation.constraints.usable_limits import usable_limits
from iparam.excitation.information.information import STEP, Information
from iparam.native.planning import torque_curvature, torque_gram_products
from iparam.regressor.identifiability import base_parameters
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot
from iparam.trajectory.conditions import PlanningLimits


@dataclass(frozen=True, eq=False)
class TorqueInformation(Information):
    """About the r base parameters of an arm, from its joint torques; `of_robot` finds them.

    Attributes:
        robot: the arm.
        independent: (r,) the columns of the joint-torque regressor that stand for them, sorted:
            `BaseParameters.independent`.
        row_weights: (n,) weight of each squared joint torque: 1 for raw SI units, 1 / sd^2 for known noise.
        column_scales: (r,) unit that each base parameter is counted in: 1 for raw SI units, its expected size for
            relative precision.
        gravity: (3,) in base axes [m/s^2].
    """

    robot: Robot
    independent: NDArray[np.int64]
    row_weights: FloatArray
    column_scales: FloatArray
    gravity: FloatArray = field(default_factory=lambda: gravity_vector(STANDARD_GRAVITY))
    size: int = field(init=False)
    _first: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        joints = self.robot.num_joints
        columns = np.array(self.independent)
        inside = columns.dtype.kind in "iu" and columns.ndim == 1 and columns.size > 0
        if not inside or columns[0] < 0 or columns[-1] >= 10 * joints or (np.diff(columns) <= 0).any():
            raise InputError(
                argument="independent",
                problem=f"must be sorted columns from 0 to {10 * joints - 1}, each once, got {columns}",
            )
        for name, count in (("row_weights", joints), ("column_scales", columns.size)):
            values = as_float_array(getattr(self, name), name)
            if values.shape != (count,) or (values <= 0).any():
                raise InputError(argument=name, value=values, expected=f"{count} positive numbers")
            object.__setattr__(self, name, np.array(values))
        object.__setattr__(self, "independent", columns.astype(np.int64))
        object.__setattr__(self, "gravity", gravity_vector(self.gravity))
        object.__setattr__(self, "size", int(columns.size))
        object.__setattr__(self, "_first", np.searchsorted(columns, 10 * np.arange(joints + 1)).astype(np.int64))

    @classmethod
    def of_robot(
        cls,
        robot: Robot,
        row_weights: ArrayLike = 1.0,
        column_scales: ArrayLike = 1.0,
        gravity: ArrayLike = STANDARD_GRAVITY,
    ) -> TorqueInformation:
        """About all base parameters of a robot.

        Args:
            robot: the arm.
            row_weights, column_scales: one number for all, or one each.
            gravity: (3,) in base axes [m/s^2].
        """
        independent = base_parameters(robot, gravity=gravity).independent
        weights, scales = (
            np.broadcast_to(values, count) if values.shape == () else values
            for values, count in (
                (as_float_array(row_weights, "row_weights"), robot.num_joints),
                (as_float_array(column_scales, "column_scales"), independent.size),
            )
        )
        return cls(robot, independent, weights, scales, gravity_vector(gravity))

    def gram(self, motion: MotionArrays) -> FloatArray:
        """See `Information`."""
        matrix = joint_torque_regressor(self.robot, motion.q, motion.dq, motion.ddq, self.gravity)
        scaled = matrix[..., self.independent] * np.sqrt(self.row_weights)[:, None] * self.column_scales
        stacked = scaled.reshape(-1, self.size)
        return np.asarray(stacked.T @ stacked)

    def gram_changes(self, motion: MotionArrays) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        gram, changes = np.empty((self.size, self.size)), np.empty((count, 3, joints, self.size, self.size))
        constants = (self.gravity, self.independent, self._first, self.row_weights, self.column_scales)
        torque_gram_products(self.robot.chain.address, *constants, motion.q, motion.dq, motion.ddq, gram, changes)
        return gram, changes

    def weighted_curvature(self, motion: MotionArrays, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        gradient, hessian = np.empty((count, 3 * joints)), np.empty((count, 3 * joints, 3 * joints))
        scaled = 0.5 * (weights + weights.T) * np.multiply.outer(self.column_scales, self.column_scales)
        constants = (self.gravity, self.size, self.independent, self._first, self.row_weights, scaled)
        torque_curvature(self.robot.chain.address, *constants, motion.q, motion.dq, motion.ddq, STEP, gradient, hessian)
        return gradient, hessian


def arm_scales(information: TorqueInformation, samples: int = 500, seed: int = 0) -> FloatArray:
    """(r,) one over the RMS of each column of the joint-torque regressor in random motion.

    Base parameters counted in these units load the joints equally, so the condition number measures how well the motion
    tells them apart and not how small they are.
    """
    robot = information.robot
    limits = robot.limits
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    usable = usable_limits(robot, PlanningLimits())
    q = rng.uniform(lower, upper, (samples, robot.num_joints))
    dq, ddq = (rng.uniform(-bound, bound, q.shape) for bound in (usable.velocity, usable.acceleration))
    matrix = joint_torque_regressor(robot, q, dq, ddq)[..., information.independent]
    return np.asarray(1.0 / np.sqrt(np.mean(matrix**2, axis=(0, 1))), dtype=np.float64)
