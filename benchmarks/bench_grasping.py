"""How soon a load is known after it was grasped: at rest, after another orientation, and in motion.

A UR5e holds a box of 0.5 kg and grasps another one of 2 kg, which changes the wrench from one sample to the next; 500
Hz, noise and bias of the preset ``ur5e``, other boxes in other places for every seed. "Known" counts from the grasp
until what is published stays within the bound for the rest of the run; coverage is that of every published 95 %
interval, looked at 20 times a second. Then changes of any size, whose weight is taken over or put down within 0 to 3 s:
what is published from the first moment of the change on is compared with the load at the instant that it is about. At
last ten minutes of the same motion over and over, with a constant load.

    python benchmarks/bench_grasping.py [--part grasp|rest|motion|constant ...] [--seeds 12] [--minutes 10]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.estimation import OnlineIdentifier, OnlineSettings
from iparam.rounding import NORMAL_95
from iparam.sensing import noise_preset
from iparam.spatial import InertialParameters

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
PERIOD = 0.002
SENSORS = noise_preset("ur5e").sensors
REST = np.array([0.4, -1.3, 1.6, -1.8, -1.5, 0.3])
TURNED = REST + np.array([0.0, 0.0, 0.0, 0.6, 0.9, 0.5])
FIRST_SEED = 1000
LOOK = 25
"""Samples between two looks at the interval."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Angles, and q, dq, ddq as they are, of a motion sampled at 500 Hz; when the load changes [s]."""

    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray
    grasp: float


@cache
def exciting() -> tuple[np.ndarray, ...]:
    motion = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.sample(1.0 / PERIOD)
    return motion.q, motion.dq, motion.ddq


def at_rest() -> Stream:
    count = 2000
    return Stream(np.tile(REST, (count, 1)), np.zeros((count, 6)), np.zeros((count, 6)), 2.0)


def turning() -> Stream:
    """At rest for 3 s, a turn of 1 s in which nothing is fast, and at rest again."""
    time = PERIOD * np.arange(3000)
    s = np.clip(time - 3.0, 0.0, 1.0)
    blend = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    speed, change = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    way = TURNED - REST
    return Stream(REST + np.outer(blend, way), np.outer(speed, way), np.outer(change, way), 2.0)


def moving() -> Stream:
    return Stream(*exciting(), 4.0)


def rested_and_moving() -> Stream:
    """At rest, a grasp, and the exciting motion three seconds later."""
    q, dq, ddq = exciting()
    still = np.zeros((2500, 6))
    return Stream(
        np.concatenate([np.tile(q[0], (2500, 1)), q]),
        np.concatenate([still, dq]),
        np.concatenate([still, ddq]),
        2.0,
    )


SCENES: dict[str, tuple[Callable[[], Stream], str]] = {
    "at rest, bias known": (at_rest, "none"),
    "at rest, then turned, bias known": (turning, "none"),
    "at rest, then exciting, bias known": (rested_and_moving, "none"),
    "moving, bias known": (moving, "none"),
    "moving, bias estimated before the grasp": (moving, "estimate"),
}


def random_load(random: np.random.Generator, mass: float) -> InertialParameters:
    body = InertialParameters.box(mass, tuple(random.uniform(0.05, 0.25, 3)))
    shift = random.uniform([-0.05, -0.05, 0.02], [0.05, 0.05, 0.15])
    return InertialParameters(mass, shift, body.inertia_about_com)


def derived(phi: np.ndarray) -> np.ndarray:
    body = InertialParameters.from_phi(phi)
    return np.array([body.mass, *body.center_of_mass, *body.inertia_about_com[np.triu_indices(3)]])


def grasp(name: str, seed: int) -> dict[str, np.ndarray]:
    """Times after the grasp at which each of the ten was known, and which of the intervals held."""
    make, bias = SCENES[name]
    stream, robot, random = make(), iparam.load_robot("ur5e"), np.random.default_rng(seed)
    first, second = random_load(random, 0.5).phi, random_load(random, 2.0).phi
    time = PERIOD * np.arange(len(stream.q))
    held = np.where(time[:, None] < stream.grasp, first, first + second)
    wrench = np.einsum("nij,nj->ni", iparam.wrench_regressor(robot, stream.q, stream.dq, stream.ddq), held)
    sensor = SENSORS["wrench"]
    if bias == "estimate":
        wrench = wrench + random.uniform(-1.0, 1.0, 6) * np.asarray(sensor.bias_range)
    wrench = wrench + np.asarray(sensor.white) * random.standard_normal(wrench.shape)
    angles = stream.q + SENSORS["q"].white * random.standard_normal(stream.q.shape)
    identifier = OnlineIdentifier(robot, OnlineSettings(bias=bias))
    truth = {False: derived(first), True: derived(first + second)}
    noticed, seen, covered = np.nan, [], []
    for k in range(len(time)):
        estimate = identifier.step(float(time[k]), angles[k], wrench[k])
        after = bool(identifier.restarts)
        if after and np.isnan(noticed):
            noticed = time[k] - stream.grasp
        if estimate is None:
            seen.append((time[k], after, np.full(10, np.nan)))
            continue
        values, deviations = estimate.derived
        seen.append((time[k], after, values))
        # From the grasp until it is noticed the old load is published: a delay, which the times show.
        if k % LOOK == 0 and after == (time[k] >= stream.grasp):
            inside = np.abs(values - truth[after]) <= NORMAL_95 * deviations
            covered.append(np.where(np.isnan(deviations), np.nan, inside))
    true, start = truth[True], stream.grasp
    after_it = np.array([row[0] for row in seen]) >= start
    found = np.array([row[2] if row[1] else np.full(10, np.nan) for row in seen])[after_it]
    times = time[after_it] - start
    scale = np.array([0.02 * true[0], *[0.01] * 3])
    mass = _from(times, np.abs(found[:, 0] - true[0]) <= scale[0])
    center = _from(times, (np.abs(found[:, 1:4] - true[1:4]) <= scale[1:]).all(axis=1))
    return {
        "noticed": np.array(noticed),
        "mass": np.array(mass),
        "center": np.array(center),
        "all": np.array(_from(times, np.isfinite(found).all(axis=1))),
        "restarts": np.array(identifier.restarts),
        "covered": np.array(covered),
    }


