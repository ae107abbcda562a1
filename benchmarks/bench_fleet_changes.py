"""How often noise alone shows a change of a load in a fleet's history, and how often a step is seen.

    python benchmarks/bench_fleet_changes.py [--histories 2000] [--seed 100]

White noise around a steady load, by multiples of the deviations that the recordings state; steps of the mass are in the
middle, in units of that scatter.
"""

from __future__ import annotations

import argparse

import numpy as np

from iparam.fleet.changes import changes_of
from iparam.fleet.history import Series

SCATTERS = (1.0, 2.0, 5.0, 100.0)
LENGTHS = (5, 8, 20)
STEPS = (8.0, 16.0, 40.0)


def history(count: int, scatter: float, step: float, random: np.random.Generator) -> Series:
    """Recordings an hour apart of a load of 2 kg, deviations 1 g and 0.1 mm."""
    deviations = np.tile([1e-3, 1e-4, 1e-4, 1e-4], (count, 1))
    values = np.array([2.0, 0.0, 0.0, 0.1]) + scatter * deviations * random.normal(size=(count, 4))
    values[count // 2 :, 0] += step * scatter * deviations[0, 0]
    names = tuple(f"{place:03d}" for place in range(count))
    return Series(
        "ur5e", "a", "tool", names, 3600.0 * np.arange(count), values, deviations, np.full((count, 6), np.nan)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    few = max(1, options.histories // 10)
    print("scatter / deviation | recordings | noise shows a change |", " | ".join(f"{s:g} scatters" for s in STEPS))
    for scatter in SCATTERS:
        for count in LENGTHS:
            false = sum(bool(changes_of(history(count, scatter, 0.0, random))) for _ in range(options.histories))
            seen = [
                100.0 * np.mean([bool(changes_of(history(count, scatter, step, random))) for _ in range(few)])
                for step in STEPS
            ]
            told = " | ".join(f"{share:.0f} %" for share in seen)
            print(f"{scatter:g} | {count} | {false} of {options.histories} | {told}", flush=True)


if __name__ == "__main__":
    main()
