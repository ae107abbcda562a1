"""`optimize_excitation`: many starts over the cores, the best valid motion out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for_futures
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, IparamError
from iparam.excitation.constraints.constraint import WorstMargin
from iparam.excitation.information.criteria import Criterion, criterion_value, eigenvalues
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.search.start import StartResult, StartTask, run_task, warm_up
from iparam.trajectory.fourier import WindowedFourierTrajectory
from iparam.worker_pool import WorkerPool

_MOST_FAILURES = 21
_RANDOM_STARTS = 5
"""How many starts are random before every other one is beside the best motion so far."""


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Attributes:
        finished: starts that are done.
        best: the best criterion of a valid motion so far; inf before the first.
        seconds: since the search began.
        time_left: [s], inf without a budget.
    """

    finished: int
    best: float
    seconds: float
    time_left: float


@dataclass(frozen=True, eq=False, repr=False)
class OptimizationResult:
    """The best motion found; it keeps every constraint on the dense grid.

    Attributes:
        trajectory: the motion.
        value: its criterion.
        condition_number: of its stacked regressor, whatever the criterion.
        margins: worst margin of every constraint at 1 kHz, none negative.
        starts: what came of every start that was done, by index.
        seconds: the search took.
        interrupted: whether it was stopped by Ctrl-C, or by what shows its progress.
        failures: why some starts have no result, each reason once.
    """

    trajectory: WindowedFourierTrajectory
    value: float
    condition_number: float
    margins: tuple[WorstMargin, ...]
    starts: tuple[StartResult, ...]
    seconds: float
    interrupted: bool
    failures: tuple[str, ...] = ()

    @property
    def n_evaluations(self) -> int:
        """How often the criterion was computed, in all starts."""
        return sum(start.evaluations for start in self.starts)

    def plot(self) -> Any:
        """The motion, see `Trajectory.plot`."""
        return self.trajectory.plot()

    def __repr__(self) -> str:
        return (
            f"OptimizationResult({self.trajectory!r}, condition number {self.condition_number:.4f}, "
            f"{len(self.starts)} starts in {self.seconds:.3g} s)"
        )


