"""What the seam to workers costs, and what workers bring: one against two, the local pool against Dask.

    python benchmarks/bench_fleet.py [--recordings 40]     # seam and identify: a few minutes
    python benchmarks/bench_fleet.py --part crash          # 2,000 recordings on Dask, killed on the way, and resumed

One table has all that was measured, beside what is wanted; a second one what follows from it for many recordings.

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
from dataclasses import dataclass
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
    FleetRun,
    FleetSettings,
    FleetTable,
    identify_fleet,
    run_jobs,
)
from iparam.simulation import SensorRates
from iparam.worker_pool import WorkerPool

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
ROUNDS = 3
Row = list[str]
"""Of the table: what, measured, wanted."""
DAY, MANY = 10_000, 1_000_000
"""Recordings: of 500 arms, 20 each, in a day; and a million."""
OF_WORKERS = {"OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}
"""The environment of a Dask worker, see docs/platforms/at-scale.md: Dask's profiler keeps call stacks of 1,000 s."""


def nothing(number: int) -> int:
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


def cost_of_a_job(executor: Executor, count: int = 400) -> float:
    """Milliseconds that a job takes beyond its work."""
    list(run_jobs(nothing, range(50), executor))
    began = time.perf_counter()
    list(run_jobs(nothing, range(count), executor))
    return 1e3 * (time.perf_counter() - began) / count


def seam(port: int) -> list[Row]:
    with WorkerPool(2) as pool:
        local = cost_of_a_job(pool)
    processes, cluster = start_dask(2, port)
    try:
        single = cost_of_a_job(cluster)
    finally:
        end(processes, cluster)
    return [
        ["seam, processes of this machine", f"{local:.2f} ms a job", "2 ms"],
        ["seam, Dask", f"{single:.1f} ms a job", "15 ms"],
    ]


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


@dataclass(frozen=True)
class Turns:
    """One worker and two, in turns.

    Attributes:
        throughput: of two against one, best of the rounds.
        effort: processor time of two workers against one, for the same jobs.
        seconds: of a core that one of the jobs takes with one worker.
        memory: of the largest worker [MB].
    """

    throughput: float
    effort: float
    seconds: float
    memory: float


def in_turns(count: int, work: Callable[[Executor, int], object]) -> Turns:
    best: dict[int, float] = {}
    busy: dict[int, float] = {}
    with WorkerPool(1) as one, WorkerPool(2) as two:
        for pool in (one, two):  # loads all modules
            work(pool, -1)
        for turn in range(ROUNDS):
            for workers, pool in ((1, one), (2, two)):
                began, used = time.perf_counter(), worker_seconds()
                work(pool, turn)
                best[workers] = min(best.get(workers, np.inf), time.perf_counter() - began)
                busy[workers] = min(busy.get(workers, np.inf), worker_seconds() - used)
        memory = max(child.memory_info().rss for child in psutil.Process().children(recursive=True)) / 1e6
    return Turns(best[1] / best[2], busy[2] / busy[1], busy[1] / count, memory)


