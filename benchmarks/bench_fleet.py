"""What the seam to workers costs, and what workers bring: one against two, the local pool against Dask.

    python benchmarks/bench_fleet.py [--part seam|identify|study|memory] [--recordings 60]

Recordings are 10 s of a UR5e at 500 Hz with the noise ``ur5e``. Throughputs of one and of two workers are measured in
turns, so that both meet the same neighbours; on a machine that is busy with other things, two workers cannot bring two.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor
from pathlib import Path

import psutil
from side_by_side import print_table

import iparam
from iparam.fleet import Cluster, Experiment, FleetSettings, LocalPool, Plan, identify_fleet, jobs, run_jobs, run_study
from iparam.fleet.cluster import ClusterError

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
ROUNDS = 3


def nothing(number: int) -> int:
    return number


def wait_a_little(number: int) -> int:
    time.sleep(0.002)
    return number


def start_dask(workers: int, port: int) -> tuple[list[subprocess.Popen[bytes]], Cluster]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask, address = [sys.executable, "-m", "dask"], f"tcp://127.0.0.1:{port}"
    started = [
        subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet)
    ]
    options = ["--nthreads", "1", "--no-dashboard", "--local-directory", tempfile.gettempdir(), "--no-nanny"]
    for _ in range(workers):
        started.append(
            subprocess.Popen(
                [*dask, "worker", address, *options], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, **quiet
            )
        )
    while True:
        try:
            cluster = Cluster(address)
            if len(cluster.threads()) == workers:
                return started, cluster
            cluster.shutdown()
        except ClusterError:
            time.sleep(0.3)


def cost_of_a_job(executor: Executor, count: int = 400) -> tuple[float, float]:
    """Milliseconds that a job takes beyond its work, one a task, and in batches as they are usual."""
    list(run_jobs(nothing, range(50), executor))
    largest = jobs.LARGEST_BATCH
    jobs.LARGEST_BATCH = 1
    began = time.perf_counter()
    list(run_jobs(nothing, range(count), executor))
    single = (time.perf_counter() - began) / count
    jobs.LARGEST_BATCH = largest
    began = time.perf_counter()
    work = sum(outcome.seconds for outcome in run_jobs(wait_a_little, range(2000), executor, total=2000))
    batched = (time.perf_counter() - began - work / jobs.num_workers(executor)) / 2000
    return 1e3 * single, 1e3 * batched


def seam(port: int) -> None:
    rows = []
    with LocalPool(2) as pool:
        rows.append(["local pool", *(f"{cost:.3f}" for cost in cost_of_a_job(pool))])
    processes, cluster = start_dask(2, port)
    try:
        rows.append(["Dask", *(f"{cost:.3f}" for cost in cost_of_a_job(cluster))])
    finally:
        cluster.shutdown()
        for process in processes:
            process.terminate()
            process.wait()
    print_table("Cost of the seam, 2 workers", ["", "ms a task of one job", "ms a job of 2 ms, in batches"], rows)


def make_recordings(folder: Path, count: int) -> None:
    robot = iparam.load_robot("ur5e")
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    payload = iparam.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    exact = iparam.MujocoSimulator().load(robot, payload).run(trajectory).recording
    for seed in range(min(count, 10)):
        iparam.noise_preset("ur5e").apply(exact, seed).save(folder / f"{seed:05d}.parquet")
    for number in range(10, count):
        shutil.copyfile(folder / f"{number % 10:05d}.parquet", folder / f"{number:05d}.parquet")


def identify(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "runs"
        folder.mkdir()
        make_recordings(folder, count)
        size = (folder / "00000.parquet").stat().st_size
        with LocalPool(1) as one, LocalPool(2) as two:
            times: dict[int, list[float]] = {1: [], 2: []}
            for pool in (one, two):  # loads the kernels
                identify_fleet(str(folder / "0000[0-3].parquet"), Path(name) / "w", executor=pool, overwrite=True)
            for _ in range(ROUNDS):
                for workers, pool in ((1, one), (2, two)):
                    began = time.perf_counter()
                    identify_fleet(str(folder), Path(name) / "t", FleetSettings(), executor=pool, overwrite=True)
                    times[workers].append(time.perf_counter() - began)
        table = Path(name) / "t" / "recordings.parquet"
        best = {workers: min(found) for workers, found in times.items()}
        rows = [[str(w), f"{count / best[w]:.2f}", f"{best[1] / best[w]:.2f}"] for w in best]
        print_table(
            f"fleet identify, {count} recordings of {size / 1e6:.1f} MB, {table.stat().st_size / count:.0f} B a row",
            ["workers", "recordings a second", "ratio"],
            rows,
        )


def study() -> None:
    plan = Plan("p", iparam.load_robot("ur5e"), iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory)
    experiment = Experiment((plan,), (iparam.noise_preset("ur5e"),), rate=100.0)
    times: dict[int, list[float]] = {1: [], 2: []}
    with LocalPool(1) as one, LocalPool(2) as two:
        for pool in (one, two):
            run_study("coverage", experiment, executor=pool, most_runs=4)
        for _ in range(ROUNDS):
            for workers, pool in ((1, one), (2, two)):
                began = time.perf_counter()
                run_study("coverage", experiment, executor=pool, most_runs=24, precision=1e-9)
                times[workers].append(time.perf_counter() - began)
    best = {workers: min(found) for workers, found in times.items()}
    rows = [[str(w), f"{24 / best[w]:.2f}", f"{best[1] / best[w]:.2f}"] for w in best]
    print_table("study coverage, 24 runs of 10 s at 100 Hz", ["workers", "runs a second", "ratio"], rows)


def memory(count: int) -> None:
    """Resident memory of client and workers while many recordings are identified."""
    with tempfile.TemporaryDirectory() as name, LocalPool(2) as pool:
        folder = Path(name) / "runs"
        folder.mkdir()
        make_recordings(folder, count)
        me, rows = psutil.Process(), []

        def look(row, progress) -> None:
            if progress.done in {count * part // 8 for part in range(1, 9)}:
                workers = [child.memory_info().rss for child in me.children(recursive=True)]
                rows.append([str(progress.done), f"{me.memory_info().rss / 1e6:.0f}", f"{max(workers) / 1e6:.0f}"])

        identify_fleet(str(folder), Path(name) / "t", FleetSettings(), executor=pool, on_row=look)
    print_table(f"Memory, {count} recordings", ["done", "client MB", "largest worker MB"], rows)
    print(f"client at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["seam", "identify", "study", "memory"], nargs="*", default=None)
    parser.add_argument("--recordings", type=int, default=60)
    parser.add_argument("--port", type=int, default=18786)
    options = parser.parse_args()
    parts = options.part or ["seam", "identify", "study"]
    if "seam" in parts:
        seam(options.port)
    if "identify" in parts:
        identify(options.recordings)
    if "study" in parts:
        study()
    if "memory" in parts:
        memory(options.recordings)


if __name__ == "__main__":
    main()
