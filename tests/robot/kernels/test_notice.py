"""Compiling is said once, only where it happens, and says where it will happen again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Two kernels that compile quickly.
IDENTIFY = """
import numpy as np
from iparam.estimation.kernels import fold_samples, least_squares_solution
from iparam.robot.kernels.notice import expect
expect("identify")
for _ in range(2):
    least_squares_solution(np.eye(4), np.zeros(3))
fold_samples(np.eye(4), np.eye(6), np.zeros((1, 6, 3)), np.zeros((1, 6)), 1.0)
"""
# As on a disk that cannot be written; a test that runs as root could not take its own right to write away.
NOWHERE = """
from numba.core import caching
for name in ("_CacheImpl", "CompileResultCacheImpl", "CodeLibraryCacheImpl"):
    if hasattr(caching, name):
        getattr(caching, name)._locator_classes = []
"""
ONLY_THE_GIVEN = NOWHERE.replace("= []", "= [caching.UserProvidedCacheLocator]")


def said(program: str, folder: Path | None, notice: str | None = None) -> str:
    """What it writes to standard error, with kernels kept in ``folder``; None: where there is room."""
    environment = {name: value for name, value in os.environ.items() if name != "IPARAM_COMPILING_NOTICE"}
    environment |= {} if folder is None else {"NUMBA_CACHE_DIR": str(folder)}
    environment |= {} if notice is None else {"IPARAM_COMPILING_NOTICE": notice}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return done.stderr


def test_compiling_is_said_once_and_loading_is_not(tmp_path: Path) -> None:
    assert said(IDENTIFY, tmp_path) == "iparam: compiling kernels, once, about 5 s\n"
    assert said(IDENTIFY, tmp_path) == ""


@pytest.mark.thorough
def test_nothing_is_said_where_nobody_wants_it(tmp_path: Path) -> None:
    assert said(IDENTIFY, tmp_path, notice="0") == ""


@pytest.mark.thorough
def test_what_cannot_be_kept_is_said_with_the_way_out(tmp_path: Path) -> None:
    for _ in range(2):
        line = said(NOWHERE + IDENTIFY, tmp_path)
        assert line.count("\n") == 1
        assert "in every program anew" in line
        assert "Set NUMBA_CACHE_DIR" in line


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the rights of folders as POSIX has them")
def test_temporary_files_are_the_last_place_to_keep_kernels_in_and_only_if_nobody_else_can_write_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / f"iparam-kernels-{os.getuid()}"
    assert said(ONLY_THE_GIVEN + IDENTIFY, None) == "iparam: compiling kernels, once, about 5 s\n"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert said(ONLY_THE_GIVEN + IDENTIFY, None) == ""
    folder.chmod(0o777)
    assert "in every program anew" in said(ONLY_THE_GIVEN + IDENTIFY, None)
