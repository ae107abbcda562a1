"""`load_robot`: a robot by its catalogue name or from a description file."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from iparam.errors import InputError, IparamError, StatedPathError, UnknownNameError
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.robot.collision.geometry import LinkGeometry
from iparam.robot.description.arm import cut_arm
from iparam.robot.description.installed import INSTALLED_ARMS, installed_description
from iparam.robot.description.mjcf import read_mjcf
from iparam.robot.description.tree import DescriptionTree
from iparam.robot.description.xacro import expand_xacro, split_arguments, without_arguments
from iparam.robot.model import Robot
from iparam.robot.urdf.elements import read_tree
from iparam.robot.urdf.xml import holds_macros, read_root

_FAR = 1e6  # position of a joint that no file means [rad or m]


@dataclass(frozen=True)
class StatedArm:
    """Which arm of a description a trajectory or a recording is about, by what `load_robot` cuts it out with.

    Attributes:
        tip, base: its tool frame and its base; None if they are not stated.
        lock: where joints that are not the arm's stand [rad or m]; at zero if they are not in it.
    """

    tip: str | None = None
    base: str | None = None
    lock: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, robot: Robot) -> StatedArm:
        """The arm that ``robot`` is."""
        return cls(robot.tool_frame, robot.base_frame, robot.lock)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> StatedArm:
        """What `to_document` wrote, as far as it is there and can be meant."""
        tip, base, lock = (document.get(key) for key in ("tool_frame", "base_frame", "lock"))
        held = lock if isinstance(lock, dict) else {}
        return cls(
            tip if isinstance(tip, str) else None,
            base if isinstance(base, str) else None,
            {
                str(name): float(at)
                for name, at in held.items()
                if isinstance(at, int | float) and not isinstance(at, bool) and abs(at) < _FAR
            },
        )

    def to_document(self) -> dict[str, Any]:
        """The entries of a JSON document."""
        stated = {"tool_frame": self.tip, "base_frame": self.base, "lock": dict(self.lock) or None}
        return {key: value for key, value in stated.items() if value is not None}


def load_robot(
    source: str | os.PathLike[str],
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """The robot that ``source`` names.

    Args:
        source: a catalogue name such as ``"ur5e"`` (in any case; see `robot_names`), the name of an arm that the
            package example-robot-data brings (``INSTALLED_ARMS``), or the path of a description: a URDF, a xacro file,
            or an MJCF. Arguments of a xacro file stand behind its path, as for xacro itself:
            ``"ur.urdf.xacro ur_type:=ur5e"``. A string is taken for a path if it is no such name and has a suffix or a
            folder in it, or names a file.
        tip: link whose frame becomes the tool frame. In a catalogue robot one behind the last joint, ``tool0`` if not
            given; for a description the tool flange, if that can be told: see `cut_arm`.
        base: link that poses are given in. Catalogue robots have ``base`` only.
        lock: positions to lock joints at, by name [rad or m]: those off the arm, which are at zero else, and those of
            the arm that are not to move.
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"a robot is given by its name or the path of a description, got {type(source).__name__}")
    if isinstance(source, str):
        if source.lower() in robot_names():
            if lock:
                raise InputError(f"{source} has no joints off the arm to lock: leave it out", argument="lock")
            return _with_frames(catalog_robot(source), tip, base)
        if source.lower() in INSTALLED_ARMS:
            return _installed(source.lower(), tip, base, lock)
        if not _looks_like_path(source):
            raise _unknown(source)
    return cut_arm(read_description(source), tip, base, lock)


