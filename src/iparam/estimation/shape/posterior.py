"""What a shape and data say together of a load: one Gaussian prior on phi, and the data's information.

The shape is a sum of parts. Unknown are the density of each part, how unevenly it is filled, and an affine map that
says how far the surfaces are off. All are normal with the standard deviations below, so that phi is Gaussian to first
order. The logarithm of a density is what is normal, so that densities are positive; the place of the linearisation is
found by Gauss and Newton's method. The model is also that of a box which a load need not fill: an uneven part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from iparam.arrays import FloatArray
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.shape.data_rows import DataRows
from iparam.estimation.shape.shape import Part, Shape
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.phi import phi_from_pseudo_inertia

LEVEL = 5.0
"""Standard deviation of the logarithm of the density of the whole: next to nothing is known of it."""

MATERIALS = 1.0
"""The same of a part's density about that: wood beside steel, ln(7850 / 600) = 2.6, is within 95 %."""

STATED = 0.01
"""Least relative standard deviation of a density that is given: what a data sheet says."""

LARGEST_STRETCH = 0.5
"""Most standard deviation of a stretch, shear or turn, for a tolerance beyond a thin part's own thickness."""


class Filling(NamedTuple):
    """How unevenly a part may be filled, as standard deviations relative to a solid part of one density.

    Attributes:
        shift: of its centre of mass along each principal axis, in standard deviations of its volume along that.
        size: of the factor of its second moments on all sides alike: hollow, or with a core.
        form: of an off-diagonal second moment; of a diagonal one sqrt(2) times that, so that no axis is special.
    """

    shift: float
    size: float
    form: float


UNKNOWN = Filling(0.2, 0.35, 0.15)
"""Of a part of which nothing is known: a thin shell of a cube, 5/3 of the second moments, is just within 95 %."""

SOLID = Filling(0.03, 0.03, 0.03)
"""Of a part whose density is given, which is then solid."""

ANYHOW = Filling(1.0, 0.0, np.sqrt(0.4))
"""Of a box that a load lies in: its centre is evenly distributed between the faces, and so is the share of the box's
width that it takes, whose square has a standard deviation of sqrt(0.8) of its mean."""

FALSE_ALARM = 1e-3
"""Share of right shapes that are held to contradict their data."""

STEPS, HALVINGS = 50, 20
"""Most steps of Gauss and Newton, and how often each is halved; some ten are taken."""

NEGLIGIBLE = 1e-6
"""Change of a sum of squares that is none."""

_FORM = np.array([[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]])
_OF_PART = 11  # unknowns: a density, a shift, a size, a form


@dataclass(frozen=True, eq=False)
class ShapePosterior:
    """A load by data and shape.

    Attributes:
        phi: (10,) the most probable one, in the tool frame.
        covariance: (10, 10).
        densities: (parts, 2) mean and standard deviation of each part's density [kg/m^3].
        squares: how far data and prior are apart: chi-square of as many numbers as the data tell.
        most_squares: what a right shape exceeds by chance only, see `FALSE_ALARM`.
        gain: (10, 10) by how much phi changes, to first order, with what the data alone say of it.
    """

    phi: FloatArray
    covariance: FloatArray
    densities: FloatArray
    squares: float
    most_squares: float
    gain: FloatArray


def shape_posterior(shape: Shape, data: DataRows, mass: float) -> ShapePosterior:
    """Combine data with a shape in the tool frame, for a load of about ``mass`` [kg]."""
    model = ShapeModel(shape, mass)
    x = _most_probable(model, data)
    phi, slope = model(x)
    _, values, right = np.linalg.svd(data.rows @ slope, full_matrices=False)
    kept = np.eye(len(x)) - (right.T * (values**2 / (1.0 + values**2))) @ right
    covariance = slope @ kept @ slope.T
    if not is_physically_consistent(phi):
        unit = 1.0 / np.sqrt(np.diag(covariance))
        metric = np.linalg.pinv(covariance * np.outer(unit, unit), hermitian=True) * np.outer(unit, unit)
        phi = nearest_consistent(phi, metric)
    densities = model.densities(x)
    by_unknown = model.log_densities @ kept @ model.log_densities.T
    return ShapePosterior(
        phi,
        covariance,
        np.column_stack([densities, densities * np.sqrt(np.maximum(np.diag(by_unknown), 0.0))]),
        _squares(model, x, data),
        float(chi2.isf(FALSE_ALARM, len(data.values))),
        covariance @ data.information,
    )


