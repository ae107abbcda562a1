"""`SpillFile`: a recording in the making, on disk within a second, so that a crash costs a second and not the run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv

from iparam.arrays import FloatArray
from iparam.errors import FileWriteError, IparamError
from iparam.recording.channels import column_names
from iparam.recording.files.arrow_columns import arrow_of_numbers
from iparam.recording.files.text_head import metadata_line

SUFFIX = "partial.csv"


class SpillError(IparamError):
    """Rows could not be written; the message says why. See `SpillFile.held` for what is on disk."""


class SpillFile:
    """A CSV table beside the file that the recording will become. `iparam.Recording.load` reads it, cut off or not.

    An older one is never touched: it may be all that is left of a run.

    Args:
        output: the file that the recording will become.

    Attributes:
        path: of the table.
        older: tables that were left behind by runs that did not end well.
        rows: number of those on disk, all of them whole.
        until: time of the last of them [s]; None without any.
    """

    def __init__(self, output: str | os.PathLike[str]) -> None:
        place = Path(output)
        self.older = tuple(sorted(place.parent.glob(f"{place.name}.*{SUFFIX}")))
        number = 1
        while True:
            self.path = place.with_name(f"{place.name}.{'' if number == 1 else f'{number}.'}{SUFFIX}")
            try:
                self._stream = open(self.path, "xb", buffering=0)  # noqa: SIM115
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                raise FileWriteError(f"cannot write beside {os.fspath(output)!r}: {error.strerror or error}") from None
        self._size = 0
        self._names: list[str] = []
        self.rows = 0
        self.until: float | None = None

    def append(
        self, time: FloatArray, signals: Mapping[str, FloatArray], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Write rows: time (R,) [s] and the signals (R, k), the same ones every time. They are on disk afterwards.

        Args:
            time: of the rows.
            signals: their values.
            metadata: of the recording, of which the head of the file states what a text has room for.

        Raises:
            SpillError: not all of them are. The file ends with the last whole row that is, and `rows` counts it, so
                that a later call can go on from there.
        """
        names = self._names if self.rows else list(signals)
        columns = [column for name in names for column in column_names(name, signals[name].shape[1])]
        stated = metadata_line(metadata or {})
        head = b"" if self.rows else stated + ",".join(["time", *columns]).encode("ascii") + b"\n"
        data = head + _text(np.column_stack([time, *(signals[name] for name in names)]))
        written = 0
        try:
            self._stream.seek(self._size)
            while written < len(data):
                written += self._stream.write(data[written:])
        except OSError as error:
            # Whole rows only: what is left of a row would be taken for damage, and by others for a value.
            whole = data.rfind(b"\n", len(head), written) + 1 if written > len(head) else 0
            self._settle(time, names, whole, data.count(b"\n", len(head), whole))
            raise self._error(error) from None
        self._settle(time, names, len(data), len(time))

    @property
    def held(self) -> str:
        """What is on disk, as a clause."""
        if self.until is None:
            return "nothing of it is on disk"
        return f"{self.path} holds {self.rows} samples, up to {self.until:.2f} s"

    def close(self) -> None:
        """Close the file and keep it, unless it has no rows."""
        if not self._stream.closed:
            with contextlib.suppress(OSError):
                self._stream.close()
            if not self.rows:
                self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Close and delete the file: the recording is safe elsewhere."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _settle(self, time: FloatArray, names: list[str], size: int, count: int) -> None:
        """Let the file end after ``size`` more bytes, ``count`` rows, and see that they are on disk."""
        try:
            self._stream.truncate(self._size + size)
            os.fsync(self._stream.fileno())
        except OSError as error:  # none of them is certain: back to what was
            with contextlib.suppress(OSError):
                self._stream.truncate(self._size)
            raise self._error(error) from None
        if count:
            self._size += size
            self._names = names
            self.rows += count
            self.until = float(time[count - 1])

    def _error(self, error: OSError) -> SpillError:
        return SpillError(f"{self.path} cannot be written ({error.strerror or error})")


def _text(rows: FloatArray) -> bytes:
    """Rows (R, k) of numbers as lines, with all digits. By Arrow, which lets other threads run: one is the guard."""
    stream = pyarrow.BufferOutputStream()
    table = pyarrow.table(
        [arrow_of_numbers(column) for column in rows.T], names=[str(number) for number in range(rows.shape[1])]
    )
    pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(include_header=False))
    return bytes(stream.getvalue().to_pybytes())
