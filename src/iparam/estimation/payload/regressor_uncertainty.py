"""`RegressorUncertainty`: how the errors of the motion enter the regressor.

To first order the regressor that is computed differs from the true one by sum_j D_kj xi_kj, with xi independent numbers
of variance 1 and D the exact derivatives of the regressor times a root of the covariance of (q, dq, ddq). That varies
slowly, so it is kept for a thinned set of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.motion.motion import MotionEstimate
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot

MOST_KEPT = 500
"""Samples of a motion for which the factors are kept: half of them spread over time, half over the way that the joints
go, so that a short motion within a long rest has its share."""


@dataclass(frozen=True, eq=False)
class RegressorUncertainty:
    """First-order errors of the regressors of N samples, given for M of them.

    Attributes:
        num_samples: N.
        kept: (M,) indices of the samples that the factors belong to, increasing; each stands for those nearest to it.
        factors: (M, r, 6, 10) D, each times an independent number of variance 1.
    """

    num_samples: int
    kept: NDArray[np.int64]
    factors: FloatArray

    def __post_init__(self) -> None:
        factors = as_float_array(self.factors, "factors", (6, 10))
        kept = np.asarray(self.kept, dtype=np.int64)
        if factors.ndim != 4 or kept.shape != factors.shape[:1] or kept.size == 0:
            raise InputError(
                argument="factors",
                problem=f"must be (M, r, 6, 10) for M kept samples, got {factors.shape} and {kept.shape}",
            )
        object.__setattr__(self, "factors", frozen(factors))
        object.__setattr__(self, "kept", kept)

    def wrench_covariance(self, phi: FloatArray) -> FloatArray:
        """(M, 6, 6) covariance that the errors of the motion give the residuals of a load phi (10,)."""
        effect = self.factors @ phi
        return np.asarray(np.swapaxes(effect, 1, 2) @ effect)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(M,) how many samples each of the kept ones stands for; N in all."""
        middle = 0.5 * (self.kept[1:] + self.kept[:-1])
        edges = [0, *np.ceil(middle).astype(np.int64).tolist(), self.num_samples]
        return np.diff(edges)

    def at_all_samples(self, values: FloatArray) -> FloatArray:
        """Values (M, ...) at the kept samples, repeated for all N."""
        return np.repeat(values, self.counts, axis=0)

    def mean(self, values: FloatArray) -> FloatArray:
        """The mean over all samples of values (M, ...) at the kept ones."""
        return np.asarray(np.average(values, axis=0, weights=self.counts))

    def gram(self, weights: FloatArray) -> FloatArray:
        """(10, 10) expected sum over all samples of dA' W dA.

        Args:
            weights: W (6, 6) for all samples, or (M, 6, 6) at the kept ones.
        """
        root = np.linalg.cholesky(weights)  # W = L L'
        weighted = np.swapaxes(root, -1, -2)[..., None, :, :] @ self.factors
        weighted = weighted * np.sqrt(self.counts)[:, None, None, None]
        rows = weighted.reshape(-1, 10)
        return np.asarray(rows.T @ rows)


def regressor_uncertainty(
    robot: Robot | None,
    motion: MotionEstimate,
    gravity: ArrayLike = STANDARD_GRAVITY,
    times: FloatArray | None = None,
) -> RegressorUncertainty | None:
    """The uncertainty of the regressors of a motion; None if the motion does not say how well it is known.

    Args:
        robot: the arm; None for a sensor whose own orientation is known.
        motion: its motion.
        gravity: (3,) in base axes [m/s^2].
        times: (N,) of the regressors [s], to the nearest sample of the motion; None for its own.
    """
    if motion.covariance is None and motion.linear_acceleration_noise is None:
        return None
    from iparam.regressor.wrench import wrench_regressor_derivatives

    middle = 0.5 * (motion.time[1:] + motion.time[:-1])
    nearest = np.arange(motion.num_samples) if times is None else np.searchsorted(middle, times)
    kept = _kept_samples(motion.q[nearest])
    at = nearest[kept]
    parts = []
    measured = motion.linear_acceleration_minus_gravity is not None
    if motion.covariance is not None:
        if robot is None:
            stacked = _slopes_by_turns(motion, at, gravity)
        else:
            slopes = wrench_regressor_derivatives(robot, motion.q[at], motion.dq[at], motion.ddq[at], gravity)
            stacked = np.stack([slopes.by_q, slopes.by_dq, slopes.by_ddq], axis=2)  # (M, n, 3, 6, 10)
        root = covariance_root(np.asarray(motion.covariance_at(motion.time[at])))
        if measured:
            _clear_linear_acceleration(stacked)
        parts.append(np.einsum("mnij,mniab->mnjab", root, stacked).reshape(kept.size, -1, 6, 10))
    if measured and motion.linear_acceleration_noise is not None:
        each = np.zeros((3, 6, 10))
        for axis, sigma in enumerate(motion.linear_acceleration_noise):
            write_linear_acceleration(each[axis], sigma * np.eye(3)[axis])
        parts.append(np.broadcast_to(each, (kept.size, 3, 6, 10)))
    return RegressorUncertainty(nearest.size, kept, np.concatenate(parts, axis=1))


