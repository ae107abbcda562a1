"""Kernels that a later stage needs are compiled by a process of its own while an earlier stage is busy.

The planner's processes share one compilation: all but one of them wait for it, and a core is free.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from multiprocessing.connection import Connection

from iparam.child_process import end_child, run_child, start_child
from iparam.cli.installation.warm_up import compile_identification
from iparam.robot.kernels.notice import SWITCH


@contextlib.contextmanager
def identification_compiled_meanwhile() -> Iterator[None]:
    """While it lasts, another process compiles what an identification needs, if that is its first use here."""
    # Imported here, not for the help of a command.
    if not import_module("iparam.robot.kernels.compilation").first_use(import_module("iparam.motion.kernels").forward):
        yield
        return
    process, channel = start_child(
        "iparam.cli.installation.ahead",
        {SWITCH: "0", "OPENBLAS_NUM_THREADS": "1", "IPARAM_NUM_THREADS": "1"},
    )
    try:
        yield
    finally:
        end_child(process, channel)


def _compile(channel: Connection) -> None:
    with contextlib.suppress(Exception):  # who needs a kernel compiles it then, and says what is wrong
        compile_identification()


if __name__ == "__main__":
    run_child(_compile)