def _from(times: np.ndarray, good: np.ndarray) -> float:
    """When ``good`` became true for the rest of the run; infinite if it did not."""
    bad = np.flatnonzero(~good)
    if not bad.size:
        return float(times[0])
    return float(times[bad[-1] + 1]) if bad[-1] + 1 < len(times) else np.inf


STEPS = (0.0, 0.005, 0.02, 0.05, 0.2, 0.5, 2.0, 5.0)
LIFTS = (0.0, 0.3, 1.0, 3.0)
FILTER_DELAY = 0.05
"""By which what is published is late, with the default lag [s]."""


def lifting(moving: bool, lift: float) -> Stream:
    """At rest for 3 s before the change and 4 s after it, or in motion, 6 s before it."""
    if not moving:
        count = round((7.0 + lift) / PERIOD)
        return Stream(np.tile(REST, (count, 1)), np.zeros((count, 6)), np.zeros((count, 6)), 3.0)
    q, dq, ddq = exciting()
    places = np.arange(round((10.0 + lift) / PERIOD)) % len(q)
    return Stream(q[places], dq[places], ddq[places], 6.0)


def change(moving: bool, step: float, lift: float, seed: int) -> dict[str, np.ndarray]:
    """A load of 0.5 kg and another one that is taken up (even seeds) or put down (odd ones) within ``lift`` [s].

    In motion every other two seeds do not know the bias before.
    """
    stream, robot, random = lifting(moving, lift), iparam.load_robot("ur5e"), np.random.default_rng(seed)
    first, second = random_load(random, 0.5).phi, random_load(random, max(step, 1e-9)).phi
    time = PERIOD * np.arange(len(stream.q))
    share = np.clip((time - stream.grasp) / lift, 0.0, 1.0) if lift else np.where(time < stream.grasp, 0.0, 1.0)
    held = first + (share if seed % 2 == 0 else 1.0 - share)[:, None] * second
    wrench = np.einsum("nij,nj->ni", iparam.wrench_regressor(robot, stream.q, stream.dq, stream.ddq), held)
    sensor, bias = SENSORS["wrench"], "estimate" if moving and seed // 2 % 2 else "none"
    if bias == "estimate":
        wrench = wrench + random.uniform(-1.0, 1.0, 6) * np.asarray(sensor.bias_range)
    wrench = wrench + np.asarray(sensor.white) * random.standard_normal(wrench.shape)
    angles = stream.q + SENSORS["q"].white * random.standard_normal(stream.q.shape)
    identifier = OnlineIdentifier(robot, OnlineSettings(bias=bias))  # type: ignore[arg-type]
    noticed, early, looks, good = np.nan, 0, [], []
    for k in range(len(time)):
        estimate = identifier.step(float(time[k]), angles[k], wrench[k])
        since = time[k] - stream.grasp
        if since < 0.0:
            early = identifier.restarts
            continue
        if identifier.restarts > early and np.isnan(noticed):
            noticed = since
        good.append(estimate is not None and abs(estimate.mass - held[-1, 0]) <= 0.02 * held[-1, 0])
        if k % LOOK:
            continue
        if estimate is None:
            looks.append([since - FILTER_DELAY, *[np.nan] * 11])
            continue
        values, deviations = estimate.derived
        inside = np.abs(values - derived(held[round(estimate.time / PERIOD)])) <= NORMAL_95 * deviations
        inside_or_unsaid = np.where(np.isnan(deviations), np.nan, inside)
        looks.append([estimate.time - stream.grasp, *inside_or_unsaid, deviations[0]])
    return {
        "noticed": np.array(noticed),
        "known": np.array(_from(time[time >= stream.grasp] - stream.grasp - lift, np.array(good))),
        "false": np.array(early + max(identifier.restarts - early - 1, 0) + (step == 0.0) * (noticed > 0.0)),
        "looks": np.array([look for look in looks if look[0] >= 0.0]),
    }


