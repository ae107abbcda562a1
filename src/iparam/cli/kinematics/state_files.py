"""Writes what `iparam kinematics batch` computes: tool states as JSON, CSV or Parquet, in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.files.json import json_line
from iparam.recording.files.arrow_columns import arrow_of_numbers

FORMAT = "iparam-states/1"

FIELDS = {
    "time": ("time",),
    "position": ("x", "y", "z"),
    "quaternion_xyzw": ("qx", "qy", "qz", "qw"),
    **{
        vector: tuple(f"{vector}_{axis}" for axis in "xyz")
        for vector in ("linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration")
    },
}
"""Fields of a state in JSON -> its columns in CSV and Parquet."""

COLUMNS = tuple(column for columns in FIELDS.values() for column in columns)


@dataclass(frozen=True)
class StatesHeader:
    """What the states belong to.

    Attributes:
        robot: its name.
        base_frame: the frame of position and rotation.
        tool_frame: the frame that moves.
        axes: "tool" or "base", the axes of the velocities and accelerations.
    """

    robot: str
    base_frame: str
    tool_frame: str
    axes: str


class StatesWriter(ABC):
    """Writes blocks of states to a binary file."""

    @abstractmethod
    def __init__(self, file: IO[bytes], header: StatesHeader) -> None:
        """Write what comes before the first state."""

    @abstractmethod
    def write(self, rows: FloatArray) -> None:
        """Write states (N, columns), in the order of COLUMNS."""

    @abstractmethod
    def close(self) -> None:
        """Write what comes after the last state."""


class JsonStates(StatesWriter):
    """One JSON object: the header, and "states", a list with an object a line."""

    def __init__(self, file: IO[bytes], header: StatesHeader) -> None:
        self._file = file
        self._separator = "\n"
        values = {name: ", ".join(["%r"] * len(columns)) for name, columns in FIELDS.items()}
        fields = (f'"{name}": ' + (text if name == "time" else f"[{text}]") for name, text in values.items())
        self._line = "{" + ", ".join(fields) + "}"
        start = json_line({"format": FORMAT, **asdict(header), "states": []})
        self._file.write(start.removesuffix("]}").encode())

    def write(self, rows: FloatArray) -> None:
        """See `StatesWriter`."""
        text = ",\n".join([self._line % tuple(row) for row in rows.tolist()])
        self._file.write((self._separator + text).encode())
        self._separator = ",\n"

    def close(self) -> None:
        """See `StatesWriter`."""
        self._file.write(b"\n]}\n")


class CsvStates(StatesWriter):
    """A line of column names, then a line a state. The header has no place in it."""

    def __init__(self, file: IO[bytes], header: StatesHeader) -> None:
        self._file = file
        self._file.write((",".join(COLUMNS) + "\n").encode())

    def write(self, rows: FloatArray) -> None:
        """See `StatesWriter`."""
        import pyarrow
        from pyarrow.csv import WriteOptions, write_csv

        pyarrow.enable_signal_handlers(False)  # see `sample_files`
        write_csv(_record_batch(rows), self._file, WriteOptions(include_header=False))

    def close(self) -> None:
        """See `StatesWriter`."""


class ParquetStates(StatesWriter):
    """A row group a block; the header is in the file's metadata."""

    def __init__(self, file: IO[bytes], header: StatesHeader) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        metadata = {"format": FORMAT, **asdict(header)}
        schema = pyarrow.schema([(name, pyarrow.float64()) for name in COLUMNS], metadata=metadata)
        self._writer = ParquetWriter(file, schema)

    def write(self, rows: FloatArray) -> None:
        """See `StatesWriter`."""
        self._writer.write_batch(_record_batch(rows))

    def close(self) -> None:
        """See `StatesWriter`."""
        self._writer.close()


WRITERS: dict[str, type[StatesWriter]] = {".json": JsonStates, ".csv": CsvStates, ".parquet": ParquetStates}


def writer_type(path: Path) -> type[StatesWriter]:
    """The writer for the file's suffix."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{path}: unknown suffix {path.suffix!r} of --output; known: {', '.join(WRITERS)}")
    return writer


def _record_batch(rows: FloatArray) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([arrow_of_numbers(column) for column in rows.T], names=COLUMNS)
