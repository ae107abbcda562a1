"""The signals that recordings are made of: their names, units, frames, and the table columns that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iparam.errors import InputError


@dataclass(frozen=True)
class Channel:
    """A kind of signal that has a fixed meaning.

    Attributes:
        unit: of its components.
        frame: that they refer to.
        columns: their names in a table; empty for one component a joint, whose columns are the name and a number.
    """

    unit: str
    frame: str
    columns: tuple[str, ...] = ()


TOOL = "tool"
"""In place of a frame: the tool frame that the recording's metadata name, or else the arm's, whatever its name is."""

CHANNELS = {
    "q": Channel("rad", "joint"),
    "dq": Channel("rad/s", "joint"),
    "ddq": Channel("rad/s^2", "joint"),
    "wrench": Channel("N, N m", TOOL, ("fx", "fy", "fz", "tx", "ty", "tz")),
    "accelerometer": Channel("m/s^2", TOOL, ("ax", "ay", "az")),
    "gyro": Channel("rad/s", TOOL, ("wx", "wy", "wz")),
    "orientation": Channel("1", "world", ("qw", "qx", "qy", "qz")),
    "rotation": Channel("1", "world", tuple(f"r{row}{column}" for row in "123" for column in "123")),
    "gravity_in_sensor": Channel("m/s^2", TOOL, ("gx", "gy", "gz")),
    "angular_acceleration": Channel("rad/s^2", TOOL, ("alx", "aly", "alz")),
    "tau": Channel("N m", "joint"),
    "current": Channel("A", "joint"),
    "target_q": Channel("rad", "joint"),
    "target_dq": Channel("rad/s", "joint"),
    "target_ddq": Channel("rad/s^2", "joint"),
    "target_current": Channel("A", "joint"),
    "target_torque": Channel("N m", "joint"),
    "tcp_force": Channel("N, N m", "base", ("tcp_fx", "tcp_fy", "tcp_fz", "tcp_tx", "tcp_ty", "tcp_tz")),
    "raw_wrench": Channel("N, N m", TOOL, ("raw_fx", "raw_fy", "raw_fz", "raw_tx", "raw_ty", "raw_tz")),
}
"""The canonical signals. wrench: what the robot exerts on the payload, in the tool frame about its origin;
accelerometer: proper acceleration a - g of the tool frame's origin, in its axes; gyro: its angular velocity, in its
axes. Where there are no joint angles, the sensor's own frame is meant, and its orientation in the world (base) is
recorded as a quaternion, as a rotation matrix whose columns are the sensor's axes in the world, or as gravity in the
sensor's axes. tcp_force and raw_wrench are what a UR controller reports, with its own sign and offsets, beside the
wrench that was made from one of them."""

ANGLES = ("q", "dq", "ddq", "target_q", "target_dq", "target_ddq")
"""The signals that are in degrees where a file is."""

EFFORTS = ("tau", "current")
"""What the drives do, of which some joints may have no sensor."""

NANOSECONDS = "time_nanoseconds"
"""The column beside a time in whole seconds that tells the rest of it."""

IGNORED = "_"
"""In a list of columns: a column that is not wanted."""

_FIXED = {column: (name, i) for name, channel in CHANNELS.items() for i, column in enumerate(channel.columns)}
_NUMBERED = re.compile(r"([A-Za-z_](?:[A-Za-z0-9_]*[A-Za-z_])?)(0|[1-9][0-9]{0,3})")
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_]*[A-Za-z_])?")


def check_name(name: object) -> str:
    """``name`` if a signal may be called that: a word that does not end in a digit, since its columns do."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "time":
        raise InputError(
            f"a signal's name is letters, digits and underscores, begins with a letter and does not end in a digit "
            f"(its columns are numbered), and is not 'time'; got {name!r}"
        )
    return name


def default_unit(name: str) -> str:
    """The unit of a canonical signal, "" for others."""
    return CHANNELS[name].unit if name in CHANNELS else ""


def default_frame(name: str, tool_frame: str = TOOL) -> str:
    """The frame of a canonical signal, "" for others; ``tool_frame`` names the tool's, where that is known."""
    frame = CHANNELS[name].frame if name in CHANNELS else ""
    return tool_frame if frame == TOOL else frame


def column_names(name: str, width: int) -> list[str]:
    """The table columns of a signal with ``width`` components."""
    channel = CHANNELS.get(name)
    if channel is not None and channel.columns:
        if width != len(channel.columns):
            raise InputError(
                argument=name,
                problem=f"has the {len(channel.columns)} components {', '.join(channel.columns)}, got {width}",
            )
        return list(channel.columns)
    return [f"{name}{i}" for i in range(width)]


def signal_of_column(column: str) -> tuple[str, int] | None:
    """The signal and component that a table column holds, or None if its name says nothing."""
    if column in _FIXED:
        return _FIXED[column]
    match = _NUMBERED.fullmatch(column)
    if match is None or match[1] == "time" or (match[1] in CHANNELS and CHANNELS[match[1]].columns):
        return None
    return match[1], int(match[2])


def expand_columns(columns: str | Sequence[str], found: int, num_joints: int | None = None) -> list[str]:
    """The column names of a headerless table, from a list such as ``"time,q,dq,current"``.

    Args:
        columns: separated by commas: ``time``; groups, which take n columns (or 6 and 3: wrench, accelerometer, gyro);
            single columns such as ``q0`` or ``fx``; ``_`` for a column to ignore.
        found: how many columns the table has.
        num_joints: n; None finds it from ``found``.
    """
    words = _words(columns)
    fixed = [word for word in words if word in CHANNELS and CHANNELS[word].columns]
    groups = [word for word in words if _is_group(word)]
    single = len(words) - len(fixed) - len(groups)
    rest = found - single - sum(len(CHANNELS[word].columns) for word in fixed)
    if num_joints is None and groups:
        num_joints, remainder = divmod(rest, len(groups))
        if remainder or num_joints < 1:
            raise InputError(
                f"the file has {found} columns; with columns {','.join(words)} that leaves {rest} for the "
                f"{len(groups)} groups {', '.join(groups)}, which is no whole number of joints"
            )
    names: list[str] = []
    for word in words:
        if word in fixed:
            names += CHANNELS[word].columns
        elif word in groups:
            names += [f"{word}{i}" for i in range(num_joints or 0)]
        else:
            names.append(word)
    if len(names) != found:
        joints = f" for {num_joints} joints" if groups else ""
        told = f"{','.join(words)} are {len(names)}{joints}, but the file has {found}"
        raise InputError(argument="columns", problem=told)
    repeated = sorted({name for name in names if name != IGNORED and names.count(name) > 1})
    if repeated:
        raise InputError(argument="columns", problem=f"name {repeated[0]} more than once")
    return names


def _words(columns: str | Iterable[str]) -> list[str]:
    parts = columns.split(",") if isinstance(columns, str) else list(columns)
    words = [str(part).strip() for part in parts]
    if "time" not in words:
        raise InputError(argument="columns", problem=f"must name time, got {','.join(words)!r}")
    for word in words:
        if not (word in ("time", IGNORED) or _NAME.fullmatch(word) or _NUMBERED.fullmatch(word)):
            raise InputError(
                argument="columns", problem=f"holds {word!r}, which is no name; groups: {', '.join(CHANNELS)}"
            )
    return words


def _is_group(word: str) -> bool:
    if word in ("time", IGNORED) or word in _FIXED or _NUMBERED.fullmatch(word):
        return False
    return not CHANNELS[word].columns if word in CHANNELS else True
