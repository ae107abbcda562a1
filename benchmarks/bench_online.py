"""The load while the arm moves: accuracy at the end of a 1.5 s motion, and what the filter's delay of 50 ms buys.

A UR5e moves a 2 kg box of 10 x 15 x 20 cm along a motion planned for 1.5 s, in MuJoCo. The sensor was zeroed with the
load on it, at rest in the first pose, as the mean of 50 noisy samples; noise of the preset ``ur5e``.

    python benchmarks/bench_online.py [--seeds 100]
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.estimation import OnlineIdentifier, OnlineSettings
from iparam.motion import JointKalmanFilter, JointProcess
from iparam.motion.lagged_filter import LaggedKalmanFilter
from iparam.sensing import noise_preset
from iparam.simulation import MujocoSimulator, Payload, SimulationResult

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
UR5E = noise_preset("ur5e")
PAYLOAD = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
ZERO_SAMPLES = 50
FIRST_SEED = 1000  # the settings' defaults were chosen on others


@cache
def run() -> SimulationResult:
    trajectory = iparam.load_trajectory(DATA / "short_ur5e.json").trajectory
    return MujocoSimulator().load(iparam.load_robot("ur5e"), PAYLOAD).run(trajectory)


def identify(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(10,) errors of mass, centre of mass and inertia about it at the end of the motion, and their deviations."""
    result, robot = run(), iparam.load_robot("ur5e")
    recording = UR5E.apply(result.recording, seed)
    wrench, ideal = recording.signal("wrench"), result.recording.signal("wrench").values
    bias = (wrench.values - ideal).mean(axis=0)
    white = np.asarray(UR5E.sensors["wrench"].white)
    rest = ideal[0] + white * np.random.default_rng([seed, 1]).standard_normal((ZERO_SAMPLES, 6)).mean(axis=0)
    identifier, estimate = OnlineIdentifier(robot, OnlineSettings(bias="zeroed", zero_samples=ZERO_SAMPLES)), None
    angles = recording.signal("q")
    for k in range(angles.num_samples):
        estimate = identifier.step(angles.time[k], angles.values[k], wrench.values[k] - bias - rest)
    assert estimate is not None
    truth, found = PAYLOAD.parameters, estimate.parameters
    upper = np.triu_indices(3)
    errors = np.concatenate(
        [
            [found.mass - truth.mass],
            found.center_of_mass - truth.center_of_mass,
            (found.inertia_about_com - truth.inertia_about_com)[upper],
        ]
    )
    return errors, estimate.derived_deviation


def accuracy(seeds: int) -> None:
    results = list(in_workers(identify, range(FIRST_SEED, FIRST_SEED + seeds)))
    errors, deviations = (np.array(part) for part in zip(*results, strict=True))
    mass = 100 * np.abs(errors[:, 0]) / PAYLOAD.parameters.mass
    center = 1e3 * np.linalg.norm(errors[:, 1:4], axis=1)
    covered = 100 * np.mean(np.abs(errors) <= 1.96 * deviations, axis=0)
    rows = [
        ["mass %", f"{mass.mean():.2f}", f"{mass.max():.2f}", "1", f"{covered[0]:.0f}"],
        ["centre of mass mm", f"{center.mean():.2f}", f"{center.max():.2f}", "2", _range(covered[1:4])],
        ["inertia", "", "", "", _range(covered[4:])],
    ]
    header = ["error after 1.5 s", "mean", "worst", "goal", "95 % intervals cover %"]
    print_table(f"On-line, sensor zeroed with the load on it, {seeds} seeds", header, rows)


def _range(shares: np.ndarray) -> str:
    return f"{shares.min():.0f} to {shares.max():.0f}"


def delay() -> None:
    """Accelerations of the default filter against filters without delay, each at the best of many settings."""
    result = run()
    time, q, truth = result.true_motion.time, result.true_motion.q, result.true_motion.ddq
    period = float(np.median(np.diff(time)))
    noisy = q + 5e-5 * np.random.default_rng(0).standard_normal(q.shape)
    settings = OnlineSettings()

    def late(process: JointProcess, lag: int) -> float:
        lagged, squares = LaggedKalmanFilter(process, period, lag, q.shape[1]), []
        for k in range(len(time)):
            motion = lagged.step(float(time[k]), noisy[k])
            if motion is not None:
                at = round(motion.time / period)
                squares.append(np.mean((motion.ddq - truth[at]) ** 2))
        return float(np.sqrt(np.mean(squares[50:])))

    def causal(order: int, bandwidth: float) -> float:
        process = JointProcess(order, bandwidth, 5e-5, starts_at_rest=True)
        running, squares = JointKalmanFilter([process] * q.shape[1], period), []
        for k in range(len(time)):
            squares.append(np.mean((running.step(float(time[k]), noisy[k]).ddq - truth[k]) ** 2))
        return float(np.sqrt(np.mean(squares[50:])))

    tried = {(order, band): causal(order, band) for order in (3, 4) for band in (2, 3, 5, 8, 12, 20, 30)}
    (order, band), best = min(tried.items(), key=lambda item: item[1])
    default = settings.process
    rows = [
        [f"fixed lag, {1e3 * period * settings.lag:.0f} ms late: order {default.order}, {default.bandwidth:g} Hz",
         f"{late(default, settings.lag):.3f}"],
        [f"no delay, best of {len(tried)}: order {order}, {band:g} Hz", f"{best:.3f}"],
    ]  # fmt: skip
    print_table("RMS error of the joint accelerations of that motion", ["filter", "rad/s^2"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    accuracy(arguments.seeds)
    delay()


if __name__ == "__main__":
    main()
