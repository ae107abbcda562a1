"""The information that a motion gives about parameters: the Gram matrix of its stacked regressor, with derivatives;
that about a payload, and units to count its parameters in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.excitation.constraints.constraint import MotionArrays
from iparam.excitation.kernels import wrench_information as kernels
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters

STEP = 1e-6
"""Step of the forward difference that turns exact gradients into a Hessian."""


class Information(ABC):
    """W = sum_k A_k^T S A_k of a motion, S weighting the rows and the columns scaled.

    Attributes:
        size: p, the number of parameters.
    """

    size: int

    @abstractmethod
    def gram(self, motion: MotionArrays) -> FloatArray:
        """W (p, p)."""

    @abstractmethod
    def gram_changes(self, motion: MotionArrays) -> tuple[FloatArray, FloatArray]:
        """W (p, p), and its derivatives by every sample's q, dq, ddq: (N, 3, n, p, p)."""

    @abstractmethod
    def weighted_curvature(self, motion: MotionArrays, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) of <weights, W> by every sample's [q, dq, ddq]."""


@dataclass(frozen=True, eq=False)
class WrenchInformation(Information):
    """About the ten parameters of a payload, from the wrench at the tool.

    Attributes:
        robot: the arm.
        row_weights: (6,) weight of each squared wrench component [force, torque]: 1 for raw SI units, 1 / sd^2 for
            a sensor of known noise.
        column_scales: (10,) unit that each parameter is counted in: 1 for raw SI units, its expected size for relative
            precision.
        gravity: (3,) in base axes [m/s^2].
    """

    robot: Robot
    row_weights: FloatArray = field(default_factory=lambda: np.ones(6))
    column_scales: FloatArray = field(default_factory=lambda: np.ones(10))
    gravity: FloatArray = field(default_factory=lambda: gravity_vector(STANDARD_GRAVITY))
    size: int = 10

    def __post_init__(self) -> None:
        for name, count in (("row_weights", 6), ("column_scales", 10)):
            values = as_float_array(getattr(self, name), name)
            if values.shape != (count,) or (values <= 0).any():
                raise InputError(f"{name} must be {count} positive numbers, got {values.tolist()}")
            object.__setattr__(self, name, np.array(values))

    def gram(self, motion: MotionArrays) -> FloatArray:
        """See `Information`."""
        matrix = wrench_regressor(self.robot, motion.q, motion.dq, motion.ddq, self.gravity)
        scaled = (matrix * np.sqrt(self.row_weights)[:, None] * self.column_scales).reshape(-1, 10)
        return np.asarray(scaled.T @ scaled)

    def gram_changes(self, motion: MotionArrays) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        gram, changes = np.empty((10, 10)), np.empty((count, 3, joints, 10, 10))
        kernels.gram_products(*self._constants, self.row_weights, motion.q, motion.dq, motion.ddq, gram, changes)
        scale = np.multiply.outer(self.column_scales, self.column_scales)
        return gram * scale, changes * scale

    def weighted_curvature(self, motion: MotionArrays, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        gradient, hessian = np.empty((count, 3 * joints)), np.empty((count, 3 * joints, 3 * joints))
        scaled = weights * np.multiply.outer(self.column_scales, self.column_scales)
        kernels.weighted_curvature(
            *self._constants, self.row_weights, scaled, motion.q, motion.dq, motion.ddq, STEP, gradient, hessian
        )
        return gradient, hessian

    @property
    def _constants(self) -> tuple[FloatArray, ...]:
        chain = self.robot.chain
        return (chain.origins, chain.prismatic, chain.tool, self.gravity)  # type: ignore[return-value]


def payload_scales(guess: InertialParameters) -> FloatArray:
    """(10,) sizes of phi for a payload like the guess: mass, mass x length and mass x length^2.

    The length is the payload's largest distance scale: its radius of gyration about the tool's origin.
    """
    if guess.mass <= 0.0:
        raise InputError(f"parameters can only be scaled for a payload with mass, got {guess.mass:g} kg")
    length = float(np.sqrt(0.5 * np.trace(guess.inertia_about_origin) / guess.mass))
    return guess.mass * np.array([1.0, *[length] * 3, *[length**2] * 6])
