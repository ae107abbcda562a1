"""`LiveArm`: a simulated arm that goes on for as long as it is asked to, and is given its motions while it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.sensing.noise import NoiseModel, NoiseStream, SensorNoise
from iparam.simulation.mujoco.simulator import MujocoScene
from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

SIGNALS = ("q", "dq", "tau", "wrench")


@dataclass(frozen=True, eq=False)
class Measured:
    """What a sensor said in a part of a run.

    Attributes:
        time: (T,) stamps since the arm began [s]; T may be 0.
        values: (T, k).
    """

    time: FloatArray
    values: FloatArray


class LiveArm:
    """An arm with its payload in MuJoCo that holds a pose, or follows a motion, and whose sensors are read.

    Args:
        scene: of the arm, ready to move; all of its sensors have the rate of its joints.
        pose: (n,) in which it begins, at rest [rad].
        noise: of its sensors.
        seed: of the noise.
    """

    def __init__(self, scene: MujocoScene, pose: FloatArray, noise: NoiseModel, seed: int = 0) -> None:
        settings = scene.simulator
        self.rate = settings.rates.joints
        self._scene, self._physics_rate = scene, settings.physics_rate
        self._streams = {name: NoiseStream(noise.sensors.get(name, SensorNoise()), name, seed) for name in SIGNALS}
        self._delays = {name: noise.sensors[name].delay if name in noise.sensors else 0.0 for name in SIGNALS}
        self._pose, self._begin = np.array(pose), 0
        self._motion: Trajectory | None = None
        self._step = -round(settings.settle_time * settings.physics_rate)
        self._physics = scene.physics(0)
        self._physics.place(self._pose)
        while self._step < 0:
            self._follow(min(-self._step, 1000), None)

    @property
    def time(self) -> float:
        """Up to which the arm has moved [s]."""
        return self._step / self._physics_rate

    @property
    def moving(self) -> bool:
        """Whether it has not reached the end of its motion."""
        return self._motion is not None

    @property
    def set_point(self) -> TrajectorySamples:
        """Where it is to be now, one sample."""
        return self._goal(np.array([self._step]))

    def play(self, motion: Trajectory) -> None:
        """Follow a motion from now on, and hold its end.

        Raises:
            InputError: it has another number of joints.
        """
        if motion.num_joints != self._pose.size:
            raise InputError(f"the motion is of {motion.num_joints} joints, the arm has {self._pose.size}")
        self._motion, self._begin = motion, self._step

    def advance(self, samples: int) -> tuple[Measured, Measured]:
        """Move on by a number of samples.

        Returns:
            Positions, velocities and torques of the joints (T, 3 n), and the wrench (T, 6) in tool axes.

        Raises:
            SimulationError: the arm hit something, or could not follow.
        """
        ratio = self._physics_rate / self.rate
        first = round(self._step / ratio)
        steps = np.floor((first + np.arange(samples + 1)) * ratio + 0.5).astype(np.int64)
        wanted = np.zeros(steps[-1] - self._step, dtype=bool)
        wanted[steps[:-1] - self._step] = True
        log = self._physics.start_log(samples)
        time = steps[:-1] / self._physics_rate
        self._follow(wanted.size, wanted)
        true = {"q": log.q, "dq": log.dq, "tau": log.tau, "wrench": log.sensors[:, :6]}
        found = {name: self._streams[name].measure(time, true[name]) for name in SIGNALS}
        (q, kept), (wrench, arrived) = found["q"], found["wrench"]  # a state that is lost is lost as a whole
        states = np.hstack([q, found["dq"][0], found["tau"][0]])
        return (
            Measured(time[kept] + self._delays["q"], states[kept]),
            Measured(time[arrived] + self._delays["wrench"], wrench[arrived]),
        )

    def _follow(self, count: int, wanted: NDArray[np.bool_] | None) -> None:
        scene, goal = self._scene, self._goal(self._step + np.arange(count))
        forward, weight = scene.plan(goal)
        (q,) = self._physics.follow(goal, forward[None], weight[None], wanted)
        scene.check_followed(goal, q)
        self._step += count
        if self._motion is not None and self._step - self._begin > self._motion.duration * self._physics_rate:
            self._pose, self._motion = self._motion.evaluate(self._motion.duration).q[0], None

    def _goal(self, steps: NDArray[np.int64]) -> TrajectorySamples:
        """The set points at some steps of the physics; beyond the end of a motion the arm stands still."""
        motion, time = self._motion, steps / self._physics_rate
        if motion is None:
            still = np.zeros((steps.size, self._pose.size))
            return TrajectorySamples(time, still + self._pose, still, still, still)
        since = (steps - self._begin) / self._physics_rate
        found = motion.evaluate(np.minimum(since, motion.duration))
        runs = (since <= motion.duration)[:, None]
        return TrajectorySamples(time, found.q, found.dq * runs, found.ddq * runs, found.jerk * runs)