class ShapeModel:
    """phi of a load of a shape, in the tool frame, as a function of unknowns of standard normal distribution.

    Args:
        shape: in the tool frame.
        mass: by which the density of the whole is guessed [kg].
    """

    def __init__(self, shape: Shape, mass: float) -> None:
        count = len(shape.parts)
        given = np.array([part.density is not None for part in shape.parts])
        bounds = np.array([part.density or (mass / shape.volume,) * 2 for part in shape.parts])
        self._log_guess = np.log(bounds.mean(axis=1))
        known = np.maximum(np.log(bounds[:, 1] / bounds[:, 0]) / 4.0, STATED)
        self.num_unknowns = 1 + _OF_PART * count + 12
        self.log_densities = np.zeros((count, self.num_unknowns))  # by the unknowns: the whole, each part
        self.log_densities[:, 0] = np.where(given, 0.0, LEVEL)
        self.log_densities[np.arange(count), 1 + np.arange(count)] = np.where(
            given, known, MATERIALS if np.sum(~given) > 1 else 0.0
        )
        self._fillings = np.array([ANYHOW if shape.vague else SOLID if solid else UNKNOWN for solid in given])
        self._frames = np.array([_frame(part) for part in shape.parts])
        self._volumes = np.array([part.volume for part in shape.parts])
        self._maps = _maps(shape)

    def densities(self, x: FloatArray) -> FloatArray:
        """(parts,) [kg/m^3] for unknowns (n,)."""
        return np.asarray(np.exp(np.clip(self._log_guess + self.log_densities @ x, -40.0, 40.0)))

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute phi (10,) for unknowns (n,), and its derivative (10, n)."""
        count = len(self._volumes)
        own, across = x[1 + count : -12].reshape(count, 10), np.eye(4) + np.tensordot(x[-12:], self._maps, 1)
        unit, by_filling = _uneven(own, self._fillings)
        frames, mass = across @ self._frames, self.densities(x) * self._volumes
        growth = np.trace(self._maps, axis1=1, axis2=2)
        mass = mass * np.exp(growth @ x[-12:])
        parts = mass[:, None, None] * (frames @ unit @ np.swapaxes(frames, 1, 2))
        filled = mass[:, None, None, None] * (frames[:, None] @ by_filling @ np.swapaxes(frames, 1, 2)[:, None])
        before = np.linalg.solve(across, parts.sum(axis=0))  # H^-1 J = sum J0 H'
        moved = self._maps @ before
        mapped = moved + np.swapaxes(moved, 1, 2) + growth[:, None, None] * parts.sum(axis=0)
        by_density = np.einsum("kab,kn->nab", parts, self.log_densities[:, : 1 + count])
        slope = np.concatenate([by_density, filled.reshape(-1, 4, 4), mapped])
        return phi_from_pseudo_inertia(parts.sum(axis=0)), phi_from_pseudo_inertia(_symmetric(slope)).T


def _frame(part: Part) -> FloatArray:
    """(4, 4) that takes a body of unit mass, with the identity for its pseudo-inertia, to the part."""
    values, axes = np.linalg.eigh(part.spread)
    found = np.eye(4)
    found[:3, :3] = axes * np.sqrt(np.maximum(values, 0.0))
    found[:3, 3] = part.center
    return found


def _uneven(own: FloatArray, fillings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pseudo-inertias (k, 4, 4) in the frames of parts, and by unknowns (k, 10, 4, 4), for unknowns (k, 10) of them.

    Where the centre is off by z, the second moment along that axis is 1 - z^2 / 3 of what it is in the middle: in a box
    whose faces are at sqrt(3), nothing is left of it at a face.
    """
    shift, size, form = fillings.T
    z = shift[:, None] * own[:, :3]
    root = np.sqrt(np.maximum(1.0 - z**2 / 3.0, 0.01))
    basis = np.zeros((7, 3, 3))
    basis[0] = np.eye(3)
    for index, (i, j) in enumerate(_FORM, start=1):
        basis[index, i, j] = basis[index, j, i] = np.sqrt(2.0) if i == j else 1.0
    scales = np.concatenate([size[:, None], np.repeat(form[:, None], 6, axis=1)], axis=1)
    moments = np.eye(3) + np.einsum("kn,kn,nij->kij", own[:, 3:], scales, basis)
    both = root[:, :, None] * root[:, None, :]
    unit = np.zeros((len(own), 4, 4))
    unit[:, :3, :3] = moments * both + z[:, :, None] * z[:, None, :]
    unit[:, :3, 3] = unit[:, 3, :3] = z
    unit[:, 3, 3] = 1.0
    slope = np.zeros((len(own), 10, 4, 4))
    by_root = np.where(root > 0.1, -z / (3.0 * root), 0.0)
    for i in range(3):
        change = np.zeros((len(own), 3, 3))
        change[:, i, :] = (by_root[:, i] / root[:, i])[:, None] * (moments * both)[:, i, :] + z
        slope[:, i, :3, :3] = change + np.swapaxes(change, 1, 2)
        slope[:, i, i, 3] = slope[:, i, 3, i] = 1.0
    slope[:, :3] *= shift[:, None, None, None]
    slope[:, 3:, :3, :3] = scales[:, :, None, None] * basis * both[:, None]
    return unit, slope


