"""`ExaminedRun`: a run as hypotheses about it are fitted to it, reduced to means over short times."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iparam.arrays import FloatArray, block_means
from iparam.estimation.payload.problem_from_recording import PreparedRun
from iparam.motion.motion import MotionEstimate
from iparam.recording.noise_level import noise_beside, white_noise_level
from iparam.regressor.wrench import body_regressor
from iparam.robot.kinematics import tool_motion
from iparam.robot.model import Robot

MOST_MEANS = 1500
"""Means that a run is reduced to, at most."""

LONGEST_MEAN = 0.02
"""Time that a mean is taken over, at most [s]: a fifth of a period of the fastest motion of an arm, 10 Hz. Of a long
run, every so many means are looked at."""

FEWEST_MEANS = 20
"""Means below which nothing can be said about a run: with load and bias, a mistake has no data left to show in."""

LEAST_MEANS = 60
"""Means below which the sensor's noise is not to be told from mistakes: it is taken to be all that a load leaves."""

MOVING = 0.05
"""Speed of the fastest joint, in the largest of the run, below which the arm rests: a motion starts and ends slowly."""

REST = 2.0
"""Time of a rest before and after the motion that is looked at [s]: what a low-pass or a delay leaves is over."""

DAMPING = 1e-12
"""Share of a column's squares that keeps columns without motion from having any coefficient."""

EXACT = 1e-3
"""Noise, as a share of the changes of the force and of the torque, below which a sensor is not believed to be."""


@dataclass(frozen=True, eq=False)
class ToolPath:
    """How the sensor's frame moved, in its own axes (N, 3) unless it says otherwise.

    Attributes:
        rotation: (N, 3, 3) of the sensor in the base, or in the world.
        position: (N, 3) of its origin in base axes [m]; None where no arm is known.
        angular_velocity, angular_acceleration: [rad/s, rad/s^2].
        acceleration: of its origin, without gravity [m/s^2].
    """

    rotation: FloatArray
    position: FloatArray | None
    angular_velocity: FloatArray
    angular_acceleration: FloatArray
    acceleration: FloatArray

    def regressor(self, gravity: FloatArray, rate: float = 1.0) -> FloatArray:
        """(N, 6, 10) with gravity (3,) in base axes, of the same motion run through ``rate`` times as fast."""
        pull = rate**2 * self.acceleration - self.in_tool(gravity)
        return body_regressor(rate * self.angular_velocity, rate**2 * self.angular_acceleration, pull)

    def in_tool(self, vector: FloatArray) -> FloatArray:
        """(N, 3) a vector (3,) of the base in the sensor's axes."""
        return np.asarray(np.einsum("nji,j->ni", self.rotation, vector))


