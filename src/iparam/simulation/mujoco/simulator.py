"""`MujocoSimulator`: an arm in MuJoCo, driven along a trajectory as a real arm is, with its wrist sensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.model import Robot
from iparam.simulation.arm_scene import ArmScene, loaded_scene
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.mujoco.model import build_model
from iparam.simulation.mujoco.run import MujocoRun
from iparam.simulation.payload import Payload


@dataclass(frozen=True)
class MujocoSimulator(ArmSimulator):
    """The settings of a simulation with MuJoCo; `load` gives a scene, whose ``run(trajectory)`` records.

    The force/torque sensor is between flange and payload, in the axes of the tool frame, and measures what the arm
    exerts ON the payload. The arm follows the trajectory by computed torque.

    Attributes:
        physics_rate: steps a second, of the controller too [Hz].
        rates: samples a second of the sensors [Hz].
        controller: gains of the computed torque.
        settle_time: how long the arm holds the start pose before the trajectory and the recording begin [s].
        gravity: (3,) in base axes [m/s^2].
        friction: in the joints; None for none. Rotor inertia is the robot's, see `Robot.with_armature`.
    """

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> MujocoScene:
        """Build the scene.

        Args:
            robot: the arm.
            payload: rigidly on its tool frame; None for nothing.
            cell: its surroundings in its base frame; None for the ground at z = 0 alone.
            clearance: least distance that a trajectory must keep, as `excite check` has it [m]; 0 refuses contact.
            shapes: what may not touch what; None for the arm's capsules, the payload's boxes and the cell.
        """
        return loaded_scene(MujocoScene, self, robot, payload, cell, clearance, shapes)


@dataclass(frozen=True, eq=False)
class MujocoScene(ArmScene):
    """An arm with its payload in MuJoCo, see `ArmScene`."""

    @cached_property
    def model(self) -> Any:
        """The ``mujoco.MjModel``, see `build_model`."""
        settings = self.simulator
        step = 1.0 / settings.physics_rate
        return build_model(self.robot, self.payload, timestep=step, gravity=settings.gravity)

    @property
    def engine(self) -> str:
        """The name and version of what computes the physics."""
        return f"mujoco {require_mujoco().__version__}"

    def build(self) -> None:
        """Build the model."""
        self.model  # noqa: B018

    def physics(self, num_logged: int) -> MujocoRun:
        """A new run of this one scene, with room for a number of logged instants."""
        settings = self.simulator
        gains = settings.controller.gains(1.0 / settings.physics_rate)
        return MujocoRun(self.model, self.robot, gains, num_logged, settings.friction)
