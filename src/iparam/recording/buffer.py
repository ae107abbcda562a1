"""`DataBuffer`: the latest samples of a running robot, for estimators that work while it moves."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.recording.recording import Recording
from iparam.regressor.samples import wrench_samples
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.loading import load_robot
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class SensorData:
    """What the sensors say at one instant.

    Attributes:
        timestamp: [s].
        q: (n,) joint positions [rad].
        dq: (n,) joint velocities [rad/s].
        ddq: (n,) joint accelerations [rad/s^2].
        force: (3,) that the robot exerts on the payload, in the tool frame [N].
        torque: (3,) about the tool frame's origin, in its axes [N m].
    """

    timestamp: float
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    force: FloatArray
    torque: FloatArray

    def __post_init__(self) -> None:
        stamp = as_float_array(self.timestamp, "timestamp")
        if stamp.shape != ():
            raise InputError(argument="timestamp", problem=f"must be one number, got shape {stamp.shape}")
        object.__setattr__(self, "timestamp", float(stamp) + 0.0)
        joints = np.shape(self.q)
        if len(joints) != 1 or joints[0] == 0:
            raise InputError(argument="q", problem=f"must have shape (n,), got {joints}")
        shapes = {"q": joints, "dq": joints, "ddq": joints, "force": (3,), "torque": (3,)}
        for name, shape in shapes.items():
            value = as_float_array(getattr(self, name), name)
            if value.shape != shape:
                raise InputError(argument=name, problem=f"must have shape {shape}, got {value.shape}")
            object.__setattr__(self, name, frozen(value))


@dataclass(frozen=True, eq=False)
class EstimationData:
    """The linear system y = A phi of N samples, stacked: ``A, y = data``.

    Attributes:
        A: (6 N, 10) wrench regressors; given as (N, 6, 10), they are stacked.
        y: (6 N,) [force, torque] of each sample [N, N m].
    """

    A: FloatArray
    y: FloatArray

    def __post_init__(self) -> None:
        matrices, wrenches = wrench_samples(self.A, self.y)
        object.__setattr__(self, "A", frozen(matrices.reshape(-1, 10)))
        object.__setattr__(self, "y", frozen(wrenches.reshape(-1)))

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.A, self.y))

    @property
    def num_samples(self) -> int:
        """N, the number of samples."""
        return self.y.size // 6


class DataBuffer:
    """A ring of the latest samples. Any number of threads may add to it and read from it.

    Args:
        max_samples: capacity; the oldest sample makes room for the newest.
    """

    def __init__(self, max_samples: int = 10_000) -> None:
        if isinstance(max_samples, bool) or not isinstance(max_samples, int) or max_samples < 1:
            raise InputError(argument="max_samples", value=max_samples, expected="a whole number from 1")
        self._capacity = max_samples
        self._lock = threading.Lock()
        self._rows: FloatArray | None = None  # (capacity, 1 + 3 n + 6): timestamp, q, dq, ddq, force, torque
        self._added = 0

    @property
    def max_samples(self) -> int:
        """The capacity."""
        return self._capacity

    def __len__(self) -> int:
        return min(self._added, self._capacity)

    def add_sample(self, sample: SensorData) -> None:
        """Add a sample, later than those before and of as many joints."""
        if not isinstance(sample, SensorData):
            raise InputError(argument="sample", problem=f"must be a SensorData, got {type(sample).__name__}")
        row = np.concatenate([[sample.timestamp], sample.q, sample.dq, sample.ddq, sample.force, sample.torque])
        with self._lock:
            if self._rows is None:
                self._rows = np.empty((self._capacity, row.size))
            if row.size != self._rows.shape[1]:
                joints = (self._rows.shape[1] - 7) // 3
                raise InputError(f"the buffer holds samples of {joints} joints, got one of {sample.q.size}")
            if self._added:
                latest = float(self._rows[(self._added - 1) % self._capacity, 0])
                if sample.timestamp <= latest:
                    raise InputError(
                        f"a sample must be later than the one before, {latest} s, got {sample.timestamp} s"
                    )
            self._rows[self._added % self._capacity] = row
            self._added += 1

    def clear(self) -> None:
        """Forget all samples."""
        with self._lock:
            self._rows, self._added = None, 0

    def snapshot(self) -> tuple[SensorData, ...]:
        """The samples of this moment, oldest first."""
        samples = []
        for row in self._ordered():
            q, dq, ddq = np.split(row[1:-6], 3)
            samples.append(SensorData(float(row[0]), q, dq, ddq, row[-6:-3], row[-3:]))
        return tuple(samples)

    def get_estimation_data(self, robot: Robot | str, gravity: ArrayLike = STANDARD_GRAVITY) -> EstimationData:
        """The stacked regressors and wrenches of the samples of this moment, with q, dq and ddq taken as they are.

        Args:
            robot: the arm, its name or its file's path.
            gravity: (3,) in base axes [m/s^2].
        """
        from iparam.regressor.wrench import wrench_regressor

        arm = robot if isinstance(robot, Robot) else load_robot(robot)
        rows = self._ordered()
        if not len(rows):
            raise InputError("the buffer is empty: there is nothing to estimate from")
        q, dq, ddq = np.split(rows[:, 1:-6], 3, axis=1)
        matrices = wrench_regressor(arm, q, dq, ddq, gravity)
        return EstimationData(matrices.reshape(-1, 10), rows[:, -6:].reshape(-1))

    def to_recording(self, robot: str = "") -> Recording:
        """The samples of this moment as a recording with the signals q, dq, ddq and wrench."""
        rows = self._ordered()
        if not len(rows):
            raise InputError("the buffer is empty: there is nothing to record")
        recording = Recording(robot)
        for name, values in zip(("q", "dq", "ddq"), np.split(rows[:, 1:-6], 3, axis=1), strict=True):
            recording = recording.with_signal(name, time=rows[:, 0], values=values)
        return recording.with_signal("wrench", time=rows[:, 0], values=rows[:, -6:])

    def save_to_file(self, path: str | os.PathLike[str], robot: str = "") -> None:
        """Write the samples to a recording file, ``.parquet`` or ``.csv``."""
        self.to_recording(robot).save(path)

    def load_from_file(self, path: str | os.PathLike[str]) -> None:
        """Replace all samples by those of a recording file, the latest if they are more than the capacity.

        If it cannot be read, the buffer stays as it was.
        """
        self._replace(_rows(Recording.load(path)))

    def _replace(self, rows: FloatArray) -> None:
        kept = rows[-self._capacity :]
        with self._lock:
            self._rows = np.empty((self._capacity, rows.shape[1]))
            self._rows[: len(kept)] = kept
            self._added = len(kept)

    def _ordered(self) -> FloatArray:
        """A copy (N, 1 + 3 n + 6) of the samples, oldest first."""
        with self._lock:
            if self._rows is None:
                return np.empty((0, 10))
            if self._added <= self._capacity:
                return self._rows[: self._added].copy()
            return np.roll(self._rows, -(self._added % self._capacity), axis=0)


def _rows(recording: Recording) -> FloatArray:
    """(N, 1 + 3 n + 6) the samples of a recording, as a buffer keeps them."""
    signals = [recording.signal(name) for name in ("q", "dq", "ddq", "wrench")]
    if any(not np.array_equal(signal.time, signals[0].time) for signal in signals):
        raise InputError("q, dq, ddq and wrench have different time stamps; bring them together with align first")
    if len({signal.width for signal in signals[:3]}) != 1:
        raise InputError("q, dq and ddq have different numbers of joints")
    return np.concatenate([signals[0].time[:, None], *(signal.values for signal in signals)], axis=1)
