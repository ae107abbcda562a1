"""The wrench that a recording should hold if some of its corrections were known, with exact derivatives by them.

recorded = K (A phi - pull) + bias, with K from the tool's wrench to the recorded one (the sensor's place, turn and
gains), A the regressor of the motion by the corrected clock, zeros of the joints, gravity and lag, and pull the
constant force in tool axes. The noise is that of the recorded wrench, so nothing is gained by scaling the data down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.delay import low_passed
from iparam.motion.motion import MotionEstimate
from iparam.regressor.wrench import wrench_regressor, wrench_regressor_derivatives
from iparam.robot.kinematics import forward_kinematics, joint_axes
from iparam.robot.model import Robot
from iparam.spatial.transforms import exp_so3, skew

DEVIATIONS = {
    "sensor_rotation": np.radians(60.0),
    "sensor_offset": 0.3,
    "wrench_scale": 0.5,
    "gravity": np.radians(60.0),
    "clock": 0.3,
    "joint_offset": np.radians(30.0),
    "external_force": np.array([100.0] * 3 + [0.3] * 3),
    "delay": 0.1,
    "low_pass": 0.1,
}
"""How far each may be from what it starts at: a standard deviation [rad, m, log of a factor, N, s]. Of what the data do
not tell, this is what is known; where they tell, it counts for nothing."""

OF_ARM = ("gravity", "clock", "joint_offset", "external_force", "delay", "low_pass")
"""What takes the joint angles of an arm."""

_LAG_STEP = 1e-3  # share of a time constant for the one derivative that is taken by differences


@dataclass(frozen=True, eq=False)
class CorrectionState:
    """Values of all corrections.

    Attributes:
        rotation: (3, 3) axes of the sensor in the tool frame.
        offset: (3,) its origin [m].
        log_gains: (6,) logarithms of what the recorded wrench is to be multiplied with.
        reference: the channel whose gain is as it is: a factor common to all is in the load as well.
        gravity: (3,) in base axes [m/s^2].
        log_clock: logarithm of the true seconds in a stamped one.
        joint_offset: (n,) [rad].
        force: (3,) on the load, in base axes [N].
        point: (3,) that it acts at, in the tool frame [m].
        delay: of the wrench [s].
        lag: mean delay of its low-pass [s]; 0 for none.
    """

    rotation: FloatArray
    offset: FloatArray
    log_gains: FloatArray
    gravity: FloatArray
    log_clock: float
    joint_offset: FloatArray
    force: FloatArray
    point: FloatArray
    delay: float
    lag: float
    reference: int = 0

    def moved(self, names: tuple[str, ...], step: FloatArray) -> CorrectionState:
        """The state after a step (k,) of the named ones, in their order."""
        state, start = self, 0
        for name in names:
            part = step[start : start + self.size(name)]
            start += part.size
            state = dataclasses.replace(state, **state._changed(name, part))
        return state

    def size(self, name: str) -> int:
        """Unknowns of a correction."""
        sizes = {"sensor_rotation": 3, "sensor_offset": 3, "wrench_scale": 5, "gravity": 2, "external_force": 6}
        return self.joint_offset.size if name == "joint_offset" else sizes.get(name, 1)

    def gain_steps(self) -> FloatArray:
        """(6, 5) how the logarithms of the gains move."""
        return np.delete(np.eye(6), self.reference, axis=1)

    def tangents(self) -> FloatArray:
        """(3, 2) directions in which gravity can turn, across it."""
        return np.asarray(np.linalg.svd(self.gravity[None])[2][1:].T)

    def _changed(self, name: str, part: FloatArray) -> dict[str, Any]:
        if name == "sensor_rotation":
            return {"rotation": exp_so3(part) @ self.rotation}
        if name == "sensor_offset":
            return {"offset": self.offset + part}
        if name == "wrench_scale":
            return {"log_gains": self.log_gains + self.gain_steps() @ part}
        if name == "gravity":
            return {"gravity": exp_so3(self.tangents() @ part) @ self.gravity}
        if name == "clock":
            return {"log_clock": self.log_clock + float(part[0])}
        if name == "joint_offset":
            return {"joint_offset": self.joint_offset + part}
        if name == "external_force":
            return {"force": self.force + part[:3], "point": self.point + part[3:]}
        if name == "delay":
            return {"delay": self.delay + float(part[0])}
        return {"lag": max(self.lag + float(part[0]), 1e-5)}


@dataclass(frozen=True, eq=False)
class CorrectedModel:
    """What a load would make the sensor record.

    Attributes:
        motion: by the clock of the recording.
        times: (N,) of the wrench, by the same clock [s].
        robot: the arm; None for a sensor whose own orientation is known.
        known: (6, 6) from the recorded wrench to the sensor's, as far as it is known: axes and sign.
        order: of its low-pass.
    """

    motion: MotionEstimate
    times: FloatArray
    robot: Robot | None
    known: FloatArray
    order: int = 1
    _last: dict[str, Any] = field(default_factory=dict, repr=False)

    def regressor(self, state: CorrectionState) -> FloatArray:
        """(N, 6, 10) of the tool's wrench."""
        moved = (state.delay, state.lag, state.log_clock, state.gravity.tobytes(), state.joint_offset.tobytes())
        if self._last.get("state") != moved:  # many states differ in the sensor alone
            matrices = self._filtered(lambda at: self._regressor_at(at, state), state)
            self._last.update(state=moved, matrices=matrices)
        return np.asarray(self._last["matrices"])

    def thinned(self, stride: int) -> CorrectedModel:
        """The same for every ``stride``-th time."""
        return dataclasses.replace(self, times=self.times[::stride], _last={})

    def recorded(self, state: CorrectionState, values: FloatArray) -> FloatArray:
        """Wrenches (N, 6) or columns (N, 6, p) of the tool, as the sensor records them."""
        return np.asarray(self._to_recorded(state) @ (values if values.ndim == 3 else values[..., None])).reshape(
            values.shape
        )

    def pull(self, state: CorrectionState) -> FloatArray:
        """(N, 6) of the tool's wrench that the force from outside takes over."""
        if not state.force.any() or self.robot is None:
            return np.zeros((self.times.size, 6))
        return self._filtered(lambda at: self._pull_at(at, state), state)

    def slopes(self, names: tuple[str, ...], state: CorrectionState, phi: FloatArray) -> FloatArray:
        """(N, 6, k) derivatives of the recorded wrench of a load phi (10,) by steps of the named ones."""
        tool = self.regressor(state) @ phi - self.pull(state)
        return np.concatenate([self._slope(name, state, phi, tool) for name in names], axis=2)

    def _slope(self, name: str, state: CorrectionState, phi: FloatArray, tool: FloatArray) -> FloatArray:
        if name == "sensor_rotation":
            force, torque = tool[:, :3], tool[:, 3:] - np.cross(state.offset, tool[:, :3])
            turned = np.concatenate([skew(force), skew(torque)], axis=1)
            # R' exp(-d) v = R' (v + v x d) to first order; the lever is already in the torque.
            back = np.kron(np.eye(2), state.rotation.T)
            return np.asarray(self._gained(state) @ back @ turned)
        if name == "sensor_offset":
            lever = np.concatenate([np.zeros((len(tool), 3, 3)), skew(tool[:, :3])], axis=1)
            return np.asarray(self._gained(state) @ np.kron(np.eye(2), state.rotation.T) @ lever)
        if name == "wrench_scale":
            return np.asarray(-self.recorded(state, tool)[:, :, None] * state.gain_steps())
        if name == "low_pass":
            step = _LAG_STEP * state.lag
            later, earlier = (
                dataclasses.replace(state, lag=state.lag + sign * step)  # by differences: smooth and one number
                for sign in (1.0, -1.0)
            )
            change = (self.regressor(later) - self.regressor(earlier)) @ phi - self.pull(later) + self.pull(earlier)
            change = change / (2.0 * step)
            return self.recorded(state, change[..., None])
        columns = self._filtered(lambda at: self._motion_slope(name, at, state, phi), state)
        return self.recorded(state, columns)

    def _motion_slope(self, name: str, times: FloatArray, state: CorrectionState, phi: FloatArray) -> FloatArray:
        """(N, 6, k) derivatives of the tool's wrench by what changes the motion or gravity."""
        if self.robot is None:
            raise InputError(f"the {name} of a recording can only be found where it has the joint angles of an arm")
        motion, still = self._at(times, state), np.zeros((times.size, self.robot.num_joints))
        if name == "gravity":
            turns = np.cross(state.tangents().T, state.gravity)  # of gravity, about each tangent
            return np.stack([wrench_regressor(self.robot, motion.q, still, still, g) @ phi for g in turns], axis=2)
        if name == "clock":
            moving = wrench_regressor(self.robot, motion.q, motion.dq, motion.ddq, np.zeros(3))
            return np.asarray(-2.0 * (moving @ phi)[..., None])  # quadratic in one over the clock's factor
        if name == "delay":
            step = 1e-4
            ahead, behind = (
                self._regressor_at(times + sign * step, state) @ phi - self._pull_at(times + sign * step, state)
                for sign in (1.0, -1.0)
            )
            return np.asarray(-((ahead - behind) / (2.0 * step))[..., None])
        if name == "external_force":
            back = np.swapaxes(forward_kinematics(self.robot, motion.q)[:, :3, :3], 1, 2)
            by_force = -np.concatenate([back, skew(state.point) @ back], axis=1)
            by_point = np.concatenate([np.zeros((times.size, 3, 3)), skew(back @ state.force)], axis=1)
            return np.concatenate([by_force, by_point], axis=2)
        slopes = wrench_regressor_derivatives(self.robot, motion.q, motion.dq, motion.ddq, state.gravity)
        columns = np.swapaxes(slopes.by_q @ phi, 1, 2)
        if state.force.any():  # which turns against the tool, too
            turns = forward_kinematics(self.robot, motion.q)[:, :3, :3]
            axes = joint_axes(self.robot, motion.q, "base")
            turned = np.swapaxes(turns, 1, 2) @ np.swapaxes(np.cross(state.force, np.swapaxes(axes, 1, 2)), 1, 2)
            columns[:, :3] -= turned
            columns[:, 3:] -= skew(state.point) @ turned
        return np.asarray(columns)

    def _regressor_at(self, times: FloatArray, state: CorrectionState) -> FloatArray:
        return self._at(times, state).regressor(self.robot, state.gravity)

    def _pull_at(self, times: FloatArray, state: CorrectionState) -> FloatArray:
        found = np.zeros((times.size, 6))
        if self.robot is not None and state.force.any():
            turns = forward_kinematics(self.robot, self._at(times, state).q)[:, :3, :3]
            found[:, :3] = np.einsum("tji,j->ti", turns, state.force)
            found[:, 3:] = np.cross(state.point, found[:, :3])
        return found

    def _filtered(self, rows: Callable[[FloatArray], FloatArray], state: CorrectionState) -> FloatArray:
        times = self.times - state.delay
        return rows(times) if state.lag == 0.0 else low_passed(rows, times, state.lag, self.order)

    def _at(self, times: FloatArray, state: CorrectionState) -> MotionEstimate:
        key = (times.size, float(times[0]))
        if self._last.get("times") != key:
            self._last.update(times=key, motion=self.motion.at(times))
        motion: MotionEstimate = self._last["motion"]
        if self.robot is None:
            return motion
        rate = np.exp(-state.log_clock)
        return dataclasses.replace(
            motion, q=motion.q + state.joint_offset, dq=motion.dq * rate, ddq=motion.ddq * rate**2
        )

    def _gained(self, state: CorrectionState) -> FloatArray:
        """(6, 6) from the sensor's wrench to the recorded one."""
        return np.asarray(np.exp(-state.log_gains)[:, None] * np.linalg.inv(self.known))

    def _to_recorded(self, state: CorrectionState) -> FloatArray:
        back = np.kron(np.eye(2), state.rotation.T)
        lever = np.eye(6)
        lever[3:, :3] = -skew(state.offset)
        return np.asarray(self._gained(state) @ back @ lever)
