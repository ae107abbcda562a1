"""One start of the multi-start search: a random feasible motion, optimised and made valid on the dense grid.

Most optima are a few per mille above their neighbours. Beside the best motion so far there are better ones more often
than anywhere else, and a search from there takes half the time: it skips the coarsest smoothings.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.excitation.search.barrier import BarrierFunction, Smoothing
from iparam.excitation.search.newton import minimize_along_path
from iparam.excitation.search.problem import ExcitationProblem
from iparam.trajectory.checks import VALIDATION_RATE

AMPLITUDE = 0.3
"""Largest random coefficient of the first harmonic; the k-th has a k-th of it [rad]."""

SEARCH_PATH = (
    Smoothing(10, 0.1, 3e-3),
    Smoothing(40, 0.015, 1e-3),
    Smoothing(200, 2e-3, 3e-4),
    Smoothing(1000, 2e-4, 2e-4),
)
VARIATION = (0.2, 0.8)
"""Range of how far from the best motion so far a start beside it is, in units of a random start."""

FINISH_PATH = (Smoothing(1000, 1e-4), Smoothing(3000, 2e-5), Smoothing(10000, 4e-6, 1e-4))
SEARCH_RATES = (40.0, 10.0)  # of joint limits and of distances [Hz]
FINISH_RATES = (100.0, 100.0)
PROMISING = 1.01
"""A start is finished on the dense grid if its search comes within this factor of the best so far."""


@dataclass(frozen=True, eq=False)
class StartResult:
    """What came of one start.

    Attributes:
        index: of the start.
        x: (v,) coefficients; keeps every constraint at 1 kHz.
        initial, final: the criterion before and after.
        finished: whether it was worth optimising on the dense grid.
        seconds: it took.
    """

    index: int
    x: FloatArray
    initial: float
    final: float
    finished: bool
    seconds: float


@dataclass(frozen=True, eq=False)
class StartTask:
    """What a worker is told to do: start ``index``, for ``seconds`` at most; the rest as in `run_start`."""

    index: int
    best: float
    seconds: float
    beside: FloatArray | None = None


def run_start(
    problem: ExcitationProblem,
    seed: int,
    index: int,
    best: float | Callable[[], float] = np.inf,
    deadline: float = np.inf,
    report: Callable[[float], None] = lambda value: None,
    beside: FloatArray | None = None,
) -> StartResult:
    """Optimise start ``index`` of ``seed``; the outcome of the search depends on no other start, but for ``beside``.

    Args:
        problem: what is sought.
        seed, index: of the random motion to start from.
        best: the best criterion known, or what tells it when the search has ended; one that ends far above it is not
            polished.
        deadline: time.monotonic() at which to stop with what there is.
        report: told the criterion now and then.
        beside: (v,) a good motion to start beside; None for a random one.
    """
    began = time.monotonic()
    search = BarrierFunction(problem, *SEARCH_RATES, reserves={})
    random = np.random.default_rng([seed, index])
    path: tuple[Smoothing, ...] = SEARCH_PATH
    if beside is None:
        x = random_start(problem, search, random)
    else:
        x = beside + np.exp(random.uniform(*np.log(VARIATION))) * random_coefficients(problem, random)
        x, path = strictly_feasible(problem, search, x), SEARCH_PATH[random.integers(1, 3) :]
    initial = problem.value(x)
    last_report = began

    def stop(current: FloatArray) -> bool:
        nonlocal last_report
        now = time.monotonic()
        if now - last_report > 0.3:
            last_report = now
            report(problem.value(current))
        return now >= deadline

    x = minimize_along_path(search, x, path, stop)
    bound = best() if callable(best) else best
    promising = problem.value(x) < PROMISING * bound if bound > 0 else problem.value(x) < bound + 0.1
    if promising and time.monotonic() < deadline:
        x = finish(problem, x, stop)
    x = shrink_to_valid(problem, x)
    return StartResult(index, x, initial, problem.value(x), promising, time.monotonic() - began)


class SharedMinimum(Protocol):
    """The best criterion that any start has reached, wherever it ran; it is sent to workers."""

    def get(self) -> float:
        """What it is now; inf before the first."""

    def set(self, value: float) -> None:
        """Let all know a better one; the planner alone does."""


def run_task(problem: ExcitationProblem, seed: int, task: StartTask, shared: SharedMinimum | None) -> StartResult:
    """`run_start` in a worker of an executor, with the best so far that all share, if any."""
    bound = task.best if shared is None else functools.partial(_lower, task.best, shared)
    return run_start(problem, seed, task.index, bound, time.monotonic() + task.seconds, beside=task.beside)


def _lower(best: float, shared: SharedMinimum) -> float:
    return min(best, shared.get())


def warm_up(problem: ExcitationProblem) -> None:
    """Load the compiled kernels, or compile them on their first use, so that no search pays for it."""
    function = BarrierFunction(problem, *SEARCH_RATES, reserves={})
    x = random_start(problem, function, np.random.default_rng(0))
    function.expand(x, SEARCH_PATH[0])
    problem.margins(x)


def random_start(problem: ExcitationProblem, function: BarrierFunction, rng: np.random.Generator) -> FloatArray:
    """Random coefficients, shrunk until every constraint is strictly kept."""
    return strictly_feasible(problem, function, random_coefficients(problem, rng))


def random_coefficients(problem: ExcitationProblem, rng: np.random.Generator) -> FloatArray:
    """(v,) random coefficients, smaller for higher harmonics."""
    sizes = AMPLITUDE / np.tile(np.arange(1, problem.num_harmonics + 1), 2)
    if problem.free_start:
        sizes = np.append(sizes, AMPLITUDE)
    return np.asarray((rng.uniform(-1.0, 1.0, (problem.robot.num_joints, sizes.size)) * sizes).ravel())


def strictly_feasible(problem: ExcitationProblem, function: BarrierFunction, x: FloatArray) -> FloatArray:
    """Coefficients x (v,), shrunk until every constraint is strictly kept."""
    for _ in range(200):
        if np.isfinite(function.value(x, SEARCH_PATH[0])):
            return np.asarray(0.9 * x)
        x = 0.8 * x
    raise InfeasibleError("no motion from q0, however small, keeps the constraints: leave it more room")


def finish(problem: ExcitationProblem, x: FloatArray, stop: Callable[[FloatArray], bool]) -> FloatArray:
    """Sharpen a motion on a finer grid, keeping back what the margins lose between its samples."""
    fine = {margin.constraint: margin.margin for margin in problem.margins(x)}
    coarse = {margin.constraint: margin.margin for margin in problem.margins(x, min(FINISH_RATES))}
    reserves = {name: 1.1 * max(0.0, coarse[name] - fine[name]) for name in fine}
    function = BarrierFunction(problem, *FINISH_RATES, reserves)
    for _ in range(60):
        if np.isfinite(function.value(x, FINISH_PATH[0])):
            return minimize_along_path(function, x, FINISH_PATH, stop)
        x = 0.999 * x
    return x


def shrink_to_valid(problem: ExcitationProblem, x: FloatArray) -> FloatArray:
    """The largest motion of the same shape that keeps every constraint on the dense grid, with no tolerance."""
    basis = problem.basis(problem.grid(VALIDATION_RATE))

    def valid(factor: float) -> bool:
        motion = problem.motion(factor * x, basis)
        return all((constraint.margins(motion) >= 0.0).all() for constraint in problem.constraints)

    bad = 1.0
    for good in (1.0, 1.0 - 1e-4, 1.0 - 1e-3, 0.99, 0.9, 0.5, 0.0):  # mostly, next to nothing has to be given up
        if good == 0.0 or valid(good):  # no motion at all is valid: check_start saw to that
            break
        bad = good
    while bad - good > 2e-5:
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if valid(middle) else (good, middle)
    return good * x
