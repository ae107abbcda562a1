"""`run_study`: runs of an experiment until its figures are as precise as is wanted.

Whether that is so is looked at after fixed numbers of runs, counted in the order of their indices: where a study ends,
and what it says, depends on its seed alone, not on how many workers there are or how fast they are.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.files.atomic import atomic_file
from iparam.fleet.jobs import in_order, run_jobs
from iparam.fleet.studies.experiment import Experiment, check_bounds, check_noises, run_experiment
from iparam.fleet.studies.figures import ALL, Figure, coverage_figures, precision_figures, robustness_figures

FORMAT = "iparam-study/1"
STUDY_SUFFIXES = (".parquet", ".csv")
"""Of the files that a table of runs is written to."""

FIRST_LOOK = 40
GROWTH = 1.25
MOST_RUNS = 10_000

KINDS: dict[str, tuple[Callable[[Sequence[Mapping[str, Any]]], list[Figure]], str, float]] = {
    "coverage": (coverage_figures, ALL, 0.01),
    "precision": (precision_figures, ALL, 0.05),
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
        half_width: of the interval of the figure that a study stops by, the widest of all scenarios.
    """

    kind: str
    rows: tuple[Mapping[str, Any], ...]
    figures: tuple[Figure, ...]
    precision: float
    half_width: float

    @classmethod
    def of(cls, kind: str, rows: Sequence[Mapping[str, Any]], precision: float | None = None) -> Study:
        """The figures of some runs, also of a study that was cut off.

        Args:
            kind: one of `KINDS`.
            rows: the runs, by index.
            precision: that is wanted; None for the usual one.
        """
        figures_of, counts, usual = KINDS[kind]
        figures, wanted = tuple(figures_of(rows)), usual if precision is None else precision
        width = max((figure.half_width for figure in figures if figure.name == counts), default=math.inf)
        return cls(kind, tuple(rows), figures, wanted, width)

    @property
    def reached(self) -> bool:
        """Whether the figures are as precise as was wanted."""
        return self.half_width <= self.precision

    def table(self) -> pa.Table:
        """The runs."""
        return pa.Table.from_pylist([dict(row) for row in self.rows], SCHEMA)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the runs, as Parquet or, of that suffix, as CSV, replacing the file in one step.

        CSV has all digits; of several causes it has the slugs with a blank between them.
        """
        suffix, table = Path(path).suffix.lower(), self.table()
        if suffix not in STUDY_SUFFIXES:
            raise InputError(
                f"the runs of a study are written as {' or '.join(STUDY_SUFFIXES)}, not {Path(path).name!r}"
            )
        with atomic_file(path) as stream:
            if suffix == ".parquet":
                pq.write_table(table, stream, compression="zstd")
                return
            causes = pa.array([" ".join(slugs or ()) for slugs in table["causes"].to_pylist()], pa.string())
            table = table.set_column(table.schema.get_field_index("causes"), "causes", causes)
            header = ",".join(table.column_names)
            stream.write(f"{header}\n".encode())
            pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(include_header=False))


MOST_PRECISION = 0.5
"""Half width of an interval that still says something of a share."""


def run_study(
    kind: str,
    experiment: Experiment,
    *,
    executor: Executor | None = None,
    precision: float | None = None,
    most_runs: int = MOST_RUNS,
    progress: Callable[[Sequence[Mapping[str, Any]], int, float], None] | None = None,
) -> Study:
    """Run an experiment until the figures are precise enough, or ``most_runs`` are done.

    Args:
        kind: "coverage", "precision" or "robustness".
        experiment: what is drawn.
        executor: that runs it; None for processes over the cores of this machine.
        precision: half width of the 95 % interval of the figure that counts, in every scenario; None for the usual one.
        most_runs: at which it stops in any case; at least one of each scenario.
        progress: told the runs done so far, how many there are at the next look, and the half width at the last. The
            runs are those with the lowest indices: `Study.of` makes a study of them if this one is cut off.
    """
    if kind not in KINDS:
        raise UnknownNameError("study", kind, KINDS)
    wanted = KINDS[kind][2] if precision is None else precision
    if not 0.0 < wanted < math.inf:
        raise InputError(f"precision={precision!r} must be positive")
    if wanted >= MOST_PRECISION:
        raise InputError(
            f"precision={precision!r} is a share of 1, which tells nothing from {MOST_PRECISION} on: 0.02 is 2 %"
        )
    if isinstance(most_runs, bool) or not isinstance(most_runs, int) or most_runs < 1:
        raise InputError(f"most_runs={most_runs!r} must be a whole number from 1")
    scenarios = len(experiment.noises)
    if most_runs < scenarios:
        raise InputError(
            f"most_runs={most_runs} is less than a run of each of the {scenarios} scenarios: give at least {scenarios}"
        )
    check_noises(experiment)
    if kind == "precision":
        check_bounds(experiment)
    looks = _looks(scenarios, most_runs)
    rows: list[Mapping[str, Any]] = []
    study, due = Study.of(kind, rows, wanted), next(looks)
    function = functools.partial(run_experiment, experiment)
    with contextlib.closing(_ordered(function, most_runs, executor)) as found:
        for row in found:
            rows.append(row)
            if progress is not None:
                progress(rows, due, study.half_width)
            if len(rows) < due:
                continue
            study = Study.of(kind, rows, wanted)
            if study.reached or len(rows) >= most_runs:
                break
            due = next(looks)
    return study


def _looks(scenarios: int, most: int) -> Iterator[int]:
    """Numbers of runs after which the figures are looked at: whole rounds of the scenarios, each a quarter more."""
    rounds = float(max(1, FIRST_LOOK // min(scenarios, 4)))
    while True:
        yield min(int(rounds) * scenarios, most)
        rounds = max(rounds * GROWTH, rounds + 1.0)


def _ordered(
    function: Callable[[int], dict[str, Any]], last: int, executor: Executor | None
) -> Generator[dict[str, Any]]:
    for outcome in in_order(run_jobs(function, range(last), executor, total=last)):
        if outcome.failure is not None:  # the experiment itself cannot be made: every run would fail alike
            raise IparamError(f"run {outcome.index} of the study: {outcome.failure.sentence}")
        assert outcome.value is not None
        yield outcome.value
