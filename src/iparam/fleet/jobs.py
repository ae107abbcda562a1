"""`run_jobs`: work that repeats, on any `concurrent.futures.Executor`.

Jobs are handed over a few at a time, so that memory does not grow with their number. What a job raises is the outcome
of that job; so is a worker that dies with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from iparam.errors import InputError, IparamError
from iparam.worker_pool import WorkerPool

Job = TypeVar("Job")
Result = TypeVar("Result")

AHEAD = 2
"""Jobs a worker that are handed over before it is done with the first: it never waits for the next."""

_LOOK = 0.5  # s between two looks at whether the executor is still there


class ExecutorLostError(IparamError):
    """What runs the jobs is gone, e.g. a cluster's scheduler; what was done until then is not lost."""


@dataclass(frozen=True, eq=False)
class Outcome(Generic[Result]):
    """What came of a job.

    Attributes:
        index: of the job in the order given, from 0.
        value: what the function returned; None if it raised.
        error: what it raised, or why no process could run it; None if it returned.
    """

    index: int
    value: Result | None
    error: Exception | None


def run_jobs(
    function: Callable[[Job], Result], jobs: Iterable[Job], executor: Executor | None = None
) -> Iterator[Outcome[Result]]:
    """Call ``function`` for each job, and give the outcomes as they come, in any order.

    Args:
        function: of an importable module, or a `functools.partial` of one.
        jobs: taken from the iterable as they are needed.
        executor: that runs them; None for a `WorkerPool` over the usable cores. Its ``num_workers`` or ``_max_workers``
            says how many jobs it runs at a time, ``lost`` whether it is gone, ``loss`` what to say then.

    Raises:
        ExecutorLostError: the executor does not run any more.
    """
    if executor is None:
        with WorkerPool() as pool:
            yield from run_jobs(function, jobs, pool)
        return
    if not isinstance(executor, Executor):
        raise InputError(
            argument="executor", problem=f"must be a concurrent.futures.Executor or None, got {type(executor).__name__}"
        )
    numbered = enumerate(jobs)
    running: dict[Future[Result], int] = {}
    try:
        while True:
            for index, job in itertools.islice(numbered, AHEAD * num_workers(executor) - len(running)):
                running[_submitted(executor, function, job)] = index
            if not running:
                return
            done, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            if not done and getattr(executor, "lost", False):
                raise _lost(executor, ConnectionError("no answer"))
            for future in done:
                yield _outcome(running.pop(future), future, executor)
    finally:
        for future in running:
            future.cancel()


def in_order(outcomes: Iterable[Outcome[Result]]) -> Iterator[Outcome[Result]]:
    """The same outcomes in the order of their jobs; those that are early wait in memory."""
    early: dict[int, Outcome[Result]] = {}
    due = 0
    for outcome in outcomes:
        early[outcome.index] = outcome
        while due in early:
            yield early.pop(due)
            due += 1


def num_workers(executor: Executor) -> int:
    """How many jobs an executor runs at a time, as far as it says; 1 if it does not."""
    count = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None) or 1
    return max(1, int(count))


def _submitted(executor: Executor, function: Callable[[Job], Result], job: Job) -> Future[Result]:
    try:
        return executor.submit(function, job)
    except (RuntimeError, OSError) as error:  # shut down, broken, or its connection is closed
        raise _lost(executor, error) from None


def _outcome(index: int, future: Future[Result], executor: Executor) -> Outcome[Result]:
    try:
        return Outcome(index, future.result(), None)
    except (BrokenExecutor, CancelledError) as error:
        raise _lost(executor, error) from None
    except Exception as error:
        return Outcome(index, None, error)


def _lost(executor: Executor, error: BaseException) -> ExecutorLostError:
    """In the executor's own words if it has any, such as a cluster's."""
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ExecutorLostError(getattr(executor, "loss", f"what runs the jobs is gone ({reason})"))
