"""`fit_torques`: passes over the runs of a problem, from filtered motion to a weighted solution."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, block_means
from iparam.estimation.torque.drives.drive_gains import DriveGains
from iparam.estimation.torque.incremental_qr import RowClass, TimeBlocks
from iparam.estimation.torque.joint_data import JointData, JointDataSource
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.estimation.torque.weighted_solution import WeightedSolution, solve_weighted, weighted_parameters

SLOW = 0.05
"""Speed below which a joint's residuals are weighed apart [rad/s]."""

BLOCK = 1.0
"""Length of the time blocks that the covariance comes from [s]; of a short run, a part of it."""

LEAST_BLOCKS = 16

PASSES = 3
"""Over the data, where friction depends on the load, which the pass before tells."""


@dataclass(frozen=True, eq=False)
class TorqueFit:
    """A model fitted to runs.

    Attributes:
        model: what the parameters mean.
        gains: of the drives.
        solution: parameters and their scatter.
        runs: triangles of all runs.
        columns: the model's columns of their classes.
        run_gains: (n, n) mean square of the relative deviations of the drives' gains in the last run from those in the
            runs before it, where that was looked at, see `gain_scatter`; None where all runs share their gains.
    """

    model: TorqueModel
    gains: DriveGains
    solution: WeightedSolution
    runs: tuple[TimeBlocks, ...]
    columns: tuple[dict[RowClass, NDArray[np.int64]], ...]
    run_gains: FloatArray | None = None

    @property
    def covariance(self) -> FloatArray:
        """(r, r) of the used parameters, from the residuals and from the drive gains together."""
        by_joint = self.solution.by_joint
        found = self.solution.covariance + (by_joint.T * self.gains.relative_deviation**2) @ by_joint
        if self.run_gains is not None:
            last = self.solution.by_run[-1]
            found = found + last.T @ self.run_gains @ last
        return np.asarray(found)


def fit_torques(
    model: TorqueModel,
    sources: Sequence[JointDataSource],
    gains: DriveGains,
    *,
    weighted: bool = True,
    progress: Callable[[float], None] | None = None,
) -> TorqueFit:
    """Fit a model to runs, in memory that does not grow with their length.

    Args:
        model: with as many runs as there are sources.
        sources: the runs.
        gains: of the drives.
        weighted: False for plain least squares.
        progress: told the fraction that is done, from time to time.
    """
    parameters: FloatArray | None = None
    noise: dict[RowClass, float] | None = None
    passes = PASSES if "load" in model.friction.terms else 1
    whole, done = passes * sum(source.num_samples for source in sources), 0

    def advance(samples: int) -> None:
        nonlocal done
        done += samples
        if progress is not None:
            progress(done / whole)

    columns = tuple(
        {(j, slow): model.joint_columns(j, run) for j in range(model.num_joints) for slow in (False, True)}
        for run in range(len(sources))
    )
    for remaining in reversed(range(passes)):
        runs = tuple(_triangles(model, source, run, parameters, advance) for run, source in enumerate(sources))
        problem = (runs, columns, model.independent, model.size, gains.values)
        if remaining:
            parameters, noise = weighted_parameters(*problem, weighted=weighted, start=noise)
    solution = solve_weighted(*problem, weighted=weighted, start=noise)
    return TorqueFit(model, gains, solution, runs, columns)


def _triangles(
    model: TorqueModel,
    source: JointDataSource,
    run: int,
    parameters: FloatArray | None,
    advance: Callable[[int], None],
) -> TimeBlocks:
    blocks = TimeBlocks()
    length = max(min(round(BLOCK * source.rate), source.num_samples // LEAST_BLOCKS), 10)
    for data, directions in with_directions(model, source):
        load = None if parameters is None else model.gear_torques(data, run, parameters)
        rows = model.rows(data, run, directions, load)
        for start in range(0, len(data.time), length):
            part = slice(start, start + length)
            classes: dict[RowClass, FloatArray] = {}
            for j in model.measured:
                joint_rows = rows[j]
                whole = np.column_stack([joint_rows[part], data.effort[part, j]])
                slow = np.abs(data.dq[part, j]) < SLOW
                for name, chosen in ((False, ~slow), (True, slow)):
                    if chosen.any():
                        classes[j, name] = whole[chosen]
            blocks.add(classes)
        advance(len(data.time))
    return blocks


def reduced_run(model: TorqueModel, source: JointDataSource, step: int, size: int = 1) -> tuple[JointData, FloatArray]:
    """A whole run with fewer samples, and the directions of motion, which all of its samples tell.

    Args:
        model: with the friction that asks for directions.
        source: the run.
        step: every how many are taken.
        size: successive samples whose mean is one of them.
    """
    names = [field.name for field in dataclasses.fields(JointData)]
    parts: dict[str, list[FloatArray]] = {name: [] for name in names}
    sides = []
    for data, directions in with_directions(model, source):
        for name in names:
            parts[name].append(block_means(getattr(data, name), size)[::step])
        sides.append(block_means(directions, size)[::step])
    return JointData(*(np.concatenate(parts[name]) for name in names)), np.concatenate(sides)


def with_directions(model: TorqueModel, source: JointDataSource) -> Iterator[tuple[JointData, FloatArray]]:
    """The segments of a run, each with the directions of motion for friction, see `TorqueModel.directions`."""
    state: FloatArray | None = None
    for data in source.segments():
        directions = model.directions(data, state)
        state = directions[-1]
        yield data, directions
