"""What data and a shape say together of a load, with the trust in the shape found from how well it explains them.

How far parts differ in density, how far it varies within a part, how they are filled, and how wrong the shape is in its
place and form are not known either. Each has a few values that are tried (`prior`), up to all that is possible. The
probability of the data under each (the evidence, by Laplace's method) says which of them to believe. A shape that
explains the data is held to be right; one that does not is held to be wrong by as much as it takes, and then the data
decide alone.

The posterior is sampled by randomised maximum likelihood: draw unknowns from the prior and errors of the data, and
find what explains the one with the least change of the other (Oliver 1996). That is exact where phi is linear in the
unknowns, and keeps each sample a possible body where it is not. The mean of possible bodies is a possible body.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.shape.posterior.box_model import BoxModel
from iparam.estimation.shape.posterior.cells import shape_cells
from iparam.estimation.shape.posterior.density_model import NUM_MAP, SOLID, STRETCHES, DensityModel, Spread
from iparam.estimation.shape.posterior.nearest import LoadModel, nearest_unknowns
from iparam.estimation.shape.posterior.prior import PARTS, SIZES, WITHIN, fillings, hypotheses
from iparam.estimation.shape.posterior.rows import DataRows, bounded
from iparam.estimation.shape.posterior.summary import center, explaining, limited, no_wider, stated_covariance
from iparam.estimation.shape.shape import Shape

SAMPLES = 400
"""Of the posterior: a standard deviation is then known to 4 %."""

STARTS = 24
"""From which the best explanation by a box is sought."""

WRONG = 0.5
"""Probability of another shape from which on the data contradict the shape."""

EVEN = 0.1
"""The most of `WITHIN` that a part of one density has."""


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
        best: (10,) phi of the best explanation.
        left: sum of squares of what it leaves of the data, in their standard deviations.
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
    best: FloatArray
    left: float
    evidence: float
    maps: FloatArray
    gain: FloatArray


def shape_posterior(
    shape: Shape, data: DataRows, mass: float, *, trusted: bool = False, samples: int = SAMPLES
) -> ShapePosterior:
    """Combine data with a shape.

    Args:
        shape: in the tool frame.
        data: what the data say.
        mass: about what the load has [kg]; only a unit.
        trusted: the shape cannot be wrong beyond its tolerance.
        samples: how many to draw.
    """
    if shape.vague:
        return _box_posterior(shape, data, mass)
    model = DensityModel(shape_cells(shape), mass)
    unit = model.cells.to_tool(mass)
    rows, target = bounded(data.rows @ unit, data.values)
    tried = hypotheses(shape, mass, trusted=trusted)
    scales, means = _normals(model, tried.spreads)
    best, phi, slope, least = nearest_unknowns(model, scales, means, rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    inner = np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2)
    likelihood = _log_likelihood(least, inner)
    evidence = tried.belief + likelihood
    # Data that say something else are believed if need be: the shape is then off by as much as can be.
    doubted = np.where(tried.another, np.exp(evidence - evidence[tried.another].max()), 0.0)
    doubted /= doubted.sum()
    gain = np.einsum("k,kij->ij", doubted, slope @ np.swapaxes(A, 1, 2) @ np.linalg.inv(inner)) @ rows
    solid = tried.stated & [spread.within <= EVEN and spread.filling == SOLID for spread in tried.spreads]
    rng = np.random.default_rng(0)
    wrong, sizes = 0.0, np.array([[1.0]] * 3)
    unlikely = float(np.max(likelihood) - np.max(likelihood[solid]))
    if not trusted:
        wrong = float(_normalised(evidence)[tried.another].sum())
        top = np.flatnonzero(tried.stated)[np.argmax(evidence[tried.stated])]
        sizes, likelier = _size_factors(model, tried.spreads[top], float(likelihood[top]), rows, target)
        evidence = evidence + np.where(tried.stated, likelier, 0.0)
    chosen = np.repeat(np.arange(len(scales)), _shares(_normalised(evidence), samples))
    scales, stated = scales[chosen], tried.stated[chosen]
    scales[stated, -NUM_MAP:] = model.map_scales(shape.tolerance * _drawn(sizes, int(stated.sum()), rng))
    means = means[chosen]
    means[:, 0] = best[chosen, 0]
    believed = tried.believed_filling(evidence)[chosen]
    sampled = _sampled(model, unit, scales, means, believed, data, slope[-1], rng)
    left = np.sum((phi @ rows.T - target) ** 2, axis=1)
    nearest = int(np.argmin(left))
    return ShapePosterior(
        sampled.phi,
        sampled.covariance,
        sampled.samples,
        sampled.mean_and_deviation(model.densities(sampled.unknowns)),
        wrong,
        unlikely,
        unit @ phi[nearest],
        float(left[nearest]),
        float(np.logaddexp.reduce(evidence)),
        model.maps(sampled.unknowns),
        unit @ gain @ np.linalg.inv(unit),
    )


def _box_posterior(shape: Shape, data: DataRows, mass: float) -> ShapePosterior:
    """The same for a box that the load lies in: nothing is known of how it fills it."""
    model, rng = BoxModel(shape, mass), np.random.default_rng(0)
    unit = model.to_tool
    rows, target = bounded(data.rows @ unit, data.values)
    starts = np.concatenate([np.zeros((1, model.num_unknowns)), rng.standard_normal((STARTS, model.num_unknowns))])
    scales = np.tile(model.scales, (len(starts), 1))
    best, phi, slope, least = nearest_unknowns(model, scales, starts, rows, np.tile(target, (len(starts), 1)))
    left = np.sum((phi @ rows.T - target) ** 2, axis=1)
    top = int(np.argmin(left))
    A = rows @ slope[top]
    gain = slope[top] @ A.T @ np.linalg.inv(np.eye(len(rows)) + A @ A.T) @ rows
    scales, means = np.tile(model.scales, (SAMPLES, 1)), np.zeros((SAMPLES, model.num_unknowns))
    means[:, 0] = best[top, 0]
    sampled = _sampled(model, unit, scales, means, np.full(SAMPLES, True), data, slope[top], rng)
    mean, covariance = no_wider(sampled.phi, sampled.covariance, data.rows, data.values)
    return ShapePosterior(
        mean,
        covariance,
        sampled.samples,
        sampled.mean_and_deviation(model.densities(sampled.unknowns)),
        wrong=0.0,
        unlikely=0.0,
        best=unit @ phi[top],
        left=float(left[top]),
        evidence=-float(least.min()),
        maps=np.broadcast_to(np.eye(4), (len(sampled.samples), 4, 4)),
        gain=unit @ gain @ np.linalg.inv(unit),
    )


@dataclass(frozen=True, eq=False)
class _Sampled:
    """The posterior of a model.

    Attributes:
        phi, covariance, samples: see `ShapePosterior`.
        unknowns: (S, m) of the samples, scaled.
    """

    phi: FloatArray
    covariance: FloatArray
    samples: FloatArray
    unknowns: FloatArray

    @staticmethod
    def mean_and_deviation(values: FloatArray) -> FloatArray:
        """(k, 2) of values (S, k)."""
        return np.column_stack([values.mean(axis=0), values.std(axis=0)])


def _sampled(
    model: LoadModel,
    unit: FloatArray,
    scales: FloatArray,
    means: FloatArray,
    believed: NDArray[np.bool_],
    data: DataRows,
    widest: FloatArray,
    rng: Generator,
) -> _Sampled:
    """Sample a model by randomised maximum likelihood.

    Args:
        model: of the load.
        unit: (10, 10) that takes its phi to the tool frame.
        scales: (S, m) of its normal unknowns, for each sample.
        means: (S, m) of these before they are scaled, of the first, of which nothing is known, its value.
        believed: (S,) the samples whose middle is the estimate: of a body that is solid or hollow, not of one between.
        data: to be explained.
        widest: (10, m) how phi changes with standard normal unknowns where least is known of the load.
        rng: to draw with.
    """
    rows, target = bounded(data.rows @ unit, data.values)
    off = _mirrored(rng.standard_normal(scales.shape))
    off[:, 0] = 0.0
    noisy = target + _mirrored(rng.standard_normal((len(scales), len(target))))
    z, phi, _, _ = nearest_unknowns(model, scales, means + off, rows, noisy)
    kept = explaining(np.sum((phi @ rows.T - noisy) ** 2, axis=1))
    samples, back = phi[kept] @ unit.T, np.linalg.inv(unit)
    middle = center(samples[believed[kept]] if believed[kept].any() else samples)
    scatter = back @ stated_covariance(samples, middle) @ back.T
    mean, covariance = limited(back @ middle, scatter, data.rows @ unit, data.values, widest)
    return _Sampled(unit @ mean, unit @ covariance @ unit.T, samples, (z * scales)[kept])


def _mirrored(drawn: FloatArray) -> FloatArray:
    """Draws (S, k), every second one the opposite of that before it: their middle then owes little to chance."""
    drawn[1::2] = -drawn[: len(drawn) - 1 : 2]
    return drawn


def log_evidence(shape: Shape, data: DataRows, mass: float) -> float:
    """Logarithm of the probability of the data if the shape is as right as its tolerance says, up to a constant."""
    _, _, evidence = _likeliest(shape, data, mass)
    return float(np.logaddexp.reduce(evidence) - np.log(len(evidence)))


def best_densities(shape: Shape, data: DataRows, mass: float) -> FloatArray:
    """(parts,) densities that explain the data best if the shape is as right as its tolerance says [kg/m^3]."""
    model, unknowns, evidence = _likeliest(shape, data, mass)
    return np.asarray(model.densities(unknowns[[int(np.argmax(evidence))]])[0])


def _likeliest(shape: Shape, data: DataRows, mass: float) -> tuple[DensityModel, FloatArray, FloatArray]:
    """The model, the scaled unknowns (S, m) that explain the data best for a few spreads, and the evidence (S,)."""
    model = DensityModel(shape_cells(shape), mass)
    rows, target = bounded(data.rows @ model.cells.to_tool(mass), data.values)
    # Few are enough to compare shapes: ordinary densities, and very different ones.
    tried = product(fillings(shape, mass), PARTS[1:], WITHIN[::2])
    spreads = [Spread(parts, within, shape.tolerance, filling) for (filling, _), parts, within in tried]
    scales, means = _normals(model, spreads)
    z, _, slope, least = nearest_unknowns(model, scales, means, rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    return model, z * scales, _log_likelihood(least, np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2))


def _normals(model: DensityModel, spreads: Sequence[Spread]) -> tuple[FloatArray, FloatArray]:
    """Scales and means (S, m) of normal unknowns."""
    return np.array([model.scales(one) for one in spreads]), np.array([model.means(one) for one in spreads])


def _size_factors(
    model: DensityModel, spread: Spread, likelihood: float, rows: FloatArray, target: FloatArray
) -> tuple[FloatArray, float]:
    """How probable each of the factors `SIZES` is for the size along each axis by itself, the others being as stated.

    Args:
        model: of the load.
        spread: that explains the data best with all as stated, and the logarithm of their likelihood with it.
        rows, target: the data.

    Returns:
        Probabilities (3, factors), and by how much all of these explain the data better, a logarithm.
    """
    factors, beliefs = np.array(SIZES).T
    others = np.ones((3, len(factors) - 1, NUM_MAP))
    others[np.arange(3), :, np.arange(NUM_MAP)[STRETCHES]] = factors[1:]
    tried = [dataclasses.replace(spread, surface=spread.surface * one) for one in others.reshape(-1, NUM_MAP)]
    scales, means = _normals(model, tried)
    _, _, slope, least = nearest_unknowns(model, scales, means, rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    found = _log_likelihood(least, np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2)) - likelihood
    logarithm = np.log(beliefs) + np.column_stack([np.zeros(3), found.reshape(3, -1)])
    return np.array([_normalised(one) for one in logarithm]), float(np.logaddexp.reduce(logarithm, axis=1).sum())


def _drawn(probabilities: FloatArray, count: int, rng: Generator) -> FloatArray:
    """(count, 12) factors of the tolerance, those of sizes drawn by their probabilities (3, k)."""
    factors = np.array([factor for factor, _ in SIZES])
    below = rng.random((count, 3, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]
    found = np.ones((count, NUM_MAP))
    found[:, STRETCHES] = factors[below.sum(axis=2)]
    return found


def _log_likelihood(least: FloatArray, inner: FloatArray) -> FloatArray:
    """(S,) by Laplace's method, up to a constant, from the minima (S,) and the covariances (S, r, r) of the rows."""
    return np.asarray(-least - 0.5 * np.linalg.slogdet(inner)[1])


def _normalised(logarithm: FloatArray) -> FloatArray:
    """(S,) probabilities from their logarithms (S,), up to a constant."""
    weight = np.exp(logarithm - logarithm.max())
    return np.asarray(weight / weight.sum())


def _shares(weight: FloatArray, count: int) -> np.ndarray:
    """(n,) whole numbers that add up to ``count``, in proportion to the weights."""
    ends = np.round(np.cumsum(weight) * count).astype(int)
    return np.diff(ends, prepend=0)
