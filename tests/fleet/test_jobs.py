"""`run_jobs`: outcomes, batches, order, workers that die, and executors of others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.fleet import ExecutorLostError, LocalPool, in_order, run_jobs


def half(number: int) -> float:
    if number == 3:
        raise InputError("3 is refused")
    if number == 4:
        raise ZeroDivisionError("a bug")
    return number / 2


def test_an_error_is_the_outcome_of_its_job_alone(pool: LocalPool) -> None:
    found = list(in_order(run_jobs(half, range(40), pool)))
    assert [outcome.index for outcome in found] == list(range(40))
    assert [outcome.value for outcome in found if outcome.failure is None] == [
        n / 2 for n in range(40) if n not in (3, 4)
    ]
    refused, bug = found[3].failure, found[4].failure
    assert refused is not None
    assert (refused.kind, refused.error, refused.sentence) == ("refused", "InputError", "3 is refused")
    assert bug is not None
    assert (bug.kind, bug.error) == ("bug", "ZeroDivisionError")


def random_sum(seed: int) -> float:
    a = np.random.default_rng(seed).normal(size=(120, 120))
    return float(np.linalg.svd(a @ a.T)[1][:5].sum())


def test_any_executor_gives_the_same_bits(pool: LocalPool) -> None:
    here = [random_sum(seed) for seed in range(12)]
    for executor in (pool, ThreadPoolExecutor(3)):
        assert [outcome.value for outcome in in_order(run_jobs(random_sum, range(12), executor))] == here
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert [outcome.value for outcome in in_order(run_jobs(random_sum, range(12), processes))] == here


class Counting(Executor):
    """Runs nothing before it is asked for, and counts what it was given."""

    num_workers = 2

    def __init__(self) -> None:
        self.waiting: list[int] = []
        self.tasks = 0
        self.inner = ThreadPoolExecutor(2)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks += 1
        return self.inner.submit(fn, *args, **kwargs)


def test_jobs_are_taken_as_they_are_needed_and_short_ones_in_batches() -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield 1

    outcomes = run_jobs(_slow, endless(), ThreadPoolExecutor(2))
    for _ in range(3):
        next(outcomes)
    assert taken < 60  # some batches ahead, not all that there are
    outcomes.close()
    counting = Counting()
    assert len(list(run_jobs(abs, range(3000), counting))) == 3000
    assert counting.tasks < 150


def _slow(number: int) -> int:
    time.sleep(0.05)
    return number


def killed_by(victim: int, number: int) -> int:
    if number == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_worker_that_dies_takes_only_the_job_that_killed_it() -> None:
    from functools import partial

    found = list(in_order(run_jobs(partial(killed_by, 5), range(12), LocalPool(2))))
    assert [outcome.value for outcome in found] == [0, 1, 2, 3, 4, None, 6, 7, 8, 9, 10, 11]
    failure = found[5].failure
    assert failure is not None
    assert failure.kind == "worker"
    assert "killed, or out of memory" in failure.sentence


def test_a_worker_that_cannot_run_a_job_says_why() -> None:
    class Elsewhere(ThreadPoolExecutor):
        """Workers that lack a module."""

        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(ModuleNotFoundError("No module named 'iparam'"))
            return future

    (outcome,) = run_jobs(abs, [1], Elsewhere(1))
    assert outcome.failure is not None
    assert outcome.failure.sentence == "its worker could not run it: ModuleNotFoundError: No module named 'iparam'"


def test_another_s_executor_that_is_gone_is_said() -> None:
    gone = ThreadPoolExecutor(1)
    gone.shutdown()
    with pytest.raises(ExecutorLostError, match="is gone"):
        list(run_jobs(abs, [1], gone))
    with pytest.raises(InputError, match="executor must be"):
        list(run_jobs(abs, [1], "local"))  # type: ignore[arg-type]


SCRIPT = """
import sys, time
from iparam.fleet import run_jobs, LocalPool
def slow(number):
    import os
    time.sleep(0.2)
    return os.environ["OPENBLAS_NUM_THREADS"], os.getpid()
for outcome in run_jobs(slow, range(10000), LocalPool(2)):
    print(*outcome.value, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_script_without_a_guard_and_its_end_leave_no_worker_behind(how: signal.Signals, tmp_path: Path) -> None:
    """One numerical thread a worker; Ctrl-C, which a terminal sends to all of them, says nothing but the caller's."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    process = subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    workers = set()
    for _ in range(4):
        threads, worker = process.stdout.readline().split()
        assert threads == "1"
        workers.add(int(worker))
    if how == signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    _, err = process.communicate(timeout=300)
    assert err.count("Traceback") <= 1
    end = time.monotonic() + 120.0
    while any(_runs(worker) for worker in workers):
        assert time.monotonic() < end, "a worker goes on"
        time.sleep(0.1)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
