"""Where the benchmarks find data that others measured, which are no part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

MISSING = 77
"""Exit code of a benchmark that cannot run on this machine; what it prints says why."""


def measured_data(name: str, given: str | Path | None = None) -> Path:
    """The folder ``name`` of the data: in the folder given, that of IPARAM_DATA, or shared/data beside the checkout.

    Where it is not there, that is said, and the program ends with `MISSING`.
    """
    folder = data_folder(given) / name
    if not folder.is_dir():
        print(f"needs measured data, and there is no folder {name} in {folder.parent}: set IPARAM_DATA")
        raise SystemExit(MISSING)
    return folder


def data_folder(given: str | Path | None = None) -> Path:
    """The folder given, that of IPARAM_DATA, or shared/data beside the checkout; it need not be there."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(given or os.environ.get("IPARAM_DATA") or beside)


def other_revision(python: str | None) -> str | None:
    """``python``, that of an environment with another revision; where it is not there, that is said, as above."""
    if python is not None and not Path(python).is_file():
        print(f"needs {python}, an environment with another revision: docs/background/performance.md")
        raise SystemExit(MISSING)
    return python
