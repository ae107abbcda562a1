"""`FleetTable`: one row a recording, in one Parquet file that is replaced in one step."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from iparam.errors import FileFormatError, FileWriteError, InputError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.files.atomic import atomic_file

if sys.platform != "win32":
    import fcntl

TABLE = "table.parquet"
FORMAT = "iparam-fleet/4"
PHI_NAMES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
BIAS_NAMES = ("fx", "fy", "fz", "tx", "ty", "tz")

_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())
_NUMBERS = (
    *(f"{name}{ending}" for ending in ("", "_deviation") for name in DERIVED_NAMES),
    *(f"phi_{name}{ending}" for ending in ("", "_deviation") for name in PHI_NAMES),
    *(f"bias_{name}" for name in BIAS_NAMES),
    *("residual_force", "residual_torque", "condition_number"),
)
SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.int64()),
        *((name, pa.string()) for name in ("robot", "arm", "tool")),
        ("recorded", _TIME),
        ("duration", pa.float64()),
        ("samples", pa.int64()),
        *((name, pa.float64()) for name in _NUMBERS),
        *((name, pa.string()) for name in ("verdict", "sentence")),
        *((name, _TEXTS) for name in ("causes", "cause_sentences", "remarks", "warnings")),
        *((name, pa.string()) for name in ("error", "error_kind", "error_place", "settings", "version")),
        ("identified", _TIME),
        ("seconds", pa.float64()),
    ],
    metadata={"iparam": FORMAT},
)
"""The columns, in SI units: inertia about the centre of mass, phi about the tool's origin, residuals as root mean
squares [N, N m]; ``identified`` and ``seconds``, when and how long, are the only ones that differ from run to run."""

Row = Mapping[str, Any]


class FleetTable:
    """The table in a folder.

    Args:
        folder: of `identify_fleet`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / TABLE

    def rows(self) -> dict[str, Row]:
        """All rows, by source.

        Raises:
            FileFormatError: there is no table, it is none of iparam's, or it is damaged.
        """
        try:
            table = pq.read_table(self.path, page_checksum_verification=True)
        except FileNotFoundError:
            raise FileFormatError(f"{self.folder} has no {TABLE}: 'iparam fleet' writes it") from None
        except (pa.ArrowException, OSError, EOFError) as error:
            raise FileFormatError(
                f"{self.path} is damaged, or no Parquet file ({' '.join(str(error).split())[:200]}). Nothing was "
                "changed. Put a copy of it back, or move it away: 'iparam fleet' then does everything again"
            ) from None
        stated = (table.schema.metadata or {}).get(b"iparam", b"").decode(errors="replace")
        if stated != FORMAT or not table.schema.equals(SCHEMA):
            what = f"a table of another version ({stated})" if stated else "not a table of a fleet"
            raise FileFormatError(f"{self.path} is {what}: choose another folder, or move it away")
        return {row["source"]: row for row in table.to_pylist()}

    def write(self, rows: Mapping[str, Row]) -> None:
        """Replace the table, in one step; rows are ordered by source."""
        made = pa.Table.from_pylist([dict(rows[name]) for name in sorted(rows)], SCHEMA)
        with atomic_file(self.path) as stream:
            pq.write_table(made, stream, compression="zstd", write_page_checksum=True)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, and keep other runs from writing into it meanwhile; it goes if it stays empty."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = None if sys.platform == "win32" else os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise FileWriteError(f"{self.folder} cannot be written: {error.strerror or error}") from None
        try:
            if lock is not None:
                _lock(lock, self.folder)
            yield
        finally:
            if lock is not None:
                os.close(lock)
            with contextlib.suppress(OSError):
                self.folder.rmdir()


def _lock(descriptor: int, folder: Path) -> None:
    """Until it is closed, or its process ends; some network file systems have no such lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"another run is writing into {folder}: wait for its end, or choose another folder") from None
    except OSError:
        return
