"""`judged`: an estimate with its verdict's grounds, the causes that would explain its data better, and intervals that
count the errors of the model that these show.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, block_means
from iparam.estimation.assessment.derived_values import NAMES, derived_of, derived_values, parameter_scales
from iparam.estimation.assessment.refutation import shows_no_body, too_little_explained, unexplained
from iparam.estimation.causes.examined_run import FEWEST_MEANS, ExaminedRun, examine
from iparam.estimation.causes.fit import linear_fit
from iparam.estimation.causes.hypothesis import Explanation, loads_differ
from iparam.estimation.causes.left_over import FASTEST, MOST_LEFT, SLOWEST, LeftOver, left_over
from iparam.estimation.causes.plausible_load import no_load, too_heavy
from iparam.estimation.causes.screening import FEW, finer_than_sensors, screened, screened_again
from iparam.estimation.causes.search import Causes, find_causes
from iparam.estimation.causes.weighing.comparison import weight_causes
from iparam.estimation.causes.weighing.data import Weighing
from iparam.estimation.estimate import Cause, Estimate, Refutation
from iparam.estimation.payload.estimate_assembly import STRUCTURE, widened
from iparam.estimation.payload.problem_from_recording import PreparedRun
from iparam.estimation.payload.weighted_fit import hidden_by_motion_errors
from iparam.estimation.static.slow_motion import slow_means
from iparam.motion.orientation import readings
from iparam.recording.statements import are_poses
from iparam.remarks import Remark, remark
from iparam.rounding import NORMAL_95, significant
from iparam.spatial.parameters import InertialParameters

MATERIAL = 0.05
"""Change of the load, as a share of its mass, radius of gyration or largest moment of inertia, by which a cause or the
sensor's channels among themselves may move it before it is refuted."""

LITTLE = 0.8
"""Residual of the force, in that without a hypothesis, from which on the best one does not explain it."""

HARDLY_KNOWN = 0.5
"""Half width of a 95 % interval, as a share of the parameter's scale, from which on it is hardly known."""

WELL_EXCITED = 20.0
"""Condition number of a motion up to which it is not to blame for that: the load is too light for the sensor. The best
motions have 2; a tenth of their way has 50."""

FAR = 4.0
"""Standard deviations that a mistake which the data hardly show must move the load by to count."""

NOISE = 2.5
"""Standard deviations by which noise alone moves the load where a channel is left out."""

SHORTEST = 0.02
"""Distance that the centre of mass of a load is at least taken to have, where its moves are compared with it [m]."""

WITHIN = 1.96
"""Standard deviations of a 95 % interval."""

LEAST_POSES = 5
"""Poses, or means, from which on more than a load can be told."""

