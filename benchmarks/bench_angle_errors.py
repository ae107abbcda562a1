"""Joint angles with the errors that real logs have: the load's errors against the bound for them, coverage, time.

A UR5e moves a 2 kg box for 10 s along an optimised trajectory in MuJoCo. A curve through that motion is the truth, so
that it can be sampled at any time; the wrench is the one that the box exerts along it, with the noise of the preset
``ur5e`` (0.5 N, 0.05 N m and a bias). The angles have no noise but the error that is injected:

- late stamps: rows were taken evenly, each row's stamp is off by 1 ms (standard deviation), and rows stay in order;
- late samples: angles were taken off by 1 ms from the even stamps that the log gives them, all joints together;
- rounding: to 1e-4 rad;
- filter: the controller's first-order low-pass with a corner of 30 Hz;
- held: every 4 rows repeat the angles of the first of them;
- together: the filter, then held samples, rounding, and late stamps; "white" is 5e-5 rad for comparison.

The bound for the true errors is that of an estimate which knows the statistics of the error, but not its draw: the
Cramer-Rao bound of the load for the noise of the wrench with the true motion and six unknown biases, plus the variance
that the motion's error leaves in that estimate after the best smoothing with known statistics. That smoothing knows
the true times, the rows that are no repeats and the filter, which it inverts (q + T dq); what remains, rounding, white
noise and late samples, goes through the linear smoother whose bandwidth leaves the least error of the load, and its
variance is that of 40 draws.

    python benchmarks/bench_angle_errors.py [--seeds 30] [--rates 125 500 1000] [--errors held filter ...]
        [--trajectory calm_ur5e] [--quiet 10]       another motion; a wrench sensor with so much less noise
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import time
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from side_by_side import in_workers, print_table

import iparam
from iparam.estimation import identify_payload
from iparam.motion.joint_process import JointProcess, smooth_joint
from iparam.recording import Recording
from iparam.sensing import noise_preset
from iparam.simulation import MujocoSimulator, Payload
from iparam.worker_pool import WorkerPool

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
PAYLOAD = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
WRENCH = noise_preset("ur5e").sensors["wrench"]
JITTER = 1e-3
QUANTUM = 1e-4
CORNER = 30.0
HELD = 4
WHITE = 5e-5
LONGEST = 100.0
DRAWS = 40


@dataclass(frozen=True)
class AngleError:
    """What is done to the angles of a log; each field switches one error on."""

    late_stamps: bool = False
    late_samples: bool = False
    rounded: bool = False
    filtered: bool = False
    held: bool = False
    white: bool = False
    trajectory: str = "optimized_ur5e"
    quiet: float = 1.0

    @property
    def deviation(self) -> np.ndarray:
        """(6,) of the noise of the wrench [N, N m]."""
        return np.asarray(WRENCH.white) / self.quiet

    @property
    def lag(self) -> float:
        """The time constant of the low-pass [s]."""
        return 1.0 / (2.0 * np.pi * CORNER) if self.filtered else 0.0


ERRORS = {
    "white": AngleError(white=True),
    "late stamps": AngleError(late_stamps=True),
    "late samples": AngleError(late_samples=True),
    "rounding": AngleError(rounded=True),
    "filter": AngleError(filtered=True),
    "held": AngleError(held=True),
    "together": AngleError(late_stamps=True, rounded=True, filtered=True, held=True),
}


@cache
def truth(name: str) -> BSpline:
    """The true motion: a curve through the simulated angles, and its own derivatives at any time."""
    trajectory = iparam.load_trajectory(DATA / f"{name}.json").trajectory
    motion = MujocoSimulator().load(iparam.load_robot("ur5e"), PAYLOAD).run(trajectory).true_motion
    return make_interp_spline(motion.time, motion.q, k=5)


@cache
def filtered(name: str) -> BSpline:
    """What a first-order low-pass makes of it: the solution of T f' + f = q that starts settled."""
    from scipy.signal import lfilter

    lag, step = ERRORS["filter"].lag, 1e-4
    fine = np.arange(0.0, LONGEST, step)
    curve = truth(name)
    fine = fine[fine <= curve.t[-1]]
    q = curve(fine)
    # Exact for angles that are straight lines within a step.
    a = np.exp(-step / lag)
    later = 1.0 - lag / step * (1.0 - a)
    out = lfilter([later, 1.0 - a - later], [1.0, -a], q - q[0], axis=0) + q[0]
    return make_interp_spline(fine, out, k=3)


def rows_of(error: AngleError, rate: float) -> np.ndarray:
    return np.arange(int(truth(error.trajectory).t[-1] * rate + 1e-6)) / rate


