"""`SpillFile`: a recording in the making, on disk within a second, so that a crash costs a second and not the run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.recording.channels import column_names

SUFFIX = "partial.csv"


class SpillFile:
    """A CSV table beside the file that the recording will become. `iparam.Recording.load` reads it, cut off or not.

    An older one is never touched: it may be all that is left of a run.

    Args:
        output: the file that the recording will become.

    Attributes:
        path: of the table.
        older: tables that were left behind by runs that did not end well.
    """

    def __init__(self, output: str | os.PathLike[str]) -> None:
        place = Path(output)
        self.older = tuple(sorted(place.parent.glob(f"{place.name}.*{SUFFIX}")))
        number = 1
        while True:
            self.path = place.with_name(f"{place.name}.{'' if number == 1 else f'{number}.'}{SUFFIX}")
            try:
                self._stream: IO[str] = open(self.path, "x", encoding="ascii", newline="\n")  # noqa: SIM115
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                raise InputError(f"cannot write beside {os.fspath(output)!r}: {error.strerror or error}") from None
        self._names: list[str] | None = None

    def append(self, time: FloatArray, signals: Mapping[str, FloatArray]) -> None:
        """Write rows: time (R,) [s] and the signals (R, k), the same ones every time. They are on disk afterwards."""
        names = list(signals)
        lines = []
        if self._names is None:
            self._names = names
            columns = [column for name in names for column in column_names(name, signals[name].shape[1])]
            lines.append(",".join(["time", *columns]))
        columns_of_rows = [time[:, None].tolist(), *(signals[name].tolist() for name in self._names)]
        lines += [",".join(repr(value) for part in row for value in part) for row in zip(*columns_of_rows, strict=True)]
        self._stream.write("\n".join(lines) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file and keep it, unless nothing was written."""
        if not self._stream.closed:
            with contextlib.suppress(OSError):
                self._stream.close()
            if self._names is None:
                self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Close and delete the file: the recording is safe elsewhere."""
        self.close()
        self.path.unlink(missing_ok=True)