SURE = 3.0
"""Standard deviations from which on a mass is believed to be negative."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """An estimate with what its data say against it.

    Attributes:
        estimate: with its causes and, where there is one, its refutation.
        best: the explanation that is best; None where the data need none.
    """

    estimate: Estimate
    best: Explanation | None = None


def judged(run: PreparedRun, estimate: Estimate) -> Judgement:
    """The estimate with what its data say against it, or for a closer look.

    A few milliseconds tell whether the residuals hold anything but noise. Only then all hypotheses are fitted. What the
    best ones, and leaving out channels, do to the load counts in its covariance; if that is much, the data refute it.
    Residuals that no sensor would show, and that move no load by what matters, are counted and accuse nobody: steps of
    a simulator leave such.

    Args:
        run: that was identified.
        estimate: of its load.
    """
    reason = _plain_reason(run, estimate)
    told = (*_compensated(run, estimate), *_too_heavy(estimate))
    weighing = _weighing(run)
    if weighing is not None:
        return _judged_by_weight(run, weighing, estimate, reason, told)
    examined = examine(run)
    if examined is None:
        reason = reason or _too_few(run, estimate)
        return Judgement(_with(estimate, reason, (*_upside_down(run, estimate), *told, *_too_little(estimate))))
    shown = screened(examined)
    nothing = not estimate.determined or bool(no_load(run.robot, estimate))
    if not shown.alarms and (nothing or not reason):
        told = (*told, *_too_little(estimate))
        return Judgement(_with(estimate, reason, told))
    causes = find_causes(examined)
    if shown.alarms == (FEW,) and not reason and not causes.found:
        estimate = _remarking(estimate, remark("few-samples", count=run.problem.num_samples))
        return Judgement(_with(estimate, "", (*told, *_too_little(estimate))))
    if estimate.complete and not reason and finer_than_sensors(causes.base):
        moves = _moves(examined, causes)
        if not any(loads_differ(estimate.phi + move, estimate.phi, np.zeros(10)) for move in moves):
            moves = _reaching(estimate, moves)
            estimate = _without_structure(widened(estimate, moves.T @ moves, "alternatives"))
            return Judgement(_with(estimate, "", (*told, *_too_little(estimate))))
    told = (*causes.told(), *told)
    if nothing and not hidden_by_motion_errors(run.problem):  # then no mistake is to blame for that
        told = (*_too_little(estimate), *told)
    elif nothing or not causes.found:
        told = (*told, *_too_little(estimate))
    if _too_heavy(estimate):  # which explains more than any other mistake but that of units
        told = tuple(sorted(told, key=lambda one: {"units": 0, "too-heavy": 1}.get(one.cause, 2)))
    if estimate.complete and not reason:
        moves = _reaching(estimate, _moves(examined, causes))
        share, second = _largest_share(estimate, moves), ""
        if causes.found:
            again = screened_again(examined, causes.best)
            further = _far(estimate, _reaching(estimate, again.moves))
            more = _largest_share(estimate, further)
            moves = np.concatenate([moves, further])
            share, second = (more, ", ".join(again.alarms[:3])) if more > share else (share, "")
        left = left_over(examined, causes.best)
        estimate = _counting(widened(estimate, moves.T @ moves + left.covariance(estimate.parameters), "alternatives"))
        if share > MATERIAL:
            reason = _second_reason(causes, share, second) if second else _reason(causes, share)
        elif left.share(estimate.mass) > MOST_LEFT:
            reason = _left_reason(left, estimate)
        first = 0 if causes.best.force_rms > LITTLE * causes.base.force_rms else 1
        told = (*told[:first], *_swinging(left, estimate, causes), *told[first:])
    elif causes.found and not reason:
        estimate, share = _part_counting(estimate, _moves(examined, causes))
        reason = _reason(causes, share) if share > MATERIAL else ""
    return Judgement(_with(estimate, reason, told), causes.found[0][1] if causes.found else None)


def _judged_by_weight(
    run: PreparedRun, weighing: Weighing, estimate: Estimate, reason: str, told: tuple[Cause, ...]
) -> Judgement:
    """The same where the data show a weight and no more."""
    found = weight_causes(weighing)
    if not reason and estimate.determined:
        old = estimate.standard_deviation
        half = WITHIN * np.array([old.mass, *old.center_of_mass])
        reason = found.refuted(found.share(estimate.mass, estimate.center_of_mass, half))
        if len(found.loads):
            moves = np.zeros((len(found.loads), 10))
            loads = np.hstack([found.loads[:, :1], found.loads[:, :1] * found.loads[:, 1:]])
            moves[:, :4] = np.nan_to_num(loads - estimate.phi[:4])
            estimate = _part_counting(estimate, moves)[0]
    causes = (*_upside_down(run, estimate), *found.causes, *told)
    return Judgement(_with(estimate, reason, (*causes, *_too_little(estimate))))


def _weighing(run: PreparedRun) -> Weighing | None:
    """A run of poses, or of a motion whose acceleration is not known; None for others."""
    problem, poses, motion = run.problem, are_poses(run.recording), run.aligned.motion
    if run.robot is not None or not (poses or motion.quasi_static):
        return None
    size = 1 if poses else slow_means(problem)
    time, A, y = (block_means(values, size) for values in (problem.time, problem.A, problem.y))
    turned = motion.at(time - run.aligned.delay).orientation
    if turned is None or len(time) < LEAST_POSES:
        return None
    turning, at = (None, None) if poses else (A, time)
    other = readings(run.recording)
    return Weighing(A[:, :3, 0], y, turned, run.gravity, turning, at, problem.bias, readings=other)


def _plain_reason(run: PreparedRun, estimate: Estimate) -> str:
    """What is against an estimate whatever the cause; "" for nothing."""
    mass, deviation = estimate.mass, estimate.standard_deviation.mass
    if not estimate.determined:
        return estimate.status
    if not estimate.complete and mass < -SURE * deviation:
        return f"The data show a negative mass, {mass:.4g} +- {NORMAL_95 * deviation:.2g} kg (95 %)."
    return (
        no_load(run.robot, estimate)
        or shows_no_body(estimate)
        or too_little_explained(run.problem, estimate)
        or too_heavy(estimate)
    )


def _too_few(run: PreparedRun, estimate: Estimate) -> str:
    """A sentence if all parameters rest on so few samples in motion that nothing is left to test them with."""
    count = run.problem.num_samples
    if count >= FEWEST_MEANS or run.aligned.motion.quasi_static or not estimate.complete:
        return ""
    return (
        f"{count} samples of the wrench are too few to tell a load from a mistake ({FEWEST_MEANS} are needed, hundreds "
        "are good): record for longer, or with a faster sensor."
    )


def _remarking(estimate: Estimate, said: Remark) -> Estimate:
    return dataclasses.replace(estimate, remarks=(*estimate.remarks, said))


def _with(estimate: Estimate, reason: str, causes: tuple[Cause, ...]) -> Estimate:
    if not reason:
        return dataclasses.replace(estimate, causes=causes)
    refutation = Refutation(reason, causes) if causes else unexplained(reason)
    return dataclasses.replace(estimate, refutation=refutation, causes=causes)


def _too_little(estimate: Estimate) -> tuple[Cause, ...]:
    """The cause of a result that lacks parameters, or does not know some of them by far."""
    rms = _force_rms(estimate)
    if not estimate.complete:
        known = ", ".join(estimate.determined)
        said = f"The motion shows only {known}: move all wrist joints, faster, through more orientations."
        if not known:  # the reason says what would help
            said = "The motion, as it is recorded, shows none of the load's parameters."
        return (Cause("too-little-motion", said, rms, rms),)
    shares = derived_values(estimate).half_widths / parameter_scales(estimate.parameters)
    if shares.max() <= HARDLY_KNOWN or estimate.condition_number <= WELL_EXCITED:
        return ()
    said = (
        f"The motion tells {NAMES[int(np.argmax(shares))]} to +- {100 * float(shares.max()):.0f} % (95 %) only: a "
        "longer or faster one, through more orientations, would tell more."
    )
    return (Cause("too-little-motion", said, rms, rms),)


def _upside_down(run: PreparedRun, estimate: Estimate) -> tuple[Cause, ...]:
    """The cause of a negative mass, where nothing but the weight is known."""
    if not estimate.mass < -SURE * estimate.standard_deviation.mass:
        return ()
    rms = _force_rms(estimate)
    other = "action" if run.measures == "reaction" else "reaction"
    said = f"Reversing the wrench makes it a load of {-estimate.mass:.4g} kg."
    return (Cause("wrench-sign", said, rms, rms, {"measures": other}),)


def _too_heavy(estimate: Estimate) -> tuple[Cause, ...]:
    sentence, rms = too_heavy(estimate), _force_rms(estimate)
    return (Cause("too-heavy", sentence, rms, rms),) if sentence else ()


def _reaching(estimate: Estimate, moves: FloatArray) -> FloatArray:
    """(K, 10) what moves (K, 10) of the load by the data alone make of the estimate, which a shape may hold."""
    return moves if estimate.gain is None else np.asarray(moves @ estimate.gain.T)


def _far(estimate: Estimate, moves: FloatArray) -> FloatArray:
    """Those of the moves (K, 10) of phi that are beyond the intervals."""
    return np.asarray(moves[(np.abs(moves) > FAR * estimate.standard_deviation.phi).any(axis=1)])


def _counting(estimate: Estimate) -> Estimate:
    """The estimate with the remark that its standard deviations count what else would explain the data."""
    return _remarking(_without_structure(estimate), remark("residuals-counted"))


def _without_structure(estimate: Estimate) -> Estimate:
    """The estimate without the remarks on its residuals' structure that what is counted makes untrue."""
    kept = tuple(one for one in estimate.remarks if one.code not in STRUCTURE)
    return dataclasses.replace(estimate, remarks=kept)


