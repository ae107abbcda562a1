"""Times rivals side by side: the machine may be shared and noisy, so rounds alternate and the best of each counts.

Runs of many seeds go through the seam of the fleet, `iparam.fleet.run_jobs`.
"""

from __future__ import annotations

import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from iparam.fleet import in_order, run_jobs


def best_times(rivals: dict[str, Callable[[], object]], rounds: int = 15) -> dict[str, float]:
    """Best wall time [s] of each rival over alternating rounds, after one warm-up each."""
    for run in rivals.values():
        run()
    best = dict.fromkeys(rivals, float("inf"))
    for _ in range(rounds):
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def in_workers(
    work: Callable[[Any], Any], jobs: Iterable[Any], executor: Executor | None = None, *, ordered: bool = True
) -> Iterator[Any]:
    """What ``work`` returns for each job, in their order or as it comes, by all cores or by ``executor``.

    A failure ends it.
    """
    outcomes = run_jobs(_importable(work), jobs, executor)
    for outcome in in_order(outcomes) if ordered else outcomes:
        if outcome.error is not None:
            raise RuntimeError(f"job {outcome.index} failed") from outcome.error
        yield outcome.value


def _importable(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the script that runs, as one of its module: workers import it, and keep what it keeps."""
    if isinstance(work, functools.partial):
        return functools.partial(_importable(work.func), *work.args, **work.keywords)
    if work.__module__ != "__main__":
        return work
    found: Callable[[Any], Any] = getattr(importlib.import_module(Path(sys.argv[0]).stem), work.__name__)
    return found


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """A Markdown table, ready for the docs."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}\n")
    print("| " + " | ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True)) + " |")
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |", flush=True)
