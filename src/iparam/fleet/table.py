"""`FleetTable`: one row a recording, in Parquet, written in pieces that survive a crash.

A folder holds ``recordings.parquet`` and, while a run goes on or after it was cut off, ``pieces/``. A piece is written
whole or not at all. Of several rows about one recording, the newest counts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from iparam.errors import FileFormatError, FileWriteError, InputError, IparamError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.files.atomic import atomic_file
from iparam.files.kind import FileKind, kind_of

if sys.platform != "win32":
    import fcntl

TABLE = "recordings.parquet"
PIECES = "pieces"
FORMAT = "iparam-fleet/1"

ROWS_A_PIECE = 500
SECONDS_A_PIECE = 10.0
"""After which a piece is written though it has fewer rows: what a crash costs at most."""

PHI_NAMES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
BIAS_NAMES = ("fx", "fy", "fz", "tx", "ty", "tz")

_MAGIC = b"PAR1"
_TEXTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("checksum", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("stamp", pa.string()),
        pa.field("robot", pa.string()),
        pa.field("arm", pa.string()),
        pa.field("tool", pa.string()),
        pa.field("recorded", pa.timestamp("us", tz="UTC")),
        pa.field("recorded_from", pa.string()),
        pa.field("stated_arm", pa.string()),
        pa.field("stated_tool", pa.string()),
        pa.field("stated_recorded", pa.timestamp("us", tz="UTC")),
        pa.field("duration", pa.float64()),
        pa.field("samples", pa.int64()),
        *(pa.field(name, pa.float64()) for name in DERIVED_NAMES),
        *(pa.field(f"{name}_deviation", pa.float64()) for name in DERIVED_NAMES),
        *(pa.field(f"phi_{name}", pa.float64()) for name in PHI_NAMES),
        *(pa.field(f"phi_{name}_deviation", pa.float64()) for name in PHI_NAMES),
        *(pa.field(f"bias_{name}", pa.float64()) for name in BIAS_NAMES),
        pa.field("residual_force", pa.float64()),
        pa.field("residual_torque", pa.float64()),
        pa.field("condition_number", pa.float64()),
        pa.field("verdict", pa.string()),
        pa.field("sentence", pa.string()),
        pa.field("causes", _TEXTS),
        pa.field("cause_sentences", _TEXTS),
        pa.field("warnings", _TEXTS),
        pa.field("error", pa.string()),
        pa.field("error_kind", pa.string()),
        pa.field("settings", pa.string()),
        pa.field("version", pa.string()),
        pa.field("identified", pa.timestamp("us", tz="UTC")),
        pa.field("seconds", pa.float64()),
    ],
    metadata={"iparam": FORMAT},
)
"""The columns, in SI units: inertia about the centre of mass, phi about the tool's origin, residuals as root mean
squares [N, N m]; ``identified`` and ``seconds``, when and how long, are the only ones that differ from run to run."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as mappings, made whenever they are gone through, a few at a time: all at once take ten times the memory."""

    table: pa.Table

    def __len__(self) -> int:
        """How many."""
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each in turn."""
        for some in self.table.to_batches(max_chunksize=ROWS_A_PIECE):
            yield from some.to_pylist()


class FleetTable:
    """The table in a folder; rows are added within a ``with`` block.

    Args:
        folder: made if it is not there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._rows: list[Mapping[str, Any]] = []
        self._written = time.monotonic()
        self._run = f"{time.time_ns():020d}-{secrets.token_hex(3)}"
        self._count = 0
        self._held: int | None = None

    @property
    def exists(self) -> bool:
        """Whether there are rows of an earlier run."""
        return (self.folder / TABLE).exists() or any(self._pieces())

    @property
    def unfinished(self) -> bool:
        """Whether the last run has not come to its end: it was cut off, or still goes on."""
        return (self.folder / PIECES).is_dir()

    def check(self) -> None:
        """Refuse what is none of iparam's tables, or is damaged so that it cannot be opened.

        Raises:
            FileFormatError: says what it is, and what to do.
        """
        for path in self._files():
            _open(path)

    def __enter__(self) -> Self:
        """Make the folder, and keep others from writing into it meanwhile."""
        try:
            (self.folder / PIECES).mkdir(parents=True, exist_ok=True)
            self._held = _hold(self.folder)
        except OSError as error:
            raise FileWriteError(f"{self.folder} cannot be written: {error.strerror or error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left, also when an exception is on its way; join the pieces if none is."""
        try:
            self.flush()
            if kind is None:
                self.join()
            elif not self.exists:  # nothing was done: nothing is left behind
                self._remove_if_empty()
        finally:
            if self._held is not None:
                os.close(self._held)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; it is on disk after `SECONDS_A_PIECE` at the latest, if rows go on coming."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_A_PIECE or time.monotonic() - self._written > SECONDS_A_PIECE:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are not yet on disk as a piece."""
        self._written = time.monotonic()
        if not self._rows:
            return
        piece = self.folder / PIECES / f"{self._run}-{self._count:06d}.parquet"
        self._write(piece, pa.Table.from_pylist(list(self._rows), SCHEMA))
        self._count += 1
        self._rows = []

    def join(self) -> None:
        """One file of all pieces, by source; they go once it is on disk."""
        pieces = list(self._pieces())
        if pieces:
            self._write(self.folder / TABLE, self.read())
        for piece in pieces:
            piece.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (self.folder / PIECES).rmdir()

    def _remove_if_empty(self) -> None:
        for folder in (self.folder / PIECES, self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def clear(self) -> None:
        """Delete all rows."""
        for path in (*self._pieces(), self.folder / TABLE):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FileWriteError(f"{path} cannot be deleted: {error.strerror or error}") from None

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """All rows that are on disk, one a recording, by source.

        Raises:
            FileFormatError: there is no table, it is none of iparam's, or it is damaged.
        """
        files = self._files()
        if not files:
            raise FileFormatError(f"{self.folder} has no {TABLE}: iparam fleet identify writes it")
        wanted = SCHEMA.names if columns is None else list(dict.fromkeys(["source", *columns]))
        rows = pa.concat_tables([_read(path, wanted) for path in files])
        newest = {source: place for place, source in enumerate(rows["source"].to_pylist())}
        order = [newest[source] for source in sorted(newest)]
        return rows.take(pa.array(order, pa.int64()))

    def rows(self, columns: list[str] | None = None) -> Rows:
        """`read`, as mappings."""
        return Rows(self.read(columns))

    def _files(self) -> list[Path]:
        return [path for path in (self.folder / TABLE, *self._pieces()) if path.exists()]

    def _write(self, path: Path, rows: pa.Table) -> None:
        try:
            with atomic_file(path) as stream:
                pq.write_table(rows, stream, compression="zstd", write_page_checksum=True)
        except FileWriteError as error:  # no room, or no right to write any more
            kept = "The rows before are kept" if self.exists else "No row was written before"
            raise IparamError(
                f"{error}. {kept}: when there is room again, the same with resume=True does the rest"
            ) from None

    def _pieces(self) -> Iterator[Path]:
        """From the oldest to the newest."""
        yield from sorted((self.folder / PIECES).glob("*.parquet"))


def _hold(folder: Path) -> int | None:
    """A descriptor that locks the folder until it is closed, or its process ends; None where there is no such lock."""
    if sys.platform == "win32":
        return None
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise InputError(f"another run is writing into {folder}: wait for its end, or choose another folder") from None
    except OSError:  # some network file systems have none
        os.close(held)
        return None
    return held


def _open(path: Path) -> pq.ParquetFile:
    """A file of the table, once it is known to be one."""
    if not path.is_file():
        raise FileFormatError(
            f"{path} is no file, and the table cannot be there: choose another folder, or move it away"
        )
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        stated = (file.schema_arrow.metadata or {}).get(b"iparam", b"").decode(errors="replace")
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None
    if stated != FORMAT:
        found = kind_of(path)
        what = f"{found or 'a Parquet file of another program'}, not a table of a fleet"
        if found is FileKind.FLEET:
            what = f"a table of another version of iparam ({stated})"
        raise FileFormatError(f"{path} is {what}: choose another folder, or move it away")
    return file


def _read(path: Path, columns: list[str]) -> pa.Table:
    """Columns of a file of the table; what it does not have is null."""
    schema = pa.schema([SCHEMA.field(name) for name in columns], SCHEMA.metadata)
    file = _open(path)
    try:
        rows = file.read(columns)
        return pa.concat_tables([rows, schema.empty_table()], promote_options="default").select(columns).cast(schema)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> FileFormatError:
    """What is wrong with a file of the table, and what to do; nothing is deleted because of it."""
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return FileFormatError(f"cannot read {path}: {error.strerror}")
    return FileFormatError(
        f"{path} is damaged: {_damage(path)}. Nothing was changed. Put a copy of it back; or move it away, and 'iparam "
        "fleet identify' with --resume does again what has no row any more"
    )


def _damage(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as stream:
        begins = stream.read(len(_MAGIC)) == _MAGIC
        stream.seek(max(0, size - len(_MAGIC)))
        ends = stream.read() == _MAGIC
    if size == 0:
        return "it is empty"
    if begins and not ends:
        return "its end is missing, or overwritten"
    return "what it holds does not fit its checksums" if begins else "it does not begin as a Parquet file does"
