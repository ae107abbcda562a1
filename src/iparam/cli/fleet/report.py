"""`iparam fleet report`: one page about a fleet, and the full report of any of its recordings."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import note, print_line, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.fleet.settings import FleetSettingsOptions, one_pattern
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind


@dataclass(frozen=True, kw_only=True)
class FleetReport(FleetSettingsOptions):
    r"""One page about a fleet: loads over time, changes, outliers, causes.

    Example:
      iparam fleet report fleet
      iparam fleet report fleet --from 'runs/*.csv' --robot ur5e --full 5.csv
    """

    folder: Positional[Annotated[Path, arg(metavar="DIR")]]
    """Folder of the table, from 'iparam fleet identify --output'."""
    output: Annotated[
        Path | None,
        arg(metavar="FILE", help_behavior_hint="(default: report.html in DIR)"),
        Writes(FileKind.REPORT),
    ] = None
    """File for the page: .html. Replaced if it exists."""
    overwrite: Overwrite = False
    full: Annotated[tuple[str, ...], arg(metavar="RECORDING ..", help_behavior_hint="")] = ()
    """Recordings, by the table's column 'source', to make a full report of, in DIR/reports."""
    from_: Annotated[tuple[str, ...], arg(name="from", metavar="PATTERN", help_behavior_hint="")] = ()
    """Where the recordings are: as given to 'iparam fleet identify'."""

    def run(self) -> None:
        """Write the page, after the full reports that it links to."""
        iparam.report.require_plot_extra()
        if self.full and not self.from_:
            raise InputError("--full reads the recordings again: say where they are (--from), as in 'fleet identify'")
        failed = self._make_full() if self.full else 0
        page = iparam.fleet.write_fleet_report(self.folder, self.output)
        print_line(f"report    {page}")
        if iparam.fleet.FleetTable(self.folder).unfinished:
            note(
                f"the last run into {self.folder} has not come to its end: it goes on, or was cut off, and 'iparam "
                "fleet identify' with --resume does the rest"
            )
        if failed:
            wanted = len(set(self.full))
            reports = "the full report" if wanted == 1 else f"{failed} of {wanted} full reports"
            raise IparamError(f"{reports} could not be made: see above")

    def _make_full(self) -> int:
        """Make the full reports; how many could not be."""
        settings, pattern = self.settings(), one_pattern(self.from_, "--from")
        rows = {row["source"]: row for row in iparam.fleet.FleetTable(self.folder).read().to_pylist()}
        sources = {source.name: source for source in iparam.fleet.find_sources(pattern)}
        failed = 0
        for name in dict.fromkeys(self.full):
            try:
                if name not in rows:
                    raise InputError(f"the table in {self.folder} has no such recording{_close(name, rows)}")
                if name not in sources:
                    raise InputError(f"--from {pattern} has no such recording, or not any more{_close(name, sources)}")
                recording, robot, estimate = iparam.fleet.identify_fully(settings, sources[name])
            except IparamError as error:
                failed += 1
                say(f"no full report of {name}: {error}")
                continue
            (self.folder / iparam.fleet.REPORTS).mkdir(exist_ok=True)
            self._compare(rows[name], estimate, settings.text)
            content = iparam.report.ReportInput(
                estimate=estimate,
                robot=robot,
                recording=None if robot is None else recording,
                correction=estimate.correction,
                title=name,
                sources={"recording": name},
                created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
            )
            place = self.folder / iparam.fleet.REPORTS / iparam.fleet.report_name(name)
            iparam.report.write_report(place, content)
            print_line(f"report    {place}")
        return failed

    @staticmethod
    def _compare(row: dict[str, Any], estimate: iparam.Estimate, settings: str) -> None:
        table, here = (iparam.fleet.options_of(text) for text in (row["settings"], settings))
        other = [name for name in sorted(table | here) if table.get(name) != here.get(name)]
        if other:
            told = ", ".join(
                f"--{name.replace('_', '-')} {table.get(name, 'as usual')} (here {here.get(name, 'as usual')})"
                for name in other
            )
            note(f"{row['source']}: the table was made with other options: {told}")
        if row["mass"] is not None and row["mass"] != estimate.mass:
            note(f"{row['source']}: the table has {row['mass']:.6g} kg, this report {estimate.mass:.6g} kg")


def _close(name: str, known: Iterable[str]) -> str:
    """The name that may be meant."""
    return "".join(f"; did you mean {one}?" for one in difflib.get_close_matches(name, list(known), 1))