def _force_rms(estimate: Estimate) -> float:
    return float(np.sqrt(np.sum(estimate.residual_rms.force**2)))


def _compensated(run: PreparedRun, estimate: Estimate) -> tuple[Cause, ...]:
    """What was found in the recording and put right before anything was fitted."""
    rms = _force_rms(estimate)
    return tuple(Cause(slug, sentence, rms, rms) for slug, sentence in run.compensated)


def _reason(causes: Causes, share: float) -> str:
    if not causes.found:
        return (
            "The model does not explain the wrench: its channels, taken one by one, do not agree on the load, by "
            f"{100 * share:.0f} % of it ({100 * MATERIAL:g} % is allowed)."
        )
    best = causes.found[0][1]
    return (
        f"The model does not explain the wrench, and what would explain it better ({best.cause}) moves the load by "
        f"{100 * share:.0f} % ({100 * MATERIAL:g} % is allowed)."
    )


def _second_reason(causes: Causes, share: float, kinds: str) -> str:
    return (
        f"The model does not explain the wrench, and what explains it best ({causes.found[0][1].cause}) leaves what a "
        f"second mistake would: in its terms ({kinds}) the load moves by {100 * share:.0f} % ({100 * MATERIAL:g} % is "
        "allowed)."
    )


def _left_reason(left: LeftOver, estimate: Estimate) -> str:
    return (
        f"No known cause explains the wrench: {significant(left.force, 2)} N of the force is left between {SLOWEST:g} "
        f"and {FASTEST:g} Hz, {100 * left.share(estimate.mass):.0f} % of the load's weight ({100 * MOST_LEFT:g} % is "
        "allowed). The load may be loose, or held by something else, too."
    )


