"""The README and docs keep their promises: their commands and Python blocks run, and print what they say.

Conventions for the fenced blocks:

- ``console``: a line ``$ iparam ...`` is executed in a folder with a sample ``result.json`` and ``robot.urdf``, all
  those of a block in the same one, and ``$ make demo`` as what its rule calls. The lines after it, up to the next
  ``$``, are its expected output. Other commands are skipped.
- ``python``: runs as a script. A ``text`` block that follows, with only blank lines between, is its output.

Expected lines must occur in the output in the given order, whole lines, runs of blanks counting as one; ``...`` stands
for any text within a line, and on a line of its own for any lines. Extra lines of output are allowed.

Numbers with an interval (``2.0003 +- 0.0014 kg``, or a table with a column ``+-95 %``) are measured again, by another
processor that rounds differently and searches as far as its time goes: the intervals of the page and of the output must
overlap, and be about as wide.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from iparam.cli.demo import PARAMETERS
from iparam.cli.main import main

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
NUMBER = r"-?\d+(?:\.\d+)?"
SAME_WIDTH = 1.5
"""How many times as wide as one interval another of the same quantity may be."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    path: Path
    line: int
    language: str
    text: str
    output: str = ""  # of the text block right after it

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    blocks = []
    for match, following in zip_longest(found, found[1:]):
        adjacent = following is not None and not text[match.end() : following.start()].strip()
        output = following[2] if following is not None and adjacent and following[1] == "text" else ""
        blocks.append(Block(path, text.count("\n", 0, match.start()) + 1, match[1], match[2], output))
    return blocks


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Each `iparam` command of a console block with the output expected of it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    parts = [re.sub(r"^make demo\b", "iparam demo", part) for part in parts]
    pairs = [part.replace("\\\n", " ").partition("\n") for part in parts]
    return [(command, output) for command, _, output in pairs if re.match(r"iparam\b", command)]


@dataclass(frozen=True)
class Interval:
    value: float
    half: float

    def agrees_with(self, other: Interval) -> bool:
        """Whether both can be of one quantity, measured twice."""
        narrow, wide = sorted((self.half, other.half))
        return abs(self.value - other.value) <= narrow + wide and wide <= SAME_WIDTH * narrow


def intervals_of(line: str, header: list[str]) -> list[Interval]:
    """Those that a line states as ``value +- half width``, or as a row below a header with a column ``+-95 %``."""
    stated = [Interval(float(value), float(half)) for value, half in re.findall(rf"({NUMBER}) \+- ({NUMBER})", line)]
    if stated or "+-95 %" not in header or not (row := row_of(line, header)):
        return stated
    return [Interval(float(row["estimate"]), float(row["+-95 %"]))]


def row_of(line: str, header: list[str]) -> dict[str, str]:
    """The cells of a row of a table by their columns, the first of which has no name; nothing if it is none."""
    cells = line.rsplit(maxsplit=len(header))
    return dict(zip(header, cells[1:], strict=True)) if len(cells) == len(header) + 1 else {}


def header_of(line: str) -> list[str]:
    """The names of the columns that a line has, if it can be a header of a table."""
    return re.findall(r"\+-95 %|\S+", line)


def _pattern(part: str) -> str:
    """Of a part of a line with intervals: any numbers, and whether an interval holds the truth."""
    return re.sub(r"(?<= )yes$", "(?:yes|no)", NUMBER.join(map(re.escape, re.split(NUMBER, part))))


def missing_line(expected: str, output: str) -> str | None:
    """The first expected line that the output lacks, or None."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    header: list[str] = []
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "..."):
            header = []
            continue
        shown = intervals_of(wanted, header)
        pattern = re.compile(".*".join((_pattern if shown else re.escape)(part) for part in wanted.split("...")))
        found = next((candidate for candidate in lines if pattern.fullmatch(candidate)), None)
        if found is None:
            return line
        printed = intervals_of(found, header) if shown else []
        if not all(one.agrees_with(other) for one, other in zip(shown, printed, strict=True)):
            return line
        header = header_of(wanted) if "+-95 %" in wanted else header
    return None


def check(code: int, expected: str, printed: str, errors: str) -> None:
    report = f"\n{printed}{errors}"
    assert code == 0, f"exit code {code}{report}"
    assert "Traceback" not in errors, report
    assert "Warning" not in errors, report
    missing = missing_line(expected, printed)
    assert missing is None, f"the output lacks {missing!r}{report}"


PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = [block for page in PAGES for block in blocks_of(page) if block.language == "console" and commands_of(block)]
PYTHON = [block for page in PAGES for block in blocks_of(page) if block.language == "python"]


@pytest.fixture(autouse=True)
def sample_files(tmp_path: Path) -> None:
    """What the pages take for granted: the result of an identification, and a robot's description."""
    for name in ("result.json", "robot.urdf"):
        shutil.copy(ROOT / "tests" / "data" / f"sample_{name}", tmp_path / name)


