"""`Series`: the loads of one robot, arm and tool over time; and recordings that differ from the fleet's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.fleet.summary import USABLE

COMPARED = ("mass", "center_of_mass_x", "center_of_mass_y", "center_of_mass_z")
BIAS = ("bias_fx", "bias_fy", "bias_fz", "bias_tx", "bias_ty", "bias_tz")
_NUMBERS = (*COMPARED, *(f"{name}_deviation" for name in COMPARED), *BIAS)
HISTORY_COLUMNS = ["robot", "arm", "tool", "checksum", "verdict", "recorded", "recorded_from", *_NUMBERS]
"""Of the table, that histories need."""

FEWEST = 4
"""Recordings from which on a load has a history."""

FAR = 5.0
"""Scatters from the median of the same robot and tool from which on a recording is an outlier."""

_MAD = 1.4826


@dataclass(frozen=True, eq=False)
class Series:
    """The usable recordings of one robot, arm and tool, by time.

    Attributes:
        robot, arm, tool: whose.
        sources: names of the recordings.
        times: when they were recorded [s since 1970].
        values, deviations: (n, 4) of `COMPARED` [kg, m].
        bias: (n, 6) of the sensor [N, N m]; NaN where it was not estimated.
    """

    robot: str
    arm: str
    tool: str
    sources: tuple[str, ...]
    times: FloatArray
    values: FloatArray
    deviations: FloatArray
    bias: FloatArray

    @property
    def label(self) -> str:
        """Robot, arm and tool in one line."""
        return " ".join(part for part in (self.robot, self.arm, self.tool) if part) or "unnamed"


@dataclass(frozen=True)
class Outlier:
    """A recording that differs from those of the same robot and tool, and how."""

    source: str
    label: str
    sentence: str


def series_of(rows: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The histories in a table; what is refuted, has an error or no time is left out, and a copy of what is in it."""
    groups: dict[tuple[str, str, str], dict[str, tuple[float, str, FloatArray]]] = {}
    for row in rows:
        if row["verdict"] in USABLE and row["recorded"] is not None and all(row[name] is not None for name in COMPARED):
            members = groups.setdefault((row["robot"] or "", row["arm"] or "", row["tool"] or ""), {})
            numbers = np.array([np.nan if row.get(name) is None else row[name] for name in _NUMBERS])
            member = (row["recorded"].timestamp(), row["source"], numbers)
            contents = row.get("checksum") or row["source"]
            members[contents] = min(members.get(contents, member), member, key=lambda one: one[:2])
    found = []
    for key, of_key in sorted(groups.items()):
        ordered = sorted(of_key.values(), key=lambda one: one[:2])
        table = np.array([numbers for _, _, numbers in ordered])
        values, deviations, bias = np.split(table, [len(COMPARED), 2 * len(COMPARED)], axis=1)
        times = np.array([time for time, _, _ in ordered])
        found.append(Series(*key, tuple(source for _, source, _ in ordered), times, values, deviations, bias))
    return found


def dated_series_of(rows: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The histories of recordings whose time is stated by themselves or by their names.

    That of a file is when it was copied last: recordings in that order would show changes that nothing has made.
    """
    return series_of(row for row in rows if row["recorded_from"] != "store")


def fleets_of(series: Sequence[Series]) -> dict[tuple[str, str], list[Series]]:
    """The arms that are compared with each other, by robot and tool: those with enough recordings between them."""
    fleets: dict[tuple[str, str], list[Series]] = {}
    for one in sorted(series, key=lambda one: (one.robot, one.tool)):
        fleets.setdefault((one.robot, one.tool), []).append(one)
    return {kind: members for kind, members in fleets.items() if sum(len(one.times) for one in members) >= FEWEST}


def outliers_of(series: Sequence[Series]) -> list[Outlier]:
    """Recordings far from the median of their robot and tool, whichever arm they are of."""
    found = []
    for members in fleets_of(series).values():
        values = np.concatenate([one.values for one in members])
        deviations = np.concatenate([one.deviations for one in members])
        sources = [(one, source) for one in members for source in one.sources]
        middle = np.median(values, axis=0)
        scatter = np.hypot(_MAD * np.median(np.abs(values - middle), axis=0), deviations)
        distances = np.abs(values - middle) / scatter
        for place in np.flatnonzero((distances > FAR).any(axis=1)):
            worst = int(np.argmax(distances[place]))
            one, source = sources[place]
            found.append(
                Outlier(
                    source,
                    one.label,
                    f"{name_of(worst)} {shown(worst, values[place, worst])}, the fleet's median is "
                    f"{shown(worst, middle[worst])}: {distances[place, worst]:.1f} scatters away",
                )
            )
    return found


def name_of(column: int) -> str:
    """What messages call a column of `COMPARED`."""
    return "the mass" if column == 0 else f"the centre of mass along {'xyz'[column - 1]}"


def shown(column: int, value: float, *, sign: bool = False) -> str:
    """A value of that column with its unit [kg, m]."""
    mark = "+" if sign else ""
    return f"{value:{mark}.4g} kg" if column == 0 else f"{1e3 * value:{mark}.4g} mm"
