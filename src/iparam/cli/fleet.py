"""`iparam fleet`: the load in every recording of some folders, as one table and one page."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import iparam
from iparam.bridges import bag
from iparam.cli.console.printing import AsJson, live_line, note, note_remark, print_json, print_line, print_table, say
from iparam.cli.console.written_files import Writes
from iparam.cli.identify.payload import Method
from iparam.cli.options.correction import CorrectedRunOptions
from iparam.cli.options.joint_state import note_model
from iparam.cli.options.recorded_run import Motion, motion_source
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.files.kind import FileKind
from iparam.robot.catalog import robot_names
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.fleet import FleetRun, FleetSettings, Group
    from iparam.fleet.table import Row
    from iparam.robot.model import Robot

_SHOWN = 0.2  # s between two lines of progress
_MOST_GROUPS = 40
"""Robots and tools that are listed, those in trouble first; the page has all."""

_MOST_TOLD = 5
"""Errors, changes and outliers that are listed."""


@dataclass(frozen=True, kw_only=True)
class Fleet(CorrectedRunOptions, SchedulerOptions):
    r"""The load in every recording of some folders: a row each in a table, a page.

    The same command again does what is new, has changed or was cut off.

    Example:
      iparam fleet logs --robot ur5e --output fleet
      iparam fleet 'logs/**/*.csv' --robot ur10e --output fleet \
          --layout '{arm}/{tool}/{time}' --scheduler tcp://10.0.0.5:8786
    """

    patterns: Positional[Annotated[tuple[str, ...], arg(metavar="DIR|GLOB ..", help_behavior_hint="(required)")]]
    """Folders, files, or globs in quotes: Parquet, CSV, .npz, .mat, MCAP files and ROS bags."""
    output: Annotated[Path, arg(metavar="DIR"), Writes(files={"table.parquet": None, "report.html": FileKind.REPORT})]
    """Folder for table.parquet and report.html."""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """Begin without the rows of an earlier run."""
    layout: Annotated[str | None, arg(metavar="NAMES", help_behavior_hint="(default: the recording says)")] = None
    """What the parts of a name mean, e.g. '{arm}/{tool}/{time}'; * is any text, and no suffix any of them."""
    method: Method = "consistent"
    """The estimator."""
    bias: Literal["estimate", "none"] = "estimate"
    """The sensor's bias; see 'iparam identify payload'."""
    motion: Motion = "kalman"
    json: AsJson = False

    def run(self) -> None:
        """Identify all, write the page, and print a summary."""
        if not self.patterns:
            raise InputError("a folder, a file or a glob in quotes is missing, e.g. 'logs/**/*.csv'")
        settings = self._settings()
        with self.executor() as executor, live_line("looking for recordings") as show:
            try:
                done = iparam.fleet.identify_fleet(
                    self.patterns,
                    self.output,
                    settings,
                    executor=executor,
                    overwrite=self.overwrite,
                    on_row=None if show is None else _Teller(show).tell,
                )
            except KeyboardInterrupt:
                say(f"interrupted: {self._kept()}")
                raise
            except iparam.fleet.ExecutorLostError as error:
                raise IparamError(f"{error}. Once it runs again: {self._kept()}") from None
        for remark in done.remarks:
            note_remark(remark)
        if done.gone:
            more = ", ..." if len(done.gone) > 1 else ""
            rows = "1 row" if len(done.gone) == 1 else f"{len(done.gone)} rows"
            note(f"{rows} of recordings that are not there any more are kept ({done.gone[0]}{more})")
        page = None
        try:
            page = iparam.fleet.write_fleet_report(self.output)
        except MissingExtraError as error:
            note(f"no page is written: {error}")
        self._report(done, page)
        if done.done and done.done == done.errors:
            raise IparamError(f"none of {_recordings(done.done)} could be identified: see the errors above")

    def _settings(self) -> FleetSettings:
        if self.method == "all":
            raise InputError("--method all compares methods on one recording: choose one")
        robot: Robot | str | None = self.robot
        if self.robot is not None and (self.robot.lower() not in robot_names() or self.base or self.lock or self.tip):
            robot = iparam.load_robot(self.robot, tip=self.tip, **self.cut())  # its file is here, not with the workers
            note_model(robot)
        gravity = self.given_gravity()
        names = ("columns", "map", "time_unit", "angles", "rows", "time_range")
        return iparam.fleet.FleetSettings(
            robot=robot,
            tip=self.tip,
            reading={name: getattr(self, name) for name in names},
            identifying={
                "method": self.method,
                "motion": motion_source(self.motion),
                "bias": self.bias,
                "correction": self.options_correction(),
            },
            gravity=None if gravity is None else (float(gravity[0]), float(gravity[1]), float(gravity[2])),
            bags=partial(bag.read_bag, settings=bag.ImportSettings(angles=self.angles)),
            layout=None if self.layout is None else iparam.fleet.Layout(self.layout),
            of_setup=self.of_setup,
        )

    def _kept(self) -> str:
        """What is left of a run that was cut off, and how it goes on."""
        if not iparam.fleet.FleetTable(self.output).path.exists():
            return "nothing was done yet, and nothing is written"
        return f"what is done is in {self.output}; the same command again does the rest"

    def _report(self, done: FleetRun, page: Path | None) -> None:
        table = iparam.fleet.FleetTable(self.output)
        rows = list(table.rows().values())
        groups, series = iparam.fleet.groups_of(rows), iparam.fleet.series_of(rows)
        changes = [change for one in series for change in iparam.fleet.changes_of(one)]
        errors, outliers = iparam.fleet.counted_errors(rows), iparam.fleet.outliers_of(series)
        if self.json:
            print_json(
                {
                    **dataclasses.asdict(done),
                    "groups": [dataclasses.asdict(group) for group in groups],
                    "changes": [dataclasses.asdict(change) for change in changes],
                    "outliers": [dataclasses.asdict(outlier) for outlier in outliers],
                    "error_kinds": dict(errors),
                    "table": str(table.path),
                    "report": None if page is None else str(page),
                }
            )
            return
        self._print_groups(groups, len(rows))
        _print_some("errors", [f"{count:>6}  {text}" for text, count in errors])
        for title, findings in (("changes", changes), ("outliers", outliers)):
            _print_some(title, [f"  {one.label}: {one.sentence} ({one.sources[-1]})" for one in findings])
        print_line()
        print_line(f"done       {_recordings(done.done)}, {done.errors} with an error, in {done.seconds:.1f} s")
        if done.kept:
            print_line(f"kept       {_recordings(done.kept)}, unchanged")
        print_line(f"table      {table.path}")
        if page is not None:
            print_line(f"report     {page}")

    def _print_groups(self, groups: list[Group], count: int) -> None:
        title = f"{self.output}: {_recordings(count)}"
        if len(groups) > _MOST_GROUPS:
            title += f"; the {_MOST_GROUPS} of {len(groups)} robots and tools with most refuted and errors"
            groups = sorted(groups, key=_trouble, reverse=True)[:_MOST_GROUPS]
        lines = [
            [
                " ".join(part for part in (group.robot, group.arm, group.tool) if part) or "unnamed",
                *(str(count) for count in (group.recordings, group.good, group.usable, group.refuted, group.errors)),
                number(group.mass, 4),
                number(group.mass_scatter, 4),
            ]
            for group in groups
        ]
        header = ["robot, arm, tool", "logs", "good", "usable", "refuted", "errors", "mass kg", "scatter kg"]
        print_table(title, header, lines)
        print_line("mass: the median of what is good or usable; scatter: from recording to recording")


@dataclass
class _Teller:
    """Tells how far a run is, on the line that shows it."""

    show: Callable[[str], None]
    told: float = 0.0

    def tell(self, row: Row, run: FleetRun) -> None:
        """Called with each row."""
        if time.monotonic() - self.told < _SHOWN:
            return
        self.told, rate = time.monotonic(), run.done / max(run.seconds, 1e-9)
        left = (run.found - run.kept - run.done) / rate
        self.show(
            f"{run.done} of {run.found - run.kept} recordings, {run.errors} with errors, {rate:.3g} a second, "
            f"{left:.0f} s left"
        )


def _print_some(title: str, lines: list[str]) -> None:
    if lines:
        print_line()
        print_line(f"{title}: {len(lines)}")
    for line in lines[:_MOST_TOLD]:
        print_line(line)
    if len(lines) > _MOST_TOLD:
        print_line(f"  and {len(lines) - _MOST_TOLD} more, which the page has")


def _trouble(group: Group) -> tuple[float, int]:
    return (group.refuted + group.errors) / group.recordings, group.recordings


def _recordings(count: int) -> str:
    return f"{count} recording" if count == 1 else f"{count} recordings"
