"""What a command writes: marked where the option is declared, and checked before any command does any work.

An output is refused if it is an input of the same command or another output of it, by whatever path or link, if
something stands there that is no file, or if its folder may not be written to. A file of another kind than the command
writes is replaced on demand only.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from tyro.conf import arg

import iparam
from iparam.errors import InputError
from iparam.files.atomic import check_writable
from iparam.files.kind import FileKind, check_target

if TYPE_CHECKING:
    from iparam.cli.command_table import Command

ROBOT = "robot"
"""The option that names a robot: an input if it is a file's path."""

_SUFFIXES: dict[FileKind, tuple[str, ...]] = {
    FileKind.REPORT: (".html", ".htm"),
    FileKind.SETUP: (".toml",),
    **dict.fromkeys((FileKind.TRAJECTORY, FileKind.POSES, FileKind.CELL, FileKind.TRUTH, FileKind.SENSOR), (".json",)),
    **dict.fromkeys((FileKind.RESULT, FileKind.STATIC_RESULT, FileKind.ARM), (".json",)),
}
"""Of the files of a kind, where the help names one; what has another name would be taken for another format."""


@dataclass(frozen=True)
class Writes:
    """In the annotation of an option: the path that it takes is written by the command.

    Attributes:
        kind: what will be there, or a function that tells it from the command's options.
        files: of a folder that gets several files: their names and kinds; None for one that the command checks itself.
        paths: of an option that names several files at once: those that the command's options make of it.
    """

    kind: FileKind | Callable[[Any], FileKind] | None = None
    files: Mapping[str, FileKind | None] = field(default_factory=dict, hash=False)
    paths: Callable[[Any], Sequence[Path]] | None = None


Overwrite = Annotated[
    bool, arg(help="Replace a file that is of another kind than what is written.", help_behavior_hint="")
]
"""The type of the option ``overwrite`` that every command has which writes a file."""


@dataclass(frozen=True)
class _Given:
    name: str
    path: Path
    kind: FileKind | None = None


def check_outputs(command: Command) -> None:
    """Refuse what the command must not write to; see the module."""
    outputs, inputs = list(_outputs(command)), list(_inputs(command))
    overwrite = bool(getattr(command, "overwrite", False))
    for place, output in enumerate(outputs):
        for other in outputs[:place]:
            if other.name != output.name and _same(output.path, other.path):
                raise InputError(f"{other.name} and {output.name} are the same file, {output.path}: give each its own")
        for given in inputs:
            if _destroys(output, given.path):
                raise InputError(
                    f"{output.name} {output.path} is read, too ({given.name}: {given.path}), and would be lost: choose "
                    "another file"
                )
    for output in outputs:
        _check(output, overwrite)


@functools.cache
def written_options(command_type: type[Command]) -> dict[str, Writes]:
    """The options of a command that are paths to write to."""
    marks = {
        name: next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Writes)), None)
        for name, hint in get_type_hints(command_type, include_extras=True).items()
    }
    return {name: mark for name, mark in marks.items() if mark is not None}


def _outputs(command: Command) -> Iterator[_Given]:
    for name, mark in written_options(type(command)).items():
        path, option = getattr(command, name), f"--{name.replace('_', '-')}"
        if path is None:
            continue
        if mark.kind is not None:
            stated = mark.kind(command) if callable(mark.kind) else mark.kind
            yield from (_Given(option, one, stated) for one in (mark.paths(command) if mark.paths else (path,)))
        if mark.kind is None or mark.kind is FileKind.BAG:  # a folder
            check_writable(path / next(iter(mark.files), "x") if path.is_dir() else path, option)
        if mark.files and path.exists() and not path.is_dir():
            raise InputError(f"{option} {path} is a file, not a folder: choose another name")
        for file, kind in mark.files.items():
            if path.is_dir():
                yield _Given(option, path / file, kind)


def _inputs(command: Command) -> Iterator[_Given]:
    written = written_options(type(command))
    for option in fields(command):
        if option.name in written:
            continue
        value = getattr(command, option.name)
        if option.name == ROBOT and value is not None:
            value = tuple(Path(name) for name in ([value] if isinstance(value, str) else value))
        for path in value if isinstance(value, tuple) else (value,):
            if isinstance(path, Path):
                yield _Given(option.name.replace("_", " "), path)


def _check(output: _Given, overwrite: bool) -> None:
    if output.kind is None:
        return
    suffixes = _SUFFIXES.get(output.kind, ())
    if output.kind is FileKind.RECORDING:
        suffixes = iparam.recording.SUFFIXES
    if suffixes and output.path.suffix.lower() not in suffixes:
        raise InputError(f"{output.name} {output.path}: {output.kind} is a {' or '.join(suffixes)} file")
    if output.kind is not FileKind.BAG:  # a folder, which has rules of its own
        check_target(
            output.path,
            output.kind,
            output.name,
            overwrite=overwrite,
            way_out="choose another file, or add --overwrite to replace it",
        )


def _destroys(output: _Given, given: Path) -> bool:
    """Whether writing an output would replace an input, or a file in a folder that is one."""
    if _same(output.path, given):
        return True
    if output.kind is FileKind.BAG:
        return Path(os.path.realpath(given)).is_relative_to(os.path.realpath(output.path))
    return output.path.exists() and given.is_dir() and any(_same(output.path, file) for file in given.iterdir())


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)  # hard links, too
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
