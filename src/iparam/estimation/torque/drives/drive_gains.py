"""`DriveGains`: how many newton metres an ampere makes at each joint, and how well that is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointDataSource, effort_of
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.robot.dynamics import inverse_dynamics
from iparam.robot.model import Robot

TOLERANCE = 0.02
"""Relative standard deviation of a drive's real gain about what its controller assumes, at least. A motor's torque per
ampere falls by about 0.11 % a kelvin (the remanence of sintered NdFeB magnets), and joints are some 20 K warmer after
an hour of work than at its start: 2 %, which all joints share and no log shows. How far the joints differ from one
another a log does show, see `gain_scatter`."""

MODEL_TOLERANCE = 0.05
"""The same for gains that follow from the maker's masses of the links."""

SENSOR_TOLERANCE = 0.01
"""The same for joint torque sensors: strain gauges in a flexure are linear, free of hysteresis and of crosstalk from
bending to about 1 % of what they read, as their makers state it, and the factor is set once, at the factory."""

SLOW = 0.05
"""Speed below which friction does not follow the joint's speed [rad/s]."""

LEAST_SIGNAL = 3.0
"""Standard deviations that a gain must differ from zero by."""

LEAST_PRECISION = 10.0
"""The same for a gain that rests on the maker's masses, where torques of other origin can be taken for theirs."""

GUESS = 0.3
"""Relative standard deviation of a gain that is only guessed."""

LEAST_GAIN, LARGEST_GAIN = 1e-3, 1e5
"""Bounds of the size of a drive gain [N m/A]; behind a gear, real ones are between 1 and some hundreds. It is negative
where a controller counts a motor's current the other way round than its joint's angle."""

