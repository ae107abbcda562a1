"""`MotionSource`: where the motion in the regressor comes from. Set points, filtered joint angles, and the
accelerometer for linear acceleration.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.angle_samples import fresh_samples
from iparam.motion.choice.effort_prediction import prediction_of
from iparam.motion.choice.further_measurements import motion_with, with_further_measurements
from iparam.motion.choice.prediction_choice import choose_by_prediction, widest_bandwidth
from iparam.motion.choice.process_choice import choose_processes, highest_bandwidth
from iparam.motion.joint_process import JointProcess
from iparam.motion.kalman import at_highest_bandwidth, kalman_smooth, with_passed_errors
from iparam.motion.motion import MotionEstimate, checked_angles
from iparam.recording.alignment import align
from iparam.recording.channels import CHANNELS
from iparam.recording.followers import joint_signal, with_followers
from iparam.recording.noise_level import white_noise_level
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.model import Robot

_UNEVEN = 1e-3
"""Relative deviation of the time steps beyond which samples are resampled for a filter that needs a fixed rate."""


def butterworth_smooth(time: ArrayLike, q: ArrayLike, cutoff: float, order: int = 4) -> MotionEstimate:
    """Low-pass the angles forwards and backwards, then differentiate the quintic spline through the result.

    The amplitude response is 1 / (1 + (f / cutoff)^(2 order)), without phase shift. Unevenly spaced samples are brought
    to their median rate by cubic interpolation first.

    Args:
        time: (T,) strictly increasing [s].
        q: (T, n) [rad].
        cutoff: where half of the amplitude passes [Hz], below half the sampling rate.
        order: of the filter that is run twice.
    """
    from scipy.interpolate import CubicSpline, make_interp_spline
    from scipy.signal import butter, sosfiltfilt

    stamps, angles = checked_angles(time, q, 16)
    steps = np.diff(stamps)
    period = float(np.median(steps))
    if not 0 < cutoff < 0.5 / period:
        raise InputError(
            argument="cutoff",
            problem=f"must be between 0 and half the sampling rate, {0.5 / period:g} Hz, got {cutoff!r} Hz",
        )
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 12:
        raise InputError(argument="order", value=order, expected="a whole number from 1 to 12")
    grid, even = stamps, angles
    if np.ptp(steps) > _UNEVEN * period:
        count = math.ceil((stamps[-1] - stamps[0]) / period) + 1
        grid = np.linspace(stamps[0], stamps[-1], count)
        even = CubicSpline(stamps, angles)(grid)
    sections = butter(order, cutoff, fs=(grid.size - 1) / (grid[-1] - grid[0]), output="sos")
    padding = min(grid.size - 1, int(3.0 / (cutoff * period)) + 1)
    spline = make_interp_spline(grid, sosfiltfilt(sections, even, axis=0, padlen=padding), k=5)
    return MotionEstimate(stamps, spline(stamps), spline(stamps, 1), spline(stamps, 2))


@runtime_checkable
class MotionSource(Protocol):
    """Anything that tells from a recording how the arm moved."""

    def motion(self, recording: Recording, robot: Robot) -> MotionEstimate:
        """The motion in ``recording`` of ``robot``, at the time stamps that the source prefers."""
        ...


@dataclass(frozen=True)
class SetPointMotion:
    """What the arm was told to do: target_q, and target_dq and target_ddq where they are recorded.

    Derivatives that are not recorded come from the quintic spline through those that are.
    """

    def motion(self, recording: Recording, robot: Robot) -> MotionEstimate:
        """The motion at the time stamps of target_q."""
        recording = with_followers(recording, robot)
        names = [name for name in ("target_q", "target_dq", "target_ddq") if recording.has(name)]
        joint_signal(recording, robot, "target_q")
        samples = align(recording, names)
        values = [samples[name] for name in names]
        for name in names:
            joint_signal(recording, robot, name)
        if len(values) < 3:
            values = _completed(samples.time, dict(zip(names, values, strict=True)))
        return MotionEstimate(samples.time, values[0], values[1], values[2], remarks=samples.remarks)


AWAY = 5.0
"""Times as far from the recorded angles as by what these ask for themselves, from which on a bandwidth is not believed,
whatever it predicts best."""


@dataclass(frozen=True)
class KalmanMotion:
    """Measured angles through the Kalman smoother.

    Measured velocities and set points help where the angles alone leave noisy accelerations, as far as they agree; see
    `further_measurements`.

    Attributes:
        predicts: the signal that decides which bandwidth is best, by how well it is predicted: wrench, tau or current.
            A recording without it is smoothed by what the angles alone ask for, as with "".
        gains: (n,) that turn currents into torques [N m/A]; without them currents decide nothing.
        processes: models of the joints whose order and bandwidth are taken; () chooses them.
        left_out: joints, from 0, whose torque or current decides nothing.
        angles_alone: whether to leave measured velocities and set points out.
    """

    predicts: str = "wrench"
    gains: tuple[float, ...] = ()
    processes: tuple[JointProcess, ...] = ()
    left_out: tuple[int, ...] = ()
    angles_alone: bool = False

    def motion(self, recording: Recording, robot: Robot) -> MotionEstimate:
        """The motion at the time stamps of q, with its covariance."""
        recording = with_followers(recording, robot)
        angles, said = fresh_samples(joint_signal(recording, robot, "q"))
        motion = self._estimated(angles, recording, robot)
        return dataclasses.replace(motion, remarks=(*motion.remarks, *said)) if said else motion

    def _estimated(self, angles: Signal, recording: Recording, robot: Robot) -> MotionEstimate:
        if self.processes and (known := motion_with(self.processes, angles, recording)) is not None:
            return known
        processes = plain = choose_processes(angles.time, angles.values)
        prediction = prediction_of(recording, robot, self.predicts, self.gains, self.left_out)
        if prediction is not None:
            processes = choose_by_prediction(angles.time, angles.values, prediction, plain)
        judged = processes != plain
        smooth = kalman_smooth(angles.time, angles.values, processes)
        if judged and (np.std(smooth.q - angles.values, axis=0) > AWAY * white_noise_level(angles.values)).any():
            other = kalman_smooth(angles.time, angles.values, plain)
            distance, usual = (np.std(each.q - angles.values, axis=0) for each in (smooth, other))
            if (distance > AWAY * usual).any():  # what is wrong with the wrench speaks for an arm that hardly moves
                judged, smooth = False, other
        highest = widest_bandwidth(angles.time) if judged else highest_bandwidth(angles.time)
        motion = with_passed_errors(smooth, angles.values)
        said = at_highest_bandwidth(motion, highest)
        motion = dataclasses.replace(motion, judge=self.predicts if judged else "", remarks=said)
        return motion if self.angles_alone else with_further_measurements(motion, angles, recording, prediction)


@dataclass(frozen=True)
class ButterworthMotion:
    """Measured angles through a zero-phase Butterworth filter.

    Attributes:
        cutoff: where half of the amplitude passes [Hz]; None takes the widest bandwidth that the smoother would choose.
        order: of the filter that is run forwards and backwards.
    """

    cutoff: float | None = None
    order: int = 4

    def motion(self, recording: Recording, robot: Robot) -> MotionEstimate:
        """The motion at the time stamps of q."""
        recording = with_followers(recording, robot)
        angles, said = fresh_samples(joint_signal(recording, robot, "q"))
        cutoff = _bandwidth(angles) if self.cutoff is None else self.cutoff
        return dataclasses.replace(butterworth_smooth(angles.time, angles.values, cutoff, self.order), remarks=said)


@dataclass(frozen=True)
class AccelerometerMotion:
    """Linear acceleration from the accelerometer at the tool frame, all else from another source.

    Attributes:
        joints: the source of the rest, the Kalman smoother if not given.
    """

    joints: MotionSource = field(default_factory=KalmanMotion)

    def motion(self, recording: Recording, robot: Robot) -> MotionEstimate:
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
            remarks=(*rest.remarks, *samples.remarks),
        )


def known_motion(recording: Recording, robot: Robot, source: MotionSource) -> MotionEstimate:
    """The motion of a source, with how well it is known.

    Where the source does not say that itself, its covariance is that of the difference to the Kalman smoother.
    """
    motion = source.motion(recording, robot)
    if motion.covariance is not None or isinstance(source, KalmanMotion) or not recording.has("q"):
        return motion
    smooth = KalmanMotion(angles_alone=True).motion(recording, robot).at(motion.time)
    difference = np.stack([motion.q - smooth.q, motion.dq - smooth.dq, motion.ddq - smooth.ddq], axis=2)
    covariance = np.einsum("tni,tnj->nij", difference, difference) / motion.num_samples
    return dataclasses.replace(motion, covariance=covariance)


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
