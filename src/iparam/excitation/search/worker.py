"""A process of the multi-start search: ``python -m iparam.excitation.search.worker HANDLE``.

It takes starts from the planner one by one, over a channel that it inherited, and sends back what came of them. A
process of its own, with one thread in every numerical library, makes the outcome of a start the same whatever the
number of workers.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from iparam.child_process import run_child, start_child
from iparam.robot.kernels.notice import environment_of_worker

if TYPE_CHECKING:
    from iparam.excitation.search.start import StartTask

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def start_worker() -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a process that runs `main`; the process, and the channel to it."""
    return start_child("iparam.excitation.search.worker", {**ONE_THREAD, **environment_of_worker()})


def main(channel: Connection) -> None:
    """Serve the planner at the other end of ``channel`` until it says that there is nothing more to do."""
    from iparam.errors import IparamError
    from iparam.excitation.search.start import run_start, warm_up
    from iparam.robot.batching import set_num_threads

    set_num_threads(1)
    problem, seed = channel.recv()
    with contextlib.suppress(Exception):  # what is wrong with the problem, its first start will say
        warm_up(problem)
    channel.send(("ready", None))
    while True:
        task: StartTask | None = channel.recv()
        if task is None:
            return

        def report(value: float, index: int = task.index) -> None:
            channel.send(("progress", (index, value)))

        outcome: tuple[str, Any]
        try:
            deadline = time.monotonic() + task.seconds
            result = run_start(problem, seed, task.index, task.best, deadline, report, task.beside)
            outcome = ("result", result)
        except IparamError as error:
            outcome = ("failure", str(error))
        except Exception as error:
            outcome = ("failure", f"{type(error).__name__}: {error}")
        channel.send(outcome)


if __name__ == "__main__":
    run_child(main)