_KNOTS = 6


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Of the n drives.

    Attributes:
        values: (n,) [N m/A], none zero; negative where the current is counted against the joint's direction.
        standard_deviation: (n,) how far the estimate scatters [N m/A].
        tolerance: relative standard deviation of the real gain about the figure that was estimated.
        source: one sentence on where they come from.
        unit: of the values: "N m/A", or "" where a sensor tells the torque.
    """

    values: FloatArray
    standard_deviation: FloatArray
    tolerance: float
    source: str
    unit: str = "N m/A"

    def __post_init__(self) -> None:
        values = as_float_array(self.values, "drive gains")
        deviation = as_float_array(self.standard_deviation, "standard deviation of the drive gains")
        if values.ndim != 1 or deviation.shape != values.shape or (values == 0.0).any() or (deviation < 0.0).any():
            raise InputError(
                f"drive gains must be numbers other than 0, one a joint, with deviations of at least 0, got "
                f"{values.tolist()} and {deviation.tolist()}"
            )
        if not (np.isfinite(self.tolerance) and self.tolerance >= 0.0):
            raise InputError(argument="tolerance", value=self.tolerance, expected="at least 0")
        object.__setattr__(self, "values", frozen(values))
        object.__setattr__(self, "standard_deviation", frozen(deviation))

    @property
    def relative_deviation(self) -> FloatArray:
        """(n,) relative standard deviation, of the estimate and of the drives together."""
        return np.asarray(np.hypot(self.standard_deviation / np.abs(self.values), self.tolerance))

    def to_document(self) -> dict[str, Any]:
        """For a result file."""
        return {
            "values": self.values.tolist(),
            "standard_deviation": (self.relative_deviation * np.abs(self.values)).tolist(),
            "source": self.source,
        }


def find_gains(
    recordings: Sequence[Recording],
    bare: Recording,
    robot: Robot,
    given: ArrayLike | DriveGains | None = None,
    motion: MotionSource | None = None,
    left_out: Sequence[int] = (),
) -> DriveGains:
    """The drive gains of recordings: given, not needed, from the controller's targets, or from the maker's masses.

    Args:
        recordings: of the same arm.
        bare: a run without load.
        robot: the arm.
        given: (n,) [N m/A], or with their uncertainty, or None.
        motion: see `gains_from_model`.
        left_out: joints, from 0, whose efforts have no say.
    """
    if isinstance(given, DriveGains):
        return given
    torques = torque_gains(robot.num_joints) if effort_of(bare) == "tau" else None
    if given is not None:
        gains = given_gains(given, robot.num_joints)
        return gains if torques is None else dataclasses.replace(gains, unit=torques.unit)
    if torques is not None:
        return torques
    told = [one for one in recordings if all(one.has(name) for name in ("target_torque", "target_current", "dq"))]
    return gains_from_targets(told) if told else gains_from_model(bare, robot, motion, left_out)


def torque_gains(num_joints: int) -> DriveGains:
    """The gains of a recording of torques: one, as far as their sensors can be trusted."""
    return DriveGains(np.ones(num_joints), np.zeros(num_joints), SENSOR_TOLERANCE, "The recording holds torques.", "")


def given_gains(values: ArrayLike, num_joints: int, tolerance: float = TOLERANCE) -> DriveGains:
    """Gains that the user states."""
    gains = as_float_array(values, "drive gains")
    if gains.shape != (num_joints,):
        raise InputError(f"drive gains must be {num_joints} numbers [N m/A], one a joint, got {gains.size}")
    if ((np.abs(gains) < LEAST_GAIN) | (np.abs(gains) > LARGEST_GAIN)).any():
        raise InputError(
            f"drive gains must be between {LEAST_GAIN:g} and {LARGEST_GAIN:g} N m/A, or the same with a minus sign, "
            f"got {gains.tolist()}: are they in N m/A, at the joint's side of the gear?"
        )
    return DriveGains(gains, np.zeros(num_joints), tolerance, "The drive gains were given.")


def gains_from_targets(recordings: Sequence[Recording]) -> DriveGains:
    """Gains from the controller's own figures: the current that it asks for against the torque that it wants.

    The current also holds the controller's compensation of friction. That is a function of speed, and is left free
    here: a line between knots for each direction. So joints without gravity load have their gain too, from motion. A
    joint that moves too little for that is given the median size of the others, with a deviation of `GUESS`.
    """
    estimates = [_from_targets(recording) for recording in recordings]
    weights = np.array([1.0 / deviation**2 for _, deviation in estimates])  # 0 where nothing is known
    values = np.array([np.where(np.isfinite(deviation), gains, 0.0) for gains, deviation in estimates])
    told = weights.sum(axis=0) > 0.0
    total = np.where(told, weights.sum(axis=0), 1.0)
    mean = (weights * values).sum(axis=0) / total
    deviation = 1.0 / np.sqrt(total)
    # Runs that do not agree say more than each of them believes.
    counts = (weights > 0.0).sum(axis=0)
    squares = (weights * (values - mean) ** 2).sum(axis=0) / np.maximum(counts - 1, 1)
    deviation = np.where(counts > 1, deviation * np.sqrt(np.maximum(squares, 1.0)), deviation)
    return _completed(
        mean,
        np.where(told, deviation, np.inf),
        np.sum([_power(one.signal("target_current").values, one.signal("dq").values) for one in recordings], axis=0),
        TOLERANCE,
        "The drive gains follow from the controller's target torques and target currents.",
        "they hardly move, or their target current does not follow their target torque",
    )


def _from_targets(recording: Recording) -> tuple[FloatArray, FloatArray]:
    """Gains (n,) and their standard deviations, infinite where nothing can be told."""
    torque, current, speed = (recording.signal(name) for name in ("target_torque", "target_current", "dq"))
    if not (torque.time.shape == current.time.shape == speed.time.shape and (torque.time == current.time).all()):
        raise IdentificationError("target torques, target currents and speeds must have the same time stamps")
    found = [
        _one_from_targets(torque.values[:, j], current.values[:, j], speed.values[:, j]) for j in range(torque.width)
    ]
    gains, spreads = np.array(found).T
    return gains, spreads


def _one_from_targets(torque: FloatArray, current: FloatArray, speed: FloatArray) -> tuple[float, float]:
    moving = np.abs(speed) > SLOW
    rows = _friction_curve(speed[moving], SLOW)
    rows = np.column_stack([torque[moving], rows[:, np.abs(rows).sum(axis=0) > 1.0]])
    if len(rows) < 10 * rows.shape[1] or not torque[moving].any():
        return 0.0, np.inf
    coefficients, deviations = robust_line(rows, current[moving])
    if abs(coefficients[0]) < LEAST_SIGNAL * deviations[0]:
        return 0.0, np.inf
    deviation = max(deviations[0] / coefficients[0] ** 2, 1e-6 / abs(coefficients[0]))
    return 1.0 / coefficients[0], deviation


def gains_from_model(
    recording: Recording, robot: Robot, motion: MotionSource | None = None, left_out: Sequence[int] = ()
) -> DriveGains:
    """Gains for which the currents fit the maker's masses, from a run without load.

    Friction and the rotors' inertia, of which makers say nothing, are left free: it is mostly gravity that decides. A
    joint that carries too little of it is given the median size of the others, with a deviation of `GUESS`.

    Args:
        recording: with q and current.
        robot: the arm with the maker's masses.
        motion: where the motion comes from; None for the Kalman smoother.
        left_out: joints, from 0, whose currents have no say; theirs are guessed, and need not be known.
    """
    source = JointDataSource(recording, robot, "current", motion, left_out=left_out)
    friction = FrictionModel(("viscous", "coulomb", "offset"), "smooth")
    count = robot.num_joints
    rows: list[list[FloatArray]] = [[] for _ in range(count)]
    currents: list[list[FloatArray]] = [[] for _ in range(count)]
    power = np.zeros(count)
    for data in source.segments():
        power += _power(data.effort, data.dq)
        torque = inverse_dynamics(robot, data.q, data.dq, data.ddq, recorded_gravity(recording))
        columns = friction.columns(data.q, data.dq, friction.directions(data.q, data.dq))
        for j in range(count):
            moving = np.abs(data.dq[:, j]) > SLOW
            terms = [torque[moving, j], data.ddq[moving, j], *(column[moving, j] for column in columns.values())]
            rows[j].append(np.column_stack(terms))
            currents[j].append(data.effort[moving, j])
    found = [_one_from_model(np.concatenate(rows[j]), np.concatenate(currents[j])) for j in range(count)]
    gains, spreads = np.array(found).T
    return _completed(
        gains,
        spreads,
        power,
        MODEL_TOLERANCE,
        "The drive gains are those that fit the maker's masses of the links.",
        "their currents do not follow the torques of the maker's model, or they hardly move",
        left_out,
    )


def _one_from_model(rows: FloatArray, current: FloatArray) -> tuple[float, float]:
    if len(rows) < 100 or not rows[:, 0].any():
        return 0.0, np.inf
    slope, deviation = robust_line(rows, current)
    if abs(slope[0]) < LEAST_PRECISION * deviation[0]:
        return 0.0, np.inf
    return 1.0 / slope[0], deviation[0] / slope[0] ** 2


def _power(current: FloatArray, speed: FloatArray) -> FloatArray:
    """(n,) the sum of current times speed: of the gain's sign, since a drive feeds friction, over a run, and not it."""
    return np.asarray((current * speed).sum(axis=0))


