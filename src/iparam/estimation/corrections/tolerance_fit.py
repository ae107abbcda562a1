"""`fit_tolerances`: how far arm and sensor are from what is stated, as far as the data show it.

y = A phi + b + C d + noise, with C the derivatives of the wrench by the deviations d at a first estimate, in units of
their tolerances: d has the prior N(0, 1). Load and bias are eliminated by weighted least squares, C~ = C - [A, 1] F.
With J = C~' W C~ and S the covariance of the scores C~' W r, which counts noise that is correlated in time, the
posterior of d has the precision J S^-1 J + 1. What is left of d moves the load by F: a linear function of the noise
and of each prior, so that the load's covariance is a sum of one term for each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, block_means
from iparam.estimation.causes.examined_run import LONGEST_MEAN, slow_functions
from iparam.estimation.causes.fit import solve_regular
from iparam.estimation.corrections.problem_changes import levelled
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.covariance import Scores, score_covariance
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.problem_from_recording import PreparedRun
from iparam.estimation.payload.weighted_fit import channel_floor
from iparam.recording.statements import are_poses
from iparam.regressor.wrench import body_regressor, wrench_regressor_derivatives
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.sensing.tolerances import Tolerances
from iparam.spatial.derived import derived_part
from iparam.spatial.transforms import exp_so3, skew

MOST_MEANS = 6000
"""Means that are looked at, of a long run."""

NOTHING = 1e-3
"""Information of the data on a direction of the deviations, in that of the prior, that is as good as none."""

BEYOND = 4.9
"""Standard deviations of its prior that no deviation has (1e-6): then something else is wrong than the tolerances
allow, which the data do not correct and a diagnosis has to name."""

TOLD = {
    "place": ("the sensor's place", 1e3, "mm"),
    "turn": ("the sensor's orientation", np.degrees(1.0), "deg"),
    "gain": ("a scale error of all channels", 1e2, "%"),
    "channel_gain": ("the gains of the channels", 1e2, "%"),
    "gravity": ("the direction of gravity in the base", np.degrees(1.0), "deg"),
    "joint_zero": ("the zeros of the joints", np.degrees(1.0), "deg"),
    "delay": ("the delay of the wrench", 1e3, "ms"),
}
"""What each tolerance is about, for people, and the unit that they measure it in, of which an SI unit has so many."""

_ROUNDS = 3  # of weights that follow from what is left
_PART = 20_000  # samples whose regressors are held at a time


@dataclass(frozen=True, eq=False)
class ToleranceFit:
    """What the deviations do.

    Attributes:
        shift: (N, 6) what they add to the wrench of each sample, as far as the data show them.
        terms: name -> (10, 10) covariance that the load has from what is not known of them; "noise" is that of the
            correction itself.
    """

    shift: FloatArray
    terms: dict[str, FloatArray]


def fit_tolerances(
    run: PreparedRun, estimate: Estimate, tolerances: Tolerances, sensor: FloatArray, drifting: bool = False
) -> ToleranceFit | None:
    """Estimate the deviations along with the load; None where there are none.

    Args:
        run: with the problem as it was fitted.
        estimate: of its load.
        tolerances: the priors.
        sensor: (6, 6) from a wrench in the sensor's axes about its origin to that of the tool.
        drifting: whether the bias was taken to drift.
    """
    problem = run.problem
    step = float(np.median(np.diff(problem.time)))
    size = 1 if are_poses(run.recording) else max(1, int(LONGEST_MEAN / step + 0.01))
    rows = slice(0, None, -(-(problem.num_samples // size) // MOST_MEANS))
    time, A, y = (block_means(values, size)[rows] for values in (problem.time, problem.A, problem.y))
    design = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2) if problem.bias else A
    used = np.ones(y.shape)
    if problem.missing is not None:
        used = np.floor(block_means((~problem.missing).astype(np.float64), size)[rows] + 1e-9)
    weights = used / np.maximum(y.std(axis=0), channel_floor(problem))
    phi = estimate.phi if estimate.complete else _solved(design, y, weights)[:NUM_PARAMETERS]
    effects = [(name, one) for name, one in _effects(run, tolerances, sensor, phi, time, A @ phi)]
    if not effects:
        return None
    columns = _unbiased(run, np.stack([one for _, one in effects], axis=2), time) * (A != 0.0).any(axis=(0, 2))[:, None]
    if drifting:
        slow = slow_functions(time)
        design, columns, y = (
            values - np.tensordot(slow, np.tensordot(slow, values, (0, 0)), 1) for values in (A, columns, y)
        )
    found = _posterior(design, columns, y, weights, channel_floor(problem), estimate.complete)
    names = [name for name, _ in effects]
    terms = {"noise": found.moved_by_noise}
    for name in dict.fromkeys(names):
        moves = found.moved_by_priors[:, [each == name for each in names]]
        terms[name] = moves @ moves.T
    return ToleranceFit(_shift(run, tolerances, sensor, phi, names, found.deviations), terms)


def most_helpful(estimate: Estimate, tolerances: Tolerances) -> tuple[Remark, ...]:
    """A remark for each of mass, centre of mass and inertia whose interval one tolerance, known better, would halve."""
    if not set(TOLD) & set(estimate.covariance_terms):
        return ()
    found = []
    variances = {name: derived_part(estimate.phi, term)[1] for name, term in estimate.covariance_terms.items()}
    total = np.sum(list(variances.values()), axis=0)
    for quantity, part in (("mass", slice(0, 1)), ("centre of mass", slice(1, 4)), ("inertia", slice(4, 10))):
        whole = float(np.nansum(total[part]))
        if not whole:
            continue
        share, name = max((float(np.nansum(variances[name][part])) / whole, name) for name in TOLD if name in variances)
        if share > 0.75:  # with less, the rest alone is more than a quarter of the variance
            what, size, unit = TOLD[name]
            now = size * getattr(tolerances, name)
            wanted = now * float(np.sqrt((share - 0.75) / share))
            found.append(
                remark(
                    "tolerance-dominates",
                    quantity=quantity,
                    tolerance=name,
                    what=what,
                    share=100.0 * share,
                    now=now,
                    wanted=wanted,
                    unit=unit,
                )
            )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Deviations (k,) in units of their priors, and what moves the load then: (10, 10) by noise, (10, k) by priors."""

    deviations: FloatArray
    moved_by_noise: FloatArray
    moved_by_priors: FloatArray


