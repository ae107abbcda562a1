"""The load that a shape makes, as a function of what is not known of it; and the derivative.

Unknown are the logarithms of the densities (a common level, what each part has beyond it, its course within the part),
so that every density is positive; how hollow parts are, which takes their mass farther from their middle, up to that of
a thin shell, or nearer, where they have a core; and where the shape really is and how it is stretched: an affine map of
space near the identity. That maps a body to a body, so that whatever the unknowns are, the load is physically
consistent. The map turns the pseudo-inertia J of what keeps its density into det(H) H J H', and every consistent J can
be reached so: a shape that is wrong altogether is not beyond the model, only unlikely.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from iparam.arrays import FloatArray
from iparam.estimation.shape.posterior.cells import MODE_SIZES, MODES, ShapeCells
from iparam.spatial.phi import phi_from_pseudo_inertia, pseudo_inertia_from_phi

LEVEL = 5.0
"""Standard deviation of the logarithm of the common density about that of the mass in the volume: next to nothing."""

KNOWN = 0.01
"""Least relative standard deviation of a density that is given: what a data sheet says."""

LARGEST_STRETCH = 1.0
"""Most standard deviation of a stretch or turn, of which a tolerance beyond a thin part's own thickness makes more."""

LONGEST_STEP = (2.0, 1.0, 0.5)
"""Change of a logarithm of a density, of how a part is filled, and of the map, in one step."""

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
STRETCHES = slice(6, 9)  # of these, the ones that change volumes


class Filling(NamedTuple):
    """How parts are filled: mean and standard deviation of x, with 2 Phi(x) - 1 of the way from solid to a thin shell.

    That is 0 for a solid part, goes to 1 for a shell, and to -1 for a core that is as much nearer to its middle.
    """

    mean: float
    deviation: float


SOLID = Filling(0.0, 0.0)


@dataclass(frozen=True)
class Spread:
    """How far the unknowns may be from a shape of uniform density in its place.

    Attributes:
        parts: standard deviation of the logarithm of a part's density about the common one.
        within: of the modes of its course within a part, see `MODE_SIZES`.
        surface: of where the surfaces are [m], by each of the twelve ways of a map (12,) or by all of them alike.
        filling: of parts of which nothing is known but where they are.
    """

    parts: float
    within: float
    surface: float | FloatArray
    filling: Filling = SOLID


class DensityModel:
    """phi of the load, in the frame of `ShapeCells` and units of a mass, for normal unknowns of unit deviation.

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
        self._columns = np.concatenate([(member @ free)[:, None], member.astype(float), within], axis=1)
        self._free = free
        self._shells = [
            (np.flatnonzero(cells.part == part), shell, _pushing(shell))
            for part, shell in zip(cells.open_parts, cells.thin_shells, strict=True)
        ]
        # What is given as a range is within it with 95 %.
        self._given = np.maximum((bounds[:, 1] - bounds[:, 0]) / 4.0, KNOWN)
        self.level_known = not free.any()

    @property
    def num_unknowns(self) -> int:
        """Of the model: the level, the parts, their modes, how they are filled, the map."""
        return self._first_of_map + NUM_MAP

    @property
    def _first_of_map(self) -> int:
        return int(self._columns.shape[1]) + len(self._shells)

    @property
    def longest_steps(self) -> FloatArray:
        """(m,) see `LoadModel`."""
        return np.repeat(LONGEST_STEP, [self._columns.shape[1], len(self._shells), NUM_MAP])

    def scales(self, spread: Spread) -> FloatArray:
        """(m,) what each normal unknown of unit deviation is multiplied with."""
        parts = self.cells.num_parts
        level = [0.0 if self.level_known else LEVEL]
        between = np.where(self._free, spread.parts if parts > 1 else 0.0, self._given)
        within = spread.within * np.tile(MODE_SIZES, parts)
        filling = np.full(len(self._shells), spread.filling.deviation)
        return np.concatenate([level, between, within, filling, self.map_scales(spread.surface)])

    def means(self, spread: Spread) -> FloatArray:
        """(m,) of the normal unknowns, before they are scaled."""
        found = np.zeros(self.num_unknowns)
        mean, deviation = spread.filling
        found[self._columns.shape[1] : self._first_of_map] = mean / deviation if deviation else 0.0
        return found

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
        exponent = np.einsum("sk,kab->sab", unknowns[:, self._first_of_map :], _GENERATORS)
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
        massed = density[:, None, :] * self._cell_phi  # (S, 10, n)
        by_filling = np.empty((len(massed), 10, len(self._shells)))
        for index, (cells, shell, pushing) in enumerate(self._shells):
            share, slope = _shell_share(unknowns[:, count + index])
            massed[:, :, cells] = _phi_maps(_exponential(share[:, None, None] * shell)) @ massed[:, :, cells]
            by_filling[:, :, index] = slope[:, None] * (massed[:, :, cells].sum(axis=2) @ pushing.T)
        exponent = np.einsum("sk,kab->sab", unknowns[:, self._first_of_map :], _GENERATORS)
        larger = np.exp(np.trace(exponent, axis1=1, axis2=2))  # the volume, which is as dense as before
        matrix = larger[:, None, None] * _phi_maps(_exponential(exponent))
        phi = (matrix @ massed.sum(axis=2)[..., None])[..., 0]
        pushed = _slopes(exponent) @ (phi @ _BASIS.reshape(10, 16)).reshape(-1, 1, 4, 4)
        by_map = np.swapaxes(2.0 * pushed.reshape(-1, NUM_MAP, 16) @ TO_PHI, 1, 2)  # of pushed and its transpose
        by_map[:, :, STRETCHES] += phi[:, :, None]
        by_load = np.concatenate([massed @ self._columns, by_filling], axis=2)
        return phi, np.concatenate([matrix @ by_load, by_map], axis=2)


def _phi_maps(H: FloatArray) -> FloatArray:
    """(S, 10, 10) what affine maps (S, 4, 4) make of phi."""
    moved = H[:, None] @ _BASIS @ np.swapaxes(H, 1, 2)[:, None]
    return np.swapaxes(moved.reshape(-1, 10, 16) @ TO_PHI, 1, 2)


def _shell_share(unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far parts are (S,) on the way from solid ones to thin shells, see `Filling`; and the derivative."""
    slope = np.exp(-0.5 * unknowns**2) / np.sqrt(2.0 * np.pi)
    return 2.0 * ndtr(unknowns) - 1.0, 2.0 * slope


def _pushing(generator: FloatArray) -> FloatArray:
    """(10, 10) the derivative of phi along a generator (4, 4) of maps of space, as a matrix on phi."""
    return np.asarray((2.0 * (generator @ _BASIS).reshape(10, 16) @ TO_PHI).T)


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
