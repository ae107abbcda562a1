"""The tables of `bench_independent.py`: the claims of a set of rows, and what differs between two sets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]
TRUSTED = ("good", "usable")
FAR = 4.0
"""Standard deviations by which a number that is called good or usable may be off."""

NEAR, CLOSE = 2.0, 0.05
"""Standard deviations, and share of the mass, within which a result that is refused would have been right."""

HALF_95 = 1.96

OWN = {
    "hysteretic": ("hysteresis",),
    "elastic": ("elasticity", "joint-offset"),
    "tilted": ("gravity-direction",),
    "low-pass": ("low-pass", "delay"),
    "jitter": ("stamps-scatter",),
}
"""Causes that a sound case has, and may be told."""

MOUNTING = {"sensor-rotation", "sensor-offset", "sensor-gain", "gravity-direction", "joint-offset", "delay"}
"""Causes that lie within the tolerances of a rig that is not exact."""


def is_trusted(row: Row) -> bool:
    return row["verdict"] in TRUSTED


def is_wrong_and_confident(row: Row) -> bool:
    return is_trusted(row) and row["error"] > FAR


def is_needlessly_refused(row: Row) -> bool:
    """Mass and centre of mass are within 2 standard deviations, and the mass within 5 %."""
    if row["verdict"] != "refuted" or not row["mass_error"] <= CLOSE:
        return False
    return bool(np.nanmax(np.abs(errors(row))[:4]) <= NEAR)


def errors(row: Row) -> np.ndarray:
    """(10,) in stated standard deviations; NaN where a number is not determined."""
    return (np.array(row["value"]) - row["truth"]) / np.array(row["sd"])


def widths(row: Row) -> np.ndarray:
    """(10,) stated standard deviations over the oracle's."""
    return np.array(row["sd"]) / np.array(row["oracle_sd"])


def is_faultless(row: Row) -> bool:
    """Stationary noise, and a rig that is exactly as stated."""
    alone = not {"elastic", "tilted", "low-pass", "jitter"} & set(row["features"].split())
    return row["group"] in ("white", "1/f", "quantised") and row["preset"] == "exact" and alone


def is_clean(row: Row) -> bool:
    """White noise, nothing else, and a rig that is exactly as stated, in motion."""
    return is_faultless(row) and row["group"] == "white" and "static-poses" not in row["features"].split()


def rms_over_oracle(rows: Sequence[Row], of: str = "value") -> float:
    """Root mean square of the errors over that of the oracle's, both in the oracle's standard deviations."""
    off = [[(np.array(row[key]) - row["truth"]) / row["oracle_sd"] for row in rows] for key in (of, "oracle")]
    return float(np.sqrt(np.nanmean(np.square(off[0])) / np.nanmean(np.square(off[1])))) if rows else math.nan


def is_accused(row: Row) -> bool:
    """Refuted, or said to have what it does not have; what is off within tolerances may be named."""
    own = {cause for name in (row["group"], *row["features"].split()) for cause in OWN.get(name, ())}
    own |= set() if row["preset"] == "exact" else MOUNTING
    return row["verdict"] == "refuted" or bool(set(row["causes"]) - own)


