"""A Dask scheduler and its workers, as processes of their own: identical tables, workers killed, schedulers gone."""

from __future__ import annotations

import datetime
import shutil
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from iparam.cli.main import main
from iparam.errors import InputError
from iparam.fleet import (
    Cluster,
    ClusterError,
    ExecutorLostError,
    FleetSettings,
    FleetTable,
    TlsFiles,
    identify_fleet,
    in_order,
    run_jobs,
)
from iparam.fleet.cluster import check_address, check_workers, version_remarks
from iparam.recording import Recording
from iparam.robot.batching import get_num_threads

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.usefixtures("tidy_sockets")
SETTINGS = FleetSettings(robot="ur5e")
COUNT = 16


OF_COPY = ("source", "stamp", "recorded")
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
    found = FleetTable(folder).read().to_pylist()
    return [{name: value for name, value in row.items() if name not in ("identified", "seconds")} for row in found]


@pytest.mark.thorough
def test_a_killed_worker_and_a_killed_scheduler_cost_nothing_that_is_done(
    processes: Any, runs: Path, tmp_path: Path, start_dask: Callable[[Path, int], Any]
) -> None:
    """The table is that of one machine, no row twice, after a scheduler was started anew at the same address."""
    identify_fleet(str(runs / "[012].parquet"), tmp_path / "here", SETTINGS, executor=ThreadPoolExecutor(1))
    here = {row["checksum"]: row for row in rows(tmp_path / "here")}  # the others are copies of these
    processes.add_worker()

    def kill(row: Mapping[str, Any], progress: Any) -> None:
        if progress.done == 3:
            processes.worker.kill()
        elif progress.done == 5:
            processes.scheduler.kill()

    with (
        processes.connect(2) as cluster,
        pytest.raises(ExecutorLostError, match=rf"^the scheduler at {processes.address} is gone: it ended"),
    ):
        identify_fleet(str(runs), tmp_path / "there", SETTINGS, executor=cluster, on_row=kill)
    kept = FleetTable(tmp_path / "there").read(["error"]).to_pylist()
    assert 5 <= len(kept) < COUNT
    assert not any(row["error"] for row in kept)
    processes.stop()
    restarted = start_dask(tmp_path, processes.port)
    try:
        with restarted.connect(1) as cluster:
            done = identify_fleet(str(runs), tmp_path / "there", SETTINGS, executor=cluster, resume=True)
            threads = cluster.submit(get_num_threads).result()
    finally:
        restarted.stop()
    assert (done.kept, done.identified) == (len(kept), COUNT - len(kept))
    there = rows(tmp_path / "there")
    assert sorted(row["source"] for row in there) == sorted(path.name for path in runs.iterdir())
    assert there == [{**here[row["checksum"]], **{name: row[name] for name in OF_COPY}} for row in there]
    assert threads == 1


def test_workers_read_what_the_client_lowers(dask_scheduler: str) -> None:
    with Cluster(dask_scheduler) as cluster:
        shared = cluster.shared_minimum()
        assert cluster.submit(shared.get).result() == np.inf
        shared.set(1.5)
        assert cluster.submit(shared.get).result() == 1.5


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


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number(), now - day, now + day)
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (folder / f"{name}.pem").write_bytes(signed.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / f"{name}-key.pem").write_bytes(text)
    return folder / f"{name}.pem", folder / f"{name}-key.pem"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, TlsFiles, TlsFiles]]:
    """A scheduler behind TLS: its address, files that open it, and a stranger's."""
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
        yield cluster.scheduler_address, TlsFiles(own, own, key), TlsFiles(other, other, other_key)


def test_tls_lets_in_who_has_the_files(secured: tuple[str, TlsFiles, TlsFiles], tmp_path: Path) -> None:
    address, own, _ = secured
    assert address.startswith("tls://")
    with Cluster(address, own) as cluster:
        assert [outcome.value for outcome in in_order(run_jobs(abs, [1, -2, 3], cluster))] == [1, 2, 3]
    settings = {"ca-file": str(own.ca_file), "client.cert": str(own.cert), "client.key": str(own.key)}
    known = {f"distributed.comm.tls.{name}": value for name, value in settings.items()}
    with dask.config.set(known), Cluster(address) as cluster:
        assert [outcome.value for outcome in run_jobs(abs, [-2], cluster)] == [2]
    files = ["--tls-ca-file", str(own.ca_file), "--tls-cert", str(own.cert), "--tls-key", str(own.key)]
    plan = str(Path(__file__).parents[1] / "data" / "short_ur5e.json")
    line = ["study", "coverage", "--trajectory", plan, "--sensor-rate", "100", "--runs", "1", "--output"]
    assert main([*line, str(tmp_path / "runs.parquet"), "--scheduler", address, *files]) == 0
    assert pq.read_table(tmp_path / "runs.parquet").num_rows == 1


def test_tls_keeps_out_who_has_not(
    secured: tuple[str, TlsFiles, TlsFiles], dask_scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iparam.fleet.cluster.CONNECT_SECONDS", 3.0)  # a busy machine needs some time to say no
    address, own, other = secured
    plain = address.replace("tls://", "tcp://")
    for place, files, message in (
        (address, other, "has no certificate of the authority in --tls-ca-file"),
        (address, TlsFiles(own.ca_file, other.cert, other.key), "does not take the certificate --tls-cert"),
        (plain, None, "or one that wants TLS"),
        (dask_scheduler.replace("tcp://", "tls://"), own, "speaks no TLS|answers with TLS"),
    ):
        with pytest.raises(ClusterError, match=message):
            Cluster(place, files)
    with pytest.raises(InputError, match="needs --tls-ca-file, --tls-cert and --tls-key, or Dask's own settings"):
        Cluster(address)
    with pytest.raises(InputError, match="TLS files go with a scheduler at tls://"):
        Cluster(plain, own)
    with pytest.raises(InputError, match="are no certificate with its key"):
        TlsFiles(own.ca_file, own.cert, other.key)


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


def test_workers_with_other_packages_are_told_in_a_sentence(dask_scheduler: str) -> None:
    with Cluster(dask_scheduler) as cluster:
        versions = cluster._client.get_versions(packages=["numpy", "scipy", "numba"])
        assert cluster.remarks == version_remarks(versions) == ()
        warnings.warn(distributed.versions.VersionMismatchWarning("a table of many lines"), stacklevel=1)  # not shown
    worker, known = next(iter(versions["workers"].items()))
    versions["workers"][worker] = {"packages": {**known["packages"], "numpy": "0.1", "lz4": "0.1"}}
    (remark,) = version_remarks(versions)
    assert remark.startswith(f"1 of 2 workers have numpy 0.1, this client {np.__version__}: the last digits of results")


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iparam.fleet.cluster.CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")
