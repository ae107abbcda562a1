"""The catalogue by name. The names are those of the files; a file is read when somebody asks for its arm.

Keys of a row, a TOML file; what is not named optional must be there:
    rated_load    the load that the maker allows at the flange, the higher one where there are two [kg]
    link_radii    of the base and the six links [m]: the thickness of the arm, for collision tests
    dh            the standard (distal) DH table: a, d [m] and alpha [rad]
    wrist_sensor  optional, where the data sheet is known: see `iparam.sensing.ForceTorqueSensor`
    drives        optional, where somebody measured them: see `iparam.simulation.Motors`
    safety        the controller's limits as delivered: see `SafetyLimits`
    shoulder, upper_arm, forearm, wrist_1, wrist_2, wrist_3: each of the links, and the joint that carries it
      origin      xyz [m] and rpy [rad] (fixed axes x, y, z) of its frame in its parent's at q = 0; it turns about its z
      limits      position [deg], velocity [deg/s], torque [N m]. The maker halves the elbow's range (really +-360 deg)
                  because the arm would hit itself. Accelerations are not published: ur_robot.py gives its own.
      link        mass [kg] and centre of mass in its frame [m]
      inertia     tensor: xx, xy, xz, yy, yz, zz about the centre of mass [kg m^2], in its axes turned by rpy [rad]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from iparam.errors import FileFormatError, UnknownNameError
from iparam.remarks import Remark, Severity, remark
from iparam.robot.catalog.safety import SafetyLimits
from iparam.robot.catalog.ur_robot import JOINT_OF_LINK, ur_robot
from iparam.robot.dh import StandardDH
from iparam.robot.model import Robot

_Shape = int | Mapping[str, "_Shape"]
"""Of a value in a row: so many numbers, 0 for one that is no list; or a table of values by key."""

_LINK: _Shape = {
    "origin": {"xyz": 3, "rpy": 3},
    "limits": {"position": 2, "velocity": 0, "torque": 0},
    "link": {"mass": 0, "center_of_mass": 3},
    "inertia": {"tensor": 6, "rpy": 3},
}
_OPTIONAL: dict[str, _Shape] = {
    "wrist_sensor": dict.fromkeys(("force_range", "torque_range", "force_accuracy", "torque_accuracy", "rate"), 0),
    "drives": dict.fromkeys(("drive_gains", "rotor_inertia", "viscous", "coulomb", "current_noise"), 6),
}
_UNKNOWN_SAFETY: dict[str, _Shape] = dict.fromkeys(("elbow_speed", "momentum"), 0)
_ROW: dict[str, _Shape] = {
    "rated_load": 0,
    "link_radii": 7,
    "safety": {"tool_speed": 0, "stopping_distance": 0, **_UNKNOWN_SAFETY},
    "dh": {"a": 6, "d": 6, "alpha": 6},
    **_OPTIONAL,
    **dict.fromkeys(JOINT_OF_LINK, _LINK),
}


@dataclass(frozen=True, eq=False)
class CatalogArm:
    """A row of the catalogue.

    Attributes:
        name: in lower case.
        links: figures of each link and its joint, by the link's name: origin, limits, link and inertia.
        dh: its standard DH table, whose last frame is ``tool0``; a second statement of the kinematics.
        rated_load: the largest mass that it may carry [kg].
        link_radii: of the base and of each link [m].
        safety: what its controller allows as delivered.
        wrist_sensor: figures of the force/torque sensor in its flange; None if it has none, or none is known.
        drives: lists of a figure a joint; None if nobody measured them.
    """

    name: str
    links: Mapping[str, Mapping[str, Any]]
    dh: StandardDH
    rated_load: float
    link_radii: tuple[float, ...]
    safety: SafetyLimits
    wrist_sensor: Mapping[str, float] | None
    drives: Mapping[str, tuple[float, ...]] | None

    @cached_property
    def robot(self) -> Robot:
        """The arm's kinematics, inertias and limits."""
        return ur_robot(self.name, self.links)

    @classmethod
    def from_toml(cls, text: str, name: str) -> CatalogArm:
        """The arm of that name, from its row."""
        place = f"the catalogue's row of {name}"
        try:
            row = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FileFormatError(f"{place} is not TOML that can be read: {error}") from None
        _check(row, _ROW, place)
        drives = row.get("drives")
        return cls(
            name,
            MappingProxyType({link: row[link] for link in JOINT_OF_LINK}),
            StandardDH(**row["dh"]),
            float(row["rated_load"]),
            tuple(row["link_radii"]),
            SafetyLimits(**{key: float(value) for key, value in row["safety"].items()}),
            MappingProxyType(row["wrist_sensor"]) if "wrist_sensor" in row else None,
            MappingProxyType({key: tuple(values) for key, values in drives.items()}) if drives else None,
        )