def identify(count: int) -> tuple[list[Row], list[Row]]:
    """What a recording costs, and on paper what that makes of many."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "runs"
        with WorkerPool(1) as pool:  # a client simulates nothing: this one's memory is measured
            pool.submit(make_recordings, folder, count * ROUNDS + 4).result()
        recordings = sorted(folder.iterdir())
        stored = recordings[0].stat().st_size
        for turn in range(-1, ROUNDS):  # each has recordings of its own
            (Path(name) / str(turn)).mkdir()
            for path in recordings[:4] if turn < 0 else recordings[4 + turn :: ROUNDS]:
                path.rename(Path(name) / str(turn) / path.name)
        table, client = Path(name) / "t", []

        def work(pool: Executor, turn: int) -> None:
            began = time.process_time()
            identify_fleet([Path(name) / str(turn)], table, FleetSettings(), executor=pool, overwrite=True)
            client.append(time.process_time() - began)

        found = in_turns(count, work)
        row, own = row_size(table / "table.parquet"), psutil.Process().memory_info().rss / 1e6
    serving = min(client[2:]) / count
    what = f"a recording of 10 s at 500 Hz (Parquet, {stored / 1e6:.1f} MB): read, identified, judged"
    rows = [
        [what, f"{1e3 * found.seconds:.0f} ms of a worker's core", ""],
        ["the client for it: hand it over, take the row, write the table", f"{1e3 * serving:.1f} ms", ""],
        ["memory of the client, of a worker", f"{own:.0f} MB, {found.memory:.0f} MB", ""],
        ["processor time of a recording with two workers against one", f"{found.effort:.2f} times", "1"],
        ["throughput of two workers against one: `iparam fleet`", f"{found.throughput:.2f} times", "1.7 times"],
    ]
    return rows, on_paper(found, serving, stored, row, own)


def row_size(path: Path) -> float:
    """Of a row of a table [B], without what the file has once."""
    stored = pq.read_metadata(path)
    groups = [stored.row_group(index) for index in range(stored.num_row_groups)]
    columns = [group.column(index) for group in groups for index in range(group.num_columns)]
    return sum(column.total_compressed_size for column in columns) / stored.num_rows


def on_paper(found: Turns, serving: float, stored: float, row: float, client: float) -> list[Row]:
    """What the figures of one recording make of many."""
    columns = (DAY, MANY)
    return [
        ["one core", *(span(count * found.seconds) for count in columns)],
        ["24 cores", *(span(count * found.seconds / 24) for count in columns)],
        ["the client", *(span(count * serving) for count in columns)],
        ["read from the store", *(size(count * stored) for count in columns)],
        ["table", *(size(count * row) for count in columns)],
        ["memory of a worker, of the client", *[f"{size(1e6 * found.memory)}, {size(1e6 * client)}"] * 2],
        ["workers that one client can serve", *[f"{found.seconds / serving:.0f}"] * 2],
    ]


def span(seconds: float) -> str:
    return f"{seconds / 3600.0:.1f} hours" if seconds >= 5400.0 else f"{seconds / 60.0:.1f} minutes"


def size(count: float) -> str:
    scale, unit = next((pair for pair in ((1e12, "TB"), (1e9, "GB")) if count >= pair[0]), (1e6, "MB"))
    return f"{count / scale:.3g} {unit}"


def crash(count: int, port: int) -> list[Row]:
    """Many recordings on two workers of Dask: one is killed, then the scheduler; another cluster does the rest."""
    with tempfile.TemporaryDirectory() as name:
        folder, table = Path(name) / "runs", FleetTable(Path(name) / "t")
        looks: list[tuple[float, float]] = []
        with WorkerPool(1) as pool:  # a client simulates nothing: this one's memory is measured
            pool.submit(make_recordings, folder, count, "short_ur5e", 100.0).result()
        processes, cluster = start_dask(2, port)

        def look(progress: FleetRun) -> None:
            if progress.done % max(1, count // 8) == 0:
                alive = [psutil.Process(one.pid) for one in processes[1:] if one.poll() is None]
                workers = max(one.memory_info().rss for one in alive)
                own = psutil.Process().memory_info().rss
                looks.append((own / 1e6, workers / 1e6))

        def first(row: Mapping[str, Any], progress: FleetRun) -> None:
            look(progress)
            if progress.done == count // 4:
                processes[1].kill()
            elif progress.done == count // 2:
                processes[0].kill()

        try:
            identify_fleet([folder], table.folder, executor=cluster, on_row=first)
        except ExecutorLostError as error:
            print(f"after {count // 2}: {error}", file=sys.stderr)
        end(processes, cluster)
        kept = len(table.rows())
        processes, cluster = start_dask(2, port)
        done = identify_fleet([folder], table.folder, executor=cluster, on_row=lambda _, progress: look(progress))
        end(processes, cluster)
        stored = pq.read_table(table.path, columns=["source", "error"]).to_pylist()
        twice, errors = len(stored) - len({row["source"] for row in stored}), sum(bool(row["error"]) for row in stored)
    what = (
        f"{count:,} recordings of 4 s at 100 Hz on Dask; a worker killed (SIGKILL) after {count // 4:,}, the scheduler "
        f"after {count // 2:,} and started again, then the same again"
    )
    client, workers = (f"{min(own):.0f} to {max(own):.0f} MB" for own in zip(*looks, strict=True))
    kept_and_done = (
        f"{kept:,} rows kept, {done.done:,} done, {len(stored):,} in the table, {twice} twice, {errors} errors"
    )
    return [[what, kept_and_done, ""], ["memory in that run: client; workers", f"{client}; {workers}", "flat"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["seam", "identify", "crash"], nargs="*", default=None)
    parser.add_argument("--recordings", type=int, default=None, help="40 a turn; 2,000 of the part crash")
    parser.add_argument("--port", type=int, default=18786)
    options = parser.parse_args()
    parts = options.part or ["seam", "identify"]
    rows, paper = [], []
    if "seam" in parts:
        rows += seam(options.port)
    if "identify" in parts:
        identified, paper = identify(options.recordings or 40)
        rows += identified
    if "crash" in parts:
        rows += crash(options.recordings or 2000, options.port)
    print_table(f"On {os.cpu_count()} cores", ["", "measured", "wanted"], rows)
    if paper:
        header = ["", "a day of 500 arms, 20 recordings each", "a million recordings"]
        print_table("On paper, with the figures of one recording", header, paper)


if __name__ == "__main__":
    main()
