"""Where the references of a robot description lead: to regular files of what the user named, and nowhere else.

That is the folder of the description, or the package that it is in, and what ROS's and Gazebo's variables list. A
stranger's file could name anything else: a pipe that nobody writes to, a device without an end, the user's own files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from iparam.errors import FileFormatError
from iparam.robot.urdf.xml import read_root

_GAZEBO_ROOTS = ("GZ_SIM_RESOURCE_PATH", "SDF_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
_ROOTS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "CMAKE_PREFIX_PATH", *_GAZEBO_ROOTS)
_MARKS = ("package.xml", "model.config", ".git")
"""Of which a folder has one if what is in it belongs together: a ROS package, a model of Gazebo's, a checkout."""

_FOLDERS = ("meshdir", "texturedir", "assetdir")
_MODELS = ("include", "model")


def find_referenced(reference: str, description: Path) -> Path | None:
    """The file that a description refers to; None if there is none.

    ``package://name/path`` (and ``model://``) is looked for beside the description and in every folder above it, then
    under the roots that ROS's and Gazebo's environment variables list; a relative path starts at the description.

    Args:
        reference: it.
        description: path of the file; where that is none, because it was published, only the variables count.

    Raises:
        FileFormatError: it is there, and must not be read.
    """
    refused = None
    for path in _candidates(reference, description.parent):
        try:
            check_referenced(path, description)
            if path.is_file():
                return path
        except FileFormatError as error:
            refused = refused or error
        except (OSError, ValueError, RuntimeError):
            continue
    if refused is not None:
        raise refused
    return None


def check_referenced(path: Path, description: Path) -> None:
    """Refuse what a description must not refer to.

    Raises:
        FileFormatError: it is no regular file nor a folder, or it is not of what the user named.
        OSError: it is not there.
    """
    real = path.resolve(strict=True)
    if not (real.is_file() or real.is_dir()):
        raise FileFormatError(f"{path} is neither a file nor a folder, and is not read")
    plain = Path(os.path.normpath(path.absolute()))
    # Links inside what the user has installed are the user's: colcon's --symlink-install makes thousands.
    if any(real.is_relative_to(root) for root in _own_roots(description, real)):
        return
    if any(plain.is_relative_to(root.absolute()) for root in _stated_roots()):
        return
    raise FileFormatError(
        f"{path} is outside of the description's folder and package, and is not read: copy it there, or, if it belongs "
        f"to this robot, add {real.parent} to {_ROOTS[0]}"
    )


def _candidates(reference: str, folder: Path) -> Iterator[Path]:
    """Where a reference may lead, likely places first."""
    scheme, mark, rest = reference.strip().partition("://")
    if not mark:
        yield folder / reference.strip()
    elif scheme == "file":
        yield Path(unquote(rest))
    elif scheme in ("package", "model"):
        name, _, inside = unquote(rest).partition("/")
        start = folder.resolve()
        for above in (start, *start.parents):
            yield above / name / inside
            yield above / "share" / name / inside
        for root in _stated_roots():
            yield root / name / inside
            yield root / "share" / name / inside
            if root.name == name:
                yield root / inside


def _stated_roots() -> Iterator[Path]:
    for variable in _ROOTS:
        yield from (Path(root) for root in os.environ.get(variable, "").split(os.pathsep) if root)


def _own_roots(description: Path, real: Path) -> Iterator[Path]:
    """The folder of the description, the package around it, and the package beside it or above that a file is in."""
    if not description.is_file():
        return
    home = Path.home().resolve()
    for start in {description.parent.resolve(), description.resolve().parent}:
        yield start
        for above in start.parents:
            if home.is_relative_to(above):  # nobody's package
                break
            if _is_package(above):
                yield above
            for beside in (above, above / "share"):
                if real.is_relative_to(beside) and real != beside:
                    package = beside / real.relative_to(beside).parts[0]
                    if _is_package(package):
                        yield package


def _is_package(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)


def check_mjcf_files(path: Path) -> int:
    """Refuse an MJCF that refers to what must not be read, itself or in a file that it includes; the bytes of them all.

    A reference may start at the file, at the one that includes it, and at the folders for meshes and textures; what is
    in any of these places has to be sound.

    Raises:
        FileFormatError: a reference leads to a device or a pipe, for which MuJoCo would wait for ever, or out of what
            the user named.
    """
    sizes = {path.resolve(): path.stat().st_size}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        try:
            elements = list(read_root(file).iter())
        except FileFormatError:
            continue  # MuJoCo says what is wrong with it
        folders = {name for element in elements for name in (element.get(key) for key in _FOLDERS) if name}
        for element in elements:
            for name in (value for key, value in element.attrib.items() if key.startswith("file")):
                for place in _places(name, {path.parent, file.parent}, folders):
                    with suppress(OSError, RuntimeError):
                        check_referenced(place, path)
                        real = place.resolve()
                        if element.tag in _MODELS and real not in sizes:
                            waiting.append(place)
                        sizes[real] = real.stat().st_size
    return sum(sizes.values())


def _places(name: str, starts: set[Path], folders: set[str]) -> Iterator[Path]:
    """Where a file may be. MuJoCo leaves out the folders of its name where strippath= says so; takes a backslash for a
    slash; and takes ``x/..`` out of a path, even where there is no x.
    """
    path = name.replace("\\", "/")
    for one in {name, path, Path(path).name}:
        for start in starts:
            for place in (start / one, *(start / folder.replace("\\", "/") / one for folder in folders)):
                yield from {place, Path(os.path.normpath(place))}
