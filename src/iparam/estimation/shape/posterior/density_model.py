"""The load that a shape makes, as a function of what is not known of it; and the derivative.

Unknown are the logarithms of the densities (a common level, what each part has beyond it, its course within the part),
so that every density is positive; and where the shape really is and how it is stretched: an affine map of space near
the identity. That maps a body to a body, so that whatever the unknowns are, the load is physically consistent. The map
turns the pseudo-inertia J into H J H', and every consistent J can be reached by some H: a shape that is wrong
altogether is not beyond the model, only unlikely.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.shape.posterior.cells import MODES, ShapeCells
from iparam.spatial.phi import phi_from_pseudo_inertia, pseudo_inertia_from_phi

LEVEL = 5.0
"""Standard deviation of the logarithm of the common density about that of the mass in the volume: next to nothing."""

KNOWN = 0.01
"""Least relative standard deviation of a density that is given: what a data sheet says."""

SOLID_PLASTIC = 850.0
"""A load whose mean density is less is hollow, or foam, or wood [kg/m^3]: polypropylene has 900."""

LARGEST_STRETCH = 1.0
"""Most standard deviation of a stretch or turn, of which a tolerance beyond a thin part's own thickness makes more."""

LONGEST_STEP = (2.0, 0.5)
"""Change of a logarithm of a density, and of the map, in one step."""

_BASIS = pseudo_inertia_from_phi(np.eye(10))
_UNITS = np.eye(16).reshape(16, 4, 4)
TO_PHI = phi_from_pseudo_inertia(0.5 * (_UNITS + np.swapaxes(_UNITS, 1, 2)))
"""(16, 10) phi of the symmetric part of a pseudo-inertia, by its entries; without the checks of what is given."""


