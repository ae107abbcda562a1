"""How far the drives disagree with one another: what a log itself says of the drive gains it is read with.

Joints share bodies: what hangs on joint 3 also hangs on joint 2. A gain that is off therefore shows against the others,
and only a factor that all have in common does not. Each joint is given a relative deviation of its gain as one more
unknown; their scatter beyond what residuals explain is the drives' (the estimator of Paule & Mandel 1982, as used where
laboratories are compared). What residuals explain is how far the gains move when long blocks are left out in turn, as
for the parameters: residuals of a real arm last. The mass of the load takes no part in this, so that it may be used to
state the error of it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.torque.incremental_qr import RowClass
from iparam.estimation.torque.torque_fit import TorqueFit
from iparam.estimation.torque.torque_model import NUM_LOAD
from iparam.estimation.torque.weighted_solution import (
    GROUPS,
    Part,
    block_sum_scatter,
    move_without,
    rows_in,
    scaled,
)

LOOSE = 0.3
"""Relative standard deviation that a gain is allowed beforehand: it only keeps the common factor from running away."""

RUN_TOLERANCE = 0.01
"""Relative standard deviation of a factor between the gains of two runs, as far as they do not tell: joints that work
are some 10 K warmer after half an hour, and magnets lose 0.11 % a kelvin."""

CLEAR = 3.0
"""Standard deviations from which on such a factor is spoken of."""

SMALLEST = 1e-13
"""Eigenvalue, of columns scaled to length one, below which a direction counts as not seen."""

LARGEST = 0.5
"""Scatter above which nothing more is said."""


def with_measured_tolerance(fit: TorqueFit) -> TorqueFit:
    """The fit, its gains trusted no more than their scatter in these runs allows; gains without tolerance are exact."""
    gains = fit.gains
    if gains.tolerance == 0.0 or gains.values.size < 2:
        return fit
    scatter = gain_scatter(fit)
    if scatter <= gains.tolerance:
        return fit
    source = f"{gains.source} In these runs the joints' gains disagree by {100 * scatter:.1f} % with one another."
    return dataclasses.replace(fit, gains=dataclasses.replace(gains, tolerance=scatter, source=source))


def with_run_gains(fit: TorqueFit) -> tuple[TorqueFit, tuple[str, ...]]:
    """The fit, its last run trusted to have the gains of the others no more than the runs themselves show; and a
    sentence if they show that it has not. Gains without tolerance are exact.

    A load is found from what the last run has more than the others, and they carry the whole arm: a factor between the
    gains of the two is the arm's weight times its error, which may be several times the load's. What that makes of the
    load is counted where it is more than a standard deviation of it: less is in the gains' own tolerance.
    """
    if fit.gains.tolerance == 0.0 or len(fit.runs) < 2:
        return fit, ()
    deviations, covariance = gain_deviations(fit, between=RUN_TOLERANCE)
    factor, deviation = float(deviations[-1]), float(np.sqrt(covariance[-1, -1]))
    count = fit.model.num_joints
    changed = dataclasses.replace(fit, run_gains=np.full((count, count), factor**2 + deviation**2))
    before = np.diag(fit.covariance)[-NUM_LOAD:]
    if (np.diag(changed.covariance)[-NUM_LOAD:] - before <= before).all():
        return fit, ()
    if abs(factor) <= CLEAR * deviation:
        return changed, ()
    sentence = (
        f"The gains are not the same in both runs: those of the loaded run deviate by {100 * factor:+.1f} +- "
        f"{100 * deviation:.1f} % from those of the other, for which the standard deviations were widened. Record both "
        "runs with the arm equally warm, one right after the other."
    )
    return changed, (sentence,)


def gain_scatter(fit: TorqueFit) -> float:
    """Relative standard deviation of the drives' gains about a common factor, beyond what residuals explain."""
    used = list(fit.model.measured)
    if len(used) < 2:
        return 0.0
    deviations, covariance = gain_deviations(fit)
    deviations, variances = deviations[used], np.diag(covariance)[used]

    def excess(scatter: float) -> float:
        weights = 1.0 / (variances + scatter)
        return float(weights @ (deviations - np.average(deviations, weights=weights)) ** 2) - (deviations.size - 1)

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(LARGEST**2) >= 0.0:
        return LARGEST
    from scipy.optimize import brentq

    return float(np.sqrt(brentq(excess, 0.0, LARGEST**2, xtol=1e-8)))


