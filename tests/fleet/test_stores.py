"""Stores: folders, globs, memory, and S3 for real, against a server on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from iparam.errors import InputError
from iparam.fleet import FleetSettings, FleetTable, StoreError, find_sources, identify_fleet
from iparam.fleet.stores import fetched
from iparam.recording import Recording

fsspec = pytest.importorskip("fsspec")
Make = Callable[..., Recording]


def names(pattern: Path | str) -> list[str]:
    return [source.name for source in find_sources(str(pattern))]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/1.parquet", "a/2.csv", "b/3.mcap", "b/4.txt", "bag/metadata.yaml", "bag/bag_0.mcap", "c.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * 10)
    return tmp_path


def test_folders_globs_and_files(tree: Path) -> None:
    assert names(tree) == ["a/1.parquet", "a/2.csv", "b/3.mcap", "bag"]
    assert names(tree / "*" / "*.csv") == ["a/2.csv"]
    assert names(tree / "b*") == ["b/3.mcap", "bag"]
    assert names(tree / "a" / "1.parquet") == ["1.parquet"]
    assert names(tree / "*.log") == ["c.log"]  # asked for by its suffix
    assert [source.is_bag for source in find_sources(str(tree))] == [False, False, True, True]
    (tree / "a").rename(tree / "day [1]")
    assert names(tree / "day [1]") == ["1.parquet", "2.csv"]
    assert names(tree / "day [1]" / "2.csv") == ["2.csv"]
    assert names(tree / "day [[]1]" / "*.csv") == ["day [1]/2.csv"]
    with pytest.raises(StoreError, match=r"has no recordings: .* part of a name is written \[\[\]"):
        names(tree / "day [1]" / "*.csv")
    for nothing in (tree / "none*.csv", tree / "b" / "*.txt*"):
        with pytest.raises(StoreError, match="has no recordings"):
            names(nothing)
    with pytest.raises(StoreError, match="it is not there, or not any more"):
        names(tree / "nowhere")
    with pytest.raises(InputError, match="no address of a store"):
        names("nonsense://x")
    with pytest.raises(InputError, match="a pattern is an address"):
        names("")


def test_google_s_store_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)  # as if it was not
    for address in ("gs://bucket/2026/*.mcap", "gcs://bucket"):
        with pytest.raises(StoreError, match=r"cannot be read: .*install gcsfs"):
            names(address)


def test_a_changed_file_has_another_stamp_and_checksum(tree: Path) -> None:
    (before,) = find_sources(str(tree / "a" / "1.parquet"))
    with fetched(before) as local:
        checksum = local.checksum
        assert local.path == tree / "a" / "1.parquet"  # read where it is
    os.utime(tree / "a" / "1.parquet", (5.0, 5.0))
    (touched,) = find_sources(str(tree / "a" / "1.parquet"))
    assert touched.stamp != before.stamp
    assert touched.modified == 5.0
    (tree / "a" / "1.parquet").write_bytes(b"y" * 10)
    (after,) = find_sources(str(tree / "a" / "1.parquet"))
    with fetched(after) as local:
        assert local.checksum != checksum
    (tree / "a" / "1.parquet").unlink()
    with pytest.raises(StoreError, match=r"cannot read 1.parquet: it is not there"), fetched(after):
        pass


def test_memory(recorded: Make, tmp_path: Path) -> None:
    recorded(2.0, 1).save(tmp_path / "run.parquet")
    fsspec.filesystem("memory").pipe("/runs/a.parquet", (tmp_path / "run.parquet").read_bytes())
    settings = FleetSettings(robot="ur5e")
    identify_fleet("memory://runs/*.parquet", tmp_path / "fleet", settings, executor=ThreadPoolExecutor(1))
    (row,) = FleetTable(tmp_path / "fleet").read(["mass", "error"]).to_pylist()
    assert row["error"] is None
    assert row["mass"] == pytest.approx(2.0, abs=0.02)


KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "not-a-secret"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an S3 server of moto's."""
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 300.0
        while True:
            try:
                with urllib.request.urlopen(f"{address}/moto-api/", timeout=20.0):
                    break
            except (OSError, urllib.error.URLError):
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorded: Make) -> Iterator[object]:
    """A bucket with two recordings, one of them cut; credentials and endpoint are in the environment."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", server),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    system = fsspec.filesystem("s3")
    system.makedirs("logs", exist_ok=True)
    recorded(2.0, 1).save(tmp_path / "run.parquet")
    whole = (tmp_path / "run.parquet").read_bytes()
    system.pipe("logs/2026/a.parquet", whole)
    system.pipe("logs/2026/cut.parquet", whole[: len(whole) // 2])
    yield system
    system.rm("logs/2026", recursive=True)
    s3fs.S3FileSystem.clear_instance_cache()


def test_s3_whole_and_cut_objects(s3: object, tmp_path: Path) -> None:
    settings = FleetSettings(robot="ur5e")
    done = identify_fleet("s3://logs/2026/*.parquet", tmp_path / "fleet", settings, executor=ThreadPoolExecutor(2))
    assert (done.found, done.errors) == (2, 1)
    rows = FleetTable(tmp_path / "fleet").read().to_pylist()
    assert [row["source"] for row in rows] == ["a.parquet", "cut.parquet"]
    assert rows[0]["mass"] == pytest.approx(2.0, abs=0.02)
    assert rows[0]["recorded_from"] == "store"
    assert rows[1]["error_kind"] == "refused"
    assert "cut.parquet" in rows[1]["error"]
    again = identify_fleet("s3://logs/2026", tmp_path / "fleet", settings, executor=ThreadPoolExecutor(2), resume=True)
    assert again.identified == 0


def test_s3_vanished_and_changed_objects(s3: object, tmp_path: Path) -> None:
    sources = find_sources("s3://logs/2026")
    s3.rm("logs/2026/a.parquet")  # type: ignore[attr-defined]
    with (
        pytest.raises(StoreError, match=r"cannot read a.parquet: it is not there, or not any more"),
        fetched(sources[0]),
    ):
        pass
    s3.pipe("logs/2026/cut.parquet", b"short")  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match=r"5 bytes came instead of \d+: it was cut, or changed"), fetched(sources[1]):
        pass


def test_s3_wrong_credentials(s3: object, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    def authenticate(after: str) -> None:
        plain = {"Content-Type": "text/plain"}
        request = urllib.request.Request(f"{server}/moto-api/reset-auth", after.encode(), plain, method="POST")
        with urllib.request.urlopen(request, timeout=60.0) as answer:
            assert answer.status == 200

    authenticate("0")
    try:
        s3fs.S3FileSystem.clear_instance_cache()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAWRONGWRONGWRONG1")
        with pytest.raises(StoreError) as refused:
            find_sources("s3://logs/2026")
        assert "access denied" in str(refused.value)
        assert "credentials in the environment" in str(refused.value)
        assert SECRET not in str(refused.value)
    finally:
        authenticate("1000000")
        s3fs.S3FileSystem.clear_instance_cache()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