def optimize_excitation(
    problem: ExcitationProblem,
    *,
    seed: int = 0,
    starts: int | None = None,
    time_budget: float | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> OptimizationResult:
    """Search the motion that tells most, from many random starts at once.

    Given ``starts`` and time enough, the outcome depends on ``seed`` alone, not on the number of workers. With a time
    budget alone, every other start is beside the best motion so far. Its end ends the starts under way where they are;
    that is always a usable motion, and so is what Ctrl-C leaves.

    Args:
        problem: what is sought.
        seed: of the random starts.
        starts: how many; None for as many as the time allows.
        time_budget: [s] for the search, without the start of the worker processes; 30 if neither is given.
        workers: processes on this machine; all usable cores if not given.
        executor: that runs the starts instead, any of `concurrent.futures`.
        progress: called a few times a second; where it returns False, the search ends as with Ctrl-C.
    """
    if starts is None and time_budget is None:
        time_budget = 30.0
    if starts is not None and (not isinstance(starts, int) or starts < 1):
        raise InputError(argument="starts", value=starts, expected="a whole number from 1")
    if time_budget is not None and not (np.isfinite(time_budget) and time_budget > 0):
        raise InputError(argument="time_budget", value=time_budget, expected="positive")
    if not isinstance(seed, int) or seed < 0:
        raise InputError(argument="seed", value=seed, expected="a whole number from 0")
    problem.check_start()
    if executor is not None and workers is not None:
        raise InputError(
            argument="workers", problem="are processes of this machine; an executor has workers of its own"
        )
    search = _Search(problem, seed, starts, time_budget, progress)
    if executor is not None:
        search.run(executor)
        return search.result()
    pool = WorkerPool(workers)
    try:
        search.run(pool)
    finally:
        pool.shutdown(cancel_futures=True)
    return search.result()


@dataclass
class _Search:
    """The state of a search while it runs."""

    problem: ExcitationProblem
    seed: int
    starts: int | None
    time_budget: float | None
    progress: Callable[[Progress], object] | None
    results: list[StartResult] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    given: int = 0
    began: float = 0.0
    interrupted: bool = False

    def run(self, executor: Executor) -> None:
        """Hand starts to an executor, as many at a time as it has workers, until there is nothing more to do."""
        under_way: dict[Future[StartResult], int] = {}
        try:
            room = _room(executor) if self.starts is None else min(_room(executor), self.starts)
            wait_for_futures([executor.submit(warm_up, self.problem) for _ in range(room)])
            self.began = time.monotonic()
            while True:
                room = _room(executor)
                while len(under_way) < room and (task := self._next_task()) is not None:
                    under_way[executor.submit(run_task, self.problem, self.seed, task)] = task.index
                if not under_way:
                    return
                self._collect(under_way, executor)
                self._tell()
        except KeyboardInterrupt:
            self.interrupted = True
        except (OSError, RuntimeError) as error:  # nothing more can be handed over
            self._lose(executor, error)
        finally:
            for future in under_way:
                future.cancel()

    def _collect(self, under_way: dict[Future[StartResult], int], executor: Executor) -> None:
        done, _ = wait_for_futures(under_way, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            del under_way[future]
            try:
                self.results.append(future.result())
            except (BrokenExecutor, CancelledError) as error:
                self._lose(executor, error)
            except IparamError as error:
                self.failures.append(str(error))
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
        if not done and getattr(executor, "lost", False):
            raise ConnectionError("no answer")

    def _lose(self, executor: Executor, error: Exception) -> None:
        """What runs the starts is gone: no more are handed over. A cluster says it in its own words."""
        reason = f": {error}" if str(error) else ""
        self.failures += [getattr(executor, "loss", f"what runs the starts is gone{reason}")] * _MOST_FAILURES

    def _tell(self) -> None:
        if self.progress is not None:
            seconds = time.monotonic() - self.began
            remaining = np.inf if self.time_budget is None else max(0.0, self.time_budget - seconds)
            if self.progress(Progress(len(self.results), self.best, seconds, remaining)) is False:
                raise KeyboardInterrupt

    def _next_task(self) -> StartTask | None:
        remaining = 1e9 if self.time_budget is None else self.time_budget - (time.monotonic() - self.began)
        enough = self.starts is not None and self.given >= self.starts
        if remaining <= 0 or enough or len(self.failures) >= _MOST_FAILURES:
            return None
        index = self.given
        self.given += 1
        if self.starts is not None:  # every one is polished: what another start found must not matter
            return StartTask(index, np.inf, remaining)
        varied = index >= _RANDOM_STARTS and index % 2 == 1 and self.results
        beside = min(self.results, key=lambda result: result.final).x if varied else None
        return StartTask(index, self.best, remaining, beside)

    @property
    def best(self) -> float:
        return min((result.final for result in self.results), default=np.inf)

    def result(self) -> OptimizationResult:
        """The best of all starts, the earliest of equals; an error if none came to an end, or the interrupt itself."""
        if not self.results:
            if self.interrupted:
                raise KeyboardInterrupt("interrupted before any start came to an end: no motion was found")
            reason = self.failures[0] if self.failures else "the time budget ended before the first start"
            raise IparamError(f"no start came to an end: {reason}")
        ordered = sorted(self.results, key=lambda result: result.index)
        best = min(ordered, key=lambda result: result.final)
        return OptimizationResult(
            self.problem.trajectory(best.x),
            best.final,
            condition_number(self.problem, best.x),
            self.problem.margins(best.x),
            tuple(ordered),
            time.monotonic() - self.began,
            self.interrupted,
            tuple(dict.fromkeys(self.failures)),
        )


def _room(executor: Executor) -> int:
    """How many starts an executor runs at a time, as far as it says."""
    return getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None) or 1


def condition_number(problem: ExcitationProblem, x: FloatArray) -> float:
    """Condition number of the stacked regressor of a motion, on the samples that count."""
    motion = problem.motion(x, problem.basis(problem.criterion_times))
    return criterion_value(Criterion.KAPPA, eigenvalues(problem.information.gram(motion)))