def _posterior(
    design: FloatArray, columns: FloatArray, y: FloatArray, weights: FloatArray, floor: FloatArray, told: bool
) -> _Posterior:
    """See the top of this module.

    Args:
        design: (N, 6, p) of load and bias.
        columns: (N, 6, k) of the deviations.
        y: (N, 6).
        weights: (N, 6) to start from, 0 for what is not used.
        floor: (6,) a standard deviation that is as good as none.
        told: whether the data say all of the load: what they leave is then to be told from the deviations. Where they
            lack accelerations, it is these that they would correct.
    """
    used, count = weights > 0.0, columns.shape[2]
    freedom = np.maximum(used.sum(axis=0) - (design.shape[2] + count) / 6.0, 1.0)
    for _ in range(_ROUNDS):
        root = weights[:, :, None]
        base, extra, target = design * root, columns * root, y * weights
        flat, more = base.reshape(-1, base.shape[2]), extra.reshape(-1, count)
        gram = flat.T @ flat
        follows = solve_regular(gram, flat.T @ more)
        beside = extra - base @ follows
        residual = target - base @ solve_regular(gram, flat.T @ target.ravel())
        values, vectors = np.linalg.eigh(np.einsum("nci,ncj->ij", beside, beside))
        shown = values > NOTHING
        values, vectors = values[shown], vectors[:, shown]
        along = beside @ vectors
        score = np.einsum("nci,nc->i", along, residual)
        left = residual - along @ (score / (values + 1.0))
        scatter = np.sqrt(np.sum(left**2, axis=0) / freedom) / np.maximum(weights.max(axis=0), 1e-300)
        weights = used / np.maximum(scatter, floor)
    load = follows[:NUM_PARAMETERS]
    unshown = _Posterior(np.zeros(count), np.zeros((NUM_PARAMETERS,) * 2), load)
    if not told or not values.size:
        return unshown
    sums = score_covariance(Scores(along, left, np.zeros(values.size))).matrix
    gain = values[:, None] * np.linalg.inv(sums)
    precision = gain * values + np.eye(values.size)
    inverse = np.linalg.inv(0.5 * (precision + precision.T))
    deviations = vectors @ (inverse @ (gain @ score))
    # Of what is no noise, its scatter is no excuse: as white noise it would take more of the deviations.
    if max(np.abs(deviations).max(), np.abs(vectors @ (score / (values + 1.0))).max()) > BEYOND:
        return unshown
    own = load @ vectors
    kept = load - own @ vectors.T + own @ inverse @ vectors.T
    return _Posterior(deviations, own @ (inverse - inverse @ inverse) @ own.T, kept)


