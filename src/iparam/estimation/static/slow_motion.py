"""`slow_motion_estimate`: mass and centre of mass from a motion whose linear acceleration nobody measured.

The force is m (a - g), plus what turning takes, plus a bias. Of a the orientation tells only what a sensor has that
turns about a point at rest that is fixed to it, as at the end of a link: alpha x r + omega x (omega x r), with r
unknown. That much is fitted along. The rest of a is a random process, with the power that the residuals show at each
frequency beside what the load takes over of it there.

The torque about the centre of mass does not know a: n = c x f + I alpha + omega x (I omega) with the measured force f,
and with I about the centre of mass. So the centre of mass c comes from the measured force, whatever the acceleration.

All that is faster than such a motion, vibrations of arm and tool, is averaged out: it turns the sensor, too, which no
orientation that was recorded shows.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, block_means
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.covariance import student_width
from iparam.estimation.payload.partial_estimate import Shown, assemble_partial, level_weights, shown_directions
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import ROUNDS, channel_floor, check_wrench
from iparam.spatial.transforms import skew

SLOW = 0.05
"""Time that means are taken over [s]: well below the tenths of a second in which a slow motion changes, and above the
periods of most vibrations."""

LEAST_EFFECT = 1e-3
"""Root mean square of a column of what turning takes below which it is left out [rad/s^2]: on 10 kg at a metre's
distance it makes 0.01 N."""

LEAST_MEANS = 40
"""Means that there should be: a short run is averaged less."""

BAND = 6
"""Coefficients of the slowest band of the power of an unknown acceleration, half as many periods in the run: as few as
three channels tell it with, beside what the load takes over."""

WIDER = 1.6
"""Ratio of the frequencies from band to band."""

_CENTER = slice(1, 4)


def slow_motion_estimate(problem: PayloadProblem, reason: NotIdentifiableError) -> Estimate:
    """Mass, centre of mass and bias, with NaN for the inertia.

    Args:
        problem: whose regressors have no linear acceleration but gravity.
        reason: why that is not everything; raised again if the data tell nothing.
    """
    check_wrench(problem)
    A, y = _means(problem)
    design = _design(A, y, problem.bias)
    whiten = level_weights(problem).whiten
    shown = shown_directions(_rows(design, whiten))
    if not shown.known[0]:
        raise reason
    waves, measured = (_waves(values) for values in (design, y))  # in which a process has next to no correlations
    unknowns = _solved(waves, waves, measured, whiten, shown)[0]
    instruments = _instruments(design, unknowns)
    shown = shown_directions(_rows(instruments, whiten))  # what noise alone could show does not count
    share = np.zeros_like(y)
    for _ in range(ROUNDS):
        power = _power(measured - waves @ unknowns, share, channel_floor(problem))
        # Each channel by itself: where the model is not exact, correlations would be played off against each other. And
        # all frequencies alike: slow ones tell most, and an acceleration has least in common with the weight there.
        weights = 1.0 / np.sqrt(np.broadcast_to(power.mean(axis=0), power.shape))
        seen = _waves(_instruments(design, unknowns))
        unknowns, inverse = _solved(waves, seen, measured, weights, shown)
        weighted = (seen @ shown.basis) * weights[:, :, None]
        share = np.clip(np.einsum("kip,pq,kiq->ki", weighted, inverse, weighted, optimize=True), 0.0, 1.0)
    residual, left = y - design @ unknowns, measured - waves @ unknowns
    alike = _alike(left / np.sqrt(power))
    # What each coefficient does to each direction, in its own standard deviation.
    weighted = np.einsum("kip,pq->kiq", weighted, inverse.T, optimize=True) * (weights * np.sqrt(power))[:, :, None]
    parts = np.einsum("kip,ij,kjq->kpq", weighted, alike, weighted, optimize=True)
    single = np.einsum("kip,kiq->kpq", weighted, weighted, optimize=True)
    covariance, plain = (shown.basis @ each.sum(axis=0) @ shown.basis.T for each in (parts, single))
    # Correlations between channels widen an interval; that they narrow it as well takes a model that is exact.
    larger = np.diag(plain) / np.maximum(np.diag(covariance), 1e-300)
    wider = np.sqrt(np.maximum(larger, 1.0)) * _student(weighted @ shown.basis.T, share)
    covariance = covariance * np.outer(wider, wider)
    inflation = float(np.max(power[1:BAND].mean(axis=0) / np.maximum(power.mean(axis=0), 1e-300)))
    mass, center = float(unknowns[0]), unknowns[_CENTER]
    phi, known = np.zeros(NUM_PARAMETERS), np.zeros(NUM_PARAMETERS, dtype=bool)
    phi[:4], known[:4] = [mass, *(mass * center)], [shown.known[0], *(shown.known[0] & shown.known[_CENTER])]
    slope = np.eye(4)  # of (m, m c) by (m, c)
    slope[1:, 0], slope[1:, 1:] = center, mass * np.eye(3)
    full = np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))
    full[:4, :4] = slope @ covariance[:4, :4] @ slope.T
    bias = _bias(unknowns, shown) if problem.bias else None
    return assemble_partial(problem, phi, full, known, residual, bias, max(inflation, 1.0), reason)


def _means(problem: PayloadProblem) -> tuple[FloatArray, FloatArray]:
    """Regressors (M, 6, 10) and wrenches (M, 6), averaged over `SLOW`."""
    size = slow_means(problem)
    return block_means(problem.A, size), block_means(problem.y, size)


def slow_means(problem: PayloadProblem) -> int:
    """Samples that a mean over `SLOW` has; fewer in a short run."""
    if problem.num_samples < 2:
        return 1
    size = max(1, int(SLOW / float(np.median(np.diff(problem.time))) + 0.01))
    return min(size, max(1, problem.num_samples // LEAST_MEANS))


def _design(A: FloatArray, y: FloatArray, bias: bool) -> FloatArray:
    """(M, 6, p) of the unknowns [m, c, (bias of the force, constant of the torque,) nuisances]."""
    count = len(A)
    columns = np.zeros((count, 6, 4))
    columns[:, :3, 0] = A[:, :3, 0]
    columns[:, 3:, 1:] = -skew(y[:, :3])  # c x f
    parts = [columns]
    if bias:
        parts.append(np.broadcast_to(np.eye(6), (count, 6, 6)))
    turning = np.zeros((count, 6, 9))
    turning[:, :3, :3] = A[:, :3, 1:4]  # of the lever to the point that the sensor turns about, times the mass
    turning[:, 3:, 3:] = A[:, 3:, 4:]  # of the inertia about the centre of mass
    effect = np.sqrt(np.mean(np.sum(turning**2, axis=1), axis=0))
    parts.append(turning[:, :, effect > LEAST_EFFECT])
    return np.concatenate(parts, axis=2)


def _instruments(design: FloatArray, unknowns: FloatArray) -> FloatArray:
    """The design with the fitted force in place of the measured one, whose noise would pull c towards zero."""
    instruments = design.copy()
    instruments[:, 3:, _CENTER] = -skew((design @ unknowns)[:, :3])
    return instruments


def _waves(values: FloatArray) -> FloatArray:
    """The cosine transform of values (M, ...) over time, orthonormal."""
    from scipy.fft import dct

    return np.asarray(dct(values, axis=0, norm="ortho"))


def _bands(count: int) -> NDArray[np.int64]:
    """(B + 1,) the edges of the bands of coefficients in which the power is taken to be the same."""
    edges = [0, BAND]
    while edges[-1] < count:
        edges.append(int(edges[-1] * WIDER) + 1)
    edges[-1] = count
    return np.array(edges if len(edges) < 3 or edges[-1] - edges[-2] >= BAND else [*edges[:-2], count])


def _power(left: FloatArray, share: FloatArray, floor: FloatArray) -> FloatArray:
    """(M, 6) power of what is left (M, 6) of the coefficients of each channel, of a process whose spectrum is smooth.

    What is left of the forces is mostly acceleration, of which the torques know nothing: both have a shape of their
    own, and each channel a size.

    Args:
        left: (M, 6).
        share: (M, 6) of each that the unknowns take over, so that it is not left.
        floor: (6,) a standard deviation that is as good as none.
    """
    edges = _bands(len(left))
    power = np.empty_like(left)
    for part in (slice(3), slice(3, 6)):
        squares, free = left[:, part] ** 2, 1.0 - share[:, part]
        size = np.maximum(squares.sum(axis=0) / np.maximum(free.sum(axis=0), 1.0), floor[part] ** 2)
        for start, stop in pairwise(edges.tolist()):
            shape = np.sum(squares[start:stop] / size) / max(float(free[start:stop].sum()), 1.0)
            power[start:stop, part] = size * shape
        # Few coefficients tell the slowest band, and most of the load: it has no less than all have on average.
        power[: edges[1], part] = np.maximum(power[: edges[1], part], size)
    return np.maximum(power, floor**2)


def _alike(left: FloatArray) -> FloatArray:
    """(6, 6) correlations of the channels of what is left (M, 6), in units of its power.

    The noise of the force is in the torques by c x f, which are therefore correlated. Forces and torques are not.
    """
    size = np.sqrt(np.maximum(np.sum(left**2, axis=0), 1e-300))
    found = left.T @ left / np.outer(size, size)
    found[:3, 3:] = found[3:, :3] = 0.0
    return np.asarray(found)


def _student(moves: FloatArray, share: FloatArray) -> FloatArray:
    """(p,) by how much a standard deviation is widened as few coefficients tell the power that it comes from.

    Args:
        moves: (M, 6, p) what each coefficient does to the unknowns, in its own standard deviation.
        share: (M, 6) of each coefficient that the unknowns take over.
    """
    edges = _bands(len(moves))
    variances = np.add.reduceat(moves**2, edges[:-1], axis=0)  # (B, 6, p)
    free = np.add.reduceat(1.0 - share, edges[:-1], axis=0)
    together = np.repeat(free.reshape(-1, 2, 3).sum(axis=2), 3, axis=1)[:, :, None]
    total = variances.sum(axis=(0, 1))
    freedom = total**2 / np.maximum(np.sum(variances**2 / np.maximum(together, 1.0), axis=(0, 1)), 1e-300)
    return np.array([student_width(1 + max(int(one), 1)) for one in freedom])


def _rows(design: FloatArray, whiten: FloatArray) -> FloatArray:
    """The triangular factor of the whitened design."""
    return np.asarray(np.linalg.qr((whiten @ design).reshape(-1, design.shape[2]), mode="r"))


def _solved(
    design: FloatArray, instruments: FloatArray, y: FloatArray, whiten: FloatArray, shown: Shown
) -> tuple[FloatArray, FloatArray]:
    """The unknowns (p,) for which the instruments see nothing in the residuals, and the inverse (r, r) of Z' W X.

    Args:
        design, instruments: (M, 6, p).
        y: (M, 6).
        whiten: (6, 6), or (M, 6) of each by itself.
        shown: the directions that are told.
    """
    if whiten.shape == y.shape:
        rows, seen, target = design * whiten[:, :, None], instruments * whiten[:, :, None], y * whiten
    else:
        rows, seen, target = whiten @ design, whiten @ instruments, y @ whiten.T
    rows, seen = ((part @ shown.basis).reshape(-1, shown.basis.shape[1]) for part in (rows, seen))
    inverse = np.linalg.inv(seen.T @ rows)
    return np.asarray(shown.basis @ (inverse @ (seen.T @ target.ravel()))), np.asarray(inverse)


def _bias(unknowns: FloatArray, shown: Shown) -> FloatArray | None:
    """(6,) of the sensor: the torque's constant is its bias less what the force's bias would make of it."""
    if not shown.known[4:10].all():
        return None
    force, constant = unknowns[4:7], unknowns[7:10]
    return np.concatenate([force, constant + np.cross(unknowns[_CENTER], force)])
