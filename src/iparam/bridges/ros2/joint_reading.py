"""`JointReader`: the robot's joints out of a joint state, which names them in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.robot.model import Robot


class JointReader:
    """Finds the joints of a robot in messages.

    Args:
        robot: the arm.
        prefix: before the names of its joints in the messages, e.g. "left_".
    """

    def __init__(self, robot: Robot, prefix: str = "") -> None:
        self.names = tuple(prefix + name for name in robot.joint_names)
        self._known: dict[tuple[str, ...], NDArray[np.int64] | None] = {}

    def positions_and_velocities(
        self, names: Sequence[str], position: Sequence[float] | FloatArray, velocity: Sequence[float] | FloatArray
    ) -> tuple[FloatArray, FloatArray | None] | None:
        """Angles q (n,) and velocities dq (n,), None where there are none; None if the message is about other joints.

        A message without names counts if it has as many positions as the robot has joints, in the robot's order.
        """
        count = len(names) or len(self.names)
        columns = self._columns(tuple(names))
        if columns is None or len(position) != count:
            return None
        q = np.asarray(position, dtype=np.float64)[columns]
        return q, np.asarray(velocity, dtype=np.float64)[columns] if len(velocity) == count else None

    def _columns(self, names: tuple[str, ...]) -> NDArray[np.int64] | None:
        if names not in self._known:
            if len(self._known) > 100:  # a publisher that invents names must not fill the memory
                self._known.clear()
            self._known[names] = self._find(names)
        return self._known[names]

    def _find(self, names: tuple[str, ...]) -> NDArray[np.int64] | None:
        if not names:
            return np.arange(len(self.names))
        if len(set(names)) < len(names) or not set(self.names) <= set(names):
            return None
        return np.array([names.index(name) for name in self.names])
