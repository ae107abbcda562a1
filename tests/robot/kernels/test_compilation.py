"""Kernels are compiled once, whichever process needs them first, and nobody waits for ever."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numba
import pytest

from iparam.robot.kernels.compilation import _temporary_folder, alone, compiled, part

COMPILE = """
import sys
import numpy as np
from iparam.estimation.torque.kernels import presliding
print("ready", flush=True)
sys.stdin.readline()
presliding(np.zeros((2, 1)), 1.0, np.zeros(1), np.zeros((2, 1)))
print(sum(presliding.stats.cache_hits.values()), sum(presliding.stats.cache_misses.values()))
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


def test_a_part_is_compiled_once_for_all_constants_and_only_into_its_kernel() -> None:
    @part
    def power(x, exponent):  # type: ignore[no-untyped-def]
        return x**exponent

    @numba.njit
    def kernel(x):  # type: ignore[no-untyped-def]
        return power(x, 2) + power(x, 3)

    assert kernel(2.0) == 12.0
    assert power.signatures == [(numba.float64, numba.int64)]
    with pytest.raises(TypeError, match="power is a part of kernels, which Python cannot call"):
        power(2.0, 3)


def test_garbage_is_collected_again_after_a_kernel_was_compiled() -> None:
    assert compiled(lambda x: x + 1.0)(1.0) == 2.0
    assert gc.isenabled()


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


def test_no_kernels_are_kept_where_the_command_happens_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", os.getcwd())  # as where no usual folder can be written
    with pytest.raises(OSError, match="happens to run"):
        _temporary_folder.__wrapped__()
    assert not any(tmp_path.iterdir())
