"""`kept`: computed once, read afterwards, and never trusted blindly."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from iparam.files.kept import cache_folder, kept

X = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPARAM_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


class Counted:
    calls = 0

    def __call__(self) -> np.ndarray:
        self.calls += 1
        return np.array([1.0, 2.0])


def two(found: np.ndarray) -> bool:
    return found.shape == (2,)


def test_a_result_is_computed_once_for_the_same_arguments_and_method(folder: Path) -> None:
    compute = Counted()
    for _ in range(2):
        np.testing.assert_array_equal(kept("a-1", [X], compute, two), [1.0, 2.0])
    assert compute.calls == 1
    kept("a-2", [X], compute, two)
    kept("a-1", [X + 1e-16 * (X == 0.0)], compute, two)
    kept("a-1", [X.reshape(3, 2)], compute, two)
    assert compute.calls == 4
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00", os.urandom(200)])
def test_a_damaged_or_impossible_file_is_computed_anew(folder: Path, content: bytes) -> None:
    compute = Counted()
    kept("a-1", [X], compute, two)
    (file,) = folder.iterdir()
    file.write_bytes(content)
    np.testing.assert_array_equal(kept("a-1", [X], compute, two), [1.0, 2.0])
    assert compute.calls == 2
    np.save(file, np.zeros(3))
    np.testing.assert_array_equal(kept("a-1", [X], compute, two), [1.0, 2.0])
    assert compute.calls == 3
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.testing.assert_array_equal(kept("a-1", [X], compute, two), [1.0, 2.0])
    assert compute.calls == 4


def test_a_folder_that_cannot_be_made_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("IPARAM_CACHE", str(tmp_path / "file" / "kept"))
    compute = Counted()
    for _ in range(2):
        np.testing.assert_array_equal(kept("a-1", [X], compute, two), [1.0, 2.0])
    assert compute.calls == 2


def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("IPARAM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "iparam"


@pytest.mark.parametrize("base", ["", "cache"])
def test_nothing_is_kept_where_the_command_happens_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IPARAM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of a user without a home
    np.testing.assert_array_equal(kept("a-1", [X], Counted(), two), [1.0, 2.0])
    assert not any(tmp_path.iterdir())
