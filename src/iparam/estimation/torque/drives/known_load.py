"""`gains_from_known_load`: the drives calibrated with a weight, from a run without it and a run with it.

What a load of known parameters adds to a joint's torque is known without any knowledge of the arm. Each joint's effort
in both runs is therefore regressed on the torque of the load, beside all that the arm itself may do: inertial
parameters and a rotor of the joint's own, so that no other joint's gain has a part in it, and friction of each run.
The coefficient of the load's torque is one over the gain.

A joint that the load hardly loads says little of its gain. What another source says is then taken, times the factor by
which that source is off in the other joints: each joint's figure is weighed against the common factor by how well both
are known (the best linear unbiased prediction of a random effect, Henderson 1975).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.payload.covariance import student_width
from iparam.estimation.torque.drives.drive_gains import (
    LEAST_PRECISION,
    SENSOR_TOLERANCE,
    SLOW,
    DriveGains,
    find_gains,
)
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointDataSource, check_runs, effort_of, joints_without_effort
from iparam.estimation.torque.torque_fit import reduced_run
from iparam.estimation.torque.torque_model import NUM_LOAD, TorqueModel
from iparam.estimation.torque.weighted_solution import GROUPS
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.recording.statements import with_gravity
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters

CALIBRATED_TOLERANCE = 0.01
"""Relative standard deviation of a gain about what it was at its calibration, when a run is made later: a motor's
torque per ampere changes by 0.11 % a kelvin, and two moments of a working day differ by some 8 K (rms)."""

MOST_ROWS = 20_000
"""Samples of both runs that are used."""

SMALLEST = 1e-6
"""Share of the largest singular value, columns scaled to length one, below which a direction is no other one."""

LEAST_GROUPS = 4
"""Groups below which their scatter says nothing."""

HUBER = 1.345
"""Standard deviations beyond which a residual counts less (95 % as efficient as least squares on normal errors)."""

LARGEST_FACTOR = 20.0
"""By which the scatter of the joints about their common factor may exceed what the other source states."""

RUN_TERMS = ("viscous", "coulomb", "offset")
"""Friction that each run has of its own: gears warm up, and a load presses on them."""


def gains_from_known_load(
    bare: Recording,
    loaded: Recording,
    robot: Robot,
    load: InertialParameters,
    *,
    other: ArrayLike | DriveGains | None = None,
    motion: MotionSource | None = None,
    gravity: ArrayLike | None = None,
    leave_out: Sequence[int] = (),
) -> DriveGains:
    """Gains for which a load of known parameters has its torque, of currents [N m/A] or of torque sensors (near 1).

    Args:
        bare, loaded: a run without and a run with the load, with q, and tau or current.
        robot: the arm; its masses only tell how much its gears rub under their load.
        load: in the tool frame, taken as exact.
        other: gains for joints that the load hardly loads, (n,) or with their uncertainty; None finds them, see
            `find_gains`. Only their ratios matter.
        motion: where the motion comes from; None for the Kalman smoother whose bandwidth predicts the effort best.
        gravity: (3,) in base axes [m/s^2]; None for the recordings' own, or 9.81 downwards.
        leave_out: joints, from 0, whose efforts are not used: they keep the gains of the other source.
    """
    checked = check_runs([bare, loaded], robot, gravity)
    bare, loaded = (with_gravity(run, checked.gravity) for run in (bare, loaded))
    effort = effort_of(bare)
    if not loaded.has(effort):
        raise InputError(f"the run without load has {effort}, the run with the known load does not")
    left_out = joints_without_effort([bare, loaded], effort, leave_out, robot)
    before = find_gains([bare, loaded], bare, robot, other, motion, left_out)
    sources = [JointDataSource(run, robot, effort, motion, before.values, left_out) for run in (bare, loaded)]
    model = TorqueModel(
        robot, FrictionModel((*RUN_TERMS, "load")), 2, RUN_TERMS, (1,), checked.gravity, left_out=left_out
    )
    slopes, deviations = _slopes(model, sources, load)
    told = np.abs(slopes) > LEAST_PRECISION * deviations
    if not told.any():
        raise IdentificationError(
            f"the known load of {load.mass:.4g} kg hardly shows in the efforts of any joint: take a heavier one, "
            "longer runs, and a motion that lifts it"
        )
    return _combined(slopes, deviations, before, load)


def _slopes(
    model: TorqueModel, sources: Sequence[JointDataSource], load: InertialParameters
) -> tuple[FloatArray, FloatArray]:
    """What each joint's effort follows the load's torque by (n,) [1 or A/(N m)], and the standard deviations."""
    count = model.num_joints
    slopes, deviations = np.zeros(count), np.full(count, np.inf)
    parameters = np.zeros(model.size)
    parameters[: 10 * count] = model.robot.body_parameters.ravel()
    parameters[model.load_columns] = load.phi
    step = max(1, sum(source.num_samples for source in sources) // MOST_ROWS)
    runs = []
    for run, source in enumerate(sources):
        data, directions = reduced_run(model, source, step)
        gear = model.gear_torques(data, run, parameters)
        runs.append((data, model.rows(data, run, directions, gear)))
    for joint in model.measured:
        rows, efforts, groups = [], [], []
        for run, (data, of_joints) in enumerate(runs):
            moving = np.abs(data.dq[:, joint]) > SLOW
            own = of_joints[joint][moving]
            columns = model.joint_columns(joint, run)
            whole = np.zeros((len(own), model.size))
            whole[:, columns] = own
            torque = own[:, -NUM_LOAD:] @ load.phi if run in model.loaded_runs else np.zeros(len(own))
            rows.append(np.column_stack([torque, whole[:, : model.load_columns.start]]))
            efforts.append(data.effort[moving, joint])
            groups.append(run * GROUPS + GROUPS * np.flatnonzero(moving) // len(moving))
        slopes[joint], deviations[joint] = _slope(np.concatenate(rows), np.concatenate(efforts), np.concatenate(groups))
    return slopes, deviations


def _slope(rows: FloatArray, effort: FloatArray, groups: NDArray[np.int64]) -> tuple[float, float]:
    """The first column's coefficient by Huber regression, and its standard deviation by the jackknife over groups.

    Args:
        rows: (N, p).
        effort: (N,).
        groups: (N,) the block of time that a row is of, see `GROUPS`; runs have noise levels of their own.
    """
    size = float(np.linalg.norm(rows[:, 0]))
    lengths = np.linalg.norm(rows[:, 1:], axis=0)
    rest = rows[:, 1:][:, lengths > 0.0] / lengths[lengths > 0.0]
    if size == 0.0 or len(rows) < 10 * rest.shape[1]:
        return 0.0, np.inf
    left, values, _ = np.linalg.svd(rest, full_matrices=False)
    columns = np.column_stack([rows[:, 0] / size, left[:, values > SMALLEST * values[0]]])
    found = np.linalg.lstsq(columns, effort)[0]
    runs = [groups // GROUPS == run for run in np.unique(groups // GROUPS)]
    weights, inside = np.ones(len(effort)), np.ones(len(effort))
    for _ in range(20):
        residual = np.abs(effort - columns @ found)
        for run in runs:
            level = max(1.4826 * float(np.median(residual[run])), 1e-12)
            weights[run] = np.minimum(1.0, HUBER * level / np.maximum(residual[run], 1e-300)) / level**2
            inside[run] = (residual[run] < HUBER * level) / level**2
        root = np.sqrt(weights)
        step = np.linalg.lstsq(columns * root[:, None], effort * root)[0] - found
        found = found + step
        if np.abs(step).max() <= 1e-6 * np.abs(found).max():
            break
    gram, right = (columns * weights[:, None]).T @ columns, columns.T @ (weights * effort)
    gram += 1e-9 * float(np.trace(gram)) * np.eye(len(gram))
    others = []
    for group in np.unique(groups):
        own, own_weights = columns[groups == group], weights[groups == group]
        own_gram = (own * own_weights[:, None]).T @ own
        own_right = own.T @ (own_weights * effort[groups == group])
        others.append(np.linalg.solve(gram - own_gram, right - own_right)[0])
    number = len(others)
    if number < LEAST_GROUPS:
        return 0.0, np.inf
    # Few groups know little of their scatter; and weights that stay while a group is left out hold the rest too firmly.
    wide = student_width(number) * weights.sum() / inside.sum()
    deviation = wide * np.sqrt((number - 1) / number * np.square(np.array(others) - np.mean(others)).sum())
    return float(found[0] / size), float(deviation / size)


def _combined(slopes: FloatArray, deviations: FloatArray, before: DriveGains, load: InertialParameters) -> DriveGains:
    """Each joint's own figure and the common factor, weighed; in units of what the other source says of one over it."""
    seen = np.isfinite(deviations)
    reversed_sign = slopes * before.values < -LEAST_PRECISION * deviations * np.abs(before.values)
    signs = np.where(reversed_sign, -1.0, 1.0)
    size = signs * before.values
    shares = np.where(seen, slopes * size, 1.0)
    absolute_deviations = np.where(seen, deviations * np.abs(size), np.inf)
    stated = np.maximum(before.relative_deviation, SENSOR_TOLERANCE)
    factor = _scatter_factor(shares, absolute_deviations, stated)
    prior = factor * stated
    weights = 1.0 / (absolute_deviations**2 + prior**2)
    mean = float((weights * shares).sum() / weights.sum())
    own = np.where(seen, prior**2 / (prior**2 + np.where(seen, absolute_deviations, 1.0) ** 2), 0.0)
    found = mean + own * (shares - mean)
    variance = own * np.where(seen, absolute_deviations, 0.0) ** 2 + (1.0 - own) ** 2 / weights.sum()
    variance = np.where(own > 0.0, variance, prior**2 + 1.0 / weights.sum())
    values = size / found
    source = f"The drive gains are those for which a known load of {load.mass:.4g} kg has its torque."
    weak = ", ".join(str(joint + 1) for joint in np.flatnonzero(own < 0.5))
    if weak:
        source += (
            f" It hardly loads joints {weak}: theirs are mostly other figures times the factor of the other joints."
        )
    return DriveGains(values, np.abs(values / found) * np.sqrt(variance), CALIBRATED_TOLERANCE, source, before.unit)


def _scatter_factor(shares: FloatArray, absolute_deviations: FloatArray, stated: FloatArray) -> float:
    """How many times the stated scatter (n,) the joints scatter about a common factor, at least 1 (Paule & Mandel)."""
    from scipy.optimize import brentq

    seen = np.isfinite(absolute_deviations)
    count = int(np.count_nonzero(seen))

    def excess(factor: float) -> float:
        weights = 1.0 / (absolute_deviations[seen] ** 2 + (factor * stated[seen]) ** 2)
        mean = (weights * shares[seen]).sum() / weights.sum()
        return float((weights * (shares[seen] - mean) ** 2).sum()) - (count - 1)

    if count < 2 or excess(1.0) <= 0.0:
        return 1.0
    if excess(LARGEST_FACTOR) >= 0.0:
        return LARGEST_FACTOR
    return float(brentq(excess, 1.0, LARGEST_FACTOR, xtol=1e-4))
