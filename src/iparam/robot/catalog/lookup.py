"""The catalogue by name. The names are those of the files; a file is read when somebody asks for its arm."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from iparam.errors import UnknownNameError
from iparam.remarks import Remark, Severity, remark
from iparam.robot.catalog.arm import CatalogArm
from iparam.robot.catalog.safety import SafetyLimits
from iparam.robot.dh import StandardDH
from iparam.robot.model import Robot

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
