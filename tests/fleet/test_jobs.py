"""`run_jobs`: outcomes, order, workers that die, and executors of others."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.fleet import ExecutorLostError, in_order, run_jobs
from iparam.worker_pool import WorkerEndedError, WorkerPool


def half(number: int) -> float:
    if number == 3:
        raise InputError("3 is refused")
    if number == 4:
        raise ZeroDivisionError("a bug")
    return number / 2


def test_an_error_is_the_outcome_of_its_job_alone(pool: WorkerPool) -> None:
    found = list(in_order(run_jobs(half, range(40), pool)))
    assert [outcome.index for outcome in found] == list(range(40))
    assert [outcome.value for outcome in found if outcome.error is None] == [
        n / 2 for n in range(40) if n not in (3, 4)
    ]
    assert isinstance(found[3].error, InputError)
    assert str(found[3].error) == "3 is refused"
    assert isinstance(found[4].error, ZeroDivisionError)


def random_sum(seed: int) -> float:
    a = np.random.default_rng(seed).normal(size=(120, 120))
    return float(np.linalg.svd(a @ a.T)[1][:5].sum())


def test_any_executor_gives_the_same_bits(pool: WorkerPool) -> None:
    here = [random_sum(seed) for seed in range(12)]
    for executor in (pool, ThreadPoolExecutor(3)):
        assert [outcome.value for outcome in in_order(run_jobs(random_sum, range(12), executor))] == here
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert [outcome.value for outcome in in_order(run_jobs(random_sum, range(12), processes))] == here


def test_jobs_are_taken_as_they_are_needed() -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield 1

    outcomes = run_jobs(_slow, endless(), ThreadPoolExecutor(2))
    for _ in range(3):
        next(outcomes)
    assert taken < 10  # a few ahead, not all that there are
    outcomes.close()


def _slow(number: int) -> int:
    time.sleep(0.05)
    return number


def killed_by(victim: int, number: int) -> int:
    if number == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_worker_that_dies_takes_only_the_job_that_killed_it() -> None:
    with WorkerPool(2) as pool:
        found = list(in_order(run_jobs(partial(killed_by, 5), range(12), pool)))
    assert [outcome.value for outcome in found] == [0, 1, 2, 3, 4, None, 6, 7, 8, 9, 10, 11]
    assert isinstance(found[5].error, WorkerEndedError)


def test_another_s_executor_that_is_gone_is_said() -> None:
    gone = ThreadPoolExecutor(1)
    gone.shutdown()
    with pytest.raises(ExecutorLostError, match="is gone"):
        list(run_jobs(abs, [1], gone))
    with pytest.raises(InputError, match="executor must be"):
        list(run_jobs(abs, [1], "local"))  # type: ignore[arg-type]
