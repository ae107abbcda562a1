"""What data and a shape say together of a load, with the trust in the shape found from how well it explains them.

How far parts differ in density, how far it varies within a part, and how wrong the shape is in its place and form are
not known either. Each has a few values that are tried, from next to nothing to all that is possible. The probability of
the data under each (the evidence, by Laplace's method) says which of them to believe. A shape that explains the data is
held to be right; one that does not is held to be wrong by as much as it takes, and then the data decide alone.

The posterior is sampled by randomised maximum likelihood: draw unknowns from the prior and errors of the data, and
find what explains the one with the least change of the other (Oliver 1996). That is exact where phi is linear in the
unknowns, and keeps each sample a possible body where it is not. The mean of possible bodies is a possible body.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.shape.cells import shape_cells
from iparam.estimation.shape.density_model import DensityModel, Spread, nearest_unknowns
from iparam.estimation.shape.shape import Shape
from iparam.spatial.consistency import is_physically_consistent

PARTS = (0.1, 0.35, 1.2)
"""Standard deviations that are tried for the logarithm of parts' densities: alloys of a metal, kinds of plastic, and
anything from foam to steel (ln 7850/100 is 4.4, or four standard deviations of the last)."""

WITHIN = (0.03, 0.1, 0.3, 0.6)
"""The same for each of nine modes within a part, of which all together are three times that: a solid piece, a casting,
a housing with something in it, a shell or a core."""

COMMON = dict(zip(WITHIN, (0.4, 0.3, 0.2, 0.1), strict=True))
"""How much these are believed in beforehand: most parts are solid."""

SURFACES = ((1.0, 0.8), (4.0, 0.16), (16.0, 0.04))
"""Factors of the tolerance of the surfaces, and how much they are believed in beforehand: as stated, careless, and
another shape or place altogether."""

VAGUE = (0.3, 0.6, 1.2)
"""Within a volume of which only the outside is known."""

SAMPLES = 400
"""Of the posterior: a standard deviation is then known to 4 %."""

MOST_PRECISE = 1e4
"""Rows are believed up to that many standard deviations in the load's own size: no sensor is better."""

MOST_LEFT = 40.0
"""Sum of squares of what a sample leaves of at most ten rows, in standard deviations: more has a chance of 1e-5."""

WRONG = 0.5
"""Probability of the last of `SURFACES` from which on the data contradict the shape."""

SOLID = 0.1
"""The most of `WITHIN` that a solid part has."""

LARGEST_MOVE = 2.0 / 3.0
"""Standard deviations of the data by which a shape may move what they determine: a wrong shape that nobody noticed then
makes its error no more than sqrt(1 + 4/9) = 1.2 times that of the data alone, and a right one still takes away
half of it (the limited translation of Efron and Morris 1971)."""

DETERMINED = 30.0
"""How many times more precise than the shape at its widest, which may be wrong by more than all of an inertia, the data
are in a direction that they determine by themselves."""


@dataclass(frozen=True, eq=False)
class DataRows:
    """What data say of phi: rows @ phi = values, with independent errors of standard deviation 1.

    Attributes:
        rows: (r, 10), r at most 10.
        values: (r,).
    """

    rows: FloatArray
    values: FloatArray

    @property
    def information(self) -> FloatArray:
        """(10, 10) inverse covariance of phi by the data alone."""
        return np.asarray(self.rows.T @ self.rows)


@dataclass(frozen=True, eq=False)
class ShapePosterior:
    """A load by data and shape.

    Attributes:
        phi: (10,) the mean, in the tool frame.
        covariance: (10, 10).
        samples: (S, 10) of phi.
        densities: (parts, 2) mean and standard deviation of each part's density [kg/m^3].
        wrong: probability that the shape is wrong by far more than its tolerance.
        unlikely: logarithm of how much less probable the data are with solid parts in their places, each of one
            density, than with what explains them best.
        stated: (10,) phi that fits the data best with such parts.
        evidence: logarithm of the probability of the data, up to a constant.
        maps: (S, 4, 4) where the samples have the shape: affine maps of the tool frame [m].
        gain: (10, 10) by how much phi changes, to first order, with what the data alone say of it, if the shape is
            allowed to be as wrong as it can be: a larger change of the data makes it believed to be.
    """

    phi: FloatArray
    covariance: FloatArray
    samples: FloatArray
    densities: FloatArray
    wrong: float
    unlikely: float
    stated: FloatArray
    evidence: float
    maps: FloatArray
    gain: FloatArray


