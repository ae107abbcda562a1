"""Joint accelerations from noisy angles: the Kalman smoother against filters tuned with the truth at hand.

Encoder noise of 5e-5 rad at 500 Hz on 10 s windowed-Fourier excitations of six joints. The smoother gets the angles and
nothing else. Each rival gets the cut-off (or window) and order that bring it closest to the truth, which no user knows;
"each joint" tunes them for every joint on its own. Run: make bench, or python benchmarks/bench_filtering.py
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np
from scipy.signal import savgol_filter
from side_by_side import best_times, print_table

from iparam.motion import (
    JointKalmanFilter,
    JointProcess,
    MotionEstimate,
    butterworth_smooth,
    choose_processes,
    kalman_smooth,
)
from iparam.trajectory import TrajectorySamples, WindowedFourierTrajectory

NOISE = 5e-5  # rad
RATE = 500.0  # Hz
CASES = [(0.1, 5, 0.18), (0.15, 5, 0.15), (0.2, 5, 0.12), (0.1, 10, 0.12)]  # base frequency, harmonics, coefficients


def excitation(base_freq: float, harmonics: int, scale: float, seed: int) -> TrajectorySamples:
    a, b = np.random.default_rng(seed).normal(scale=scale, size=(2, 6, harmonics))
    return WindowedFourierTrajectory(np.zeros(6), a, b, base_freq, 10.0).sample(RATE)


def cut(motion: TrajectorySamples, rows: slice) -> TrajectorySamples:
    return TrajectorySamples(*(getattr(motion, name)[rows] for name in ("time", "q", "dq", "ddq", "jerk")))


def errors(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Mean square error of each joint."""
    return np.mean((found - truth) ** 2, axis=0)


def tuned(runs: list[Callable[[], MotionEstimate]], truth: np.ndarray) -> tuple[float, float]:
    """RMS error of the best setting for all joints, and of the best setting of each joint."""
    table = np.array([errors(run().ddq, truth) for run in runs])
    return float(np.sqrt(table.mean(axis=1).min())), float(np.sqrt(table.min(axis=0).mean()))


def local_polynomials(q: np.ndarray, window: int, degree: int) -> SimpleNamespace:
    """The accelerations by SciPy's filter of Savitzky and Golay."""
    return SimpleNamespace(ddq=savgol_filter(q, window, degree, deriv=2, delta=1.0 / RATE, axis=0))


def main() -> None:
    rows = []
    wins = 0
    for seed, case in enumerate(CASES * 2 + CASES[:2]):
        motion, part = excitation(*case, seed=seed), ""
        if seed >= 2 * len(CASES):  # a recording that starts and ends in the middle of the motion
            motion, part = cut(motion, slice(1200, 3800)), ", cut"
        t = motion.time
        q = motion.q + np.random.default_rng(100 + seed).normal(scale=NOISE, size=motion.q.shape)
        smoother = float(np.sqrt(errors(kalman_smooth(t, q).ddq, motion.ddq).mean()))
        butterworth = tuned(
            [
                partial(butterworth_smooth, t, q, cutoff, order)
                for order in (2, 3, 4, 5, 6, 8)
                for cutoff in np.geomspace(0.7, 20.0, 50)
            ],
            motion.ddq,
        )
        polynomial = tuned(
            [
                partial(local_polynomials, q, 2 * half + 1, degree)
                for degree in (3, 5, 7)
                for half in (30, 50, 70, 100, 140, 200, 280)
            ],
            motion.ddq,
        )
        wins += smoother < butterworth[0]
        numbers = (smoother, *butterworth, *polynomial)
        name = f"{case[1]} x {case[0]:g} Hz, {np.sqrt(np.mean(motion.ddq**2)):.2f}{part}"
        rows.append([name, *(f"{1e3 * x:.3f}" for x in numbers), f"{butterworth[0] / smoother:.2f}"])
    header = [
        "harmonics, RMS rad/s^2",
        "Kalman smoother",
        "Butterworth",
        "each joint",
        "Savitzky-Golay",
        "each joint",
        "Butterworth / smoother",
    ]
    print_table("RMS error of joint acceleration [1e-3 rad/s^2], encoder noise 5e-5 rad at 500 Hz", header, rows)
    print(f"\nThe smoother's error is below that of the best Butterworth filter in {wins} of {len(rows)} cases.")
    motion = excitation(*CASES[0], seed=0)
    speed(motion.time, motion.q + np.random.default_rng(1).normal(scale=NOISE, size=motion.q.shape))


def speed(t: np.ndarray, q: np.ndarray) -> None:
    processes = choose_processes(t, q)
    times = best_times(
        {
            "smoother, models given": lambda: kalman_smooth(t, q, processes),
            "choice of the models": lambda: choose_processes(t, q),
            "Butterworth, order 4": lambda: butterworth_smooth(t, q, 3.0),
        },
        rounds=5,
    )
    rows = [[name, f"{1e3 * seconds:.1f}"] for name, seconds in times.items()]
    recursion = JointKalmanFilter([JointProcess(4, 15.0, NOISE)] * q.shape[1], 1 / RATE)
    start = clock.perf_counter()
    for stamp, angles in zip(t.tolist(), q, strict=True):
        recursion.step(stamp, angles)
    rows.append(["causal filter, one step", f"{1e3 * (clock.perf_counter() - start) / t.size:.3f}"])
    print_table(f"Time for {t.size} samples of 6 joints", ["what", "ms"], rows)


if __name__ == "__main__":
    main()