def _swinging(left: LeftOver, estimate: Estimate, causes: Causes) -> tuple[Cause, ...]:
    """The cause of forces that go on by themselves, where no hypothesis explains them."""
    told = [one.cause for one in causes.told()]
    if left.hertz == 0.0 or left.share(estimate.mass) < MATERIAL or "loose-load" in told:
        return ()
    said = (
        f"{significant(left.force, 2)} N of the force, mostly at about {left.hertz:.2g} Hz, follow no rigid load: a "
        "part of it may swing. Fix all of the load, and empty what holds a liquid."
    )
    return (Cause("loose-load", said, causes.base.force_rms, causes.best.force_rms),)


def _moves(run: ExaminedRun, causes: Causes) -> FloatArray:
    """(K, 10) by how much phi moves, with each of the hypotheses that are as good as the best, and where there is none,
    where channels are left out in turn: the errors of the model that the data show.
    """
    base = linear_fit(run, possible=False)
    if causes.found:
        best, *others = causes.alike
        return np.array([*best.loads, *(one.phi for one in others)]) - base.phi
    known, share = np.diag(base.load_covariance), np.sqrt(5.0 / 6.0)  # of the jackknife
    moves = []
    for channel in range(6):
        fit = linear_fit(run, used=(np.arange(6) != channel).astype(float)[None], possible=False)
        by_chance = NOISE * np.sqrt(causes.unit * np.maximum(np.diag(fit.load_covariance) - known, 0.0))
        move = fit.phi - base.phi
        moves.append(share * np.sign(move) * np.maximum(np.abs(move) - by_chance, 0.0))
    return np.array(moves)


def _part_counting(estimate: Estimate, moves: FloatArray) -> tuple[Estimate, float]:
    """An estimate that lacks parameters, with wider intervals of mass and centre of mass for the ``moves`` (K, 10) of
    phi; and the largest of these, as a share of the mass or of the centre's distance, that was not covered.
    """
    known, old = np.array([estimate.mass, *estimate.center_of_mass]), estimate.standard_deviation
    moved = estimate.phi[:4] + moves[:, :4]
    if (moved[:, 0] <= 0.0).any():  # a cause that leaves no load
        return estimate, float("inf")
    moved[:, 1:] /= moved[:, :1]
    changes = moved - known  # nan where the data do not tell
    widths = np.array([old.mass, *old.center_of_mass])
    distance = max(float(np.linalg.norm(np.nan_to_num(known[1:]))), SHORTEST)
    scales = np.array([abs(known[0]), distance, distance, distance])
    shares = np.where(np.abs(changes) > WITHIN * widths, np.abs(changes) / scales, 0.0)
    return _counting(widened(estimate, moves.T @ moves, "alternatives")), float(shares.max())


def _largest_share(estimate: Estimate, moves: FloatArray) -> float:
    """The largest change of mass, centre of mass or inertia by any of the moves, in units of `parameter_scales`; only
    of those that their intervals do not cover.
    """
    shown = InertialParameters.from_phi(estimate.phi)
    scales, values = parameter_scales(shown), derived_of(shown)
    covered, largest = derived_values(estimate).half_widths, 0.0
    for move in moves:
        phi = estimate.phi + move
        if phi[0] <= 0.0:
            return float("inf")
        change = np.abs(derived_of(InertialParameters.from_phi(phi)) - values)
        largest = max(largest, float(np.max(np.where(change > covered, change / scales, 0.0))))
    return largest