def shape_posterior(shape: Shape, data: DataRows, mass: float, *, trusted: bool = False) -> ShapePosterior:
    """Combine data with a shape.

    Args:
        shape: in the tool frame.
        data: what the data say.
        mass: about what the load has [kg]; only a unit.
        trusted: the shape cannot be wrong beyond its tolerance.
    """
    model = DensityModel(shape_cells(shape), mass)
    unit = model.cells.to_tool(mass)
    rows, target = _bounded(data.rows @ unit, data.values)
    spreads, prior = _spreads(shape, trusted)
    scales = np.array([model.scales(spread) for spread in spreads])
    zeros = np.zeros_like(scales)
    best, phi, slope, least = nearest_unknowns(model, scales, zeros, rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    inner = np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2)
    evidence = prior - least - 0.5 * np.linalg.slogdet(inner)[1]
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    surfaces = np.array([spread.surface for spread in spreads])
    # Data that say something else are believed if need be: the shape is then off by as much as can be.
    doubted = np.where(surfaces == surfaces.max(), np.exp(evidence - evidence[surfaces == surfaces.max()].max()), 0.0)
    doubted /= doubted.sum()
    gain = np.einsum("k,kij->ij", doubted, slope @ np.swapaxes(A, 1, 2) @ np.linalg.inv(inner)) @ rows
    within = np.array([spread.within for spread in spreads])
    solid = np.flatnonzero((surfaces == surfaces.min()) & (within <= max(SOLID, within.min())))
    stated = solid[np.argmax((evidence - prior)[solid])]
    wrong = 0.0 if trusted or shape.vague else float(weight[surfaces == surfaces.max()].sum())
    rng = np.random.default_rng(0)
    chosen = np.repeat(np.arange(len(spreads)), _shares(weight, SAMPLES))
    start = rng.standard_normal((len(chosen), scales.shape[1]))
    start[:, 0] = best[chosen, 0]  # nothing is known of the level
    noisy = target + rng.standard_normal((len(chosen), len(target)))
    z, sampled, _, _ = nearest_unknowns(model, scales[chosen], start, rows, noisy)
    kept = _explaining(np.sum((sampled @ rows.T - noisy) ** 2, axis=1))
    z, sampled, scaled = z[kept], sampled[kept], scales[chosen][kept]
    samples = sampled @ unit.T
    densities = model.densities(z * scaled)
    mean, covariance = _limited(sampled.mean(axis=0), np.cov(sampled.T), rows, target, A[-1] @ A[-1].T)
    return ShapePosterior(
        unit @ mean,
        unit @ covariance @ unit.T,
        samples,
        np.column_stack([densities.mean(axis=0), densities.std(axis=0)]),
        wrong,
        float(np.max(evidence - prior) - (evidence - prior)[stated]),
        unit @ phi[stated],
        float(evidence.max() + np.log(np.sum(np.exp(evidence - evidence.max())))),
        model.maps(z * scaled),
        unit @ gain @ np.linalg.inv(unit),
    )


def _explaining(squares: FloatArray) -> NDArray[np.bool_]:
    """(S,) which samples explain their data, by what they leave of them: a few end in a minimum that does not."""
    return np.asarray(squares <= max(MOST_LEFT, 4.0 * float(np.quantile(squares, 0.5))))


def _limited(
    phi: FloatArray, covariance: FloatArray, rows: FloatArray, target: FloatArray, wide: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What data and shape give, moved by the shape no farther from what the data determine than `LARGEST_MOVE`.

    Args:
        phi, covariance: (10,) and (10, 10) of data and shape, in units of the load.
        rows: (r, 10) of the data, in the same units; target: (r,) what they give.
        wide: (r, r) covariance of the rows by the shape at its widest.
    """
    spread, turn = np.linalg.eigh(wide)
    along, wanted = turn.T @ rows, turn.T @ target
    moved = along @ phi - wanted
    most = LARGEST_MOVE * np.maximum(1.0, DETERMINED**2 / np.maximum(spread, 1e-12))
    back = np.clip(moved, -most, most) - moved
    if not back.any():
        return phi, covariance
    across = np.linalg.pinv(along).T  # (r, 10) what changes one of the rows alone
    # Where the data win, their deviation is the one to state.
    own = np.einsum("ri,ij,rj->r", along, covariance, along)
    added = np.where(back != 0.0, np.maximum(1.0 - own, 0.0), 0.0)
    free, doubt = phi + back @ across, covariance + (across.T * added) @ across
    if not is_physically_consistent(free):
        inverse = np.linalg.inv(doubt + 1e-12 * np.diag(np.diag(doubt)))
        free = nearest_consistent(free, np.asarray(inverse, dtype=np.float64))
    return free, doubt


def log_evidence(shape: Shape, data: DataRows, mass: float) -> float:
    """Logarithm of the probability of the data if the shape is as right as its tolerance says, up to a constant."""
    model = DensityModel(shape_cells(shape), mass)
    rows, target = _bounded(data.rows @ model.cells.to_tool(mass), data.values)
    # Few are enough to compare shapes: ordinary densities, and very different ones.
    spreads = [Spread(parts, within, shape.tolerance) for parts in PARTS[1:] for within in WITHIN[::2]]
    scales = np.array([model.scales(spread) for spread in spreads])
    _, _, slope, least = nearest_unknowns(model, scales, np.zeros_like(scales), rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    evidence = -least - 0.5 * np.linalg.slogdet(np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2))[1]
    most = float(evidence.max())
    return most + float(np.log(np.mean(np.exp(evidence - most))))


def _spreads(shape: Shape, trusted: bool) -> tuple[list[Spread], FloatArray]:
    """What is tried, and the logarithm of how much it is believed in beforehand (S,)."""
    parts = PARTS if sum(part.density is None for part in shape.parts) > 1 else PARTS[:1]
    surfaces = SURFACES[:1] if trusted or shape.vague else SURFACES
    found, prior = [], []
    for between, within, (factor, belief) in product(parts, VAGUE if shape.vague else WITHIN, surfaces):
        found.append(Spread(between, within, factor * shape.tolerance))
        prior.append(np.log(belief * COMMON.get(within, 1.0)))
    return found, np.array(prior)


def _bounded(rows: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same data as at most ten orthogonal rows, none more precise than can be used."""
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = values > 1e-9 * max(float(values[0]), 1e-300)
    used = np.minimum(values, MOST_PRECISE)
    shrunk = (left.T @ target) * used / np.maximum(values, 1e-300)
    return (used[:, None] * right)[kept], shrunk[kept]


def _shares(weight: FloatArray, count: int) -> np.ndarray:
    """(n,) whole numbers that add up to ``count``, in proportion to the weights."""
    ends = np.round(np.cumsum(weight) * count).astype(int)
    return np.diff(ends, prepend=0)
