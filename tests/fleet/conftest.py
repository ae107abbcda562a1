"""Short recordings of a UR5e that swings a load, and what runs jobs."""

from __future__ import annotations

import contextlib
import datetime
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.fleet import Cluster
from iparam.fleet.history import BIAS, COMPARED
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import WindowedFourierTrajectory
from iparam.worker_pool import WorkerPool

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])


def make_recording(mass: float = 2.0, seed: int = 0) -> Recording:
    robot, pose = iparam.load_robot("ur5e"), np.eye(4)
    pose[2, 3] = 0.1
    load = iparam.InertialParameters.box(mass, (0.1, 0.15, 0.2)).transformed(pose)
    a, b = np.random.default_rng(1).normal(0.0, 0.35, (2, 6, 3))
    motion = WindowedFourierTrajectory(Q0, a, b, base_freq=0.25, duration=4.0).sample(100.0)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load.phi
    exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    return noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), seed)


@pytest.fixture(scope="session")
def recorded() -> Callable[..., Recording]:
    return make_recording


@pytest.fixture(scope="session")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2) as workers:
        yield workers


def make_rows(
    masses: FloatArray, arm: str = "a", deviation: float = 0.001, bias: FloatArray | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of a table, an hour apart, of an arm that carries a saw; deviations of the mass, and 0.1 mm."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    for place, mass in enumerate(masses):
        row: dict[str, Any] = {
            "robot": "ur5e",
            "arm": arm,
            "tool": "saw",
            "verdict": "good",
            "error": None,
            "causes": None,
        }
        row |= {
            "source": f"{arm}/{place:03d}",
            "recorded": datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC) + datetime.timedelta(hours=place),
        }
        centre = [0.01, 0.0, 0.08] + 1e-4 * rng.normal(size=3)
        row |= dict(zip(COMPARED, [mass, *centre], strict=True))
        row |= dict(zip((f"{name}_deviation" for name in COMPARED), [deviation, 1e-4, 1e-4, 1e-4], strict=True))
        row |= dict(zip(BIAS, rng.normal(size=6) if bias is None else bias[place], strict=True))
        found.append(row)
    return found


@pytest.fixture(scope="session")
def rows() -> Callable[..., list[dict[str, Any]]]:
    return make_rows


SCHEDULER = """
import distributed, sys, time
distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
    scheduler_port=int(sys.argv[1]), dashboard_address="127.0.0.1:0",
)
time.sleep(600)
"""


class DaskProcesses:
    """A scheduler with a worker beside it in one process, and a worker that is a process of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self.address = folder, port, f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("-c", SCHEDULER, str(port))
        self.worker: subprocess.Popen[bytes] | None = None

    def add_worker(self) -> None:
        options = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder), "--host", "127.0.0.1")
        worker = ("-m", "dask", "worker", self.address, "--no-nanny", "--memory-limit", "0", *options)
        self.worker = self._start(*worker)

    def connect(self, count: int) -> Cluster:
        """The cluster, once ``count`` workers are there."""
        end = time.monotonic() + 300.0
        while True:
            with contextlib.suppress(iparam.fleet.ClusterError):
                cluster = Cluster(self.address)
                while len(cluster.threads()) < count and time.monotonic() < end:
                    time.sleep(0.2)
                return cluster
            assert time.monotonic() < end, f"nobody at {self.address}"
            time.sleep(0.3)

    def stop(self) -> None:
        for process in (self.worker, self.scheduler):
            if process is not None:
                process.kill()
                process.wait()

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        places = os.pathsep.join([str(Path(iparam.__file__).parents[1]), str(Path(__file__).parent)])
        return subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": places},
        )


@pytest.fixture(scope="session")
def start_dask() -> Callable[[Path, int], DaskProcesses]:
    return DaskProcesses
