"""How good the payload estimates are where it is difficult, noisy runs against the truth, and how fast they are.

A UR5e moves a 2 kg box of 10 x 15 x 20 cm for 10 s along an optimised trajectory in MuJoCo; the noise of the preset
``ur5e`` is then drawn anew for every seed.

    python benchmarks/bench_estimation.py [--seeds 400] [--part default|errors|bias|speed|drift]
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.signal import savgol_filter
from scipy.special import stdtrit
from side_by_side import best_times, in_workers, print_table

import iparam
from iparam.estimation import (
    ConsistentLeastSquares,
    InstrumentalVariables,
    LeastSquares,
    OnlineIdentifier,
    OnlineSettings,
    RecursiveTotalLeastSquares,
    TotalLeastSquares,
    WeightedLeastSquares,
    identify_payload,
    problem_from_recording,
)
from iparam.estimation.assessment.derived_values import derived_of
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.estimators.recursive import RecursiveLeastSquaresState
from iparam.estimation.estimators.recursive_total import RecursiveTotalLeastSquaresState
from iparam.excitation.prediction import predict_precision
from iparam.motion import MotionEstimate
from iparam.recording import Recording
from iparam.rounding import NORMAL_95
from iparam.sensing import Correction, MeasurementNoise, NoiseModel, noise_preset
from iparam.simulation import MujocoSimulator, Payload, SimulationResult

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
UR5E = noise_preset("ur5e")
IN_PLACE = Correction(sensor_offset=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -9.81))
PAYLOAD = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))


@cache
def run() -> SimulationResult:
    robot = iparam.load_robot("ur5e")
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    return MujocoSimulator().load(robot, PAYLOAD).run(trajectory)


def noisy(noise: NoiseModel, seed: int) -> Recording:
    return noise.apply(run().recording, seed)


class LocalPolynomials:
    """The motion by SciPy's filter of Savitzky and Golay, over 15 samples."""

    def motion(self, recording: Recording, robot: iparam.Robot) -> MotionEstimate:
        angles = recording.signal("q")
        parts = [savgol_filter(angles.values, 15, 4, deriv=k, delta=1.0 / angles.rate, axis=0) for k in range(3)]
        return MotionEstimate(angles.time, *parts)


def fit_poor_smoothing(seed: int) -> list[np.ndarray]:
    recording, robot = noisy(UR5E, seed), iparam.load_robot("ur5e")
    problem = problem_from_recording(recording, robot, motion=LocalPolynomials(), instruments=True)
    return [estimator.fit(problem).phi for estimator in POOR.values()]


POOR = {
    "ls": LeastSquares(),
    "wls, not corrected": WeightedLeastSquares(correct=False),
    "riv": InstrumentalVariables(),
    "tls": TotalLeastSquares(),
    "rtls": RecursiveTotalLeastSquares(),
    "consistent (default)": ConsistentLeastSquares(),
}


def errors_in_regressor(seeds: int) -> None:
    truth = PAYLOAD.parameters.phi
    scale = np.array([truth[0], *[truth[3]] * 3, *[truth[4]] * 6])
    found = np.array(list(in_workers(fit_poor_smoothing, range(seeds))))
    bias = 100.0 * (found.mean(axis=0) - truth) / scale
    rmse = 100.0 * np.sqrt(np.mean((found - truth) ** 2, axis=0)) / scale
    rows = [
        [name, *(f"{bias[k, i]:+.2f}" for i in (0, 3, 4, 7, 9)), f"{np.abs(bias[k]).max():.2f}", f"{rmse[k, 0]:.2f}"]
        for k, name in enumerate(POOR)
    ]
    header = ["method", "m", "mz", "Ixx", "Iyy", "Izz", "worst of ten", "RMSE of m"]
    title = f"Bias in % (of m, mz or Ixx), noisy angles through a Savitzky-Golay window of 15 samples, {seeds} seeds"
    print_table(title, header, rows)


