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
from iparam.native.planning import wrench_curvature, wrench_gram_changes
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters

STEP = 1e-6
"""Step of the forward difference that turns exact gradients into a Hessian."""


_TRIED = 200  # random states that show which combinations of parameters an arm can tell at all
_UNSEEN = 1e-10  # share of the largest eigenvalue below which one is rounding


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

    An arm that cannot turn its tool about all axes, a SCARA or a gantry, shows some combinations of them in no motion:
    what counts is the others, along orthonormal directions.

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
    size: int = field(init=False, default=10)
    _directions: FloatArray | None = field(init=False, default=None)  # (10, p) that show; None for all ten

    def __post_init__(self) -> None:
        for name, count in (("row_weights", 6), ("column_scales", 10)):
            values = as_float_array(getattr(self, name), name)
            if values.shape != (count,) or (values <= 0).any():
                raise InputError(argument=name, value=values, expected=f"{count} positive numbers")
            object.__setattr__(self, name, np.array(values))
        random = np.random.default_rng(0)
        joints = self.robot.num_joints
        anything = MotionArrays(
            random.uniform(-np.pi, np.pi, (_TRIED, joints)), *random.normal(size=(3, _TRIED, joints))
        )
        values, directions = np.linalg.eigh(self._all_ten(anything))
        shown = values > _UNSEEN * values[-1]
        if not shown.all():
            object.__setattr__(self, "_directions", np.ascontiguousarray(directions[:, shown]))
            object.__setattr__(self, "size", int(shown.sum()))

    def _all_ten(self, motion: MotionArrays) -> FloatArray:
        matrix = wrench_regressor(self.robot, motion.q, motion.dq, motion.ddq, self.gravity)
        scaled = (matrix * np.sqrt(self.row_weights)[:, None] * self.column_scales).reshape(-1, 10)
        return np.asarray(scaled.T @ scaled)

    @property
    def directions(self) -> FloatArray:
        """(10, p) orthonormal combinations of the parameters, all that some motion of the arm shows."""
        return np.eye(10) if self._directions is None else self._directions

    def gram(self, motion: MotionArrays) -> FloatArray:
        """See `Information`."""
        return self._along(self._all_ten(motion))

    def _along(self, matrix: FloatArray) -> FloatArray:
        """(..., p, p) of a (..., 10, 10)."""
        directions = self._directions
        return matrix if directions is None else np.asarray(directions.T @ matrix @ directions)

    def gram_changes(self, motion: MotionArrays) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        changes = np.empty((count, 3, joints, 10, 10))
        constants = (self.robot.chain.address, self.gravity, self.row_weights, self.column_scales)
        wrench_gram_changes(*constants, motion.q, motion.dq, motion.ddq, changes)
        return self.gram(motion), self._along(changes)

    def weighted_curvature(self, motion: MotionArrays, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Information`."""
        count, joints = motion.q.shape
        gradient, hessian = np.empty((count, 3 * joints)), np.empty((count, 3 * joints, 3 * joints))
        directions = self._directions
        of_ten = weights if directions is None else directions @ weights @ directions.T
        scaled = np.ascontiguousarray(of_ten * np.multiply.outer(self.column_scales, self.column_scales))
        constants = (self.robot.chain.address, self.gravity, self.row_weights, scaled)
        wrench_curvature(*constants, motion.q, motion.dq, motion.ddq, STEP, gradient, hessian)
        return gradient, hessian


def payload_scales(guess: InertialParameters) -> FloatArray:
    """(10,) sizes of phi for a payload like the guess: mass, mass x length and mass x length^2.

    The length is the payload's largest distance scale: its radius of gyration about the tool's origin.
    """
    if guess.mass <= 0.0:
        raise InputError(f"parameters can only be scaled for a payload with mass, got {guess.mass:g} kg")
    length = float(np.sqrt(0.5 * np.trace(guess.inertia_about_origin) / guess.mass))
    return guess.mass * np.array([1.0, *[length] * 3, *[length**2] * 6])
