"""`arms_in_folder`: which arms the descriptions in a folder hold, and why the others hold none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iparam.errors import FileFormatError, IparamError
from iparam.robot.description.arm import cut_arm
from iparam.robot.description.arm_choice import arms_of, default_arm
from iparam.robot.description.tree import DescriptionTree
from iparam.robot.model import Robot

MOST_FILES = 2000
"""Descriptions that are read in one folder."""

MOST_ENTRIES = 200_000
"""Files and folders that are looked at."""

DEEPEST = 16
"""Folders below each other."""

MOST_ARMS = 12
"""Arms that are listed of one file."""

_SUFFIXES = {".urdf", ".xacro", ".xml", ".mjcf"}
_HEAD = 8192


@dataclass(frozen=True, eq=False)
class FolderEntry:
    """An arm of a description, or why there is none.

    Attributes:
        path: of the file.
        robot: the arm, with the base and tip to ask for it by; None if there is a problem.
        problem: one line; "" for an arm.
    """

    path: Path
    robot: Robot | None
    problem: str = ""

    @property
    def limited(self) -> dict[str, bool]:
        """Whether every joint has limits of position, velocity and torque."""
        if self.robot is None:
            return {}
        limits = self.robot.limits
        bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        return {
            "position": bool(bounded.all()),
            "velocity": bool(np.isfinite(limits.velocity).all()),
            "torque": bool(np.isfinite(limits.torque).all()),
        }


def arms_in_folder(folder: Path, read: Callable[[Path], DescriptionTree]) -> Iterator[FolderEntry]:
    """Each arm of each description below a folder, in order of their paths.

    Links to folders are not followed. xacro files are not run: such a file is a program, and being in a folder is no
    reason to trust it.

    Args:
        folder: where to look.
        read: a description's file into its tree.
    """
    if not folder.is_dir():
        raise FileFormatError(f"{folder} is no folder" if folder.exists() else f"{folder} does not exist")
    for path in _descriptions(folder):
        if path.suffix.lower() == ".xacro":
            yield FolderEntry(path, None, f"{path}: xacro is a program and was not run: load it if you trust it")
            continue
        try:
            yield from _entries(path, read(path))
        except IparamError as error:
            yield FolderEntry(path, None, " ".join(str(error).split()))


def _entries(path: Path, tree: DescriptionTree) -> Iterator[FolderEntry]:
    found = arms_of(tree, None)[:MOST_ARMS]
    if len(found) < 2:
        arm = default_arm(tree, None)  # or the error that says why there is none
        found = [arm]
    for arm in found:
        try:
            yield FolderEntry(path, cut_arm(tree, arm.tip, arm.base))
        except IparamError as error:
            yield FolderEntry(path, None, f"{arm.tip}: {' '.join(str(error).split())}")


def _descriptions(folder: Path) -> Iterator[Path]:
    """Files that may be descriptions, by their suffix and, where that says little, by their first element."""
    files = entries = 0
    depth = len(folder.parts)
    for where, folders, names in os.walk(folder, onerror=None, followlinks=False):
        folders.sort()
        if len(Path(where).parts) - depth >= DEEPEST:
            folders.clear()
        entries += len(folders) + len(names)
        for name in sorted(names):
            path = Path(where) / name
            if path.suffix.lower() not in _SUFFIXES or not path.is_file() or not _is_robot(path):
                continue
            files += 1
            if files > MOST_FILES:
                raise FileFormatError(f"{folder} holds more than {MOST_FILES} descriptions: choose a smaller folder")
            yield path
        if entries > MOST_ENTRIES:
            raise FileFormatError(f"{folder} holds more than {MOST_ENTRIES} files: choose a smaller folder")


def _is_robot(path: Path) -> bool:
    if path.suffix.lower() not in (".xml", ".mjcf"):
        return True
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return False
    return any(mark in head for mark in (b"<mujoco>", b"<mujoco ", b"<robot"))