def _slopes_by_turns(motion: MotionEstimate, at: NDArray[np.int64], gravity: ArrayLike) -> FloatArray:
    """(M, 3, 3, 6, 10) derivatives of the regressor by a turn about each axis of the sensor, omega and alpha.

    The regressor is linear in alpha and a, and quadratic in omega, so that central differences are exact. A turn d
    changes gravity in the sensor's axes, u, by u x d.
    """
    from iparam.regressor.wrench import body_regressor

    omega, still, unit = motion.dq[at], np.zeros((at.size, 3)), np.eye(3)
    a = motion.acceleration_minus_gravity(gravity)[at]
    stacked = np.empty((at.size, 3, 3, 6, 10))
    for axis in range(3):
        along = np.broadcast_to(unit[axis], (at.size, 3))
        stacked[:, axis, 0] = body_regressor(still, still, np.cross(a, unit[axis]))
        faster, slower = (body_regressor(omega + sign * along, still, still) for sign in (0.5, -0.5))
        stacked[:, axis, 1] = faster - slower
        stacked[:, axis, 2] = body_regressor(still, along, still)
    return stacked


def _kept_samples(q: FloatArray) -> NDArray[np.int64]:
    """Which of the samples q (N, n) to keep."""
    if len(q) <= MOST_KEPT:
        return np.arange(len(q))
    way = np.cumsum(np.abs(np.diff(q, axis=0, prepend=q[:1])).sum(axis=1))
    gone = np.linspace(0.0, 1.0, len(q)) + way / max(float(way[-1]), 1e-12)
    return np.unique(np.searchsorted(gone, np.linspace(gone[0], gone[-1], MOST_KEPT)).clip(0, len(q) - 1))


def sample_error_gram(
    robot: Robot,
    motion: tuple[FloatArray, FloatArray, FloatArray],
    root: FloatArray,
    whiten: FloatArray,
    acceleration_deviation: float | None,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> FloatArray:
    """(10, 10) expected dA' W'W dA of one sample, for on-line use.

    Args:
        robot: the arm.
        motion: q, dq, ddq (n,).
        root: (n, 3, 3) of the covariance of (q, dq, ddq).
        whiten: W (6, 6).
        acceleration_deviation: of a measured linear acceleration [m/s^2]; None where it comes from the joints.
        gravity: (3,) in base axes [m/s^2].
    """
    from iparam.regressor.wrench import wrench_regressor_derivatives

    slopes = wrench_regressor_derivatives(robot, *motion, gravity)
    stacked = np.stack([slopes.by_q, slopes.by_dq, slopes.by_ddq], axis=1)  # (n, 3, 6, 10)
    if acceleration_deviation is not None:
        _clear_linear_acceleration(stacked)
    mixed = np.swapaxes(root, 1, 2) @ stacked.reshape(len(stacked), 3, 60)
    rows = (whiten @ mixed.reshape(-1, 6, 10)).reshape(-1, 10)
    gram = rows.T @ rows
    if acceleration_deviation is not None:
        for axis in range(3):
            each = np.zeros((6, 10))
            write_linear_acceleration(each, acceleration_deviation * np.eye(3)[axis])
            gram += (whiten @ each).T @ (whiten @ each)
    return np.asarray(gram)


def covariance_root(covariance: FloatArray) -> FloatArray:
    """A matrix root F with F F' = covariance (..., 3, 3), which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def write_linear_acceleration(matrix: FloatArray, a: FloatArray) -> None:
    """Set the entries of matrices (..., 6, 10) that are the linear acceleration a (3,)."""
    matrix[..., :3, 0] = a
    matrix[..., 3, 2], matrix[..., 3, 3] = a[2], -a[1]
    matrix[..., 4, 1], matrix[..., 4, 3] = -a[2], a[0]
    matrix[..., 5, 1], matrix[..., 5, 2] = a[1], -a[0]


def _clear_linear_acceleration(matrices: FloatArray) -> None:
    """Take out what the joints would contribute to a linear acceleration that is measured."""
    write_linear_acceleration(matrices, np.zeros(3))
