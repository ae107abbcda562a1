"""Recordings from a second to two hours, with and without long rests: accuracy, time and memory of the command.

A UR5e moves a 2 kg box for 10 s along an optimised trajectory in MuJoCo; the run is cut, repeated, or put between rests
in its first pose, and the noise of the preset ``ur5e`` is drawn anew over its whole length. Each recording is a Parquet
file that `iparam identify payload` reads in a process of its own. The bound is that of Cramer and Rao for an estimate
that knows the true motion.

    python benchmarks/bench_lengths.py [--seeds 8] [--longest 3600]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from side_by_side import print_table

import iparam
from iparam.recording import Recording
from iparam.sensing import noise_preset
from iparam.simulation import MujocoSimulator, Payload, SimulationResult

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
PAYLOAD = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
NOISE = noise_preset("ur5e")
RATE = 500.0


@dataclass(frozen=True)
class Case:
    """A recording: from ``first`` to ``last`` of the 10 s [s], so many times, between two rests [s]; stamps jitter."""

    name: str
    times: int = 1
    rest: float = 0.0
    first: float = 0.0
    last: float = 10.0
    jitter: float = 0.0

    @property
    def duration(self) -> float:
        return 2 * self.rest + self.times * (self.last - self.first)


CASES = [
    Case("1 s", first=4.0, last=5.0),
    Case("3 s", first=3.0, last=6.0),
    Case("10 s"),
    Case("60 s", times=6),
    Case("600 s", times=60),
    Case("10 s within 70 s", rest=30.0),
    Case("10 s within 610 s", rest=300.0),
    Case("10 s within 1 h", rest=1795.0),
    Case("1 h", times=360),
    Case("1 h, stamps off by up to 0.2 ms", times=360, jitter=2e-4),
    Case("2 h", times=720),
]


@cache
def simulated() -> SimulationResult:
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    return MujocoSimulator().load(iparam.load_robot("ur5e"), PAYLOAD).run(trajectory)


def stretched(values: np.ndarray, case: Case) -> np.ndarray:
    """Values (T, k) of the 10 s as the case has them; at rest those of the first sample."""
    part = values[round(case.first * RATE) : round(case.last * RATE)]
    rest = np.repeat(values[:1], round(case.rest * RATE), axis=0)
    return np.concatenate([rest, *[part] * case.times, rest])


def recorded(case: Case, seed: int) -> Recording:
    exact = simulated().recording
    q, wrench = (stretched(exact.signal(name).values, case) for name in ("q", "wrench"))
    stamps = np.arange(len(q)) / RATE
    if case.jitter:
        stamps = stamps + np.random.default_rng(seed).uniform(0.0, case.jitter, stamps.size)
    ideal = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal("q", time=stamps, values=q)
    return NOISE.apply(ideal.with_signal("wrench", time=stamps, values=wrench), seed)


def bound(case: Case) -> np.ndarray:
    """(10,) least standard deviations with the true motion and six unknown biases."""
    motion = simulated().true_motion
    robot = iparam.load_robot("ur5e")
    part = slice(round(case.first * RATE), round(case.last * RATE))
    gram = np.zeros((16, 16))
    still = np.zeros((1, 6))
    for q, dq, ddq, count in (
        (motion.q[part], motion.dq[part], motion.ddq[part], case.times),
        (motion.q[:1], still, still, 2 * round(case.rest * RATE)),
    ):
        A = iparam.wrench_regressor(robot, q, dq, ddq)
        rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2)
        rows = (rows / np.asarray(NOISE.sensors["wrench"].white)[:, None]).reshape(-1, 16)
        gram += count * rows.T @ rows
    return np.sqrt(np.diag(np.linalg.inv(gram)))[:10]


def identified(path: Path) -> tuple[dict[str, object], float, float, float]:
    """The command's result, its wall and processor time [s], and its largest resident memory [MB]."""
    # The kernel's own count of this process: that of wait4 also holds the parent's memory, from before the exec.
    program = (
        "import sys; from iparam.cli.main import main; code = main(sys.argv[1:])\n"
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')][0].split()[1]\n"
        "print(peak, file=sys.stderr); sys.exit(code)"
    )
    arguments = ["identify", "payload", str(path), "--method", "wls", "--json"]
    command = [sys.executable, "-c", program, *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    text, said = process.stdout.read(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(said)
    wall = time.perf_counter() - start
    return json.loads(text), wall, usage.ru_utime + usage.ru_stime, float(said.split()[-1]) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8, help="runs of up to 10 min; longer ones get one")
    parser.add_argument("--longest", type=float, default=7200.0, help="leave out what is longer [s]")
    options = parser.parse_args()
    truth = simulated().truth.payload.phi
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.parquet"
        for case in (case for case in CASES if case.duration <= options.longest):
            least, errors, stated, costs = bound(case), [], [], []
            for seed in range(options.seeds if case.duration <= 610.0 else 1):
                recorded(case, seed).save(path)
                result, *cost = identified(path)
                errors.append(np.asarray(result["phi"]) - truth)
                stated.append(np.asarray(result["standard_deviation"]["phi"]))  # type: ignore[index]
                costs.append(cost)
            rms, deviation = np.sqrt(np.mean(np.square(errors), axis=0)), np.mean(stated, axis=0)
            worst = float(np.abs(np.asarray(errors) / np.asarray(stated)).max())
            wall, processor, memory = np.min(costs, axis=0)
            rows.append(
                [
                    case.name,
                    str(len(errors)),
                    f"{1e3 * rms[0]:.3g}",
                    f"{1e3 * deviation[0]:.3g}",
                    f"{np.sqrt(np.mean((rms / least) ** 2)):.2f}",
                    f"{np.mean(deviation / least):.2f}",
                    f"{worst:.1f}",
                    f"{wall:.1f}",
                    f"{processor:.1f}",
                    f"{memory:.0f}",
                ]
            )
            print(rows[-1], file=sys.stderr, flush=True)
    header = ["recording at 500 Hz", "seeds", "RMSE of m, g", "stated, g", "RMSE / bound", "stated / bound"]
    header += ["worst error / stated", "wall s", "processor s", "memory MB"]
    print_table("Recordings of any length, method wls", header, rows)


if __name__ == "__main__":
    main()