@pytest.mark.thorough
@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_commands_run(
    block: Block,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In this process: a new one for each would spend most of the time on imports.

    A search of a fixed time, with which several pages begin, is done once for all processes of the test run.
    """
    monkeypatch.chdir(tmp_path)
    for command, expected in commands_of(block):
        arguments = shlex.split(command, comments=True)[1:]
        if "--time-budget" in arguments and arguments[-2] == "--output":
            with shared(tmp_path_factory, command) as kept:
                if not kept.exists():
                    code = main(arguments)
                    captured = capfd.readouterr()
                    check(code, expected, captured.out, captured.err)
                    kept.mkdir()
                    shutil.copy(arguments[-1], kept / "plan")
                    (kept / "printed").write_text(captured.out, encoding="utf-8")
            shutil.copy(kept / "plan", arguments[-1])
            check(0, expected, (kept / "printed").read_text(encoding="utf-8"), "")
            continue
        code = main(arguments)
        captured = capfd.readouterr()
        check(code, expected, captured.out, captured.err)


@contextmanager
def shared(tmp_path_factory: pytest.TempPathFactory, command: str) -> Iterator[Path]:
    """A path for what came of a command, which one process of the test run has for itself at a time."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    path = folder / f"planned-{zlib.crc32(command.encode()):08x}"
    with path.with_suffix(".lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        yield path


@pytest.mark.thorough
@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_blocks_run(block: Block, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    check(done.returncode, block.output, done.stdout, done.stderr)


def test_the_readme_shows_a_result_of_the_demo() -> None:
    """Of what its rule calls, and consistent in itself; that the demo finds it is tested with the other commands."""
    (block,) = (block for block in CONSOLE if block.path == README)
    ((command, output),) = commands_of(block)
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo:.*\n\t\$\(BIN\)/iparam demo$", rules, re.MULTILINE)
    assert shlex.split(command, comments=True) == ["iparam", "demo"]
    _, head, *lines = output.splitlines()
    header = header_of(head)
    names = [line.rsplit(maxsplit=len(header))[0] for line in lines if line != "..."]
    assert names == list(PARAMETERS)
    for line in lines[: len(names)]:
        row = row_of(line, header)
        estimate, half, truth, error = (float(row[name]) for name in ("estimate", "+-95 %", "truth", "error"))
        digit = 10.0 ** -len(row["error"].partition(".")[2])
        assert abs(estimate - truth - error) < 1.01 * digit
        assert row["inside"] == ("yes" if abs(error) <= half else "no")


def test_pages_state_what_their_blocks_print() -> None:
    assert any(block.output for block in PYTHON if block.path == ROOT / "docs" / "start" / "quickstart.md")
    assert sum(bool(expected.strip()) for block in CONSOLE for _, expected in commands_of(block)) > 10


@pytest.mark.parametrize(
    ("expected", "output", "missing"),
    [
        ("b  c\n", "a\nb c\nd\n", None),
        ("a\n...\nd", "a\nb\nc\nd\n", None),
        ("mass ... kg", "mass 1.5 kg\n", None),
        ("b\na\n", "a\nb\n", "a"),
        ("a\na\n", "a\n", "a"),
        ("mass", "mass 1.5 kg\n", "mass"),
        ("1.5 (kg)", "1x5 (kg)\n", "1.5 (kg)"),
        ("mass ... +- ... kg", "mass 2.1 +- 0.15 kg\n", None),
        ("mass 2.0 +- 0.2 kg", "mass 2.1 +- 0.15 kg\n", None),
        ("mass 2.0 +- 0.2 kg", "mass 2.5 +- 0.2 kg\n", "mass 2.0 +- 0.2 kg"),
        ("mass 2.0 +- 0.2 kg", "mass 2.0 +- 0.4 kg\n", "mass 2.0 +- 0.2 kg"),
        ("mass 2.0 +- 0.2 kg", "mass 2.0 +- 0.2 g\n", "mass 2.0 +- 0.2 kg"),
        ("+- 95 % interval, 1.96 times", "+- 95 % interval, 2 times", "+- 95 % interval, 1.96 times"),
        ("estimate +-95 % inside\nmass 2.0 0.2 yes", "  estimate  +-95 %  inside\nmass 2.3 0.2 no", None),
        ("estimate +-95 % inside\nmass 2.0 0.2 yes", "estimate +-95 % inside\nmass 2.5 0.2 yes", "mass 2.0 0.2 yes"),
        ("estimate +-95 % inside\nmass 2.0 0.2 yes", "estimate +-95 % inside\nmass 2.0 0.4 yes", "mass 2.0 0.2 yes"),
    ],
)
def test_missing_line(expected: str, output: str, missing: str | None) -> None:
    assert missing_line(expected, output) == missing
