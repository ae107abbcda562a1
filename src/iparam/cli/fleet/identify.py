"""`iparam fleet identify`: the load in every recording of a folder or store, as one table."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.option_names import in_options
from iparam.cli.console.printing import live_line, note, print_json, print_line, print_table, say
from iparam.cli.console.written_files import Writes
from iparam.cli.fleet.settings import FleetSettingsOptions, one_pattern
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.errors import InputError, IparamError
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.fleet import FleetRun, FleetSummary, Group, Progress

_SHOWN = 0.2  # s between two lines of progress
_MOST_GROUPS = 40
"""Robots and tools that are listed, those in trouble first; the report has all."""

_MOST_TOLD = 5
"""Causes and errors that are listed."""


@dataclass(frozen=True, kw_only=True)
class FleetIdentify(FleetSettingsOptions, SchedulerOptions):
    r"""The load in every recording of a folder or store: one row each, in one table.

    Example:
      iparam fleet identify 'runs/**/*.parquet' --robot ur5e --output fleet
      iparam fleet identify s3://logs/2026 --robot ur10e --output fleet --resume \
          --layout '{arm}/{tool}/{time}' --scheduler tcp://10.0.0.5:8786
    """

    pattern: Positional[Annotated[tuple[str, ...], arg(metavar="PATTERN", help_behavior_hint="(required)")]]
    """A folder, a glob in quotes, or an address: s3://, gs://, memory://. Parquet, CSV, bags and MCAP."""
    output: Annotated[Path, arg(metavar="DIR"), Writes(files={"recordings.parquet": None})]
    """Folder for the table."""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """Delete the rows of an earlier run and begin anew."""
    resume: Annotated[bool, arg(help_behavior_hint="")] = False
    """Keep rows of an earlier run whose recording and options have not changed."""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """Print events, a JSON object a line: start, recording, finish; SI units, all digits."""

    def run(self) -> None:
        """Identify all, and print a summary."""
        if self.resume and self.overwrite:
            raise InputError("--resume keeps earlier rows and --overwrite deletes them: give one of the two")
        pattern, table = one_pattern(self.pattern, "PATTERN"), iparam.fleet.FleetTable(self.output)
        if not self.overwrite:
            table.check()
        if table.exists and not (self.resume or self.overwrite):
            raise InputError(
                f"--output {self.output} holds rows of an earlier run: --resume does what is missing or changed, "
                "--overwrite begins anew"
            )
        settings = self.settings()
        with self.executor() as executor, live_line("looking for recordings") as show:
            try:
                done = iparam.fleet.identify_fleet(
                    pattern,
                    self.output,
                    settings,
                    executor=executor,
                    resume=self.resume,
                    overwrite=self.overwrite,
                    on_start=partial(self._start, show),
                    on_row=_Teller(show, self.json).tell,
                )
            except KeyboardInterrupt:
                say(f"interrupted: {self._kept()}")
                raise
            except iparam.fleet.ExecutorLostError as error:
                raise IparamError(f"{error}. Once it runs again: {self._kept()}") from None
        self._report(done)
        if done.done and not done.identified:
            which = "the only recording" if done.done == 1 else f"none of {done.done} recordings"
            raise IparamError(f"{which} could {'not ' if done.done == 1 else ''}be identified: see the errors above")

    def _kept(self) -> str:
        """What is left of a run that was cut off, and how it goes on."""
        table = iparam.fleet.FleetTable(self.output)
        if not table.exists:
            return "nothing was done yet, and nothing is written"
        return f"what is done is in {self.output}; the same command with --resume does the rest"

    def _start(self, show: Callable[[str], None] | None, plan: FleetRun) -> None:
        for remark in plan.remarks:
            note(remark)
        if plan.other_versions:
            note(
                f"another version of iparam made the rows of {_recordings(plan.other_versions)} kept; --overwrite does "
                "all anew"
            )
        if plan.gone:
            other = f", {plan.gone_otherwise} made with other options" if plan.gone_otherwise else ""
            note(
                f"the table has {_recordings(len(plan.gone))} that {self.pattern[0]} does not name, or not any more "
                f"({plan.gone[0]}{', ...' if len(plan.gone) > 1 else ''}): kept as before{other}; --overwrite begins "
                f"without {'it' if len(plan.gone) == 1 else 'them'}"
            )
        if plan.relabelled:
            note(f"arm, tool and time of {_recordings(plan.relabelled)} are filled in anew, without identifying again")
        if self.json:
            counts = {"found": plan.found, "kept": plan.kept, "to_do": plan.to_do}
            _event("start", **counts, relabelled=plan.relabelled, gone=plan.gone, remarks=plan.remarks)
        else:
            all_kept = plan.kept == plan.found
            kept = ", done already" if all_kept else f", {plan.kept} of them done already" if plan.kept else ""
            say(f"{_recordings(plan.found)}{kept}")
        if show is not None and plan.to_do:
            show("starting the workers")

    def _report(self, done: FleetRun) -> None:
        columns = dict.fromkeys([*iparam.fleet.SUMMARY_COLUMNS, *iparam.fleet.HISTORY_COLUMNS])
        rows = iparam.fleet.FleetTable(self.output).rows([*columns])
        summary, rate = iparam.fleet.summarize(rows), done.done / max(done.seconds, 1e-9)
        outliers = iparam.fleet.outliers_of(iparam.fleet.series_of(rows))
        changes = iparam.fleet.fleet_changes(iparam.fleet.dated_series_of(rows))
        if self.json:
            _event(
                "finish",
                found=done.found,
                kept=done.kept,
                done=done.done,
                identified=done.identified,
                errors=done.errors,
                seconds=done.seconds,
                rate=rate,
                groups=[dataclasses.asdict(group) for group in summary.groups],
                causes=dict(summary.causes),
                changes=[{"label": one.series.label, "kind": one.kind, "sentence": one.sentence} for one in changes],
                outliers=[dataclasses.asdict(outlier) for outlier in outliers],
                copies=summary.copies,
                output=str(self.output),
            )
            return
        self._print_groups(summary, len(rows))
        for title, counted in (("causes", summary.causes), ("errors", summary.errors)):
            if counted:
                print_line()
                print_line(f"{title}, in how many recordings")
            shown = len(counted) if len(counted) <= _MOST_TOLD + 1 else _MOST_TOLD
            for text, count in counted[:shown]:
                print_line(f"{count:>6}  {'e.g. ' if title == 'errors' and count > 1 else ''}{in_options(text)}")
            if rest := counted[shown:]:
                print_line(f"{sum(count for _, count in rest):>6}  of {len(rest)} more kinds: see iparam fleet report")
        print_line()
        if changes:
            print_line(f"changes    {len(changes)} over time, e.g. {changes[0].series.label}: {changes[0].sentence}")
        if outliers:
            print_line(f"outliers   {_recordings(len(outliers))}, e.g. {outliers[0].source}: {outliers[0].sentence}")
        if summary.copies:
            copies = sum(len(names) - 1 for names in summary.copies)
            same = f"{_recordings(copies)} with the contents of another"
            print_line(f"copies     {same}, e.g. {summary.copies[0][1]} of {summary.copies[0][0]}")
        if done.done:
            failed = f", {done.errors} with an error" if done.errors else ""
            told = f"{done.identified} identified{failed}, in {_duration(done.seconds)}, {rate:.3g} a second"
            print_line(f"done       {told}")
        if done.kept:
            print_line(f"kept       {_recordings(done.kept)}, unchanged")
        print_line(f"table      {self.output / 'recordings.parquet'}")

    def _print_groups(self, summary: FleetSummary, count: int) -> None:
        groups, title = list(summary.groups), f"{self.output}: {_recordings(count)}"
        if len(groups) > _MOST_GROUPS:
            groups = sorted(groups, key=_trouble, reverse=True)[:_MOST_GROUPS]
            title += f"; the {_MOST_GROUPS} of {len(summary.groups)} robots and tools with most refuted and errors"
        names = [("robot", "arm", "tool"), *((group.robot, group.arm, group.tool) for group in groups)]
        used = [place for place in range(3) if any(name[place] for name in names[1:])] or [0]
        widths = {place: max(len(name[place]) for name in names) for place in used}
        header, *labels = ("  ".join(f"{name[place] or '-':<{widths[place]}}" for place in used) for name in names)
        lines = [
            [
                label,
                *(str(count) for count in (group.recordings, group.good, group.usable, group.refuted, group.errors)),
                number(group.mass, 4),
                number(group.mass_scatter, 4),
            ]
            for label, group in zip(labels, groups, strict=True)
        ]
        print_table(title, [header, "logs", "good", "usable", "refuted", "errors", "mass kg", "scatter kg"], lines)
        print_line("mass: the median of what is good or usable; scatter: from recording to recording")


