"""Atomic writing: the old contents or the new ones, never a part, and nothing left lying about."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iparam.errors import FileWriteError, InputError
from iparam.files.atomic import check_writable, write_atomically


def test_writes_text_and_bytes(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    write_atomically(target, "größer\n")
    assert target.read_bytes() == "größer\n".encode()
    write_atomically(str(target), b"\x00\xff")
    assert target.read_bytes() == b"\x00\xff"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace", "fdopen"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((FileWriteError, KeyboardInterrupt)) as caught:
        write_atomically(target, "new")
    monkeypatch.undo()
    assert "No space" in str(caught.value) or isinstance(failure, KeyboardInterrupt)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_writer_that_dies_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    program = (
        "import os, sys\nfrom iparam.files.atomic import check_writable, write_atomically\n"
        "os.replace = lambda *_: os._exit(9)\nwrite_atomically(sys.argv[1], 'new' * 1000)"
    )
    died = subprocess.run([sys.executable, "-c", program, str(target)], check=False)
    assert died.returncode == 9
    assert target.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "out.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    umask = os.umask(0o022)
    try:
        write_atomically(tmp_path / "fresh.txt", "new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "fresh.txt").stat().st_mode) == 0o644


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        write_atomically(tmp_path, "x")
    with pytest.raises(InputError, match="does not exist; create it first"):
        write_atomically(tmp_path / "none" / "out.txt", "x")
    with pytest.raises(InputError, match="cannot write"):
        write_atomically("a\0b", "x")
    with pytest.raises(InputError, match="cannot write"):
        write_atomically(tmp_path / "out.txt", "\ud800")
    with pytest.raises(InputError, match="as a path, got int"):
        write_atomically(3, "x")  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(InputError, match="it is a device, a pipe or a socket, not a file"):
            write_atomically(path, "x")
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_what_may_not_be_written_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions are asked for, which root has all of."""
    (tmp_path / "file").touch()
    check_writable(tmp_path / "new.json", "--output")
    check_writable(tmp_path / "not" / "made" / "yet", "--output")
    check_writable(tmp_path / "file", "--output")
    with pytest.raises(InputError, match=r"--output .*file/new\.json: .*/file is no folder; choose another place"):
        check_writable(tmp_path / "file" / "new.json", "--output")
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != str(tmp_path))
    with pytest.raises(FileWriteError, match=r"--output .*new\.json: the folder .* may not be written to"):
        check_writable(tmp_path / "new.json", "--output")
    with pytest.raises(FileWriteError, match="may not be written to"):
        check_writable(tmp_path / "not" / "made" / "yet", "--output")
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != str(tmp_path / "file"))
    with pytest.raises(FileWriteError, match=r"--output .*file is protected against writing"):
        check_writable(tmp_path / "file", "--output")
