"""`PlaybackPlan`: a planned motion, checked, as an arm's controller is to play it; and the pose to stop in."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.bridges.arm_sight import AT_REST
from iparam.errors import InputError, IparamError
from iparam.excitation.constraints.validation import validate
from iparam.excitation.setup import planning_problem
from iparam.remarks import Remark, remark
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import load_cell
from iparam.robot.gravity import agreed_gravity
from iparam.robot.loading import load_stated_robot, stated_name
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_angles
from iparam.robot.same_arm import compare_with_stated
from iparam.sensing.sensor_frame import same_place
from iparam.trajectory import (
    JerkLimitedTrajectory,
    PlanConditions,
    QuinticSpline,
    Trajectory,
    TrajectorySamples,
    load_trajectory,
)
from iparam.trajectory.trajectory import ScaledMotion

NEAR = 1e-3
"""Distance of a joint from the start pose at which the arm is there [rad]."""

SOFT = 0.5
"""Acceleration of the fastest joint on the way to the start [rad/s^2]."""

WAY_RATE = 50.0
"""Points a second of the way to the start [Hz]."""

# Of a quintic from rest to rest over a distance d in a time T: top speed by d / T, top acceleration by d / T^2.
_TOP_SPEED, _TOP_ACCELERATION = 1.875, 10.0 / 3.0**0.5


@dataclass(frozen=True)
class PlaybackSettings:
    """What to play, and what it has to keep. See `iparam excite check` for the limits.

    Attributes:
        trajectory: file.
        robot: name or path of the arm; "" for the one in the file.
        tip: tool frame; "" for the file's, or the robot's own.
        rate: points a second; 0 for the file's [Hz].
        scale: share of the amplitude, e.g. 0.2 for a first try.
        blend: time in which it starts from rest and comes to rest, see `JerkLimitedTrajectory` [s]; 0 for as it is.
        payload_size: (3,) of the box around the payload [m]; zeros for the one that the trajectory was planned with.
        payload_mass: at most [kg]; 0 for the planned one.
        cell: file; "" for the planned one, or the ground at z = 0.
        limit_fraction: share of the limits that may be used; 0 for the planned one, or 1.
        max_displacement: of the tool from its start [m]; 0 for the planned one, or no limit.
        gravity: (3,) in base axes [m/s^2]; zeros for the file's, or 9.81 downwards.
    """

    trajectory: str
    robot: str = ""
    tip: str = ""
    rate: float = 0.0
    scale: float = 1.0
    blend: float = 0.0
    payload_size: tuple[float, ...] = (0.0, 0.0, 0.0)
    payload_mass: float = 0.0
    cell: str = ""
    limit_fraction: float = 0.0
    max_displacement: float = 0.0
    gravity: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class PlaybackPlan:
    """A motion that has passed the check.

    Attributes:
        robot: the arm.
        trajectory: the motion, at the amplitude to play.
        points: samples of it, the end included.
        conditions: that it was checked with.
        gravity: (3,) in base axes [m/s^2].
        remarks: what whoever plays it should know.
    """

    robot: Robot
    trajectory: Trajectory
    points: TrajectorySamples
    conditions: PlanConditions
    gravity: FloatArray
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def load(cls, settings: PlaybackSettings) -> PlaybackPlan:
        """Read, scale and check.

        Raises:
            IparamError: if the file cannot be read, or the motion does not keep every limit.
        """
        if not settings.trajectory:
            raise InputError("no trajectory: set the parameter trajectory to a file from 'iparam excite optimize'")
        planned = load_trajectory(os.path.expanduser(settings.trajectory))
        if not (settings.robot or planned.robot):
            raise InputError(f"{settings.trajectory} does not say which robot it belongs to: set the parameter robot")
        name = settings.robot or stated_name(planned.robot or "", settings.trajectory)
        robot = load_stated_robot(name, planned.arm, settings.tip or None)
        if planned.trajectory.num_joints != robot.num_joints:
            raise InputError(
                f"{settings.trajectory} moves {planned.trajectory.num_joints} joints, {robot.name} has "
                f"{robot.num_joints}: set the parameter robot to its own"
            )
        asked = planned.trajectory
        if settings.blend:
            asked = JerkLimitedTrajectory(asked, settings.blend)
        motion = ScaledMotion(asked, settings.scale)
        check_angles(planned.trajectory.evaluate(0.0).q[0], robot, settings.trajectory)
        given = as_float_array(settings.gravity, "gravity", (3,))
        gravity = agreed_gravity(given if given.any() else None, planned.gravity, settings.trajectory)
        conditions = _conditions(settings, planned.conditions)
        pull = np.asarray(STANDARD_GRAVITY if gravity is None else gravity, dtype=float)
        _check(motion, robot, f"{settings.trajectory} is not valid and is not played", conditions, pull)
        arm = compare_with_stated(planned.robot or "", robot, settings.robot, settings.trajectory)
        remarks = [arm.remark] if arm.same is False and arm.remark is not None else []
        if planned.conditions is None and conditions.payload is None:
            remarks.append(remark("payload-size-unstated", path=settings.trajectory))
        elif planned.conditions is not None:
            remarks.append(remark("checked-with", path=settings.trajectory, conditions=str(conditions)))
        if not any(settings.payload_size) and conditions.payload is not None:
            _require_frame(planned.tool_frame or "", robot, settings.trajectory)
        points = _points(motion, settings.rate or planned.fps)
        return cls(robot, motion, points, conditions, pull, tuple(remarks))

    def way_to_start(self, q: ArrayLike, speed: float) -> TrajectorySamples | None:
        """A straight line in joint space from q (n,) to the start pose, checked like the motion; None if it is there.

        Args:
            q: where the arm stands [rad].
            speed: of the fastest joint [rad/s].

        Raises:
            IparamError: the line does not keep every limit, or meets something.
        """
        present, start = as_float_array(q, "q", (self.robot.num_joints,)), self.points.q[0]
        distance = float(np.abs(start - present).max())
        if distance < NEAR:
            return None
        duration = max(_TOP_SPEED * distance / speed, float(np.sqrt(_TOP_ACCELERATION * distance / SOFT)))
        way = QuinticSpline(np.array([0.0, duration]), np.stack([present, start]))
        # Displacements count from the start, and the way only leads there.
        free = replace(self.conditions, limits=replace(self.conditions.limits, displacement=None), preset="")
        what = f"the way to the start, a straight line of {duration:.1f} s in joint space, is not taken"
        _check(way, self.robot, what, free, self.gravity)
        return _points(way, WAY_RATE)

    def why_not(self, q: ArrayLike, dq: ArrayLike | None, tolerance: float) -> str | None:
        """Why an arm must not start the motion now, in a sentence; None if it may.

        Args:
            q: (n,) where it is [rad].
            dq: (n,) how fast [rad/s]; None if unknown.
            tolerance: to the start pose, for each joint [rad].
        """
        names = self.robot.joint_names
        away = np.abs(as_float_array(q, "q", (self.robot.num_joints,)) - self.points.q[0])
        worst = int(np.argmax(away))
        if away[worst] > tolerance:
            return (
                f"{names[worst]} is {away[worst]:.4g} rad from the start pose, more than {tolerance:g} rad: move the "
                f"arm to {np.round(self.points.q[0], 4).tolist()} first"
            )
        return self.why_not_at_rest(dq)

    def why_not_at_rest(self, dq: ArrayLike | None) -> str | None:
        """Why an arm that moves at dq (n,) [rad/s], None if unknown, does not stand still; None if it does."""
        if dq is not None:
            speed = np.abs(as_float_array(dq, "dq", (self.robot.num_joints,)))
            fastest = int(np.argmax(speed))
            if speed[fastest] > AT_REST:
                name = self.robot.joint_names[fastest]
                return f"{name} moves at {speed[fastest]:.4g} rad/s: let the arm come to rest first"
        return None


def stopping_pose(robot: Robot, q: FloatArray, dq: FloatArray | None, stop_time: float) -> FloatArray:
    """The pose (n,) in which an arm at q, moving at dq, comes to rest if it slows down evenly in ``stop_time`` [s]."""
    moved = q if dq is None else q + 0.5 * stop_time * dq
    return np.clip(moved, np.minimum(robot.limits.lower, q), np.maximum(robot.limits.upper, q))


def _conditions(settings: PlaybackSettings, planned: PlanConditions | None) -> PlanConditions:
    """What the parameters say, else what the file says."""
    size = as_float_array(settings.payload_size, "payload_size")
    if size.shape != (3,) or (size < 0.0).any() or 0 < np.count_nonzero(size) < 3:
        raise InputError(argument="payload_size", value=size, expected="three lengths in m, or three zeros")
    return (PlanConditions.unstated() if planned is None else planned).changed(
        payload_size=size if size.any() else None,
        payload_mass=settings.payload_mass or None,
        cell=load_cell(os.path.expanduser(settings.cell)) if settings.cell else None,
        fraction=settings.limit_fraction or None,
        displacement=settings.max_displacement or None,
    )


def _require_frame(frame: str, robot: Robot, source: str) -> None:
    if not same_place(frame, robot):
        raise InputError(
            f"{source} was planned with the tool frame {frame!r}, in which its payload is given, and that of "
            f"{robot.name} is {robot.tool_frame!r}: set the parameter tip to it, or payload_size"
        )


def _check(motion: Trajectory, robot: Robot, what: str, conditions: PlanConditions, gravity: ArrayLike) -> None:
    problem = planning_problem(robot, q0=motion.evaluate(0.0).q[0], conditions=conditions, gravity=gravity)
    result = validate(motion, problem.constraints)
    if not result.satisfied:
        raise IparamError(f"{what}: {'; '.join(result.violations)}")


def _points(motion: Trajectory, rate: float) -> TrajectorySamples:
    """Samples at ``rate`` and the end itself, so that the arm is brought to rest."""
    points = motion.sample(rate)
    if points.time[-1] >= motion.duration * (1.0 - 1e-9):
        return points
    return motion.evaluate(np.append(points.time, motion.duration))
