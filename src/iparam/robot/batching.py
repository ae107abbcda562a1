"""Runs a compiled kernel over a batch, on one core or several.

The kernels release the GIL, so plain threads are enough: nothing to start, nothing that a fork can break. A batch is
split only where a thread's start, some 50 us, is small against the work.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from iparam.errors import InputError

SMALLEST_SHARE = 2000  # samples a thread; below that a thread costs more than it brings

_num_threads: int | None = None


def get_num_threads() -> int:
    """How many threads a large batch is spread over: what was set, else IPARAM_NUM_THREADS, else the usable cores."""
    if _num_threads is not None:
        return _num_threads
    asked = os.environ.get("IPARAM_NUM_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdigit() or int(asked) < 1:
        raise InputError(f"the environment variable IPARAM_NUM_THREADS must be a whole number from 1, got {asked!r}")
    return int(asked)


def set_num_threads(count: int | None) -> None:
    """Set how many threads a large batch is spread over; None goes back to the default, all usable cores."""
    global _num_threads
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise InputError(f"the number of threads must be a whole number from 1 or None, got {count!r}")
    _num_threads = count


def run_batched(
    kernel: Callable[..., None], constants: Sequence[Any], batches: Sequence[NDArray[Any]], num_samples: int
) -> None:
    """Call ``kernel(*constants, *batches)`` on slices of the first axis of ``batches``.

    Args:
        kernel: compiled, releases the GIL, writes into some of the batches.
        constants: the same for every sample.
        batches: inputs and outputs, each (N, ...).
        num_samples: N.
    """
    shares = num_samples // SMALLEST_SHARE
    if shares > 1:
        shares = min(shares, get_num_threads())
    if shares <= 1:
        kernel(*constants, *batches)
        return
    edges = [num_samples * i // shares for i in range(shares + 1)]
    failures: list[BaseException] = []

    def work(start: int, stop: int) -> None:
        try:
            kernel(*constants, *[batch[start:stop] for batch in batches])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=edges[i : i + 2]) for i in range(1, shares)]
    for thread in threads:
        thread.start()
    work(*edges[:2])
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