@dataclass(frozen=True, eq=False)
class ExaminedRun:
    """A run reduced to N means.

    Attributes:
        run: all of it.
        time: (N,) middles [s].
        A: (N, 6, 10) means of the regressors.
        y: (N, 6) means of the wrench [N, N m].
        noise: (6,) standard deviation of a mean's noise, as the sensor shows it beyond the band of the load's wrench.
        size: samples in a mean.
        used: (N, 6) 0 for components of means that say nothing, 1 elsewhere; None where all count.
    """

    run: PreparedRun
    time: FloatArray
    A: FloatArray
    y: FloatArray
    noise: FloatArray
    size: int
    used: FloatArray | None = None

    @property
    def robot(self) -> Robot | None:
        """The arm."""
        return self.run.robot

    @property
    def gravity(self) -> FloatArray:
        """(3,) in base axes [m/s^2]."""
        return self.run.gravity

    @property
    def content(self) -> tuple[bytes, ...]:
        """The same for runs of the same arm that hypotheses cannot tell apart."""
        arrays = (self.time, self.A, self.y, self.noise, self.gravity, self.used)
        return (b"bias" * self.bias, *(b"" if array is None else array.tobytes() for array in arrays))

    @property
    def bias(self) -> bool:
        """Whether the sensor has a bias that is estimated."""
        return self.run.problem.bias

    def rows(self, chosen: slice) -> ExaminedRun:
        """Some of the means."""
        part = ExaminedRun(
            self.run,
            self.time[chosen],
            self.A[chosen],
            self.y[chosen],
            self.noise,
            self.size,
            _some(self.used, chosen),
        )
        path, motion = self.path, self.motion
        thin = dataclasses.replace(
            motion,
            time=motion.time[chosen],
            q=motion.q[chosen],
            dq=motion.dq[chosen],
            ddq=motion.ddq[chosen],
            covariance=None,
            covariance_time=None,
            linear_acceleration_minus_gravity=_some(motion.linear_acceleration_minus_gravity, chosen),
            orientation=_some(motion.orientation, chosen),
        )
        shorter = ToolPath(
            path.rotation[chosen],
            None if path.position is None else path.position[chosen],
            path.angular_velocity[chosen],
            path.angular_acceleration[chosen],
            path.acceleration[chosen],
        )
        # What is worked out once is not worked out again.
        part.__dict__.update(
            motion=thin, path=shorter, nominal=self.nominal[chosen], of_gravity=self.of_gravity[chosen]
        )
        return part

    def coarser(self, most: int) -> ExaminedRun:
        """The same reduced to at most so many means, over an odd number of those that it has. Those of a long run stay
        as they are: they are apart, and a mean over whole turns of the load would show none.
        """
        times = -(-len(self.time) // most)
        apart = float(np.median(np.diff(self.time))) / float(np.median(np.diff(self.run.problem.time)))
        if times <= 1 or apart > 1.5 * self.size:
            return self
        times += 1 - times % 2
        count = len(self.time) // times
        part = self.rows(slice(times // 2, count * times, times))
        A, y = (block_means(values, times) for values in (self.A, self.y))
        used = None if self.used is None else np.floor(block_means(self.used, times) + 1e-9)
        return part._with(A, y, self.noise / np.sqrt(times), self.size * times, used)

    def _with(self, A: FloatArray, y: FloatArray, noise: FloatArray, size: int, used: FloatArray | None) -> ExaminedRun:
        """The same motion with other means."""
        other = ExaminedRun(self.run, self.time, A, y, noise, size, used)
        known = {name: self.__dict__[name] for name in ("motion", "path", "nominal", "of_gravity")}
        other.__dict__.update(known)
        return other

    @cached_property
    def motion(self) -> MotionEstimate:
        """At the times that the wrench belongs to."""
        return self.run.aligned.motion.at(self.time - self.run.aligned.delay)

    @cached_property
    def path(self) -> ToolPath:
        """Of the tool, or of a sensor without an arm."""
        motion, robot = self.motion, self.robot
        if robot is None:
            turned = motion.orientation
            if turned is None:
                raise ValueError("a motion without an arm has an orientation")
            path = ToolPath(turned, None, motion.dq, motion.ddq, np.zeros((motion.num_samples, 3)))
        else:
            path = path_of(robot, motion.q, motion.dq, motion.ddq)
        measured = motion.linear_acceleration_minus_gravity
        if measured is None:
            return path
        own = measured + path.in_tool(self.gravity)
        return ToolPath(path.rotation, path.position, path.angular_velocity, path.angular_acceleration, own)

    @cached_property
    def nominal(self) -> FloatArray:
        """(N, 6, 10) regressors at the middles."""
        return self.path.regressor(self.gravity)

    def of_path(self, path: ToolPath, gravity: FloatArray | None = None) -> FloatArray:
        """(N, 6, 10) means of the regressors, had the tool moved like that: those of the run and what differs."""
        return np.asarray(self.A + (path.regressor(self.gravity if gravity is None else gravity) - self.nominal))

    @cached_property
    def of_gravity(self) -> FloatArray:
        """(N, 6, 10) the part of the regressors that is gravity's."""
        return gravity_regressor(self.path, self.gravity)


def _some(values: FloatArray | None, chosen: slice) -> FloatArray | None:
    return None if values is None else values[chosen]


def gravity_regressor(path: ToolPath, gravity: FloatArray) -> FloatArray:
    """(N, 6, 10) of a load that hangs at rest wherever the tool is."""
    still = np.zeros_like(path.acceleration)
    return body_regressor(still, still, -path.in_tool(gravity))


def path_of(robot: Robot, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> ToolPath:
    """The path of an arm's tool for joint motions (N, n)."""
    moved = tool_motion(robot, q, dq, ddq)
    return ToolPath(
        moved.pose[:, :3, :3],
        moved.pose[:, :3, 3],
        moved.angular_velocity,
        moved.angular_acceleration,
        moved.linear_acceleration,
    )


def examine(run: PreparedRun) -> ExaminedRun | None:
    """Reduce a run to means; None if it is too short, or if its motion is not known well enough, to say anything."""
    problem = run.problem
    step = float(np.median(np.diff(problem.time))) if problem.num_samples > 1 else 0.0
    if step <= 0.0 or run.aligned.motion.quasi_static:
        return None
    size = max(1, min(-(-problem.num_samples // MOST_MEANS), int(LONGEST_MEAN / step + 0.01)))
    time, A, y = (block_means(values, size) for values in (problem.time, problem.A, problem.y))
    if len(time) < FEWEST_MEANS:
        return None
    if len(time) < LEAST_MEANS:
        level = _left_by_load(A, y, problem.bias)
    else:
        load = _linear_in_motion(A, y)
        residual = y - load
        spectral = noise_beside(residual, load)
        level = white_noise_level(residual) if spectral is None else spectral.in_band
    changes = y.std(axis=0)
    least = EXACT * np.repeat([np.sqrt(np.mean(changes[:3] ** 2)), np.sqrt(np.mean(changes[3:] ** 2))], 3)
    first, last = _moving_part(run, time)
    rows = slice(first, last, -(-(last - first) // MOST_MEANS))
    noise = np.maximum(level, np.maximum(least, 1e-12))
    used = None
    if problem.missing is not None:
        used = np.floor(block_means((~problem.missing).astype(np.float64), size) + 1e-9)[rows]
    return ExaminedRun(run, time[rows], A[rows], y[rows], noise, size, used)


def _moving_part(run: PreparedRun, time: FloatArray) -> tuple[int, int]:
    """The first of the means (N,) that are looked at, and the one behind the last: of a long run those of the motion,
    as the rests before and after it would take their places.
    """
    if len(time) <= MOST_MEANS:
        return 0, len(time)
    motion = run.aligned.motion
    speed = np.abs(motion.dq).max(axis=1)
    moving = motion.time[speed > MOVING * speed.max()] + run.aligned.delay
    first, last = np.searchsorted(time, [moving[0] - REST, moving[-1] + REST])
    return (int(first), int(last)) if last - first >= LEAST_MEANS else (0, len(time))


def _left_by_load(A: FloatArray, y: FloatArray, bias: bool) -> FloatArray:
    """(6,) root mean squares of what a load, and a bias, leave of wrenches (N, 6), all channels weighed alike."""
    weights = 1.0 / np.maximum(y.std(axis=0), 1e-12)
    design = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2) if bias else A
    rows = (design * weights[:, None]).reshape(-1, design.shape[2])
    found = np.linalg.lstsq(rows, (y * weights).ravel(), rcond=None)[0]
    freedom = max(len(A) - design.shape[2] / 6.0, 1.0)
    return np.asarray(np.sqrt(np.sum((y - design @ found) ** 2, axis=0) / freedom))


def _linear_in_motion(A: FloatArray, y: FloatArray) -> FloatArray:
    """(N, 6) what of wrenches (N, 6) any load on any linear sensor could explain.

    Whatever the load, and the rotation, place, gains and crosstalk of the sensor, the wrench is linear in the linear
    acceleration less gravity, the angular acceleration, and the products of the angular velocity.
    """
    features = np.concatenate([A[:, :3, 0], A[:, :3, 1:4].reshape(len(A), 9)], axis=1)
    design = np.column_stack([np.ones(len(A)), features])
    scale = np.sqrt(np.mean(design**2, axis=0))
    design /= np.where(scale > 0.0, scale, 1.0)
    # Normal equations: thirteen columns by reflections cost a library's threads more time to wait than to work.
    gram = design.T @ design + DAMPING * len(A) * np.eye(design.shape[1])
    return np.asarray(design @ np.linalg.solve(gram, design.T @ y))
