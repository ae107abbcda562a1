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
from numpy.random import Generator
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.shape.cells import shape_cells
from iparam.estimation.shape.density_model import NUM_MAP, DensityModel, Spread, nearest_unknowns
from iparam.estimation.shape.shape import Shape
from iparam.rounding import NORMAL_95
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.derived import mass_com_inertia, mass_com_inertia_jacobian

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

OWN = ((1.0, 0.8), (4.0, 0.2))
"""The same for each way of a map (shifts, turns, stretches, shears) by itself, where the whole is as stated: that a
shape is where it should be and as long, which the data show, says nothing of how thick it is, which they do not."""

VAGUE = (0.3, 0.6, 1.2)
"""Within a volume of which only the outside is known."""

SAMPLES = 400
"""Of the posterior: a standard deviation is then known to 4 %."""

ROUNDS = 30
"""In which the middle of the samples is found."""

HALVINGS = 120
"""Of an interval that holds a root: to the last digit, whatever its size."""

MOST_PRECISE = 1e4
"""Rows are believed up to that many standard deviations in the load's own size: no sensor is better."""

MOST_LEFT = 40.0
"""Sum of squares of what a sample leaves of at most ten rows, in standard deviations: more has a chance of 1e-5."""

WRONG = 0.5
"""Probability of the last of `SURFACES` from which on the data contradict the shape."""

SOLID = 0.1
"""The most of `WITHIN` that a solid part has."""

LARGEST_MOVE = 0.2
"""Standard deviations of the data by which a shape may move the result, whatever linear combination of phi one looks
at, where they leave nothing open: a wrong shape that nobody noticed then adds at most a fifth of it to the root mean
square of the error."""

ALL_DETERMINED = 0.02
"""Standard deviation of the data in the direction that they know least, in units of the load's own mass and size, up to
which they leave nothing open: an inertia to 4 % of it with 95 %. At 5 % a right shape would still have halved the
error."""

LARGEST_PARTIAL_MOVE = 2.0 / 3.0
"""The same where the data leave something open, in the directions that they determine: the price of what the shape adds
to the others (the limited translation of Efron and Morris 1971)."""

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
    likelihood = _log_likelihood(least, inner)
    evidence = prior + likelihood
    surfaces, within = np.array([(spread.surface, spread.within) for spread in spreads]).T
    # Data that say something else are believed if need be: the shape is then off by as much as can be.
    farthest = surfaces == surfaces.max()
    doubted = np.where(farthest, np.exp(evidence - evidence[farthest].max()), 0.0)
    doubted /= doubted.sum()
    gain = np.einsum("k,kij->ij", doubted, slope @ np.swapaxes(A, 1, 2) @ np.linalg.inv(inner)) @ rows
    stays = surfaces == surfaces.min()
    solid = np.flatnonzero(stays & (within <= max(SOLID, within.min())))
    stated = solid[np.argmax(likelihood[solid])]
    rng = np.random.default_rng(0)
    wrong, own = 0.0, np.ones((NUM_MAP, 1))
    unlikely = float(np.max(likelihood) - likelihood[stated])
    if not (trusted or shape.vague):
        wrong = float(_normalised(evidence)[farthest].sum())
        top = np.flatnonzero(stays)[np.argmax(evidence[stays])]
        own, likelier = _own_factors(model, spreads[top], float(likelihood[top]), rows, target)
        evidence = evidence + np.where(stays, likelier, 0.0)
    chosen = np.repeat(np.arange(len(spreads)), _shares(_normalised(evidence), SAMPLES))
    scales = scales[chosen]
    scales[stays[chosen], -NUM_MAP:] = _drawn(model, own, shape.tolerance, int(stays[chosen].sum()), rng)
    start = rng.standard_normal(scales.shape)
    start[:, 0] = best[chosen, 0]  # nothing is known of the level
    noisy = target + rng.standard_normal((len(chosen), len(target)))
    z, sampled, _, _ = nearest_unknowns(model, scales, start, rows, noisy)
    kept = _explaining(np.sum((sampled @ rows.T - noisy) ** 2, axis=1))
    z, sampled, scaled = z[kept], sampled[kept], scales[kept]
    samples = sampled @ unit.T
    densities = model.densities(z * scaled)
    back = np.linalg.inv(unit)
    middle = _center(samples)
    scatter = back @ _stated(samples, middle) @ back.T
    mean, covariance = _limited(back @ middle, scatter, data.rows @ unit, data.values, slope[-1])
    return ShapePosterior(
        unit @ mean,
        unit @ covariance @ unit.T,
        samples,
        np.column_stack([densities.mean(axis=0), densities.std(axis=0)]),
        wrong,
        unlikely,
        unit @ phi[stated],
        float(np.logaddexp.reduce(evidence)),
        model.maps(z * scaled),
        unit @ gain @ back,
    )


