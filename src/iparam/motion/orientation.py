"""`OrientationMotion`: how a force/torque sensor moved where no arm is known: from its orientation, gyro and
accelerometer.

The turns from sample to sample, each about the axes that the sensor has at that instant, add up to numbers whose
derivative is the angular velocity in the sensor's axes. Errors of the orientation are in them as errors of an encoder
are in a joint angle: once, and not added up. So the smoother for joint angles serves for them, too, and there is no
singularity however far the sensor turns.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.motion.choice.process_choice import LEAST_SAMPLES
from iparam.motion.kalman import kalman_smooth
from iparam.motion.motion import MotionEstimate
from iparam.recording.alignment import align
from iparam.recording.noise_level import white_noise_level
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import are_poses, recorded_gravity
from iparam.recording.units import STANDARD_G, degrees_in_scale
from iparam.remarks import Remark, remark
from iparam.robot.gravity import agreed_gravity
from iparam.robot.model import Robot
from iparam.spatial.transforms import exp_so3, log_so3, quaternion_from_rotation, rotation_from_quaternion

LARGEST_TURN = 1.0
"""Turn from one sample to the next from which on it is not clear which way the sensor went [rad]."""

NOT_A_ROTATION = 0.02
"""Error of a quaternion's norm, or of an entry of R'R, from which on it is no orientation; rounding stays below."""

CLEAR_TURNING = 0.05
"""Root mean square of an angular velocity from which on a gyro has to show it [rad/s]."""

ALIKE, UNLIKE = 0.9, 0.5
"""Correlation of two angular velocities from which on they are the same motion, and below which they are not."""

CLEAR_GRAVITY = 3.0
"""Difference between the gravity that two columns show from which on one of them is not what it seems [m/s^2]."""

SOURCES = ("orientation", "rotation", "gravity_in_sensor")
"""The signals that tell how a sensor stands, in the order in which they are preferred."""

INVERSE = (
    "Is the orientation that of the world in the sensor? It must be that of the sensor in the world: then transpose "
    "the matrix, or negate qx, qy, qz"
)

_ORDERS = {"w-last": [3, 0, 1, 2], "w-first": [1, 2, 3, 0]}
"""Which columns, of those named w x y z, hold these: where they are x y z w, and where w x y z was taken for that."""


@dataclass(frozen=True)
class OrientationMotion:
    """The sensor's own motion.

    - Angular velocity and acceleration come from the smoothed orientation, and from gyro and angular acceleration where
      they are recorded, each weighing by how well it is known.
    - The linear acceleration is the accelerometer's; without one it is taken to be zero, and the motion says so.
    - A recording of poses, one row each, is at rest in all of them.
    """

    def motion(self, recording: Recording, robot: Robot | None = None) -> MotionEstimate:
        """The motion at the time stamps of the orientation, or of the gyro where there is none."""
        if not tells_orientation(recording):
            raise InputError(
                "the recording has neither joint angles nor the sensor's orientation: columns q0.. of an arm, or qw qx "
                "qy qz, r11..r33, or gx gy gz (gravity in the sensor's axes), or wx wy wz with ax ay az"
            )
        turns = sensor_turns(recording)
        remarks: list[Remark] = []
        if are_poses(recording):
            return _at_rest(turns)
        oriented = any(recording.has(name) for name in SOURCES[:2])
        if not oriented and recording.has("gravity_in_sensor") and not recording.has("gyro"):
            remarks.append(remark("yaw-unseen"))
        found = _smoothed(turns)
        if recording.has("gyro"):
            gyro = recording.signal("gyro")
            if oriented and gyro.num_samples >= LEAST_SAMPLES:
                gyro, told = _in_one_unit(found, gyro)
                remarks += told
            found = _with_gyro(found, gyro, oriented)
            if not recording.has("accelerometer"):
                remarks.append(remark("gyro-without-accelerometer"))
        if recording.has("angular_acceleration"):
            found = _with_angular_acceleration(found, recording)
        if recording.has("accelerometer"):
            return _with_accelerometer(dataclasses.replace(found, remarks=tuple(remarks)), recording)
        return dataclasses.replace(found, quasi_static=True, remarks=(*remarks, remark("acceleration-unknown")))


def tells_orientation(recording: Recording) -> bool:
    """Whether a recording says how the sensor moved without an arm."""
    return any(recording.has(name) for name in SOURCES) or _of_gyro(recording) is not None


@dataclass(frozen=True, eq=False)
class SensorTurns:
    """How a sensor stood.

    Attributes:
        time: (T,) [s].
        orientation: (T, 3, 3) of the sensor in the world.
        angle: (T, 3) what its turns add up to, about its own axes of each instant [rad].
    """

    time: FloatArray
    orientation: FloatArray
    angle: FloatArray


def sensor_turns(recording: Recording) -> SensorTurns:
    """The orientations of a recording, whatever columns tell them."""
    if (gyro := _of_gyro(recording)) is not None:
        steps = 0.5 * (gyro.values[1:] + gyro.values[:-1]) * np.diff(gyro.time)[:, None]
        turned = np.empty((gyro.num_samples, 3, 3))
        turned[0] = np.eye(3)
        for k, step in enumerate(exp_so3(steps)):
            turned[k + 1] = turned[k] @ step
        return SensorTurns(gyro.time, turned, np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]))
    name = next(name for name in SOURCES if recording.has(name))
    signal = recording.signal(name)
    if name == "orientation":
        turned = _from_quaternions(signal.values)
    elif name == "rotation":
        turned = _from_matrices(signal.values)
    else:
        turned = _from_gravity(_gravity_in_sensor(signal), recorded_gravity(recording))
    steps = log_so3(np.swapaxes(turned[:-1], 1, 2) @ turned[1:])
    size = np.linalg.norm(steps, axis=1)
    if not are_poses(recording) and size.size and size.max() > LARGEST_TURN:
        at = int(np.argmax(size))
        raise ContradictionError(
            f"the sensor turns by {np.degrees(size[at]):.0f} deg from {signal.time[at]:.6g} to "
            f"{signal.time[at + 1]:.6g} s, one sample to the next: record it faster, or leave out what is damaged. "
            "Rows that are poses at rest have no column time"
        )
    return SensorTurns(signal.time, turned, np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]))


def world_gravity(recording: Recording, given: ArrayLike | None = None) -> FloatArray:
    """Gravity (3,) in the axes of the world in which a sensor's orientation is given [m/s^2].

    It is that of the columns gx, gy, gz where they are recorded, else the recording's own, or 9.81 downwards.

    Args:
        recording: without joint angles.
        given: the caller's; it must agree with the recording.
    """
    if not recording.has("gravity_in_sensor"):
        return recorded_gravity(recording, given)
    turns = sensor_turns(recording)
    shown = _shown_gravity(recording, turns)
    said = recorded_gravity(recording, given) if given is not None or "gravity" in recording.metadata else None
    agreed = agreed_gravity(said, shown, "the columns gx, gy, gz")
    return shown if agreed is None else agreed


def _shown_gravity(recording: Recording, turns: SensorTurns) -> FloatArray:
    """The mean of gravity in the sensor's axes, turned into the world; refused where the turned ones do not agree."""
    signal = recording.signal("gravity_in_sensor")
    nearest = np.clip(np.searchsorted(turns.time, signal.time), 0, turns.time.size - 1)
    shown = np.einsum("tij,tj->ti", turns.orientation[nearest], _gravity_in_sensor(signal))
    mean = np.asarray(shown.mean(axis=0))
    scatter = float(np.sqrt(np.mean(np.sum((shown - mean) ** 2, axis=1))))
    if scatter > CLEAR_GRAVITY:
        raise ContradictionError(
            "gravity in the sensor's axes (gx, gy, gz) and its orientation do not agree: turned into the world, it "
            f"scatters by {scatter:.2g} m/s^2. {INVERSE}"
        )
    return mean


