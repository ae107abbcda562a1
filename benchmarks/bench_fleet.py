"""What the seam to workers costs, and what workers bring: one against two, the local pool against Dask.

    python benchmarks/bench_fleet.py                       # seam, identify, study: a few minutes
    python benchmarks/bench_fleet.py --part crash          # 2,000 recordings on Dask, killed on the way, and resumed

Recordings are 10 s of a UR5e at 500 Hz with the noise ``ur5e``, each with draws of its own: a worker remembers what it
computed last, and one worker that meets the same recordings again would seem faster than two. Throughputs of one and of
two workers are measured in turns, so that both meet the same neighbours. On a machine that is busy with other things,
two workers cannot bring two; the processor time of a recording tells what they cost there, too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq
from side_by_side import print_table

import iparam
from iparam.fleet import (
    Cluster,
    ClusterError,
    ExecutorLostError,
    Experiment,
    FleetSettings,
    FleetTable,
    LocalPool,
    Plan,
    Progress,
    identify_fleet,
    jobs,
    run_jobs,
    run_study,
)
from iparam.simulation import SensorRates

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
ROUNDS = 3
OF_WORKERS = {"OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}
"""The environment of a Dask worker, see docs/platforms/at-scale.md: Dask's profiler keeps call stacks of 1,000 s."""


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
            subprocess.Popen([*dask, "worker", address, *options], env={**os.environ, **OF_WORKERS}, **quiet)
        )
    while True:
        try:
            cluster = Cluster(address)
            if len(cluster.threads()) == workers:
                return started, cluster
            cluster.shutdown()
        except ClusterError:
            time.sleep(0.3)


def end(processes: list[subprocess.Popen[bytes]], cluster: Cluster) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        cluster.shutdown()
    for process in processes:
        process.kill()
        process.wait()


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
        end(processes, cluster)
    print_table("Cost of the seam, 2 workers", ["", "ms a task of one job", "ms a job of 2 ms, in batches"], rows)


def make_recordings(folder: Path, count: int, plan: str = "optimized_ur5e", rate: float = 500.0) -> None:
    robot, payload = iparam.load_robot("ur5e"), iparam.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    trajectory = iparam.load_trajectory(DATA / f"{plan}.json").trajectory
    simulator = iparam.MujocoSimulator(rates=SensorRates.all_at(rate))
    exact = simulator.load(robot, payload).run(trajectory).recording
    folder.mkdir()
    for seed in range(count):
        iparam.noise_preset("ur5e").apply(exact, seed).save(folder / f"{seed:05d}.parquet")


def worker_seconds() -> float:
    """Processor time of all processes that this one has started and that run."""
    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return sum(one.user + one.system for one in times)


def in_turns(title: str, unit: str, count: int, work: Callable[[Executor, int], object]) -> None:
    """One worker and two, in turns: best throughput, their ratio, and the processor time that one of the jobs takes."""
    best: dict[int, float] = {}
    busy: dict[int, float] = {}
    with LocalPool(1) as one, LocalPool(2) as two:
        for pool in (one, two):  # loads the kernels
            work(pool, -1)
        for turn in range(ROUNDS):
            for workers, pool in ((1, one), (2, two)):
                began, used = time.perf_counter(), worker_seconds()
                work(pool, turn)
                best[workers] = min(best.get(workers, np.inf), time.perf_counter() - began)
                busy[workers] = min(busy.get(workers, np.inf), worker_seconds() - used)
    rows = [
        [str(w), f"{count / best[w]:.2f}", f"{best[1] / best[w]:.2f}", f"{1e3 * busy[w] / count:.0f}",
         f"{busy[w] / busy[1]:.2f}"]
        for w in best
    ]  # fmt: skip
    print_table(title, ["workers", f"{unit} a second", "ratio", "processor ms each", "ratio"], rows)


