"""`MotionEstimate`: how an arm moved, with how well that is known; the one value that every source of motion gives."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.motion.joint_process import JointProcess
from iparam.remarks import Remark
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector
from iparam.robot.model import Robot
from iparam.spatial.transforms import exp_so3

_PART = 20_000  # samples that are interpolated at a time


class MotionSample(NamedTuple):
    """A motion at one time, as a filter knows it while samples come in.

    Attributes:
        time: [s].
        q, dq, ddq: (n,) joint positions, velocities and accelerations [rad, rad/s, rad/s^2].
    """

    time: float
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray


@dataclass(frozen=True, eq=False)
class MotionEstimate:
    """How the arm moved, with how well that is known. Prismatic joints have m in place of rad.

    Attributes:
        time: (T,) strictly increasing [s].
        q, dq, ddq: (T, n) joint positions, velocities and accelerations [rad, rad/s, rad/s^2].
        covariance: of (q, dq, ddq), (K, n, 3, 3) at K times or (n, 3, 3) for all; None where unknown.
        covariance_time: (K,) those times, increasing [s]; if not given, all T.
        linear_acceleration_minus_gravity: (T, 3) of the tool's origin, in its axes [m/s^2], as an accelerometer there
            measures it; None to take it from the joints.
        linear_acceleration_noise: (3,) standard deviation of it [m/s^2]; None with it.
        orientation: (T, 3, 3) of a sensor in the world, where no arm is known. dq and ddq are then its angular velocity
            and acceleration in its own axes, and q is what the velocity adds up to, [rad] about the axes of that
            instant: no coordinates, but smooth, and their differences are small turns. None for joints.
        quasi_static: whether the linear acceleration is not known at all, and taken to be zero.
        remarks: what the source left out or found odd.
        processes: the models of the joints that a Kalman smoother was run with; () from another source.
        judge: the signal whose prediction chose their bandwidths; "" if the angles alone did.
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    covariance: FloatArray | None = None
    covariance_time: FloatArray | None = None
    linear_acceleration_minus_gravity: FloatArray | None = None
    linear_acceleration_noise: FloatArray | None = None
    orientation: FloatArray | None = None
    quasi_static: bool = False
    remarks: tuple[Remark, ...] = ()
    processes: tuple[JointProcess, ...] = ()
    judge: str = ""

    def __post_init__(self) -> None:
        time = as_float_array(self.time, "time")
        if time.ndim != 1 or time.size == 0 or (np.diff(time) <= 0).any():
            raise InputError(
                argument="time", problem=f"must be strictly increasing with shape (T,), got shape {time.shape}"
            )
        object.__setattr__(self, "time", frozen(time))
        shape = (time.size, *np.shape(self.q)[1:])
        n = shape[-1]
        if self.covariance is not None and np.ndim(self.covariance) == 4:
            at = time if self.covariance_time is None else as_float_array(self.covariance_time, "covariance_time")
            object.__setattr__(self, "covariance_time", frozen(at))
        known = () if self.covariance_time is None else np.shape(self.covariance_time)
        allowed: dict[str, tuple[tuple[int, ...], ...]] = dict.fromkeys(("q", "dq", "ddq"), (shape,))
        allowed["covariance"] = ((*known, n, 3, 3), (n, 3, 3))
        allowed["linear_acceleration_minus_gravity"] = ((time.size, 3),)
        allowed["linear_acceleration_noise"] = ((3,),)
        allowed["orientation"] = ((time.size, 3, 3),)
        for name, shapes in allowed.items():
            value = getattr(self, name)
            if value is None and name not in ("q", "dq", "ddq"):
                continue
            array = as_float_array(value, name)
            if array.shape not in shapes or len(shape) != 2:
                raise InputError(
                    argument=name, problem=f"must have shape {' or '.join(str(s) for s in shapes)}, got {array.shape}"
                )
            object.__setattr__(self, name, frozen(array))
        if (self.linear_acceleration_minus_gravity is None) != (self.linear_acceleration_noise is None):
            raise InputError("linear_acceleration_minus_gravity and linear_acceleration_noise come together")
        object.__setattr__(self, "remarks", tuple(dict.fromkeys(self.remarks)))

    @property
    def num_samples(self) -> int:
        """T, the number of samples."""
        return self.time.size

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return int(self.q.shape[1])

    def covariance_at(self, times: FloatArray) -> FloatArray | None:
        """(M, n, 3, 3) the covariance known nearest to each of ``times`` (M,) [s]; None where it is not known."""
        if self.covariance is None or self.covariance_time is None:
            known = self.covariance
            return None if known is None else np.broadcast_to(known, (times.size, *known.shape))
        middle = 0.5 * (self.covariance_time[1:] + self.covariance_time[:-1])
        return np.asarray(self.covariance[np.searchsorted(middle, times)])

    def regressor(self, robot: Robot | None, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
        """The wrench regressors (T, 6, 10), with the measured linear acceleration where there is one.

        Args:
            robot: the arm; None where the orientation is known instead.
            gravity: (3,) in base axes, or those of the world [m/s^2].
        """
        from iparam.regressor.wrench import body_regressor, wrench_regressor

        if self.orientation is not None:
            return body_regressor(self.dq, self.ddq, self.acceleration_minus_gravity(gravity))
        if robot is None:
            raise InputError("a motion of joints needs the arm")
        matrices = wrench_regressor(robot, self.q, self.dq, self.ddq, gravity)
        if self.linear_acceleration_minus_gravity is not None:
            # The acceleration enters in f = m a + ... and n = h x a + ..., and nowhere else.
            a0, a1, a2 = self.linear_acceleration_minus_gravity.T
            matrices[:, :3, 0] = self.linear_acceleration_minus_gravity
            matrices[:, 3, 2], matrices[:, 3, 3] = a2, -a1
            matrices[:, 4, 1], matrices[:, 4, 3] = -a2, a0
            matrices[:, 5, 1], matrices[:, 5, 2] = a1, -a0
        return matrices

    def acceleration_minus_gravity(self, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
        """(T, 3) of a sensor whose orientation is known, in its axes [m/s^2]: as measured, or that of a slow motion.

        Args:
            gravity: (3,) in the axes of the world [m/s^2].
        """
        if self.linear_acceleration_minus_gravity is not None:
            return self.linear_acceleration_minus_gravity
        if self.orientation is None:
            raise InputError("the orientation of the sensor is not known")
        return np.asarray(-np.swapaxes(self.orientation, 1, 2) @ gravity_vector(gravity))

    def at(self, times: FloatArray) -> MotionEstimate:
        """The motion at other times (M,) within it, or at its ends beyond it: Hermite curves through q, dq and ddq."""
        if self.time.shape == times.shape and (self.time == times).all():
            return self
        parts = [self._part_at(times[start : start + _PART]) for start in range(0, times.size, _PART)]
        if len(parts) == 1:
            return parts[0]
        measured = [part.linear_acceleration_minus_gravity for part in parts]
        turns = [part.orientation for part in parts]
        return dataclasses.replace(
            self,
            time=times,
            q=np.concatenate([part.q for part in parts]),
            dq=np.concatenate([part.dq for part in parts]),
            ddq=np.concatenate([part.ddq for part in parts]),
            linear_acceleration_minus_gravity=None
            if self.linear_acceleration_minus_gravity is None
            else np.concatenate([part for part in measured if part is not None]),
            orientation=None
            if self.orientation is None
            else np.concatenate([turn for turn in turns if turn is not None]),
        )

    def _part_at(self, times: FloatArray) -> MotionEstimate:
        inside = np.clip(times, self.time[0], self.time[-1])
        near = self._around(float(inside[0]), float(inside[-1]))
        middle = 0.5 * (near.time[1:] + near.time[:-1])
        nearest = np.searchsorted(middle, inside)
        if (near.time[nearest] == inside).all():
            q, dq, ddq = near.q[nearest], near.dq[nearest], near.ddq[nearest]
        else:
            q = _hermite(near.time, near.q, near.dq, inside)
            dq = _hermite(near.time, near.dq, near.ddq, inside)
            ddq = _hermite(near.time, near.ddq, np.gradient(near.ddq, near.time, axis=0), inside)
        acceleration = near.linear_acceleration_minus_gravity
        if acceleration is not None:  # measured values are not blended: that would change their noise
            acceleration = acceleration[nearest]
        turned = near.orientation
        if turned is not None:
            turned = turned[nearest] @ exp_so3(q - near.q[nearest])
        return dataclasses.replace(
            self,
            time=times,
            q=q,
            dq=dq,
            ddq=ddq,
            linear_acceleration_minus_gravity=acceleration,
            orientation=turned,
        )

    def _around(self, start: float, stop: float) -> MotionEstimate:
        """The samples from ``start`` to ``stop`` [s], and two on either side."""
        first = max(0, int(np.searchsorted(self.time, start)) - 2)
        last = min(self.num_samples, int(np.searchsorted(self.time, stop, "right")) + 2)
        if last - first == self.num_samples:
            return self
        part = slice(first, last)
        acceleration = self.linear_acceleration_minus_gravity
        return dataclasses.replace(
            self,
            time=self.time[part],
            q=self.q[part],
            dq=self.dq[part],
            ddq=self.ddq[part],
            linear_acceleration_minus_gravity=None if acceleration is None else acceleration[part],
            orientation=None if self.orientation is None else self.orientation[part],
        )


def checked_angles(time: object, q: object, least: int) -> tuple[FloatArray, FloatArray]:
    """Time stamps (T,) and angles (T, n) as arrays, with T at least ``least`` and time strictly increasing."""
    stamps = as_float_array(time, "time")  # type: ignore[arg-type]
    angles = as_float_array(q, "q")  # type: ignore[arg-type]
    if stamps.ndim != 1 or angles.ndim != 2 or angles.shape[0] != stamps.size or angles.shape[1] == 0:
        raise InputError(
            argument="time", problem=f"must have shape (T,) and q (T, n), got {stamps.shape} and {angles.shape}"
        )
    if stamps.size < least:
        raise InputError(
            f"joint angles of at least {least} samples are needed, got {stamps.size}: single poses hold no motion; "
            "a static identification weighs what they show"
        )
    backwards = np.flatnonzero(np.diff(stamps) <= 0)
    if backwards.size:
        i = int(backwards[0])
        raise InputError(
            argument="time",
            problem=f"must be strictly increasing, got {stamps[i]!r} and then {stamps[i + 1]!r} at {i + 1}",
        )
    return stamps, angles


def _hermite(knots: FloatArray, values: FloatArray, slopes: FloatArray, times: FloatArray) -> FloatArray:
    """(M, n) at times (M,) the cubic curves with these values and slopes (T, n) at the knots (T,)."""
    before = np.clip(np.searchsorted(knots, times, "right") - 1, 0, knots.size - 2)
    step, x = (knots[before + 1] - knots[before])[:, None], (times - knots[before])[:, None]
    start, secant = slopes[before], (values[before + 1] - values[before]) / step
    bend = (start + slopes[before + 1] - 2.0 * secant) / step
    return np.asarray(values[before] + x * (start + x * ((secant - start) / step - bend + x * (bend / step))))
