"""What a Parquet table of somebody else's says about its columns: units with the columns, the rest with the table."""

from __future__ import annotations

import json
from typing import Any

from iparam.errors import ContradictionError
from iparam.recording.channels import CHANNELS, default_frame, signal_of_column
from iparam.recording.statements import FRAME_KEYS
from iparam.recording.units import QUANTITIES, unit_size

_UNIT_KEYS = ("unit", "units")
_TABLE_KEYS = ("robot", "gravity", *_UNIT_KEYS, *FRAME_KEYS)


def foreign_document(schema: Any, source: str) -> dict[str, Any] | None:
    """The same document that iparam writes, as far as a table states it; None if it states nothing.

    Args:
        schema: of the table, a ``pyarrow.Schema``.
        source: its file, for messages.
    """
    stated = _stated(schema.metadata or {})
    units = {field.name: unit for field in schema if (unit := _unit_of(field.metadata or {}))}
    of_table = stated.get("units", stated.get("unit"))
    if isinstance(of_table, dict):
        units |= {name: unit for name, unit in of_table.items() if name in schema.names and isinstance(unit, str)}
        of_table = {name: unit for name, unit in of_table.items() if name not in schema.names}
    if (unit_size("time", units.get("time", "s")) or 0.0) != 1.0:
        raise ContradictionError(
            f"{source}: the column time is in {units['time']!r} by its metadata, and is needed in seconds: convert it"
        )
    robot = stated.get("robot")
    metadata = {key: value for key, value in stated.items() if key not in ("robot", *_UNIT_KEYS)}
    if of_table:
        metadata["units"] = of_table
    signals = _labels(units)
    if not (robot or metadata or signals):
        return None
    return {
        "robot": robot if isinstance(robot, str) else "",
        "signals": signals,
        "metadata": metadata,
        "warnings": [],
    }


def _stated(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """The table's own entries, and the attributes of a pandas DataFrame, that mean something here."""
    entries: dict[str, Any] = {}
    for key, value in metadata.items():
        name, content = key.decode("utf-8", "replace"), _plain(value)
        if name == "PANDAS_ATTRS" and isinstance(content, dict):
            entries |= content
        else:
            entries[name] = content
    return {name: value for name, value in entries.items() if name in _TABLE_KEYS}


def _plain(value: bytes) -> Any:
    text = value.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _unit_of(metadata: dict[bytes, bytes]) -> str:
    return next(
        (metadata[key.encode()].decode("utf-8", "replace") for key in _UNIT_KEYS if key.encode() in metadata), ""
    )


def _labels(units: dict[str, str]) -> dict[str, dict[str, str]]:
    """Signal -> unit and frame, from the units of its columns: one for all, or one for forces and one for torques."""
    found: dict[str, dict[int, str]] = {}
    for column, unit in units.items():
        place = signal_of_column(column)
        if place is not None and place[0] in CHANNELS:
            found.setdefault(place[0], {})[place[1]] = unit
    labels = {}
    for name, by_component in found.items():
        width = max(len(CHANNELS[name].columns), max(by_component) + 1)
        half = width // len(QUANTITIES[name])
        parts = [{unit for i, unit in by_component.items() if i // half == k} for k in range(len(QUANTITIES[name]))]
        unit = ", ".join(" or ".join(sorted(part)) for part in parts if part)
        labels[name] = {"unit": unit, "frame": default_frame(name)}
    return labels
