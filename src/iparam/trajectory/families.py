"""How each family of trajectories is written in a trajectory file, by its name, and read back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.trajectory.blend import BlendedTrajectory
from iparam.trajectory.fourier import FourierTrajectory
from iparam.trajectory.integrated_fourier import IntegratedFourierTrajectory
from iparam.trajectory.json_section import JsonSection
from iparam.trajectory.spline import QuinticSpline, SepticSpline, WaypointSpline
from iparam.trajectory.spline_fourier import SplineFourierTrajectory
from iparam.trajectory.trajectory import Trajectory
from iparam.trajectory.windowed_fourier import WindowedFourierTrajectory

DEFAULT_FAMILY = "windowed_fourier"


@dataclass(frozen=True)
class Family:
    """A family of trajectories in a file.

    Attributes:
        kind: its class.
        entries: the class's fields that stand in "config", as key in the file -> field.
        read: makes one from the document that has "config" and perhaps "coefficients".
    """

    kind: type[Trajectory]
    entries: dict[str, str]
    read: Callable[[JsonSection, Family], Trajectory]


def trajectory_document(trajectory: Trajectory) -> dict[str, Any]:
    """{"config": {"family": ...}, "coefficients": ...} of plain numbers and lists, from which it can be made again."""
    name = next((name for name, family in FAMILIES.items() if type(trajectory) is family.kind), None)
    if name is None:
        kinds = ", ".join(family.kind.__name__ for family in FAMILIES.values())
        raise InputError(f"cannot store a {type(trajectory).__name__}; trajectories that can be stored: {kinds}")
    family = FAMILIES[name]
    config: dict[str, Any] = {"family": name}
    if hasattr(trajectory, "num_harmonics"):
        config |= {"num_harmonics": trajectory.num_harmonics, "base_freq": getattr(trajectory, "base_freq")}  # noqa: B009
    config["duration"] = trajectory.duration
    config |= {key: np.asarray(getattr(trajectory, field)).tolist() for key, field in family.entries.items()}
    document: dict[str, Any] = {"config": config}
    if isinstance(trajectory, BlendedTrajectory):
        document["inner"] = trajectory_document(trajectory.inner)
    if hasattr(trajectory, "num_harmonics"):
        document["coefficients"] = {key: getattr(trajectory, key).tolist() for key in ("a", "b")}
    return document


def trajectory_from_document(document: JsonSection) -> Trajectory:
    """The trajectory that `trajectory_document` described; without "family" a windowed Fourier series."""
    config = document.section("config")
    name = config.text("family") if config.has("family") else DEFAULT_FAMILY
    if name not in FAMILIES:
        unknown = UnknownNameError("family", name, FAMILIES)
        raise config.error("family", f"cannot be read: {unknown}")
    family = FAMILIES[name]
    try:
        trajectory = family.read(document, family)
    except InputError as error:
        raise FileFormatError(f"{document.file}: {config.key} does not describe a {name} trajectory: {error}") from None
    duration = config.number("duration")
    if not math.isclose(duration, trajectory.duration, rel_tol=1e-9):
        raise config.error("duration", f"is {duration!r} s, but what it describes takes {trajectory.duration!r} s")
    return trajectory


def _read_fourier(document: JsonSection, family: Family) -> Trajectory:
    config, coefficients = document.section("config"), document.section("coefficients")
    count = config.number("num_harmonics")
    a, b = (coefficients.array(key, 2) for key in ("a", "b"))
    poses = {field: config.array(key, 1) for key, field in family.entries.items()}
    expected = (len(next(iter(poses.values()))), count)
    for key, values in (("a", a), ("b", b)):
        if values.shape != expected:
            shape = f"{expected[0]} lists, one for each element of q0, of {count:g} numbers, config.num_harmonics"
            raise coefficients.error(key, f"must be {shape}; got shape {values.shape}")
    arguments: dict[str, Any] = {**poses, "a": a, "b": b, "duration": config.number("duration")}
    frequency = config.number("base_freq")
    if family.kind is not IntegratedFourierTrajectory:
        arguments["base_freq"] = frequency
    elif not math.isclose(frequency * arguments["duration"], 1.0, rel_tol=1e-9):
        raise config.error("base_freq", f"must be 1 / duration in this family, got {frequency!r} Hz")
    return family.kind(**arguments)


def _read_spline(document: JsonSection, family: Family) -> Trajectory:
    config = document.section("config")
    dimensions = {"waypoints": 2}
    return family.kind(**{field: config.array(key, dimensions.get(key, 1)) for key, field in family.entries.items()})


def _read_blended(document: JsonSection, family: Family) -> Trajectory:
    inner = trajectory_from_document(document.section("inner"))
    return BlendedTrajectory(inner, document.section("config").number("blend_time"))


def _spline_entries(kind: type[WaypointSpline]) -> dict[str, str]:
    return {field.name: field.name for field in dataclasses.fields(kind) if field.init}


FAMILIES = {
    DEFAULT_FAMILY: Family(WindowedFourierTrajectory, {"q0": "q0"}, _read_fourier),
    "fourier": Family(FourierTrajectory, {"q0": "q0"}, _read_fourier),
    "integrated_fourier": Family(IntegratedFourierTrajectory, {"q0": "q0"}, _read_fourier),
    "spline_fourier": Family(SplineFourierTrajectory, {"q0": "q_start", "q_end": "q_end"}, _read_fourier),
    "quintic_spline": Family(QuinticSpline, _spline_entries(QuinticSpline), _read_spline),
    "septic_spline": Family(SepticSpline, _spline_entries(SepticSpline), _read_spline),
    "blended": Family(BlendedTrajectory, {"blend_time": "blend_time"}, _read_blended),
}