def _explaining(squares: FloatArray) -> NDArray[np.bool_]:
    """(S,) which samples explain their data, by what they leave of them: a few end in a minimum that does not."""
    return np.asarray(squares <= max(MOST_LEFT, 4.0 * float(np.quantile(squares, 0.5))))


def _center(samples: FloatArray) -> FloatArray:
    """(10,) the spatial median of samples of phi (S, 10), in which far ones count no more than near ones.

    Surfaces and densities that are off by factors make skewed tails, which would pull the mean away from what is most
    likely. It is a weighted mean of the samples, so a possible body as they are (the algorithm of Weiszfeld).
    """
    derived = mass_com_inertia(samples)
    middle = np.median(derived, axis=0)
    scaled = derived / np.maximum(np.median(np.abs(derived - middle), axis=0), 1e-300)
    weight = np.full(len(samples), 1.0 / len(samples))
    for _ in range(ROUNDS):
        weight = 1.0 / np.maximum(np.linalg.norm(scaled - weight @ scaled, axis=1), 1e-3)
        weight /= weight.sum()
    return np.asarray(weight @ samples)


def _stated(samples: FloatArray, center: FloatArray) -> FloatArray:
    """(10, 10) the covariance of phi to state: one whose 95 % intervals about the centre hold 95 % of samples (S, 10).

    Spreads of all sizes make long tails: 1.96 standard deviations of the samples hold more of them. So what is stated
    of mass, centre of mass and inertia about it is scaled, each by its own, and their correlation kept.
    """
    gap = np.abs(mass_com_inertia(samples) - mass_com_inertia(center))
    covariance = np.cov(samples.T)
    jacobian = mass_com_inertia_jacobian(center)
    plain = np.sqrt(np.maximum(np.diag(jacobian @ covariance @ jacobian.T), 1e-300))
    change = np.linalg.solve(jacobian, np.diag(np.quantile(gap, 0.95, axis=0) / NORMAL_95 / plain) @ jacobian)
    return np.asarray(change @ covariance @ change.T)


