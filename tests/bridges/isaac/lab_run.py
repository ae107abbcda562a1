"""A UR10e with a box in Isaac Lab, on its Newton backend on the processor: what test and benchmark share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import isaaclab.sim as lab
import numpy as np
from isaaclab.assets import ArticulationCfg, RigidObjectCfg
from isaaclab.scene import InteractiveScene, InteractiveSceneCfg
from isaaclab.sensors import ContactSensorCfg
from isaaclab.sensors.joint_wrench import JointWrenchSensorCfg
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg
from scipy.spatial.transform import Rotation

import iparam
from iparam.bridges.isaac import JointWrench
from iparam.spatial import InertialParameters, transform_from

DT = 1.0 / 500.0
ROBOT = iparam.load_robot("ur10e")
START = np.array([0.0, -1.4, 1.3, -1.2, -1.5, 0.0])
BOX = InertialParameters(8.1, np.array([0.01, -0.02, 0.12]), np.diag([0.0422, 0.0338, 0.0219]))
JOINT = transform_from(Rotation.from_euler("xyz", [20, 30, -40], degrees=True).as_matrix(), [0.02, -0.01, 0.03])


def plan(duration: float) -> Any:
    a, b = np.random.default_rng(2).normal(size=(2, 6, 3)) * 0.25 * min(1.0, (duration / 5.0) ** 2)
    return iparam.trajectory.WindowedFourierTrajectory(a=a, b=b, q0=START, base_freq=1.0 / duration, duration=duration)


@contextmanager
def running(
    stage: Path, actuator: Any, integrator: str = "euler", box: tuple[np.ndarray, float] | None = None
) -> Iterator[tuple[Any, Any]]:
    """The simulation, not yet reset, and a scene with two arms and their sensor.

    A free box of 10 cm has a place (3,) [m], a mass [kg] and a contact sensor.
    """
    physics = NewtonCfg(solver_cfg=MJWarpSolverCfg(integrator=integrator), num_substeps=1)
    settings = lab.SimulationCfg(dt=DT, device="cpu", physics=physics)
    with lab.build_simulation_context(sim_cfg=settings, device="cpu") as simulation:
        scene = InteractiveSceneCfg(num_envs=2, env_spacing=4.0)
        scene.robot = ArticulationCfg(
            prim_path="{ENV_REGEX_NS}/Robot",
            spawn=lab.UsdFileCfg(usd_path=str(stage)),
            init_state=ArticulationCfg.InitialStateCfg(
                joint_pos=dict(zip(ROBOT.joint_names, START.tolist(), strict=True))
            ),
            actuators={"arm": actuator},
        )
        scene.wrench = JointWrenchSensorCfg(prim_path="{ENV_REGEX_NS}/Robot")
        if box is not None:
            scene.box = RigidObjectCfg(
                prim_path="{ENV_REGEX_NS}/Box",
                spawn=lab.CuboidCfg(
                    size=(0.1, 0.1, 0.1),
                    rigid_props=lab.RigidBodyPropertiesCfg(),
                    mass_props=lab.MassPropertiesCfg(mass=box[1]),
                    collision_props=lab.CollisionPropertiesCfg(),
                ),
                init_state=RigidObjectCfg.InitialStateCfg(pos=tuple(box[0].tolist())),
            )
            scene.contact = ContactSensorCfg(prim_path="{ENV_REGEX_NS}/Box")
        yield simulation, InteractiveScene(scene)


class Steps:
    """One physics step a call, or several; keeps the joint velocities after each, and before the first."""

    def __init__(self, simulation: Any, scene: Any, times: int = 1) -> None:
        self.simulation, self.scene, self.times = simulation, scene, times
        self.velocities: list[np.ndarray] = [self._velocities()]

    def _velocities(self) -> np.ndarray:
        return self.scene["robot"].data.joint_vel.torch.numpy().astype(np.float64)

    def __call__(self) -> None:
        for _ in range(self.times):
            self.simulation.step(render=False)
            self.scene.update(DT)
        self.velocities.append(self._velocities())

    def off(self, recording: iparam.Recording, environment: int, measured: np.ndarray) -> np.ndarray:
        """Rms of a wrench (T, 6) against Newton and Euler on the simulator's own motion: of forces, of torques."""
        q, count = recording.signal("q").values, len(measured)
        dq = np.array(self.velocities)[-count - 1 :, environment]
        expected = iparam.wrench_regressor(ROBOT, q, dq[:-1], np.diff(dq, axis=0) / DT) @ BOX.phi
        return np.sqrt(((measured - expected) ** 2).reshape(-1, 2, 3).mean(axis=(0, 2)))


class Kept:
    """A `JointWrench` that keeps what it read, to look at it in both ways."""

    def __init__(self, wrench: JointWrench) -> None:
        self.wrench = wrench

    def read(self, environment: int) -> tuple[np.ndarray, ...]:
        return self.wrench.read(environment)

    def in_tool(self, readings: Any, tool: np.ndarray, units: Any) -> np.ndarray:
        self.as_it_comes = replace(self.wrench, axes_after_step=False).in_tool(readings, tool, units)
        return self.wrench.in_tool(readings, tool, units)