def fit_stated_and_not(preset: str, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    recording, robot = noisy(noise_preset(preset), seed), iparam.load_robot("ur5e")
    delay = None if preset == "harsh" else 0.0
    run = partial(identify_payload, recording, robot, delay=delay)
    found = [run(correction=IN_PLACE), run()]
    return [(estimate.phi, estimate.standard_deviation.phi) for estimate in found]


def drifting_bias(seeds: int) -> None:
    """The preset ``harsh``, whose bias walks by 0.3 N and 0.02 N m in a second, and one whose bias does not."""
    truth, rows = PAYLOAD.parameters.phi, []
    for preset in ("harsh", "ur5e"):
        found = np.array(list(in_workers(partial(fit_stated_and_not, preset), range(seeds))))
        for k, name in enumerate(("stated", "not stated")):
            errors, deviation = found[:, k, 0] - truth, found[:, k, 1]
            covered = 100 * np.mean(np.abs(errors) <= 1.959964 * deviation, axis=0)
            rmse = np.sqrt(np.mean(errors**2, axis=0))
            stated = np.sqrt(np.mean(deviation**2, axis=0))
            rows.append(
                [
                    preset,
                    name,
                    f"{1e3 * rmse[0]:.2f}",
                    f"{rmse[0] / stated[0]:.2f}",
                    f"{covered[0]:.0f}",
                    f"{covered[1:4].min():.0f} to {covered[1:4].max():.0f}",
                    f"{covered[4:].min():.0f} to {covered[4:].max():.0f}",
                ]
            )
    header = [
        "noise",
        "base and sensor",
        "RMSE of m, g",
        "over the stated sd",
        "95 % of m cover %",
        "of mx my mz",
        "of the inertia",
    ]
    print_table(f"A bias that drifts, default method, {seeds} seeds", header, rows)


def speed() -> None:
    robot, recording = iparam.load_robot("ur5e"), noisy(UR5E, 0)
    problem = problem_from_recording(recording, robot)
    phi = PAYLOAD.parameters.phi
    flat = phi.copy()
    flat[9] = 1.2 * (flat[4] + flat[7])
    information = np.diag(1.0 / np.abs(np.where(phi == 0.0, phi[4], phi)) ** 2)
    whiten = np.diag(1.0 / np.asarray(UR5E.sensors["wrench"].white))
    rls = RecursiveLeastSquaresState(whiten, True)
    rtls = RecursiveTotalLeastSquaresState(np.diag([0.01] * 10 + [1.0]), whiten, True)
    blocks = range(1000)

    def feed(state: RecursiveLeastSquaresState | RecursiveTotalLeastSquaresState) -> None:
        for k in blocks:
            state.take(problem.A[k], problem.y[k])
            state.solve()

    jobs = {
        "motion and regressors": lambda: problem_from_recording(recording, robot),
        "fit (default method)": lambda: ConsistentLeastSquares().fit(problem),
        "both: identify_payload": lambda: identify_payload(recording, robot),
        "LMI solve": lambda: nearest_consistent(flat, information),
        "1000 RLS updates": lambda: feed(rls),
        "1000 RTLS updates": lambda: feed(rtls),
    }
    wall = best_times(jobs, rounds=7)
    rows = [[name, f"{1e3 * seconds:.2f}"] for name, seconds in wall.items()]
    print_table("Best of 7, 10 s at 500 Hz", ["step", "ms"], rows)
    print_table(
        "On-line step (filter, regressor, RTLS, covariance), 5000 samples", ["clock", "median us", "p99 us"], online()
    )


def online() -> list[list[str]]:
    robot, recording = iparam.load_robot("ur5e"), noisy(UR5E, 0)
    identifier = OnlineIdentifier(robot, OnlineSettings())
    angles, wrench = recording.signal("q"), recording.signal("wrench")
    wall, busy = [], []
    for k in range(angles.num_samples):
        start, begun = time.perf_counter(), time.thread_time()
        identifier.step(angles.time[k], angles.values[k], wrench.values[k])
        busy.append(time.thread_time() - begun)
        wall.append(time.perf_counter() - start)
    return [
        [name, f"{1e6 * np.median(values[100:]):.0f}", f"{1e6 * np.percentile(values[100:], 99):.0f}"]
        for name, values in (("wall", wall), ("processor", busy))
    ]


def drift() -> None:
    """The same 2000 samples 500 times over: the solution must stay what it was after the first time."""
    problem = problem_from_recording(noisy(UR5E, 0), iparam.load_robot("ur5e"))
    A, y = problem.A[1500:3500], problem.y[1500:3500]
    whiten = np.diag(1.0 / np.asarray(UR5E.sensors["wrench"].white))
    rls = RecursiveLeastSquaresState(whiten, True)
    rtls = RecursiveTotalLeastSquaresState(np.diag([1e-4] * 10 + [1.0]), whiten, True)
    first: dict[str, np.ndarray] = {}
    for _ in range(500):
        rls.take(A, y)
        for k in range(len(A)):
            rtls.update(A[k], y[k])
        for name, state in (("RLS", rls), ("RTLS", rtls)):
            first.setdefault(name, state.parameters)
    last = {"RLS": rls.parameters, "RTLS": rtls.parameters}
    rows = [[name, f"{np.abs(last[name] - first[name]).max():.1e}"] for name in first]
    print_table("Drift of the solution over 1e6 samples [SI units]", ["recursion", "largest change"], rows)


LABELS = {"center_of_mass_x": "centre of mass x", "inertia_xx": "inertia xx, about the centre of mass"}


@cache
def bounds() -> np.ndarray:
    """(10,) Cramer-Rao bounds of mass, centre of mass and inertia about it: exact motion, white noise, unknown bias."""
    plan = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    measured = dataclasses.replace(MeasurementNoise.from_model(UR5E), joint_angle=0.0)
    found = predict_precision(plan, iparam.load_robot("ur5e"), PAYLOAD.parameters, measured, rate=500.0)
    return np.sqrt(np.diag(found.covariance_derived))


def errors_by_default(index: int) -> tuple[np.ndarray, np.ndarray]:
    """(10,) errors of a run in bounds, and whether the 95 % interval holds."""
    seed = int(np.random.SeedSequence([0, index]).generate_state(1, np.uint32)[0])
    found, upper = identify_payload(noisy(UR5E, seed), "ur5e"), np.triu_indices(3)
    stated = found.standard_deviation
    values = np.array([found.mass, *found.center_of_mass, *found.inertia_about_com[upper]])
    deviations = np.array([stated.mass, *stated.center_of_mass, *stated.inertia_about_com[upper]])
    errors = values - derived_of(PAYLOAD.parameters)
    return errors / bounds(), np.abs(errors) <= NORMAL_95 * deviations


def root_mean_square(values: np.ndarray) -> tuple[float, float, float]:
    """With its 95 % interval, Student's of the logarithm: no error is below zero."""
    squares = values**2
    spread = np.std(squares, ddof=1) / np.sqrt(squares.size) / squares.mean()
    root, factor = np.sqrt(squares.mean()), np.exp(0.5 * stdtrit(squares.size - 1, 0.975) * spread)
    return root, root / factor, root * factor


def share(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of shares with Wilson's 95 % interval, for as many draws as their scatter shows them to be worth."""
    mean, variance, z2 = values.mean(), values.var(ddof=1) / values.size, NORMAL_95**2
    draws = mean * (1.0 - mean) / variance if variance > 0.0 else values.size
    middle = (mean + z2 / (2 * draws)) / (1 + z2 / draws)
    half = NORMAL_95 * np.sqrt(mean * (1 - mean) / draws + z2 / (4 * draws**2)) / (1 + z2 / draws)
    return mean, middle - half, middle + half


def by_default(runs: int) -> None:
    found = list(in_workers(errors_by_default, range(runs)))
    ratios, holds = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    columns = {"all ten": (np.sqrt(np.mean(ratios**2, axis=1)), holds.mean(axis=1))}
    columns |= {name: (ratios[:, place], holds[:, place]) for place, name in enumerate(DERIVED_NAMES)}
    rows = []
    for name, (errors, held) in columns.items():
        cover = [100.0 * value for value in share(held)]
        label = LABELS.get(name, name.removeprefix("center_of_mass_").removeprefix("inertia_"))
        ratio = "{:.3f} ({:.3f} to {:.3f})".format(*root_mean_square(errors))
        rows.append([label, ratio, "{:.1f} ({:.1f} to {:.1f})".format(*cover)])
    print_table(f"The default method, {runs} runs", ["parameter", "RMSE / CRB", "95 % interval covers %"], rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--part", choices=("default", "errors", "bias", "speed", "drift"), default=None)
    options = parser.parse_args()
    if options.part in (None, "default"):
        by_default(options.seeds)
    if options.part in (None, "errors"):
        errors_in_regressor(max(options.seeds // 8, 4))
    if options.part in (None, "bias"):
        drifting_bias(max(options.seeds // 2, 4))
    if options.part in (None, "speed"):
        speed()
    if options.part in (None, "drift"):
        drift()


if __name__ == "__main__":
    main()
