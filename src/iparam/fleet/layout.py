"""`Layout`: what the parts of a recording's name mean: which arm, which tool, when."""

from __future__ import annotations

import contextlib
import datetime
import re
from dataclasses import dataclass

from iparam.errors import InputError

FIELDS = ("arm", "tool", "time")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}|(\*\*?)|(\?)")
_DIGITS = re.compile(r"\D+")


@dataclass(frozen=True)
class Labels:
    """What a name says: ``arm`` and ``tool`` ("" if it does not), and when it was recorded."""

    arm: str = ""
    tool: str = ""
    recorded: datetime.datetime | None = None


@dataclass(frozen=True)
class Layout:
    """A pattern of names, such as ``{arm}/{tool}/{time}.parquet``; ``*`` is any text without a slash.

    Attributes:
        text: the pattern; it is compared with the end of a name.
    """

    text: str

    def __post_init__(self) -> None:
        named = [match[1] for match in _PLACEHOLDER.finditer(self.text) if match[1] is not None]
        unknown = [name for name in named if name not in FIELDS]
        if unknown or not named or len(set(named)) < len(named):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            example = "{arm}/{tool}/{time}.parquet"
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

    def labels(self, name: str) -> Labels:
        """What the name of a source says; nothing where it does not fit the pattern."""
        match = self.expression().fullmatch(name)
        if match is None:
            return Labels()
        found = match.groupdict()
        return Labels(found.get("arm", ""), found.get("tool", ""), _moment(found.get("time", "")))


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
