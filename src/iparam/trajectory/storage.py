"""Trajectory files: JSON in the format ``iparam-trajectory/1``, with every digit, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.errors import FileFormatError, InputError
from iparam.files import write_atomically
from iparam.trajectory.checks import positive_number
from iparam.trajectory.families import trajectory_document, trajectory_from_document
from iparam.trajectory.json_section import JsonSection, read_json
from iparam.trajectory.trajectory import Trajectory

FORMAT = "iparam-trajectory/1"
FPS_WITHOUT_FORMAT = 100.0
"""Rate of files that state neither their format nor their rate: older tools sampled at 100 Hz."""

_MAX_DEPTH = 20


@dataclass(frozen=True, eq=False)
class TrajectoryFile:
    """What a trajectory file holds.

    Attributes:
        trajectory: the motion.
        robot: name of the arm it was planned for, or None if the file does not say.
        fps: the rate it is meant to be sampled and played at [Hz].
        condition_number: of the regressor along it, or None.
        validation: what was checked, "all_constraints_satisfied" and the margins, or None.
    """

    trajectory: Trajectory
    robot: str | None
    fps: float
    condition_number: float | None
    validation: dict[str, Any] | None


def save_trajectory(
    path: str | os.PathLike[str],
    trajectory: Trajectory,
    *,
    robot: str | None,
    fps: float,
    condition_number: float | None = None,
    validation: Mapping[str, Any] | None = None,
) -> None:
    """Write ``trajectory`` to ``path`` so that `load_trajectory` gives it back bit for bit.

    An existing file is replaced in one step; if anything fails it stays as it was.

    Args:
        path: of the file.
        trajectory: of any family in this package.
        robot: name of the arm it was planned for.
        fps: the rate it is meant to be sampled and played at [Hz].
        condition_number: of the regressor along it.
        validation: numbers, texts, booleans, and lists and mappings of them; numpy's are converted. All finite.
    """
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory must be a Trajectory, got {type(trajectory).__name__}")
    if robot is not None and not isinstance(robot, str):
        raise InputError(f"robot must be the arm's name, got {type(robot).__name__}; a Robot has it in .name")
    if validation is not None and not isinstance(validation, Mapping):
        raise InputError(f"validation must be a mapping, got {type(validation).__name__}")
    described = trajectory_document(trajectory)
    described["config"]["fps"] = positive_number(fps, "fps", "Hz")
    document = {
        "format": FORMAT,
        "robot": robot,
        **described,
        "condition_number": _plain(condition_number, "condition_number"),
        "validation": _plain(validation, "validation"),
    }
    if not isinstance(document["condition_number"], int | float | None) or isinstance(condition_number, bool):
        raise InputError(f"condition_number must be a number or None, got {condition_number!r}")
    write_atomically(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def load_trajectory(path: str | os.PathLike[str]) -> TrajectoryFile:
    """Read a trajectory file.

    Files without "format" are read as windowed Fourier series, which is what the first tools wrote; their "robot" and
    "fps" may be missing (None, and 100 Hz).

    Raises:
        FileFormatError: if the file cannot be read; the message gives the key and what was expected there.
    """
    document = read_json(path)
    stated = document.has("format")
    if stated and document.text("format") != FORMAT:
        raise document.error("format", f"is {document.text('format')!r}; this version of iparam reads {FORMAT!r}")
    try:
        trajectory = trajectory_from_document(document)
    except RecursionError:
        raise FileFormatError(f"{document.file}: inner is nested too deeply") from None
    return TrajectoryFile(
        trajectory,
        document.text("robot") if document.has("robot") else None,
        _rate(document.section("config"), required=stated),
        document.number("condition_number") if document.has("condition_number") else None,
        document.section("validation").content if document.has("validation") else None,
    )


def _rate(config: JsonSection, required: bool) -> float:
    if not required and not config.has("fps"):
        return FPS_WITHOUT_FORMAT
    try:
        return positive_number(config.number("fps"), "it", "Hz")
    except InputError as error:
        raise config.error("fps", f"cannot be used: {error}") from None


def _plain(value: Any, key: str, depth: int = 0) -> Any:
    """``value`` in the types that JSON has."""
    if depth > _MAX_DEPTH:
        raise InputError(f"{key} is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{key} is {value}, which JSON cannot hold: leave it out or give None")
        return value
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise InputError(f"keys of {key} must be strings, got {name!r}")
        return {name: _plain(entry, f"{key}.{name}", depth + 1) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, f"{key}[{index}]", depth + 1) for index, entry in enumerate(value)]
    raise InputError(f"{key} must hold numbers, texts, booleans, lists or mappings, got {type(value).__name__}")
