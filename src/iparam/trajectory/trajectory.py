"""`Trajectory`: joint positions over time with their exact derivatives; `TrajectorySamples`, their values at given
times; and `ScaledMotion`, a motion at reduced amplitude.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.plotting.time_plots import Panel, time_figure
from iparam.trajectory.checks import MAX_SAMPLES, TIME_SLACK, positive_number, times_within

PLOTTED_POINTS = 1001
"""Samples that a motion is drawn with."""


@dataclass(frozen=True, eq=False)
class TrajectorySamples:
    """The set points of a trajectory at some times, exact. Prismatic joints have m in place of rad.

    How an arm did move is a `motion.MotionEstimate`: its times increase, it has no jerk, which nothing measures, and it
    has a covariance. These times may be in any order, as they were asked for, and there is nothing uncertain in them.

    Attributes:
        time: (T,) [s].
        q: (T, n) position [rad].
        dq: (T, n) velocity [rad/s].
        ddq: (T, n) acceleration [rad/s^2].
        jerk: (T, n) [rad/s^3].
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    jerk: FloatArray

    def __post_init__(self) -> None:
        time = as_float_array(self.time, "time")
        if time.ndim != 1:
            raise InputError(argument="time", problem=f"must have shape (T,), got {time.shape}")
        object.__setattr__(self, "time", frozen(time))
        columns = np.shape(self.q)[-1:]
        for name in ("q", "dq", "ddq", "jerk"):
            values = as_float_array(getattr(self, name), name)
            if values.ndim != 2 or values.shape != (time.size, *columns):
                expected = f"({time.size}, n), one row for each time and the same n in q, dq, ddq and jerk"
                raise InputError(argument=name, problem=f"must have shape {expected}, got {values.shape}")
            object.__setattr__(self, name, frozen(values))

    @property
    def num_samples(self) -> int:
        """T, the number of samples."""
        return self.time.size

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return int(self.q.shape[1])


class Trajectory(ABC):
    """A joint motion that is known at every time from 0 to ``duration``, with exact derivatives.

    A family of trajectories gives ``duration``, ``num_joints``, ``time_scaled`` and ``_derivatives``; the rest follows.

    Attributes:
        duration: [s].
    """

    duration: float

    @property
    @abstractmethod
    def num_joints(self) -> int:
        """n, the number of joints."""

    @abstractmethod
    def time_scaled(self, factor: float) -> Trajectory:
        """The same path, ``factor`` times as slow.

        The duration is multiplied by ``factor``; velocity, acceleration and jerk are divided by it once, twice and
        three times. A factor below 1 is faster.
        """

    @abstractmethod
    def _derivatives(self, times: FloatArray) -> FloatArray:
        """(4, T, n) position, velocity, acceleration and jerk at ``times`` (T,), all within [0, duration]."""

    def evaluate(self, times: ArrayLike) -> TrajectorySamples:
        """The motion at ``times``, in any order.

        Args:
            times: (T,), or one number, which gives T = 1; within [0, duration] [s].
        """
        inside = times_within(times, self.duration)
        q, dq, ddq, jerk = self._derivatives(inside)
        return TrajectorySamples(np.atleast_1d(as_float_array(times, "times")), q, dq, ddq, jerk)

    def sample(self, fps: float) -> TrajectorySamples:
        """The motion on a clock of ``fps`` ticks a second, from t = 0.

        Sample i is at i / fps exactly, which is also when a player that runs at ``fps`` commands it. The last sample is
        the last tick that is not after the end; it is the end itself if duration * fps is a whole number.

        Args:
            fps: samples a second [Hz].
        """
        rate = positive_number(fps, "fps", "Hz")
        last = int(np.floor(self.duration * rate * (1.0 + TIME_SLACK)))
        if last >= MAX_SAMPLES:
            raise InputError(
                f"{last + 1} samples, got {self.duration:g} s and {rate:g} Hz, are more than {MAX_SAMPLES}; evaluate "
                "the motion in parts, or at a lower rate",
                argument="fps",
            )
        return self.evaluate(np.arange(last + 1) / rate)

    def plot(self) -> Any:
        """Position, velocity and acceleration of every joint, as a ``matplotlib.figure.Figure``.

        Prismatic joints have m in place of rad.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        samples = self.evaluate(np.linspace(0.0, self.duration, PLOTTED_POINTS))
        drawn = (("q [rad]", samples.q), ("dq [rad/s]", samples.dq), ("ddq [rad/s^2]", samples.ddq))
        joints = range(samples.num_joints)
        return time_figure(
            [
                Panel(title, samples.time, values, tuple(f"{title.split()[0]}{joint}" for joint in joints))
                for title, values in drawn
            ]
        )

    def __repr__(self) -> str:
        harmonics = f", {count} harmonics" if (count := getattr(self, "num_harmonics", None)) else ""
        return f"{type(self).__name__}({self.num_joints} joints{harmonics}, {self.duration:.4g} s)"


@dataclass(frozen=True, eq=False, repr=False)
class ScaledMotion(Trajectory):
    """Another motion with every joint's distance from its start multiplied by ``scale``; times stay.

    Attributes:
        inner: the motion.
        scale: above 0, at most 1.
        duration: of the motion [s].
    """

    inner: Trajectory
    scale: float
    duration: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.scale <= 1.0:
            raise InputError(argument="scale", value=self.scale, expected="above 0 and at most 1")
        object.__setattr__(self, "duration", self.inner.duration)

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.inner.num_joints

    def time_scaled(self, factor: float) -> ScaledMotion:
        """The same path, ``factor`` times as slow."""
        return dataclasses.replace(self, inner=self.inner.time_scaled(factor))

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = np.array(self.inner._derivatives(times))
        start = self.inner._derivatives(np.zeros(1))[0]
        motion[0] -= start
        motion *= self.scale
        motion[0] += start
        return motion
