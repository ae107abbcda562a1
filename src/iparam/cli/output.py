"""How results are printed: tables for people and JSON for machines on standard output, remarks on standard error.

Everything that the command prints for people passes through here and is `printable`: what a file, a message or an
argument holds cannot steer the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from json import dumps
from typing import Any

import numpy as np

from iparam.printable import printable


def note(text: str) -> None:
    """Print a remark that is no part of the result."""
    say(f"note: {text}")


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
    """Print a table: first column to the left, numbers to the right, no rules."""
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False, emoji=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(header):
        table.add_column(printable(name), justify="right" if index else "left", overflow="fold", header_style="dim")
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    with console.capture() as capture:
        console.print(printable(title), style="bold", soft_wrap=True)
        console.print(table)
    # Through sys.stdout and without trailing blanks: rich would end the program at a closed pipe, and fills lines up.
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def number(value: float, decimals: int = 6) -> str:
    """A number of fixed decimals, without a minus before zero; in powers of ten where it would be too long."""
    if not np.isfinite(value):
        return "-"
    text = f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.{decimals}e}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def numbers(values: Iterable[float], decimals: int = 6) -> list[str]:
    """`number` of each."""
    return [number(float(value), decimals) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not np.isfinite(value) else value