def changes_of_any_size(moving: bool, seeds: int) -> None:
    rows = []
    for lift in LIFTS:
        for step in STEPS if not lift else STEPS[1:]:
            runs = list(in_workers(partial(change, moving, step, lift), range(FIRST_SEED, FIRST_SEED + seeds)))
            noticed, known = (np.array([run[key] for run in runs]) for key in ("noticed", "known"))
            looks = np.concatenate([run["looks"] for run in runs])
            seen = np.isfinite(noticed)
            rows.append(
                [
                    f"{lift:g}",
                    f"{step:g}",
                    f"{100 * seen.mean():.0f} %" + (f", {np.median(noticed[seen]):.2f}" if seen.any() else ""),
                    f"{max(np.median(known), 0.0):.2f}, {max(known.max(), 0.0):.2f}",
                    " ".join(_share(looks[:, part]) for part in (slice(1, 2), slice(2, 5), slice(5, 11))),
                    f"{100.0 * np.isnan(looks[:, 1]).mean():.0f}",
                    f"{1e3 * NORMAL_95 * np.nanmedian(looks[:, 11]):.0f}",
                    str(sum(int(run["false"]) for run in runs)),
                ]
            )
    header = ["within, s", "change, kg", "noticed, after s", "mass within 2 %, s after it, median, worst",
              "95 % intervals hold from its first moment on, %: mass, centre, inertia", "nothing said, %",
              "half width of the mass, g", "further changes"]  # fmt: skip
    print_table(f"A change {'in motion' if moving else 'at rest'}, {seeds} seeds", header, rows)


def constant(minutes: float, seed: int) -> tuple[int, float]:
    """Changes that were noticed where there was none, and the error of the mass at the end [%]."""
    robot, random = iparam.load_robot("ur5e"), np.random.default_rng(seed)
    load = random_load(random, random.uniform(0.3, 4.0)).phi
    q, dq, ddq = exciting()
    bias = random.uniform(-1.0, 1.0, 6) * np.asarray(SENSORS["wrench"].bias_range)
    wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ load + bias
    identifier, estimate, k = OnlineIdentifier(robot), None, 0
    for _ in range(max(round(minutes * 60.0 / (PERIOD * len(q))), 1)):
        angles = q + SENSORS["q"].white * random.standard_normal(q.shape)
        measured = wrench + np.asarray(SENSORS["wrench"].white) * random.standard_normal(wrench.shape)
        for angle, value in zip(angles, measured, strict=True):
            estimate = identifier.step(PERIOD * k, angle, value)
            k += 1
    return identifier.restarts, np.nan if estimate is None else 100.0 * abs(estimate.mass / load[0] - 1.0)


def grasps(seeds: int) -> None:
    rows = []
    for name in SCENES:
        runs = list(in_workers(partial(grasp, name), range(FIRST_SEED, FIRST_SEED + seeds)))
        row = [name]
        for key in ("noticed", "mass", "center", "all"):
            values = np.array([run[key] for run in runs])
            row.append(f"{np.median(values):.2f}, {values.max():.2f}" if np.isfinite(values).any() else "never")
        covered = np.concatenate([run["covered"] for run in runs])
        row.append(" ".join(_share(covered[:, part]) for part in (slice(0, 1), slice(1, 4), slice(4, 10))))
        row.append(str(sum(int(run["restarts"]) != 1 for run in runs)))
        rows.append(row)
    header = ["0.5 kg -> 2.5 kg", "noticed, s", "mass within 2 %, s", "centre within 10 mm, s", "all ten, s",
              "95 % intervals hold, %: mass, centre, inertia", "runs without exactly one change"]  # fmt: skip
    print_table(f"Time after the grasp, median and worst of {seeds} seeds", header, rows)


def constant_loads(minutes: float, seeds: int) -> None:
    found = list(in_workers(partial(constant, minutes), range(FIRST_SEED, FIRST_SEED + seeds)))
    changes, errors = zip(*found, strict=True)
    row = [str(seeds), str(sum(changes)), f"{np.median(errors):.3f}, {max(errors):.3f}"]
    header = ["runs", "changes noticed", "mass off by at the end, %: median, worst"]
    print_table(f"{minutes:g} min of the same motion over and over, constant load", header, [row])


PARTS = ("grasp", "rest", "motion", "constant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", type=int, default=12, help="of each scene, each change, or runs of constant load")
    parser.add_argument("--minutes", type=float, default=10.0, help="of constant load")
    options = parser.parse_args()
    if "grasp" in options.part:
        grasps(options.seeds)
    for part in ("rest", "motion"):
        if part in options.part:
            changes_of_any_size(part == "motion", options.seeds)
    if "constant" in options.part:
        constant_loads(options.minutes, options.seeds)


def _share(held: np.ndarray) -> str:
    known = np.isfinite(held)
    return f"{100.0 * held[known].mean():.1f}" if known.any() else "-"


if __name__ == "__main__":
    main()
