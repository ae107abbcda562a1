"""`JointMotionFilter`: velocities and accelerations from joint states that come one by one, at a rate yet unknown."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.stamped_buffer import CLOCK_JUMP, PeriodEstimate
from iparam.motion.joint_process import JointProcess
from iparam.motion.kalman import JointKalmanFilter
from iparam.motion.motion import MotionSample

SETTLING = 8.0
"""Time constants of the motion model, 1 / (2 pi bandwidth), after which its first state no longer matters."""


class JointMotionFilter:
    """A causal Kalman filter of the angles, started when the rate is known and anew when the clock jumps.

    Its accelerations are late by about 0.3 / bandwidth: 20 ms at 15 Hz.

    Args:
        num_joints: n.
        bandwidth: of the motion that it lets pass [Hz].
        noise: standard deviation of one angle [rad].
        rate: of the samples [Hz]; 0 to find it from the stamps.
    """

    def __init__(self, num_joints: int, bandwidth: float = 15.0, noise: float = 5e-5, rate: float = 0.0) -> None:
        self._process = JointProcess(4, bandwidth, noise)
        self._num_joints = num_joints
        self._period = PeriodEstimate(1e9 / rate if rate > 0.0 else None)
        self._filter: JointKalmanFilter | None = None
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
            else:
                self._period.add(stamp - latest)
        self._latest = stamp
        if self._period.period is None:
            return None
        if self._filter is None:
            self._filter = JointKalmanFilter((self._process,) * self._num_joints, self._period.period * 1e-9)
            self._start = stamp
        elapsed = (stamp - self._start) * 1e-9
        found = self._filter.step(elapsed, np.asarray(q))
        return found if elapsed * self._process.omega > SETTLING else None
