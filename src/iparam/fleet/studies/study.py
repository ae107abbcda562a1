"""`run_study`: runs of an experiment until its figures are as precise as is wanted.

Whether that is so is looked at after fixed numbers of runs, counted in the order of their indices: where a study ends,
and what it says, depends on its seed alone, not on how many workers there are or how fast they are.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.files.atomic import atomic_file
from iparam.fleet.jobs import in_order, run_jobs
from iparam.fleet.studies.experiment import Experiment, run_experiment
from iparam.fleet.studies.figures import Figure, coverage_figures, precision_figures, robustness_figures

FORMAT = "iparam-study/1"
FIRST_LOOK = 40
GROWTH = 1.25
MOST_RUNS = 10_000

KINDS: dict[str, tuple[Callable[[Sequence[Mapping[str, Any]]], list[Figure]], str, float]] = {
    "coverage": (coverage_figures, "all ten", 0.01),
    "precision": (precision_figures, "all ten", 0.05),
    "robustness": (robustness_figures, "wrong and trusted", 0.05),
}
"""Of each kind of study: its figures, the one that it stops by, and how precise that is to be: the half width of its
interval."""

SCHEMA = pa.schema(
    [
        pa.field("run", pa.int64()),
        *(pa.field(name, pa.string()) for name in ("robot", "plan", "noise")),
        pa.field("mass_true", pa.float64()),
        *(
            pa.field(f"{name}_{kind}", pa.float64())
            for kind in ("error", "deviation", "bound")
            for name in DERIVED_NAMES
        ),
        pa.field("verdict", pa.string()),
        pa.field("causes", pa.list_(pa.string())),
        pa.field("failure", pa.string()),
    ],
    metadata={"iparam": FORMAT},
)
"""Of the table of runs; nothing in it depends on when or where a run was made."""


@dataclass(frozen=True, eq=False)
class Study:
    """What a study found.

    Attributes:
        kind: one of `KINDS`.
        rows: a row a run, by index.
        figures: with their intervals.
        precision: that was wanted.
        reached: whether the figures are that precise.
    """

    kind: str
    rows: tuple[Mapping[str, Any], ...]
    figures: tuple[Figure, ...]
    precision: float
    reached: bool

    def table(self) -> pa.Table:
        """The runs."""
        return pa.Table.from_pylist([dict(row) for row in self.rows], SCHEMA)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the runs as Parquet, replacing the file in one step."""
        with atomic_file(path) as stream:
            pq.write_table(self.table(), stream, compression="zstd")


def run_study(
    kind: str,
    experiment: Experiment,
    *,
    executor: Executor | None = None,
    precision: float | None = None,
    most_runs: int = MOST_RUNS,
    progress: Callable[[int, int, float], None] | None = None,
) -> Study:
    """Run an experiment until the figures are precise enough, or ``most_runs`` are done.

    Args:
        kind: "coverage", "precision" or "robustness".
        experiment: what is drawn.
        executor: that runs it; None for processes over the cores of this machine.
        precision: half width of the 95 % interval of the figure that counts, in every scenario; None for the usual one.
        most_runs: at which it stops in any case; whole rounds of all scenarios are made.
        progress: told the runs done, those until the next look, and the half width at the last.
    """
    if kind not in KINDS:
        raise UnknownNameError("study", kind, KINDS)
    figures_of, counts, usual = KINDS[kind]
    wanted = usual if precision is None else precision
    if not 0.0 < wanted < float("inf"):
        raise InputError(f"precision must be positive, got {precision!r}")
    if isinstance(most_runs, bool) or not isinstance(most_runs, int) or most_runs < 1:
        raise InputError(f"runs must be a whole number from 1, got {most_runs!r}")
    scenarios = len(experiment.noises)
    looks = _looks(scenarios, most_runs)
    rows: list[Mapping[str, Any]] = []
    figures: list[Figure] = []
    due, width = next(looks), float("inf")
    last = -(-most_runs // scenarios) * scenarios
    function = functools.partial(run_experiment, experiment)
    with contextlib.closing(_ordered(function, last, executor)) as found:
        for row in found:
            rows.append(row)
            if progress is not None:
                progress(len(rows), due, width)
            if len(rows) < due:
                continue
            figures = figures_of(rows)
            width = max(figure.half_width for figure in figures if figure.name == counts)
            if width <= wanted or len(rows) >= last:
                break
            due = next(looks)
    return Study(kind, tuple(rows), tuple(figures), wanted, width <= wanted)


def _looks(scenarios: int, most: int) -> Iterator[int]:
    """Numbers of runs after which the figures are looked at: whole rounds of the scenarios, each a quarter more."""
    rounds = float(max(1, FIRST_LOOK // min(scenarios, 4)))
    last = -(-most // scenarios)
    for _ in itertools.count():
        yield min(int(rounds), last) * scenarios
        rounds = max(rounds * GROWTH, rounds + 1.0)


def _ordered(
    function: Callable[[int], dict[str, Any]], last: int, executor: Executor | None
) -> Generator[dict[str, Any]]:
    for outcome in in_order(run_jobs(function, range(last), executor, total=last)):
        if outcome.failure is not None:  # the experiment itself cannot be made: every run would fail alike
            raise IparamError(f"run {outcome.index} of the study: {outcome.failure.sentence}")
        assert outcome.value is not None
        yield outcome.value
