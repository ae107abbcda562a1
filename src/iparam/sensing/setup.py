"""`Setup`: what stays from run to run about an arm, its mounting, its sensor and its gripper, in a file `setup.toml`.

    format = "iparam-setup/1"

    [robot]
    model = "ur5e"                # a name, or the path of a robot file
    tip = "tool0"

    [mounting]
    how = "ceiling"               # floor, ceiling, wall, or roll, pitch and yaw of the base [deg]
    gravity = 9.81                # its size [m/s^2]; or x, y, z in the axes of the base, without how

    [sensor]
    rotation = [0.0, 0.0, 90.0]   # roll, pitch and yaw in the tool frame [deg]
    offset = [0.0, 0.0, 0.03]     # of its origin in the tool frame [m]
    measures = "reaction"         # whose wrench it reports: of the arm on the load (action), or the opposite
    frame = "tool"                # in whose axes it is reported: tool or base
    calibration = "sensor.json"
    zeroed = "with-load"          # right before each run; or: without-load, never

    [gripper]
    load = "gripper.json"         # what hangs on the flange besides the load: a result

Every entry but the robot's model may be left out. Paths count from the folder of the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.files.atomic import write_atomically
from iparam.files.json import JsonSection
from iparam.files.kind import FileKind, kind_of, kind_stated, needed
from iparam.files.reading_limit import read_bounded
from iparam.robot.gravity import MOUNTINGS, check_size, mounted_gravity
from iparam.sensing.correction import Correction

FORMAT = "iparam-setup/1"
MAX_BYTES = 100_000

Zeroed = Literal["with load", "without load", "never"]

ZEROED: dict[str, Zeroed] = {"with-load": "with load", "without-load": "without load", "never": "never"}
"""As it is typed and written in files -> as it is called; files may have either."""

_KNOWN = {
    "robot": ("model", "tip", "base"),
    "mounting": ("how", "gravity"),
    "sensor": ("rotation", "offset", "measures", "frame", "calibration", "zeroed"),
    "gripper": ("load",),
}
_ENTRIES = {
    "sensor_rotation": "sensor.rotation",
    "sensor_offset": "sensor.offset",
    "gravity": "mounting.gravity",
    "mounting": "mounting.how",
}
"""Attributes that messages name, and the entries of the file that they are."""


@dataclass(frozen=True)
class Setup:
    """The entries; None for those that are left out.

    Attributes:
        robot: name or file of the arm.
        tip, base: frames of its description that are its tool and its base.
        mounting: a name of `MOUNTINGS`, or roll, pitch and yaw of the base [deg].
        gravity: its size, or x, y, z in the axes of the base [m/s^2].
        sensor_rotation: roll, pitch and yaw of the sensor in the tool frame [deg].
        sensor_offset: its origin in the tool frame [m].
        measures: whose wrench the sensor reports.
        wrench_frame: in whose axes.
        sensor: file of its calibration.
        zeroed: whether the sensor is zeroed right before each run, and what it carries then.
        gripper: file with the load that hangs on the flange besides what is identified.
    """

    robot: str
    tip: str | None = None
    base: str | None = None
    mounting: str | tuple[float, ...] | None = None
    gravity: tuple[float, ...] | None = None
    sensor_rotation: tuple[float, ...] | None = None
    sensor_offset: tuple[float, ...] | None = None
    measures: Literal["action", "reaction"] | None = None
    wrench_frame: Literal["tool", "base"] | None = None
    sensor: Path | None = None
    zeroed: Zeroed | None = None
    gripper: Path | None = None

    def __post_init__(self) -> None:
        if not self.robot.strip():
            raise InputError("a setup needs its robot: a name from 'iparam robots', or the path of a robot file")
        for name, value in (("sensor_rotation", self.sensor_rotation), ("sensor_offset", self.sensor_offset)):
            if value is not None and (len(value) != 3 or not np.isfinite(value).all()):
                raise InputError(argument=name, problem=f"needs three numbers, got {list(value)}")
        if self.sensor_offset is not None and np.abs(self.sensor_offset).max() > 1.0:
            raise InputError(
                argument="sensor_offset", problem=f"is in metres, got {list(self.sensor_offset)}: millimetres?"
            )
        for name, choices in (("measures", ("action", "reaction")), ("wrench_frame", ("tool", "base"))):
            if getattr(self, name) not in (None, *choices):
                raise UnknownNameError(name, getattr(self, name), choices, argument=name)
        if self.zeroed not in (None, *get_args(Zeroed)):
            if self.zeroed not in ZEROED:
                raise UnknownNameError("zeroing", self.zeroed, ZEROED, argument="zeroed")
            object.__setattr__(self, "zeroed", ZEROED[self.zeroed])
        self._check_gravity()

    def _check_gravity(self) -> None:
        if isinstance(self.mounting, str) and self.mounting not in MOUNTINGS:
            raise UnknownNameError(
                "mounting", self.mounting, MOUNTINGS, "Or roll, pitch and yaw of the base [deg].", argument="mounting"
            )
        if self.gravity is not None:
            if len(self.gravity) not in (1, 3):
                raise InputError(
                    argument="gravity", problem=f"needs its size or x y z in the base [m/s^2], got {list(self.gravity)}"
                )
            if len(self.gravity) == 3 and self.mounting is not None:
                raise InputError(
                    argument="gravity",
                    problem="x y z in the axes of the base says how it is mounted: leave mounting out",
                )
            check_size(np.array(self.gravity), f"gravity is {list(self.gravity)}")
        if self.mounting is not None:
            mounted_gravity(self.mounting)

    @property
    def correction(self) -> Correction:
        """What puts the wrench right that the sensor reports; without its calibration."""
        return Correction(
            measures=self.measures,
            wrench_frame=self.wrench_frame,
            sensor_rotation=self.sensor_rotation,
            sensor_offset=self.sensor_offset,
        )

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Option of the commands, as in Python -> its words, for the entries that are given."""
        words: dict[str, tuple[str, ...]] = {"robot": (self.robot,)}
        for name in ("tip", "base", "measures", "wrench_frame", "sensor", "gripper"):
            value = getattr(self, name)
            if value is not None:
                words[name] = (str(value),)
        for name in ("mounting", "gravity", "sensor_rotation", "sensor_offset"):
            value = getattr(self, name)
            if value is not None:
                words[name] = (value,) if isinstance(value, str) else tuple(repr(float(number)) for number in value)
        if self.zeroed is not None:
            words["zeroed"] = (self.zeroed.replace(" ", "-"),)
        if self.zeroed == "with load":
            words["bias"] = ("zeroed",)
        return words

    def to_toml(self, folder: Path | None = None) -> str:
        """The text of the file; paths count from ``folder`` where they can."""
        sections: dict[str, dict[str, Any]] = {
            "robot": {"model": _relative(self.robot, folder), "tip": self.tip, "base": self.base},
            "mounting": {"how": self.mounting, "gravity": self.gravity},
            "sensor": {
                "rotation": self.sensor_rotation,
                "offset": self.sensor_offset,
                "measures": self.measures,
                "frame": self.wrench_frame,
                "calibration": None if self.sensor is None else _relative(str(self.sensor), folder),
                "zeroed": None if self.zeroed is None else self.zeroed.replace(" ", "-"),
            },
            "gripper": {"load": None if self.gripper is None else _relative(str(self.gripper), folder)},
        }
        lines = [f'format = "{FORMAT}"']
        for section, entries in sections.items():
            given = [f"{key} = {_toml(value)}" for key, value in entries.items() if value is not None]
            lines += ["", f"[{section}]", *given] if given else []
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        write_atomically(path, self.to_toml(Path(path).absolute().parent))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Setup:
        """Read the file.

        Raises:
            FileFormatError: it is none, or an entry cannot be; the message names the entry.
        """
        place = Path(path)
        document = _read(place)
        sections = {name: _section(document, name) for name in _KNOWN}
        robot, mounting, sensor, gripper = (sections[name] for name in _KNOWN)
        folder = place.absolute().parent
        entries: dict[str, Any] = {
            "robot": _found(robot.text("model"), folder),
            "tip": _text(robot, "tip"),
            "base": _text(robot, "base"),
            "mounting": _words_or_numbers(mounting, "how"),
            "gravity": (mounting.number("gravity"),)
            if _is_number(mounting, "gravity")
            else _numbers(mounting, "gravity"),
            "sensor_rotation": _numbers(sensor, "rotation"),
            "sensor_offset": _numbers(sensor, "offset"),
            "measures": _text(sensor, "measures"),
            "wrench_frame": _text(sensor, "frame"),
            "sensor": _path(sensor, "calibration", folder),
            "zeroed": _text(sensor, "zeroed"),
            "gripper": _path(gripper, "load", folder),
        }
        try:
            return cls(**entries)
        except (InputError, UnknownNameError) as error:
            raise FileFormatError(f"{document.file}: {error.renamed(_ENTRIES)}") from None


