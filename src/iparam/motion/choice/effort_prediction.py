"""`EffortPrediction`: how well a motion explains the wrench or the joint torques that were recorded beside it.

The motion is wanted for what it says about them, so they are the judge of it: a linear model is fitted to some blocks
of time and predicts the others. Errors of the angles that are not white, such as rounding, jitter of the stamps or held
samples, deceive a criterion that looks at the angles alone, which takes what lasts for motion; the prediction of
something else, measured by another sensor, they do not deceive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.regressor.identifiability import base_parameters
from iparam.regressor.joint_torque import joint_torque_regressor
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.model import Robot

BLOCKS = 8
"""Blocks of time, each predicted from the others."""

ROUNDS = 3
"""Of fits: each weighs the channels by the errors of the one before."""

RIDGE = 1e-8
"""Share of a column's squares that is added to it: what the data do not tell stays near zero instead of anywhere."""

SLOW = 0.02
"""Speed at which dry friction has its direction to three quarters [rad/s]."""


@dataclass(frozen=True, eq=False)
class Channel:
    """One measured quantity and its linear model.

    Attributes:
        columns: (k,) which of all unknowns it depends on.
        rows: (N, k) its regressor.
        measured: (N,).
    """

    columns: NDArray[np.int64]
    rows: FloatArray
    measured: FloatArray


class EffortPrediction(Protocol):
    """What was recorded beside the angles, and how it follows from a motion."""

    @property
    def time(self) -> FloatArray:
        """(N,) of its samples [s]."""
        ...

    def channels(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, rows: NDArray[np.int64]) -> list[Channel]:
        """The linear model of samples ``rows`` (N,) of it, for the motion (N, n) at their times."""
        ...


@dataclass(frozen=True, eq=False)
class WrenchPrediction:
    """The wrench of a load that is held still, with a constant bias of the sensor.

    Attributes:
        time: (N,) of the wrench [s].
        values: (N, 6) [N, N m].
        robot: the arm.
        gravity: (3,) in base axes [m/s^2].
    """

    time: FloatArray
    values: FloatArray
    robot: Robot
    gravity: FloatArray

    @classmethod
    def of(cls, recording: Recording, robot: Robot) -> WrenchPrediction:
        """Of the signal ``wrench``."""
        wrench = recording.signal("wrench")
        return cls(wrench.time, wrench.values, robot, recorded_gravity(recording))

    def channels(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, rows: NDArray[np.int64]) -> list[Channel]:
        """Forces and torques: ten parameters, and a bias for each."""
        matrices = wrench_regressor(self.robot, q, dq, ddq, self.gravity)
        ones = np.ones((len(q), 1))
        return [
            Channel(np.array([*range(10), 10 + axis]), np.hstack([matrices[:, axis], ones]), self.values[rows, axis])
            for axis in range(6)
        ]


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """The torques of the drives: base parameters, rotors, viscous and dry friction, and an offset.

    Attributes:
        time: (N,) of the effort [s].
        values: (N, n) [N m].
        robot: the arm.
        gravity: (3,) in base axes [m/s^2].
        base: which of the parameters of the bodies are estimated, all others being without effect.
        left_out: joints, from 0, whose effort is not predicted.
    """

    time: FloatArray
    values: FloatArray
    robot: Robot
    gravity: FloatArray
    base: NDArray[np.int64]
    left_out: Sequence[int] = ()

    @classmethod
    def of(
        cls,
        recording: Recording,
        robot: Robot,
        effort: str,
        gains: Sequence[float] = (),
        left_out: Sequence[int] = (),
    ) -> TorquePrediction:
        """Of the signal ``effort``, "tau" or "current".

        ``gains`` (n,) turn it into torques. Without them joints could not share bodies, and with bodies of its own for
        each joint, noise predicts about as well as motion.
        """
        signal, gravity = recording.signal(effort), recorded_gravity(recording)
        values = signal.values * np.array(gains or [1.0])
        base = base_parameters(robot, gravity=gravity).independent
        return cls(signal.time, values, robot, gravity, base, tuple(left_out))

    def channels(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, rows: NDArray[np.int64]) -> list[Channel]:
        """One a joint that is not left out."""
        count = q.shape[1]
        inertial = joint_torque_regressor(self.robot, q, dq, ddq, self.gravity)[..., self.base]
        side, ones = np.tanh(dq / SLOW), np.ones(len(q))
        channels, places = [], self.base.size
        for joint in range(count):
            if joint in self.left_out:
                continue
            shared = np.flatnonzero(self.base >= 10 * joint)
            own = np.column_stack([ddq[:, joint], dq[:, joint], side[:, joint], ones])
            columns = np.concatenate([shared, places + np.arange(4)])
            places += 4
            channels.append(Channel(columns, np.hstack([inertial[:, joint, shared], own]), self.values[rows, joint]))
        return channels


