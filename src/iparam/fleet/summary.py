"""A fleet's table in a few lines: by robot and tool, and why recordings were not usable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.estimation.estimate import DERIVED_NAMES

USABLE = ("good", "usable")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")
_BYTES = re.compile(r"b'[^']*'")


@dataclass(frozen=True)
class Group:
    """The recordings of one robot and tool.

    Attributes:
        robot: the model of the arm.
        arm: which one of them; "" if nothing says so.
        tool: what it carried; "" if nothing says so.
        recordings: all of them.
        good, usable, refuted, errors: how many are what.
        mass: median of those that are good or usable [kg]; NaN if none is.
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
    """

    groups: tuple[Group, ...]
    causes: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]


SUMMARY_COLUMNS = [
    "robot", "arm", "tool", "verdict", "error", "causes", *DERIVED_NAMES[:1], f"{DERIVED_NAMES[0]}_deviation",
]  # fmt: skip
"""Of the table, that `summarize` needs."""


def summarize(rows: Iterable[Mapping[str, Any]]) -> FleetSummary:
    """Count the rows of a table."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    causes: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for row in rows:
        key = (row["robot"] or "", row["arm"] or "", row["tool"] or "")
        groups.setdefault(key, []).append(row)
        causes.update(set(row["causes"] or ()))
        if row["error"] is not None:
            kind = _kind_of(row["error"], row["source"])
            errors[kind] += 1
            examples.setdefault(kind, _with_name(row["error"], row["source"]))
    made = tuple(_group(key, members) for key, members in sorted(groups.items()))
    told = tuple((examples[kind], count) for kind, count in errors.most_common())
    return FleetSummary(made, tuple(causes.most_common()), told)


def _group(key: tuple[str, str, str], rows: list[Mapping[str, Any]]) -> Group:
    verdicts = Counter(row["verdict"] for row in rows)
    sound = [row for row in rows if row["verdict"] in USABLE and row["mass"] is not None]
    masses = np.array([row["mass"] for row in sound])
    deviations = np.array([row["mass_deviation"] for row in sound], dtype=np.float64)
    middle = float(np.median(masses)) if masses.size else float("nan")
    return Group(
        *key,
        recordings=len(rows),
        good=verdicts["good"],
        usable=verdicts["usable"],
        refuted=verdicts["refuted"],
        errors=sum(row["error"] is not None for row in rows),
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