def _generators() -> FloatArray:
    """(12, 4, 4) of affine maps: 3 shifts, 3 turns, 3 stretches, 3 shears."""
    found = np.zeros((12, 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        found[i, i, 3] = 1.0
        found[3 + i, k, j], found[3 + i, j, k] = 1.0, -1.0
        found[6 + i, i, i] = 1.0
        found[9 + i, j, k] = found[9 + i, k, j] = 1.0
    return found


_GENERATORS = _generators()
NUM_MAP = len(_GENERATORS)


@dataclass(frozen=True)
class Spread:
    """How far the unknowns may be from a shape of uniform density in its place.

    Attributes:
        parts: standard deviation of the logarithm of a part's density about the common one.
        within: of each mode of its course within a part.
        surface: of where the surfaces are [m], by each of the twelve ways of a map (12,) or by all of them alike.
        hollow: of the mode of hollow parts beyond that, in a load that is `DensityModel.light`.
    """

    parts: float
    within: float
    surface: float | FloatArray
    hollow: float = 0.0


class DensityModel:
    """phi of the load, in the frame of `ShapeCells` and units of a mass, for unknowns that are standard normal.

    Attributes:
        light: less dense on the whole than solid plastic: it may be hollow.

    Args:
        cells: of the shape.
        mass: that is the unit [kg].
    """

    def __init__(self, cells: ShapeCells, mass: float) -> None:
        self.cells, self.mass = cells, mass
        count, parts = len(cells.phi), cells.num_parts
        member: NDArray[np.bool_] = cells.part[:, None] == np.arange(parts)
        free = np.array([density is None for density in cells.densities])
        unit = mass / cells.volume  # density 1 here [kg/m^3]
        bounds = np.log([(1.0, 1.0) if density is None else density for density in cells.densities])
        center = bounds.mean(axis=1) - np.log(unit)
        self._offset = member @ np.where(free, 0.0, center)
        within = (cells.modes[:, None, :] * member[:, :, None]).reshape(count, parts * MODES)
        self.light = cells.metric and unit < SOLID_PLASTIC
        hollow = cells.hollow[:, None] * member if self.light else np.zeros((count, 0))
        self._hollow = hollow.shape[1]
        self._columns = np.concatenate([(member @ free)[:, None], member.astype(float), within, hollow], axis=1)
        self._free = free
        # What is given as a range is within it with 95 %.
        self._given = np.maximum((bounds[:, 1] - bounds[:, 0]) / 4.0, KNOWN)
        self.level_known = not free.any()

    @property
    def num_unknowns(self) -> int:
        """Of the model: the level, the parts, their modes, the map."""
        return int(self._columns.shape[1]) + NUM_MAP

    @property
    def longest_steps(self) -> FloatArray:
        """(m,) see `LoadModel`."""
        return np.repeat(LONGEST_STEP, [self._columns.shape[1], NUM_MAP])

    def scales(self, spread: Spread) -> FloatArray:
        """(m,) what each standard normal unknown is multiplied with."""
        parts = self.cells.num_parts
        level = [0.0 if self.level_known else LEVEL]
        between = np.where(self._free, spread.parts if parts > 1 else 0.0, self._given)
        within = np.repeat([spread.within, spread.hollow], [parts * MODES, self._hollow])
        return np.concatenate([level, between, within, self.map_scales(spread.surface)])

    def map_scales(self, surface: float | FloatArray) -> FloatArray:
        """(..., 12) so that surfaces are off by ``surface`` [m], (..., 12) or one, through each way of a map."""
        half = self.cells.half_extents
        across = np.array([max(half[(i + 1) % 3], half[(i + 2) % 3]) for i in range(3)])
        found = surface / self.cells.size / np.concatenate([np.ones(3), across, half, across])
        found = np.minimum(found, LARGEST_STRETCH)
        found[..., :3] = np.hypot(found[..., :3], self.cells.shift)
        found[..., 3:6] = np.minimum(np.hypot(found[..., 3:6], self.cells.turn), LARGEST_STRETCH)
        return np.asarray(found)

    def maps(self, unknowns: FloatArray) -> FloatArray:
        """(S, 4, 4) where scaled unknowns (S, m) take the shape: affine maps of the tool frame [m]."""
        exponent = np.einsum("sk,kab->sab", unknowns[:, self._columns.shape[1] :], _GENERATORS)
        pose = self.cells.pose
        return np.asarray(pose @ _exponential(exponent) @ np.linalg.inv(pose))

    @cached_property
    def _cell_phi(self) -> FloatArray:
        return np.ascontiguousarray(self.cells.phi.T)

    def densities(self, unknowns: FloatArray) -> FloatArray:
        """(S, parts) mean densities [kg/m^3] for scaled unknowns (S, m)."""
        inside = unknowns[:, : self._columns.shape[1]]
        values = np.exp(np.clip(self._offset + inside @ self._columns.T, -60.0, 60.0)) * self.cells.phi[:, 0]
        member = self.cells.part[:, None] == np.arange(self.cells.num_parts)
        return np.asarray((values @ member) / (self.cells.phi[:, 0] @ member) * self.mass / self.cells.volume)

    def __call__(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute phi (S, 10) for scaled unknowns (S, m), and its derivative (S, 10, m) by them."""
        count = self._columns.shape[1]
        logarithm = np.clip(self._offset + unknowns[:, :count] @ self._columns.T, -60.0, 60.0)
        density = np.exp(logarithm)
        by_density = (density[:, None, :] * self._cell_phi) @ self._columns
        exponent = np.einsum("sk,kab->sab", unknowns[:, count:], _GENERATORS)
        H = _exponential(exponent)
        moved = H[:, None] @ _BASIS @ np.swapaxes(H, 1, 2)[:, None]
        matrix = np.swapaxes(moved.reshape(-1, 10, 16) @ TO_PHI, 1, 2)  # (S, 10, 10)
        phi = (matrix @ (density @ self.cells.phi)[..., None])[..., 0]
        pushed = _slopes(exponent) @ (phi @ _BASIS.reshape(10, 16)).reshape(-1, 1, 4, 4)
        by_map = np.swapaxes(2.0 * pushed.reshape(-1, NUM_MAP, 16) @ TO_PHI, 1, 2)  # of pushed and its transpose
        return phi, np.concatenate([matrix @ by_density, by_map], axis=2)


def _exponential(matrices: FloatArray) -> FloatArray:
    """(S, 4, 4) matrix exponentials, by scaling and squaring."""
    unit, power = np.eye(4), 7
    small = matrices / 2.0**power
    found = unit + small @ (unit + small / 2.0 @ (unit + small / 3.0 @ (unit + small / 4.0 @ (unit + small / 5.0))))
    for _ in range(power):
        found = found @ found
    return np.asarray(found)


def _slopes(exponent: FloatArray) -> FloatArray:
    """(S, 12, 4, 4) L with d exp(X) = L exp(X) along each generator, X (S, 4, 4): the series of commutators."""
    columns = _GENERATORS.reshape(NUM_MAP, 16).T
    unit = np.eye(4)
    # (S, 16, 16) what a commutator with X does to the 16 entries of a matrix.
    left = np.einsum("sac,bd->sabcd", exponent, unit) - np.einsum("ac,sdb->sabcd", unit, exponent)
    commutator = left.reshape(-1, 16, 16)
    largest = float(np.abs(exponent).max(initial=0.0))
    found = np.broadcast_to(columns, (len(exponent), 16, NUM_MAP))
    for order in range(5 + int(np.ceil(16.0 * min(largest, 2.0))), 1, -1):
        found = columns + commutator @ found / order
    return np.swapaxes(found, 1, 2).reshape(-1, NUM_MAP, 4, 4)