def _gravity_in_sensor(signal: Signal) -> FloatArray:
    """(T, 3) [m/s^2], in the sensor's axes; refused where it has not the size of gravity."""
    size = np.linalg.norm(signal.values, axis=1)
    usual, spread = float(np.median(size)), float(np.ptp(size))
    if 0.98 < usual < 1.02 and spread < 0.05:
        return signal.values * STANDARD_G  # in units of g: a direction, mostly of length 1
    if not 9.6 < usual < 10.0 or spread > 0.5:
        raise ContradictionError(
            f"the columns gx, gy, gz are gravity in the sensor's axes [m/s^2], and their size is {usual:.4g}, which is "
            "not that of gravity. Rename them if they are a gyro's (wx, wy, wz)"
        )
    return signal.values


def upwards(recording: Recording, gravity: FloatArray, times: FloatArray) -> FloatArray:
    """(M, 3) minus gravity in the sensor's axes at times (M,) [m/s^2], nearly: the accelerometer's where that alone
    tells it.

    Args:
        recording: without joint angles.
        gravity: (3,) in the world [m/s^2].
        times: (M,) [s].
    """
    if _of_gyro(recording) is not None:
        signal = recording.signal("accelerometer")
        nearest = np.clip(np.searchsorted(signal.time, times), 0, signal.num_samples - 1)
        return np.asarray(signal.values[nearest])
    turns = sensor_turns(recording)
    nearest = np.clip(np.searchsorted(turns.time, times), 0, turns.time.size - 1)
    return np.asarray(-(np.swapaxes(turns.orientation[nearest], 1, 2) @ gravity))