def _solved(design: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    rows = (design * weights[:, :, None]).reshape(-1, design.shape[2])
    return solve_regular(rows.T @ rows, rows.T @ (y * weights).ravel())


def _effects(
    run: PreparedRun, tolerances: Tolerances, sensor: FloatArray, phi: FloatArray, time: FloatArray, load: FloatArray
) -> Iterator[tuple[str, FloatArray]]:
    """What each deviation of one tolerance adds to the wrench (N, 6) of a load, by name.

    Args:
        run, tolerances, sensor: see `fit_tolerances`.
        phi: (10,) the load.
        time: (N,) [s].
        load: (N, 6) its wrench.
    """
    for name, matrix in _of_sensor(tolerances, sensor):
        yield name, load @ matrix.T
    if tolerances.delay and not are_poses(run.recording):
        yield "delay", -tolerances.delay * np.gradient(load, time, axis=0)
    motion = run.aligned.motion.at(time - run.aligned.delay)
    if motion.linear_acceleration_minus_gravity is not None:
        return  # which was measured, whatever the arm's base and joints
    if run.robot is None:
        turned = motion.orientation
    else:
        turned = forward_kinematics(run.robot, motion.q)[:, :3, :3]
    if tolerances.gravity and turned is not None:
        still = np.zeros((time.size, 3))
        for axis in _across(run.gravity):
            pull = np.cross(axis, run.gravity) @ turned
            yield "gravity", tolerances.gravity * (body_regressor(still, still, -pull) @ phi)
    if tolerances.joint_zero and run.robot is not None:
        slopes = wrench_regressor_derivatives(run.robot, motion.q, motion.dq, motion.ddq, run.gravity).by_q @ phi
        for joint in range(run.robot.num_joints):
            yield "joint_zero", tolerances.joint_zero * slopes[:, joint]


def _of_sensor(tolerances: Tolerances, sensor: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """(6, 6) how each deviation of the sensor changes a wrench at the tool, by the name of its tolerance."""
    back, zero = np.linalg.inv(sensor), np.zeros((3, 3))
    for axis in np.eye(3):
        cross = -skew(axis)
        for name, block in (("place", [[zero, zero], [cross, zero]]), ("turn", [[cross, zero], [zero, cross]])):
            if size := getattr(tolerances, name):
                yield name, size * (sensor @ np.block(block) @ back)
    if tolerances.gain:
        yield "gain", tolerances.gain * np.eye(6)
    if tolerances.channel_gain:
        for channel in np.eye(6):
            yield "channel_gain", tolerances.channel_gain * (sensor @ np.diag(channel) @ back)


def _across(gravity: FloatArray) -> FloatArray:
    """(2, 3) axes about which the direction of gravity can turn; none without gravity."""
    return np.linalg.svd(gravity[None])[2][1:] if gravity.any() else np.zeros((0, 3))


def _unbiased(run: PreparedRun, values: FloatArray, time: FloatArray) -> FloatArray:
    """Values (N, 6, ...) with the means that a bias takes in each stretch between zeroings made alike."""
    if not run.given.rezeroed:
        return values
    return levelled(values, np.split(np.arange(len(values)), np.searchsorted(time, run.given.bias_starts())))


def _shift(
    run: PreparedRun,
    tolerances: Tolerances,
    sensor: FloatArray,
    phi: FloatArray,
    names: list[str],
    deviations: FloatArray,
) -> FloatArray:
    """(N, 6) what deviations (k,) in units of their tolerances add to the wrench of each sample."""
    problem, aligned = run.problem, run.aligned
    own = {name: deviations[[each == name for each in names]] for name in dict.fromkeys(names)}
    gravity, motion = run.gravity, aligned.motion
    if "gravity" in own:
        gravity = exp_so3(tolerances.gravity * own["gravity"] @ _across(gravity)) @ gravity
    if "joint_zero" in own:
        motion = dataclasses.replace(motion, q=motion.q + tolerances.joint_zero * own["joint_zero"])
    moved = dataclasses.replace(aligned, motion=motion)
    plain, other = np.empty(problem.y.shape), np.empty(problem.y.shape)
    for start in range(0, problem.num_samples, _PART):
        part = slice(start, start + _PART)
        plain[part] = aligned.regressor(problem.time[part], run.robot, run.gravity) @ phi
        other[part] = moved.regressor(problem.time[part], run.robot, gravity) @ phi
    matrix = np.eye(6)
    of_sensor = [one for _, one in _of_sensor(tolerances, sensor)]
    for size, one in zip(deviations, of_sensor, strict=False):  # which come first
        matrix = matrix + size * one
    change = other @ matrix.T - plain
    if "delay" in own:
        change -= tolerances.delay * own["delay"] * np.gradient(plain, problem.time, axis=0)
    change = _unbiased(run, change, problem.time) * (problem.A != 0.0).any(axis=(0, 2))
    if problem.missing is not None:
        kept = np.where(problem.missing, 0.0, change).sum(axis=0) / np.maximum((~problem.missing).sum(axis=0), 1)
        change = np.where(problem.missing, kept if problem.bias else 0.0, change)
    return np.asarray(change)
