"""`trimesh_errors`: what goes wrong with a mesh that trimesh reads, as an error of the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from iparam.errors import FileFormatError, IparamError


@contextlib.contextmanager
def trimesh_errors(file: Path) -> Iterator[None]:
    """Around all work with trimesh: it lets whatever its parsers and lazy sums meet in a damaged file escape."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (IparamError, MemoryError):
        raise
    except Exception as error:
        raise FileFormatError(f"{file}: cannot be read as a mesh: {error}") from error
