"""Measured tables of the documentation, made anew: python benchmarks/tables.py [WORD ...], or `make tables` for all.

A table that a command prints stands in its page between two comments:

    <!-- table: python benchmarks/bench_startup.py -->
    ...
    <!-- end of table -->

Everything between them is replaced by a line with version, revision, date, machine and the time that it took, and by
the tables that the command prints. WORDs choose those whose page or command contains one of them; ``--list`` runs
nothing, and says how long each took the last time. Other work on the machine makes times longer: the line says how busy
it was.

"python" is the interpreter that runs this; a command may name that of another environment, `.venv-newton/bin/python`. A
table whose environment or data are not there is skipped, one whose command fails stays as it was, and the others are
made all the same. Both kinds are listed at the end; the exit code is 1 if a command failed.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from measured_data import MISSING

import iparam
from iparam.files.atomic import write_atomically

ROOT = Path(__file__).resolve().parents[1]
BEGIN = re.compile(r"^<!-- table: (?P<command>.+?) -->$", re.MULTILINE)
END = "<!-- end of table -->"
TOOK = re.compile(r"^\*iparam .*; took (?P<number>[\d.]+) (?P<unit>s|min|h)\*$", re.MULTILINE)
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
ENVIRONMENTS = {".venv-newton": "make test-newton", ".venv-isaac": "make test-isaac"}
"""Of their own, and what makes them."""


class SkippedError(Exception):
    """What a table needs is not on this machine; the message says what."""


@dataclass(frozen=True)
class Place:
    """Where a table stands: its page, the command that prints it, and the text between the comments."""

    page: Path
    command: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """Page and command."""
        return f"{self.page.relative_to(ROOT)}: {self.command}"

    @property
    def took(self) -> float | None:
        """How long the command took when it made this table [s]; None if the table does not say."""
        found = TOOK.search(self.page.read_text(encoding="utf-8"), self.start, self.end)
        return None if found is None else float(found["number"]) * UNITS[found["unit"]]


def places_of(page: Path) -> list[Place]:
    """The marked tables of a page; ValueError if a mark has no end, or an end no mark."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BEGIN.finditer(text):
        end = text.find(END, match.end())
        following = BEGIN.search(text, match.end())
        if end < 0 or (following is not None and following.start() < end):
            raise ValueError(f"{page.name}: the table of '{match['command']}' has no '{END}'")
        found.append(Place(page, match["command"], match.end(), end))
    if text.count(END) != len(found):
        raise ValueError(f"{page.name}: {text.count(END)} ends of {len(found)} tables")
    return found


def all_pages() -> list[Path]:
    """Where marks are looked for."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def all_places() -> list[Place]:
    """Those of all pages."""
    return [place for page in all_pages() for place in places_of(page)]


def revision_of_checkout() -> str:
    """What is checked out: asked once, before the first renewed page makes the checkout differ from it."""
    described = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def stamp(revision: str) -> str:
    """Version, ``revision``, date and machine."""
    model = platform.processor() or platform.machine()
    for line in _lines(Path("/proc/cpuinfo")):
        if line.startswith("model name"):
            model = " ".join(line.partition(":")[2].split())
            break
    busy = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"*iparam {iparam.__version__}, revision {revision}, {datetime.now(UTC):%Y-%m-%d}; "
        f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}{busy}*"
    )


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def span(seconds: float) -> str:
    """A time in the largest unit of which it is one and a half."""
    unit = next((unit for unit in ("h", "min") if seconds >= 1.5 * UNITS[unit]), "s")
    return f"{seconds / UNITS[unit]:.{1 if unit == 'h' else 0}f} {unit}"


def process_of(command: str) -> tuple[list[str], dict[str, str]]:
    """The words to run and the environment to run them in; SkippedError if their interpreter is not there."""
    words = shlex.split(command)
    given = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    if "PYTHONPATH" in given and "PYTHONPATH" in os.environ:
        given["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
    if words[0] == "python":
        words[0] = sys.executable
    elif not (ROOT / words[0]).exists() and (maker := ENVIRONMENTS.get(words[0].partition("/")[0])):
        raise SkippedError(f"needs {words[0]}, {maker} makes it")
    return words, {**os.environ, "OPENBLAS_NUM_THREADS": "1", **given}


def printed(command: str) -> str:
    """What a command prints; "python" is this one, and variables may stand before it."""
    words, environment = process_of(command)
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == MISSING:
        raise SkippedError(done.stdout.strip())
    done.check_returncode()
    if "|" not in done.stdout:
        raise ValueError(f"'{command}' printed no table")
    return done.stdout.strip()


def renew(place: Place, revision: str) -> None:
    """Run the command of a place and put its tables there, under a line that tells their ``revision``."""
    line, began = stamp(revision), time.monotonic()
    tables = printed(place.command)
    line = f"{line.removesuffix('*')}; took {span(time.monotonic() - began)}*"
    now = next((other for other in places_of(place.page) if other.command == place.command), None)
    if now is None:
        raise ValueError(f"the mark has gone from {place.page.name} meanwhile")
    text = place.page.read_text(encoding="utf-8")
    write_atomically(place.page, f"{text[: now.start]}\n\n{line}\n\n{tables}\n\n{text[now.end :]}")


def show(places: list[Place]) -> None:
    """Print how long each took the last time, and all of them."""
    for place in places:
        print(f"{'not said' if place.took is None else span(place.took):>8}  {place.name}")
    known = [place.took for place in places if place.took is not None]
    print(f"{span(sum(known)):>8}  in all, without the {len(places) - len(known)} that do not say it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the page or the command")
    parser.add_argument("--list", action="store_true", help="what would be run, and how long it took the last time")
    options = parser.parse_args()
    places = [place for place in all_places() if not options.words or any(w in place.name for w in options.words)]
    if options.list:
        show(places)
        return
    revision, failed, skipped = revision_of_checkout(), [], []
    for place in places:
        print(place.name, flush=True)
        try:
            renew(place, revision)
        except SkippedError as reason:
            skipped.append(f"skipped: {place.name}: {reason}")
            print(skipped[-1], flush=True)
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            failed.append(f"failed: {place.name}: {error}")
            print(failed[-1], flush=True)
    if skipped or failed:
        print("\ntables that stay as they were:", *skipped, *failed, sep="\n", flush=True)
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
