"""What columns mean that are named as other programs name them: ``actual_q_0``, ``Joint1_pos``, ``tau_J[0]``,
``orientation.x``, ``force_z``.

A name is parted into words and one number or axis. It is understood only where every word of it is, and where the
columns of a signal are complete, numbered from 0 or from 1, as many as other signals have, and the only ones that could
be meant. Torques and currents of some joints only are numbered as the angles are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from iparam.recording.channels import CHANNELS, EFFORTS, NANOSECONDS, column_names, signal_of_column

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_FILLERS = frozenset(
    ("actual", "act", "measured", "meas", "msr", "field", "state", "states", "joint", "joints", "axis", "j", "a", "arm")
)
"""Words that say nothing more than that a joint was measured."""

_TARGETS = frozenset(["target", "desired", "des", "d", "cmd", "command", "commanded", "ref", "reference", "setpoint"])

_OF_JOINTS = {
    "q": "q qpos pos position positions angle angles theta jpos",
    "dq": "dq qd qvel qdot vel velocity velocities speed speeds",
    "ddq": "ddq qdd qacc qddot acc acceleration accelerations",
    "tau": "tau torque torques trq effort efforts moment moments",
    "current": "current currents cur",
}
_TARGET_OF = {
    "q": "target_q",
    "dq": "target_dq",
    "ddq": "target_ddq",
    "tau": "target_torque",
    "current": "target_current",
}
_JOINT_SIGNALS = frozenset(name for name, channel in CHANNELS.items() if not channel.columns)
_JOINT_WORDS = {word: signal for signal, words in _OF_JOINTS.items() for word in words.split()}

_SENSOR_FILLERS = frozenset(["ft", "wrench", "sensor", "raw", "imu", "field", "pose"])
_ALONG_AXES = {
    ("force",): "f",
    ("f",): "f",
    ("torque",): "t",
    ("moment",): "t",
    ("m",): "t",
    ("t",): "t",
    ("orientation",): "q",
    ("quaternion",): "q",
    ("quat",): "q",
    ("angular", "velocity"): "w",
    ("gyro",): "w",
    ("omega",): "w",
    ("linear", "acceleration"): "a",
    ("acceleration",): "a",
    ("accelerometer",): "a",
    ("accel",): "a",
    ("acc",): "a",
}
"""What stands before x, y, z (and w), and the letter that columns of a recording have in its place."""

_WRENCHES = (("wrench",), ("ft",), ("ft", "wrench"), ("raw", "wrench"), ("ft", "raw", "wrench"))
"""Of six numbered columns."""

_FIXED = frozenset(column for channel in CHANNELS.values() for column in channel.columns)

_SECONDS = {"sec": ("nanosec", "nsec"), "secs": ("nsecs", "nanosecs"), "seconds": ("nanoseconds",)}
"""What columns of whole seconds end in, and those of the rest of them."""

_TIMES = (("timestamp",), ("time", "stamp"), ("stamp",), ("times",), ("t",), ("time",))


def usual_columns(names: Sequence[str]) -> dict[int, str]:
    """Columns of a recording by the place of what is named as other programs do; only of signals that none states.

    Args:
        names: of the columns, without units.
    """
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for column in _meanings(name):
            found.setdefault(column, []).append(place)
    complete = _complete(found)
    joints = _num_joints(names, complete)
    some = _of_some_joints(found, [name for name, columns in complete.items() if len(columns) == joints])
    taken = {
        place: column
        for channel, columns in complete.items()
        if not set(columns.values()) <= set(names) and (CHANNELS[channel].columns or len(columns) == joints)
        for place, column in columns.items()
        if names[place] != column
    } | {place: column for place, column in some.items() if names[place] != column}
    if "time" not in names:
        times = [place for place, name in enumerate(names) if _words(name) in _TIMES]
        if len(times) == 1:
            taken[times[0]] = "time"
        elif not times and len(pairs := _split_times(names)) == 1:
            taken |= pairs[0]
    return taken


def _split_times(names: Sequence[str]) -> list[dict[int, str]]:
    """Pairs of columns that are a time in whole seconds and the nanoseconds beyond, as ROS stamps messages."""
    places = {_words(name): place for place, name in enumerate(names)}
    return [
        {place: "time", places[(*words[:-1], rest)]: NANOSECONDS}
        for words, place in places.items()
        if words and words[-1] in _SECONDS
        for rest in _SECONDS[words[-1]]
        if (*words[:-1], rest) in places
    ]


def _num_joints(names: Sequence[str], complete: Mapping[str, Mapping[int, str]]) -> int:
    """Of the signals that are stated, or else of the positions, or of whatever comes first."""
    stated = Counter(place[0] for name in names if (place := signal_of_column(name)) is not None)
    whole = [count for name, count in stated.items() if name in _JOINT_SIGNALS and f"{name}0" in names]
    of_joints = [len(columns) for channel, columns in complete.items() if channel in _JOINT_SIGNALS]
    return [*whole, *of_joints, 0][0]


def usual_signal(name: str) -> str | None:
    """The signal that an array of that name holds, one column a component."""
    words = _words(name)
    if any(word.isdigit() for word in words):
        return None
    return "wrench" if words in _WRENCHES else _of_joints(words)


def _meanings(name: str) -> list[str]:
    """The columns that a name may stand for; the numbers of joints are those in the name."""
    if name in _FIXED:
        return [name]
    words = _words(name)
    numbers = [place for place, word in enumerate(words) if word.isdigit()]
    if len(numbers) == 1:
        rest = tuple(word for word in words if not word.isdigit())
        signal = "wrench" if rest in _WRENCHES else _of_joints(rest)
        if signal is not None and int(words[numbers[0]]) < 100:
            return [f"{signal}#{int(words[numbers[0]])}"]
    elif words and not numbers:
        last = words[-1]
        before = tuple(word for word in words[:-1] if word not in _SENSOR_FILLERS)
        if before in _ALONG_AXES and (last in "xyz" or (last == "w" and _ALONG_AXES[before] == "q")):
            return [_ALONG_AXES[before] + last]
        if len(words) == 1 and last in ("mx", "my", "mz"):
            return [f"t{last[1]}"]
    return []


def _of_joints(words: tuple[str, ...]) -> str | None:
    """The signal of the joints that the words name, in any order; nothing but ``joint`` means its position."""
    if any(word not in _FILLERS and word not in _TARGETS and word not in _JOINT_WORDS for word in words):
        return None
    signals = [_JOINT_WORDS[word] for word in words if word in _JOINT_WORDS]
    if words and set(words) <= {"joint", "joints", "axis", "j"}:
        signals = ["q"]
    if len(signals) != 1:
        return None
    return _TARGET_OF[signals[0]] if any(word in _TARGETS for word in words) else signals[0]


def _complete(found: dict[str, list[int]]) -> dict[str, dict[int, str]]:
    """Of each signal that has all of its components, each once: place -> column."""
    single = {column: places[0] for column, places in found.items() if len(places) == 1}
    complete: dict[str, dict[int, str]] = {}
    for channel, spec in CHANNELS.items():
        numbered = {int(name.partition("#")[2]) for name in found if name.startswith(f"{channel}#")}
        whole = [f"{channel}#{number}" for number in sorted(numbered)]
        run = range(min(numbered), min(numbered) + len(numbered)) if numbered else range(0)
        width = len(spec.columns) or max(len(numbered), 2)
        if numbered == set(run) and run.start in (0, 1) and len(run) == width and single.keys() >= set(whole):
            columns = column_names(channel, len(run))
            complete[channel] = {single[name]: column for name, column in zip(whole, columns, strict=True)}
        elif spec.columns and not numbered and single.keys() >= set(spec.columns):
            complete[channel] = {single[column]: column for column in spec.columns}
    return complete


def _of_some_joints(found: Mapping[str, Sequence[int]], complete: Collection[str]) -> dict[int, str]:
    """Torques and currents that not all joints have, place -> column, where all angles are numbered."""
    angles = {int(name.partition("#")[2]) for name in found if name.startswith("q#")}
    first = min(angles, default=-1)
    if first not in (0, 1) or angles != set(range(first, first + len(angles))):
        return {}
    some: dict[int, str] = {}
    for channel in EFFORTS:
        own = {int(name.partition("#")[2]): places for name, places in found.items() if name.startswith(f"{channel}#")}
        if channel not in complete and own.keys() < angles and all(len(places) == 1 for places in own.values()):
            some |= {places[0]: f"{channel}{number - first}" for number, places in own.items()}
    return some


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))
