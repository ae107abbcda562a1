"""How often noise alone shows a change of a load in a fleet's history, and how often a step is seen.

    python benchmarks/bench_fleet_changes.py [--histories 2000] [--seed 100]

White noise around a steady load, by multiples of the deviations that the recordings state; steps of the mass are in the
middle, in units of that scatter. An arm is alone with its tool, or has eleven others beside it with as many recordings,
that scatter alike, or each by a factor of its own (exp of a normal number of standard deviation 0.5).
"""

from __future__ import annotations

import argparse

import numpy as np

from iparam.fleet.changes import fleet_changes
from iparam.fleet.history import Series

SCATTERS = (1.0, 2.0, 5.0, 100.0)
LENGTHS = (5, 8, 20)
STEPS = (8.0, 16.0, 40.0)
FLEETS = {"alone": (1, 0.0), "12 alike": (12, 0.0), "12 unlike": (12, 0.5)}


def history(count: int, scatter: float, step: float, random: np.random.Generator, arm: str = "a") -> Series:
    """Recordings an hour apart of a load of 2 kg, deviations 1 g and 0.1 mm."""
    deviations = np.tile([1e-3, 1e-4, 1e-4, 1e-4], (count, 1))
    values = np.array([2.0, 0.0, 0.0, 0.1]) + scatter * deviations * random.normal(size=(count, 4))
    values[count // 2 :, 0] += step * scatter * deviations[0, 0]
    names = tuple(f"{place:03d}" for place in range(count))
    bias = np.full((count, 6), np.nan)
    return Series("ur5e", arm, "tool", names, 3600.0 * np.arange(count), values, deviations, bias)


def changed(arms: int, unlike: float, count: int, scatter: float, step: float, random: np.random.Generator) -> set[str]:
    """The arms of a fleet that a change is seen of; the step is that of arm 0."""
    scatters = scatter * np.exp(unlike * random.normal(size=arms))
    fleet = [history(count, one, step * (arm == 0), random, str(arm)) for arm, one in enumerate(scatters)]
    return {change.series.arm for change in fleet_changes(fleet)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    few = max(1, options.histories // 10)
    shown = " | ".join(f"{step:g} scatters" for step in STEPS)
    print(f"arms with that tool | scatter / deviation | recordings | noise shows a change | {shown}")
    for name, (arms, unlike) in FLEETS.items():
        for scatter in SCATTERS:
            for count in LENGTHS:
                fleets = -(-options.histories // arms)
                false = sum(len(changed(arms, unlike, count, scatter, 0.0, random)) for _ in range(fleets))
                seen = [
                    100.0 * np.mean(["0" in changed(arms, unlike, count, scatter, step, random) for _ in range(few)])
                    for step in STEPS
                ]
                told = " | ".join(f"{share:.0f} %" for share in seen)
                print(f"{name} | {scatter:g} | {count} | {false} of {fleets * arms} | {told}", flush=True)


if __name__ == "__main__":
    main()