def readings(recording: Recording) -> tuple[str, ...]:
    """What else columns of an orientation often hold, see `Correction.orientation_columns`; none without columns."""
    if recording.has("orientation"):
        return ("inverted", *_ORDERS, *(f"inverted-{order}" for order in _ORDERS))
    return ("inverted",) if recording.has("rotation") else ()


def read_otherwise(recording: Recording, reading: str) -> Recording:
    """The recording with the orientation that its columns hold by a reading of `readings`."""
    if reading not in readings(recording):
        what = "w x y z, or of r11..r33" if reading == "inverted" else "w x y z"
        raise InputError(
            f"is about columns of an orientation, {what}, and there are none", argument="orientation_columns"
        )
    name = next(name for name in SOURCES if recording.has(name))
    signal = recording.signal(name)
    turned = _from_quaternions(signal.values) if name == "orientation" else _from_matrices(signal.values)
    turned = read_as(turned, reading)
    values = quaternion_from_rotation(turned) if name == "orientation" else turned.reshape(-1, 9)
    return recording.with_signal(name, Signal(signal.time, values, signal.unit, signal.frame))


def read_as(turned: FloatArray, reading: str) -> FloatArray:
    """(T, 3, 3) by a reading of `readings` of the numbers that were read as these rotations (T, 3, 3)."""
    order = reading.removeprefix("inverted").removeprefix("-")
    if order:
        turned = rotation_from_quaternion(quaternion_from_rotation(turned)[:, _ORDERS[order]])
    return np.asarray(np.swapaxes(turned, 1, 2)) if reading.startswith("inverted") else turned


def _of_gyro(recording: Recording) -> Signal | None:
    """The gyro where it alone tells how the sensor turns, beside an accelerometer that tells gravity."""
    if any(recording.has(name) for name in SOURCES) or not recording.has("accelerometer"):
        return None
    return recording.signal("gyro") if recording.has("gyro") else None


def _at_rest(turns: SensorTurns) -> MotionEstimate:
    still = np.zeros_like(turns.angle)
    return MotionEstimate(turns.time, turns.angle, still, still, orientation=turns.orientation)


def _smoothed(turns: SensorTurns) -> MotionEstimate:
    if turns.time.size < LEAST_SAMPLES:
        raise InputError(
            f"a motion needs at least {LEAST_SAMPLES} samples of the orientation, got {turns.time.size}: rows that are "
            "poses at rest have no column time"
        )
    smooth = kalman_smooth(turns.time, turns.angle)
    return dataclasses.replace(smooth, orientation=turns.orientation @ exp_so3(smooth.q - turns.angle))


