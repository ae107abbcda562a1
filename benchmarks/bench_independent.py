"""Estimation, measured by a simulator of its own: one row for every recording, and a table of what the rows claim.

The part random has 300 sound recordings, new-mistakes 60 with a mistake, from `independent/`: a simulator that uses
nothing of iparam, MuJoCo or Pinocchio. The other parts are the corpora of tests/mistakes and of other benchmarks, in
the same rows, so that what was before a change and what is after it come from one command.

    PYTHONPATH=tests python benchmarks/bench_independent.py [--part random new-mistakes ...] [--cases 60]
        [--output rows.parquet [--resume]] [--jobs 2]
    PYTHONPATH=tests python benchmarks/bench_independent.py --show rows.parquet
    PYTHONPATH=tests python benchmarks/bench_independent.py --compare old.parquet new.parquet
    PYTHONPATH=tests python benchmarks/bench_independent.py --files FOLDER

With --files, the recordings are written as CSV and Parquet, and their truth into a folder of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from independent import summary
from independent.cases import case, write_files
from independent.corpora import corpora
from independent.mistakes import MISTAKES
from independent.rows import Row, mistaken_row, sound_row
from side_by_side import in_workers, print_table

from iparam.worker_pool import WorkerPool

SOUND, MISTAKEN = 300, 60
KEPT_EVERY = 10
"""Rows after which the file is written anew, so that a run that ends early is not lost."""

Part = tuple[Callable[[Any], Row], Sequence[Any]]


def parts() -> dict[str, Part]:
    return {"random": (sound_row, range(SOUND)), "new-mistakes": (mistaken_row, range(MISTAKEN)), **corpora()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = parts()
    parser.add_argument("--part", nargs="+", choices=list(known), default=["random", "new-mistakes"])
    parser.add_argument("--cases", type=int, help="of each part, the first so many; all if not given")
    parser.add_argument("--output", type=Path, help="Parquet file of the rows")
    parser.add_argument("--resume", action="store_true", help="keep the rows that the output file has")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=Path, help="print the tables of a file")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"), help="list every difference")
    parser.add_argument("--files", type=Path, help="write the recordings, and their truth, into this folder")
    given = parser.parse_args()
    if given.files:
        write_files([*_sound_files(given.cases), *_mistaken_files(given.cases)], given.files)
    elif given.compare:
        lines = summary.differences(*(read(path) for path in given.compare))
        print_table(f"{len(lines)} differences", ["corpus", "case", "what", "old", "new"], lines)
    else:
        show(read(given.show) if given.show else run({name: known[name] for name in given.part}, given))


def run(chosen: dict[str, Part], given: argparse.Namespace) -> list[Row]:
    """The rows of the parts, kept in the output file as they come."""
    rows = read(given.output) if given.resume and given.output.exists() else []
    done = {(row["corpus"], row["job"]) for row in rows}
    with WorkerPool(given.jobs) as pool:
        for name, (make, jobs) in chosen.items():
            left = [job for job in list(jobs)[: given.cases] if (name, str(job)) not in done]
            for job, row in zip(left, in_workers(make, left, pool), strict=True):
                rows.append(row | {"job": str(job)})
                if given.output and len(rows) % KEPT_EVERY == 0:
                    write(rows, given.output)
    if given.output:
        write(rows, given.output)
    return rows


def write(rows: Sequence[Row], path: Path) -> None:
    plain = [
        {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in row.items()}
        for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(plain), path)


def read(path: Path) -> list[Row]:
    return pq.read_table(path).to_pylist()


def show(rows: Sequence[Row]) -> None:
    header = ["", "of", "measured", "goal"]
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == corpus]
        claims = summary.claims_of_mistakes if any(row["wrong"] for row in own) else summary.claims_of_sound
        print_table(corpus, header, (summary.claims_of_random if corpus == "random" else claims)(own))
    heads = ["", "corpus", "group", "preset", "case", "features", "error [sd]", "causes"]
    print_table("Wrong and confident, or refused though right", heads, summary.outstanding(rows))


def _sound_files(count: int | None) -> list[tuple[str, Any, dict[str, Any]]]:
    return [(one.name, one.log(), one.truth()) for one in (case(i) for i in range(SOUND)[:count])]


def _mistaken_files(count: int | None) -> list[tuple[str, Any, dict[str, Any]]]:
    found = []
    for number in range(MISTAKEN)[:count]:
        one, mistake = case(number, sound=False), MISTAKES[number % len(MISTAKES)]
        found.append((one.name, mistake.log(one), one.truth() | {"mistake": mistake.slug}))
    return found


if __name__ == "__main__":
    main()
