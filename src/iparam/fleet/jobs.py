"""`run_jobs`: the one seam between work that repeats and what runs it, any `concurrent.futures.Executor`.

Jobs are handed over a few at a time, so that memory does not grow with their number, and in batches where they are
short. What a job raises is the outcome of that job; a worker that dies takes only the job with it that killed it.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import math
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.fleet.local_pool import LocalPool

Job = TypeVar("Job")
Result = TypeVar("Result")

BATCH_SECONDS = 0.4
"""Work that is handed over at once, where there is enough of it [s]: twenty times what Dask needs for a task."""

LARGEST_BATCH = 500
AHEAD = 2
"""Batches a worker that are handed over before it is done with the first: it never waits for the next."""

_LOOK = 0.5  # s between two looks at whether the executor is still there


class ExecutorLostError(IparamError):
    """What runs the jobs is gone, e.g. a cluster's scheduler; what was done until then is not lost."""


@dataclass(frozen=True)
class Failure:
    """Why a job has no result.

    Attributes:
        kind: "refused", an `IparamError`; "bug", any other exception; "worker", the process that ran it ended.
        error: name of the exception's class.
        sentence: its message.
    """

    kind: str
    error: str
    sentence: str


@dataclass(frozen=True, eq=False)
class Outcome(Generic[Result]):
    """What came of a job.

    Attributes:
        index: of the job in the order given, from 0.
        value: what the function returned; None if it raised.
        failure: why it did; None if it did not.
        seconds: that the job took, in its worker.
    """

    index: int
    value: Result | None
    failure: Failure | None
    seconds: float


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor | None = None,
    *,
    total: int | None = None,
) -> Iterator[Outcome[Result]]:
    """Call ``function`` for each job, and give the outcomes as they come, in any order.

    Args:
        function: of an importable module, or a `functools.partial` of one; sent to each worker once.
        jobs: taken from the iterable as they are needed.
        executor: that runs them; None for a `LocalPool` over the usable cores, which starts anew if a worker dies.
            Its ``num_workers`` or ``_max_workers`` says how many jobs it runs at a time, ``lost`` whether it is gone,
            ``loss`` what to say then.
        total: how many jobs there are, if that is known: the last of them are then spread evenly over the workers.

    Raises:
        ExecutorLostError: the executor, which is not the local pool, does not run any more.
    """
    if executor is not None and not isinstance(executor, Executor):
        raise InputError(f"executor must be a concurrent.futures.Executor or None, got {type(executor).__name__}")
    numbered = enumerate(jobs)
    if executor is not None:
        yield from _Hand(function, numbered, executor, total).run()
        return
    with LocalPool() as pool:
        yield from _Hand(function, numbered, pool, total).run()


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


