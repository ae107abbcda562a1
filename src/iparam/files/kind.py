"""What kind of file stands at a path that is about to be written, so that nothing else is destroyed by a slip."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from iparam.errors import FileWriteError, InputError
from iparam.files.atomic import check_writable


class FileKind(StrEnum):
    """The kinds of files that iparam writes; the value is what messages call it."""

    RECORDING = "a recording"
    STATES = "states of a tool"
    TRAJECTORY = "a trajectory"
    POSES = "poses to rest in"
    RESULT = "a result"
    STATIC_RESULT = "a result from rests"
    ARM = "an identified arm"
    SENSOR = "a calibrated sensor"
    TRUTH = "a simulation's truth"
    CELL = "a work cell"
    REPORT = "a report"
    VIEW = "a view"
    URDF = "a robot's URDF from iparam"
    EXPORTED_LOAD = "a load exported as JSON"
    EXPORTED_URDF = "a load exported for a URDF"
    EXPORTED_MJCF = "a load exported for MuJoCo"
    EXPORTED_SDF = "a load exported for Gazebo"
    EXPORTED_URSCRIPT = "a load exported for URScript"
    EXPORTED_FRANKA = "a load exported for Franka"
    EXPORTED_KUKA = "a load exported for KUKA"
    EXPORTED_ABB = "a load exported for ABB"
    EXPORTED_XARM = "a load exported for an xArm"
    EXPORTED_ROS2 = "a load exported for ROS 2"
    EXPORTED_USD = "a load exported for USD"
    EXPORTED_TABLE = "loads exported as a table"
    BAG = "a bag"
    FLEET = "a table of a fleet"
    SETUP = "a setup"


_FORMATS = {
    b"iparam-recording": FileKind.RECORDING,
    b"iparam-states": FileKind.STATES,
    b"iparam-trajectory": FileKind.TRAJECTORY,
    b"iparam-poses": FileKind.POSES,
    b"iparam-result": FileKind.RESULT,
    b"iparam-static-result": FileKind.STATIC_RESULT,
    b"iparam-robot": FileKind.ARM,
    b"iparam-sensor": FileKind.SENSOR,
    b"iparam-truth": FileKind.TRUTH,
    b"iparam-cell": FileKind.CELL,
    b"iparam-load": FileKind.EXPORTED_LOAD,
    b"iparam-fleet": FileKind.FLEET,
    b"iparam-setup": FileKind.SETUP,
}
_WRITTEN_BY = {
    FileKind.RECORDING: "iparam simulate' or 'iparam ur record",
    FileKind.TRAJECTORY: "iparam excite optimize",
    FileKind.POSES: "iparam excite poses",
    FileKind.RESULT: "iparam identify payload",
    FileKind.STATIC_RESULT: "iparam identify payload",
    FileKind.SENSOR: "iparam calibrate sensor",
    FileKind.TRUTH: "iparam simulate",
    FileKind.CELL: "iparam.robot.save_cell",
    FileKind.SETUP: "iparam setup",
}
_EXPORTS = {
    b"<mujocoinclude>": FileKind.EXPORTED_MJCF,
    b"LOAD_DATA": FileKind.EXPORTED_KUKA,
    b"PERS loaddata": FileKind.EXPORTED_ABB,
    b"arm.set_tcp_load": FileKind.EXPORTED_XARM,
    b"ros__parameters": FileKind.EXPORTED_ROS2,
    b'"setLoad"': FileKind.EXPORTED_FRANKA,
    b"payload(": FileKind.EXPORTED_URSCRIPT,
    b"<pose>": FileKind.EXPORTED_SDF,
    b"<inertia ": FileKind.EXPORTED_URDF,
    b"\nmass,center_of_mass_x,": FileKind.EXPORTED_TABLE,
}
_EXPORT_MARK, _URDF_MARK, _REPORT_MARK = b"Load identified by iparam", b"Written by iparam", b"Made by iparam."
_VIEW_MARK = b"Seen with iparam."
_STATES_HEADER = re.compile(rb"time,x,y,z,qx,qy,qz,qw,")
_RECORDING_HEADER = re.compile(
    rb"time(,((tcp_|raw_)?[ft][xyz]|[agw][xyz]|al[xyz]|q[wxyz]|[A-Za-z_]\w*[0-9]))+\r?(\n|$)"
)
_TOML_FORMAT = re.compile(rb'format\s*=\s*"(iparam-[a-z-]+)/[0-9]+"')
_JSON_FORMAT = re.compile(rb'\{\s*"format"\s*:\s*"(iparam-[a-z-]+)/[0-9]+"')
_PARQUET_FORMAT = re.compile(rb"(iparam-[a-z-]+)/[0-9]+")
_PARQUET = b"PAR1"
_HEAD = 1 << 16
_MOST = 20_000_000
"""Bytes that are looked through for a mark: no file that has one in its middle or at its end is larger."""

_NO_FILE = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def kind_of(path: str | os.PathLike[str]) -> FileKind | None:
    """The kind of a file that iparam has written; None for any other, also for one that cannot be read."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(_HEAD)
            if head.startswith(_PARQUET):
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, size - 8))
                index = min(int.from_bytes(stream.read(4), "little"), _MOST)
                stream.seek(max(0, size - 8 - index))
                found = _PARQUET_FORMAT.search(stream.read(index))
                return _FORMATS.get(found[1]) if found else None
            return _kind_of_text(head.removeprefix(b"\xef\xbb\xbf").lstrip(), stream.read(_MOST))
    except OSError:
        return None


