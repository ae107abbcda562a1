"""`placed_posterior`: a load by data and a shape of which it is not known, or only roughly, where it is in the hand.

Shift and turn are unknowns of the density model like its others, with a wide prior. A turn of which nothing is known is
begun from the 24 turns of a cube, of which every turn is within 45 degrees or so; each counts by the probability that
it gives the data. The centre of mass tells where the shape is for each turn; only an inertia that the data show tells
the turn, and half turns about principal axes look alike. What stays open is in the intervals, and is said.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.estimation.shape.posterior.shape_posterior import SAMPLES, ShapePosterior, log_evidence, shape_posterior
from iparam.estimation.shape.shape import Shape
from iparam.rounding import NORMAL_95
from iparam.spatial.transforms import exp_so3, log_so3

NEAR = 0.5
"""Standard deviation of a turn about each axis around each of the 24 [rad]."""

SURELY = 0.6
"""Turns that are known to less than that are begun from all 24 [rad]."""

FAR_LESS = 7.0
"""A turn that is less probable by the exponential of this is left out."""

LEAST_SAMPLES = 80
"""Of the posterior for each turn, whose mean and scatter they tell."""

PLACE_OPEN, TURN_OPEN = 0.01, np.radians(15.0)
"""Standard deviations from which a place [m] and a turn [rad] are called open."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a shape was found to be.

    Attributes:
        moved: (4, 4) from where it was said to be, in the tool frame [m].
        pose: (4, 4) of the frame of its file in the tool frame [m].
        deviation: (6,) standard deviations of the place of that frame [m] and of its turn about the tool's axes [rad].
        remark: what the data tell of it, and what not, in a sentence or two.
    """

    moved: FloatArray
    pose: FloatArray
    deviation: FloatArray
    remark: str


def placed_posterior(shape: Shape, data: DataRows, mass: float) -> tuple[ShapePosterior, Placement | None]:
    """See `shape_posterior`; with where the shape is, if that is to be estimated."""
    if not shape.movable:
        return shape_posterior(shape, data, mass), None
    starts = _starts(shape)
    # What another place can explain is no sign of another shape.
    known = [
        (T, shape_posterior(one, data, mass, trusted=True, samples=samples))
        for T, one, samples in _likely(shape, starts, data, mass)
    ]
    evidence = np.array([found.evidence for _, found in known])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    best = known[int(np.argmax(weight))][1]
    means = np.array([found.phi for _, found in known])
    phi = weight @ means
    gaps = means - phi
    covariance = np.einsum("k,kij->ij", weight, np.array([found.covariance for _, found in known]))
    mean = np.einsum("k,kp->p", weight, np.array([found.densities[:, 0] for _, found in known]))
    squares = [found.densities[:, 1] ** 2 + (found.densities[:, 0] - mean) ** 2 for _, found in known]
    found = dataclasses.replace(
        best,
        phi=phi,
        covariance=covariance + (gaps.T * weight) @ gaps,
        gain=np.einsum("k,kij->ij", weight, np.array([found.gain for _, found in known])),
        densities=np.column_stack([mean, np.sqrt(weight @ np.array(squares))]),
    )
    maps = np.concatenate(
        [_repeated(one.maps @ T, round(SAMPLES * share)) for (T, one), share in zip(known, weight, strict=True)]
    )
    return found, _placement(shape, maps, int(np.sum(weight > 0.05)))


def _repeated(samples: FloatArray, count: int) -> FloatArray:
    """So many of the samples (S, ...), over again where there are fewer."""
    return samples[np.arange(count) % len(samples)]


def _starts(shape: Shape) -> list[FloatArray]:
    """(4, 4) turns about the middle of the shape to begin from."""
    if shape.turn_deviation <= SURELY:
        return [np.eye(4)]
    middle = np.average(
        np.concatenate([part.points for part in shape.parts]),
        axis=0,
        weights=np.concatenate([part.volumes for part in shape.parts]),
    )
    found = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        turn = np.eye(3)[list(order)] * np.array(signs)
        if np.linalg.det(turn) > 0.0:
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = turn, middle - turn @ middle
            found.append(T)
    return found


def _likely(shape: Shape, starts: list[FloatArray], data: DataRows, mass: float) -> list[tuple[FloatArray, Shape, int]]:
    """The starts that are not far less probable than the best, the shape turned so, and how many samples to draw."""
    turn = min(shape.turn_deviation, NEAR)
    turned = [(T, dataclasses.replace(shape.deformed(T), turn_deviation=turn)) for T in starts]
    if len(turned) == 1:
        return [(*turned[0], SAMPLES)]
    evidence = np.array([log_evidence(one, data, mass) for _, one in turned])
    weight = np.exp(evidence - evidence.max())
    count = np.maximum(np.round(SAMPLES * weight / weight.sum()).astype(int), LEAST_SAMPLES)
    kept = evidence > evidence.max() - FAR_LESS
    return [(*one, int(samples)) for one, samples, keep in zip(turned, count, kept, strict=True) if keep]


def _placement(shape: Shape, maps: FloatArray, alike: int) -> Placement:
    """Where samples (S, 4, 4) have the shape.

    Args:
        shape: as it was said to be.
        maps: affine maps from there, in the tool frame.
        alike: how many starts are about as probable.
    """
    turns = _rotations(maps[:, :3, :3])
    mean = _rotations(turns.mean(axis=0)[None])[0] if alike == 1 else turns[0]
    off = log_so3(turns @ mean.T)
    if alike == 1:
        mean = exp_so3(off.mean(axis=0)) @ mean
    poses = maps @ shape.pose
    of_turn = np.sqrt(np.mean(off**2, axis=0)) if alike > 1 else off.std(axis=0)
    middle = shape.bounds[1]
    places = maps[:, :3, :3] @ middle + maps[:, :3, 3]
    moved = np.eye(4)
    moved[:3, :3] = mean
    moved[:3, 3] = places.mean(axis=0) - mean @ middle
    deviation = np.concatenate([poses[:, :3, 3].std(axis=0), of_turn])
    return Placement(frozen(moved), frozen(moved @ shape.pose), frozen(deviation), _remark(off, places, alike))


def _remark(off: FloatArray, places: FloatArray, alike: int) -> str:
    """What is known of the placement, and what is open."""
    center = places.mean(axis=0)
    half = NORMAL_95 * places.std(axis=0)
    text = " ".join(f"{1e3 * value:.1f}+-{1e3 * one:.1f}" for value, one in zip(center, half, strict=True))
    said = f"Where the shape is was estimated along: the middle of its box is at {text} mm (95 %) in the tool frame."
    values, axes = np.linalg.eigh(off.T @ off / len(off))
    open_to = [axes[:, i] for i in range(3) if np.sqrt(values[i]) > TURN_OPEN]
    if alike > 1:
        return (
            f"{said} {alike} turns of it explain the data alike, and the intervals hold them all: no data tell half "
            "turns about principal axes apart; say roughly how it is held (--shape-pose estimate X Y Z R P Y)."
        )
    if len(open_to) == 3:
        return f"{said} The data do not tell how it is turned: an inertia that a faster motion shows would."
    if open_to:
        about = " and ".join("(" + " ".join(f"{value:.2f}" for value in axis) + ")" for axis in open_to)
        said += f" The data do not tell how it is turned about {about} of the tool frame."
    loose = ["xyz"[i] for i in range(3) if places[:, i].std() > PLACE_OPEN]
    if loose:
        said += f" Along {', '.join(loose)} its place is open, too."
    return said


def _rotations(matrices: FloatArray) -> FloatArray:
    """(S, 3, 3) the rotations nearest to matrices (S, 3, 3)."""
    left, _, right = np.linalg.svd(matrices)
    flip = np.ones((len(matrices), 3))
    flip[:, 2] = np.sign(np.linalg.det(left @ right))
    return np.asarray((left * flip[:, None, :]) @ right)