@dataclass
class _Hand(Generic[Job, Result]):
    """Hands batches to an executor and takes what comes back."""

    function: Callable[[Job], Result]
    jobs: Iterator[tuple[int, Job]]
    executor: Executor
    total: int | None
    running: dict[Future[bytes], list[tuple[int, Job]]] = field(default_factory=dict)
    suspects: collections.deque[tuple[int, Job]] = field(default_factory=collections.deque)
    alone: set[int] = field(default_factory=set)  # jobs that run, or ran, with no other beside them
    taken: int = 0
    mean: float = math.nan  # seconds a job

    def run(self) -> Iterator[Outcome[Result]]:
        """Until there is nothing more to do; what is under way when the caller leaves is cancelled."""
        packed = _packed(self.function)
        try:
            while self._submit(packed):
                done, _ = wait(self.running, timeout=_LOOK, return_when=FIRST_COMPLETED)
                if not done:
                    self._look()
                for future in done:
                    batch = self.running.pop(future, None)
                    if batch is not None:  # None where the pool has broken meanwhile: it is done again
                        yield from self._take(future, batch)
        finally:
            for future in self.running:
                future.cancel()

    def _submit(self, packed: bytes) -> bool:
        """Hand over as much as there is room for; whether anything is under way."""
        while len(self.running) < self._room():
            batch = self._next_batch()
            if not batch:
                break
            try:
                future = self.executor.submit(_run_batch, packed, _packed([job for _, job in batch]))
            except BrokenExecutor as error:
                self.suspects.extend(batch)
                self._start_anew(error)
                continue
            except (RuntimeError, OSError) as error:  # shut down, or its connection is closed
                raise self._lost(error) from None
            self.running[future] = batch
        return bool(self.running)

    def _room(self) -> int:
        # A job that was under way when a worker died may be what killed it: each of those runs alone.
        return 1 if self.suspects else AHEAD * num_workers(self.executor)

    def _next_batch(self) -> list[tuple[int, Job]]:
        if self.suspects:
            if self.running:
                return []
            self.alone.add(self.suspects[0][0])
            return [self.suspects.popleft()]
        size = 1 if math.isnan(self.mean) else int(min(BATCH_SECONDS / max(self.mean, 1e-6), LARGEST_BATCH))
        if self.total is not None:
            size = min(size, (self.total - self.taken) // (AHEAD * num_workers(self.executor)))
        batch = list(itertools.islice(self.jobs, max(1, size)))
        self.taken += len(batch)
        return batch

    def _take(self, future: Future[bytes], batch: list[tuple[int, Job]]) -> Iterator[Outcome[Result]]:
        try:
            outcomes: Sequence[tuple[Any, Failure | None, float]] = pickle.loads(future.result())  # noqa: S301
        except BrokenExecutor as error:
            self._start_anew(error)
            if batch[0][0] in self.alone:  # nothing else can have killed it this time
                yield _killed(batch[0][0], error)
            else:
                self.suspects.extend(batch)
            return
        except CancelledError:
            raise self._lost(ConnectionError("it cancelled what was under way")) from None
        except Exception as error:  # not the function's: those are outcomes
            if len(batch) > 1:
                self.suspects.extend(batch)
            else:
                yield _killed(batch[0][0], error)
            return
        for (index, _), (value, failure, seconds) in zip(batch, outcomes, strict=True):
            self.mean = seconds if math.isnan(self.mean) else 0.8 * self.mean + 0.2 * seconds
            yield Outcome(index, value, failure, seconds)

    def _start_anew(self, error: Exception) -> None:
        """A new pool for one that broke; all that was under way in it is to be done again, each alone."""
        if not isinstance(self.executor, LocalPool):
            raise self._lost(error)
        for batch in self.running.values():
            self.suspects.extend(batch)
        self.running.clear()
        self.executor.restart()

    def _look(self) -> None:
        if getattr(self.executor, "lost", False):
            raise self._lost(ConnectionError("no answer"))

    def _lost(self, error: BaseException) -> ExecutorLostError:
        """In the executor's own words if it has any, such as a cluster's."""
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return ExecutorLostError(getattr(self.executor, "loss", f"what runs the jobs is gone ({reason})"))


def _killed(index: int, error: Exception) -> Outcome[Any]:
    if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":  # of Dask's
        sentence = "the process that worked on it ended: killed, or out of memory"
    else:  # it never came so far, e.g. where another version is installed
        sentence = f"its worker could not run it: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return Outcome(index, None, Failure("worker", type(error).__name__, sentence), 0.0)


def _packed(content: object) -> bytes:
    """What is sent to a worker, or comes from it; classes of a script and read-only mappings can be sent, too."""
    try:
        import cloudpickle
    except ImportError:
        raise MissingExtraError("cloudpickle", "fleet") from None
    try:
        packed: bytes = cloudpickle.dumps(content)
    except (AttributeError, TypeError, pickle.PickleError) as error:
        raise InputError(f"this cannot be sent to worker processes: {error}") from None
    return packed


@functools.lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Callable[[Any], Any]:
    """The function, which a worker unpacks once."""
    function: Callable[[Any], Any] = pickle.loads(packed)  # noqa: S301  from the caller of `run_jobs` alone
    return function


def _run_batch(packed: bytes, jobs: bytes) -> bytes:
    """In a worker: the outcomes of a batch, packed."""
    function = _unpacked(packed)
    outcomes: list[tuple[Any, Failure | None, float]] = []
    for job in pickle.loads(jobs):  # noqa: S301
        began, value, failure = time.perf_counter(), None, None
        try:
            value = function(job)
        except IparamError as error:
            failure = Failure("refused", type(error).__name__, str(error))
        except Exception as error:
            failure = Failure("bug", type(error).__name__, str(error))
        outcomes.append((value, failure, time.perf_counter() - began))
    with contextlib.suppress(Exception):
        return _packed(outcomes)
    # A value that cannot be sent is that job's failure, not the end.
    return _packed([_sendable(outcome) for outcome in outcomes])


def _sendable(outcome: tuple[Any, Failure | None, float]) -> tuple[Any, Failure | None, float]:
    try:
        _packed(outcome)
    except Exception as error:
        return None, Failure("bug", type(error).__name__, f"its result cannot be sent: {error}"), outcome[2]
    return outcome
