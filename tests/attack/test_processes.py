"""The command as a process of its own: streams that are closed or full, signals, terminals; and the rule itself."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from attack.corpus.hostile import HOSTILE
from attack.rule import BROKEN_PIPE, EXIT_CODES, LONGEST, Ending, snapshot, violations

IPARAM = (sys.executable, "-m", "iparam")


def ending_of(arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str] | None = None) -> Ending:
    done = subprocess.run(
        [*IPARAM, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LONGEST,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    return Ending(done.returncode, done.stdout, done.stderr)


# ------------------------------------------------------------------------------------------------------ streams
@pytest.mark.parametrize(
    "line",
    [
        "robots ur5e >&-",
        "robots ur5e >/dev/full",
        "robots no-such-robot 2>&-",
        "robots no-such-robot 2>/dev/full",
        "robots ur5e <&- >&- 2>&-",
    ],
)
def test_streams_that_are_closed_or_full(line: str, tmp_path: Path) -> None:
    line = f"{sys.executable} -m iparam {line}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=LONGEST, check=False)
    assert not violations(Ending(done.returncode, done.stdout, done.stderr), {}, snapshot(tmp_path))


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    line = f"set -o pipefail; {sys.executable} -m iparam robots --json | true"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=LONGEST, check=False)
    ending = Ending(done.returncode, done.stdout, done.stderr)
    assert not violations(ending, {}, snapshot(tmp_path), codes=(*EXIT_CODES, BROKEN_PIPE))


LOCALES = ({"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}, {"PYTHONIOENCODING": "ascii"})


@pytest.mark.parametrize("locale", LOCALES)
def test_a_name_that_is_no_text_in_a_locale(locale: dict[str, str], tmp_path: Path) -> None:
    name = "bytes\udcff\udc9b\x1b[31m.urdf"
    (tmp_path / name).write_text("no robot")
    before = snapshot(tmp_path)
    ending = ending_of(("kinematics", "batch", "--input", name, "--output", name), tmp_path, locale)
    assert not violations(ending, before, snapshot(tmp_path))


def test_an_odd_environment(tmp_path: Path) -> None:
    odd = {"TMPDIR": "/nowhere", "HOME": "/nowhere", "COLUMNS": "0", "TERM": HOSTILE, "LANG": "xx_XX.nonsense"}
    assert not violations(ending_of(("robots", "ur5e"), tmp_path, odd), {}, snapshot(tmp_path))


# -------------------------------------------------------------------------------------------------- the terminal
def test_a_terminal_gets_no_orders_from_a_file(tmp_path: Path) -> None:
    """What rich draws with is allowed on a terminal; what the file's name and header bring along is not."""
    name = f"{HOSTILE}.csv".replace("\r", "")
    (tmp_path / name).write_text(f"time,q0,{HOSTILE}\n0,0,0\n1,0,0\n".replace("\r", ""))
    before = snapshot(tmp_path)
    main_end, own_end = pty.openpty()
    process = subprocess.Popen(
        [*IPARAM, "identify", "payload", name, "--robot", "ur5e"],
        cwd=tmp_path,
        stdin=own_end,
        stdout=own_end,
        stderr=own_end,
        close_fds=True,
    )
    os.close(own_end)
    shown = b""
    while piece := _read(main_end):
        shown += piece
    os.close(main_end)
    assert process.wait(LONGEST) in EXIT_CODES
    for order in (b"\x1b]0;", b"\x07", "\x9b".encode(), "\u202e".encode(), b"\x7f", b"\x08"):
        assert order not in shown, shown
    assert snapshot(tmp_path) == before


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end has been closed
        return b""


# ------------------------------------------------------------------------------------------------------- signals
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_in_the_middle_leaves_nothing_behind(number: signal.Signals, code: int, tmp_path: Path) -> None:
    arguments = ("--robot", "ur5e", "--time-budget", "50", "--workers", "1", "--output", "plan.json")
    (tmp_path / "tmp").mkdir()
    before = snapshot(tmp_path)
    process = subprocess.Popen(
        [*IPARAM, "excite", "optimize", *arguments],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    _wait_for_children(process.pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=LONGEST)
    # Ctrl-C before the first result is a failure that says so; a plan that was found by then is kept.
    codes = (code, 0, 1) if number == signal.SIGINT else (code,)
    assert process.returncode in codes, err
    ending = Ending(0 if process.returncode == code else process.returncode, out, err)
    assert not violations(ending, before, snapshot(tmp_path), ("plan.json",))


def _wait_for_children(pid: int) -> None:
    """Wait until a process has started another one, from whichever of its threads."""
    deadline = time.monotonic() + LONGEST
    while not any(path.read_text().strip() for path in Path(f"/proc/{pid}/task").glob("*/children")):
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ------------------------------------------------------------------------------------------------------ the rule
SOUND = Ending(0, b"mass  2.0 kg\n", "iparam: note: \N{DEGREE SIGN}\n".encode(), 1.0, 1 << 20)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"code": 3}, "exit code 3"),
        ({"code": 141}, "exit code 141"),
        ({"code": -11}, "signal 11"),
        ({"code": None}, "takes more than"),
        ({"seconds": LONGEST + 1.0}, "takes more than"),
        ({"memory": 2 << 30}, "2048 MB"),
        ({"err": b"Traceback (most recent call last):\n"}, "traceback"),
        ({"err": b"iparam: error: KeyError: 1. This is a bug in iparam: ..."}, "bug"),
        ({"err": b"iparam: error: not enough memory for this many samples"}, "memory"),
        ({"err": b"/a/b.py:12: RuntimeWarning: overflow encountered in dot\n"}, "warning"),
        ({"out": b"\x1b[31m"}, "control character"),
        ({"out": b"a\rb"}, "control character"),
        ({"err": "\x9b31m".encode()}, "control character"),
        ({"err": "\u202e".encode()}, "control character"),
        ({"out": b"\xff"}, "not UTF-8"),
    ],
)
def test_the_rule_sees(change: dict[str, object], sentence: str) -> None:
    assert violations(SOUND, {}, {}) == []
    found = violations(Ending(**{**SOUND.__dict__, **change}), {}, {})
    assert len(found) == 1
    assert sentence in found[0]


def test_the_rule_sees_what_changes_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("same", "changed", "touched", "replaced", "removed", "sub/inner"):
        (tmp_path / name).write_text(name)
    before = snapshot(tmp_path)
    (tmp_path / "changed").write_text("CHANGED")
    os.utime(tmp_path / "touched", (1.0, 1.0))
    (tmp_path / "new").write_text("replaced")
    os.replace(tmp_path / "new", tmp_path / "replaced")
    (tmp_path / "removed").unlink()
    (tmp_path / "sub" / "left.tmp").write_text("")
    (tmp_path / "output").write_text("wanted")
    found = violations(SOUND, before, snapshot(tmp_path), ("output",))
    assert found == [
        "changes 'changed'",
        "removes 'removed'",
        "changes 'replaced'",
        "leaves behind 'sub/left.tmp'",
        "changes 'touched'",
    ]
    assert violations(SOUND, before, snapshot(tmp_path), ("output", "sub")) == [
        one for one in found if "sub" not in one
    ]
