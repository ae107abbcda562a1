"""`Layout`: what the parts of a recording's name mean: which arm, which tool, when."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from iparam.errors import InputError
from iparam.fleet.stores import SUFFIXES

FIELDS = ("arm", "tool", "time")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}|(\*\*?)|(\?)")
_DIGITS = re.compile(r"\D+")
_MOST_NAMED = 3


@dataclass(frozen=True)
class Labels:
    """What a name says: ``arm`` and ``tool`` ("" if it does not), and when it was recorded."""

    arm: str = ""
    tool: str = ""
    recorded: datetime.datetime | None = None


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
        self.expression()

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
        expression = self.expression()
        match = expression.fullmatch(_without_suffix(name)) or expression.fullmatch(name)
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
            remarks.append(
                f"{said} does not fit {len(misfits)} of {len(names)} recordings, {_listed(misfits)}: these have the "
                f"arm, tool and time that they state themselves, or none{self._way_out(misfits)}"
            )
        undated = [name for name, labels in found.items() if labels is not None and labels.recorded is None]
        if undated and "{time}" in self.text:
            remarks.append(
                f"the {{time}} of {said} is no date in {len(undated)} of {len(names)} recordings, {_listed(undated)}: "
                "these have the time that they state themselves, or that of the file"
            )
        return remarks

    def _way_out(self, misfits: Sequence[str]) -> str:
        """What would fit names that differ in their suffix only."""
        shorter = _without_suffix(self.text)
        if shorter == self.text or any(Layout(shorter).labels(name) is None for name in misfits):
            return ""
        return f"; {shorter!r}, without a suffix, fits all"


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
