"""`MotionSource`: where the motion in the regressor comes from. Set points, filtered joint angles, and the
accelerometer for linear acceleration.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.motion.filtered_motion import FilteredMotion
from iparam.motion.filters import butterworth_smooth, savitzky_golay_smooth
from iparam.motion.kalman import kalman_filter, kalman_smooth
from iparam.motion.process_choice import choose_processes
from iparam.recording.alignment import align
from iparam.recording.channels import CHANNELS
from iparam.recording.noise_level import white_noise_level
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class ToolMotionEstimate:
    """How the arm moved, with how well that is known. Prismatic joints have m in place of rad.

    Attributes:
        time: (T,) strictly increasing [s].
        q, dq, ddq: (T, n) joint positions, velocities and accelerations [rad, rad/s, rad/s^2].
        covariance: of (q, dq, ddq), (K, n, 3, 3) at K times or (n, 3, 3) for all; None where unknown.
        covariance_time: (K,) those times, increasing [s]; if not given, all T.
        linear_acceleration_minus_gravity: (T, 3) of tool0's origin, in tool0 [m/s^2], as an accelerometer there
            measures it; None to take it from the joints.
        linear_acceleration_noise: (3,) standard deviation of it [m/s^2]; None with it.
        warnings: what the source had to leave out.
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    covariance: FloatArray | None = None
    covariance_time: FloatArray | None = None
    linear_acceleration_minus_gravity: FloatArray | None = None
    linear_acceleration_noise: FloatArray | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        time = as_float_array(self.time, "time")
        if time.ndim != 1 or time.size == 0 or (np.diff(time) <= 0).any():
            raise InputError(f"time must be strictly increasing with shape (T,), got shape {time.shape}")
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
        for name, shapes in allowed.items():
            value = getattr(self, name)
            if value is None and name not in ("q", "dq", "ddq"):
                continue
            array = as_float_array(value, name)
            if array.shape not in shapes or len(shape) != 2:
                raise InputError(f"{name} must have shape {' or '.join(str(s) for s in shapes)}, got {array.shape}")
            object.__setattr__(self, name, frozen(array))
        if (self.linear_acceleration_minus_gravity is None) != (self.linear_acceleration_noise is None):
            raise InputError("linear_acceleration_minus_gravity and linear_acceleration_noise come together")
        object.__setattr__(self, "warnings", tuple(self.warnings))

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

    def regressor(self, robot: Robot, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
        """The wrench regressors (T, 6, 10), with the measured linear acceleration where there is one.

        Args:
            robot: the arm.
            gravity: (3,) in base axes [m/s^2].
        """
        from iparam.regressor.wrench import wrench_regressor

        matrices = wrench_regressor(robot, self.q, self.dq, self.ddq, gravity)
        if self.linear_acceleration_minus_gravity is not None:
            # The acceleration enters in f = m a + ... and n = h x a + ..., and nowhere else.
            a0, a1, a2 = self.linear_acceleration_minus_gravity.T
            matrices[:, :3, 0] = self.linear_acceleration_minus_gravity
            matrices[:, 3, 2], matrices[:, 3, 3] = a2, -a1
            matrices[:, 4, 1], matrices[:, 4, 3] = -a2, a0
            matrices[:, 5, 1], matrices[:, 5, 2] = a1, -a0
        return matrices


@runtime_checkable
class MotionSource(Protocol):
    """Anything that tells from a recording how the arm moved."""

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion in ``recording`` of ``robot``, at the time stamps that the source prefers."""
        ...


@dataclass(frozen=True)
class SetPointMotion:
    """What the arm was told to do: target_q, and target_dq and target_ddq where they are recorded.

    Derivatives that are not recorded come from the quintic spline through those that are.
    """

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion at the time stamps of target_q."""
        names = [name for name in ("target_q", "target_dq", "target_ddq") if recording.has(name)]
        _joint_signal(recording, robot, "target_q")
        samples = align(recording, names)
        values = [samples[name] for name in names]
        for name in names:
            _joint_signal(recording, robot, name)
        if len(values) < 3:
            values = _completed(samples.time, dict(zip(names, values, strict=True)))
        return ToolMotionEstimate(samples.time, values[0], values[1], values[2], warnings=samples.warnings)


@dataclass(frozen=True)
class KalmanMotion:
    """Measured angles through the Kalman smoother, or through the causal filter as an on-line estimator sees them.

    Attributes:
        causal: whether to use the filter.
    """

    causal: bool = False

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion at the time stamps of q, with its covariance."""
        angles = _joint_signal(recording, robot, "q")
        return _estimate((kalman_filter if self.causal else kalman_smooth)(angles.time, angles.values))


@dataclass(frozen=True)
class ButterworthMotion:
    """Measured angles through a zero-phase Butterworth filter.

    Attributes:
        cutoff: where half of the amplitude passes [Hz]; None takes the widest bandwidth that the smoother would choose.
        order: of the filter that is run forwards and backwards.
    """

    cutoff: float | None = None
    order: int = 4

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion at the time stamps of q."""
        angles = _joint_signal(recording, robot, "q")
        cutoff = _bandwidth(angles) if self.cutoff is None else self.cutoff
        return _estimate(butterworth_smooth(angles.time, angles.values, cutoff, self.order))


@dataclass(frozen=True)
class SavitzkyGolayMotion:
    """Measured angles through local polynomials.

    Attributes:
        window: samples in a fit, odd; None takes about the widest bandwidth that the smoother would choose.
        degree: of the polynomials.
    """

    window: int | None = None
    degree: int = 4

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion at the time stamps of q."""
        angles = _joint_signal(recording, robot, "q")
        window = self.window
        if window is None:
            # A fit of degree d over w samples passes half of the amplitude up to about (d + 1) / (2.5 w) of the rate.
            samples = (self.degree + 1) * angles.rate / (2.5 * _bandwidth(angles))
            largest = (angles.num_samples - 1) // 2
            window = 2 * min(max(round(samples / 2.0), self.degree), largest) + 1
            window = min(window, 2 * largest - 1)
        return _estimate(savitzky_golay_smooth(angles.time, angles.values, window, self.degree))


@dataclass(frozen=True)
class AccelerometerMotion:
    """Linear acceleration from the accelerometer at tool0, all else from another source.

    Attributes:
        joints: the source of the rest, the Kalman smoother if not given.
    """

    joints: MotionSource = field(default_factory=KalmanMotion)

    def motion(self, recording: Recording, robot: Robot) -> ToolMotionEstimate:
        """The motion at those time stamps of the joint source that the accelerometer covers."""
        accelerometer = recording.signal("accelerometer")
        if accelerometer.frame not in (CHANNELS["accelerometer"].frame, robot.tool_frame):
            raise InputError(
                f"the accelerometer must be given in {robot.tool_frame}, got frame {accelerometer.frame!r}"
            )
        rest = self.joints.motion(recording, robot)
        samples = align(recording, ["accelerometer"], times=rest.time)
        kept = np.isin(rest.time, samples.time)
        return dataclasses.replace(
            rest,
            time=samples.time,
            q=rest.q[kept],
            dq=rest.dq[kept],
            ddq=rest.ddq[kept],
            linear_acceleration_minus_gravity=samples["accelerometer"],
            linear_acceleration_noise=white_noise_level(accelerometer.values),
            warnings=(*rest.warnings, *samples.warnings),
        )


def _joint_signal(recording: Recording, robot: Robot, name: str) -> Signal:
    signal = recording.signal(name)
    if signal.width != robot.num_joints:
        raise InputError(f"{name} has {signal.width} columns, but {robot.name} has {robot.num_joints} joints")
    return signal


def _estimate(motion: FilteredMotion) -> ToolMotionEstimate:
    return ToolMotionEstimate(motion.time, motion.q, motion.dq, motion.ddq, motion.covariance, motion.covariance_time)


def _bandwidth(angles: Signal) -> float:
    processes = choose_processes(angles.time, angles.values)
    return min(max(process.bandwidth for process in processes), 0.4 * angles.rate)


def _completed(time: FloatArray, known: dict[str, FloatArray]) -> list[FloatArray]:
    """q, dq and ddq, each recorded or differentiated from the highest derivative below it."""
    from scipy.interpolate import make_interp_spline

    values: list[FloatArray] = []
    for level, name in enumerate(("target_q", "target_dq", "target_ddq")):
        if name in known:
            values.append(known[name])
            continue
        source = max(i for i, lower in enumerate(("target_q", "target_dq")) if lower in known and i < level)
        spline = make_interp_spline(time, values[source], k=5)
        values.append(np.asarray(spline(time, level - source)))
    return values
