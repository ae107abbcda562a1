"""A Dask scheduler and its workers, as processes of their own: identical tables, workers killed, schedulers gone."""

from __future__ import annotations

import datetime
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from iparam.errors import InputError
from iparam.fleet import (
    Cluster,
    ClusterError,
    ExecutorLostError,
    FleetSettings,
    FleetTable,
    identify_fleet,
    in_order,
    run_jobs,
)
from iparam.fleet.cluster import check_workers
from iparam.recording import Recording
from iparam.robot.batching import get_num_threads

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.usefixtures("tidy_sockets")
SETTINGS = FleetSettings(robot="ur5e")
COUNT = 16


OF_COPY = ("source", "modified")
"""Columns in which the rows of a recording and of its copy differ."""


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
    for copy in range(3, COUNT):
        shutil.copyfile(tmp_path / "runs" / f"{copy % 3}.parquet", tmp_path / "runs" / f"{copy}.parquet")
    return tmp_path / "runs"


def rows(folder: Path) -> list[dict[str, Any]]:
    found = FleetTable(folder).rows().values()
    return [{name: value for name, value in row.items() if name not in ("identified", "seconds")} for row in found]


@pytest.mark.thorough
def test_a_killed_worker_and_a_killed_scheduler_cost_nothing_that_is_done(
    processes: Any, runs: Path, tmp_path: Path, start_dask: Callable[[Path, int], Any]
) -> None:
    """The table is that of one machine, no row twice, after a scheduler was started anew at the same address."""
    identify_fleet([runs / "[012].parquet"], tmp_path / "here", SETTINGS, executor=ThreadPoolExecutor(1))
    here = {row["source"]: row for row in rows(tmp_path / "here")}  # the others are copies of these
    processes.add_worker()

    def kill(row: Mapping[str, Any], run: Any) -> None:
        if run.done == 3:
            processes.worker.kill()
        elif run.done == 5:
            processes.scheduler.kill()

    with (
        processes.connect(2) as cluster,
        pytest.raises(ExecutorLostError, match=rf"^the scheduler at {processes.address} is gone: it ended"),
    ):
        identify_fleet([runs], tmp_path / "there", SETTINGS, executor=cluster, on_row=kill)
    kept = rows(tmp_path / "there")
    assert 5 <= len(kept) < COUNT
    assert not any(row["error"] for row in kept)
    processes.stop()
    restarted = start_dask(tmp_path, processes.port)
    try:
        with restarted.connect(1) as cluster:
            done = identify_fleet([runs], tmp_path / "there", SETTINGS, executor=cluster)
            threads = cluster.submit(get_num_threads).result()
    finally:
        restarted.stop()
    assert (done.kept, done.done, done.errors) == (len(kept), COUNT - len(kept), 0)
    there = rows(tmp_path / "there")
    assert sorted(row["source"] for row in there) == sorted(path.name for path in runs.iterdir())
    for row in there:
        original = here[f"{int(Path(row['source']).stem) % 3}.parquet"]
        assert row == {**original, **{name: row[name] for name in OF_COPY}}
    assert threads == 1


def test_what_is_no_address_is_refused() -> None:
    for bad in ("", "localhost:8786", "http://host:1", "tcp://host", "tcp://:8786", "tcp://host:99999", "tcp://h:1/x"):
        with pytest.raises(InputError, match="must be 'local' or an address"):
            Cluster(bad)


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number(), now - day, now + day)
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (folder / f"{name}.pem").write_bytes(signed.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / f"{name}-key.pem").write_bytes(text)
    return folder / f"{name}.pem", folder / f"{name}-key.pem"


def tls_settings(certificate: Path, key: Path) -> dict[str, str]:
    """Dask's configuration of a client."""
    settings = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    return {f"distributed.comm.tls.{name}": str(value) for name, value in settings.items()}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """A scheduler behind TLS: its address, Dask's settings that open it, and a stranger's."""
    folder = tmp_path_factory.mktemp("tls")
    (own, key), (other, other_key) = certificate(folder, "own"), certificate(folder, "other")
    certificates = {f"tls_{who}_cert": str(own) for who in ("scheduler", "worker", "client")}
    keys = {f"tls_{who}_key": str(key) for who in ("scheduler", "worker", "client")}
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        security=distributed.Security(tls_ca_file=str(own), require_encryption=True, **certificates, **keys),
    ) as cluster:
        yield cluster.scheduler_address, tls_settings(own, key), tls_settings(other, other_key)


def test_tls_is_set_up_in_dask_and_lets_in_who_has_the_files(
    secured: tuple[str, dict[str, str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, own, other = secured
    assert address.startswith("tls://")
    with dask.config.set(own), Cluster(address) as cluster:
        assert [outcome.value for outcome in in_order(run_jobs(abs, [1, -2, 3], cluster))] == [1, 2, 3]
    monkeypatch.setattr("iparam.fleet.cluster.CONNECT_SECONDS", 3.0)  # a busy machine needs some time to say no
    for settings in ({}, other):
        with dask.config.set(settings), pytest.raises(ClusterError, match=f"no scheduler answers at {address}"):
            Cluster(address)
    with pytest.raises(ClusterError, match="no scheduler answers"):
        Cluster(address.replace("tls://", "tcp://"))


def test_workers_of_another_version_are_refused(dask_scheduler: str) -> None:
    with Cluster(dask_scheduler) as cluster:
        versions = cluster._client.get_versions(packages=["iparam"])
    check_workers(versions)
    worker, known = next(iter(versions["workers"].items()))
    for package, version, message in (
        (
            "python",
            "3.9.1.final.0",
            rf"{worker} has Python 3\.9\.1\.final\.0, this client Python 3\.\d+: start it where",
        ),
        ("iparam", "0.0.1", r"has iparam 0\.0\.1, this client iparam \S+: start it where iparam \S+ is installed"),
        ("iparam", None, "has no iparam, this client iparam"),
    ):
        other = {worker: {"packages": {**known["packages"], package: version}}}
        with pytest.raises(ClusterError, match=message):
            check_workers({**versions, "workers": other})


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iparam.fleet.cluster.CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")
