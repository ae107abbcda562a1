"""What the live line of a recording promises, and what the estimator then finds: time left, and `--until-precision`.

    python benchmarks/bench_recording_health.py [--seeds 5]

Arms, loads and planned motions with the noise of a UR5e's sensor, looked at four times a second as by `ur run`:

- *reached*: where the live fit calls all targets reached, the recording is cut there and identified; its standard
  deviations over the wanted ones say whether that was right (1: just so).
- *time left*: what was promised at each look before, against the time that it then took.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.bridges.ur.record.health import RecordingHealth
from iparam.excitation.prediction import Target, parse_targets
from iparam.trajectory import Trajectory

DATA = Path(__file__).parents[1] / "tests" / "data"
RATE, LOOK = 500.0, 0.25
GRAVITY = np.array([0.0, 0.0, -9.81])
NOISE = np.array([0.5] * 3 + [0.05] * 3)
OFFSET = np.array([3.0, -1.0, 2.0, 0.1, 0.2, -0.1])
LOADS = {
    "0.4 kg": iparam.InertialParameters(0.4, np.array([0.0, 0.01, 0.05]), np.diag([5e-4, 4e-4, 3e-4])),
    "1 kg": iparam.InertialParameters(1.0, np.array([0.02, 0.01, 0.07]), np.diag([4e-3, 3e-3, 2e-3])),
    "2 kg": iparam.InertialParameters(2.0, np.array([0.01, -0.02, 0.1]), np.diag([0.011, 0.009, 0.006])),
    "4.5 kg": iparam.InertialParameters(4.5, np.array([0.03, 0.0, 0.12]), np.diag([0.03, 0.035, 0.02])),
}
WANTED = ("mass=1%", "mass=0.2%,com=0.5mm", "mass=1%,com=1mm,inertia=10%", "inertia=5%")


def excess(targets: tuple[Target, ...], found: iparam.Estimate) -> float:
    """The largest standard deviation over the wanted one."""
    deviation = found.standard_deviation
    shares = {
        "mass": deviation.mass / found.mass,
        "com": float(deviation.center_of_mass.max()),
        "inertia": float(np.linalg.norm(deviation.inertia_about_com) / np.linalg.norm(found.inertia_about_com)),
    }
    return max(shares[target.quantity] / target.value for target in targets)


def follow(
    arm: str, plan: Trajectory, body: iparam.InertialParameters, wanted: str, seed: int
) -> tuple[float | None, list[tuple[float, float]]]:
    """The estimator's excess where the live fit called it reached; (promised, taken) seconds of the looks before."""
    robot, random, targets = iparam.load_robot(arm), np.random.default_rng(seed), tuple(parse_targets(wanted))
    motion = plan.sample(RATE)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ body.phi + OFFSET
    wrench += NOISE * random.standard_normal(wrench.shape)
    q = motion.q + 5e-5 * random.standard_normal(motion.q.shape)
    health = RecordingHealth(robot, RATE, targets, GRAVITY, plan)
    promised: list[tuple[float, float]] = []
    step = round(LOOK * RATE)
    for first in range(0, len(q), step):
        part = slice(first, first + step)
        health.add(motion.time[part], q[part], wrench[part])
        at = float(motion.time[part][-1])
        report = health.report(at / plan.duration)
        if report.reached:
            rows = slice(0, first + step)
            recording = iparam.Recording(robot=arm).with_signal("q", time=motion.time[rows], values=q[rows])
            recording = recording.with_signal("wrench", time=motion.time[rows], values=wrench[rows])
            taken = [(left, at - then) for then, left in promised]
            return excess(targets, iparam.identify_payload(recording)), taken
        if report.remaining is not None and np.isfinite(report.remaining):
            promised.append((at, report.remaining))
    return None, []


def followed(job: tuple[str, str, str, str, int]) -> tuple[float | None, list[tuple[float, float]]]:
    wanted, arm, plan, body, seed = job
    trajectory = iparam.load_trajectory(DATA / f"{plan}_ur5e.json").trajectory
    return follow(arm, trajectory, LOADS[body], wanted, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    rows = []
    for wanted in WANTED:
        jobs = list(itertools.product([wanted], ("ur3e", "ur5e", "ur10e"), ("optimized", "calm"), LOADS, range(seeds)))
        found, left = [], []
        for ratio, taken in in_workers(followed, jobs):
            if ratio is not None:
                found.append(ratio)
                left += [abs(promised - then) for promised, then in taken]
        ratios = f"{np.median(found):.2f}, {np.quantile(found, 0.9):.2f}, {max(found):.2f}"
        errors = f"{np.median(left):.2f}, {np.quantile(left, 0.9):.2f} s"
        rows.append([wanted.replace(",", ", "), f"{len(found)} of {len(jobs)}", ratios, errors])
    header = ["wanted", "reached", "identified there, by the wanted: median, 90 %, worst"]
    header += ["promised time left is off by: median, 90 %"]
    print_table(f"Three UR arms, two motions, loads of 0.4 to 4.5 kg, {seeds} seeds", header, rows)


if __name__ == "__main__":
    main()
