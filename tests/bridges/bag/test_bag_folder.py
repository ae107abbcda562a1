"""What a process leaves that is killed while it writes a bag, and who removes it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iparam.bridges.bag import bag_folder
from iparam.bridges.bag.bag_folder import new_bag_folder

if sys.platform == "win32":
    pytest.skip("folders have no locks there", allow_module_level=True)

WRITER = """
import sys
from iparam.bridges.bag.bag_folder import new_bag_folder
with new_bag_folder(sys.argv[1], True) as folder:
    folder.mkdir()
    (folder / "part.mcap").write_bytes(b"half")
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer() -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Starts a process that is in the middle of writing a bag."""
    started = []

    def start(bag: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", WRITER, str(bag)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def write(bag: Path, overwrite: bool = False) -> None:
    with new_bag_folder(bag, overwrite) as folder:
        folder.mkdir()
        (folder / "whole.mcap").write_bytes(b"whole")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_call_removes_what_a_killed_one_left(
    tmp_path: Path, writer: Callable[[Path], subprocess.Popen[str]]
) -> None:
    bag = tmp_path / "bag"
    process = writer(bag)
    write(bag)  # beside one that still writes
    (room,) = [name for name in names(tmp_path) if name != "bag"]
    process.kill()
    process.wait()
    assert names(tmp_path) == ["bag", room]
    write(tmp_path / "other")
    assert names(tmp_path) == ["bag", room, "other"]  # another bag's is left alone
    write(bag, overwrite=True)
    assert names(tmp_path) == ["bag", "other"]
    assert names(bag) == ["whole.mcap"]


def test_the_next_call_removes_the_folder_of_one_that_was_killed_before_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "bag.0123456789ab.tmp").mkdir()
    write(tmp_path / "bag")
    assert names(tmp_path) == ["bag"]


def test_a_folder_that_is_not_locked_yet_is_not_taken_from_whoever_made_it(tmp_path: Path) -> None:
    """One thread removes what is abandoned while the other begins to write."""
    done = threading.Event()

    def remove() -> None:
        while not done.is_set():
            bag_folder._remove_abandoned(tmp_path / "bag")

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for _ in range(500):
            room, lock = bag_folder._new_room(tmp_path / "bag")
            assert lock is not None
            (room / "bag").mkdir()
            assert names(room) == ["bag"]
            os.close(lock)
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("inside", [("notes.txt",), ("bag", "notes.txt")])
def test_what_somebody_else_made_is_left_alone(inside: tuple[str, ...], tmp_path: Path) -> None:
    room = tmp_path / "bag.0123456789ab.tmp"
    room.mkdir()
    for name in inside:
        (room / name).write_bytes(b"mine")
    write(tmp_path / "bag")
    assert names(tmp_path) == ["bag", room.name]
    assert names(room) == sorted(inside)


def test_a_bag_that_was_being_replaced_comes_back(tmp_path: Path) -> None:
    room, bag = tmp_path / "bag.0123456789ab.tmp", tmp_path / "bag"
    for folder, file in (("bag", "new.mcap"), ("bag.replaced", "old.mcap")):
        (room / folder).mkdir(parents=True)
        (room / folder / file).write_bytes(b"x")
    with pytest.raises(ValueError, match="exists already"):
        write(bag)
    assert names(tmp_path) == ["bag"]
    assert names(bag) == ["old.mcap"]