def _in_one_unit(found: MotionEstimate, gyro: Signal) -> tuple[Signal, list[Remark]]:
    """A gyro in rad/s, by what the orientation turns with; and a remark if it was in deg/s or is not much like it.

    Args:
        found: from the orientation.
        gyro: its signal.

    Raises:
        ContradictionError: it shows another motion than the orientation.
    """
    raw = np.column_stack([np.interp(found.time, gyro.time, column) for column in gyro.values.T])
    measured = raw - raw.mean(axis=0)  # a gyro is off by a constant
    turned = found.dq - found.dq.mean(axis=0)
    if np.sqrt(np.mean(np.sum(turned**2, axis=1))) < CLEAR_TURNING:
        return gyro, []

    def alike(other: FloatArray) -> float:
        return float(np.sum(turned * other) / max(np.sqrt(np.sum(turned**2) * np.sum(other**2)), 1e-300))

    if alike(measured) > ALIKE:
        scale = float(np.sum(turned * measured) / np.sum(turned**2))
        if degrees_in_scale(scale) != "higher":
            return gyro, []
        said = remark("gyro-from-degrees", scale=scale)
        return Signal(gyro.time, np.radians(gyro.values), gyro.unit, gyro.frame), [said]
    told = f"the gyro (wx, wy, wz) and the turning of the orientation have a correlation of {alike(measured):.2f}"
    in_sensor = np.einsum("tji,tj->ti", np.asarray(found.orientation), raw)
    in_world = alike(in_sensor - in_sensor.mean(axis=0)) > ALIKE
    where = "in the world's axes" if in_world else "of another motion"
    if in_world or alike(measured) < UNLIKE:
        raise ContradictionError(
            f"{told}: it seems to be {where}. Turn it into the sensor's axes, or leave its columns out"
        )
    return gyro, [remark("gyro-unlike-orientation", correlation=alike(measured))]


def _with_gyro(found: MotionEstimate, gyro: Signal, oriented: bool) -> MotionEstimate:
    """Angular velocity and acceleration from orientation and gyro together, each weighing by what it is known to.

    Args:
        found: from the orientation.
        gyro: its signal.
        oriented: whether the orientation shows all turns; else the gyro alone counts.
    """
    if gyro.num_samples < LEAST_SAMPLES:
        return found
    smooth = kalman_smooth(gyro.time, gyro.values)  # of a velocity: its "q" is omega, its "dq" alpha
    other = smooth.at(found.time)
    covariance = np.array(found.covariance_at(found.time))
    second = np.asarray(other.covariance_at(found.time))[:, :, :2, :2]
    if not oriented:
        covariance[:, :, 1:, 1:] = second
        return dataclasses.replace(found, dq=other.q, ddq=other.dq, covariance=covariance, covariance_time=found.time)
    # A gyro is off by a constant; over a run the orientation is not.
    bias = np.mean(other.q - found.dq, axis=0)
    pair = np.stack([found.dq, found.ddq], axis=2)[..., None]
    given = np.stack([other.q - bias, other.dq], axis=2)[..., None]
    first = covariance[:, :, 1:, 1:]
    gain = first @ np.linalg.inv(first + second)
    joined = (pair + gain @ (given - pair))[..., 0]
    covariance[:, :, 1:, 1:] = first - gain @ first
    covariance[:, :, 0, 1:] = covariance[:, :, 1:, 0] = 0.0
    return dataclasses.replace(
        found, dq=joined[..., 0], ddq=joined[..., 1], covariance=covariance, covariance_time=found.time
    )


def _with_angular_acceleration(found: MotionEstimate, recording: Recording) -> MotionEstimate:
    signal = recording.signal("angular_acceleration")
    samples = align(recording, ["angular_acceleration"], times=found.time)
    kept = np.isin(found.time, samples.time)
    found = _rows(found, kept)
    covariance = np.array(found.covariance_at(found.time))
    variance = np.maximum(white_noise_level(signal.values), 1e-9) ** 2
    own = covariance[:, :, 2, 2]
    gain = own / (own + variance)
    covariance[:, :, 2, 2] = own * (1.0 - gain)
    covariance[:, :, 2, :2] *= (1.0 - gain)[..., None]
    covariance[:, :, :2, 2] = covariance[:, :, 2, :2]
    ddq = found.ddq + gain * (samples["angular_acceleration"] - found.ddq)
    return dataclasses.replace(found, ddq=ddq, covariance=covariance, covariance_time=found.time)


def _with_accelerometer(found: MotionEstimate, recording: Recording) -> MotionEstimate:
    signal = recording.signal("accelerometer")
    samples = align(recording, ["accelerometer"], times=found.time)
    found = _rows(found, np.isin(found.time, samples.time))
    measured = samples["accelerometer"]
    _check_accelerometer(found, measured, recording)
    return dataclasses.replace(
        found,
        linear_acceleration_minus_gravity=measured,
        linear_acceleration_noise=white_noise_level(signal.values),
        remarks=(*found.remarks, *samples.remarks),
    )