def prediction_of(
    recording: Recording, robot: Robot, signal: str, gains: Sequence[float] = (), left_out: Sequence[int] = ()
) -> EffortPrediction | None:
    """How a signal of a recording is predicted; None where it is not there, or nothing like a wrench or a torque.

    Args:
        recording: of the arm.
        robot: the arm.
        signal: wrench, tau or current.
        gains: (n,) that turn currents into torques [N m/A].
        left_out: joints, from 0, whose torque or current is not predicted.
    """
    if not recording.has(signal):
        return None
    if signal == "wrench":
        return WrenchPrediction.of(recording, robot)
    if signal == "tau" or gains:
        return TorquePrediction.of(recording, robot, signal, gains, left_out)
    return None


def prediction_errors(channels: Sequence[Channel]) -> FloatArray:
    """(K,) root mean square error of each channel in blocks of time that the model was not fitted to."""
    size = 1 + max(int(channel.columns.max()) for channel in channels)
    samples = channels[0].measured.size
    count = min(BLOCKS, samples)
    edges = np.linspace(0, samples, count + 1).astype(np.int64)
    # Blocks differ by a sample at most: the shorter ones end in a row of zeros.
    places = edges[:-1, None] + np.arange(-(-samples // count))
    empty = places >= edges[1:, None]
    places[empty] = 0
    grams, rights = np.zeros((count, len(channels), size, size)), np.zeros((count, len(channels), size))
    blocks, measured = [], []
    for k, channel in enumerate(channels):
        rows, values = channel.rows[places], channel.measured[places]
        rows[empty], values[empty] = 0.0, 0.0
        turned = np.swapaxes(rows, 1, 2)
        grams[:, k, channel.columns[:, None], channel.columns] = turned @ rows
        rights[:, k, channel.columns] = (turned @ values[..., None])[..., 0]
        blocks.append(rows)
        measured.append(values)
    level = np.array([max(float(np.std(channel.measured)), 1e-12) for channel in channels])
    for _ in range(ROUNDS):
        gram, right = np.tensordot(grams, level**-2, (1, 0)), np.tensordot(rights, level**-2, (1, 0))
        found = _solve(gram.sum(axis=0) - gram, right.sum(axis=0) - right)
        for k, channel in enumerate(channels):
            error = (measured[k] - (blocks[k] @ found[:, channel.columns, None])[..., 0]).ravel()
            level[k] = max(float(np.sqrt(error @ error / samples)), 1e-12)
    return level


def _solve(grams: FloatArray, rights: FloatArray) -> FloatArray:
    """(B, p) solutions of normal equations (B, p, p) and (B, p)."""
    unit = 1.0 / np.sqrt(np.maximum(np.diagonal(grams, axis1=1, axis2=2), 1e-300))
    scaled = grams * unit[:, :, None] * unit[:, None, :]
    places = np.arange(unit.shape[1])
    scaled[:, places, places] = 1.0 + RIDGE
    return np.asarray(unit * np.linalg.solve(scaled, (unit * rights)[..., None])[..., 0])
