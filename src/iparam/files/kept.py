"""What takes seconds to compute and is small, kept in the user's cache folder from one command to the next.

The folder is $IPARAM_CACHE, or `iparam` in $XDG_CACHE_HOME (an absolute path) or ~/.cache. Nothing depends on it: where
it cannot be read or written, results are computed anew.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.files.atomic import atomic_file

MOST_FILES = 2000
"""Results in the folder from which on no more are added."""

_LARGEST = 1 << 20  # bytes of a result


def kept(
    name: str, arguments: Iterable[FloatArray], compute: Callable[[], FloatArray], valid: Callable[[FloatArray], bool]
) -> FloatArray:
    """The array that ``compute`` gives for ``arguments``, from the cache folder if it is there.

    Args:
        name: of what is computed and of its method, e.g. "capsules-1": another method is another name.
        arguments: all that the result depends on.
        compute: what takes long; called without arguments.
        valid: whether an array that was read can be the result; one that cannot is computed anew.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=16)
    for argument in arguments:
        array = np.ascontiguousarray(argument, dtype=np.float64)
        digest.update(f"{array.shape};".encode())
        digest.update(array.data)
    folder = cache_folder()
    path = folder / f"{name}-{digest.hexdigest()}.npy"
    with suppress(OSError, ValueError, EOFError, zipfile.BadZipFile):
        if path.stat().st_size <= _LARGEST:
            found = np.load(path, allow_pickle=False)
            if isinstance(found, np.ndarray) and found.dtype == np.float64 and valid(found):
                return found
    result = np.asarray(compute(), dtype=np.float64)
    with suppress(OSError, IparamError):
        folder.mkdir(parents=True, exist_ok=True)
        if result.nbytes < _LARGEST and sum(1 for _ in folder.iterdir()) < MOST_FILES:
            with atomic_file(path) as stream:
                np.save(stream, result, allow_pickle=False)
    return result


def cache_folder() -> Path:
    """Where results are kept; it need not exist."""
    given = os.environ.get("IPARAM_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):  # a user without a home: no folder "~" where the command happens to run
        base = os.devnull  # nothing is kept there
    return Path(base) / "iparam"