def claims_of_random(rows: Sequence[Row]) -> list[list[str]]:
    trusted = [row for row in rows if is_trusted(row)]
    z = np.concatenate([errors(row) for row in trusted]) if trusted else np.array([])
    plain = [(np.array(row["textbook"]) - row["truth"]) / row["textbook_sd"] for row in rows]
    clean = [row for row in rows if is_clean(row)]
    table = [
        _counted("trusted, and more than 4 sd off", rows, is_wrong_and_confident, "1 %"),
        *(
            _counted(f"... {preset}", [row for row in rows if row["preset"] == preset], is_wrong_and_confident, "")
            for preset in ("exact", "calibrated", "lab")
        ),
        ["... the textbook's", str(len(plain)), str(sum(np.abs(one).max() > FAR for one in plain)), ""],
        _counted("refused, though within 2 sd and 5 %", rows, is_needlessly_refused, "1 %"),
        _counted("stopped with an error", rows, lambda row: row["verdict"] == "error", "0"),
        ["coverage, trusted", str(np.isfinite(z).sum()), _share(np.abs(z[np.isfinite(z)]) <= HALF_95), "93-97 %"],
        ["coverage, the oracle", "", _oracle_coverage(rows), "95 %"],
        _counted("accused of what they do not have, or refuted", rows, is_accused, "1 %"),
        _counted("... without any fault", [row for row in rows if is_faultless(row)], is_accused, "1 %"),
        *(
            ["width over the oracle's, " + name, str(len(own)), _median(own), goal]
            for name, own, goal in (
                ("clean", clean, "1.05"),
                ("1/f", [row for row in rows if row["group"] == "1/f"], "1.5"),
                ("elastic", [row for row in rows if "elastic" in row["features"].split()], ""),
            )
        ),
        ["width over the oracle's, p90 of all", str(len(rows)), f"{_quantile(rows, 0.9):.2f}", "5"],
        ["error over the oracle's, clean", str(len(clean)), f"{rms_over_oracle(clean):.2f}", "1.02"],
        ["... the textbook's", str(len(clean)), f"{rms_over_oracle(clean, 'textbook'):.2f}", ""],
    ]
    return [*table, *claims_of_model(rows), _seconds(rows)]


def claims_of_model(rows: Sequence[Row]) -> list[list[str]]:
    """What one linear model with a free spectrum would make of the same recordings, those in motion."""
    own = [row | {"value": row["model"], "sd": row["model_sd"]} for row in rows if np.isfinite(row["model"]).all()]
    if not own:
        return []
    off = np.abs(np.concatenate([errors(row) for row in own]))
    elastic = [row for row in own if "elastic" in row["features"].split()]
    clean, pink = [row for row in own if is_clean(row)], [row for row in own if row["group"] == "1/f"]
    return [
        [
            "free spectrum: more than 4 sd off",
            str(len(own)),
            str(sum(np.abs(errors(row)).max() > FAR for row in own)),
            "",
        ],
        ["... coverage", str(off.size), _share(off <= HALF_95), "93-97 %"],
        ["... width, clean", str(len(clean)), _median(clean), "1.05"],
        ["... width, 1/f", str(len(pink)), _median(pink), "1.5"],
        ["... width, elastic", str(len(elastic)), _median(elastic), ""],
        ["... width, p90 of all", str(len(own)), f"{_quantile(own, 0.9):.2f}", "5"],
        ["... error, clean", str(len(clean)), f"{rms_over_oracle(clean):.2f}", "1.02"],
    ]


def claims_of_mistakes(rows: Sequence[Row]) -> list[list[str]]:
    """Of logs in which something is wrong."""
    told = [row for row in rows if not (is_trusted(row) and row["error"] <= FAR)]
    followed, named = [row for row in told if row["fixed_verdict"]], any(row["rank"] for row in rows)
    table = [
        _counted("wrong and confident", rows, is_wrong_and_confident, ""),
        _counted("first cause's fix works when followed, of all told", told, _fix_works, "80 %"),
        _counted("... of those whose first cause has one", followed, _fix_works, ""),
        *([_counted("cause among the first two", told, lambda row: 1 <= row["rank"] <= 2, "85 %")] if named else []),
        _counted("refused, though within 2 sd and 5 %", rows, is_needlessly_refused, ""),
    ]
    if any(row["visible"] for row in rows):
        seen = [row for row in rows if row["visible"]]
        table.insert(1, _counted("wrong and confident, visible in principle", seen, is_wrong_and_confident, "0"))
    return [*table, _seconds(rows)]


