"""`LiveCompensation`: a known load out of a wrench while the arm moves; the compensation node but its messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.bridges.physical_bounds import Impossible, PhysicalBounds
from iparam.bridges.ros2.joint_motion_filter import JointMotionFilter
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.errors import UnknownNameError
from iparam.motion.motion import MotionSample
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot
from iparam.sensing.offset import resting_regressor

Mode = Literal["static", "full"]


@dataclass(frozen=True, eq=False)
class CompensatedWrench:
    """What is left of a wrench.

    Attributes:
        stamp: of the wrench [ns].
        wrench: (6,) [force, torque] in the tool frame [N, N m].
    """

    stamp: int
    wrench: FloatArray


class LiveCompensation:
    """Subtracts the load's weight, and in mode "full" its inertial forces, and the sensor's bias.

    Args:
        robot: the arm.
        mode: "static" takes the weight out, "full" also what the load's motion takes.
        motion: filter that gives velocities and accelerations; in mode "full", and only there, it is used.
        gravity: (3,) in base axes [m/s^2].
        zero_pose: (n,) where the sensor was zeroed with the load on it; None if it was not [rad].

    Attributes:
        settling: samples of which the motion was not known yet; their inertial forces were not taken out.
        without_load: samples before the load was known.
        withheld: samples that no arm with that load can have brought about.
        impossible: why the latest of these was withheld.
    """

    def __init__(
        self,
        robot: Robot,
        mode: Mode = "full",
        *,
        matcher: SampleMatcher | None = None,
        motion: JointMotionFilter | None = None,
        gravity: ArrayLike = STANDARD_GRAVITY,
        zero_pose: ArrayLike | None = None,
    ) -> None:
        if mode not in ("static", "full"):
            raise UnknownNameError("mode of compensation", mode, ("static", "full"))
        self.matcher = SampleMatcher() if matcher is None else matcher
        self._robot, self._mode, self._gravity = robot, mode, gravity
        self._motion = JointMotionFilter(robot.num_joints) if motion is None else motion
        self._bounds = PhysicalBounds(robot, gravity, self._motion.bandwidth)
        self._offset = np.zeros((6, 10))
        if zero_pose is not None:
            pose = as_float_array(zero_pose, "zero_pose", (robot.num_joints,))
            self._offset = resting_regressor(robot, pose, gravity)
        self._phi: FloatArray | None = None
        self._bias = np.zeros(6)
        self.settling = 0
        self.without_load = 0
        self.withheld = 0
        self.impossible: Impossible | None = None

    @property
    def loaded(self) -> bool:
        """Whether the load is known."""
        return self._phi is not None

    def set_load(self, phi: ArrayLike) -> None:
        """The load from now on, phi (10,) in the tool frame."""
        self._phi = as_float_array(phi, "phi", (10,))

    def forget_load(self) -> None:
        """Know no load any more: whoever published it has withdrawn it."""
        self._phi = None

    def set_bias(self, bias: ArrayLike) -> None:
        """The sensor's bias from now on, (6,) [force, torque] in the tool frame [N, N m]."""
        self._bias = as_float_array(bias, "bias", (6,))

    def process(self) -> list[CompensatedWrench]:
        """Compensate the samples that have become complete; none that is beyond what the arm and the load can do."""
        found = []
        for sample in self.matcher.take():
            motion = self._motion.step(sample.stamp, sample.q) if self._mode == "full" else None
            if self._phi is None:
                self.without_load += 1
                continue
            if motion is None:
                self.settling += self._mode == "full"
                carried = resting_regressor(self._robot, sample.q, self._gravity) @ self._phi
            else:
                carried = wrench_regressor(self._robot, motion.q, motion.dq, motion.ddq, self._gravity) @ self._phi
            exerted = sample.wrench - self._bias + self._offset @ self._phi
            impossible = self._impossible(sample.q, motion, np.array([exerted, carried]))
            if impossible is not None:
                self.withheld, self.impossible = self.withheld + 1, impossible
                continue
            found.append(CompensatedWrench(sample.stamp, exerted - carried))
        return found

    def _impossible(self, q: FloatArray, motion: MotionSample | None, wrenches: FloatArray) -> Impossible | None:
        """Why the arm cannot move so, or cannot exert these wrenches (k, 6) while it does."""
        if motion is None:
            return self._bounds.of_wrenches(wrenches, q)
        moves = self._bounds.of_motion(motion.dq, motion.ddq)
        return moves or self._bounds.of_wrenches(wrenches, motion.q, motion.dq, motion.ddq)