def _check(value: Any, shape: _Shape, place: str) -> None:
    """Refuse a value that is not of that shape; ``place`` says in the message where it stands."""
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            raise FileFormatError(f"{place} must be a table with the keys {', '.join(shape)}, got {value!r}")
        for key in value:
            if key not in shape:
                raise FileFormatError(f"{place}: unknown key {key!r}; known: {', '.join(shape)}")
        for key, inner in shape.items():
            if key in value:
                _check(value[key], inner, f"{place}: {key}")
            elif key not in _OPTIONAL and key not in _UNKNOWN_SAFETY:
                raise FileFormatError(f"{place}: the key {key!r} is missing")
        return
    numbers = value if shape and isinstance(value, list) else [value]
    if len(numbers) != (shape or 1) or not all(type(number) in (int, float) for number in numbers):
        raise FileFormatError(f"{place} must be {f'a list of {shape} numbers' if shape else 'a number'}, got {value!r}")


FOLDER: Traversable = resources.files("iparam.robot.catalog")
"""Holds a folder a series, and those a file an arm: its name in lower case with ``.toml``."""


def robot_names() -> tuple[str, ...]:
    """Names that `catalog_robot` accepts, in lower case: series by series, each from small to large."""
    return tuple(_files())


def catalog_arm(name: str) -> CatalogArm:
    """All that the catalogue says about the arm of that name, in any case: ``"ur5e"``, ``"UR5e"``."""
    if name.lower() not in _files():
        raise UnknownNameError("robot", name, robot_names(), argument="robot")
    return _read(name.lower())


def catalog_robot(name: str) -> Robot:
    """The catalogue's robot of that name, in any case: ``"ur5e"``, ``"UR5e"``.

    Limits are the maker's, except the accelerations: see ``ACCELERATION_LIMIT``.
    """
    return catalog_arm(name).robot


def safety_limits(robot: Robot) -> SafetyLimits | None:
    """What the controller of ``robot`` allows as delivered; None of an arm whose name the catalogue does not know."""
    return catalog_arm(robot.name).safety if robot.name in _files() else None


def dh_table(name: str) -> StandardDH:
    """The standard DH table of a Universal Robots arm, ``"ur5e"`` or ``"UR5e"``; its last frame is ``tool0``."""
    if name.lower() not in _files():
        raise UnknownNameError("DH table", name, robot_names())
    return catalog_arm(name).dh


@cache
def _files() -> dict[str, Traversable]:
    found = [
        (series.name, re.sub(r"\d+", lambda digits: digits[0].zfill(6), file.name), file)
        for series in FOLDER.iterdir()
        if series.is_dir()
        for file in series.iterdir()
        if file.name.endswith(".toml")
    ]
    return {file.name.removesuffix(".toml"): file for *_, file in sorted(found, key=lambda entry: entry[:2])}


@cache
def _read(name: str) -> CatalogArm:
    return CatalogArm.from_toml(_files()[name].read_text(encoding="utf-8"), name)


def rated_load(robot: Robot) -> float | None:
    """The load that the maker of an arm allows [kg]; None of an arm whose name the catalogue does not know."""
    return catalog_arm(robot.name).rated_load if robot.name in _files() else None


def rating_remarks(robot: Robot | None, mass: float, severity: Severity | None = None) -> tuple[Remark, ...]:
    """A remark if a mass [kg] is more than the maker of an arm allows; none where that is not known."""
    rated = None if robot is None else rated_load(robot)
    if robot is None or rated is None or not mass > rated:
        return ()
    return (remark("above-rated-load", severity, mass=mass, robot=robot.name, rated=rated),)
