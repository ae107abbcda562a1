"""What a run into a table has to do, and what it keeps of earlier ones."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import iparam
from iparam.fleet.layout import Labels, label_columns
from iparam.fleet.stores import Source
from iparam.fleet.table import ROWS_A_PIECE, SCHEMA, FleetTable
from iparam.fleet.task import BUG, STORE, WORKER, FleetSettings, Task, options_of

AGAIN = (STORE, WORKER)
"""Errors that need not come again: --resume tries those recordings once more."""

_LABELS = ("arm", "tool", "recorded", "recorded_from", "stated_arm", "stated_tool", "stated_recorded")
_PLANNED_BY = ["checksum", "stamp", "settings", "version", "error_kind", *_LABELS]
"""Columns that tell what is to be done."""


@dataclass(frozen=True, eq=False)
class FleetRun:
    """What a run has done.

    Attributes:
        found: recordings that the pattern names.
        kept: rows of an earlier run that still hold; those of recordings whose time stamp is new, but whose contents
            are the same, come to them while it runs.
        done: recordings that were tried now.
        errors: how many of them have an error.
        relabelled: rows kept whose arm, tool or time are others now, by the layout given or the store.
        other_versions: rows kept that another version of iparam made.
        gone: recordings of the table that the pattern does not name, or not any more: their rows stay.
        gone_otherwise: how many of them were made with other settings.
        remarks: about the recordings' names; see `Layout.remarks`.
        seconds: it took.
    """

    found: int
    kept: int
    done: int
    errors: int
    relabelled: int
    other_versions: int
    gone: tuple[str, ...]
    gone_otherwise: int
    remarks: tuple[str, ...]
    seconds: float

    @property
    def identified(self) -> int:
        """Recordings that have a result now and had none, or another one, before."""
        return self.done - self.errors

    @property
    def to_do(self) -> int:
        """Recordings whose row is not kept."""
        return self.found - self.kept


@dataclass(frozen=True, eq=False)
class RunPlan:
    """What is to be done, and what is known from before.

    Attributes:
        run: before anything is done.
        tasks: to do.
        relabelled: names of recordings whose row is kept, but has another layout, arm, tool or time now.
        sources: by name.
        earlier: rows that may turn out to be the same.
    """

    run: FleetRun
    tasks: list[Task]
    relabelled: list[str]
    sources: Mapping[str, Source]
    earlier: EarlierRows

    @classmethod
    def of(cls, sources: list[Source], table: FleetTable, settings: FleetSettings) -> RunPlan:
        """Compare what a store has with what a table has."""
        rows: dict[str, Mapping[str, Any]] = {}
        if table.exists:
            rows = {row["source"]: row for row in table.rows(_PLANNED_BY)}
        options = functools.cache(options_of)
        wanted = options(settings.text)
        tasks, touched, kept, relabelled, others = [], [], [], [], 0
        for source in sources:
            row = rows.get(source.name)
            if row is None or options(row["settings"]) != wanted or _again(row):
                tasks.append(Task(source))
            elif row["stamp"] != source.stamp:
                tasks.append(Task(source, row["checksum"] or ""))
                touched.append(source.name)
            else:
                kept.append(row)
                now = labelled(row, source, settings)
                if now != row:
                    relabelled.append(source.name)
                    others += any(now[name] != row[name] for name in _LABELS)
        named = {source.name: source for source in sources}
        gone = [row for name, row in rows.items() if name not in named]
        run = FleetRun(
            found=len(sources),
            kept=len(kept),
            done=0,
            errors=0,
            relabelled=others,
            other_versions=sum(row["version"] != iparam.__version__ for row in kept),
            gone=tuple(row["source"] for row in gone),
            gone_otherwise=sum(options(row["settings"]) != wanted for row in gone),
            remarks=(),
            seconds=0.0,
        )
        return cls(run, tasks, relabelled, named, EarlierRows(table, {*touched, *relabelled}))


class EarlierRows:
    """Whole rows of a table, as they are now, a few at a time: as Python's objects they take ten times the memory."""

    def __init__(self, table: FleetTable, names: Collection[str]) -> None:
        rows = table.read() if names else SCHEMA.empty_table()
        places = [place for place, name in enumerate(rows["source"].to_pylist()) if name in names]
        self._rows = rows.take(pa.array(places, pa.int64()))
        self._places = {name: place for place, name in enumerate(self._rows["source"].to_pylist())}

    def row(self, name: str) -> dict[str, Any]:
        """The row of a recording."""
        (found,) = self._rows.slice(self._places[name], 1).to_pylist()
        return dict(found)

    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows of recordings."""
        for first in range(0, len(names), ROWS_A_PIECE):
            places = [self._places[name] for name in names[first : first + ROWS_A_PIECE]]
            yield from self._rows.take(pa.array(places, pa.int64())).to_pylist()


def labelled(row: Mapping[str, Any], source: Source, settings: FleetSettings) -> dict[str, Any]:
    """A row that says whose the recording is as the layout, and the store's time, have it now."""
    labels = label_columns(settings.layout, source, Labels.of_row(row))
    return {**row, **labels, "settings": settings.text}


def _again(row: Mapping[str, Any]) -> bool:
    """Whether the error of a row need not come again."""
    kind = row["error_kind"]
    return kind in AGAIN or (kind == BUG and row["version"] != iparam.__version__)
