"""The command as a whole: help, version, exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import IO

import pytest

from iparam import __version__
from iparam.cli.command_table import COMMANDS
from iparam.cli.demo import Demo
from iparam.cli.main import main

PLAN = Path(__file__).parents[1] / "data" / "optimized_ur5e.json"

NAMES = [entry.name for entry in COMMANDS]
UR5E_ZERO = ["--robot", "ur5e", "--q", "0", "0", "0", "0", "0", "0"]


def run_python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_lists_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for entry in COMMANDS:
        assert entry.name in out
        assert entry.summary in out


def test_help_of_a_group_lists_its_commands_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinematics", "--help"]) == 0
    out = capsys.readouterr().out
    assert "kinematics batch" in out
    assert "dynamics" not in out


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_fits_80_columns_and_has_an_example(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(len(line) for line in out.splitlines()) <= 80
    assert f"usage: iparam {name}" in out
    assert f"Example:\n  iparam {name}" in out
    assert "(default: )" not in out


def test_every_name_begins_with_a_word_that_is_no_command_itself() -> None:
    groups = {entry.words[0] for entry in COMMANDS if len(entry.words) > 1}
    assert groups.isdisjoint(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"iparam {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no command given"),
        (["--nonsense"], "unknown option '--nonsense'"),
        (["kinematic"], "did you mean 'kinematics'?"),
        (["fly"], "known: demo, robots, setup, kinematics, dynamics"),
        (["fly", "--help"], "unknown command 'fly'"),
        (["kinematics"], "needs a command: compute, batch"),
        (["kinematics", "--robot", "ur5e"], "needs a command: compute, batch"),
        (["kinematics", "computes"], "did you mean 'compute'?"),
    ],
)
def test_a_wrong_command_is_bad_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iparam: error: ")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["kinematics", "compute"],
        ["kinematics", "compute", "--robot", "ur5e", "--q", "zero"],
        ["kinematics", "compute", *UR5E_ZERO, "--frame", "world"],
        ["kinematics", "compute", *UR5E_ZERO, "--nonsense", "1"],
        ["kinematics", "compute", *UR5E_ZERO, "stray", "--json"],
        ["kinematics", "batch", "--input", "a.csv"],
    ],
)
def test_a_wrong_option_is_bad_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"iparam {arguments[0]} {arguments[1]} --help" in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.parametrize("place", [0, 2, 3])
def test_debug_shows_the_traceback_wherever_it_stands(place: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["kinematics", "compute", "--robot", "ur7", "--q", "0"]
    if place < 3:
        arguments.insert(place, "--debug")
    else:
        arguments.append("--debug")
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "iparam: error: unknown robot 'ur7'" in err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ZeroDivisionError("by zero"), 1, "iparam: error: ZeroDivisionError: by zero. This is a bug in iparam"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 141, ""),
        (MemoryError(), 1, "iparam: error: not enough memory"),
        (PermissionError(13, "Permission denied", "a.json"), 1, "iparam: error: a.json: Permission denied"),
    ],
)
def test_what_a_command_raises_becomes_a_line_and_an_exit_code(
    error: BaseException,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(self: Demo) -> None:
        raise error

    monkeypatch.setattr(Demo, "run", run)
    assert main(["demo"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert bool(err) == bool(message)
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such bound")
@pytest.mark.parametrize("megabytes", [300, 900])
def test_too_little_memory_is_told_before_a_library_waits_for_ever(megabytes: int) -> None:
    limited = (
        "import resource, sys; from iparam.cli.main import main; "
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2); "
        "sys.exit(main(['kinematics', 'compute', '--robot', 'ur5e', '--q', *'000000']))"
    )
    done = run_python("-c", limited)
    assert done.returncode == 1
    assert done.stderr.startswith("iparam: error: ")
    assert f"{megabytes} MB" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such bound")
def test_what_fails_for_want_of_memory_is_not_called_a_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    def run(self: Demo) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Demo, "run", run)
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 46, before[1]))
    try:
        assert main(["demo"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert f"{(1 << 46) >> 20} MB" in capsys.readouterr().err


def test_the_module_runs_as_a_program() -> None:
    done = run_python("-m", "iparam", "robots", "ur5e", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["num_joints"] == 6
    assert done.stderr == ""


def test_the_program_ends_with_the_exit_code() -> None:
    done = run_python("-m", "iparam", "kinematics", "compute", "--robot", "ur7", "--q", "0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("iparam: error: unknown robot 'ur7'")


def test_help_loads_no_heavy_package() -> None:
    script = (
        "import sys; from iparam.cli.main import main; code = main(['--help']);"
        "print(code, sorted({'iparam.native', 'scipy', 'pyarrow', 'numpy', 'tyro', 'rich'} & set(sys.modules)))"
    )
    done = run_python("-c", script)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_help_of_a_command_loads_no_heavy_package() -> None:
    """One after the other in one process: whichever loads one of them is the first to have it."""
    script = (
        f"import sys; from iparam.cli.main import main\nfor name in {NAMES!r}:\n"
        "    code = main([*name.split(), '--help'])\n"
        "    heavy = sorted({'scipy', 'pyarrow'} & set(sys.modules))\n"
        "    if code or heavy: sys.exit(f'{name}: {code} {heavy}')"
    )
    done = run_python("-c", script)
    assert done.returncode == 0, done.stderr


def printed_to(place: IO[str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A command as users have it: without what makes Python write each line at once."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "iparam", *arguments]
    return subprocess.run(command, stdout=place, stderr=subprocess.PIPE, text=True, check=False, env=environment)


@pytest.mark.skipif(os.name != "posix", reason="a pipe's reader that goes away is a POSIX matter")
@pytest.mark.parametrize("arguments", [["robots"], ["excite", "check", str(PLAN)], ["robots", "--help"]])
def test_a_closed_pipe_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = printed_to(pipe, arguments)
    assert done.returncode == 141
    assert [line for line in done.stderr.splitlines() if not line.startswith("iparam: note: ")] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("arguments", [["robots"], ["--help"]])
def test_a_full_disk_behind_standard_output_is_a_sentence(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = printed_to(full, arguments)
    assert done.returncode == 1
    assert done.stderr == "iparam: error: standard output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the stream")
@pytest.mark.parametrize("streams", [">&-", ">&- 2>&-"])
def test_a_closed_standard_output_is_no_error(streams: str) -> None:
    line = f"{sys.executable} -m iparam robots ur5e {streams}"
    done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 0
    assert done.stderr == ""


def test_numpy_does_not_complain_to_the_user(tmp_path: Path) -> None:
    """A number that would overflow is told in a sentence, not by a line of the source."""
    sample = Path(__file__).resolve().parents[1] / "data" / "sample_robot.urdf"
    path = tmp_path / "heavy.urdf"
    path.write_text(sample.read_text(encoding="utf-8").replace('"0.001"', '"1e308"'), encoding="utf-8")
    done = run_python("-m", "iparam", "robots", str(path))
    assert done.returncode != 0
    assert done.stderr.startswith("iparam: error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT and a named pipe")
def test_an_interrupt_ends_quietly(tmp_path: Path) -> None:
    names = ["time", *(f"{kind}{joint}" for kind in ("q", "dq", "ddq") for joint in range(6))]
    rows = "".join(f"{k}{',0' * 18}\n" for k in range(200_000))  # which take seconds to read and write
    (tmp_path / "long.csv").write_text(f"{','.join(names)}\n{rows}")
    command = ["kinematics", "batch", "--input", "long.csv", "--output", "o.csv", "--robot", "ur5e"]
    with subprocess.Popen(
        [sys.executable, "-m", "iparam", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "--time-unit" in process.stderr.readline()  # it has read the file, and computes
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)  # a shell reports both as 130
    assert (out, err) == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["long.csv"]
    assert [path.name for path in tmp_path.iterdir()] == ["long.csv"]


LINES = {
    "iparam ": {"demo", "excite", "identify", "ur", "fleet"},
    "iparam exc": {"excite"},
    "iparam excite ": {"optimize", "check", "poses"},
    "iparam excite optimize --crit": {"--criterion"},
    "iparam excite optimize --criterion ": {"kappa", "d", "a", "e"},
    "iparam demo --see": {"--seed"},
}
BASH = """
source "$1"
read -ra COMP_WORDS <<< "$2"; [ "${2: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tyro_iparam; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tyro-print-completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    for line, wanted in LINES.items():
        words = ["bash", "-c", BASH, "bash", str(tmp_path / "script"), line]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        assert wanted <= set(done.stdout.split()), line


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tyro-print-completion", "fish4"]) == 2
    assert "bash" in capsys.readouterr().err


SERVED = ("ros2 kinematics", "ros2 identify", "ros2 play", "ros2 simulate", "ros2 compensate")
"""Nodes run until they are ended: they publish what others print."""


def test_every_command_that_prints_a_result_has_json() -> None:
    without = [entry.name for entry in COMMANDS if "json" not in {field.name for field in fields(entry.load())}]
    assert sorted(without) == sorted(SERVED)


def test_what_is_written_is_said_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = str(PLAN.with_name("sample_result.json"))
    assert main(["export", result, "--format", "urdf", "--output", "load.urdf", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"format": "urdf", "frame": "tool", "remarks": [], "files": ["load.urdf"]}
    assert main(["export", result, "--format", "urdf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"].strip() == Path("load.urdf").read_text(encoding="utf-8").strip()
    assert main(["export", "--list", "--json"]) == 0
    assert "urdf" in json.loads(capsys.readouterr().out)
    assert main(["kinematics", "batch", "--input", str(PLAN), "--output", "states.csv", "--fps", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"robot": "ur5e", "states": 51, "output": "states.csv"}
    assert main(["report", result, "--output", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": "page.html"}
