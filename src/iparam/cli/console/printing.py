"""How results are printed: tables for people and JSON for machines on standard output, remarks and progress on
standard error.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import arg

from iparam.cli.console.fixes import as_options, corrected, in_words
from iparam.cli.console.tables import fields_in_room, table_lines
from iparam.estimation.errors import RefutedResultError
from iparam.printable import printable
from iparam.remarks import Remark, Severity

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate
    from iparam.estimation.static.identify import StaticEstimate

AsJson = Annotated[bool, arg(help="Print one JSON object, SI units, all digits.", help_behavior_hint="")]
"""The type of the option ``json`` of the commands that print numbers."""


_COMBINED = ("sum", "difference")  # of several results, which may be sound each


def note(text: str) -> None:
    """Print a remark that is no part of the result."""
    say(f"note: {text}")


LABELS = {
    Severity.INFO: "note",
    Severity.CORRECTED: "corrected",
    Severity.DOUBT: "warning",
    Severity.REFUTED: "refuted",
}
"""How a remark begins, by its severity."""


def note_remark(remark: Remark, about: str = "") -> None:
    """Print a remark, with what it is about, and the options that correct it; see `doubts_told_once`."""
    held = _HELD.get()
    if held is not None and remark.lowers and not about:
        if remark not in held:
            held.append(remark)
        return
    say(f"{LABELS[remark.severity]}: {about}{in_words(remark)}")


_HELD: ContextVar[list[Remark] | None] = ContextVar("doubts that are held back", default=None)


@contextmanager
def doubts_told_once() -> Iterator[None]:
    """Hold doubts back for the table of the result, which lists them; those that none listed are noted at the end."""
    held: list[Remark] = []
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
        for one in held:
            note_remark(one)


def listed_in_table(remarks: Iterable[Remark]) -> None:
    """Say that a table lists the doubts among some remarks."""
    held, listed = _HELD.get(), tuple(remarks)
    if held is not None:
        held[:] = [one for one in held if one not in listed]


def say(text: str) -> None:
    """Print a line about how the work goes."""
    print(f"iparam: {printable(text)}", file=sys.stderr, flush=True)


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object with all digits; arrays become lists, and infinite values (no limit) null."""
    print(dumps({name: _plain(value) for name, value in result.items()}, allow_nan=False))  # ASCII, with escapes


def print_line(text: str = "") -> None:
    """Print a line of a result for people."""
    print(printable(text))


def print_document(text: str) -> None:
    """Print the text of a whole file: byte for byte into a file or a pipe, line by line `printable` on a terminal."""
    if sys.stdout.isatty():
        text = "\n".join(printable(line.rstrip("\r").expandtabs()) for line in text.split("\n"))
    sys.stdout.write(text)


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: first column to the left, numbers to the right, no rules, nothing cut; see `tables`."""
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, highlight=False, emoji=False)
    shown = [[printable(cell) for cell in row] for row in rows]
    lines = table_lines([printable(name) for name in header], shown, _room(console.width))
    with console.capture() as capture:
        console.print(printable(title), style="bold", soft_wrap=True)
        for line in lines:
            console.print(Text(line.text, "dim" if line.is_header else ""), soft_wrap=True)
    # Through sys.stdout: rich would end the program at a closed pipe.
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _room(width: int) -> int | None:
    """Columns that a table may have: those of the terminal, or that somebody asks for; else as many as it takes."""
    return width if sys.stdout.isatty() or "COLUMNS" in os.environ else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not np.isfinite(value) else value


@contextmanager
def live_line(first: str) -> Iterator[Callable[[str], None] | None]:
    """A line on standard error that says how a search goes, ``first`` at first; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(Text(first), console=Console(stderr=True), refresh_per_second=5, transient=True) as live:
        yield lambda line: live.update(Text(printable(line)))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error if that is a terminal; takes the fraction that is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(printable(title)), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def say_refuted(estimate: Estimate | StaticEstimate) -> None:
    """The first line of what is said of a result, if its own data refute it: why, and the best cause."""
    refuted = estimate.refutation
    if refuted is not None:
        best = refuted.causes[:1]
        say(" ".join(["REFUTED:", refuted.reason, *(corrected(cause.sentence, cause.fix) for cause in best)]))


def fail_refuted(estimate: Estimate | StaticEstimate, output: Path | None) -> None:
    """The end of a command whose result is refuted: an error, after all was written and printed."""
    if estimate.refutation is not None:
        written = "" if output is None else f"; {output} is marked so, and export and ur set-payload refuse it"
        method = getattr(estimate, "method", "")
        what = f"the {method} is refuted" if method in _COMBINED else "the result is refuted by its own data"
        raise RefutedResultError(f"{what}, see above{written}")


def print_estimate(estimate: Estimate, output: Path | None) -> None:
    """The verdict, the ten parameters with their 95 % intervals, what they rest on, and where they were written."""
    from iparam.estimation.estimate_table import estimate_lines  # which no other command needs

    listed_in_table(estimate.remarks)
    room = _room(shutil.get_terminal_size().columns)
    for line in fields_in_room(list(estimate_lines(estimate, as_options)), room):
        print_line(line)
    if output is not None:
        print_line(f"result          {output}")
