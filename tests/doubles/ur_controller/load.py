"""The load that a UR controller has been told of, and what it takes out of the force readings because of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from doubles.ur_controller.kinematics import cross

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.packets import RtdeError
from iparam.spatial.parameters import InertialParameters

LARGEST = 1000.0
"""Of the numbers of a load that is believed [kg, m, kg m^2]: far more than any of these arms carries."""

ZEROING_SAMPLES = 50
"""Readings that a zeroing averages: 0.1 s."""


@dataclass(frozen=True)
class KnownLoad:
    """A load as URScript states it.

    Attributes:
        mass: [kg].
        cog: centre of gravity in the flange's axes, from its middle [m].
        inertia: [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about the centre of gravity, in the flange's axes [kg m^2].
    """

    mass: float = 0.0
    cog: tuple[float, ...] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if len(self.cog) != 3 or len(self.inertia) != 6:
            raise RtdeError("a load has a centre of gravity of three numbers and an inertia of six")
        numbers = (self.mass, *self.cog, *self.inertia)
        if not all(abs(number) <= LARGEST for number in numbers) or self.mass < 0.0:  # not so for NaN either
            raise RtdeError(f"a load of {self.mass!r} kg at {self.cog} with inertia {self.inertia} cannot be")

    @property
    def parameters(self) -> InertialParameters:
        """The same body in iparam's terms, in tool0; without mass it is none."""
        if self.mass == 0.0:
            return InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
        xx, yy, zz, xy, xz, yz = self.inertia
        return InertialParameters(self.mass, np.array(self.cog), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))

    def weight(self, gravity_in_tool: FloatArray) -> FloatArray:
        """(6,) force and torque about the flange's middle that gravity (3,) [m/s^2] exerts on it, in tool axes."""
        force = self.mass * gravity_in_tool
        return np.concatenate((force, cross(np.array(self.cog), force)))


class ForceReading:
    """Turns the sensor's wrench into the fields that a controller shows; see `doubles.ur_controller.controller`."""

    def __init__(self) -> None:
        self.load = KnownLoad()
        self._zero = np.zeros(6)
        self._recent = deque[FloatArray](maxlen=ZEROING_SAMPLES)
        self._gravity = np.zeros(3)

    def update(self, measured: FloatArray, gravity_in_tool: FloatArray) -> None:
        """Take a reading.

        Args:
            measured: (6,) what the arm exerts on the load, in tool axes [N, N m].
            gravity_in_tool: (3,) in tool axes [m/s^2].
        """
        self._recent.append(-measured)
        self._gravity = gravity_in_tool

    @property
    def raw(self) -> FloatArray:
        """(6,) what the load exerts on the arm, in tool axes about the flange's middle."""
        return self._recent[-1]

    @property
    def external(self) -> FloatArray:
        """(6,) the same without the weight of the known load, and relative to the last zeroing."""
        return self.raw - self.load.weight(self._gravity) - self._zero

    def zero(self) -> None:
        """Make the present reading 0."""
        if self._recent:
            self._zero = np.mean(self._recent, axis=0) - self.load.weight(self._gravity)
