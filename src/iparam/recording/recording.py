"""`Recording`: the named signals of one run, each at its own rate, with where they come from."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from iparam.errors import InputError, UnknownNameError
from iparam.files.json import json_line, parse_json
from iparam.printable import printable
from iparam.recording.channels import check_name, column_names, default_frame, default_unit
from iparam.recording.display import recording_figure, recording_html
from iparam.recording.files.data_frame import frame_of_recording
from iparam.recording.files.parquet_table import arrow_of_recording
from iparam.recording.files.reading import ColumnNames, Reading, TimeUnit
from iparam.recording.screening import check_clocks
from iparam.recording.signal import Signal
from iparam.recording.statements import check_stated_units
from iparam.recording.units import in_channel_unit
from iparam.remarks import Remark, messages, remark

if TYPE_CHECKING:
    from iparam.robot.model import Robot

AngleUnit = Literal["radians", "degrees"]


@dataclass(frozen=True, eq=False)
class Recording:
    """What was measured in one run. All signals share one clock; each has its own time stamps.

    Attributes:
        robot: the arm's catalogue name or the path of its URDF; "" if unknown.
        signals: by name; `iparam.recording.CHANNELS` lists the names that have a fixed meaning. Those are converted to
            the unit that goes with it; a unit that is not known is refused.
        metadata: provenance that JSON can hold: simulator or arm, noise preset, seed, rates, ... Never the payload.
            What it states about units, gravity and frames must agree, see `iparam.recording.statements`.
        remarks: what was found in the data, see `iparam.remarks`.
    """

    robot: str = ""
    signals: Mapping[str, Signal] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.robot, str):
            raise InputError(
                argument="robot", problem=f"must be a name or a path as text, got {type(self.robot).__name__}"
            )
        for name, signal in self.signals.items():
            if not isinstance(signal, Signal):
                raise InputError(f"signal {name!r} must be a Signal, got {type(signal).__name__}")
            column_names(check_name(name), signal.width)
        signals = {name: in_channel_unit(name, signal) for name, signal in self.signals.items()}
        object.__setattr__(self, "signals", MappingProxyType(signals))
        object.__setattr__(self, "metadata", MappingProxyType(_json_copy(self.metadata)))
        check_stated_units(self.metadata)
        remarks: Any = self.remarks
        if not isinstance(remarks, list | tuple) or not all(isinstance(one, Remark) for one in remarks):
            raise InputError(argument="remarks", problem="must be a sequence of iparam.remarks.Remark")
        object.__setattr__(self, "remarks", tuple(dict.fromkeys(remarks)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The messages of the remarks."""
        return messages(self.remarks)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        columns: str | Sequence[str] | None = None,
        robot: Robot | str | None = None,
        angles: AngleUnit | None = None,
        tip: str | None = None,
        *,
        map: ColumnNames | None = None,
        time_unit: TimeUnit | None = None,
        rows: str | slice | None = None,
        time_range: Sequence[float] | None = None,
    ) -> Recording:
        """Read a recording: Parquet, a CSV table with a header, a controller's log without one, .npz or .mat.

        What cannot be used (damaged rows, time running backwards, ...) is left out, and ``remarks`` say what and
        where. A text with more than 1 % garbled rows is refused.

        Args:
            path: of the file.
            columns: for a table without a header, e.g. ``"time,q,dq,current"``: a group name takes one column a joint.
            robot: the arm, or its name; it gives the number of joints, and its limits tell degrees from radians.
                None takes what the file says.
            angles: "degrees" converts; "radians" takes the angles as they are; None refuses what looks like degrees.
            tip: the tool frame of a robot given by its name, for those whose file leaves it open; None takes what the
                recording says, or the robot's own.
            map: what headers of other names mean: ``"q=pos_*,tau=effort_*"``, or a mapping of signals, columns or
                ``time`` to a header, a pattern, or several. Columns of a pattern come in natural order.
            time_unit: of the time, "s", "ms", "us", "ns" or "min"; None takes seconds and refuses what contradicts.
            rows: the rows that are wanted, counted from 0 and without the last: ``"0:30000"``, ``"::5"``, or a slice.
            time_range: the times that are wanted, from and to [s].
        """
        from iparam.recording.files.storage import load_recording

        reading = Reading.of(columns, map, time_unit, rows, time_range)
        return load_recording(path, reading, robot, angles, tip)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to a ``.parquet`` or ``.csv`` file, whole or not at all.

        Parquet keeps everything, bit for bit. CSV keeps times and values bit for bit, and has no room for robot,
        metadata and remarks.
        """
        from iparam.recording.files.storage import save_recording

        save_recording(self, path)

    def has(self, name: str) -> bool:
        """Whether there is a signal of that name."""
        return name in self.signals

    def signal(self, name: str) -> Signal:
        """The signal of that name."""
        if name not in self.signals:
            about = [one.message for one in self.remarks if one.values.get("signal") == name]
            hint = about[0] if about else f"If columns of the file hold it, say which: '{name}=HEADER*' as the map"
            raise UnknownNameError("signal", name, self.signals, hint=hint)
        return self.signals[name]

    def with_signal(
        self,
        name: str,
        signal: Signal | None = None,
        *,
        time: ArrayLike | None = None,
        values: ArrayLike | None = None,
    ) -> Recording:
        """The same recording with one more signal, or another one in its place.

        Args:
            name: of the signal.
            signal: it, or None if ``time`` and ``values`` are given: unit and frame are then those of the name.
            time: (T,) [s].
            values: (T, k).
        """
        if signal is None:
            if time is None or values is None:
                raise InputError(f"signal {name!r} needs either a Signal or both time and values")
            signal = Signal(time, values, default_unit(name), default_frame(name))  # type: ignore[arg-type]
        return dataclasses.replace(self, signals={**self.signals, name: signal})

    def joined(self, other: Recording) -> Recording:
        """The same recording with the signals of another one, of the same clock.

        What both have is refused: it would not be clear which one counts.
        """
        twice = sorted(set(self.signals) & set(other.signals))
        if twice:
            raise InputError(f"both recordings have the signal {twice[0]!r}: leave it out of one of them")
        signals = {**self.signals, **other.signals}
        check_clocks(signals, "the two recordings")
        metadata = {**other.metadata, **self.metadata}
        return Recording(self.robot or other.robot, signals, metadata, (*self.remarks, *other.remarks))

    def without_signal(self, name: str) -> Recording:
        """A copy that lacks a signal."""
        return dataclasses.replace(self, signals={key: kept for key, kept in self.signals.items() if key != name})

    def with_remarks(self, *remarks: Remark) -> Recording:
        """The same recording with further remarks."""
        return dataclasses.replace(self, remarks=(*self.remarks, *remarks))

    def with_metadata(self, **entries: Any) -> Recording:
        """The same recording with further metadata."""
        return dataclasses.replace(self, metadata={**self.metadata, **entries})

    @property
    def start(self) -> float:
        """Time of the first sample of any signal [s]; 0 if there are none."""
        return min((float(signal.time[0]) for signal in self.signals.values()), default=0.0)

    @property
    def duration(self) -> float:
        """From the first sample of any signal to the last of any [s]."""
        return max((float(signal.time[-1]) for signal in self.signals.values()), default=0.0) - self.start

    @property
    def num_joints(self) -> int:
        """n, from q or another signal with one component a joint; 0 if there is none."""
        for name, signal in sorted(self.signals.items(), key=lambda item: item[0] != "q"):
            if default_frame(name) == "joint":
                return signal.width
        return 0

    def rate(self, name: str) -> float:
        """Median sampling rate of a signal [Hz]."""
        return self.signal(name).rate

    def slice(self, start: float, stop: float) -> Recording:
        """The samples with start <= time <= stop [s]; signals without any are left out, with a remark."""
        if not start < stop:
            raise InputError(f"a slice needs start < stop, got {start!r} and {stop!r} s")
        parts = {name: signal.slice(start, stop) for name, signal in self.signals.items()}
        kept = {name: part for name, part in parts.items() if part is not None}
        if not kept:
            raise InputError(f"no signal has a sample between {start:g} and {stop:g} s")
        lost = [
            remark("signal-outside-range", signal=name, start=start, stop=stop) for name in parts if name not in kept
        ]
        return dataclasses.replace(self, signals=kept, remarks=(*self.remarks, *lost))

    def plot(self, *names: str) -> Any:
        """Signals over time, as a ``matplotlib.figure.Figure`` with a panel for each.

        Args:
            names: of the signals, from top to bottom; none for those that tell most, six panels at most.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return recording_figure(self, names)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table`` with the columns of a CSV file, and null where a signal has no sample.

        Its metadata has the rest: written as Parquet it is a recording that `load` reads.
        """
        return arrow_of_recording(self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the columns of a CSV file, and NaN where a signal has no sample.

        ``attrs["iparam"]`` has robot, units, frames, metadata and remarks, so that `from_pandas` gives it back.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return frame_of_recording(self)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        robot: Robot | str | None = None,
        angles: AngleUnit | None = None,
        tip: str | None = None,
        *,
        map: ColumnNames | None = None,
        time_unit: TimeUnit | None = None,
    ) -> Recording:
        """A recording from a ``pandas.DataFrame`` whose columns, or index, are named as those of a CSV file.

        Units, headers of other names and what cannot be used are treated as `load` treats those of a file; NaN is a
        cell without a sample. ``attrs`` may state units, robot and gravity as the metadata of a Parquet file do.

        Args:
            frame: with a column or an index ``time``, and q0, q1, ..., fx, ..., tz and so on.
            robot, angles, tip, map, time_unit: as in `load`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        from iparam.recording.files.storage import recording_from_frame

        reading = Reading.of(None, map, time_unit, None, None)
        return recording_from_frame(frame, reading, robot, angles, tip)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {signal.rate:.4g} Hz" for name, signal in self.signals.items())
        noted = f"; {len(self.remarks)} remark{'s' * (len(self.remarks) > 1)}" if self.remarks else ""
        robot = printable(self.robot) or "unknown robot"
        return f"Recording({robot}, {self.duration:.4g} s: {parts or 'no signals'}{noted})"

    def _repr_html_(self) -> str:
        return recording_html(self)


def _json_copy(metadata: Mapping[str, Any]) -> dict[str, Any]:
    try:
        copy = parse_json(json_line(dict(metadata)), "it")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(argument="metadata", problem=f"must be what JSON can hold: {error}") from None
    if any(not isinstance(key, str) for key in metadata):
        raise InputError("the keys of metadata must be text")
    return dict(copy)