def _limited(
    phi: FloatArray, covariance: FloatArray, rows: FloatArray, target: FloatArray, widest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What data and shape give, moved by the shape no farther from what the data determine than is allowed.

    The whitened move is projected to an ellipsoid: a ball in the directions that the data determine, so that no linear
    combination of them moves by more, and wider in the others, in which the shape may do as it likes. Data that leave
    nothing open determine all of them, and the ball is small.

    Args:
        phi, covariance: (10,) and (10, 10) of data and shape, in units of the load.
        rows: (r, 10) of the data, in the same units; target: (r,) what they give.
        widest: (10, m) how phi changes with standard normal unknowns of the shape at its widest.
    """
    across = rows @ widest
    spread, turn = np.linalg.eigh(across @ across.T)
    along, wanted = turn.T @ rows, turn.T @ target
    moved = along @ phi - wanted
    most = LARGEST_PARTIAL_MOVE * np.maximum(1.0, DETERMINED**2 / np.maximum(spread, 1e-12))
    opened = _least_known(rows, target) / ALL_DETERMINED
    most = np.minimum(most, LARGEST_MOVE * max(1.0, opened) ** 2)
    kept = shrink_to_ellipsoid(moved, most)
    if np.all(kept == 1.0):
        return phi, covariance
    change = np.linalg.pinv(along).T  # (r, 10) what changes one of the rows alone
    free = phi + ((kept - 1.0) * moved) @ change
    # As far as the data win, their deviation is the one to state.
    own = np.einsum("ri,ij,rj->r", along, covariance, along)
    doubt = covariance + (change.T * ((1.0 - kept) * np.maximum(1.0 - own, 0.0))) @ change
    if not is_physically_consistent(free):
        # In the metric of the data no two bodies get farther apart: the result stays as near to that of the data alone.
        metric = rows.T @ rows if opened <= 1.0 else np.linalg.inv(doubt + 1e-12 * np.diag(np.diag(doubt)))
        free = nearest_consistent(free, np.asarray(metric, dtype=np.float64))
    return free, doubt


def _least_known(rows: FloatArray, target: FloatArray) -> float:
    """Standard deviation of the data (r, 10) in the direction that they know least, infinite if they do not see it.

    In units of the load's mass and of its size: that of the shape or, if it is larger, the one that the data show.
    """
    if len(rows) < rows.shape[1]:
        return np.inf
    alone = np.linalg.lstsq(rows, target, rcond=None)[0]
    mass = max(abs(float(alone[0])), 1e-9)
    reach = 0.5 * float(alone[[4, 7, 9]].sum()) / mass - float(alone[1:4] @ alone[1:4]) / mass**2
    size = np.sqrt(max(reach, 1.0))
    weakest = float(np.linalg.svd(rows * np.array([1.0, *[size] * 3, *[size**2] * 6]), compute_uv=False)[-1])
    return 1.0 / max(weakest, 1e-9)


def shrink_to_ellipsoid(moved: FloatArray, most: FloatArray) -> FloatArray:
    """(r,) factors that take a move (r,) to the nearest point of the ellipsoid of half axes ``most`` (r,)."""
    if np.sum((moved / most) ** 2) <= 1.0:
        return np.ones_like(moved)
    low, high = 0.0, float(np.linalg.norm(moved) * most.max())  # of Lagrange's multiplier: outside, and surely inside
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = np.sum((moved / most / (1.0 + middle / most**2)) ** 2) <= 1.0
        low, high = (low, middle) if inside else (middle, high)
    return np.asarray(1.0 / (1.0 + high / most**2))


def log_evidence(shape: Shape, data: DataRows, mass: float) -> float:
    """Logarithm of the probability of the data if the shape is as right as its tolerance says, up to a constant."""
    model = DensityModel(shape_cells(shape), mass)
    rows, target = _bounded(data.rows @ model.cells.to_tool(mass), data.values)
    # Few are enough to compare shapes: ordinary densities, and very different ones.
    spreads = [Spread(parts, within, shape.tolerance) for parts in PARTS[1:] for within in WITHIN[::2]]
    scales = np.array([model.scales(spread) for spread in spreads])
    _, _, slope, least = nearest_unknowns(model, scales, np.zeros_like(scales), rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    evidence = _log_likelihood(least, np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2))
    return float(np.logaddexp.reduce(evidence) - np.log(len(evidence)))


def _spreads(shape: Shape, trusted: bool) -> tuple[list[Spread], FloatArray]:
    """What is tried, and the logarithm of how much it is believed in beforehand (S,)."""
    parts = PARTS if sum(part.density is None for part in shape.parts) > 1 else PARTS[:1]
    surfaces = SURFACES[:1] if trusted or shape.vague else SURFACES
    found, prior = [], []
    for between, within, (factor, belief) in product(parts, VAGUE if shape.vague else WITHIN, surfaces):
        found.append(Spread(between, within, factor * shape.tolerance))
        prior.append(np.log(belief * COMMON.get(within, 1.0)))
    return found, np.array(prior)


def _own_factors(
    model: DensityModel, spread: Spread, likelihood: float, rows: FloatArray, target: FloatArray
) -> tuple[FloatArray, float]:
    """How probable each of the factors `OWN` is for each way of a map by itself, the others being as stated.

    Args:
        model: of the load.
        spread: that explains the data best with all as stated, and the logarithm of their likelihood with it.
        rows, target: the data.

    Returns:
        Probabilities (12, factors), and by how much all of these explain the data better, a logarithm.
    """
    factors, beliefs = np.array(OWN).T
    others = np.ones((NUM_MAP, len(factors) - 1, NUM_MAP))
    others[np.arange(NUM_MAP), :, np.arange(NUM_MAP)] = factors[1:]
    tried = [
        model.scales(Spread(spread.parts, spread.within, spread.surface * one)) for one in others.reshape(-1, NUM_MAP)
    ]
    scales = np.array(tried)
    _, _, slope, least = nearest_unknowns(model, scales, np.zeros_like(scales), rows, np.tile(target, (len(scales), 1)))
    A = rows @ slope
    found = _log_likelihood(least, np.eye(len(rows)) + A @ np.swapaxes(A, 1, 2)) - likelihood
    logarithm = np.log(beliefs) + np.column_stack([np.zeros(NUM_MAP), found.reshape(NUM_MAP, -1)])
    return np.array([_normalised(one) for one in logarithm]), float(np.logaddexp.reduce(logarithm, axis=1).sum())


def _drawn(model: DensityModel, probabilities: FloatArray, tolerance: float, count: int, rng: Generator) -> FloatArray:
    """(count, 12) scales of the map, with a factor for each of its ways that is drawn by its probabilities (12, k)."""
    factors = np.array([factor for factor, _ in OWN])
    below = rng.random((count, NUM_MAP, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]
    return model.map_scales(tolerance * factors[below.sum(axis=2)])


def _log_likelihood(least: FloatArray, inner: FloatArray) -> FloatArray:
    """(S,) by Laplace's method, up to a constant, from the minima (S,) and the covariances (S, r, r) of the rows."""
    return np.asarray(-least - 0.5 * np.linalg.slogdet(inner)[1])


def _normalised(logarithm: FloatArray) -> FloatArray:
    """(S,) probabilities from their logarithms (S,), up to a constant."""
    weight = np.exp(logarithm - logarithm.max())
    return np.asarray(weight / weight.sum())


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
