"""`iparam fleet identify`: the load in every recording of a folder or store, as one table."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

import iparam
from iparam.cli.console.printing import AsJson, live_line, note, print_json, print_line, print_table, say
from iparam.cli.console.written_files import Overwrite, Writes
from iparam.cli.fleet.settings import FleetSettingsOptions
from iparam.cli.options.scheduler import SchedulerOptions
from iparam.errors import InputError, IparamError
from iparam.files.kind import FileKind
from iparam.rounding import number

if TYPE_CHECKING:
    from iparam.fleet import FleetRun, Progress

_SHOWN = 0.2  # s between two lines of progress


@dataclass(frozen=True, kw_only=True)
class FleetIdentify(FleetSettingsOptions, SchedulerOptions):
    r"""The load in every recording of a folder or store: one row each, in one table.

    Example:
      iparam fleet identify 'runs/**/*.parquet' --robot ur5e --output fleet
      iparam fleet identify s3://logs/2026 --robot ur10e --output fleet --resume \
          --layout '{arm}/{tool}/{time}.mcap' --scheduler tcp://10.0.0.5:8786
    """

    pattern: Positional[Annotated[str, arg(metavar="PATTERN")]]
    """A folder, a glob in quotes, or an address: s3://, gs://, memory://. Parquet, CSV, bags and MCAP."""
    output: Annotated[Path, arg(metavar="DIR"), Writes(files={"recordings.parquet": FileKind.FLEET})]
    """Folder for the table."""
    overwrite: Overwrite = False
    resume: Annotated[bool, arg(help_behavior_hint="")] = False
    """Keep rows of an earlier run whose recording and options have not changed."""
    json: AsJson = False

    def run(self) -> None:
        """Identify all, and print a summary."""
        if self.resume and self.overwrite:
            raise InputError("--resume keeps earlier rows and --overwrite deletes them: give one of the two")
        if iparam.fleet.FleetTable(self.output).exists and not (self.resume or self.overwrite):
            raise InputError(
                f"--output {self.output} holds rows of an earlier run: --resume does what is missing or changed, "
                "--overwrite begins anew"
            )
        settings = self.settings()
        began = time.monotonic()
        with self.executor() as executor, live_line("looking for recordings") as show:
            try:
                done = iparam.fleet.identify_fleet(
                    self.pattern,
                    self.output,
                    settings,
                    executor=executor,
                    resume=self.resume,
                    overwrite=self.overwrite,
                    on_start=self._start,
                    on_row=_Teller(show, self.json).tell,
                )
            except KeyboardInterrupt:
                say(f"interrupted: what is done is in {self.output}; go on with --resume")
                raise
            except iparam.fleet.ExecutorLostError as error:
                raise IparamError(
                    f"{error}. What is done is in {self.output}: once it runs again, the same command with --resume "
                    "does the rest"
                ) from None
        self._report(done, time.monotonic() - began)
        if done.identified and done.errors == done.identified:
            raise IparamError(f"none of the {done.identified} recordings could be identified: see the errors above")

    def _start(self, plan: FleetRun) -> None:
        if plan.other_versions:
            note(
                f"{plan.other_versions} rows that are kept are of another version of iparam; --overwrite does all anew"
            )
        if self.json:
            _event("start", found=plan.found, kept=plan.kept, to_do=plan.found - plan.kept)
        else:
            kept = f", {plan.kept} of them done already" if plan.kept else ""
            say(f"{plan.found} recordings{kept}")

    def _report(self, done: FleetRun, seconds: float) -> None:
        rows = iparam.fleet.FleetTable(self.output).read(iparam.fleet.SUMMARY_COLUMNS).to_pylist()
        summary = iparam.fleet.summarize(rows)
        if self.json:
            _event(
                "finish",
                found=done.found,
                kept=done.kept,
                identified=done.identified,
                errors=done.errors,
                seconds=seconds,
                rate=done.identified / seconds,
                groups=[dataclasses.asdict(group) for group in summary.groups],
                causes=dict(summary.causes),
                output=str(self.output),
            )
            return
        lines = [
            [
                " ".join(part for part in (group.robot, group.arm, group.tool) if part) or "-",
                *(str(count) for count in (group.recordings, group.good, group.usable, group.refuted, group.errors)),
                number(group.mass, 4),
                number(group.mass_scatter, 4),
            ]
            for group in summary.groups
        ]
        header = ["robot, arm, tool", "logs", "good", "usable", "refuted", "errors", "mass kg", "scatter"]
        print_table(f"{self.output}: {len(rows)} recordings", header, lines)
        for title, counted in (("cause", summary.causes), ("error", summary.errors)):
            for text, count in counted[:5]:
                print_line(f"{title}      {count:>6}  {text}")
        print_line()
        print_line(f"identified {done.identified} in {seconds:.1f} s, {done.identified / seconds:.3g} a second")
        print_line(f"table      {self.output / 'recordings.parquet'}")


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


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
