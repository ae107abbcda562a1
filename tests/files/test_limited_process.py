"""A function in a process of bounded memory and time: what it returns, what it raises, and what it must not take."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError, UnknownNameError
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.files.reading_limit import TIME_VARIABLE, VARIABLE, TooLargeError


def echo(text: str, content: bytes) -> Outcome:
    numbers = np.frombuffer(content, np.uint8)
    return {"text": text}, {"numbers": numbers, "turned": np.arange(6.0).reshape(2, 3).T, "none": np.empty((0, 3))}


def refuse(kind: str) -> Outcome:
    if kind == "unknown":
        raise UnknownNameError("arm", "x", ["y"])
    raise {
        "other": ZeroDivisionError("by\nzero"),
        "code": NameError("name 'x' is not defined"),
        "file": TooLargeError("too large"),
    }[kind]


def take(size: int) -> Outcome:
    return int(np.ones(size, np.uint8).sum()), {}


def read_file(name: str) -> Outcome:
    with open(name, "rb") as stream:
        return len(stream.read(10)), {}


def last_for_ever() -> Outcome:
    while True:
        time.sleep(1.0)


def abort() -> Outcome:
    os.abort()


def working_folder_is_searched() -> Outcome:
    return "" in sys.path or os.getcwd() in sys.path, {}


@pytest.fixture(autouse=True)
def these_tests_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parents[len(__name__.split("."))]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))


def test_values_and_arrays_come_back() -> None:
    value, arrays = in_limited_process(echo, "a.glb", {"text": "Maß\udc80"}, content=bytes(range(7)))
    assert value == {"text": "Maß\udc80"}
    assert arrays["numbers"].tolist() == list(range(7))
    assert np.array_equal(arrays["turned"], np.arange(6.0).reshape(2, 3).T)
    assert arrays["none"].shape == (0, 3)


@pytest.mark.parametrize(("kind", "error"), [("unknown", UnknownNameError), ("file", FileFormatError)])
def test_its_errors_are_raised_here(kind: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        in_limited_process(refuse, "a.glb", {"kind": kind})


def test_what_a_parser_raises_is_an_error_of_the_file() -> None:
    with pytest.raises(FileFormatError, match=r"a\.glb: .*by zero"):
        in_limited_process(refuse, "a.glb", {"kind": "other"})


def test_an_error_of_a_parsers_code_is_a_damaged_file() -> None:
    with pytest.raises(FileFormatError, match=r"a\.glb: .*damaged") as caught:
        in_limited_process(refuse, "a.glb", {"kind": "code"})
    assert "defined" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(FileFormatError, match=f"{name} is no file"):
            in_limited_process(read_file, "a.glb", {"name": name})
    assert in_limited_process(read_file, "a.glb", {"name": __file__})[0] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded there")
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0.5")
    assert in_limited_process(take, "a.glb", {"size": 100 << 20})[0] == 100 << 20
    with pytest.raises(TooLargeError, match=VARIABLE):
        in_limited_process(take, "a.glb", {"size": 300 << 20})


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIME_VARIABLE, "0.5")
    with pytest.raises(TooLargeError, match=TIME_VARIABLE):
        in_limited_process(last_for_ever, "a.glb", {})


def test_a_library_that_ends_the_process_ends_only_that() -> None:
    with pytest.raises(TooLargeError):
        in_limited_process(abort, "a.glb", {})


def test_modules_of_the_working_folder_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert in_limited_process(working_folder_is_searched, "a.glb", {})[0] is False
