"""`iparam fleet report`: one page about a fleet, and the full report of any of its recordings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import note, print_line, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.fleet.settings import FleetSettingsOptions
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
    from_: Annotated[str | None, arg(name="from", metavar="PATTERN", help_behavior_hint="")] = None
    """Where the recordings are: as given to 'iparam fleet identify'."""

    def run(self) -> None:
        """Write the page, after the full reports that it links to."""
        iparam.report.require_plot_extra()
        if self.full and self.from_ is None:
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
            raise IparamError(f"{failed} of {len(self.full)} full reports could not be made: see above")

    def _make_full(self) -> int:
        """Make the full reports; how many could not be."""
        settings = self.settings()
        rows = {row["source"]: row for row in iparam.fleet.FleetTable(self.folder).read().to_pylist()}
        unknown = [name for name in self.full if name not in rows]
        if unknown:
            raise InputError(f"--full {unknown[0]}: the table of {self.folder} has no such recording")
        sources = {source.name: source for source in iparam.fleet.find_sources(str(self.from_))}
        missing = [name for name in self.full if name not in sources]
        if missing:
            raise InputError(f"--full {missing[0]}: --from {self.from_} has no such recording (any more)")
        (self.folder / iparam.fleet.REPORTS).mkdir(exist_ok=True)
        failed = 0
        for name in self.full:
            try:
                recording, robot, estimate = iparam.fleet.identify_fully(settings, sources[name])
            except IparamError as error:
                failed += 1
                say(f"no full report of {name}: {error}")
                continue
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