def recorded(error: AngleError, rate: float, seed: int) -> Recording:
    random = np.random.default_rng(seed)
    robot, taken = iparam.load_robot("ur5e"), rows_of(error, rate)
    motion = [truth(error.trajectory)(taken, order) for order in range(3)]
    exact = iparam.wrench_regressor(robot, *motion) @ PAYLOAD.parameters.phi
    curve = filtered(error.trajectory) if error.filtered else truth(error.trajectory)
    moments = taken
    if error.late_samples:
        moments = np.clip(taken + JITTER * random.standard_normal(taken.size), 0.0, taken[-1])
    q = curve(moments)
    if error.white:
        q = q + WHITE * random.standard_normal(q.shape)
    if error.held:
        q = q[HELD * (np.arange(taken.size) // HELD)]
    if error.rounded:
        q = np.round(q / QUANTUM) * QUANTUM
    stamps = taken
    if error.late_stamps:
        stamps = np.sort(taken + JITTER * random.standard_normal(taken.size))
        stamps += 1e-9 * np.arange(taken.size)  # strictly increasing
    ideal = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal("q", time=stamps, values=q)
    noise = dataclasses.replace(WRENCH, white=tuple(error.deviation.tolist()))
    noisy = noise.distort("wrench", ideal.with_signal("wrench", time=stamps, values=exact).signal("wrench"), seed)
    return ideal.with_signal("wrench", time=stamps, values=noisy.values)


def gain(error: AngleError, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The Cramer-Rao covariance (10, 10), and the estimate's gain (10, N, 6) on errors of the wrench."""
    robot = iparam.load_robot("ur5e")
    A = iparam.wrench_regressor(robot, *(truth(error.trajectory)(rows_of(error, rate), order) for order in range(3)))
    rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2)
    deviation = error.deviation[:, None]
    whitened = (rows / deviation).reshape(-1, 16)
    covariance = np.linalg.inv(whitened.T @ whitened)
    response = np.moveaxis(rows / deviation**2 @ covariance.T, 2, 0)
    return covariance[:10, :10], response[:10]


def bound(error: AngleError, rate: float) -> np.ndarray:
    """(10,) least standard deviations for an estimate that knows the statistics of the error."""
    covariance, response = gain(error, rate)
    variance = np.diag(covariance)
    if not (error.white or error.rounded or error.late_samples):
        return np.sqrt(variance)
    robot, times = iparam.load_robot("ur5e"), rows_of(error, rate)
    motion = [truth(error.trajectory)(times, order) for order in range(3)]
    exact = iparam.wrench_regressor(robot, *motion) @ PAYLOAD.parameters.phi
    kept = slice(None, None, HELD) if error.held else slice(None)
    stamps = times[kept]

    def left(bandwidth: float, draws: int) -> np.ndarray:
        """(10,) mean square of what the smoothed errors do to the load."""
        squares = np.zeros(10)
        for seed in range(draws):
            random = np.random.default_rng(10_000 + seed)
            shift = JITTER * random.standard_normal(stamps.size) if error.late_samples else 0.0
            q = (filtered(error.trajectory) if error.filtered else truth(error.trajectory))(
                np.clip(stamps + shift, 0.0, times[-1])
            )
            if error.white:
                q = q + WHITE * random.standard_normal(q.shape)
            if error.rounded:
                offset = QUANTUM * random.uniform(size=6)  # a draw of where the steps lie
                q = np.round((q + offset) / QUANTUM) * QUANTUM - offset
            found = np.empty((4, times.size, 6))
            for joint in range(6):
                process = JointProcess(6, bandwidth, 1e-4)
                means = smooth_joint(stamps, np.ascontiguousarray(q[:, joint]), process, depth=4, exact=False).means
                for order in range(4):
                    found[order, :, joint] = np.interp(times, stamps, means[:, order])
            smooth = found[:3] + error.lag * found[1:]
            wrench = iparam.wrench_regressor(robot, *smooth) @ PAYLOAD.parameters.phi
            squares += np.einsum("pnc,nc->p", response, exact - wrench) ** 2
        return squares / draws

    widths = [2.0, 3.0, 4.5, 7.0, 11.0]
    best = min(widths, key=lambda width: float(np.mean(left(width, 2) / variance)))
    return np.sqrt(variance + left(best, DRAWS))


def fitted(error: AngleError, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray, float, tuple[str, ...]]:
    recording, robot = recorded(error, rate, seed), iparam.load_robot("ur5e")
    start = time.perf_counter()
    estimate = identify_payload(recording, robot)
    seconds = time.perf_counter() - start
    return estimate.phi, estimate.standard_deviation.phi, seconds, estimate.warnings


def row(name: str, error: AngleError, rate: float, pool: WorkerPool, seeds: int) -> list[str]:
    found = list(in_workers(partial(fitted, error, rate), range(seeds), pool))
    errors = np.array([one[0] for one in found]) - PAYLOAD.parameters.phi
    deviations = np.array([one[1] for one in found])
    least = bound(error, rate)
    wrench_only = bound(dataclasses.replace(error, white=False, rounded=False, late_samples=False), rate)
    ratios = np.sqrt(np.mean(errors**2, axis=0)) / least
    covered = 100.0 * (np.abs(errors) <= 1.959964 * deviations)
    warned = {re.sub(r"[-+]?\d[\d.]*", "..", said)[:40] for one in found for said in one[3]}
    return [
        name,
        f"{rate:g}",
        f"{np.max(least / wrench_only):.2f}",
        f"{np.sqrt(np.mean(ratios**2)):.2f}",
        f"{ratios.min():.2f} to {ratios.max():.2f}",
        f"{covered.mean():.0f}",
        f"{covered.mean(axis=0).min():.0f} to {covered.mean(axis=0).max():.0f}",
        f"{np.median([one[2] for one in found]):.2f}",
        "; ".join(sorted(warned)) or "-",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rates", type=float, nargs="+", default=[125.0, 500.0, 1000.0])
    parser.add_argument("--errors", nargs="+", choices=tuple(ERRORS), default=list(ERRORS))
    parser.add_argument("--trajectory", default="optimized_ur5e")
    parser.add_argument("--quiet", type=float, default=1.0)
    options = parser.parse_args()
    truth(options.trajectory)
    rows = []
    with WorkerPool() as pool:
        for name in options.errors:
            for rate in options.rates:
                error = dataclasses.replace(ERRORS[name], trajectory=options.trajectory, quiet=options.quiet)
                rows.append(row(name, error, rate, pool, options.seeds))
                print(rows[-1], flush=True)
    header = ["error of the angles", "Hz", "bound / wrench alone", "RMSE / bound, ten together", "each"]
    header += ["95 % cover %", "each", "median s", "warnings"]
    print_table(f"Angles with errors that are not white, default method, {options.seeds} seeds", header, rows)


if __name__ == "__main__":
    main()
