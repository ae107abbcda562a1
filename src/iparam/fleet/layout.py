"""`Layout`: what the parts of a recording's name mean; `label_columns`: whose it is, by name, recording and store."""

from __future__ import annotations

import contextlib
import datetime
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iparam.errors import InputError
from iparam.fleet.stores import SUFFIXES, Source

FIELDS = ("arm", "tool", "time")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}|(\*\*?)|(\?)")
_DIGITS = re.compile(r"\D+")
_MOST_NAMED = 3


@dataclass(frozen=True)
class Labels:
    """What a name or a recording says: ``arm`` and ``tool`` ("" if it does not), and when it was recorded."""

    arm: str = ""
    tool: str = ""
    recorded: datetime.datetime | None = None

    @classmethod
    def stated(cls, metadata: Mapping[str, Any]) -> Labels:
        """What a recording states itself; a time is UTC unless it says."""
        when = None
        if isinstance(metadata.get("recorded"), str):
            with contextlib.suppress(ValueError):
                when = datetime.datetime.fromisoformat(metadata["recorded"])
                when = when if when.tzinfo is not None else when.replace(tzinfo=datetime.UTC)
        arm = _text(metadata.get("arm")) or _text(metadata.get("serial_number"))
        return cls(arm, _text(metadata.get("tool")), when)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Labels:
        """What the recording of a row stated itself."""
        return cls(row["stated_arm"] or "", row["stated_tool"] or "", row["stated_recorded"])

    @property
    def columns(self) -> dict[str, Any]:
        """What the table keeps of it, so that another layout needs no recording to be read again."""
        return {
            "stated_arm": self.arm or None,
            "stated_tool": self.tool or None,
            "stated_recorded": self.recorded,
        }


@dataclass(frozen=True)
class Layout:
    """A pattern of names, such as ``{arm}/{tool}/{time}``; ``*`` is any text without a slash.

    Attributes:
        text: the pattern; it is compared with the end of a name. One without a recording's suffix fits all of them.
    """

    text: str

    def __post_init__(self) -> None:
        named = [match[1] for match in _PLACEHOLDER.finditer(self.text) if match[1] is not None]
        unknown = [name for name in named if name not in FIELDS]
        if unknown or not named or len(set(named)) < len(named):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            example = "{arm}/{tool}/{time}"
            raise InputError(f"layout= must name some of {known}, each once, e.g. {example!r}; got {self.text!r}")
        _ = self.expression  # compiled once, here

    @functools.cached_property
    def expression(self) -> re.Pattern[str]:
        """The pattern as a regular expression."""
        parts, end = [], 0
        for match in _PLACEHOLDER.finditer(self.text):
            parts.append(re.escape(self.text[end : match.start()]))
            end = match.end()
            if match[1] is not None:
                parts.append(f"(?P<{match[1]}>[^/]+?)")
            else:
                parts.append(".*" if match[2] == "**" else "[^/]*" if match[2] else "[^/]")
        parts.append(re.escape(self.text[end:]))
        return re.compile(f"(?:.*?/)??{''.join(parts)}")

    def labels(self, name: str) -> Labels | None:
        """What the name of a source says; None where it does not fit the pattern."""
        match = self.expression.fullmatch(_without_suffix(name)) or self.expression.fullmatch(name)
        if match is None:
            return None
        found = match.groupdict()
        return Labels(found.get("arm", ""), found.get("tool", ""), _moment(found.get("time", "")))

    def remarks(self, names: Sequence[str]) -> list[str]:
        """What is to be said of names that do not fit, or whose time is none.

        Raises:
            InputError: none fits.
        """
        found = {name: self.labels(name) for name in names}
        misfits = [name for name, labels in found.items() if labels is None]
        said = f"layout={self.text!r}"
        if misfits and len(misfits) == len(names):
            raise InputError(f"{said} fits none of the recordings: {_listed(misfits)}{self._way_out(misfits)}")
        remarks = []
        if misfits:
            whose = "it has" if len(misfits) == 1 else "these have"
            remarks.append(
                f"{said} does not fit {len(misfits)} of {len(names)} recordings, {_listed(misfits)}: {whose} the arm, "
                f"tool and time of the recording's own metadata, or none{self._way_out(misfits)}"
            )
        undated = [name for name, labels in found.items() if labels is not None and labels.recorded is None]
        if undated and "{time}" in self.text:
            whose = "it has" if len(undated) == 1 else "these have"
            remarks.append(
                f"the {{time}} of {said} is no date in {len(undated)} of {len(names)} recordings, {_listed(undated)}: "
                f"{whose} the time of the recording's own metadata, or that of the file"
            )
        return remarks

    def _way_out(self, misfits: Sequence[str]) -> str:
        """What would fit names that differ in their suffix only."""
        shorter = _without_suffix(self.text)
        if shorter == self.text or any(Layout(shorter).labels(name) is None for name in misfits):
            return ""
        return f"; {shorter!r}, without a suffix, fits all"


def label_columns(layout: Layout | None, source: Source, stated: Labels) -> dict[str, Any]:
    """The columns that say whose a recording is: by its name, else by what it states, the time else by the store."""
    named = (None if layout is None else layout.labels(source.name)) or Labels()
    stored = None if source.modified is None else datetime.datetime.fromtimestamp(source.modified, datetime.UTC)
    times = ((named.recorded, "name"), (stated.recorded, "recording"), (stored, "store"))
    when, origin = next(((when, origin) for when, origin in times if when is not None), (None, None))
    return {
        "arm": named.arm or stated.arm or None,
        "tool": named.tool or stated.tool or None,
        "recorded": when,
        "recorded_from": origin,
    }


def _text(value: object) -> str:
    return str(value)[:200] if value else ""


def _without_suffix(name: str) -> str:
    """A name without the suffix of a recording, if it has one."""
    found = [suffix for suffix in SUFFIXES if name.lower().endswith(suffix)]
    return name[: -max(map(len, found))] if found else name


def _listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _moment(text: str) -> datetime.datetime | None:
    """A time in a name: ISO 8601, or its digits from the year on with whatever between them; UTC unless it says."""
    if not text:
        return None
    with contextlib.suppress(ValueError):
        found = datetime.datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
    digits = _DIGITS.sub("", text)[:14]
    for size, form in ((14, "%Y%m%d%H%M%S"), (12, "%Y%m%d%H%M"), (8, "%Y%m%d")):
        if len(digits) >= size:
            with contextlib.suppress(ValueError):
                return datetime.datetime.strptime(digits[:size], form).replace(tzinfo=datetime.UTC)
    return None
