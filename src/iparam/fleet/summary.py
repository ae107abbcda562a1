"""A fleet's table in a few lines: by robot and tool, and why recordings were not usable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

USABLE = ("good", "usable")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")
_BYTES = re.compile(r"b'[^']*'")
_Counted = tuple[str | None, bool, tuple[float, float | None] | None]
"""Of a row: its verdict, whether it has an error, and the mass with its deviation if they count."""


@dataclass(frozen=True)
class Group:
    """The recordings of one robot and tool.

    Attributes:
        robot: the model of the arm.
        arm: which one of them; "" if nothing says so.
        tool: what it carried; "" if nothing says so.
        recordings: all of them.
        good, usable, refuted, errors: how many are what.
        mass: median of those that are good or usable, each of several copies once [kg]; NaN if none is.
        mass_deviation: median of their standard deviations [kg].
        mass_scatter: of the masses from recording to recording, as a standard deviation, by the median absolute
            deviation [kg]; NaN for fewer than three.
    """

    robot: str
    arm: str
    tool: str
    recordings: int
    good: int
    usable: int
    refuted: int
    errors: int
    mass: float
    mass_deviation: float
    mass_scatter: float


@dataclass(frozen=True)
class FleetSummary:
    """The table in numbers.

    Attributes:
        groups: by robot, arm and tool.
        causes: slugs of causes, most frequent first, and in how many recordings.
        errors: errors that differ in names and numbers only, as the first of them has it, most frequent first, and
            in how many recordings.
        copies: names of recordings that have the same contents, each group once.
    """

    groups: tuple[Group, ...]
    causes: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]
    copies: tuple[tuple[str, ...], ...]


SUMMARY_COLUMNS = [
    "checksum", "robot", "arm", "tool", "verdict", "error", "causes", "mass", "mass_deviation",
]  # fmt: skip
"""Of the table, that `summarize` needs."""


def summarize(rows: Iterable[Mapping[str, Any]]) -> FleetSummary:
    """Count the rows of a table."""
    groups: dict[tuple[str, str, str], list[_Counted]] = {}
    causes: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    examples: dict[str, str] = {}
    contents: dict[str, list[str]] = {}
    counted: set[tuple[tuple[str, str, str], str]] = set()
    for row in rows:
        causes.update(set(row["causes"] or ()))
        key = (row["robot"] or "", row["arm"] or "", row["tool"] or "")
        counts = row["verdict"] in USABLE and row["mass"] is not None
        if row["error"] is not None:
            kind = _kind_of(row["error"], row["source"])
            errors[kind] += 1
            examples.setdefault(kind, _with_name(row["error"], row["source"]))
        elif row["checksum"] is not None:
            contents.setdefault(row["checksum"], []).append(row["source"])
            counts = counts and (key, row["checksum"]) not in counted
            counted.add((key, row["checksum"]))
        mass = (row["mass"], row["mass_deviation"]) if counts else None
        groups.setdefault(key, []).append((row["verdict"], row["error"] is not None, mass))
    made = tuple(_group(key, members) for key, members in sorted(groups.items()))
    told = tuple((examples[kind], count) for kind, count in errors.most_common())
    copies = tuple(tuple(names) for names in contents.values() if len(names) > 1)
    return FleetSummary(made, tuple(causes.most_common()), told, copies)


def _group(key: tuple[str, str, str], rows: list[_Counted]) -> Group:
    verdicts = Counter(verdict for verdict, _, _ in rows)
    sound = np.array([mass for _, _, mass in rows if mass is not None], dtype=np.float64).reshape(-1, 2)
    masses, deviations = sound.T
    middle = float(np.median(masses)) if masses.size else float("nan")
    return Group(
        *key,
        recordings=len(rows),
        good=verdicts["good"],
        usable=verdicts["usable"],
        refuted=verdicts["refuted"],
        errors=sum(has_error for _, has_error, _ in rows),
        mass=middle,
        mass_deviation=float(np.median(deviations)) if masses.size else float("nan"),
        mass_scatter=1.4826 * float(np.median(np.abs(masses - middle))) if masses.size >= 3 else float("nan"),
    )


def _kind_of(error: str, source: str) -> str:
    """An error without what belongs to one recording only: its name and its numbers."""
    text = error.replace(source, "").replace(source.rpartition("/")[2], "")
    return _NUMBER.sub("0", _BYTES.sub("b''", text))


def _with_name(error: str, source: str) -> str:
    return error if source in error else f"{source}: {error}"
