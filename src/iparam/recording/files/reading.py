"""How a file is to be read where it does not say so itself: which columns are which signals, the unit of its time, and
the part of it that is wanted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from iparam.errors import InputError, UnknownNameError
from iparam.recording.channels import CHANNELS, IGNORED, check_name, column_names, signal_of_column
from iparam.recording.files.headers import Headers, bare_header, read_headers, unit_of_header, with_usual_names
from iparam.recording.units import UNITS

TimeUnit = Literal["s", "ms", "us", "ns", "min"]

ColumnNames = str | Mapping[str, str | Sequence[str]]
"""Signals or columns of a recording, and the headers that a file has for them."""

_ROWS = re.compile(r"(-?\d{1,15})?:(-?\d{1,15})?(?::(\d{1,15}))?")
_MOST_LISTED = 100
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class ColumnMap:
    """What the headers of a file mean.

    Attributes:
        entries: a signal (``q``), a column (``q0``, ``fx``) or ``time``, and the headers for it: names, or patterns in
            which * stands for any text and ? for a character. Columns that a pattern matches come in natural order:
            pos_2 before pos_10.
    """

    entries: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def parse(cls, given: ColumnNames) -> ColumnMap:
        """From ``"q=pos_*,tau=effort_1,effort_2"``, or a mapping of names to one header, pattern or several."""
        if isinstance(given, str):
            pairs = _pairs(given)
        elif isinstance(given, Mapping):
            pairs = [(name, [value] if isinstance(value, str) else list(value)) for name, value in given.items()]
        else:
            raise InputError(argument="map", problem=f"must be a text or a mapping, got {type(given).__name__}")
        names = [name for name, _ in pairs]
        for name, patterns in pairs:
            if name != "time" and signal_of_column(str(name)) is None:
                check_name(name)
            if names.count(name) > 1:
                raise InputError(argument="map", problem=f"names {name} more than once: list its headers in one entry")
            if not patterns or not all(isinstance(pattern, str) and pattern for pattern in patterns):
                raise InputError(argument="map", problem=f"has no header for {name}: write e.g. '{name}=pos_*'")
        if not pairs:
            raise InputError(argument="map", problem="is empty: write e.g. 'q=pos_*,tau=effort_*'")
        return cls(tuple((name, tuple(patterns)) for name, patterns in pairs))

    def assign(self, headers: Sequence[str], source: str) -> dict[str, list[int]]:
        """For each entry the places of its headers, in the order of its components.

        Args:
            headers: of the file.
            source: the file, for messages.
        """
        found: dict[str, list[int]] = {}
        taken: dict[int, str] = {}
        for name, patterns in self.entries:
            found[name] = []
            for pattern in patterns:
                places = _matches(pattern, headers)
                if not places:
                    raise InputError(
                        argument="map",
                        problem=f"'{name}={pattern}' matches no column of {source}; its columns: {_listed(headers)}",
                    )
                for place in places:
                    if place in taken:
                        raise InputError(
                            argument="map",
                            problem=(
                                f"takes the column {headers[place]!r} of {source} for both {taken[place]} and {name}; "
                                f"its columns: {_listed(headers)}"
                            ),
                        )
                    taken[place] = name
                found[name] += places
        return found

    def renamed(self, headers: Sequence[str], source: str) -> Headers:
        """The columns of a table by the names that a recording has for them; those that are replaced are ignored."""
        assigned = self.assign(headers, source)
        taken = {place for places in assigned.values() for place in places}
        own = read_headers([IGNORED if place in taken else header for place, header in enumerate(headers)], source)
        names = [IGNORED if self.replaces(name) else name for name in own.names]
        units = {name: unit for name, unit in own.units.items() if not self.replaces(name)}
        for name, places in assigned.items():
            columns = mapped_columns(name, len(places), [headers[place] for place in places])
            for place, column in zip(places, columns, strict=True):
                names[place] = column
                if unit := unit_of_header(column, headers[place], source):
                    units[column] = unit
        return Headers(tuple(names), units)

    def replaces(self, header: str) -> bool:
        """Whether the map says where to find what a header of that name would mean."""
        place = signal_of_column(header)
        names = {header} if place is None else {header, place[0]}
        return any(name in names for name, _ in self.entries)


def mapped_columns(name: str, width: int, headers: Sequence[str]) -> list[str]:
    """The columns of a recording for an entry of a `ColumnMap` to which ``width`` columns of a file belong."""
    if name == "time" or signal_of_column(name) is not None:
        expected, columns = 1, [name]
    else:
        fixed = CHANNELS[name].columns if name in CHANNELS else ()
        expected = len(fixed) or width
        columns = column_names(name, expected)
    if width != expected:
        raise InputError(
            argument="map",
            problem=f"gives {width} columns to {name}, which has {expected} ({', '.join(columns)}): {_listed(headers)}",
        )
    return columns


@dataclass(frozen=True)
class Reading:
    """What the reader of a file says about it.

    Attributes:
        columns: of a table without header.
        names: what the headers mean, None for what they say.
        time_unit: of the time; None for seconds, checked.
        rows: the rows that are wanted, None for all.
        time_range: the times that are wanted, both ends included [s], None for all.
    """

    columns: str | Sequence[str] | None = None
    names: ColumnMap | None = None
    time_unit: TimeUnit | None = None
    rows: slice | None = None
    time_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.columns is not None and self.names is not None:
            raise InputError(
                argument="columns",
                problem="is for a table without header, and map for one with headers: leave out one",
            )
        if self.time_unit is not None and self.time_unit not in get_args(TimeUnit):
            raise UnknownNameError("time unit", self.time_unit, get_args(TimeUnit), argument="time_unit")

    @classmethod
    def of(
        cls,
        columns: str | Sequence[str] | None,
        names: ColumnNames | None,
        time_unit: TimeUnit | None,
        rows: str | slice | None,
        time_range: Sequence[float] | None,
    ) -> Reading:
        """From the arguments of `Recording.load`."""
        return cls(
            columns,
            None if names is None else ColumnMap.parse(names),
            time_unit,
            None if rows is None else _row_slice(rows),
            None if time_range is None else _time_range(time_range),
        )

    @property
    def seconds(self) -> float:
        """A unit of the time [s]."""
        return UNITS["time"][self.time_unit or "s"]

    def headers(self, headers: Sequence[str], source: str) -> Headers:
        """What the headers of a table mean, by themselves or by what its reader says."""
        own = read_headers(headers, source) if self.names is None else self.names.renamed(headers, source)
        return with_usual_names(own, headers, source)


def _row_slice(rows: str | slice) -> slice:
    """``"A:B"``, ``"A:"``, ``":B"``, ``"A:B:STEP"``, or a slice, as Python counts: from 0, without B."""
    if isinstance(rows, slice):
        parts: Sequence[Any] = (rows.start, rows.stop, rows.step)
        if all(part is None or (isinstance(part, int) and not isinstance(part, bool)) for part in parts):
            if rows.step is None or rows.step > 0:
                return rows
            raise InputError(argument="rows", value=rows, expected="a range with a step of at least 1")
    elif isinstance(rows, str) and (match := _ROWS.fullmatch(rows.strip())):
        first, last, step = (None if part is None else int(part) for part in match.groups())
        if step != 0:
            return slice(first, last, step)
    expected = "a range such as '0:30000', '30000:' or '::5' (from, up to, every)"
    raise InputError(argument="rows", value=rows, expected=expected)


def _time_range(given: Sequence[float]) -> tuple[float, float]:
    try:
        start, stop = (float(value) for value in given)
    except (TypeError, ValueError):
        raise InputError(argument="time_range", value=given, expected="two times [s]") from None
    if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
        raise InputError(argument="time_range", problem=f"needs a start before its end, got {start:g} and {stop:g} s")
    return start, stop


def _pairs(text: str) -> list[tuple[str, list[str]]]:
    """The entries of a text; what has no = belongs to the entry before it."""
    pairs: list[tuple[str, list[str]]] = []
    for part in (piece.strip() for piece in text.split(",")):
        name, equals, pattern = part.partition("=")
        if equals:
            pairs.append((name.strip(), [pattern.strip()]))
        elif pairs and part:
            pairs[-1][1].append(part)
        else:
            raise InputError(argument="map", value=text, expected="entries such as 'q=pos_*,tau=effort_*'")
    return pairs


def _matches(pattern: str, headers: Sequence[str]) -> list[int]:
    """The places of the headers that a pattern matches, in natural order: one that is the pattern, letter by letter,
    before others, and a whole header before one without its unit.
    """
    form = re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)
    bare = [bare_header(header)[0] for header in headers]
    for names in (headers, bare):
        exact = [place for place, name in enumerate(names) if name == pattern]
        if exact:
            return exact
    for names in (headers, bare):
        found = [place for place, name in enumerate(names) if form.fullmatch(name)]
        if found:
            return sorted(found, key=lambda place: _natural(headers[place]))
    return []


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that orders numbers in names by their value."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]


def _listed(headers: Sequence[str]) -> str:
    more = f" and {len(headers) - _MOST_LISTED} more" if len(headers) > _MOST_LISTED else ""
    return ", ".join(headers[:_MOST_LISTED]) + more
