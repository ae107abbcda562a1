"""Trajectory files: JSON in the format ``iparam-trajectory/1``, with every digit, written whole or not at all. Each
family of trajectories has a name in it.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import ContradictionError, FileFormatError, InputError, UnknownNameError
from iparam.files.json import JsonSection, read_json, write_json
from iparam.files.kind import FileKind
from iparam.printable import printable
from iparam.remarks import Remark, remark
from iparam.robot.gravity import stated_gravity
from iparam.robot.loading import StatedArm
from iparam.trajectory.checks import positive_number
from iparam.trajectory.conditions import PlanConditions
from iparam.trajectory.fourier import FourierTrajectory, WindowedFourierTrajectory
from iparam.trajectory.integrated_fourier import IntegratedFourierTrajectory
from iparam.trajectory.jerk_limit import JerkLimitedTrajectory
from iparam.trajectory.spline import QuinticSpline
from iparam.trajectory.trajectory import Trajectory

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
    if isinstance(trajectory, JerkLimitedTrajectory):
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
    q0 = config.array("q0", 1)
    expected = (len(q0), count)
    for key, values in (("a", a), ("b", b)):
        if values.shape != expected:
            shape = f"{expected[0]} lists, one for each element of q0, of {count:g} numbers, config.num_harmonics"
            raise coefficients.error(key, f"must be {shape}; got shape {values.shape}")
    arguments: dict[str, Any] = {"q0": q0, "a": a, "b": b, "duration": config.number("duration")}
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


def _read_jerk_limited(document: JsonSection, family: Family) -> Trajectory:
    inner, time = trajectory_from_document(document.section("inner")), document.section("config").number("blend_time")
    return family.kind(inner, time)  # type: ignore[call-arg]


FAMILIES = {
    DEFAULT_FAMILY: Family(WindowedFourierTrajectory, {"q0": "q0"}, _read_fourier),
    "fourier": Family(FourierTrajectory, {"q0": "q0"}, _read_fourier),
    "integrated_fourier": Family(IntegratedFourierTrajectory, {"q0": "q0"}, _read_fourier),
    "quintic_spline": Family(
        QuinticSpline,
        {field.name: field.name for field in dataclasses.fields(QuinticSpline) if field.init},
        _read_spline,
    ),
    "jerk_limited": Family(JerkLimitedTrajectory, {"blend_time": "blend_time"}, _read_jerk_limited),
}


FORMAT = "iparam-trajectory/1"
FPS_WITHOUT_FORMAT = 100.0
"""Rate of files that state neither their format nor their rate: older tools sampled at 100 Hz."""

_MAX_DEPTH = 20


@dataclass(frozen=True, eq=False, repr=False)
class TrajectoryFile:
    """What a trajectory file holds.

    Attributes:
        trajectory: the motion.
        robot: name of the arm it was planned for, or None if the file does not say.
        fps: the rate it is meant to be sampled and played at [Hz].
        condition_number: of the regressor along it, as the file states it, or None. `excitation.condition_number`
            computes it.
        validation: what was checked, "all_constraints_satisfied" and the margins, or None.
        gravity: (3,) in base axes that it was planned under [m/s^2], or None if the file does not say.
        arm: which arm of the robot it moves: its tool frame, its base, and where the other joints stand.
        conditions: payload, cell, clearance and limits that it was planned with, or None if the file does not say.
        remarks: what was assumed in reading it.
    """

    trajectory: Trajectory
    robot: str | None
    fps: float
    condition_number: float | None
    validation: dict[str, Any] | None
    gravity: FloatArray | None = None
    arm: StatedArm = field(default_factory=StatedArm)
    conditions: PlanConditions | None = None
    remarks: tuple[Remark, ...] = ()

    @property
    def tool_frame(self) -> str | None:
        """Name of the frame taken as the tool, or None if the file does not say."""
        return self.arm.tip

    def plot(self) -> Any:
        """See `Trajectory.plot`."""
        return self.trajectory.plot()

    def __repr__(self) -> str:
        return f"TrajectoryFile({self.trajectory!r} for {printable(self.robot or 'an unknown robot')}, {self.fps:g} Hz)"


def save_trajectory(
    path: str | os.PathLike[str],
    trajectory: Trajectory,
    *,
    robot: str | None,
    fps: float,
    condition_number: float | None = None,
    validation: Mapping[str, Any] | None = None,
    gravity: ArrayLike | None = None,
    tool_frame: str | None = None,
    arm: StatedArm | None = None,
    conditions: PlanConditions | None = None,
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
        gravity: (3,) in base axes that it was planned under [m/s^2]; None leaves it out.
        tool_frame: name of the frame taken as the tool, in which the payload is given; None leaves it out.
        arm: the same, with the arm's base and the joints locked beside it (``StatedArm.of(robot)``); instead of
            ``tool_frame``.
        conditions: payload, cell, clearance and limits that it was planned with; None leaves them out.
    """
    if not isinstance(trajectory, Trajectory):
        raise InputError(argument="trajectory", problem=f"must be a Trajectory, got {type(trajectory).__name__}")
    if robot is not None and not isinstance(robot, str):
        raise InputError(
            argument="robot", problem=f"must be the arm's name, got {type(robot).__name__}; a Robot has it in .name"
        )
    if validation is not None and not isinstance(validation, Mapping):
        raise InputError(argument="validation", problem=f"must be a mapping, got {type(validation).__name__}")
    if tool_frame is not None and not isinstance(tool_frame, str):
        raise InputError(argument="tool_frame", problem=f"must be the frame's name, got {type(tool_frame).__name__}")
    described = trajectory_document(trajectory)
    described["config"]["fps"] = positive_number(fps, "fps", "Hz")
    if conditions is not None:
        described["config"] |= conditions.to_config()
    document = {
        "format": FORMAT,
        "robot": robot,
        **(StatedArm(tool_frame) if arm is None else arm).to_document(),
        **({} if gravity is None else {"gravity": as_float_array(gravity, "gravity", (3,)).tolist()}),
        **described,
        "condition_number": _plain(condition_number, "condition_number"),
        "validation": _plain(validation, "validation"),
    }
    if not isinstance(document["condition_number"], int | float | None) or isinstance(condition_number, bool):
        raise InputError(argument="condition_number", value=condition_number, expected="a number or None")
    write_json(path, document)


def load_trajectory(path: str | os.PathLike[str]) -> TrajectoryFile:
    """Read a trajectory file.

    Files without "format" are read as windowed Fourier series, which is what the first tools wrote; their "robot" and
    "fps" may be missing (None, and 100 Hz). They do not define the window: a remark names the one that is assumed.

    Raises:
        FileFormatError: if the file cannot be read; the message gives the key and what was expected there.
    """
    document = read_json(path, wanted=(FileKind.TRAJECTORY,))
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
        _gravity(document),
        _arm(document),
        PlanConditions.from_config(document.section("config")),
        () if stated or document.section("config").has("family") else (remark("assumed-window"),),
    )


def _arm(document: JsonSection) -> StatedArm:
    lock = document.section("lock") if document.has("lock") else None
    return StatedArm(
        document.text("tool_frame") if document.has("tool_frame") else None,
        document.text("base_frame") if document.has("base_frame") else None,
        {} if lock is None else {name: lock.number(name) for name in lock.content},
    )


def _gravity(document: JsonSection) -> FloatArray | None:
    try:
        return stated_gravity(document.content.get("gravity"), "it says")
    except ContradictionError as error:
        raise document.error("gravity", f"cannot be used: {error}") from None


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
