"""The line that says, once in a program, that kernels are being compiled and about how long that takes.

Light: what uses kernels may import it without loading numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace

SWITCH = "IPARAM_COMPILING_NOTICE"
"""The environment variable that, set to 0, keeps the line from being printed."""

SECONDS = {"plan": 10.0, "simulate": 5.0, "identify": 5.0}
"""About how long the kernels of a job, or of a demo that begins with it, compile; see benchmarks/bench_cold.py [s]."""

_state = SimpleNamespace(seconds=None, said=False, lost=False, left_to_a_worker=False, is_first=None)


def expect(job: str) -> None:
    """Name the job, one of `SECONDS`, that is about to run."""
    _state.seconds = SECONDS[job]


def say_compiling(kept: bool) -> None:
    """Print the line to standard error, unless it was printed before.

    Args:
        kept: whether the kernels will be found again by the next program.
    """
    _state.lost = _state.lost or not kept
    if _state.said or os.environ.get(SWITCH) == "0":
        return
    _state.said = True
    if _state.is_first is not None and not _state.is_first():
        return
    lasts = "some seconds" if _state.seconds is None else f"about {_state.seconds:.0f} s"
    line = f"iparam: compiling kernels, once, {lasts}"
    if not kept:
        line = (
            f"iparam: compiling kernels, {lasts}, in every program anew: no folder to keep them in can be written. "
            "Set NUMBA_CACHE_DIR to one that can."
        )
    if sys.stderr is not None:  # as in a program without a console
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def was_said() -> bool:
    """Whether this program has printed the line."""
    return bool(_state.said)


def lose() -> None:
    """Note that a kernel was compiled and could not be kept."""
    _state.lost = True


def was_lost() -> bool:
    """Whether a kernel was compiled that the next program will not find."""
    return bool(_state.lost)


def say_if(is_first: Callable[[], bool]) -> None:
    """Ask, when the line is about to be printed, whether none of the processes that work together has done so."""
    _state.is_first = is_first


def environment_of_worker() -> dict[str, str]:
    """What to add to the environment of the next process that works for this one: at most one of them says it too."""
    silent = _state.said or _state.left_to_a_worker
    _state.left_to_a_worker = True
    return {SWITCH: "0"} if silent else {}