def load_description(
    text: str,
    called: str,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """The arm that the text of a URDF describes, as a running robot publishes it, or a bag holds it.

    The text is data: macros of xacro are refused, and the files of meshes that it names are not read.

    Args:
        text: of the URDF.
        called: what messages call it.
        tip, base, lock: see `load_robot`.
    """
    robot = cut_arm(read_tree(called, text.encode()), tip, base, lock)
    links = tuple(
        dataclasses.replace(link, geometry=_without_files(link.geometry), visual=_without_files(link.visual))
        for link in robot.links
    )
    return dataclasses.replace(robot, links=links)


def read_description(source: str | os.PathLike[str]) -> DescriptionTree:
    """The links and joints of a URDF or MJCF file, which its root element says; or of a xacro file.

    A xacro file is a program. It is run where the path says that it is one, by its suffix or by arguments behind it;
    not because macros are found in a file that was given as a URDF.

    Args:
        source: its path, for a xacro file with arguments behind it: see `split_arguments`.
    """
    path, arguments = split_arguments(source)
    root = read_root(path)
    if root.tag == "robot" and (Path(path).suffix.lower() == ".xacro" or (arguments and holds_macros(root))):
        return read_tree(path, expand_xacro(path, arguments))
    if arguments:
        raise InputError(f"{path} is no xacro file, and takes no arguments: leave out {next(iter(arguments))}:=...")
    if root.tag == "mujoco":
        return read_mjcf(path)
    return read_tree(path)


def load_stated_robot(
    source: str | os.PathLike[str],
    stated: StatedArm,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """`load_robot` with what is asked for, or else what a file states, as far as the robot has it.

    Args:
        source: of the robot.
        stated: the arm of the file.
        tip, base, lock: see `load_robot`; None, and no joints, for those of the file.
    """
    tips = [tip] if tip is not None or stated.tip is None else [stated.tip, None]
    bases = [base] if base is not None or stated.base is None else [stated.base, None]
    locks = [lock] if lock or not stated.lock else [stated.lock, None]
    for frame, foot, held in product(tips, bases, locks):
        if (frame, foot, held) != (tip, base, lock):
            with suppress(IparamError):  # the robot's own, then
                return load_robot(source, tip=frame, base=foot, lock=held)
    return load_robot(source, tip=tip, base=base, lock=lock)


def is_known(robot: str) -> bool:
    """Whether a robot is given by a name, of the catalogue or of an installed package: no file is needed for it."""
    return robot.lower() in (*robot_names(), *INSTALLED_ARMS)


def stated_name(robot: str, file: str | os.PathLike[str]) -> str:
    """The robot that a file names, if that is a known name, of which no file can change the meaning.

    Args:
        robot: what the file states.
        file: the trajectory or recording that states it, or what messages call it.

    Raises:
        StatedPathError: it is a path, which the error offers as it leads from here to a file that is there.
        InputError: it is no known name.
    """
    if is_known(robot):
        return robot
    if _looks_like_path(robot):
        raise StatedPathError(file, "robot file", _offered(robot, file), "robot")
    known = str(_unknown(robot)).rstrip(".")
    raise InputError(f"{os.fspath(file)} belongs to {robot!r}. {known}. Say which robot that is", argument="robot")


def stated_in_setup(robot: str, file: str | os.PathLike[str]) -> str:
    """The robot of a setup, which may name a file, too: a description that is data, in the setup's own folder.

    Args:
        robot: what the setup states, its path already counted from the setup's folder.
        file: the setup.

    Raises:
        StatedPathError: it is a xacro file, or lies elsewhere.
    """
    if is_known(robot) or not _looks_like_path(robot):
        return robot
    path = Path(without_arguments(robot))
    with suppress(OSError, ValueError, RuntimeError):
        inside = path.resolve().is_relative_to(Path(file).resolve().parent)
        if inside and path.suffix.lower() != ".xacro" and str(path) == robot:
            return robot
    raise StatedPathError(file, "robot file", robot, "robot")


def _offered(robot: str, file: str | os.PathLike[str]) -> str:
    """The path that a file names, as it leads from here: files that belong together are moved together.

    A relative path that leads to nothing from the working directory is taken from the folder of the file that names
    it, or for the name of a file beside it, if there is one. Nothing is opened.
    """
    path_text = without_arguments(robot)
    stated, arguments = Path(path_text), robot[len(path_text) :]
    if stated.is_absolute():
        return robot
    with suppress(OSError, ValueError):
        folder = Path(file).parent
        for path in (stated, folder / stated, folder / stated.name):
            if path.is_file():
                return str(path) + arguments
    return robot


def _installed(name: str, tip: str | None, base: str | None, lock: Mapping[str, float] | None) -> Robot:
    """An arm by name from an installed package, at the flange that the table gives unless told otherwise."""
    tree = read_description(installed_description(name))
    known = INSTALLED_ARMS[name]
    robot = cut_arm(tree, known.tip if tip is None else tip, known.base or None if base is None else base, lock)
    return dataclasses.replace(robot, name=name)


def _unknown(name: str) -> UnknownNameError:
    known = (*robot_names(), *INSTALLED_ARMS)
    return UnknownNameError(
        "robot", name, known, hint="The path of a .urdf, .xacro or .xml works too.", argument="robot"
    )


def _without_files(pieces: tuple[LinkGeometry, ...]) -> tuple[LinkGeometry, ...]:
    return tuple(dataclasses.replace(piece, file=None) for piece in pieces)


def _with_frames(robot: Robot, tip: str | None, base: str | None) -> Robot:
    if base not in (None, robot.base_frame):
        raise UnknownNameError(
            "base frame", base, [robot.base_frame], hint="Catalogue robots have no other.", argument="base"
        )
    if tip in (None, robot.tool_frame):
        return robot
    bodies = zip(robot.frames, robot.chain.frame_bodies, strict=True)
    choices = [frame for frame, body in bodies if body == robot.num_joints]
    if tip not in choices:
        raise UnknownNameError(
            "tool frame", tip, choices, hint="These are the frames behind the last joint.", argument="tip"
        )
    return dataclasses.replace(robot, tool_frame=tip)


def _looks_like_path(source: str) -> bool:
    path = Path(source)
    try:
        return bool(source) and (bool(path.suffix) or len(path.parts) > 1 or path.exists())
    except (OSError, ValueError):
        return False