def gain_deviations(fit: TorqueFit, between: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Relative deviations (n,) of the drives' gains that fit the runs best, and their covariance (n, n).

    A factor that all have in common is only held by `LOOSE`. The covariance is how far they move when long blocks are
    left out in turn; of a factor between runs, the scatter of sums of residuals.

    Args:
        fit: of the runs.
        between: relative standard deviation that a factor which all gains of the last run have more than those of the
            others is allowed beforehand; it is then the last of n + 1 deviations, what is not known of it beforehand
            counted in its variance. 0 for no such factor.
    """
    solution, count, known = fit.solution, fit.solution.used.size, fit.model.num_joints
    size = count + known + bool(between)

    def extended(run: int, key: RowClass, triangle: FloatArray, num_rows: int) -> FloatArray:
        rows = _extended(fit, run, key, triangle, num_rows)
        if not between:
            return rows
        last = rows[:, count:-1].sum(axis=1) * (run == len(fit.runs) - 1)
        return np.column_stack([rows[:, :-1], last, rows[:, -1]])

    totals = [
        (key, extended(run, key, factor.triangle, factor.num_rows) / solution.noise[key])
        for run, blocks in enumerate(fit.runs)
        for key, factor in blocks.totals().items()
    ]
    gram, right = np.zeros((size, size)), np.zeros(size)
    for _, rows in totals:
        gram += rows[:, :-1].T @ rows[:, :-1]
        right += rows[:, :-1].T @ rows[:, -1]
    gram[np.arange(count, count + known), np.arange(count, count + known)] += LOOSE**-2
    meat = np.zeros((size, size))
    if between:
        gram[-1, -1] += between**-2
        meat[-1, -1] = between**-2
    unit = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    inverse = np.linalg.pinv(gram * np.outer(unit, unit), rcond=1e-13, hermitian=True) * np.outer(unit, unit)
    found = inverse @ right
    if not between:
        return np.asarray(found[count:]), _moved_gains(fit, gram, found)
    for run, blocks in enumerate(fit.runs):
        sums = np.zeros((len(blocks.blocks), size))
        for total, block in zip(sums, blocks.blocks, strict=True):
            for key, factor in block.items():
                rows = extended(run, key, factor.triangle, factor.num_rows)
                total += rows[:, :-1].T @ (rows[:, -1] - rows[:, :-1] @ found) / solution.noise[key] ** 2
        meat += block_sum_scatter(sums)
    covariance = inverse[count:] @ meat @ inverse[:, count:]
    return np.asarray(found[count:]), np.asarray(0.5 * (covariance + covariance.T))


def _moved_gains(fit: TorqueFit, gram: FloatArray, found: FloatArray) -> FloatArray:
    """(n, n) covariance of the gains' deviations by how far they move when long blocks are left out in turn.

    Args:
        fit: of the runs.
        gram: (r + n, r + n) of the parameters and the deviations.
        found: (r + n,) them.
    """
    solution, count = fit.solution, fit.solution.used.size
    unit = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    seen = values > SMALLEST * values[-1]
    half = unit[:, None] * vectors[:, seen] / np.sqrt(values[seen])
    covariance = np.zeros((found.size - count, found.size - count))
    for run, blocks in enumerate(fit.runs):
        moves = []
        for group in np.array_split(np.arange(len(blocks.blocks)), min(GROUPS, len(blocks.blocks))):
            information, score = np.zeros((half.shape[1], half.shape[1])), np.zeros(half.shape[1])
            for block in group.tolist():
                for key, factor in blocks.blocks[block].items():
                    rows = _extended(fit, run, key, factor.triangle, factor.num_rows) / solution.noise[key]
                    own = rows[:, :-1] @ half
                    information += own.T @ own
                    score += own.T @ (rows[:, -1] - rows[:, :-1] @ found)
            moves.append(half[count:] @ move_without(information, score))
        covariance += (len(moves) - 1) / len(moves) * np.transpose(moves) @ moves
    return covariance


def _extended(fit: TorqueFit, run: int, key: RowClass, triangle: FloatArray, num_rows: int) -> FloatArray:
    """The rows of a class with a column for the gain of each drive: the torque that passes its gear."""
    solution, model = fit.solution, fit.model
    place = np.full(model.size + 1, -1, dtype=np.int64)
    place[solution.used] = np.arange(solution.used.size)
    part = Part(fit.columns[run][key], key[0], key, scaled(triangle, fit.gains.values[key[0]]), num_rows)
    rows = rows_in(part, place, solution.used.size)
    bodies = np.zeros(model.size)
    bodies[: 10 * model.num_joints] = solution.parameters[: 10 * model.num_joints]
    bodies[model.load_columns] = solution.parameters[model.load_columns]
    gains = np.zeros((len(rows), model.num_joints))
    gains[:, part.joint] = part.triangle[:, :-1] @ bodies[part.columns]
    return np.column_stack([rows[:, :-1], gains, rows[:, -1]])