def _read(path: Path) -> JsonSection:
    try:
        data = read_bounded(path, MAX_BYTES, str(path), "the path of a setup file, .toml, as 'iparam setup' writes it")
        if len(data) > MAX_BYTES:
            raise FileFormatError(f"{path} is larger than {MAX_BYTES // 1000} kB: no setup is")
        content = tomllib.loads(data.decode("utf-8-sig"))
    except FileFormatError:
        raise
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from None
    except RecursionError:
        raise FileFormatError(f"{path} is nested too deeply") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is {kind_of(path) or 'not UTF-8 text'}; {needed(FileKind.SETUP)}") from None
    except ValueError as error:  # among them that of tomllib, and a number or a date that cannot be
        if (found := kind_of(path)) is not None:
            raise FileFormatError(f"{path} is {found}; {needed(FileKind.SETUP)}") from None
        raise FileFormatError(f"{path} is not TOML that can be read: {error}") from None
    document = JsonSection(str(path), "", content)
    found = kind_stated(content)
    if found not in (None, FileKind.SETUP):
        raise FileFormatError(f"{path} is {found}; {needed(FileKind.SETUP)}")
    if content.get("format") != FORMAT:
        raise document.error("format", f'must be "{FORMAT}": is this a file of iparam setup?')
    unknown = next((name for name in content if name not in ("format", *_KNOWN)), None)
    if unknown is not None:
        raise FileFormatError(f"{path}: {UnknownNameError('section', unknown, _KNOWN)}")
    return document


