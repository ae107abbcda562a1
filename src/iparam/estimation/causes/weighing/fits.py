"""Fits of forces and of torques to a weight, seen through whatever matrix, tilt or joint: linear ones, and the best of
a family by Gauss-Newton.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.weighing.data import Weighing
from iparam.spatial.transforms import exp_so3, skew

ITERATIONS = 15
"""Of Gauss and Newton."""

CONVERGED = 1e-9
"""Relative gain of an iteration below which it is the last one."""

OFFSETS = 12
"""Zeros of a joint from the best of which the offset that fits best is sought."""

SMALL = 1e-4
"""Turn over which a slope is taken [rad]."""


@dataclass(frozen=True, eq=False)
class WeightFit:
    """Forces, or torques, seen through a hypothesis: its unknowns (k,) and what is left (N, 3)."""

    unknowns: FloatArray
    residual: FloatArray

    @property
    def squares(self) -> float:
        """What is left."""
        return float(np.sum(self.residual**2))

    @property
    def rms(self) -> float:
        """Root mean square of what is left, of all three together."""
        return float(np.sqrt(np.sum(np.mean(self.residual**2, axis=0))))


def center_fit(data: Weighing, wrench: FloatArray) -> WeightFit:
    """The centre of mass by torque against measured force."""
    return solved(data, -skew(wrench[:, :3]), wrench[:, 3:], slice(3, 6))


def force_fit(data: Weighing, matrix: FloatArray, further: FloatArray | None = None) -> WeightFit:
    """Mass, and what turning takes, seen through a matrix (3, 3); further columns (N, 3) beside it."""
    columns = [(data.up @ matrix.T)[:, :, None]]
    if further is not None:
        columns.append(further[:, :, None])
    return solved(data, np.concatenate(columns, axis=2), data.wrench[:, :3], slice(3), matrix)


def squares_of_load(data: Weighing, matrix: FloatArray) -> float:
    """What a load, which has no negative mass, leaves through a matrix (3, 3)."""
    fit = force_fit(data, matrix)
    return fit.squares if fit.unknowns[0] > 0.0 else np.inf


def best_matrix(data: Weighing, start: FloatArray, entries: FloatArray | None) -> tuple[FloatArray, WeightFit]:
    """The best matrix: a rotation near ``start``, or ``start`` and a mixture of entries (k, 3, 3)."""
    matrix, fit = start, force_fit(data, start)
    for _ in range(ITERATIONS):
        basis = matrix @ skew(np.eye(3)) if entries is None else entries
        load = data.up * fit.unknowns[0] + _turned_part(data, fit)
        slopes = np.einsum("kij,nj->nik", basis, load)
        columns = np.concatenate([(data.up @ matrix.T)[:, :, None], slopes], axis=2)
        step = solved(data, columns, data.wrench[:, :3], slice(3), matrix).unknowns[1 : 1 + len(basis)]
        for halving in range(6):
            part = step * 0.5**halving
            moved = matrix @ exp_so3(part) if entries is None else matrix + np.tensordot(part, entries, axes=1)
            found = force_fit(data, moved)
            if found.squares < fit.squares:
                break
        else:
            break
        before, matrix, fit = fit.squares, moved, found
        if before - fit.squares <= CONVERGED * before:
            break
    return matrix, fit


def tilted_weight(data: Weighing) -> tuple[FloatArray, WeightFit]:
    """The weight (3,) in the world that holds with the orientation as it is [N], upwards."""
    columns = data.rotation.transpose(0, 2, 1)
    fit = solved(data, columns, data.wrench[:, :3], slice(3))
    return fit.unknowns[:3], fit


def torque_gain(data: Weighing, channel: int) -> tuple[float, WeightFit]:
    """The gain of one torque that fits the forces best."""
    force, torque = data.wrench[:, :3], data.wrench[:, 3:]
    gain, columns = 1.0, -skew(force)
    fit = solved(data, columns, torque, slice(3, 6))
    for _ in range(ITERATIONS):
        scaled = columns.copy()
        scaled[:, channel] *= gain
        slope = np.zeros((len(force), 3, 1))
        slope[:, channel, 0] = columns[:, channel] @ fit.unknowns[:3]
        step = solved(data, np.concatenate([scaled, slope], axis=2), torque, slice(3, 6))
        gain += float(step.unknowns[3])
        scaled = columns.copy()
        scaled[:, channel] *= gain
        before, fit = fit.squares, solved(data, scaled, torque, slice(3, 6))
        if abs(before - fit.squares) <= CONVERGED * before:
            break
    return gain, fit


def best_joint_offset(data: Weighing, axes: FloatArray) -> tuple[float, WeightFit]:
    """The angle that added to a joint, whose axes (N, 3) in the base these are, explains the forces best [rad]."""

    def turned(angle: float) -> Weighing:
        weight = np.einsum("nij,j->ni", exp_so3(-angle * axes), -data.gravity)
        return dataclasses.replace(data, up=np.einsum("nji,nj->ni", data.rotation, weight))

    def loaded(angle: float) -> WeightFit:
        fit = force_fit(turned(angle), np.eye(3))
        return fit if fit.unknowns[0] > 0.0 else WeightFit(fit.unknowns, np.full_like(fit.residual, np.inf))

    angle = min(np.linspace(-np.pi, np.pi, OFFSETS, endpoint=False).tolist(), key=lambda one: loaded(one).squares)
    fit = loaded(angle)
    for _ in range(ITERATIONS if np.isfinite(fit.squares) else 0):
        slope = (turned(angle + SMALL).up - turned(angle - SMALL).up) / (2.0 * SMALL)
        step = force_fit(turned(angle), np.eye(3), fit.unknowns[0] * slope).unknowns[1]
        moved = loaded(angle + step)
        if not moved.squares < fit.squares:
            break
        before, angle, fit = fit.squares, angle + float(step), moved
        if before - fit.squares <= CONVERGED * before:
            break
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi), fit


def _turned_part(data: Weighing, fit: WeightFit) -> FloatArray:
    """(N, 3) what turning takes of the force, before any matrix [N]; the lever is last of the unknowns."""
    if data.turning is None:
        return np.zeros_like(data.up)
    return np.asarray(data.turning[:, :3, 1:4] @ fit.unknowns[-3:])


def solved(
    data: Weighing, columns: FloatArray, measured: FloatArray, rows: slice, matrix: FloatArray | None = None
) -> WeightFit:
    """Least squares with columns (N, 3, k), what turning takes, and a constant a channel."""
    if data.turning is not None:
        turning = data.turning[:, rows, 1:4] if rows.start is None else data.turning[:, rows, 4:]
        if matrix is not None:
            turning = matrix @ turning
        columns = np.concatenate([columns, turning], axis=2)
    if data.bias:
        columns, measured = columns - columns.mean(axis=0), measured - measured.mean(axis=0)
    flat = columns.reshape(-1, columns.shape[2])
    size = np.sqrt(np.sum(flat**2, axis=0))
    size = np.where(size > 0.0, size, 1.0)
    unknowns = np.linalg.lstsq(flat / size, measured.ravel(), rcond=1e-6)[0] / size
    return WeightFit(unknowns, measured - columns @ unknowns)