def _maps(shape: Shape) -> FloatArray:
    """(12, 4, 4) changes of space that move surfaces by the tolerance: shifts, turns, stretches, shears."""
    whole = shape.whole
    values, axes = np.linalg.eigh(whole.spread)
    half = np.sqrt(3.0 * np.maximum(values, 1e-12 * values[-1]))  # of a box of the same moments
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = axes, whole.center
    found = np.zeros((12, 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turn, stretch = (min(shape.tolerance / size, LARGEST_STRETCH) for size in (max(half[j], half[k]), half[i]))
        found[i, i, 3] = shape.tolerance
        found[3 + i, k, j], found[3 + i, j, k] = turn, -turn
        found[6 + i, i, i] = stretch
        found[9 + i, j, k] = found[9 + i, k, j] = turn
    return np.asarray(frame @ found @ np.linalg.inv(frame))


def _most_probable(model: ShapeModel, data: DataRows) -> FloatArray:
    """(n,) the unknowns that explain the data with the least sum of squares of both."""
    x = np.zeros(model.num_unknowns)
    least = _squares(model, x, data)
    for _ in range(STEPS):
        phi, slope = model(x)
        left, values, right = np.linalg.svd(data.rows @ slope, full_matrices=False)
        gap = data.values - data.rows @ (phi - slope @ x)
        step = (right.T * (values / (1.0 + values**2))) @ (left.T @ gap) - x
        share, before = 1.0, least
        for _ in range(HALVINGS):
            trial = _squares(model, x + share * step, data)
            if trial < least:
                x, least = x + share * step, trial
                break
            share *= 0.5
        if before - least <= NEGLIGIBLE * (1.0 + least):
            break
    return x


def _squares(model: ShapeModel, x: FloatArray, data: DataRows) -> float:
    return float(x @ x + np.sum((data.rows @ model(x)[0] - data.values) ** 2))


def _symmetric(matrices: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (matrices + np.swapaxes(matrices, -1, -2)))
