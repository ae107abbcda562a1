"""`condition_number`: how evenly a motion tells the parameters of a payload, for any kind of motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.excitation.information.information import WrenchInformation
from iparam.motion.motion import MotionEstimate
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples


@dataclass(frozen=True)
class ConditionNumber:
    """Of the stacked wrench regressor A of a motion, in SI units; 1 cannot be bettered.

    Attributes:
        regressor: that of A, its largest singular value over its smallest; infinite where the motion tells less.
        parameters: how many combinations of the ten parameters count: those that some motion of the arm shows.
    """

    regressor: float
    parameters: int = 10

    @property
    def gram(self) -> float:
        """That of A^T A, the matrix of the normal equations: the square of the other."""
        return self.regressor**2

    def __str__(self) -> str:
        of_some = "" if self.parameters == 10 else f", for the {self.parameters} combinations that this arm can tell"
        return f"{self.regressor:.5g} of the wrench regressor A, {self.gram:.5g} of A^T A{of_some}"


def condition_number(
    robot: Robot,
    motion: Trajectory | TrajectorySamples | MotionEstimate | tuple[ArrayLike, ArrayLike, ArrayLike],
    gravity: ArrayLike = STANDARD_GRAVITY,
    rate: float = 100.0,
) -> ConditionNumber:
    """The condition number of the wrench regressor along a motion.

    Args:
        robot: the arm.
        motion: a trajectory, its samples, a measured motion, or (q, dq, ddq), each (T, n).
        gravity: (3,) in base axes [m/s^2].
        rate: samples a second that are taken of a trajectory [Hz].
    """
    information = WrenchInformation(robot, gravity=gravity_vector(gravity))
    rows = _regressor(robot, motion, information.gravity, rate).reshape(-1, 10) @ information.directions
    values = np.linalg.svd(np.linalg.qr(rows, mode="r"), compute_uv=False)
    rounding = np.finfo(float).eps * max(rows.shape) * values.max(initial=0.0)
    if values.size < information.size or values[-1] <= rounding:
        return ConditionNumber(np.inf, information.size)
    return ConditionNumber(float(values[0] / values[-1]), information.size)


def _regressor(
    robot: Robot,
    motion: Trajectory | TrajectorySamples | MotionEstimate | tuple[ArrayLike, ArrayLike, ArrayLike],
    gravity: FloatArray,
    rate: float,
) -> FloatArray:
    """(T, 6, 10)."""
    if isinstance(motion, MotionEstimate):
        return motion.regressor(robot, gravity)
    if isinstance(motion, Trajectory):
        motion = motion.sample(rate)
    parts = (motion.q, motion.dq, motion.ddq) if isinstance(motion, TrajectorySamples) else motion
    if not isinstance(parts, tuple | list) or len(parts) != 3:
        raise InputError(
            argument="motion",
            problem=(
                "must be a Trajectory, TrajectorySamples, a MotionEstimate or (q, dq, ddq), got "
                f"{type(motion).__name__}"
            ),
        )
    q, dq, ddq = (as_float_array(part, name) for part, name in zip(parts, ("q", "dq", "ddq"), strict=True))
    if q.ndim != 2 or q.shape[1] != robot.num_joints or not q.shape == dq.shape == ddq.shape:
        raise InputError(
            f"q, dq and ddq must have the shape (T, {robot.num_joints}) of {robot.name}, got {q.shape}, {dq.shape} and "
            f"{ddq.shape}"
        )
    return wrench_regressor(robot, q, dq, ddq, gravity)
