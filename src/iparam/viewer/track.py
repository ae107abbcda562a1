"""`Track`: how the arm moves in a plan or moved in a recording, at any time that a slider can stand at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.recording.followers import joint_count, with_followers
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.trajectory.storage import TrajectoryFile

FRAMES_PER_SECOND = 30.0
"""At which a motion is played and its margins are computed."""

MOST_FRAMES = 3000
"""Of one motion: longer ones have fewer frames a second."""

NEAR = 0.05
"""Share of its range that a joint is within of a limit to count as near it; likewise of its largest speed."""

Motion = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Track:
    """A motion of the arm.

    Attributes:
        name: what the page calls it: the file's name.
        robot: the arm.
        duration: [s]; its times are 0 to this.
        motion: q and dq (T, n) at times (T,) within it: exact for a plan, between the samples of a recording linear.
        origin: time of the recording's own clock at 0 [s].
        samples: (F,) times of the frames that margins are known at [s].
    """

    name: str
    robot: Robot
    duration: float
    motion: Motion
    origin: float = 0.0
    samples: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration) and self.duration >= 0.0):
            raise InputError(f"{self.name}: the duration must be a time in s, got {self.duration!r}")
        count = int(np.clip(round(self.duration * FRAMES_PER_SECOND), 1, MOST_FRAMES)) + 1
        object.__setattr__(self, "samples", frozen(np.linspace(0.0, self.duration, count)))

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Q and dq (n,) at a time; beyond its ends those of the end [rad or m, and per s]."""
        q, dq = self.motion(np.array([min(max(time, 0.0), self.duration)]))
        return q[0], dq[0]


def joint_states(robot: Robot, q: FloatArray, dq: FloatArray) -> FloatArray:
    """(..., n) how close each joint is to a limit: 0 far, 1 near, 2 beyond.

    Near is within `NEAR` of the joint's range of one of its ends, or above 1 - `NEAR` of its largest speed.
    """
    limits = robot.limits
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(limits.upper - limits.lower), limits.upper - limits.lower, 0.0)
    room = np.minimum(q - limits.lower, limits.upper - q)
    speed = np.abs(dq) / limits.velocity
    near = (room < NEAR * width) | (speed > 1.0 - NEAR)
    return np.where((room < 0.0) | (speed > 1.0), 2.0, np.where(near, 1.0, 0.0))


def planned_track(plan: TrajectoryFile, robot: Robot, name: str) -> Track:
    """The motion of a plan.

    Raises:
        InputError: the plan is for another number of joints.
    """
    trajectory = plan.trajectory
    if trajectory.num_joints != robot.num_joints:
        raise InputError(f"{name} moves {trajectory.num_joints} joints, {robot.name} has {robot.num_joints}")

    def motion(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = trajectory.evaluate(times)
        return found.q, found.dq

    return Track(name, robot, trajectory.duration, motion)


def recorded_track(recording: Recording, robot: Robot, name: str) -> Track:
    """The motion of a recording, on the clock of its joint angles.

    Raises:
        InputError: it has no joint angles, or those of another number of joints.
    """
    if not recording.has("q"):
        raise InputError(argument=name, problem="has no joint angles (q): there is no motion to show")
    recording = with_followers(recording, robot)
    signal = recording.signal("q")
    if signal.width != robot.num_joints:
        raise InputError(argument=name, problem=f"has the angles of {signal.width} joints, and {joint_count(robot)}")
    clock = signal.time - signal.time[0]
    if recording.has("dq") and recording.signal("dq").width == signal.width:
        speeds = recording.signal("dq")
        speed_clock, speed = speeds.time - signal.time[0], speeds.values
    elif clock.size > 1:  # over a tenth of a second, or noise would be taken for speed
        stride = max(1, round(0.1 * signal.rate))
        speed_clock = 0.5 * (clock[stride:] + clock[:-stride])
        speed = (signal.values[stride:] - signal.values[:-stride]) / (clock[stride:] - clock[:-stride])[:, None]
    else:
        speed_clock, speed = clock, np.zeros_like(signal.values)

    def motion(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        return interpolated(times, clock, signal.values), interpolated(times, speed_clock, speed)

    return Track(name, robot, float(clock[-1]), motion, float(signal.time[0]))


def standing_track(robot: Robot, pose: FloatArray | None = None) -> Track:
    """An arm that stands still in a pose (n,); by default all joints are as near to zero as their range allows."""
    zero = np.clip(np.zeros(robot.num_joints), robot.limits.lower, robot.limits.upper)
    q = zero if pose is None else pose

    def motion(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.tile(q, (len(times), 1)), np.zeros((len(times), len(q)))

    return Track(robot.name, robot, 0.0, motion)


def interpolated(times: FloatArray, clock: FloatArray, values: FloatArray) -> FloatArray:
    """(T, k) between the samples ``values`` (N, k) at ``clock`` (N,); beyond its ends those of the end."""
    return np.column_stack([np.interp(times, clock, column) for column in values.T])
