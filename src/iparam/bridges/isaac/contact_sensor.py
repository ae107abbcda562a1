"""`IsaacContactSensor`: a contact sensor found by the path of its prim, read in the tool frame with its time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.bridges.isaac.articulation import ArticulationPort
from iparam.bridges.isaac.frames import SI, StageUnits, rigid
from iparam.bridges.isaac.wrenches import ContactWrench
from iparam.errors import UnknownNameError
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class StampedWrench:
    """What a contact sensor read.

    Attributes:
        time: of the state that the forces belong to [s].
        force: (3,) that the arm exerts on the payload, in the tool frame [N].
        torque: (3,) about the tool's origin, in its axes [N m]; None where the sensor tracks no contact points.
    """

    time: float
    force: FloatArray
    torque: FloatArray | None


class IsaacContactSensor:
    """A contact sensor of an Isaac Lab scene. A physics engine reports the forces of the state before a step: so do we.

    Args:
        prim_path: of the body that the sensor is on, in one environment: ``/World/envs/env_0/Payload``.
        scene: an ``InteractiveScene`` after ``sim.reset()``.
        robot: the arm as iparam knows it, whose tool frame the wrench is given in.
        clock: gives the simulation's time after the last step [s]; in Isaac Lab 3
            ``sim.physics_manager.get_simulation_time``.
        articulation: its name in the scene.
        joints: names in the articulation of the robot's joints, in its order; by their own names if not given.
        on: "payload" if the body is the payload, "arm" if it is the link that holds it.
        base_pose: (4, 4) of the robot's base in the world of that environment [m]; the identity if not given.
        units: of the stage.
    """

    def __init__(
        self,
        prim_path: str,
        scene: Any,
        robot: Robot,
        clock: Callable[[], float],
        *,
        articulation: str = "robot",
        joints: Sequence[str] | None = None,
        on: Literal["payload", "arm"] = "payload",
        base_pose: ArrayLike | None = None,
        units: StageUnits = SI,
    ) -> None:
        sensors = {
            sensor.cfg.prim_path: sensor for sensor in scene.sensors.values() if hasattr(sensor.data, "net_forces_w")
        }
        sensor = next((sensor for path, sensor in sensors.items() if re.fullmatch(path, prim_path)), None)
        roots = [root for root in scene.env_prim_paths if prim_path.startswith(f"{root}/")]
        if sensor is None or not roots:
            raise UnknownNameError("prim with a contact sensor", prim_path, sensors)
        self._environment = list(scene.env_prim_paths).index(roots[0])
        self._wrench = ContactWrench(sensor, prim_path.rpartition("/")[2], on)
        self._port = ArticulationPort(scene[articulation], list(robot.joint_names) if joints is None else list(joints))
        self._scene, self._robot, self._clock, self._units = scene, robot, clock, units
        self._base = np.eye(4) if base_pose is None else rigid(base_pose, "base_pose")

    def get_wrench(self) -> tuple[FloatArray, FloatArray | None]:
        """Force (3,) and torque (3,), see `StampedWrench`."""
        stamped = self.get_wrench_with_timestamp()
        return stamped.force, stamped.torque

    def get_wrench_with_timestamp(self) -> StampedWrench:
        """What the sensor read in the last step."""
        dt = float(self._scene.physics_dt)
        now, speed = (values[self._environment] for values in (self._port.positions(), self._port.velocities()))
        # The engines move by the new velocity: q_after = q_before + dt dq_after.
        tool = self._base @ forward_kinematics(self._robot, np.array([now - dt * speed, now]))
        wrench = self._wrench.in_tool([self._wrench.read(self._environment)], tool, self._units)[0]
        return StampedWrench(float(self._clock()) - dt, wrench[:3], wrench[3:] if wrench.size == 6 else None)
