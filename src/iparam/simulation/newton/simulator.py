"""`NewtonSimulator`: arms in Newton, driven as those in MuJoCo, many worlds at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iparam.errors import InputError
from iparam.robot.cell import WorkCell
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.model import Robot
from iparam.simulation.arm_scene import ArmScene, loaded_scene, run_together
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.controller import ComputedTorque
from iparam.simulation.newton.backend import require_newton
from iparam.simulation.newton.model import LEAST_MASS, build_model
from iparam.simulation.newton.run import NewtonRun
from iparam.simulation.payload import Payload
from iparam.simulation.simulator import Progress, SimulationResult
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True)
class NewtonSimulator(ArmSimulator):
    """The settings of a simulation with Newton; a `Simulator`. See `ArmSimulator` for them.

    Its solver is MuJoCo's for many worlds (mujoco-warp), in single precision. A step costs milliseconds on a processor,
    so that a lower ``physics_rate`` is worth a thought where noise covers the error of a step. The controller is softer
    than MuJoCo's, because what it makes of the last digit of an angle, 1e-7 rad times its bandwidth squared, is an
    acceleration that the load feels.
    """

    controller: ComputedTorque = field(default_factory=lambda: ComputedTorque(bandwidth=15.0))

    def load(
        self,
        robot: Robot,
        payload: Payload | None = None,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        shapes: CollisionScene | None = None,
    ) -> NewtonScene:
        """Build the model, see `Simulator.load`."""
        return loaded_scene(NewtonScene, self, robot, payload, cell, clearance, shapes)

    def run_many(
        self,
        robot: Robot,
        payloads: Sequence[Payload],
        trajectory: Trajectory,
        cell: WorkCell | None = None,
        clearance: float = 0.0,
        progress: Progress | None = None,
    ) -> list[SimulationResult]:
        """Let the arm follow one trajectory with each of W payloads, all at once, each in a world of its own.

        Raises:
            SimulationError: one of the arms hit something, or could not follow; the message says with which payload,
                counted from 0.
        """
        payloads = [payloads] if isinstance(payloads, Payload) else list(payloads)
        if not payloads:
            raise InputError(argument="run_many", problem="needs at least one payload")
        for k, payload in enumerate(payloads):
            if not isinstance(payload, Payload):
                raise InputError(f"payloads[{k}] of run_many must be a Payload, got {type(payload).__name__}")
        scenes = [self.load(robot, payload, cell, clearance) for payload in payloads]
        return run_together(scenes, trajectory, lambda num_logged: _physics(scenes, num_logged), progress)


@dataclass(frozen=True, eq=False)
class NewtonScene(ArmScene):
    """An arm with its payload in Newton, see `ArmScene`."""

    @property
    def engine(self) -> str:
        """The name and version of what computes the physics."""
        return f"newton {require_newton()[0].__version__}"

    def build(self) -> None:
        """Refuse what Newton cannot build."""
        require_newton()
        if self.payload is not None and self.payload.parameters.mass < LEAST_MASS:
            raise InputError(
                f"the payload weighs {self.payload.parameters.mass:.3g} kg: Newton computes with {LEAST_MASS:g} kg at "
                "least, in single precision. MuJoCo takes it"
            )

    def physics(self, num_logged: int) -> NewtonRun:
        """A new run of this one scene, with room for a number of logged instants."""
        return _physics([self], num_logged)


def _physics(scenes: Sequence[NewtonScene], num_logged: int) -> NewtonRun:
    settings = scenes[0].simulator
    robots, payloads = [scene.robot for scene in scenes], [scene.payload for scene in scenes]
    step = 1.0 / settings.physics_rate
    return NewtonRun(
        build_model(robots, payloads, settings.gravity),
        robots,
        payloads,
        timestep=step,
        gains=settings.controller.gains(step),
        num_logged=num_logged,
        gravity=settings.gravity,
        friction=settings.friction,
    )
