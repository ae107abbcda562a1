"""`fit_tolerances`: how far arm and sensor are from what is stated, as far as the data show it.

y = A phi + b + C d + noise, with C the derivatives of the wrench by the deviations d at a first estimate, in units of
their tolerances: d has the prior N(0, 1). Load, bias and deviations are estimated together, with noise of a free
spectrum (`stationary_fit`). What is left of d moves the load: a linear function of the noise and of each prior, so that
the load's covariance is a sum of one term for each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.corrections.problem_changes import levelled
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.noise_spectrum import FEWEST_MEANS, Means, SpectralFit
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.problem_from_recording import PreparedRun
from iparam.estimation.payload.regular import solve_regular
from iparam.estimation.payload.weighted_fit import NEVER, plain_solution, residuals, stationary_fit
from iparam.recording.statements import are_poses
from iparam.regressor.wrench import body_regressor, wrench_regressor_derivatives
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.sensing.tolerances import Tolerances
from iparam.spatial.derived import derived_part
from iparam.spatial.transforms import exp_so3, skew

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
    run: PreparedRun, estimate: Estimate, tolerances: Tolerances, sensor: FloatArray
) -> ToleranceFit | None:
    """Estimate the deviations along with the load; None where there are none.

    Args:
        run: with the problem as it was fitted.
        estimate: of its load.
        tolerances: the priors.
        sensor: (6, 6) from a wrench in the sensor's axes about its origin to that of the tool.
    """
    problem = run.problem
    means = Means.of(problem.time)
    if means.count < FEWEST_MEANS:
        return None
    time, A = means.all(problem.time), means.all(problem.A)
    parameters = plain_solution(problem)
    phi = estimate.phi if estimate.complete else parameters[:NUM_PARAMETERS]
    effects = [(name, one) for name, one in _effects(run, tolerances, sensor, phi, time, A @ phi)]
    if not effects:
        return None
    columns = _unbiased(run, np.stack([one for _, one in effects], axis=2), time) * (A != 0.0).any(axis=(0, 2))[:, None]
    names = [name for name, _ in effects]
    shown = np.array([estimate.complete and name != "sampling" for name in names])
    fit = stationary_fit(problem, residuals(problem, parameters), columns, np.where(shown, 1.0, NEVER))
    found = _posterior(fit, problem.num_unknowns, shown)
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
        shares = ((float(np.nansum(variances[name][part])) / whole, name) for name in TOLD if name in variances)
        share, name = max(shares, default=(0.0, ""))
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


def _posterior(fit: SpectralFit, count: int, shown: NDArray[np.bool_]) -> _Posterior:
    """See the top of this module.

    Args:
        fit: of load, bias and deviations.
        count: the unknowns of load and bias.
        shown: (k,) deviations that the data correct. Where they do not say all of the load, because they lack
            accelerations, it is these that they would correct.
    """
    own, cross, rest = fit.information[:count, :count], fit.information[:count, count:], fit.covariance[count:, count:]
    load, deviations = -solve_regular(own, cross)[:NUM_PARAMETERS], fit.solution[count:]
    # Of what is no noise, its spectrum is no excuse: as white noise it would take more of the deviations.
    if max(np.abs(deviations).max(), np.abs(fit.in_white_noise[count:]).max()) > BEYOND:
        shown = np.zeros_like(shown)
    both = np.outer(shown, shown)
    rest = np.where(both, rest, 0.0)
    kept = np.where(both, rest, np.eye(shown.size))
    return _Posterior(np.where(shown, deviations, 0.0), load @ (rest - rest @ rest) @ load.T, load @ kept)


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
    if not are_poses(run.recording):
        if tolerances.delay:
            yield "delay", -tolerances.delay * np.gradient(load, time, axis=0)
        bent = _of_sampling(run) * np.gradient(np.gradient(load, time, axis=0), time, axis=0)
        for channel in np.eye(6):
            yield "sampling", bent * channel
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


def _of_sampling(run: PreparedRun) -> float:
    """By how much of its second derivative [s^2] a sample differs from that of an instant if it is the mean over the
    intervals before and after it. Steps of a simulator make such.
    """
    return float(np.median(np.diff(run.problem.time))) ** 2 / 6.0


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