def kind_stated(content: Mapping[str, object]) -> FileKind | None:
    """The kind that a document states, whatever the version of its format; None if it states none."""
    stated = content.get("format")
    return _FORMATS.get(stated.partition("/")[0].encode(errors="replace")) if isinstance(stated, str) else None


def needed(kind: FileKind) -> str:
    """What to say of a file that should have been of a kind: it, and who writes it."""
    return f"this needs {kind}, as '{_WRITTEN_BY[kind]}' writes it"


def kind_begun(text: bytes) -> FileKind | None:
    """The kind of a file of iparam's that states its format, JSON or TOML, by its first bytes."""
    stated = _JSON_FORMAT.match(text.lstrip()) or _TOML_FORMAT.match(text.lstrip())
    return _FORMATS.get(stated[1]) if stated else None


def check_target(
    path: Path, kind: FileKind, name: str, *, overwrite: bool = False, way_out: str = "choose another file"
) -> None:
    """Refuse a path that cannot be written, or at which stands something else than what is going to be.

    An empty file, and one of the same kind, may be replaced. What iparam did not write may be somebody's only copy.

    Args:
        path: of the file.
        kind: that it will be.
        name: of the option or parameter that gave it, for messages.
        overwrite: whether a file of any kind may be replaced.
        way_out: what to do instead, for messages.
    """
    if not path.absolute().parent.is_dir():
        raise InputError(f"{name} {path}: the folder {path.parent} does not exist; create it first")
    try:
        status = path.stat()
    except FileNotFoundError:
        check_writable(path, name)
        return
    except OSError as error:
        raise FileWriteError(f"{name} {path} cannot be written: {error.strerror or error}") from None
    if not stat.S_ISREG(status.st_mode):
        what = _NO_FILE.get(stat.S_IFMT(status.st_mode), "something else")
        raise InputError(f"{name} {path} is {what}, not a file: give a file's path")
    if _is_printed_to(status):
        raise InputError(f"{name} {path} is where the printed text goes, which would be lost: choose another file")
    check_writable(path, name)
    if overwrite or status.st_size == 0:
        return
    found = kind_of(path)
    if found is not kind:
        raise InputError(
            f"{name} {path} exists and is {found or 'nothing that iparam wrote'}, and {kind} would take its place: "
            f"{way_out}"
        )


def _is_printed_to(status: os.stat_result) -> bool:
    """Whether a file is the one that standard output or standard error go to."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if os.path.samestat(os.fstat(stream.fileno()), status):
                return True
        except (OSError, ValueError, AttributeError):  # closed, or replaced by something that is no file
            continue
    return False


def _kind_of_text(head: bytes, rest: bytes) -> FileKind | None:
    if (stated := kind_begun(head)) is not None:
        return stated
    if _STATES_HEADER.match(head):
        return FileKind.STATES
    if _RECORDING_HEADER.match(head):
        return FileKind.RECORDING
    if b"<robot" in head:
        return FileKind.URDF if _URDF_MARK in head or _EXPORT_MARK in head + rest else None
    if head.startswith(b"#usda"):
        return FileKind.EXPORTED_USD if _EXPORT_MARK in head + rest else None
    if _VIEW_MARK in head:
        return FileKind.VIEW
    if _REPORT_MARK in head:
        return FileKind.REPORT
    if _EXPORT_MARK in head:
        return next((kind for mark, kind in _EXPORTS.items() if mark in head), None)
    return None
