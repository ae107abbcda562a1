"""`JointMotionFilter`: velocities and accelerations from joint states that come one by one, at a rate yet unknown."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.matching.stamped_buffer import CLOCK_JUMP, PeriodEstimate
from iparam.motion.joint_process import JointProcess
from iparam.motion.kalman import JointKalmanFilter
from iparam.motion.lagged_filter import settled_covariance
from iparam.motion.motion import MotionSample

USUAL_RATE = 500.0
"""Of joint states, until it is known [Hz]."""

WELL = 2.0
"""Standard deviation of an acceleration, in that at a steady rate, up to which the motion is known: more at the start
and after pauses."""


class JointMotionFilter:
    """A causal Kalman filter of the angles, started when the rate is known and anew when the clock jumps.

    Its accelerations are late by about 0.3 / bandwidth: 20 ms at 15 Hz.

    Args:
        num_joints: n.
        bandwidth: of the motion that it lets pass [Hz].
        noise: standard deviation of one angle [rad].
        rate: of the samples [Hz]; 0 to find it from the stamps.

    Attributes:
        bandwidth: as above [Hz].
    """

    def __init__(self, num_joints: int, bandwidth: float = 15.0, noise: float = 5e-5, rate: float = 0.0) -> None:
        self.bandwidth = bandwidth
        self._process = JointProcess(4, bandwidth, noise)
        self._num_joints = num_joints
        self._period = PeriodEstimate(1e9 / rate if rate > 0.0 else None)
        self._filter: JointKalmanFilter | None = None
        self._most = self._variance(1.0 / (rate or USUAL_RATE))
        self._start = 0
        self._latest: int | None = None

    def step(self, stamp: int, q: FloatArray) -> MotionSample | None:
        """Take one sample in.

        Args:
            stamp: [ns]; one that is not later than the newest is left out.
            q: (n,) measured angles, finite [rad].

        Returns:
            The motion at that instant, or None while the filter does not know it yet.
        """
        latest = self._latest
        if latest is not None:
            if stamp - CLOCK_JUMP > latest or stamp < latest - CLOCK_JUMP:
                self._filter = None
            elif stamp <= latest:
                return None
            self._period.add(stamp - latest)
        self._latest = stamp
        if self._period.period is None:
            return None
        if self._filter is None:
            period = self._period.period * 1e-9
            self._filter = JointKalmanFilter((self._process,) * self._num_joints, period)
            self._most = self._variance(period)
            self._start = stamp
        found = self._filter.step((stamp - self._start) * 1e-9, np.asarray(q))
        return found if self._filter.covariance[0, 2, 2] <= self._most else None

    def _variance(self, period: float) -> float:
        """Of an acceleration, up to which it is known, at a time between samples [s]."""
        return float(WELL**2 * settled_covariance(self._process, period)[2, 2])
