"""From samples of a load to what is stated of it: a middle, a covariance, and how far both may leave the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.rounding import NORMAL_95
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.derived import mass_com_inertia, mass_com_inertia_jacobian

MOST_LEFT = 40.0
"""Sum of squares of what a sample leaves of at most ten rows, in standard deviations: more has a chance of 1e-5."""

ROUNDS = 30
"""In which the middle of the samples is found."""

HALVINGS = 120
"""Of an interval that holds a root: to the last digit, whatever its size."""

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


def explaining(squares: FloatArray) -> NDArray[np.bool_]:
    """(S,) which samples explain their data, by what they leave of them: a few end in a minimum that does not."""
    return np.asarray(squares <= max(MOST_LEFT, 4.0 * float(np.quantile(squares, 0.5))))


def center(samples: FloatArray) -> FloatArray:
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


def stated_covariance(samples: FloatArray, center: FloatArray) -> FloatArray:
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


def limited(
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


def no_wider(
    phi: FloatArray, covariance: FloatArray, rows: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What data and a vague guess give, with the data's own where both together would be less certain than the data.

    What is known beside data can only add to them. Samples of a nonlinear model with far tails scatter more than that.

    Args:
        phi, covariance: (10,) and (10, 10) of both.
        rows: (r, 10) of the data, whitened; target: (r,) what they give.
    """
    spread, turn = np.linalg.eigh(rows @ covariance @ rows.T)
    wider = np.maximum(spread, 1.0)
    if np.all(wider <= 1.0 + 1e-9):
        return phi, covariance
    back = np.linalg.pinv(rows)
    change = np.eye(len(phi)) + back @ (turn * (1.0 / np.sqrt(wider) - 1.0)) @ turn.T @ rows
    moved = phi - back @ (turn * (1.0 - 1.0 / wider)) @ turn.T @ (rows @ phi - target)
    narrowed = np.asarray(change @ covariance @ change.T)
    if not is_physically_consistent(moved):
        metric = np.linalg.inv(narrowed + 1e-12 * np.diag(np.diag(narrowed)))
        moved = nearest_consistent(moved, np.asarray(metric, dtype=np.float64))
    return np.asarray(moved), narrowed


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