def _completed(
    gains: FloatArray,
    spreads: FloatArray,
    power: FloatArray,
    tolerance: float,
    source: str,
    cause: str,
    left_out: Sequence[int] = (),
) -> DriveGains:
    """Gains (n,) with the median of those that are told in place of the others, whose deviation is infinite.

    Args:
        gains, spreads: (n,) and their standard deviations.
        power: (n,) see `_power`; decides the sign of those that are not told.
        tolerance, source: see `DriveGains`.
        cause: why some may not be told.
        left_out: joints that need none.
    """
    told = np.isfinite(spreads)
    needed = np.setdiff1d(np.arange(told.size), left_out)
    told[list(left_out)] = False
    missing = ", ".join(str(j + 1) for j in needed[~told[needed]])
    if np.count_nonzero(told) <= needed.size // 2:
        raise IdentificationError(
            f"the drive gains of joints {missing} cannot be told: {cause}; give them", argument="drive_gains"
        )
    if told.all():
        return DriveGains(gains, spreads, tolerance, source)
    middle = float(np.median(np.abs(gains[told])))
    guess = np.where(power < 0.0, -middle, middle)
    if missing:
        source += f" Those of joints {missing} cannot be told and are guessed to {100 * GUESS:g} %."
    return DriveGains(np.where(told, gains, guess), np.where(told, spreads, GUESS * middle), tolerance, source)


def robust_line(rows: FloatArray, values: FloatArray, blocks: int = 30) -> tuple[FloatArray, FloatArray]:
    """Huber regression of values (N,) on rows (N, p), and its standard deviations from sums over time blocks."""
    scale = np.linalg.norm(rows, axis=0)
    scaled = rows / scale
    coefficients = np.linalg.lstsq(scaled, values, rcond=1e-10)[0]
    weights = np.ones(len(values))
    for _ in range(50):
        residual = values - scaled @ coefficients
        size = max(1.345 * 1.4826 * float(np.median(np.abs(residual))), 1e-12)
        weights = np.minimum(1.0, size / np.maximum(np.abs(residual), 1e-300))
        pulled = scaled * weights[:, None]
        step = np.linalg.pinv(pulled.T @ scaled, hermitian=True) @ (pulled.T @ residual)
        coefficients = coefficients + step
        if np.abs(step).max() <= 1e-8 * np.abs(coefficients).max():
            break
    scores = scaled * (weights * (values - scaled @ coefficients))[:, None]
    sums = np.array([part.sum(axis=0) for part in np.array_split(scores, blocks)])
    inverse = np.linalg.pinv((scaled * weights[:, None]).T @ scaled, hermitian=True)
    deviation = np.sqrt(np.maximum(np.diag(inverse @ (sums.T @ sums) @ inverse), 0.0))
    return coefficients / scale, deviation / scale


def _friction_curve(speed: FloatArray, slowest: float) -> FloatArray:
    """Columns of a broken line in speed for each direction."""
    knots = np.linspace(slowest, float(np.abs(speed).max(initial=2.0 * slowest)), _KNOTS)
    columns = []
    for side in (1.0, -1.0):
        there = side * speed > 0.0
        for own in np.eye(_KNOTS):
            columns.append(np.where(there, np.interp(side * speed, knots, own), 0.0))
    return np.column_stack(columns)