def _section(document: JsonSection, name: str) -> JsonSection:
    if name == "robot" or document.has(name):
        section = document.section(name)
    else:
        section = JsonSection(document.file, name, {})
    unknown = next((key for key in section.content if key not in _KNOWN[name]), None)
    if unknown is not None:
        raise FileFormatError(f"{document.file}: {UnknownNameError(f'entry of [{name}]', unknown, _KNOWN[name])}")
    return section


def _text(section: JsonSection, key: str) -> str | None:
    return section.text(key) if section.has(key) else None


def _numbers(section: JsonSection, key: str) -> tuple[float, ...] | None:
    return tuple(section.array(key, 1).tolist()) if section.has(key) else None


def _words_or_numbers(section: JsonSection, key: str) -> str | tuple[float, ...] | None:
    return section.text(key) if isinstance(section.content.get(key), str) else _numbers(section, key)


def _is_number(section: JsonSection, key: str) -> bool:
    return isinstance(section.content.get(key), int | float)


def _path(section: JsonSection, key: str, folder: Path) -> Path | None:
    if not section.has(key):
        return None
    path = folder / section.text(key)
    if not path.is_file():
        raise section.error(key, f"names {path}, where there is no file")
    return path


def _found(robot: str, folder: Path) -> str:
    """The robot, its path counted from the setup's folder if there is such a file; arguments of a xacro file stay."""
    for path, rest in _path_and_rest(robot):
        if path and (folder / path).is_file():
            return f"{folder / path}{rest}"
    return robot


def _relative(text: str, folder: Path | None) -> str:
    """A path, or a robot, as the file holds it: counted from its folder if it lies in there."""
    for path, rest in _path_and_rest(text):
        if folder is not None and path and Path(path).is_file():
            absolute = Path(path).absolute()
            shown = absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute
            return f"{shown.as_posix()}{rest}"
    return text


def _path_and_rest(text: str) -> Iterator[tuple[str, str]]:
    """A path with all its blanks; or one with the arguments of a xacro file behind it."""
    yield text, ""
    path, blank, rest = text.partition(" ")
    yield path, blank + rest


def _toml(value: Any) -> str:
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if ord(c) < 0x20 or ord(c) == 0x7F else f"\\{c}" if c in '"\\' else c for c in value
        )
        return f'"{escaped}"'
    numbers = [repr(float(number)) for number in value]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