def _rows(motion: MotionEstimate, kept: NDArray[np.bool_]) -> MotionEstimate:
    return dataclasses.replace(
        motion,
        time=motion.time[kept],
        q=motion.q[kept],
        dq=motion.dq[kept],
        ddq=motion.ddq[kept],
        orientation=None if motion.orientation is None else motion.orientation[kept],
    )


def _check_accelerometer(motion: MotionEstimate, measured: FloatArray, recording: Recording) -> None:
    """Refuse an accelerometer in g, and one whose gravity is not where the orientation has it: over a run, the sensor's
    own acceleration averages out.
    """
    size = float(np.median(np.linalg.norm(measured, axis=1)))
    if 0.8 < size < 1.25:
        raise ContradictionError(
            f"the accelerometer (ax, ay, az) reads {size:.3g} in the median, which is gravity in units of g: multiply "
            "its columns by 9.81"
        )
    if _of_gyro(recording) is not None or motion.orientation is None:
        return
    gravity = world_gravity(recording)
    shown = -np.einsum("tij,tj->ti", motion.orientation, measured).mean(axis=0)
    if np.linalg.norm(shown - gravity) > CLEAR_GRAVITY:
        raise ContradictionError(
            f"the accelerometer (ax, ay, az) shows a gravity of {np.round(shown, 1).tolist()} m/s^2 in the world in "
            f"which the orientation is given, and it is {np.round(gravity, 2).tolist()}: turn it into the sensor's "
            "axes, leave its columns out, or say where gravity points",
            argument="gravity",
        )


def _from_quaternions(values: FloatArray) -> FloatArray:
    """The rotations of quaternions (T, 4), w first; all of them may have one and the same norm, as integers have."""
    size = np.linalg.norm(values, axis=1)
    usual = float(np.median(size))
    worst = int(np.argmax(np.abs(size - usual)))
    if not usual > 0.0 or abs(size[worst] - usual) > NOT_A_ROTATION * usual:
        raise ContradictionError(
            f"qw qx qy qz of sample {worst} have the norm {size[worst]:.4g}, and {usual:.4g} is usual here: those of "
            "an orientation have 1. Leave out the rows that are damaged",
            argument="rows",
        )
    return rotation_from_quaternion(values / size[:, None])


def _from_matrices(values: FloatArray) -> FloatArray:
    """The rotations next to matrices that were rounded."""
    matrices = values.reshape(-1, 3, 3)
    error = np.abs(np.swapaxes(matrices, 1, 2) @ matrices - np.eye(3)).max(axis=(1, 2))
    worst = int(np.argmax(error))
    left, _, right = np.linalg.svd(matrices)
    turned = left @ right
    if error[worst] > NOT_A_ROTATION or (np.linalg.det(turned) < 0.0).any():
        raise ContradictionError(
            f"r11..r33 of sample {worst} are no rotation matrix: R'R is off by {error[worst]:.2g}, or the axes are "
            "left-handed. They are read row by row"
        )
    return np.asarray(turned)


def _from_gravity(values: FloatArray, gravity: FloatArray) -> FloatArray:
    """Orientations (T, 3, 3) that turn gravity in the sensor's axes (T, 3) to that of the world, each from the one
    before by the least turn.
    """
    down = values / np.linalg.norm(values, axis=1)[:, None]
    turned = np.empty((len(down), 3, 3))
    before = np.eye(3)
    world = gravity / np.linalg.norm(gravity)
    for k, direction in enumerate(down):
        # The turn of the sensor, in its own axes, that brings the direction that was down to the one that is.
        step = _least_turn(direction, before.T @ world)
        before = before @ step
        turned[k] = before
    return turned


def _least_turn(start: FloatArray, end: FloatArray) -> FloatArray:
    """The rotation (3, 3) by the least angle that turns one unit vector into another."""
    axis, cosine = np.cross(start, end), float(start @ end)
    size = float(np.linalg.norm(axis))
    if size < 1e-12:
        if cosine > 0.0:
            return np.eye(3)
        axis = np.cross(start, np.eye(3)[int(np.argmin(np.abs(start)))])
        return np.asarray(exp_so3(np.pi * axis / np.linalg.norm(axis)))
    return np.asarray(exp_so3(np.arctan2(size, cosine) * axis / size))
