"""Measured tables of the documentation, made anew: python benchmarks/tables.py [WORD ...], or `make tables` for all.

A table that a command prints stands in its page between two comments:

    <!-- table: python benchmarks/bench_startup.py -->
    ...
    <!-- end of table -->

Everything between them is replaced by a line with version, revision, date and machine, and by the tables that the
command prints. WORDs choose those whose page or command contains one of them; ``--list`` runs nothing. Other work on
the machine makes times longer: the line says how busy it was.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import iparam
from iparam.files.atomic import write_atomically

ROOT = Path(__file__).resolve().parents[1]
BEGIN = re.compile(r"^<!-- table: (?P<command>.+?) -->$", re.MULTILINE)
END = "<!-- end of table -->"


@dataclass(frozen=True)
class Place:
    """Where a table stands: its page, the command that prints it, and the text between the comments."""

    page: Path
    command: str
    start: int
    end: int


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


def all_places() -> list[Place]:
    """Those of all pages."""
    return [place for page in sorted((ROOT / "docs").rglob("*.md")) for place in places_of(page)]


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


def printed(command: str) -> str:
    """What a command prints; "python" is this one, and variables may stand before it."""
    words = shlex.split(command)
    given = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    words[0] = sys.executable if words[0] == "python" else words[0]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **given}
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    if "|" not in done.stdout:
        raise ValueError(f"'{command}' printed no table")
    return done.stdout.strip()


def renew(place: Place, revision: str) -> None:
    """Run the command of a place and put its tables there, under a line that tells their ``revision``."""
    line, tables = stamp(revision), printed(place.command)
    now = next(other for other in places_of(place.page) if other.command == place.command)
    text = place.page.read_text(encoding="utf-8")
    write_atomically(place.page, f"{text[: now.start]}\n\n{line}\n\n{tables}\n\n{text[now.end :]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the page or the command")
    parser.add_argument("--list", action="store_true", help="what would be run")
    options = parser.parse_args()
    revision, failed = revision_of_checkout(), []
    for place in all_places():
        name = f"{place.page.relative_to(ROOT)}: {place.command}"
        if options.words and not any(word in name for word in options.words):
            continue
        print(name, flush=True)
        if options.list:
            continue
        try:
            renew(place, revision)
        except (subprocess.CalledProcessError, ValueError) as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise SystemExit("\n".join(["tables that stay as they were:", *failed]))


if __name__ == "__main__":
    main()
