"""Times rivals side by side: the machine may be shared and noisy, so rounds alternate and the best of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable


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


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """A Markdown table, ready for the docs."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}\n")
    print("| " + " | ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True)) + " |")
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |", flush=True)
