"""Kernels are compiled once, whichever process needs them first, and nobody waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from iparam.robot.kernels.compilation import alone

COMPILE = """
import sys
from iparam.robot.kernels.steps import sin_cos
print("ready", flush=True)
sys.stdin.readline()
sin_cos(0.5)
print(sum(sin_cos.stats.cache_hits.values()), sum(sin_cos.stats.cache_misses.values()))
"""
HOLD = """
import sys
from pathlib import Path
from iparam.robot.kernels.compilation import alone
with alone(Path(sys.argv[1]), "kernel"):
    print("ready", flush=True)
    sys.stdin.readline()
"""
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="files are locked as POSIX does it")


@contextmanager
def started(program: str, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process of it that has printed its first line and reads its standard input."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


@POSIX_ONLY
def test_one_process_compiles_and_the_others_load(tmp_path: Path) -> None:
    with ExitStack() as stack:
        together = [stack.enter_context(started(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))) for _ in range(2)]
        for process in together:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        counts = [tuple(map(int, process.communicate(timeout=120)[0].split())) for process in together]
    assert sorted(counts) == [(0, 1), (1, 0)]


@POSIX_ONLY
def test_a_kernel_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    with started(HOLD, str(tmp_path)) as holder:
        with alone(tmp_path, "another kernel"):
            pass
        began = time.monotonic()
        with alone(tmp_path, "kernel", longest=0.2):
            assert time.monotonic() - began >= 0.2
        holder.communicate("\n", timeout=120)
    began = time.monotonic()
    with alone(tmp_path, "kernel"):
        assert time.monotonic() - began < 10.0


def test_without_a_folder_to_lock_in_nothing_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with alone(tmp_path / "file" / "folder", "kernel"):
        pass
