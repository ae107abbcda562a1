"""How often noise alone shows a change of a load in a fleet's history, and how often a step is seen.

    python benchmarks/bench_fleet_changes.py [--histories 2000] [--seed 100]

White noise around a steady load, by multiples of the deviations that the recordings state; steps of the mass are in the
middle, in units of that scatter.
"""

from __future__ import annotations

import argparse

import numpy as np
from side_by_side import print_table

from iparam.fleet import Series, changes_of

SCATTERS = (1.0, 2.0, 5.0, 100.0)
LENGTHS = (5, 8, 20)
STEPS = (8.0, 16.0, 40.0)


def is_changed(count: int, scatter: float, step: float, random: np.random.Generator) -> bool:
    """Whether a change is seen of recordings an hour apart of a load of 2 kg, deviations 1 g and 0.1 mm."""
    deviations = np.tile([1e-3, 1e-4, 1e-4, 1e-4], (count, 1))
    values = np.array([2.0, 0.0, 0.0, 0.1]) + scatter * deviations * random.normal(size=(count, 4))
    values[count // 2 :, 0] += step * scatter * deviations[0, 0]
    names, times = tuple(f"{place:03d}" for place in range(count)), 3600.0 * np.arange(count)
    return bool(changes_of(Series("ur5e", "a", "saw", names, times, values, deviations, np.full((count, 6), np.nan))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    random, rows = np.random.default_rng(options.seed), []
    for scatter in SCATTERS:
        for count in LENGTHS:
            false = sum(is_changed(count, scatter, 0.0, random) for _ in range(options.histories))
            few = range(max(1, options.histories // 10))
            seen = [np.mean([is_changed(count, scatter, step, random) for _ in few]) for step in STEPS]
            rows.append([f"{scatter:g}", str(count), str(false), *(f"{100.0 * share:.0f} %" for share in seen)])
    header = ["recordings scatter by, in their deviations", "recordings", "noise shows a change"]
    header += [f"a step of {step:g} scatters is seen" for step in STEPS]
    print_table(f"Changes in {options.histories} histories of noise, steps in {len(few)}", header, rows)


if __name__ == "__main__":
    main()
