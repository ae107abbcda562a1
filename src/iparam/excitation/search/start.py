"""One start of the multi-start search: a random feasible motion, optimised and made valid on the dense grid.

Most optima are a few per mille above their neighbours. Beside the best motion so far there are better ones more often
than anywhere else, and a search from there takes half the time: it skips the coarsest smoothings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
ROUNDS = 3
"""How often a motion is finished, if much has to be given up to make it valid."""

LITTLE = 0.99
"""Share of a motion from which on nothing else is tried to make it valid."""

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
        evaluations: of the criterion, with or without its derivatives.
    """

    index: int
    x: FloatArray
    initial: float
    final: float
    finished: bool
    seconds: float
    evaluations: int = 0


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
    best: float = np.inf,
    deadline: float = np.inf,
    beside: FloatArray | None = None,
) -> StartResult:
    """Optimise start ``index`` of ``seed``; the outcome of the search depends on no other start, but for ``beside``.

    Args:
        problem: what is sought.
        seed, index: of the random motion to start from.
        best: the best criterion known; a search that ends far above it is not polished.
        deadline: time.monotonic() at which to stop with what there is.
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

    def stop(current: FloatArray) -> bool:
        return time.monotonic() >= deadline

    inside = [minimize_along_path(search, x, path[:1], stop)]
    x = inside[0] if time.monotonic() >= deadline else minimize_along_path(search, inside[0], path[1:], stop)
    promising = problem.value(x) < PROMISING * best if best > 0 else problem.value(x) < best + 0.1
    valid = None
    for _ in range(ROUNDS if promising else 0):
        if time.monotonic() >= deadline:
            break
        x, evaluations = finish(problem, x, inside, stop)
        search.evaluations += evaluations
        shrunk = shrink_to_valid(problem, x, inside)
        valid = shrunk if valid is None else min(valid, shrunk, key=problem.value)
        if problem.value(valid) - problem.value(x) <= (PROMISING - 1.0) * abs(problem.value(x)):
            break
    if valid is None:
        valid = shrink_to_valid(problem, x, inside)
    seconds = time.monotonic() - began
    return StartResult(index, valid, initial, problem.value(valid), promising, seconds, search.evaluations)


def run_task(problem: ExcitationProblem, seed: int, task: StartTask) -> StartResult:
    """`run_start` in a worker."""
    return run_start(problem, seed, task.index, task.best, time.monotonic() + task.seconds, task.beside)


def warm_up(problem: ExcitationProblem) -> None:
    """Load all modules that a search needs, before its time counts."""
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
    return np.asarray((rng.uniform(-1.0, 1.0, (problem.num_free, sizes.size)) * sizes).ravel())


def strictly_feasible(problem: ExcitationProblem, function: BarrierFunction, x: FloatArray) -> FloatArray:
    """Coefficients x (v,), shrunk until every constraint is strictly kept, then a little more, away from the limits.

    Both motions are tested: a smaller one may lead two links into each other that a larger one leads past.
    """
    for _ in range(200):
        smaller = 0.9 * x
        if np.isfinite([function.value(each, SEARCH_PATH[0]) for each in (x, smaller)]).all():
            return np.asarray(smaller)
        x = 0.8 * x
    raise InfeasibleError("no motion from q0, however small, keeps the constraints: leave it more room")


def finish(
    problem: ExcitationProblem, x: FloatArray, inside: list[FloatArray], stop: Callable[[FloatArray], bool]
) -> tuple[FloatArray, int]:
    """Sharpen a motion on a finer grid, keeping back what the margins lose between its samples.

    Returns the motion (v,), and how often the criterion was computed.

    Args:
        problem: what is sought.
        x: (v,) the motion; it may violate between the samples of the grid that it was found on.
        inside: motions (v,) on the way to it that keep more distance, the farthest first; one is added. Where a smaller
            x violates as well, as one does that leads two links past each other, the search goes on between x and them.
        stop: see `minimize_along_path`.
    """
    fine, coarse = problem.least_margins(x), problem.least_margins(x, min(FINISH_RATES))
    reserves = {name: 1.1 * max(0.0, coarse[name] - fine[name]) for name in fine}
    function = BarrierFunction(problem, *FINISH_RATES, reserves)
    for candidate, path in _beginnings(x, inside):
        if np.isfinite(function.value(candidate, FINISH_PATH[0])):
            inside.append(minimize_along_path(function, candidate, path, stop))
            return minimize_along_path(function, inside[-1], FINISH_PATH[1:], stop), function.evaluations
    return x, function.evaluations


def _beginnings(x: FloatArray, inside: list[FloatArray]) -> Iterator[tuple[FloatArray, tuple[Smoothing, ...]]]:
    """Motions from which x may be finished, and the smoothings that lead from there to one close to it."""
    smaller = x
    for _ in range(60):
        yield smaller, FINISH_PATH[:1]
        smaller = 0.999 * smaller
    for index in reversed(range(len(inside))):
        far = SEARCH_PATH[2:] if index == 0 else ()
        for share in (0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.0):
            yield inside[index] + share * (x - inside[index]), (*far, FINISH_PATH[0])


def shrink_to_valid(problem: ExcitationProblem, x: FloatArray, inside: Sequence[FloatArray] = ()) -> FloatArray:
    """The largest motion of the same shape that keeps every constraint on the dense grid, with no tolerance.

    Args:
        problem: what is sought.
        x: (v,) the motion.
        inside: motions (v,) that keep more distance. Where a smaller motion of the same shape would give up much, as it
            leads links past each other more closely, the best between x and one of them is taken.
    """
    basis = problem.basis(problem.grid(VALIDATION_RATE))

    def valid(candidate: FloatArray) -> bool:
        motion = problem.motion(candidate, basis)
        return all((constraint.margins(motion) >= 0.0).all() for constraint in problem.constraints)

    def largest(anchor: FloatArray) -> float:
        return _largest_share(lambda share: valid(anchor + share * (x - anchor)))

    share = largest(np.zeros_like(x))
    found = [share * x]
    if share < LITTLE:
        found += [anchor + largest(anchor) * (x - anchor) for anchor in inside if valid(anchor)]
    return min(found, key=problem.value)


def _largest_share(valid: Callable[[float], bool]) -> float:
    """The largest share that is found valid; none at all always is: `check_start` saw to that, or the caller."""
    bad = 1.0
    for good in (1.0, 1.0 - 1e-4, 1.0 - 1e-3, 0.99, 0.9, 0.5, 0.0):  # mostly, next to nothing has to be given up
        if good == 0.0 or valid(good):
            break
        bad = good
    while bad - good > 2e-5:
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if valid(middle) else (good, middle)
    return good
