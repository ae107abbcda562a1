"""How results are printed: tables for people and JSON for machines on standard output, remarks and progress on
standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import arg

from iparam.cli.console.option_names import in_options
from iparam.estimation.errors import RefutedResultError
from iparam.printable import printable
from iparam.rounding import NORMAL_95, decimals_for

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate, Wrench

AsJson = Annotated[bool, arg(help="Print one JSON object, SI units, all digits.", help_behavior_hint="")]
"""The type of the option ``json`` of the commands that print numbers."""


def note(text: str) -> None:
    """Print a remark that is no part of the result."""
    say(f"note: {text}")


def say(text: str) -> None:
    """Print a line about how the work goes."""
    print(f"iparam: {printable(in_options(text))}", file=sys.stderr, flush=True)


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


def say_refuted(estimate: Estimate) -> None:
    """The first line of what is said of a result, if its own data refute it."""
    if estimate.refutation is not None:
        say(f"REFUTED: {estimate.refutation.sentence}")


def fail_refuted(estimate: Estimate, output: Path | None) -> None:
    """The end of a command whose result is refuted: an error, after all was written and printed."""
    if estimate.refutation is not None:
        written = "" if output is None else f"; {output} is marked so, and export and ur set-payload refuse it"
        raise RefutedResultError(f"the result is refuted by its own data, see above{written}")


def print_estimate(estimate: Estimate, output: Path | None) -> None:
    """The ten parameters with their 95 % intervals, and what they rest on."""
    standard_deviation = estimate.standard_deviation
    if estimate.refutation is not None:
        print_line("REFUTED         by its own data: do not use these numbers")
    if np.isnan(estimate.mass):
        print_line("mass            -")
    else:
        print_line(f"mass            {number(estimate.mass, 4)} +- {number(NORMAL_95 * standard_deviation.mass, 4)} kg")
    for axis, value, deviation in zip("xyz", estimate.center_of_mass, standard_deviation.center_of_mass, strict=True):
        if np.isnan(value):
            print_line(f"centre of mass {axis} -")
            continue
        print_line(f"centre of mass {axis} {1e3 * value:.3f} +- {1e3 * NORMAL_95 * deviation:.3f} mm")
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        entry, deviation = estimate.inertia_about_com[i, j], standard_deviation.inertia_about_com[i, j]
        if np.isnan(entry):
            print_line(f"inertia {'xyz'[i]}{'xyz'[j]}      -")
            continue
        half = number(NORMAL_95 * deviation)
        print_line(f"inertia {'xyz'[i]}{'xyz'[j]}      {number(entry)} +- {half} kg m^2 about it")
    print_line("+-              95 % interval, 1.96 standard deviations")
    if estimate.sensor_bias is not None:
        print_line(f"sensor bias     {wrench_text(estimate.sensor_bias)}")
    if estimate.residual_rms.force.any() or estimate.residual_rms.torque.any():
        print_line(f"residual        {wrench_text(estimate.residual_rms)} rms")
    consistent = "yes" if estimate.physically_consistent else "no"
    print_line(f"consistent      {consistent}")
    if not estimate.complete:
        print_line(f"determined      {', '.join(estimate.determined)}; from {estimate.samples} samples")
    else:
        print_line(f"condition       {estimate.condition_number:.2f}, from {estimate.samples} samples")
    if estimate.data_share is not None:
        shares = " ".join(f"{100.0 * share:.0f}" for share in estimate.data_share)
        print_line(f"from the data   {shares} % of phi, the rest from the prior")
    for line in correction_lines(estimate):
        print_line(f"corrected       {line}")
    if output is not None:
        print_line(f"result          {output}")


def correction_lines(estimate: Estimate) -> Iterator[str]:
    """What was put right in the recording, a line each: as given, or as estimated with its 95 % interval."""
    for name, value in estimate.correction.to_document().items():
        deviations, unit = estimate.correction_deviations.get(name), estimate.correction.unit(name)
        if deviations is None:
            yield f"{estimate.correction.option(name)}{f' {unit}' if unit else ''} as given"
            continue
        pairs = zip(np.ravel(value), deviations, strict=True)
        each = ", ".join(_interval(float(one), NORMAL_95 * spread) for one, spread in pairs)
        yield f"--{name.replace('_', '-')} {each}{f' {unit}' if unit else ''} estimated"


def _interval(value: float, half_width: float) -> str:
    decimals = decimals_for(half_width)
    return f"{number(value, decimals)} +- {number(half_width, decimals)}"


def wrench_text(wrench: Wrench) -> str:
    """Force and torque on one line."""
    return f"{' '.join(numbers(wrench.force, 3))} N, {' '.join(numbers(wrench.torque, 4))} N m"