@dataclass
class _Teller:
    """Tells each row: as an event, or on the line that shows how far it is."""

    show: Callable[[str], None] | None
    json: bool
    told: float = 0.0

    def tell(self, row: Mapping[str, Any], progress: Progress) -> None:
        """Tell a row and how far the run is."""
        if self.json:
            kept = {name: row.get(name) for name in ("source", "verdict", "mass", "mass_deviation", "error")}
            kept["unchanged"] = row.get("unchanged", False)
            counted = {"done": progress.done, "total": progress.total, "rate": progress.rate}
            _event("recording", **kept, **counted, seconds_left=progress.seconds_left)
        if self.show is None or time.monotonic() - self.told < _SHOWN:
            return
        self.told = time.monotonic()
        errors = f", {progress.errors} with errors" if progress.errors else ""
        self.show(
            f"{progress.done} of {progress.total} recordings{errors}, {progress.rate:.3g} a second, "
            f"{_duration(progress.seconds_left)} left"
        )


def _event(kind: str, **content: Any) -> None:
    print_json({"event": kind, **content})
    sys.stdout.flush()  # whoever reads it waits for it


def _trouble(group: Group) -> tuple[float, int]:
    return (group.refuted + group.errors) / group.recordings, group.recordings


def _recordings(count: int) -> str:
    return f"{count} recording" if count == 1 else f"{count} recordings"


def _duration(seconds: float) -> str:
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
