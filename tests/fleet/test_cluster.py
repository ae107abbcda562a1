"""A Dask scheduler and its workers, as processes of their own: identical tables, workers killed, schedulers gone."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.fleet import (
    Cluster,
    ClusterError,
    ExecutorLostError,
    Experiment,
    FleetSettings,
    FleetTable,
    LocalPool,
    Plan,
    TlsFiles,
    identify_fleet,
    run_study,
)
from iparam.fleet.cluster import check_address
from iparam.recording import Recording

pytest.importorskip("distributed")
SETTINGS = FleetSettings(robot="ur5e")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def processes(tmp_path: Path, start_dask: Callable[[Path, int], Any]) -> Iterator[Any]:
    started = start_dask(tmp_path, free_port())
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def runs(tmp_path: Path, recorded: Callable[..., Recording]) -> Path:
    (tmp_path / "runs").mkdir()
    for seed in range(3):
        recorded(2.0, seed).save(tmp_path / "runs" / f"{seed}.parquet")
    for copy in range(3, 24):
        shutil.copyfile(tmp_path / "runs" / f"{copy % 3}.parquet", tmp_path / "runs" / f"{copy}.parquet")
    return tmp_path / "runs"


def rows(folder: Path) -> list[dict[str, Any]]:
    found = FleetTable(folder).read().to_pylist()
    return [{name: value for name, value in row.items() if name not in ("identified", "seconds")} for row in found]


def test_a_cluster_gives_the_table_of_one_machine_and_outlives_workers_and_schedulers(
    processes: Any, runs: Path, tmp_path: Path, pool: LocalPool, start_dask: Callable[[Path, int], Any]
) -> None:
    identify_fleet(str(runs), tmp_path / "here", SETTINGS, executor=pool)
    trajectory = iparam.load_trajectory(Path(__file__).parents[1] / "data" / "short_ur5e.json").trajectory
    plan = Plan("short", iparam.load_robot("ur5e"), trajectory)
    experiment = Experiment((plan,), (iparam.noise_preset("ur5e"),), rate=100.0)
    processes.add_worker()
    processes.add_worker()

    def kill_worker(row: Mapping[str, Any], progress: Any) -> None:
        if progress.done == 3:
            processes.workers[0].kill()

    with processes.connect(2) as cluster:
        done = identify_fleet(str(runs), tmp_path / "there", SETTINGS, executor=cluster, on_row=kill_worker)
        assert (done.identified, done.errors) == (24, 0)
        there = run_study("coverage", experiment, executor=cluster, most_runs=4)
        shared = cluster.shared_minimum()
        assert cluster.submit(shared.get).result() == np.inf
        shared.set(1.5)
        assert cluster.submit(shared.get).result() == 1.5
    assert there.table().equals(run_study("coverage", experiment, executor=pool, most_runs=4).table())
    assert rows(tmp_path / "there") == rows(tmp_path / "here")

    def kill_scheduler(row: Mapping[str, Any], progress: Any) -> None:
        if progress.done == 3:
            processes.scheduler.kill()

    with processes.connect(1) as cluster, pytest.raises(ExecutorLostError, match="is gone"):
        identify_fleet(str(runs), tmp_path / "cut", SETTINGS, executor=cluster, on_row=kill_scheduler)
    kept = len(rows(tmp_path / "cut"))
    assert 3 <= kept < 24
    restarted = start_dask(tmp_path, free_port())
    try:
        restarted.add_worker()
        with restarted.connect(1) as cluster:
            done = identify_fleet(str(runs), tmp_path / "cut", SETTINGS, executor=cluster, resume=True)
    finally:
        restarted.stop()
    assert (done.kept, done.identified) == (kept, 24 - kept)
    assert rows(tmp_path / "cut") == rows(tmp_path / "here")


def test_addresses_and_tls_files(tmp_path: Path) -> None:
    for good in ("tcp://10.0.0.1:8786", "tls://[::1]:8786", "tcp://host.example:1"):
        assert check_address(good) == good
    for bad in ("", "localhost:8786", "http://host:1", "tcp://host", "tcp://:8786", "tcp://host:99999", "tcp://h:1/x"):
        with pytest.raises(InputError, match="must be 'local' or an address"):
            check_address(bad)
    with pytest.raises(InputError, match=r"--tls-ca-file .*: there is no such file"):
        TlsFiles(tmp_path / "ca.pem", tmp_path / "cert.pem", tmp_path / "key.pem")
    (tmp_path / "ca.pem").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match=r"--tls-ca-file .* holds no certificate in PEM"):
        TlsFiles(*[tmp_path / "ca.pem"] * 3)


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iparam.fleet.cluster.CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")
