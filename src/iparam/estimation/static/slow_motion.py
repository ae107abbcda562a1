"""`slow_motion_estimate`: mass and centre of mass from a motion whose linear acceleration nobody measured.

The force is m (a - g), plus what turning takes, plus a bias. Of a the orientation tells only what a sensor has that
turns about a point at rest that is fixed to it, as at the end of a link: alpha x r + omega x (omega x r), with r
unknown. That much is fitted along; the rest of a counts as noise.

The torque about the centre of mass does not know a: n = c x f + I alpha + omega x (I omega) with the measured force f,
and with I about the centre of mass. So the centre of mass c comes from the measured force, whatever the acceleration.

All that is faster than such a motion, vibrations of arm and tool, is averaged out: it turns the sensor, too, which no
orientation that was recorded shows.
"""

from __future__ import annotations

import numpy as np

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

SHARED = 0.05
"""Correlation below which residuals count as independent."""

LEAST_EFFECT = 1e-3
"""Root mean square of a column of what turning takes below which it is left out [rad/s^2]: on 10 kg at a metre's
distance it makes 0.01 N."""

LEAST_MEANS = 40
"""Means that there should be: a short run is averaged less."""

GROUPS = 5
"""Long blocks that are left out in turn: as few as Student's distribution can bear, since the acceleration of a slow
motion lasts for a good part of it."""

LEAST_SHARE = 1e-2
"""Share of a block that stays, so that what it alone tells does not become infinitely uncertain."""

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
    unknowns, information = _solve(design, design, y, whiten, shown)
    instruments = _instruments(design, unknowns)
    shown = shown_directions(_rows(instruments, whiten))  # what noise alone could show does not count
    for _ in range(ROUNDS):
        noise = _noise(y - design @ unknowns, shown.basis.shape[1], channel_floor(problem))
        # Each channel by itself: where the model is not exact, correlations would be played off against each other.
        whiten = np.diag(1.0 / np.sqrt(np.diag(noise)))
        instruments = _instruments(design, unknowns)
        unknowns, information = _solve(design, instruments, y, whiten, shown)
    residual = y - design @ unknowns
    inflation = _correlation(residual)
    noise = _noise(residual, shown.basis.shape[1], channel_floor(problem))
    inverse = shown.basis @ np.linalg.inv(information)
    weighted = (whiten.T @ whiten) @ instruments @ shown.basis
    scatter, single = (
        np.einsum("kip,ij,kjq->pq", weighted, of, weighted, optimize=True) for of in (noise, np.diag(np.diag(noise)))
    )
    covariance, plain = (inverse @ matrix @ inverse.T for matrix in (scatter, single))
    # Correlations between channels widen an interval; that they narrow it as well takes a model that is exact.
    moved = _moved_variances(design, instruments, residual, whiten, shown)
    larger = np.maximum(np.diag(plain), moved) / np.maximum(np.diag(covariance), 1e-300)
    wider = np.sqrt(np.maximum(larger, 1.0))
    covariance = covariance * np.outer(wider, wider)
    mass, center = float(unknowns[0]), unknowns[_CENTER]
    phi, known = np.zeros(NUM_PARAMETERS), np.zeros(NUM_PARAMETERS, dtype=bool)
    phi[:4], known[:4] = [mass, *(mass * center)], [shown.known[0], *(shown.known[0] & shown.known[_CENTER])]
    slope = np.eye(4)  # of (m, m c) by (m, c)
    slope[1:, 0], slope[1:, 1:] = center, mass * np.eye(3)
    full = np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))
    full[:4, :4] = slope @ covariance[:4, :4] @ slope.T
    bias = _bias(unknowns, shown) if problem.bias else None
    return assemble_partial(problem, phi, full, known, residual, bias, float(inflation.max()), reason)


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


def _noise(residual: FloatArray, unknowns: int, floor: FloatArray) -> FloatArray:
    """(6, 6) covariance of residuals (M, 6), with what correlation in time adds to it.

    The noise of the force is in the torques by c x f, which are therefore correlated. Forces and torques are not: what
    is left of the forces is mostly acceleration, of which the torques know nothing.

    Args:
        residual: (M, 6).
        unknowns: that were fitted.
        floor: (6,) a standard deviation that is as good as none.
    """
    raised = residual * np.sqrt(_correlation(residual))
    total = raised.T @ raised / max(len(residual) - unknowns / 6.0, 1.0) + np.diag(floor**2)
    total[:3, 3:] = total[3:, :3] = 0.0
    return np.asarray(total)


def _correlation(residual: FloatArray) -> FloatArray:
    """(6,) by how much correlation in time raises the variance of a mean of each channel: 1 + 2 sum of correlations."""
    found = np.ones(residual.shape[1])
    for channel, values in enumerate(residual.T):
        power = float(values @ values)
        for lag in range(1, len(values) // 4):
            shared = float(values[lag:] @ values[:-lag]) / max(power, 1e-300)
            if shared < SHARED:
                break
            found[channel] += 2.0 * shared
    return found


def _rows(design: FloatArray, whiten: FloatArray) -> FloatArray:
    """The triangular factor of the whitened design."""
    return np.asarray(np.linalg.qr((whiten @ design).reshape(-1, design.shape[2]), mode="r"))


def _solve(
    design: FloatArray, instruments: FloatArray, y: FloatArray, whiten: FloatArray, shown: Shown
) -> tuple[FloatArray, FloatArray]:
    """The unknowns (p,) for which the instruments see nothing in the residuals, and Z' W X (r, r)."""
    rows, seen = (((whiten @ part) @ shown.basis).reshape(-1, shown.basis.shape[1]) for part in (design, instruments))
    information = seen.T @ rows
    return np.asarray(shown.basis @ np.linalg.solve(information, seen.T @ (y @ whiten.T).ravel())), information


def _moved_variances(
    design: FloatArray, instruments: FloatArray, residual: FloatArray, whiten: FloatArray, shown: Shown
) -> FloatArray:
    """(p,) variances of the unknowns by how far they move when long blocks are left out in turn (the jackknife).

    What an acceleration or an axis of the sensor does to the force lasts as long as the motion is slow, and the fit
    follows it: residuals alone do not show it. Few blocks know little of their own scatter, hence Student's width.
    """
    blocks = np.array_split(np.arange(len(residual)), GROUPS)
    rows, seen = ((whiten @ part) @ shown.basis for part in (design, instruments))
    whitened = residual @ whiten.T
    shares = [np.einsum("kip,kiq->pq", seen[block], rows[block]) for block in blocks]
    whole = np.sum(shares, axis=0)
    moves = [
        np.linalg.solve(whole - (1.0 - LEAST_SHARE) * share, np.einsum("kip,ki->p", seen[block], whitened[block]))
        for share, block in zip(shares, blocks, strict=True)
    ]
    width = student_width(GROUPS) ** 2 * (GROUPS - 1) / GROUPS
    return np.asarray(width * np.sum((np.array(moves) @ shown.basis.T) ** 2, axis=0))


def _bias(unknowns: FloatArray, shown: Shown) -> FloatArray | None:
    """(6,) of the sensor: the torque's constant is its bias less what the force's bias would make of it."""
    if not shown.known[4:10].all():
        return None
    force, constant = unknowns[4:7], unknowns[7:10]
    return np.concatenate([force, constant + np.cross(unknowns[_CENTER], force)])
