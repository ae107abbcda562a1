"""What a fit leaves of a wrench: noise, however correlated, or the mark of something that the model lacks.

The covariance of an estimate is made from the scatter of its residuals, so it covers noise that is correlated over a
short while. It does not cover an error of the model, which gives every sample its part in the same wrong direction, nor
errors that outlast the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.problem import PayloadProblem
from iparam.recording.noise_level import noise_beside

BLOCKS = 24
"""Stretches that a run is divided into to see what lasts."""

FOLLOWING = 8.0
"""Times by which the motion must explain more of the residuals than it would explain of noise like the rest of them."""

EXCESS = 6.0
"""Times by which the residuals must have more power in the band of the load's wrench than their noise has there."""

LASTING = 0.35
"""Correlation of neighbouring stretches from which on errors outlast them."""

LINEAR = 3e-3
"""Residual, as a share of the wrench of the load, that every sensor has of its own: none is more linear."""

RAISED = 2.0
"""Scatter of the stretches, in that of independent samples, from which on that matters."""


@dataclass(frozen=True)
class ResidualStructure:
    """What residuals are made of.

    Attributes:
        linear_in_motion: whether a good part of them is linear in what the wrench of any rigid load is linear in.
        in_band: whether they have most of their power where the load's wrench has its own.
        lasts: whether they stay on one side for a good part of the run.
    """

    linear_in_motion: bool
    in_band: bool
    lasts: bool

    @property
    def follows_motion(self) -> bool:
        """Whether they are the mark of an error of the model, one way or the other."""
        return self.linear_in_motion or self.in_band


def residual_structure(problem: PayloadProblem, residual: FloatArray) -> ResidualStructure:
    """Look for structure in residuals (N, 6) of a fit [N, N m].

    A rigid load, whatever its parameters, and whatever the rotation, place, gains or crosstalk of the sensor, gives a
    wrench that is linear in twelve functions of the motion: the linear acceleration less gravity, the angular
    acceleration, and the products of the angular velocity. Residuals that follow these come from an error of the model,
    and so do those that have their power where the wrench has its own, and not beyond.
    """
    count = problem.num_samples
    features = np.concatenate([problem.A[:, :3, 0], problem.A[:, :3, 1:4].reshape(count, 9)], axis=1)
    design = np.column_stack([np.ones(count), features])
    scale = np.sqrt(np.mean(design**2, axis=0))
    basis = np.linalg.qr(design / np.where(scale > 0.0, scale, 1.0))[0]
    deviation = residual.std(axis=0)
    channels = deviation > 0.0
    if count < 4 * BLOCKS or not channels.any():
        return ResidualStructure(False, False, False)
    scaled = residual[:, channels] / deviation[channels]
    followed = basis @ (basis.T @ scaled)
    rest = scaled - followed
    raised = _stretches(rest)[1]
    by_chance = basis.shape[1] * np.maximum(raised, 1.0) * np.mean(rest**2, axis=0)
    strength = float(np.max(np.sum(followed**2, axis=0) / np.maximum(by_chance, 1e-300)))
    noise = noise_beside(residual[:, channels], (problem.y - residual)[:, channels])
    in_band = noise is not None and float(noise.excess.max()) > EXCESS
    together, raised = _stretches(scaled)
    return ResidualStructure(strength > FOLLOWING, in_band, together > LASTING and float(raised.mean()) > RAISED)


def _stretches(values: FloatArray) -> tuple[float, FloatArray]:
    """How far the means of neighbouring stretches of values (N, k) are alike, and their scatter (k,), see `RAISED`."""
    size = len(values) // BLOCKS
    means = values[: BLOCKS * size].reshape(BLOCKS, size, -1).mean(axis=1)
    together = float(np.sum(means[1:] * means[:-1]) / max(float(np.sum(means**2)), 1e-300))
    return together, size * np.mean(means**2, axis=0) / np.maximum(np.mean(values**2, axis=0), 1e-300)