def claims_of_sound(rows: Sequence[Row]) -> list[list[str]]:
    """Of logs without a mistake, and without an oracle."""
    z = np.concatenate([errors(row) for row in rows if is_trusted(row)] or [np.array([np.nan])])
    return [
        _counted("trusted, and more than 4 sd off", rows, is_wrong_and_confident, ""),
        _counted("sound logs accused", rows, lambda row: bool(row["causes"]) or row["verdict"] == "refuted", "1 %"),
        ["coverage, trusted", str(np.isfinite(z).sum()), _share(np.abs(z[np.isfinite(z)]) <= HALF_95), "93-97 %"],
        _seconds(rows),
    ]


def outstanding(rows: Sequence[Row]) -> list[list[str]]:
    """A line for every row that is wrong and confident, or refused though right, by group."""
    found = [
        (word, row)
        for word, test in (("wrong and confident", is_wrong_and_confident), ("refused", is_needlessly_refused))
        for row in rows
        if test(row)
    ]
    return [
        [
            *(word, row["corpus"], row["group"], row["preset"], row["name"], row["features"]),
            *(f"{row['error']:.1f}", ", ".join(row["causes"][:3])),
        ]
        for word, row in sorted(found, key=lambda one: (one[0], one[1]["corpus"], one[1]["group"], one[1]["preset"]))
    ]


def differences(old: Iterable[Row], new: Iterable[Row]) -> list[list[str]]:
    """A line for every case of both whose verdict, causes or numbers differ, or that only one of them has."""
    before, after = ({(row["corpus"], row["name"]): row for row in rows} for rows in (old, new))
    lines = [[*key, "only in one of them", "", ""] for key in sorted(before.keys() ^ after.keys())]
    for key in sorted(before.keys() & after.keys()):
        one, other = before[key], after[key]
        changed = [
            (name, str(one[name]), str(other[name]))
            for name in ("verdict", "causes", "fix", "fixed_verdict", "problem")
            if one[name] != other[name]
        ]
        if not _same(one["error"], other["error"], 0.05):
            changed.append(("error [sd]", f"{one['error']:.2f}", f"{other['error']:.2f}"))
        ratio = np.array(other["sd"]) / np.array(one["sd"])
        if np.nanmax(np.abs(np.log(ratio)), initial=0.0) > math.log(1.05):
            changed.append(("width, new over old", "1", f"{np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f}"))
        lines += [[*key, *change] for change in changed]
    return lines


def _same(one: float, other: float, share: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= share * max(abs(one), abs(other), 1.0)


def _fix_works(row: Row) -> bool:
    return row["fixed_verdict"] in TRUSTED and row["fixed_error"] <= FAR


def _counted(what: str, rows: Sequence[Row], test: Callable[[Row], bool], goal: str) -> list[str]:
    found = [test(row) for row in rows]
    return [what, str(len(rows)), f"{sum(found)} ({_share(found)})", goal]


def _share(found: Any) -> str:
    return f"{100.0 * np.mean(found):.1f} %" if len(found) else "-"


def _oracle_coverage(rows: Sequence[Row]) -> str:
    inside = [np.abs(np.array(row["oracle"]) - row["truth"]) <= HALF_95 * np.array(row["oracle_sd"]) for row in rows]
    return _share(np.concatenate(inside)) if inside else "-"


def _median(rows: Sequence[Row]) -> str:
    return f"{_quantile(rows, 0.5):.2f}"


def _quantile(rows: Sequence[Row], share: float) -> float:
    """Of the root mean square width of each case, over the numbers that it determines."""
    own = [np.sqrt(np.nanmean(widths(row) ** 2)) for row in rows if np.isfinite(row["sd"]).any()]
    return float(np.quantile(own, share)) if own else math.nan


def _seconds(rows: Sequence[Row]) -> list[str]:
    took = [row["seconds"] for row in rows] or [math.nan]
    verdicts = ", ".join(f"{count} {word}" for word, count in Counter(row["verdict"] for row in rows).most_common())
    return [f"processor seconds, median and largest; {verdicts}", "", f"{np.median(took):.2f}, {max(took):.1f}", ""]
