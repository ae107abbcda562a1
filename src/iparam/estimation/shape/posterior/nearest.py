"""`nearest_unknowns`: what explains data with the least change of what was held for likely."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray

STEPS = 60
"""Of the minimisation, at most; it takes some ten."""

NEGLIGIBLE = 1e-3
"""Change of half the squares, in nats, that is none."""


class LoadModel(Protocol):
    """A load as a function of unknowns."""

    @property
    def longest_steps(self) -> FloatArray:
        """(m,) most change of each scaled unknown in one step."""

    def __call__(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute phi (S, 10) for scaled unknowns (S, m), and its derivative (S, 10, m) by them."""


def nearest_unknowns(
    model: LoadModel, scales: FloatArray, start: FloatArray, rows: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Minimise |z - start|^2 / 2 + |rows phi(scales z) - target|^2 / 2, each sample on its own.

    A damped Gauss-Newton method; as there are at most ten rows, each step solves for ten numbers, not for the unknowns.

    Args:
        model: of the load.
        scales: (S, m) see `DensityModel.scales`.
        start: (S, m).
        rows: (r, 10) of whitened data.
        target: (S, r) what they should give.

    Returns:
        z (S, m), phi (S, 10), its derivative by z (S, 10, m), and the minimum (S,).
    """
    z, damping = start.copy(), np.full(len(start), 1e-6)

    def value(at: FloatArray, origin: FloatArray, phi: FloatArray, wanted: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.sum((at - origin) ** 2, axis=1) + 0.5 * np.sum((phi @ rows.T - wanted) ** 2, axis=1))

    phi, slope = model(z * scales)
    slope = slope * scales[:, None, :]
    least = value(z, start, phi, target)
    going = np.arange(len(z))
    for _ in range(STEPS):
        A, weight = rows @ slope[going], 1.0 + damping[going]
        back = (start[going] - z[going]) / weight[:, None]
        gap = phi[going] @ rows.T - target[going] + (A @ back[..., None])[..., 0]
        inner = np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2) / weight[:, None, None]
        step = back - (np.swapaxes(A, 1, 2) @ np.linalg.solve(inner, gap[..., None]))[..., 0] / weight[:, None]
        trial = (
            z[going]
            + step / np.maximum(np.max(np.abs(step * scales[going]) / model.longest_steps, axis=1), 1.0)[:, None]
        )
        there, steep = model(trial * scales[going])
        following = value(trial, start[going], there, target[going])
        better = (following <= least[going]) & np.isfinite(following)
        done = np.where(better, least[going] - following < NEGLIGIBLE, damping[going] > 1e9)
        moved = going[better]
        z[moved], phi[moved], least[moved] = trial[better], there[better], following[better]
        slope[moved] = steep[better] * scales[moved][:, None, :]
        damping[going] = np.where(
            better, np.maximum(damping[going] / 5.0, 1e-9), np.maximum(damping[going], 1e-3) * 8.0
        )
        going = going[~done]
        if not going.size:
            break
    return z, phi, slope, least
