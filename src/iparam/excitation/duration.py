"""`shortest_duration`: how fast and how often to run a motion so that the estimate is precise enough, soonest.

A motion that is run n times gives 1/n of the variance. A motion that is run slower has more samples, which helps the
mass, but smaller accelerations, which hurts the inertia by far more; run faster it is the reverse, until a limit on
velocity, acceleration or torque stops it. So both are chosen together: the time scale, from the fastest that the limits
allow, and the number of repetitions; of all that reach the targets, what takes the least time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.errors import InputError
from iparam.excitation.constraints.constraint import Constraint, InfeasibleError
from iparam.excitation.constraints.validation import REST_TOLERANCE, validate
from iparam.excitation.information.joint_noise import expected_processes
from iparam.excitation.prediction import Prediction, Target, predict_precision
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.noise import MeasurementNoise
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.checks import VALIDATION_RATE
from iparam.trajectory.trajectory import Trajectory

FASTEST, SLOWEST = 0.1, 10.0
"""Range of time scales that are considered: ten times as fast to ten times as slow."""

LONGEST = 3600.0
"""Total time beyond which a target counts as out of reach [s]."""

_STEP = 1.08  # ratio of neighbouring time scales
_SKETCH = 1000.0  # samples of a motion in the first look at a time scale
_FINALISTS = 4  # time scales that get a second one
_SAME_POSE = 1e-6  # [rad]


@dataclass(frozen=True, eq=False)
class DurationChoice:
    """The quickest way to the targets.

    Attributes:
        trajectory: the motion, run faster or slower than the one given.
        time_scale: its duration over that of the one given.
        repetitions: how often to run it.
        duration: of all runs together [s].
        prediction: the precision that it reaches.
    """

    trajectory: Trajectory
    time_scale: float
    repetitions: int
    duration: float
    prediction: Prediction


def shortest_duration(
    trajectory: Trajectory,
    robot: Robot,
    payload: InertialParameters,
    noise: MeasurementNoise,
    targets: Sequence[Target],
    constraints: Sequence[Constraint],
    *,
    rate: float = 500.0,
    longest: float = LONGEST,
    bias: bool = True,
    weighted: bool = True,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> DurationChoice:
    """Time scale and repetitions of a motion that reach all targets in the least time.

    Args:
        trajectory: the motion; repeated only if it ends where it starts, at rest.
        robot, payload, noise, rate, bias, weighted, gravity: see `predict_precision`.
        targets: see `parse_targets`.
        constraints: what the motion must keep at any speed.
        longest: most time in total [s].

    Raises:
        InfeasibleError: no speed keeps the constraints, or no number of runs within ``longest`` reaches the targets.
    """
    if not targets:
        raise InputError("give at least one target, e.g. mass=0.5%")
    processes = None
    if noise.joint_angle > 0.0:
        motion = trajectory.sample(rate)
        processes = expected_processes(motion.time, motion.q, noise.joint_angle)

    def option(scale: float, samples: float = math.inf) -> DurationChoice:
        scaled = trajectory.time_scaled(scale)
        # The same path, slower, has its frequencies lower by the same factor, and so has the smoother's bandwidth.
        slowed = processes and tuple(dataclasses.replace(p, bandwidth=p.bandwidth / scale) for p in processes)
        used = min(rate, samples / scaled.duration)
        once = predict_precision(
            scaled,
            robot,
            payload,
            noise,
            rate=used,
            bias=bias,
            weighted=weighted,
            processes=slowed,
            gravity=gravity,
        )
        once = _repeated(once, rate / used)
        needed = max(target.excess(once) for target in targets) ** 2
        if not math.isfinite(needed):
            raise InfeasibleError("the guessed payload has no inertia about its centre of mass: no target of inertia")
        count = max(1, math.ceil(needed * (1.0 - 1e-12)))
        total = dataclasses.replace(_repeated(once, count), duration=count * scaled.duration)
        return DurationChoice(scaled, scale, count, total.duration, total)

    fastest, repeatable = _fastest_scale(trajectory, constraints), _repeatable(trajectory)
    steps = max(1, math.ceil(math.log(SLOWEST / fastest) / math.log(_STEP)))
    scales = fastest * (SLOWEST / fastest) ** (np.arange(steps + 1) / steps)
    # All time scales with few samples, the best of them with all samples, and the surroundings of the best.
    sketches = sorted((option(float(scale), _SKETCH) for scale in scales), key=lambda one: one.duration)
    usable = [one for one in sketches if repeatable or one.repetitions == 1]
    candidates = [option(one.time_scale) for one in (usable or sketches)[:_FINALISTS]]
    reached = [one for one in candidates if (repeatable or one.repetitions == 1) and one.duration <= longest]
    if not reached:
        raise InfeasibleError(_out_of_reach(candidates[0], targets, longest, repeatable))
    best = min(reached, key=lambda one: one.duration)
    faster = scales[scales < best.time_scale]
    return _refined(best, float(faster[-1]), option) if faster.size else best


def _refined(best: DurationChoice, below: float, option: Callable[[float], DurationChoice]) -> DurationChoice:
    """The fastest time scale above ``below`` that needs no more runs."""
    for _ in range(6):
        middle = option(math.sqrt(below * best.time_scale))
        if middle.repetitions <= best.repetitions:
            best = middle
        else:
            below = middle.time_scale
    return best


def _fastest_scale(trajectory: Trajectory, constraints: Sequence[Constraint]) -> float:
    """The least time scale that keeps every constraint; those on poses alone do not depend on it."""
    poses = [constraint for constraint in constraints if tuple(constraint.orders) == (0,)]
    timed = [constraint for constraint in constraints if tuple(constraint.orders) != (0,)]
    checked = validate(trajectory, poses, require_rest=False)
    if not checked.satisfied:
        raise InfeasibleError(f"the motion violates a constraint at any speed: {checked.violations[0]}")

    def kept(scale: float) -> bool:
        # On the same points of the path whatever the speed; between them the final check is as dense as any.
        return validate(trajectory.time_scaled(scale), timed, VALIDATION_RATE / scale, require_rest=False).satisfied

    if kept(FASTEST):
        return FASTEST
    if not kept(SLOWEST):
        slowest = validate(trajectory.time_scaled(SLOWEST), timed, require_rest=False)
        raise InfeasibleError(
            f"the motion violates a constraint even {SLOWEST:g} times slower: {slowest.violations[0]}"
        )
    low, high = math.log(FASTEST), math.log(SLOWEST)
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if kept(math.exp(middle)) else (middle, high)
    scale = math.exp(high)
    while not validate(trajectory.time_scaled(scale), timed, require_rest=False).satisfied:
        scale *= 1.0001
    return scale


def _repeatable(trajectory: Trajectory) -> bool:
    ends = trajectory.evaluate([0.0, trajectory.duration])
    at_rest = np.abs(ends.dq).max() <= REST_TOLERANCE and np.abs(ends.ddq).max() <= REST_TOLERANCE
    return bool(at_rest and np.abs(ends.q[1] - ends.q[0]).max() <= _SAME_POSE)


def _repeated(once: Prediction, count: float) -> Prediction:
    """The prediction for ``count`` times as many samples; its duration stays."""
    return dataclasses.replace(
        once,
        covariance_phi=once.covariance_phi / count,
        covariance_derived=once.covariance_derived / count,
        samples=round(count * once.samples),
    )


def _out_of_reach(least: DurationChoice, targets: Sequence[Target], longest: float, repeatable: bool) -> str:
    hardest = max(targets, key=lambda target: target.excess(least.prediction))
    again = "" if repeatable else " (it does not end at rest where it starts, so it cannot be repeated)"
    return (
        f"{hardest} is out of reach of this motion{again}: it would take {least.repetitions} runs of "
        f"{least.trajectory.duration:.3g} s, at most {longest:g} s are allowed; plan a motion that tells more, use a "
        "less noisy sensor, or ask for less"
    )
