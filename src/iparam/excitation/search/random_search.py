"""Random search for a motion that hits nothing: draw, check, draw again, smaller after many failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import as_float_array
from iparam.errors import InputError
from iparam.excitation.constraints.collision import DistanceConstraint
from iparam.excitation.constraints.constraint import Constraint, InfeasibleError
from iparam.excitation.constraints.validation import validate
from iparam.trajectory.checks import VALIDATION_RATE, joint_vector, positive_number
from iparam.trajectory.integrated_fourier import IntegratedFourierTrajectory

AMPLITUDE = 0.2
"""Bound of the first random coefficients [rad/s]."""

LEAST_AMPLITUDE = 0.001
"""What it is never lowered below [rad/s]."""

MAX_ATTEMPTS = 200
PATIENCE = 20
"""Failures after which the amplitude is multiplied by DECAY."""

MOST_AMPLITUDE = 1e6
"""That coefficients are drawn from [rad/s]."""

DECAY = 0.8

COARSER = 20.0
"""How much coarser than the grid that counts the first look at a candidate is."""


@dataclass(frozen=True)
class Refusal:
    """Why candidates were refused.

    Attributes:
        reason: a constraint, with the pair of bodies if it is one on distances: "joint velocity", "robot-ground
            collision: forearm_link - ground".
        count: how many.
    """

    reason: str
    count: int

    def __str__(self) -> str:
        return f"{self.count} x {self.reason}"


@dataclass(frozen=True)
class SearchProgress:
    """How far a random search is.

    Attributes:
        attempts: candidates checked so far.
        max_attempts: at which it gives up.
        amplitude: of the last one [rad/s].
        reason: why the last one was refused; None if it was accepted.
    """

    attempts: int
    max_attempts: int
    amplitude: float
    reason: str | None


@dataclass(frozen=True, eq=False)
class RandomSearchResult:
    """A motion that passed every check.

    Attributes:
        trajectory: the motion; at rest in the same pose at both ends.
        attempts: candidates it took, this one included.
        amplitude: bound of its random coefficients [rad/s].
        refusals: why the others were refused, the commonest reason first. A candidate counts once: for the first
            constraint that it violates, in their order.
    """

    trajectory: IntegratedFourierTrajectory
    attempts: int
    amplitude: float
    refusals: tuple[Refusal, ...]


def random_search(
    q0: ArrayLike,
    duration: float,
    constraints: Sequence[Constraint],
    *,
    seed: int = 0,
    num_harmonics: int = 5,
    amplitude: float = AMPLITUDE,
    max_attempts: int = MAX_ATTEMPTS,
    rate: float = VALIDATION_RATE,
    progress: Callable[[SearchProgress], None] | None = None,
    following: ArrayLike | None = None,
) -> RandomSearchResult:
    """Draw Fourier motions from rest in ``q0`` until one keeps every constraint.

    Args:
        q0: (n,) pose at both ends [rad].
        duration: [s]; the base frequency is one over it.
        constraints: limits of the joints and whatever else it must keep.
        seed: of the coefficients.
        num_harmonics: K >= 2.
        amplitude: the coefficients are uniform in +-amplitude at first [rad/s]; times 0.8 after every 20 failures.
        max_attempts: candidates to try.
        rate: of the grid on which a candidate is checked, with no tolerance [Hz].
        progress: called after every candidate.
        following: (n, f) how the joints follow those that are driven, see `Robot.following`; None if all are.

    Raises:
        InfeasibleError: none was found; the message says what they were refused for.
    """
    pose, bound = joint_vector(q0, "q0"), positive_number(amplitude, "amplitude", "rad/s")
    if bound > MOST_AMPLITUDE:
        raise InputError(argument="amplitude", problem=f"must be at most {MOST_AMPLITUDE:g} rad/s, got {bound:g}")
    for name, value, least in (("max_attempts", max_attempts, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(argument=name, value=value, expected=f"a whole number from {least}")
    check = _Check(tuple(constraints), positive_number(rate, "rate", "Hz"))
    share = None if following is None else as_float_array(following, "following")
    driven = [] if share is None else [int(np.argmax(column == 1.0)) for column in share.T]
    still = np.zeros((pose.size, 2))
    reason = check.refusal(IntegratedFourierTrajectory(pose, still, still, 1.0 / check.rate))
    if reason is not None:
        raise InfeasibleError(
            f"the start pose q0 itself is refused ({reason}): choose another, or make more room", argument="q0"
        )
    random = np.random.default_rng(seed)
    refused: Counter[str] = Counter()
    for attempt in range(1, max_attempts + 1):
        if attempt > 1 and (attempt - 1) % PATIENCE == 0:
            bound = max(DECAY * bound, min(bound, LEAST_AMPLITUDE))
        trajectory = IntegratedFourierTrajectory.random(
            pose, duration, num_harmonics=num_harmonics, amplitude=bound, seed=random
        )
        if share is not None:
            a, b = (share @ rows[driven] for rows in (trajectory.a, trajectory.b))
            trajectory = replace(trajectory, a=a, b=b)
        reason = check.refusal(trajectory)
        if progress is not None:
            progress(SearchProgress(attempt, max_attempts, bound, reason))
        if reason is None:
            return RandomSearchResult(trajectory, attempt, bound, _counts(refused))
        refused[reason] += 1
    reasons = "; ".join(str(refusal) for refusal in _counts(refused)[:8])
    raise InfeasibleError(
        f"none of {max_attempts} random motions was possible, the last of amplitude {bound:.3g} rad/s. Refused for: "
        f"{reasons}. Give them a start pose with more room, a longer duration, a smaller amplitude or more attempts"
    )


@dataclass(frozen=True, eq=False)
class _Check:
    constraints: tuple[Constraint, ...]
    rate: float

    def refusal(self, trajectory: IntegratedFourierTrajectory) -> str | None:
        """Why a candidate is refused, or None. Most fail on a coarse grid already, which is much quicker."""
        return self._refusal(trajectory, self.rate / COARSER) or self._refusal(trajectory, self.rate)

    def _refusal(self, trajectory: IntegratedFourierTrajectory, rate: float) -> str | None:
        for constraint in self.constraints:
            for margin in validate(trajectory, (constraint,), rate).margins:
                if not margin.margin >= 0.0:
                    pair = f": {margin.label}" if isinstance(constraint, DistanceConstraint) else ""
                    return f"{margin.constraint}{pair}"
        return None


def _counts(refused: Counter[str]) -> tuple[Refusal, ...]:
    return tuple(Refusal(reason, count) for reason, count in refused.most_common())
