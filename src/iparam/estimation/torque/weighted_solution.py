"""Weighted least squares over the triangles of runs: weights from the residuals, covariance from long blocks of time.

Each joint has a noise level of its own, and another one while it is slow, where friction is less sure. Residuals of a
real arm are no white noise: they are friction, flexibility and gain errors that the model does not have, they last,
and another part of the motion shows others. The covariance is therefore how far the solution moves when long blocks are
left out in turn (the jackknife, in the form that MacKinnon and White 1985 call HC3, for clusters), wherever it moves
further than independent samples would let it. Few blocks know little of their own scatter, so that standard deviations
are widened to the 95 % interval of Student's distribution: 1.96 of them to either side hold what they should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.payload.covariance import student_width
from iparam.estimation.torque.incremental_qr import IncrementalQR, RowClass, TimeBlocks

LAGS = 2
"""Blocks up to which neighbours may be correlated."""

GROUPS = 8
"""Long blocks of a run that are left out in turn."""

LEAST_SHARE = 1e-3
"""Share of what is known in a direction that the other blocks must have: below it one block alone tells it."""

EVIDENCE = 2.0
"""Standard deviations by which the mean scatter of the blocks must exceed that of independent samples."""

CHANCE = 0.01
"""Probability that independent samples scatter as much in the worst of all directions."""

ROUNDS = 30
SMALLEST = 1e-10
"""Singular value, of columns scaled to length one, below which a direction counts as not seen."""


HIDDEN_PART = 0.01
"""Component of a parameter in directions that are not seen, from which on it is not determined."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one class (joint and speed) in one run.

    Attributes:
        columns: of the model that they have, see `TorqueModel.joint_columns`.
        joint: whose they are.
        noise_class: rows of one class share their weight.
        triangle: R of [rows, effort].
        num_rows: how many.
        run: in which, from 0.
    """

    columns: NDArray[np.int64]
    joint: int
    noise_class: RowClass
    triangle: FloatArray
    num_rows: int
    run: int = 0


@dataclass(frozen=True, eq=False)
class WeightedSolution:
    """What the data say.

    Attributes:
        parameters: (p,) of all columns; zero in columns that stand for nothing by themselves.
        used: (r,) the columns that were estimated.
        triangle, right: (r, r) and (r,) whose least squares solution the parameters are; whitened by the weights.
        covariance: (r, r) of the used parameters from the scatter of the residuals.
        by_run: (runs, n, r) the parts of the parameters that come from the effort of each joint in each run; they add
            up to them.
        noise: noise level by class.
        rms: (n,) of the residuals of each joint, all samples weighing alike.
        num_blocks: time blocks that the covariance comes from.
        unseen: (r,) which of the used parameters have a part that the data do not show at all: alone, or because others
            say the same. Their values are one choice of many, and their covariance lacks that part.
    """

    parameters: FloatArray
    used: NDArray[np.int64]
    triangle: FloatArray
    right: FloatArray
    covariance: FloatArray
    by_run: FloatArray
    noise: dict[RowClass, float]
    rms: FloatArray
    num_blocks: int
    unseen: NDArray[np.bool_]

    @property
    def by_joint(self) -> FloatArray:
        """(n, r) the parts of the parameters that come from the effort of each joint."""
        return np.asarray(self.by_run.sum(axis=0))


@dataclass(frozen=True, eq=False)
class _Settled:
    """A fit whose weights have settled: solution = half (left' right), half half' the inverse of the information."""

    parts: list[Part]
    rows: list[FloatArray]
    place: NDArray[np.int64]
    noise: dict[RowClass, float]
    solution: FloatArray
    triangle: FloatArray
    right: FloatArray
    half: FloatArray

    def parameters(self, used: NDArray[np.int64], size: int) -> FloatArray:
        """(p,) of all columns."""
        parameters = np.zeros(size)
        parameters[used] = self.solution
        return parameters


def solve_weighted(
    runs: Sequence[TimeBlocks],
    columns: Sequence[dict[RowClass, NDArray[np.int64]]],
    used: NDArray[np.int64],
    size: int,
    scale: FloatArray,
    *,
    weighted: bool = True,
    start: dict[RowClass, float] | None = None,
) -> WeightedSolution:
    """Fit the used columns to the efforts of all runs.

    Args:
        runs: the triangles; classes are (joint, speed class).
        columns: for each run, the model's columns of each class.
        used: (r,) columns to estimate.
        size: p, of the model.
        scale: (n,) that turns each joint's effort into torque.
        weighted: False for plain least squares, all rows weighing alike.
        start: noise levels to begin with.
    """
    fit = _settled(runs, columns, used, size, scale, weighted, start)
    half, joints = fit.half, scale.size
    scatter, blocks = _jackknife_scatter(runs, columns, fit.place, scale, fit.noise, fit.solution, half)
    covariance = half @ scatter @ half.T
    return WeightedSolution(
        parameters=fit.parameters(used, size),
        used=used,
        triangle=fit.triangle,
        right=fit.right,
        covariance=0.5 * (covariance + covariance.T),
        by_run=_by_run(fit.parts, fit.rows, fit.noise, half @ half.T, (len(runs), joints)),
        noise=fit.noise,
        rms=_joint_rms(fit.parts, fit.rows, fit.solution, joints),
        num_blocks=blocks,
        unseen=_unseen(fit.triangle),
    )


def weighted_parameters(
    runs: Sequence[TimeBlocks],
    columns: Sequence[dict[RowClass, NDArray[np.int64]]],
    used: NDArray[np.int64],
    size: int,
    scale: FloatArray,
    *,
    weighted: bool = True,
    start: dict[RowClass, float] | None = None,
) -> tuple[FloatArray, dict[RowClass, float]]:
    """Parameters (p,) and noise levels of `solve_weighted` alone, where the rows are to be computed again with them."""
    fit = _settled(runs, columns, used, size, scale, weighted, start)
    return fit.parameters(used, size), fit.noise


def _settled(
    runs: Sequence[TimeBlocks],
    columns: Sequence[dict[RowClass, NDArray[np.int64]]],
    used: NDArray[np.int64],
    size: int,
    scale: FloatArray,
    weighted: bool,
    start: dict[RowClass, float] | None,
) -> _Settled:
    parts = [
        Part(where[key], key[0], key, scaled(factor.triangle, scale[key[0]]), factor.num_rows, index)
        for index, (run, where) in enumerate(zip(runs, columns, strict=True))
        for key, factor in run.totals().items()
    ]
    place = np.full(size + 1, -1, dtype=np.int64)
    place[used] = np.arange(used.size)
    rows = [rows_in(part, place, used.size) for part in parts]
    noise = {part.noise_class: 1.0 if start is None else start[part.noise_class] for part in parts}
    solution, triangle, right, half = _solve(parts, rows, noise, used.size)
    for _ in range(ROUNDS if weighted else 0):
        found = _noise(parts, rows, solution)
        change = max(abs(found[key] / noise[key] - 1.0) for key in found)
        noise = found
        solution, triangle, right, half = _solve(parts, rows, noise, used.size)
        if change < 1e-4:
            break
    return _Settled(parts, rows, place, noise, solution, triangle, right, half)


def whitened_triangle(
    runs: Sequence[TimeBlocks],
    columns: Sequence[dict[RowClass, NDArray[np.int64]]],
    size: int,
    scale: FloatArray,
    noise: dict[RowClass, float],
) -> tuple[FloatArray, FloatArray]:
    """R (k, p) and right-hand side (k,) of all columns, whitened by given noise levels."""
    place = np.arange(size + 1)
    folded = IncrementalQR(size + 1)
    for run, where in zip(runs, columns, strict=True):
        for key, factor in run.totals().items():
            part = Part(where[key], key[0], key, scaled(factor.triangle, scale[key[0]]), factor.num_rows)
            folded.add(rows_in(part, place, size) / noise[key])
    return folded.triangle[:, :-1], folded.triangle[:, -1]


def block_sum_scatter(sums: FloatArray) -> FloatArray:
    """(r, r) covariance of the total of block sums (B, r), neighbours being allowed to be correlated."""
    own = sums.T @ sums
    for lag in range(1, min(LAGS, len(sums) - 1) + 1):
        cross = (1.0 - lag / (LAGS + 1.0)) * (sums[lag:].T @ sums[:-lag])
        own += cross + cross.T
    return np.asarray(own)


def scaled(triangle: FloatArray, scale: np.float64) -> FloatArray:
    """The triangle of [rows, effort] with the effort turned into torque."""
    result = triangle.copy()
    result[:, -1] *= scale
    return result


def rows_in(part: Part, place: NDArray[np.int64], count: int) -> FloatArray:
    """The part's triangle in the columns that are used, the right-hand side last."""
    rows = np.zeros((len(part.triangle), count + 1))
    where = place[part.columns]
    there = where >= 0
    rows[:, where[there]] = part.triangle[:, :-1][:, there]
    rows[:, -1] = part.triangle[:, -1]
    return rows


def _solve(
    parts: Sequence[Part], rows: Sequence[FloatArray], noise: dict[RowClass, float], count: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    folded = IncrementalQR(count + 1)
    for part, part_rows in zip(parts, rows, strict=True):
        folded.add(part_rows / noise[part.noise_class])
    triangle, right = folded.triangle[:count, :-1], folded.triangle[:count, -1]
    lengths = np.linalg.norm(triangle, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    left, values, directions = np.linalg.svd(triangle / lengths)
    seen = values > SMALLEST * values[0]
    inverse_values = np.where(seen, 1.0 / np.where(seen, values, 1.0), 0.0)
    half = (directions.T * inverse_values) / lengths[:, None]
    solution = half @ (left.T @ right)
    return solution, triangle, right, half


def _unseen(triangle: FloatArray) -> NDArray[np.bool_]:
    """(r,) see `WeightedSolution`, from the triangle (r, r) of all rows."""
    lengths = np.linalg.norm(triangle, axis=0)
    _, values, directions = np.linalg.svd(triangle / np.where(lengths > 0.0, lengths, 1.0))
    hidden = directions[values <= SMALLEST * values[0]]
    return np.asarray(np.linalg.norm(hidden, axis=0) > HIDDEN_PART)


def _noise(parts: Sequence[Part], rows: Sequence[FloatArray], solution: FloatArray) -> dict[RowClass, float]:
    squares: dict[RowClass, float] = {}
    counts: dict[RowClass, int] = {}
    for part, part_rows in zip(parts, rows, strict=True):
        residual = part_rows[:, -1] - part_rows[:, :-1] @ solution
        squares[part.noise_class] = squares.get(part.noise_class, 0.0) + float(residual @ residual)
        counts[part.noise_class] = counts.get(part.noise_class, 0) + part.num_rows
    return {key: max(float(np.sqrt(squares[key] / counts[key])), 1e-9) for key in squares}


def _joint_rms(parts: Sequence[Part], rows: Sequence[FloatArray], solution: FloatArray, joints: int) -> FloatArray:
    squares, counts = np.zeros(joints), np.zeros(joints)
    for part, part_rows in zip(parts, rows, strict=True):
        residual = part_rows[:, -1] - part_rows[:, :-1] @ solution
        squares[part.joint] += float(residual @ residual)
        counts[part.joint] += part.num_rows
    return np.sqrt(squares / np.maximum(counts, 1.0))


def _by_run(
    parts: Sequence[Part],
    rows: Sequence[FloatArray],
    noise: dict[RowClass, float],
    inverse: FloatArray,
    shape: tuple[int, int],
) -> FloatArray:
    pulls = np.zeros((*shape, len(inverse)))
    for part, part_rows in zip(parts, rows, strict=True):
        pulls[part.run, part.joint] += part_rows[:, :-1].T @ part_rows[:, -1] / noise[part.noise_class] ** 2
    return pulls @ inverse


def _jackknife_scatter(
    runs: Sequence[TimeBlocks],
    columns: Sequence[dict[RowClass, NDArray[np.int64]]],
    place: NDArray[np.int64],
    scale: FloatArray,
    noise: dict[RowClass, float],
    solution: FloatArray,
    half: FloatArray,
) -> tuple[FloatArray, int]:
    """(r, r) covariance of the solution, in units of that of independent samples, and the number of time blocks.

    Args:
        half: (r, r) H, where H H' is the inverse of the information; the units are those of H^-1 times the solution.
    """
    from scipy.special import chdtri

    count = solution.size
    moves, even = [], []
    for run, where in zip(runs, columns, strict=True):
        for group in np.array_split(np.arange(len(run.blocks)), min(GROUPS, len(run.blocks))):
            information, score = np.zeros((count, count)), np.zeros(count)
            for block in group.tolist():
                for key, factor in run.blocks[block].items():
                    part = Part(where[key], key[0], key, scaled(factor.triangle, scale[key[0]]), factor.num_rows)
                    rows = rows_in(part, place, count) / noise[key]
                    own = rows[:, :-1] @ half
                    information += own.T @ own
                    score += own.T @ (rows[:, -1] - rows[:, :-1] @ solution)
            moves.append(move_without(information, score, 1.0))
            even.append(move_without(information, score, 0.5))
    groups = len(moves)
    blocks = sum(len(run.blocks) for run in runs)
    # Of independent samples the second form has the unit matrix as its expectation, whatever the blocks' shares.
    each = np.mean(np.square(even), axis=0) * groups
    mean_limit = 1.0 + EVIDENCE * np.sqrt(2.0 / (groups * count))
    # Blocks do not share alike in a direction: about half of them count.
    limit = float(chdtri(0.5 * groups, CHANCE / count) / (0.5 * groups))
    if each.mean() < mean_limit and each.max() < limit:
        return np.eye(count), blocks
    scatter = (groups - 1) / groups * np.transpose(moves) @ moves
    values, vectors = np.linalg.eigh(scatter)
    return student_width(groups) ** 2 * (vectors * np.maximum(values, 1.0)) @ vectors.T, blocks


def move_without(information: FloatArray, score: FloatArray, power: float = 1.0) -> FloatArray:
    """(r,) by which a solution moves, with the opposite sign, when a block is left out.

    Args:
        information: (r, r) that the block has, in units in which that of all together is the unit matrix.
        score: (r,) of its residuals.
        power: of what the other blocks have, that the score is divided by; one half makes the expectation of squares
            the block's share, where samples are independent.
    """
    others, directions = np.linalg.eigh(np.eye(score.size) - information)
    return np.asarray(directions @ (directions.T @ score / np.maximum(others, LEAST_SHARE) ** power))
