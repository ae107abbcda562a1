"""Names in files, messages and arguments do not reach the terminal as anything but visible text."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.remarks import Remark, Severity

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp\rx\niparam: error: forged"
SHOWN = r"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp\rx\niparam: error: forged"
UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
DATA = Path(__file__).resolve().parents[2] / "data"


def recording_of_a_stranger() -> Path:
    time = np.arange(50) / 100.0
    recording = iparam.Recording("ur5e", metadata={HOSTILE: HOSTILE}, remarks=(Remark("gaps", Severity.INFO, HOSTILE),))
    recording = recording.with_signal("q", time=time, values=np.zeros((50, 6)))
    recording = recording.with_signal("wrench", time=time, values=np.ones((50, 6)))
    recording.save("run.parquet")
    return Path("run.parquet")


def table_with_odd_columns() -> Path:
    path = Path("log.csv")
    joints = ",".join(f"q{i}" for i in range(6))
    path.write_text(f"time,{joints},{HOSTILE.partition(chr(13))[0]}\n" + "0,0,0,0,0,0,0,0\n", encoding="utf-8")
    return path


def robot_of_a_stranger(kind: str = "revolute") -> Path:
    path = Path("arm.urdf")
    allowed = [mark for mark in HOSTILE if mark >= " " or mark in "\r\n"]  # XML has no place for the others
    name = "".join(mark if mark.isprintable() else f"&#x{ord(mark):x};" for mark in allowed)
    path.write_text(
        f'<robot name="{name}"><link name="a"/><link name="{name}"/><joint name="{name}" type="{kind}">'
        f'<parent link="a"/><child link="{name}"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        "</robot>",
        encoding="utf-8",
    )
    return path


def bag_of_a_stranger() -> Path:
    path = Path("bag.db3")
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type, serialization_format)")
        base.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data)")
        base.execute("INSERT INTO topics VALUES (1, ?, ?, 'cdr')", (f"/{HOSTILE}", f"a/msg/{HOSTILE}"))
        base.execute("INSERT INTO messages VALUES (1, 1, 5, x'00')")
    base.close()
    return path


def cell_of_a_stranger() -> Path:
    path = Path("cell.json")
    box = {"name": HOSTILE, "center": [0, 0, 0], "size": [9, 9, 9]}
    path.write_text(json.dumps({"format": "iparam-cell/1", "boxes": [box]}), encoding="utf-8")
    return path


def trajectory_of_a_stranger() -> Path:
    path = Path("t.json")
    path.write_text(json.dumps({"format": HOSTILE}), encoding="utf-8")
    return path


COMMANDS: dict[str, Callable[[], list[object]]] = {
    "a file's name": lambda: ["identify", "payload", f"{HOSTILE}.csv"],
    "a name that is not UTF-8": lambda: ["identify", "payload", os.fsdecode(b"\xff\x9b.csv")],
    "an unknown option": lambda: ["identify", "payload", "a.csv", f"--{HOSTILE}"],
    "a value that cannot be": lambda: ["identify", "payload", "a.csv", "--method", HOSTILE],
    "a command": lambda: [HOSTILE],
    "remarks of a recording": lambda: ["bag", "export", recording_of_a_stranger(), "--output", "bag"],
    "columns": lambda: ["bag", "export", table_with_odd_columns(), "--robot", "ur5e", "--output", "bag"],
    "a robot": lambda: ["robots", robot_of_a_stranger()],
    "a robot's joints": lambda: ["dynamics", "compute", "--robot", robot_of_a_stranger(), "--q", "0"],
    "a broken robot": lambda: ["robots", robot_of_a_stranger("unknown")],
    "topics": lambda: ["bag", "info", bag_of_a_stranger()],
    "a bag without the robot's joints": lambda: [
        *("bag", "import", bag_of_a_stranger(), "--robot", "ur5e", "--output", "x.csv")
    ],
    "a box of the cell": lambda: [
        *("excite", "check", DATA / "optimized_ur5e.json", "--robot", "ur5e", "--cell", cell_of_a_stranger())
    ],
    "a trajectory's format": lambda: ["excite", "check", trajectory_of_a_stranger()],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("debug", [[], ["--debug"]], ids=["", "debug"])
@pytest.mark.parametrize("what", COMMANDS)
def test_what_is_printed_is_visible(
    what: str, debug: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*map(str, COMMANDS[what]()), *debug])
    out, err = capsys.readouterr()
    assert UNSAFE.search(out + err) is None
    assert "\niparam: error: forged" not in out + err
    assert "owned" in out + err or "udc" in out + err


@pytest.mark.parametrize("arguments", [["bag", "info", "bag.db3"], ["robots", "arm.urdf"]])
def test_json_for_machines_is_plain_ascii(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag_of_a_stranger()
    robot_of_a_stranger()
    assert main([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert UNSAFE.search(out) is None
    assert "owned" in json.dumps(json.loads(out))


def test_an_argument_that_is_understood_is_used_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "run\x1b[31m.parquet"
    recording_of_a_stranger().rename(name)
    assert main(["bag", "export", name, "--output", "bag"]) == 0
    assert SHOWN in capsys.readouterr().err  # the warning in it: the file was found and read
    assert main(["bag", "export", name, "--help"]) == 0
    assert capsys.readouterr().out.count("usage: iparam bag export") == 1


def on_a_terminal(program: str, *arguments: str) -> str:
    """What a Python program shows where all its streams are a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=theirs, stderr=theirs, stdin=theirs
    ) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end was closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert run.returncode == 0, shown
    return shown.decode("utf-8")


@pytest.mark.parametrize(
    "program",
    [
        "from iparam.cli.console.printing import progress_bar as p\nwith p(sys.argv[1] + '[/x]') as show: show(0.5)",
        "from iparam.cli.ur.options import StatusLine\nline = StatusLine(); line.show(sys.argv[1]); line.end()",
        "from iparam.cli.console.printing import print_document\nprint_document(sys.argv[1])",
    ],
    ids=["progress", "status", "document"],
)
def test_what_is_shown_on_a_terminal_only(program: str) -> None:
    shown = on_a_terminal(f"import sys\n{program}", HOSTILE)
    assert r"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b]0;" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown


def test_a_document_in_a_pipe_keeps_every_byte() -> None:
    program = "import sys\nfrom iparam.cli.console.printing import print_document\nprint_document(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, HOSTILE], capture_output=True, check=True)
    assert done.stdout == HOSTILE.encode("utf-8")


@pytest.mark.parametrize("arguments", [["robots", "--help"], ["robots", "--no-such-option"]])
@pytest.mark.parametrize("columns", ["1", "5"])
def test_a_narrow_terminal_is_no_trap(arguments: list[str], columns: str) -> None:
    """The layout of the help once ran for ever in fewer than six columns."""
    environment = os.environ | {"COLUMNS": columns}
    called = [sys.executable, "-m", "iparam", *arguments]
    done = subprocess.run(called, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == (0 if arguments[-1] == "--help" else 2)
