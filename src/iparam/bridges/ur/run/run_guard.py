"""`RunGuard`: looks at every state of a moving arm and says when the motion has to end; and whether a controller is
ready for a motion, and is the arm that the motion was planned for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.controller_state import (
    MOVING_STATES,
    PROTECTIVE_STOP,
    REDUCED,
    RUNNING,
    ControllerSample,
    robot_mode_name,
    safety_name,
)
from iparam.errors import InputError, IparamError
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.spatial.transforms import exp_so3, inverse_transform, transform_from

LONGEST_SILENCE = 2.0
"""That may be allowed [s]: for so long an arm would go on when nobody watches it."""

SHORTEST_SILENCE = 0.1
"""That is asked of a connection [s]: 50 packages of an e-Series controller, 12 of an older one."""


class RunStoppedError(IparamError):
    """A motion was stopped; the message gives the reason."""


@dataclass(frozen=True)
class GuardLimits:
    """When to stop.

    Attributes:
        deviation: largest distance of a joint from where it is expected [rad].
        silence: longest time without data from the controller, and for which anybody in the chain of those who watch
            the arm may be away [s]; see `commander`.
        lag: by how much an arm may trail its set points [s].
    """

    deviation: float = 0.05
    silence: float = SHORTEST_SILENCE
    lag: float = 0.3

    def __post_init__(self) -> None:
        for name, unit in (("deviation", "rad"), ("silence", "s"), ("lag", "s")):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InputError(argument=f"max_{name}", value=getattr(self, name), expected=f"positive [{unit}]")
        if self.silence > LONGEST_SILENCE:
            raise InputError(
                f"the silence may be {LONGEST_SILENCE:g} s at most, got {self.silence:g} s: for so long the arm would "
                "go on when nobody watches it",
                argument="max_silence",
                value=self.silence,
            )


class Expected(Protocol):
    """Where an arm ought to be."""

    def deviation(self, q: FloatArray) -> FloatArray:
        """(6,) distance of each joint from it [rad]."""


@dataclass(frozen=True, eq=False)
class OnLine:
    """Anywhere on the straight line between two poses (6,) [rad]; in one pose if both are the same."""

    start: FloatArray
    end: FloatArray

    def deviation(self, q: FloatArray) -> FloatArray:
        """See `Expected`."""
        way = self.end - self.start
        length = float(way @ way)
        share = float(np.clip((q - self.start) @ way / length, 0.0, 1.0)) if length > 0.0 else 0.0
        return np.abs(q - self.start - share * way)


@dataclass(frozen=True, eq=False)
class OnTable:
    """Near one of the set points that an arm may be following at a time.

    Attributes:
        table: (T, 6) all set points [rad].
        first, last: of those in question.
    """

    table: FloatArray
    first: int
    last: int

    def deviation(self, q: FloatArray) -> FloatArray:
        """See `Expected`; that of the nearest set point."""
        count = len(self.table)
        first = min(max(self.first, 0), count - 1)
        distances = np.abs(self.table[first : min(max(self.last, first), count - 1) + 1] - q)
        return np.asarray(distances[np.argmin(distances.max(axis=1))])


@dataclass(frozen=True)
class RunGuard:
    """Checks one state at a time.

    Attributes:
        limits: when to stop.
        joint_names: six, for messages.
    """

    limits: GuardLimits
    joint_names: tuple[str, ...]

    def check(self, sample: ControllerSample, expected: Expected, silence: float, connected: bool) -> None:
        """Raise `RunStoppedError` if the motion has to end.

        Args:
            sample: the controller's latest package.
            expected: where the arm ought to be.
            silence: time since that package came [s].
            connected: whether there is a connection to the controller.
        """
        if sample.safety not in MOVING_STATES:
            raise RunStoppedError(f"the controller reports: {safety_name(sample.safety)}")
        if sample.robot_mode != RUNNING:
            raise RunStoppedError(f"the arm is {robot_mode_name(sample.robot_mode)}")
        if not connected:
            raise RunStoppedError("the connection to the controller was lost")
        if silence > self.limits.silence:
            raise RunStoppedError(
                f"no data from the controller for {1e3 * silence:.0f} ms; the limit is {1e3 * self.limits.silence:.0f} "
                "ms",
                argument="max_silence",
            )
        deviation = expected.deviation(sample.q)
        joint = int(np.argmax(deviation))
        if not deviation[joint] <= self.limits.deviation:
            raise RunStoppedError(
                f"{self.joint_names[joint]} is {deviation[joint]:.3g} rad from where it should be; the limit is "
                f"{self.limits.deviation:g} rad",
                argument="max_deviation",
            )


SAME_ARM = 0.02
"""Distance of the flange between model and controller up to which they are one model [m]: arms are calibrated."""

FULL_SPEED = 0.99
"""Position of the speed slider from which on it is all the way up."""


def check_ready(sample: ControllerSample, speed_stated: bool = False) -> None:
    """Refuse an arm that cannot move, or not at the speed of the plan.

    Args:
        sample: of the controller.
        speed_stated: whether the user said what the controller's safety configuration allows now.
    """
    if sample.safety == PROTECTIVE_STOP:
        raise RunStoppedError(
            "the controller reports: protective stop. Find the reason and remove it; then unlock it on the teach "
            "pendant (Enable Robot), or start this command on a terminal and confirm yourself, which offers to do it"
        )
    if sample.safety not in MOVING_STATES:
        raise RunStoppedError(
            f"the controller reports: {safety_name(sample.safety)}. Find the reason, clear it on the teach pendant and "
            "try again"
        )
    if sample.safety == REDUCED and not speed_stated:
        raise RunStoppedError(
            "the controller is in reduced mode, and does not tell its limits: leave that mode, or state the tool speed "
            "that it allows, less 0.15 m/s",
            argument="max_speed",
        )
    if sample.robot_mode != RUNNING:
        raise RunStoppedError(
            f"the arm is {robot_mode_name(sample.robot_mode)}: switch it on and release the brakes on the teach pendant"
        )
    fraction = sample.field("target_speed_fraction")
    if fraction is not None and fraction[0] < FULL_SPEED:
        raise RunStoppedError(
            f"the speed slider is at {100.0 * fraction[0]:.0f} %, which would distort the motion: set it to 100 %; for "
            "a slower motion lower speed_scale, for a smaller one amplitude"
        )


def check_model(
    sample: ControllerSample, robot: Robot, name_on_dashboard: str | None, what: str = "the motion is for a"
) -> str:
    """Refuse a plan for another arm; return a sentence on what could be checked.

    Args:
        sample: of the controller.
        robot: that the motion was planned for.
        name_on_dashboard: the arm's catalogue name if the controller says it.
        what: is said of the robot, for messages.
    """
    if name_on_dashboard is not None and robot.name.startswith("ur") and robot.name != name_on_dashboard:
        raise RunStoppedError(f"{what} {robot.name}, but the controller's arm is a {name_on_dashboard}")
    pose, offset = sample.field("actual_TCP_pose"), sample.field("tcp_offset")
    if pose is None or offset is None:
        return "by its name" if name_on_dashboard is not None else "not checked: the controller does not tell"
    tool, tip = (transform_from(exp_so3(vector[3:]), vector[:3]) for vector in (pose, offset))
    flange = (tool @ inverse_transform(tip))[:3, 3]
    distance = float(np.linalg.norm(flange - forward_kinematics(robot, sample.q)[:3, 3]))
    if not distance <= SAME_ARM:
        raise RunStoppedError(
            f"the controller has the flange {1e3 * distance:.0f} mm from where {robot.name} would have it: this is "
            "another arm"
        )
    return f"flange within {1e3 * distance:.1f} mm of the controller's"
