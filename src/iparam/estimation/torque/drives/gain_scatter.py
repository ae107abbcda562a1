"""How far the drives disagree with one another: what a log itself says of the drive gains it is read with.

Joints share bodies: what hangs on joint 3 also hangs on joint 2. A gain that is off therefore shows against the
others, and only a factor that all have in common does not. Each joint is given a relative deviation of its gain as
one more unknown; their scatter beyond what residuals explain is the drives' (the estimator of Paule & Mandel 1982, as
used where laboratories are compared), if there is more of it than chance makes: residuals alone exceed what they are
expected to be half of the time, and what they do to parameters is counted already. What residuals explain is how far
the gains move when long blocks are left out in turn, as for the parameters: residuals of a real arm last. The mass of
the load takes no part in this, so that it may be used to state the error of it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.torque.incremental_qr import IncrementalQR, RowClass
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
from iparam.remarks import Remark, remark
from iparam.rounding import NORMAL_95

LOOSE = 0.3
"""Relative standard deviation that a gain is allowed beforehand: it only keeps the common factor from running away."""

RUN_TOLERANCE = 0.01
"""Relative standard deviation of a factor between the gains of two runs, as far as they do not tell: joints that work
are some 10 K warmer after half an hour, and magnets lose 0.11 % a kelvin."""

CLEAR = 3.0
"""Standard deviations from which on such a factor is spoken of."""

SMALLEST = 1e-13
"""Eigenvalue, of columns scaled to length one, below which a direction counts as not seen."""

CHANCE = 0.05
"""Probability of as much scatter by residuals alone, above which none is counted."""

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


def with_run_gains(fit: TorqueFit) -> tuple[TorqueFit, tuple[Remark, ...]]:
    """The fit, its last run trusted to have the gains of the others no more than the runs themselves show; and a
    remark where that widens the load's interval. Gains without tolerance are exact.

    A load is found from what the last run has more than the others, and they carry the whole arm: a factor between
    the gains of the two is the arm's weight times its error, which may be several times the load's. What the runs
    say of it is combined with what such factors are like (`RUN_TOLERANCE`), unless the two contradict each other.
    What remains is counted where it is more than a standard deviation of the load: less is in the gains' own
    tolerance.
    """
    if fit.gains.tolerance == 0.0 or len(fit.runs) < 2:
        return fit, ()
    deviations, covariance = gain_deviations(fit, between_runs=True)
    factor, variance, usual = float(deviations[-1]), float(covariance[-1, -1]), RUN_TOLERANCE**2
    shown = factor**2 > CLEAR**2 * variance
    if factor**2 <= CLEAR**2 * (variance + usual):
        share = usual / (usual + variance)
        factor, variance = share * factor, share * variance
    count = fit.model.num_joints
    changed = dataclasses.replace(fit, run_gains=np.full((count, count), factor**2 + variance))
    before = np.diag(fit.covariance)[-NUM_LOAD:]
    if (np.diag(changed.covariance)[-NUM_LOAD:] - before <= before).all():
        return fit, ()
    if shown:
        half = 100 * NORMAL_95 * np.sqrt(variance)
        return changed, (remark("gains-changed-between-runs", share=100 * factor, half_width=half),)
    return changed, (remark("gains-may-differ", share=100 * np.sqrt(factor**2 + variance)),)


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

    from scipy.optimize import brentq
    from scipy.special import fdtri

    joints, blocks = deviations.size - 1, sum(min(GROUPS, len(run.blocks)) - 1 for run in fit.runs)
    if excess(0.0) <= joints * (float(fdtri(joints, max(blocks, 1), 1.0 - CHANCE)) - 1.0):
        return 0.0
    if excess(LARGEST**2) >= 0.0:
        return LARGEST
    return float(np.sqrt(brentq(excess, 0.0, LARGEST**2, xtol=1e-8)))


def gain_deviations(fit: TorqueFit, between_runs: bool = False) -> tuple[FloatArray, FloatArray]:
    """Relative deviations (n,) of the drives' gains that fit the runs best, and their covariance (n, n).

    A factor that all have in common is only held by `LOOSE`. The covariance is how far they move when long blocks are
    left out in turn; of a factor between runs, the scatter of sums of residuals.

    Args:
        fit: of the runs.
        between_runs: whether all gains of the last run may have a factor more than those of the others; it is then the
            last of n + 1 deviations.
    """
    solution, count = fit.solution, fit.solution.used.size
    size = count + fit.model.num_joints + between_runs
    gram, right = np.zeros((size, size)), np.zeros(size)
    for run, blocks in enumerate(fit.runs):
        for key, factor in blocks.totals().items():
            rows = _extended(fit, run, key, factor, between_runs) / solution.noise[key]
            gram += rows[:, :-1].T @ rows[:, :-1]
            right += rows[:, :-1].T @ rows[:, -1]
    gram[np.arange(count, size), np.arange(count, size)] += LOOSE**-2
    unit = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    seen = values > SMALLEST * values[-1]
    half = unit[:, None] * vectors[:, seen] / np.sqrt(values[seen])
    found = half @ (half.T @ right)
    covariance = np.zeros((size - count, size - count))
    for run, blocks in enumerate(fit.runs):
        if between_runs:
            sums = np.zeros((len(blocks.blocks), size))
            for total, block in zip(sums, blocks.blocks, strict=True):
                for key, factor in block.items():
                    rows = _extended(fit, run, key, factor, between_runs) / solution.noise[key]
                    total += rows[:, :-1].T @ (rows[:, -1] - rows[:, :-1] @ found)
            covariance += half[count:] @ block_sum_scatter(sums @ half) @ half[count:].T
            continue
        moves = []
        for group in np.array_split(np.arange(len(blocks.blocks)), min(GROUPS, len(blocks.blocks))):
            information, score = np.zeros((half.shape[1], half.shape[1])), np.zeros(half.shape[1])
            for block in group.tolist():
                for key, factor in blocks.blocks[block].items():
                    rows = _extended(fit, run, key, factor, between_runs) / solution.noise[key]
                    own = rows[:, :-1] @ half
                    information += own.T @ own
                    score += own.T @ (rows[:, -1] - rows[:, :-1] @ found)
            moves.append(half[count:] @ move_without(information, score))
        covariance += (len(moves) - 1) / len(moves) * np.transpose(moves) @ moves
    return np.asarray(found[count:]), covariance


def _extended(fit: TorqueFit, run: int, key: RowClass, factor: IncrementalQR, between_runs: bool) -> FloatArray:
    """The rows of a class with a column for the gain of each drive, the torque that passes its gear, and where it is
    asked for one for the last run.
    """
    solution, model = fit.solution, fit.model
    place = np.full(model.size + 1, -1, dtype=np.int64)
    place[solution.used] = np.arange(solution.used.size)
    triangle = scaled(factor.triangle, fit.gains.values[key[0]])
    part = Part(fit.columns[run][key], key[0], key, triangle, factor.num_rows)
    rows = rows_in(part, place, solution.used.size)
    bodies = np.zeros(model.size)
    bodies[: 10 * model.num_joints] = solution.parameters[: 10 * model.num_joints]
    bodies[model.load_columns] = solution.parameters[model.load_columns]
    gains = np.zeros((len(rows), model.num_joints + between_runs))
    gains[:, part.joint] = part.triangle[:, :-1] @ bodies[part.columns]
    if between_runs and run == len(fit.runs) - 1:
        gains[:, -1] = gains[:, part.joint]
    return np.column_stack([rows[:, :-1], gains, rows[:, -1]])