def identify(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        make_recordings(folder := Path(name) / "runs", count * ROUNDS + 4)
        recordings = sorted(folder.iterdir())
        for turn in range(-1, ROUNDS):  # each has recordings of its own
            (Path(name) / str(turn)).mkdir()
            for path in recordings[:4] if turn < 0 else recordings[4 + turn :: ROUNDS]:
                path.rename(Path(name) / str(turn) / path.name)
        table, client = Path(name) / "t", []

        def work(pool: Executor, turn: int) -> None:
            began = time.process_time()
            identify_fleet(str(Path(name) / str(turn)), table, FleetSettings(), executor=pool, overwrite=True)
            client.append(time.process_time() - began)

        in_turns(f"fleet identify, {count} recordings of 10 s at 500 Hz", "recordings", count, work)
        bytes_a_row = (table / "recordings.parquet").stat().st_size / count
        print(
            f"\nclient: {1e3 * min(client[2:]) / count:.1f} ms of processor time a recording, {bytes_a_row:.0f} B a row"
        )


def study(count: int = 24) -> None:
    plan = Plan("p", iparam.load_robot("ur5e"), iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory)

    def work(pool: Executor, turn: int) -> None:
        experiment = Experiment((plan,), (iparam.noise_preset("ur5e"),), rate=100.0, seed=turn + 1)
        run_study("coverage", experiment, executor=pool, most_runs=4 if turn < 0 else count, precision=1e-9)

    in_turns(f"study coverage, {count} runs of 10 s at 100 Hz", "runs", count, work)


def crash(count: int, port: int) -> None:
    """Many recordings on two workers of Dask: one is killed, then the scheduler; another cluster does the rest."""
    with tempfile.TemporaryDirectory() as name:
        folder, table, looks = Path(name) / "runs", FleetTable(Path(name) / "t"), []
        with LocalPool(1) as pool:  # a client simulates nothing: this one's memory is measured
            pool.submit(make_recordings, folder, count, "short_ur5e", 100.0).result()
        processes, cluster = start_dask(2, port)

        def look(progress: Progress) -> None:
            if progress.done % max(1, count // 8) == 0:
                alive = [psutil.Process(one.pid) for one in processes[1:] if one.poll() is None]
                workers = max(one.memory_info().rss for one in alive)
                own = psutil.Process().memory_info().rss
                looks.append([str(progress.done), f"{own / 1e6:.0f}", f"{workers / 1e6:.0f}"])

        def first(row: Mapping[str, Any], progress: Progress) -> None:
            look(progress)
            if progress.done == count // 4:
                processes[1].kill()
            elif progress.done == count // 2:
                processes[0].kill()

        try:
            identify_fleet(str(folder), table.folder, executor=cluster, on_row=first)
        except ExecutorLostError as error:
            print(f"after {count // 2}: {error}")
        end(processes, cluster)
        kept = table.read(["error"]).num_rows
        processes, cluster = start_dask(2, port)
        done = identify_fleet(
            str(folder), table.folder, executor=cluster, resume=True, on_row=lambda _, progress: look(progress)
        )
        end(processes, cluster)
        stored = pq.read_table(table.folder / "recordings.parquet", columns=["source", "error"]).to_pylist()
        print_table(f"Memory, {count} recordings", ["done in this run", "client MB", "largest worker MB"], looks)
        twice, errors = len(stored) - len({row["source"] for row in stored}), sum(bool(row["error"]) for row in stored)
        print(
            f"\nkept {kept}, of them used {done.kept}, done after it {done.done}; in the table {len(stored)} of "
            f"{count}, twice {twice}, errors {errors}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["seam", "identify", "study", "crash"], nargs="*", default=None)
    parser.add_argument("--recordings", type=int, default=None, help="40 a turn; 2,000 of the part crash")
    parser.add_argument("--port", type=int, default=18786)
    options = parser.parse_args()
    parts = options.part or ["seam", "identify", "study"]
    if "seam" in parts:
        seam(options.port)
    if "identify" in parts:
        identify(options.recordings or 40)
    if "study" in parts:
        study()
    if "crash" in parts:
        crash(options.recordings or 2000, options.port)


if __name__ == "__main__":
    main()
