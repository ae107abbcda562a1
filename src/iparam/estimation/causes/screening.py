"""`alarms`: whether a run needs a closer look, in some milliseconds: what small mistakes of every kind would leave in
the residuals, all at once.
"""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun, gravity_regressor
from iparam.estimation.causes.fit import REGULAR, linear_fit
from iparam.estimation.causes.hypotheses.arm_model import OffsetJoints
from iparam.estimation.causes.hypotheses.time_local import MEDIAN_OF_SIX, cut_off

SURE = 1e-5
"""Chance with which a sound run alarms, a kind of mistake."""

BLOCKS = 60
"""Stretches of time whose sums show how far errors that last scatter."""

LOUD = 7.0
"""Standard deviations by which the squares of a stretch must be above those of the others."""

WINDOWS = (2, 6, 20)
"""Means in a stretch."""

MOST_MEANS = 500
"""Of a run, that are looked at."""

VISIBLE = 1e-3
"""Residual, as a share of the changes of the force and of the torque, below which nobody needs to hear of it."""


def alarms(run: ExaminedRun) -> tuple[str, ...]:
    """The kinds of mistakes that the residuals of a load could hold; none for a sound run."""
    if cut_off(run):
        return ("channels",)
    run = run.coarser(MOST_MEANS)
    fit = linear_fit(run, possible=False)
    if _invisible(run, fit.residual):
        return ()
    kinds = _kinds(run, fit.phi)
    columns = run.without_drift(np.concatenate(list(kinds.values()), axis=2))
    whiten = 1.0 / run.noise[:, None]
    base, extra = fit.design * whiten, columns * whiten
    residual = fit.residual / run.noise
    flat, more = base.reshape(-1, base.shape[2]), extra.reshape(-1, extra.shape[2])
    scale = np.sqrt(np.sum(more**2, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    extra, more = extra / scale, more / scale
    own = np.sqrt(np.sum(flat**2, axis=0))
    own = np.where(own > 0.0, own, 1.0)
    flat = flat / own
    gram = flat.T @ flat + REGULAR * np.eye(flat.shape[1])
    share = np.linalg.solve(gram, flat.T @ more)
    beside = extra - (base / own) @ share  # what load and bias leave of each
    rows = beside.reshape(-1, beside.shape[2])
    full = rows.T @ rows
    size = np.sqrt(np.diag(full))
    told = size > np.sqrt(REGULAR)
    beside, size, full = beside[:, :, told], size[told], full[np.ix_(told, told)]
    score = np.einsum("nci,nc->i", beside, residual)
    values, vectors = np.linalg.eigh(full / np.outer(size, size))
    kept = values > 1e-6
    solution = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ (score / size)) / size
    rest = residual - beside @ solution
    sums = _block_sums(beside, rest)
    scatter = sums.T @ sums
    for lag in (1, 2):
        cross = sums[lag:].T @ sums[:-lag]
        scatter += (1.0 - lag / 3.0) * (cross + cross.T)
    found, start = [], 0
    kept_of = np.cumsum(np.concatenate([[0], told.astype(np.int64)]))
    for kind, part in kinds.items():
        stop = start + part.shape[2]
        chosen = slice(int(kept_of[start]), int(kept_of[stop]))
        start = stop
        if chosen.stop > chosen.start and _chance(score[chosen], scatter[chosen, chosen], full[chosen, chosen]) < SURE:
            found.append(kind)
    if _loud(rest):
        found.append("time")
    return tuple(found)


def _invisible(run: ExaminedRun, residual: FloatArray) -> bool:
    """Whether next to nothing of the wrench is left, of the force and of the torque."""
    left, shown = (np.sqrt(np.mean(np.var(values, axis=0).reshape(2, 3), axis=1)) for values in (residual, run.y))
    return bool((left <= VISIBLE * shown).all())


def _kinds(run: ExaminedRun, phi: FloatArray) -> dict[str, FloatArray]:
    """(N, 6, k) what small mistakes of each kind add to the wrench of a load phi (10,)."""
    count = len(run.time)
    load = run.A @ phi
    kinds = {}
    mixed = np.zeros((count, 6, 36))
    for row in range(6):
        mixed[:, row, 6 * row : 6 * row + 6] = load
    kinds["sensor"] = mixed
    if run.motion.linear_acceleration_minus_gravity is None:
        kinds["gravity"] = np.stack([gravity_regressor(run.path, axis) @ phi for axis in np.eye(3)], axis=2)
        kinds["weight"] = run.of_gravity[:, :, :4]
        if run.robot is not None:
            kinds["joints"] = OffsetJoints(run.robot, list(range(run.robot.num_joints))).slopes(
                run, np.zeros(run.robot.num_joints), phi
            )
    kinds["delay"] = np.gradient(load, run.time, axis=0)[:, :, None]
    force = np.concatenate([np.swapaxes(run.path.rotation, 1, 2), np.zeros((count, 3, 3))], axis=1)
    kinds["force"] = force
    if run.path.position is not None:
        kinds["spring"] = np.concatenate(
            [np.einsum("nji,nj->ni", run.path.rotation, run.path.position), np.zeros((count, 3))], axis=1
        )[:, :, None]
    share = (run.time - run.time[0]) / (run.time[-1] - run.time[0])
    kinds["drift"] = np.concatenate([np.cos(np.pi * k * share)[:, None, None] * np.eye(6) for k in range(1, 5)], axis=2)
    kinds["change"] = np.concatenate([run.A[:, :, :4] * (share > at)[:, None, None] for at in (0.33, 0.66)], axis=2)
    return kinds


def _block_sums(columns: FloatArray, residual: FloatArray) -> FloatArray:
    """(B, k) sums of columns' r over stretches of time."""
    edges = np.linspace(0, len(residual), min(BLOCKS, len(residual)) + 1).astype(np.int64)
    each = np.einsum("nci,nc->ni", columns, residual)
    return np.asarray(np.add.reduceat(each, edges[:-1], axis=0))


def _chance(score: FloatArray, scatter: FloatArray, full: FloatArray) -> float:
    """Chance of a score (k,) at least that large, with the scatter of its blocks, and not less than white noise has."""
    from scipy.stats import f as fisher

    size = np.sqrt(np.maximum(np.diag(full), 1e-300))
    unit = full / np.outer(size, size)
    values, vectors = np.linalg.eigh(unit)
    kept = values > 1e-4
    root = vectors[:, kept] / np.sqrt(values[kept])  # white noise has unit scatter in these directions
    turned = root.T @ (score / size)
    inner = root.T @ (scatter / np.outer(size, size)) @ root
    raised, directions = np.linalg.eigh(0.5 * (inner + inner.T))
    along = directions.T @ turned
    k = along.size
    statistic = float(np.sum(along**2 / np.maximum(raised, max(1.0, float(raised.mean())))))
    return float(fisher.sf(statistic / k, k, max(BLOCKS - k, 8)))


def _loud(residual: FloatArray) -> bool:
    """Whether some stretch of residuals (N, 6), in units of noise, is much louder than the run as a whole."""
    squares = np.sum(residual**2, axis=1)
    squares = squares * MEDIAN_OF_SIX / max(float(np.median(squares)), 1e-300)
    spread = np.sqrt(max(12.0, float(np.percentile(squares, 84.0) - MEDIAN_OF_SIX) ** 2))
    for window in WINDOWS:
        if window * 4 > len(squares):
            break
        sums = np.convolve(squares, np.ones(window), mode="valid")
        if float(sums.max()) > 6.0 * window * 1.5 + LOUD * spread * np.sqrt(window):
            return True
    return False
