"""A load of which only a box is known that it lies in, as a function of what is not known of it; and the derivative.

Along each axis, a mass that lies between two faces with its centre at a has at most the variance (a - low) (high - a),
with all of it at the faces (Bhatia and Davis 2000): a solid box that fills it has a third of that, a compact load in a
large box next to nothing. So the box bounds the inertia from above, and says nothing from below.

Unknown are the mass, where its centre is (anywhere in the box alike), which share of the width the load takes along
each axis (any alike; its square is that of the variance), and partial correlations between the axes (any alike).
Whatever they are, the load is physically consistent.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from iparam.arrays import FloatArray
from iparam.estimation.shape.posterior.density_model import LEVEL, TO_PHI
from iparam.estimation.shape.shape import Shape
from iparam.spatial.phi import phi_map

MARGIN = 2.0
"""Tolerances by which a load may stand out of its box."""

LONGEST_STEP = 1.0
"""Change of an unknown in one step."""

_IMAGINARY = 1e-100  # of a derivative by a complex step, which loses no digits


class BoxModel:
    """phi of the load, in a frame along the box and in units of a mass and of its size, for standard normal unknowns.

    Args:
        shape: a box.
        mass: that is the unit [kg].
    """

    def __init__(self, shape: Shape, mass: float) -> None:
        part = shape.parts[0]
        local = (part.points - shape.pose[:3, 3]) @ shape.pose[:3, :3]
        low, high = local.min(axis=0), local.max(axis=0)
        edges = high - low + 2.0 * MARGIN * shape.tolerance
        size = float(np.linalg.norm(edges))
        pose = np.eye(4)
        pose[:3, :3] = shape.pose[:3, :3] * size
        pose[:3, 3] = shape.pose[:3, :3] @ (0.5 * (low + high)) + shape.pose[:3, 3]
        self._half = 0.5 * edges / size
        self._mean_density = mass / part.volume
        self.to_tool = mass * phi_map(pose)

    num_unknowns = 10

    @property
    def longest_steps(self) -> FloatArray:
        """(10,) see `LoadModel`."""
        return np.full(self.num_unknowns, LONGEST_STEP)

    @property
    def scales(self) -> FloatArray:
        """(10,) what each standard normal unknown is multiplied with."""
        return np.array([LEVEL, *[1.0] * 9])

    def densities(self, unknowns: FloatArray) -> FloatArray:
        """(S, 1) mean densities of the box [kg/m^3] for scaled unknowns (S, 10)."""
        return np.exp(unknowns[:, :1]) * self._mean_density

    def __call__(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `LoadModel`."""
        mass = np.exp(np.clip(unknowns[:, :1], -60.0, 60.0))
        share = ndtr(unknowns[:, 1:])  # standard normal to uniform
        slope = np.exp(-0.5 * unknowns[:, 1:] ** 2) / np.sqrt(2.0 * np.pi)
        phi = mass * self._unit_phi(share)
        moved = share[:, None, :] + 1j * _IMAGINARY * np.eye(9)
        by_share = self._unit_phi(moved.reshape(-1, 9)).imag.reshape(-1, 9, 10) / _IMAGINARY
        by_unknown = mass[:, None] * by_share * slope[:, :, None]
        return phi, np.concatenate([phi[:, :, None], np.swapaxes(by_unknown, 1, 2)], axis=2)

    def _unit_phi(self, share: np.ndarray) -> np.ndarray:
        """(S, 10) of unit mass for shares (S, 9) between 0 and 1 of what is possible; complex for complex ones."""
        center = self._half * (2.0 * share[:, :3] - 1.0)
        width = share[:, 3:6] * np.sqrt(self._half**2 - center**2)
        one, two, three = (2.0 * share[:, 6:] - 1.0).T
        zero = np.zeros_like(one)
        rows = [
            [1.0 + zero, zero, zero],
            [one, np.sqrt(1.0 - one**2), zero],
            [two, three * np.sqrt(1.0 - two**2), np.sqrt((1.0 - two**2) * (1.0 - three**2))],
        ]
        root = width[:, :, None] * np.moveaxis(np.array(rows), 2, 0)
        pseudo = np.zeros((len(share), 4, 4), dtype=share.dtype)
        pseudo[:, :3, :3] = root @ np.swapaxes(root, 1, 2) + center[:, :, None] * center[:, None, :]
        pseudo[:, :3, 3] = pseudo[:, 3, :3] = center
        pseudo[:, 3, 3] = 1.0
        return np.asarray(pseudo.reshape(-1, 16) @ TO_PHI)
