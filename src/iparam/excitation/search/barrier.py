"""The smooth function that the planner minimises: the criterion plus a logarithmic barrier before every constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.excitation.constraints.constraint import Constraint, CouplingConstraint, JointLimitConstraint, MotionArrays
from iparam.excitation.information.criteria import divided_differences, eigenvalues, smoothed
from iparam.excitation.search.problem import ExcitationProblem

DIFFERENCE_STEP = 1e-6


class Expansion(NamedTuple):
    """Value, gradient (v,), Hessian (v, v), and a positive semidefinite metric (v, v) that bounds safe steps."""

    value: float
    gradient: FloatArray
    hessian: FloatArray
    metric: FloatArray


@dataclass(frozen=True)
class Smoothing:
    """How closely the smooth function follows the problem.

    Attributes:
        order: of the p-norms that stand for extreme eigenvalues.
        barrier: weight of the barrier before a constraint, for each second of the motion.
        tolerance: a Newton step that gains less is the last at this smoothing.
    """

    order: float
    barrier: float
    tolerance: float = 2e-4


class BarrierFunction:
    """Criterion and barrier of a problem on given time grids; infinite where a constraint is violated.

    Args:
        problem: what is sought.
        limit_rate: grid for the joint limits, which are cheap [Hz].
        distance_rate: grid for all other constraints [Hz].
        reserves: by constraint name, how much more than zero its margins must be; makes up for what happens between
            the samples of the grid.

    Attributes:
        evaluations: how often the criterion was computed, with or without its derivatives.
    """

    def __init__(
        self, problem: ExcitationProblem, limit_rate: float, distance_rate: float, reserves: dict[str, float]
    ) -> None:
        self.problem, self.evaluations = problem, 0
        self._criterion_basis = problem.basis(problem.criterion_times)
        self._grids: list[tuple[Constraint, FloatArray, float, float]] = []
        bases = {rate: problem.basis(problem.grid(rate)) for rate in {limit_rate, distance_rate}}
        for constraint in problem.constraints:
            if isinstance(constraint, CouplingConstraint):  # kept by the variables
                continue
            rate = limit_rate if isinstance(constraint, JointLimitConstraint) else distance_rate
            reserve = reserves.get(constraint.name, 0.0)
            self._grids.append((constraint, bases[rate], problem.duration / (bases[rate].shape[1] - 1), reserve))

    def value(self, x: FloatArray, smoothing: Smoothing) -> float:
        """The function itself; inf where a constraint is not strictly kept."""
        total = 0.0
        for constraint, basis, spacing, reserve in self._grids:
            margins = constraint.margins(self.problem.motion(x, basis)) - reserve
            if margins.size and margins.min() <= 0.0:
                return np.inf
            total -= smoothing.barrier * spacing * float(np.log(margins / constraint.scale).sum())
        self.evaluations += 1
        gram = self.problem.information.gram(self.problem.motion(x, self._criterion_basis))
        spectrum = eigenvalues(gram)
        if spectrum[0] <= 1e-14 * spectrum[-1]:
            return np.inf
        return total + smoothed(self.problem.criterion, spectrum, smoothing.order).value

    def expand(self, x: FloatArray, smoothing: Smoothing) -> Expansion:
        """The function to second order at a strictly feasible x."""
        self.evaluations += 1
        value, gradient, hessian = self._criterion(x, smoothing.order)
        metric = np.zeros_like(hessian)
        pending: dict[tuple[int, ...], _MotionBarrier] = {}
        for constraint, basis, spacing, reserve in self._grids:
            motion = self.problem.motion(x, basis)
            weight = smoothing.barrier * spacing
            if isinstance(constraint, JointLimitConstraint):
                part, slope, block = _limit_barrier(constraint, motion, basis, weight, reserve)
                value += part
                gradient += slope
                hessian += block
                metric += block
            else:  # summed over all constraints of the same kind before they are pulled back to the coefficients
                total = pending.setdefault(constraint.orders, _MotionBarrier(motion, basis[list(constraint.orders)]))
                value += total.add(constraint, weight, reserve)
        for total in pending.values():
            gradient += pull_gradient(total.slope, total.basis)
            metric += pull_hessian(total.outer, total.basis)
            hessian += pull_hessian(total.outer + total.curvature, total.basis)
        return self._of_free_joints(Expansion(value, gradient, hessian, metric))

    def _of_free_joints(self, whole: Expansion) -> Expansion:
        """An expansion by the coefficients of all n joints as one by those that follow no other."""
        robot = self.problem.robot
        if not robot.couplings:
            return whole
        columns = len(whole.gradient) // robot.num_joints
        share = np.kron(robot.following[0], np.eye(columns))
        hessian, metric = (share.T @ matrix @ share for matrix in (whole.hessian, whole.metric))
        return Expansion(whole.value, share.T @ whole.gradient, hessian, metric)

    def _criterion(self, x: FloatArray, order: float) -> tuple[float, FloatArray, FloatArray]:
        problem, basis = self.problem, self._criterion_basis
        motion = problem.motion(x, basis)
        gram, changes = problem.information.gram_changes(motion)
        spectrum, vectors = np.linalg.eigh(gram)
        spectral = smoothed(problem.criterion, spectrum, order)
        weights = (vectors * spectral.gradient) @ vectors.T
        size, joints = problem.information.size, problem.robot.num_joints
        # How each coefficient changes W, seen along its eigenvectors.
        flat = changes.reshape(len(motion.q), 3, joints, size * size)
        by_coefficient = sum(np.tensordot(basis[s], flat[:, s], (0, 0)) for s in range(3))
        slopes = np.asarray(by_coefficient).transpose(1, 0, 2).reshape(-1, size, size)
        turned = vectors.T @ slopes @ vectors
        diagonal = turned[:, range(size), range(size)]
        mixed = turned.reshape(len(turned), -1)
        hessian = diagonal @ spectral.hessian @ diagonal.T
        hessian += (mixed * divided_differences(spectrum, spectral).ravel()) @ mixed.T
        gradient, curvature = problem.information.weighted_curvature(motion, weights)
        hessian += pull_hessian(curvature.reshape(-1, 3, joints, 3, joints), basis[:3])
        return spectral.value, pull_gradient(gradient.reshape(-1, 3, joints), basis[:3]), hessian


def pull_gradient(gradient: FloatArray, basis: FloatArray) -> FloatArray:
    """From a gradient by the motion (T, orders, n) to one by the coefficients (n * C,)."""
    return np.asarray(sum(basis[s].T @ gradient[:, s] for s in range(len(basis)))).T.ravel()


def pull_hessian(hessian: FloatArray, basis: FloatArray) -> FloatArray:
    """From a Hessian by the motion (T, orders, n, orders, n) to one by the coefficients (n * C, n * C)."""
    count, orders, joints = hessian.shape[:3]
    columns = basis.shape[2]
    half = np.zeros((count, orders, joints, joints, columns))
    for s in range(orders):
        half += hessian[:, :, :, s, :, None] * basis[s][:, None, None, None, :]
    rows = half.reshape(count, orders, joints, joints * columns)
    whole = sum(np.tensordot(basis[s], rows[:, s], (0, 0)) for s in range(orders))
    return np.asarray(whole).transpose(1, 0, 2).reshape(joints * columns, joints * columns)


def _limit_barrier(
    constraint: JointLimitConstraint, motion: MotionArrays, basis: FloatArray, weight: float, reserve: float
) -> tuple[float, FloatArray, FloatArray]:
    """Value, gradient and Hessian; joint limits are linear and each concerns one joint: a block a joint."""
    values, row = motion[constraint.order], basis[constraint.order]
    joints, columns = values.shape[1], row.shape[1]
    below, above = values - constraint.lower - reserve, constraint.upper - values - reserve
    low, high = np.isfinite(constraint.lower), np.isfinite(constraint.upper)
    value = np.log(below[:, low] / constraint.scale).sum() + np.log(above[:, high] / constraint.scale).sum()
    gradient = (weight * (1.0 / above - 1.0 / below)).T @ row
    bend = weight * (1.0 / above**2 + 1.0 / below**2)
    hessian = np.zeros((joints, columns, joints, columns))
    for joint in range(joints):
        hessian[joint, :, joint] = (row * bend[:, joint : joint + 1]).T @ row
    return float(-weight * value), gradient.ravel(), hessian.reshape(joints * columns, joints * columns)


class _MotionBarrier:
    """Barriers of constraints that depend on the same orders of the motion, summed in terms of the motion.

    Attributes:
        basis: (orders, T, C) the rows of the basis for these orders.
        slope: (T, orders, n) gradient.
        outer: (T, orders, n, orders, n) the part of the Hessian from gradients, positive semidefinite.
        curvature: of the same shape, the part from the constraints' own curvature.
    """

    def __init__(self, motion: MotionArrays, basis: FloatArray) -> None:
        count, joints = motion.q.shape
        orders = len(basis)
        self.basis = basis
        self._motion = motion
        self.slope = np.zeros((count, orders, joints))
        self.outer = np.zeros((count, orders, joints, orders, joints))
        self.curvature = np.zeros((count, orders, joints, orders, joints))

    def add(self, constraint: Constraint, weight: float, reserve: float) -> float:
        """Add a constraint's barrier and return its value."""
        margins, gradients = constraint.linearize(self._motion)
        margins = margins - reserve
        relative = np.stack([gradient / margins[..., None] for gradient in gradients], axis=2)  # (T, m, orders, n)
        self.slope -= weight * relative.sum(axis=1)
        stacked = relative.reshape(*margins.shape, -1)
        self.outer += weight * np.matmul(stacked.transpose(0, 2, 1), stacked).reshape(self.outer.shape)
        convex = constraint.convex_part(self._motion, weight / margins)
        if convex is not None:
            self.outer += convex
        if constraint.orders == (0,):
            near = margins.min(axis=1) < 0.5 * constraint.scale
            self._add_curvature(constraint, near, gradients[0][near], weight / margins[near])
        return float(-weight * np.log(margins / constraint.scale).sum())

    def _add_curvature(
        self, constraint: Constraint, near: NDArray[np.bool_], gradient: FloatArray, weights: FloatArray
    ) -> None:
        """- sum_m weights_m * Hessian of margin m by q, from differences of gradients, at the samples that are near."""
        q = self._motion.q[near]
        if not len(q):
            return
        count, joints = q.shape
        shifted = (q[None] + DIFFERENCE_STEP * np.eye(joints)[:, None]).reshape(-1, joints)
        ahead = constraint.linearize(MotionArrays(shifted, shifted, shifted, shifted)).gradients[0]
        change = (ahead.reshape(joints, count, -1, joints) - gradient) / DIFFERENCE_STEP
        bend = -np.einsum("tm,itmj->tij", weights, change)
        self.curvature[near, 0, :, 0, :] += 0.5 * (bend + bend.transpose(0, 2, 1))
