"""`ArmSimulator`: the settings of a simulated arm, of its controller and of its sensors, whatever the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import as_float_array
from iparam.errors import InputError
from iparam.robot.model import Robot
from iparam.robot.plausibility import check_payload_extent
from iparam.simulation.controller import ComputedTorque
from iparam.simulation.motors import JointFriction
from iparam.simulation.payload import Payload
from iparam.simulation.simulator import SensorRates
from iparam.trajectory.checks import positive_number


@dataclass(frozen=True)
class ArmSimulator:
    """The settings of a simulation that every engine has.

    Attributes:
        physics_rate: steps a second, of the controller too [Hz].
        rates: of the sensors.
        controller: what drives the arm.
        settle_time: how long the arm holds the start pose before the trajectory and the recording begin [s].
        gravity: (3,) in base axes [m/s^2].
        friction: in the joints; None for none. Rotor inertia is the robot's, see `Robot.with_armature`.
    """

    physics_rate: float = 2000.0
    rates: SensorRates = field(default_factory=SensorRates)
    controller: ComputedTorque = field(default_factory=ComputedTorque)
    settle_time: float = 0.5
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    friction: JointFriction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "physics_rate", positive_number(self.physics_rate, "physics_rate", "Hz"))
        gravity = as_float_array(self.gravity, "gravity")
        if gravity.shape != (3,):
            raise InputError(argument="gravity", problem=f"must be three numbers, got shape {gravity.shape}")
        object.__setattr__(self, "gravity", tuple(gravity.tolist()))
        settle = as_float_array(self.settle_time, "settle_time")
        if settle.shape != () or settle < 0.0:
            raise InputError(argument="settle_time", value=settle, expected="a number of seconds, at least 0")
        object.__setattr__(self, "settle_time", float(settle))
        self.rates.steps(self.physics_rate, 0)  # refuses sensors that are faster than the physics

    def check(self, robot: Robot, payload: Payload | None, clearance: float) -> None:
        """Refuse what cannot be loaded with these settings."""
        if not (np.isfinite(clearance) and clearance >= 0.0):
            raise InputError(argument="clearance", problem=f"must not be negative, got {clearance}")
        if self.friction is not None and self.friction.viscous.shape != (robot.num_joints,):
            raise InputError(
                argument="friction", problem=f"is that of {self.friction.viscous.size} joints, {robot.name} has others"
            )
        if payload is not None:
            check_payload_extent(payload.farthest, robot)
