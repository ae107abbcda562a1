"""The README and docs keep their promises: their commands and Python blocks run, and print what they say.

Conventions for the fenced blocks:

- ``console``: a line ``$ iparam ...`` is executed in a folder with a sample ``result.json`` and ``robot.urdf``, all
  those of a block in the same one. The lines after it, up to the next ``$``, are its expected output. Other commands
  (``$ make ...``) are skipped.
- ``python``: runs as a script. A ``text`` block that follows, with only blank lines between, is its output.

Expected lines must occur in the output in the given order, whole lines, runs of blanks counting as one; ``...`` stands
for any text within a line, and on a line of its own for any lines. Extra lines of output are allowed. In lines with an
interval (``2.0003 +- 0.0014 kg``) any numbers do: processors round differently.
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

from iparam.cli.main import main

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
NUMBER = r"-?\d+(?:\.\d+)?"
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
    pairs = [part.replace("\\\n", " ").partition("\n") for part in parts]
    return [(command, output) for command, _, output in pairs if re.match(r"iparam\b", command)]


def _pattern(part: str, any_numbers: bool) -> str:
    return NUMBER.join(map(re.escape, re.split(NUMBER, part))) if any_numbers else re.escape(part)


def missing_line(expected: str, output: str) -> str | None:
    """The first expected line that the output lacks, or None."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "..."):
            continue
        pattern = re.compile(".*".join(_pattern(part, "+-" in wanted) for part in wanted.split("...")))
        if not any(pattern.fullmatch(candidate) for candidate in lines):
            return line
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


@pytest.mark.thorough(keep=sum(block.path == README for block in CONSOLE))
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


@pytest.mark.thorough(keep=sum(block.path == README for block in PYTHON))
@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_blocks_run(block: Block, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    check(done.returncode, block.output, done.stdout, done.stderr)


def test_readme_has_blocks_to_run() -> None:
    assert any(block.output for block in PYTHON if block.path == README)
    assert any(expected.strip() for block in CONSOLE for _, expected in commands_of(block))


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
    ],
)
def test_missing_line(expected: str, output: str, missing: str | None) -> None:
    assert missing_line(expected, output) == missing
