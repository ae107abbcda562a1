"""A process of the multi-start search: ``python -m iparam.excitation.worker ADDRESS``.

It connects to the planner over a local, authenticated channel, takes starts from it one by one and sends back what
came of them. A process of its own, with one thread in every numerical library, makes the outcome of a start the same
whatever the number of workers, and needs nothing of the caller's program.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from multiprocessing.connection import Client
from typing import Any

KEY_VARIABLE = "IPARAM_WORKER_KEY"


def main(address: str, key: bytes) -> None:
    """Serve the planner at ``address`` until it says that there is nothing more to do."""
    with contextlib.suppress(EOFError, ConnectionError), Client(address, authkey=key) as channel:
        from iparam.excitation.start import run_start, warm_up
        from iparam.robot.batching import set_num_threads

        set_num_threads(1)
        problem, seed = channel.recv()
        warm_up(problem)
        channel.send(("ready", None))
        while True:
            task: tuple[int, float, float] | None = channel.recv()
            if task is None:
                return
            index, best, seconds = task

            def report(value: float, index: int = index) -> None:
                channel.send(("progress", (index, value)))

            outcome: tuple[str, Any]
            try:
                outcome = ("result", run_start(problem, seed, index, best, time.monotonic() + seconds, report))
            except Exception as error:
                outcome = ("failure", f"{type(error).__name__}: {error}")
            channel.send(outcome)


if __name__ == "__main__":
    main(sys.argv[1], bytes.fromhex(os.environ.pop(KEY_VARIABLE)))
