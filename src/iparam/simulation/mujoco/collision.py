"""`MujocoCollisionCheck`: whether any of many poses touches something, without any dynamics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from iparam.arrays import as_float_array
from iparam.errors import InputError
from iparam.robot.cell import WorkCell
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.model import Robot
from iparam.simulation.mujoco.model import build_model
from iparam.simulation.payload import Payload


@dataclass(frozen=True)
class CollisionFound:
    """The first contact along a sequence of poses.

    Attributes:
        bodies: names of the two that touch: links of the arm, "payload", or things of the cell.
        sample: index of the pose.
        depth: how far they reach into each other [m].
    """

    bodies: tuple[str, str]
    sample: int
    depth: float

    def __str__(self) -> str:
        return f"{self.bodies[0]} - {self.bodies[1]}"


@dataclass(frozen=True, eq=False)
class MujocoCollisionCheck:
    """A test of poses for contact, in the very model that `MujocoSimulator` runs: self, ground, cell and payload.

    Attributes:
        robot: the arm.
        payload: on its tool frame, or None.
        cell: its surroundings; None for the ground alone.
    """

    robot: Robot
    payload: Payload | None = None
    cell: WorkCell | None = None
    _model: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_model", build_model(self.robot, self.payload, self.cell))

    def __call__(self, q: ArrayLike) -> CollisionFound | None:
        """The first of the poses q (T, n) [rad] with a contact, and its deepest; None if there is none."""
        poses = as_float_array(q, "q")
        if poses.ndim != 2 or poses.shape[1] != self.robot.num_joints:
            raise InputError(f"q must have shape (T, {self.robot.num_joints}), got {poses.shape}")
        mujoco, model = require_mujoco(), self._model
        data = mujoco.MjData(model)
        place, kinematics, collision = data.qpos, mujoco.mj_kinematics, mujoco.mj_collision
        for sample, pose in enumerate(poses):
            place[:] = pose
            kinematics(model, data)
            collision(model, data)
            if data.ncon:
                contact = min(data.contact, key=lambda one: float(one.dist))
                names = (self._name(int(contact.geom1)), self._name(int(contact.geom2)))
                return CollisionFound(names, sample, -float(contact.dist))
        return None

    def _name(self, geom: int) -> str:
        """What a shape belongs to: a thing of the cell by its own name, a part of the arm by its body's."""
        model = self._model
        return str(model.geom(geom).name or model.body(model.geom_bodyid[geom]).name)
