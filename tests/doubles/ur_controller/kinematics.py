"""`TwinKinematics`: what the twin's controller computes from joint angles: poses and speeds of the tool.

It runs at 500 Hz beside the physics, so that it leaves the arithmetic to MuJoCo and does without checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.model import Robot
from iparam.simulation.mujoco.model import TOOL_SITE, build_model
from iparam.spatial.transforms import exp_so3, transform_from


def pose_matrix(pose: FloatArray) -> FloatArray:
    """(4, 4) of a UR pose (6,): position [m] and rotation vector [rad]."""
    return transform_from(exp_so3(pose[3:]), pose[:3])


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """(3,) the cross product; numpy's takes ten times as long for two vectors."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))


@dataclass(frozen=True, eq=False)
class ToolState:
    """The tool at one instant, in base axes.

    Attributes:
        turn: (3, 3) rotation from the flange's axes.
        arm: (3,) from the flange's middle to the TCP [m].
        pose: (6,) UR pose of the TCP.
        speed: (6,) [v, omega] of the TCP [m/s, rad/s].
    """

    turn: FloatArray
    arm: FloatArray
    pose: FloatArray
    speed: FloatArray


class TwinKinematics:
    """The bare arm's kinematics in MuJoCo, in a place of its own beside the physics.

    Args:
        robot: the arm.
    """

    def __init__(self, robot: Robot) -> None:
        self._mujoco = require_mujoco()
        self._model: Any = build_model(robot)
        self._data = self._mujoco.MjData(self._model)
        self._site = self._model.site(TOOL_SITE).id
        self._body = int(self._model.site_bodyid[self._site])
        self._elbow = self._model.body(robot.moving_joints[2].child).id
        self._jacobian = np.empty((2, 3, 6))
        self._mass = float(self._model.body_mass.sum())
        self._quaternion, self._vector = np.empty(4), np.empty(3)

    def pose_vector(self, matrix: FloatArray) -> FloatArray:
        """The UR pose (6,) of a (4, 4)."""
        self._mujoco.mju_mat2Quat(self._quaternion, np.ascontiguousarray(matrix[:3, :3]).ravel())
        self._mujoco.mju_quat2Vel(self._vector, self._quaternion, 1.0)
        return np.concatenate((matrix[:3, 3], self._vector))

    def flange(self, q: FloatArray) -> FloatArray:
        """(4, 4) pose of the flange in the base at joint angles q (6,) [rad]."""
        self._data.qpos[:] = q
        self._mujoco.mj_kinematics(self._model, self._data)
        pose = np.zeros((4, 4))
        pose[:3, :3] = self._data.site_xmat[self._site].reshape(3, 3)
        pose[:3, 3] = self._data.site_xpos[self._site]
        pose[3, 3] = 1.0
        return pose

    def tool(self, q: FloatArray, dq: FloatArray, tcp: FloatArray) -> ToolState:
        """The tool at joint angles q (6,) and speeds dq (6,), with the TCP at ``tcp`` (4, 4) in the flange's frame."""
        flange = self.flange(q)
        pose = flange @ tcp
        self._mujoco.mj_comPos(self._model, self._data)
        self._mujoco.mj_jac(self._model, self._data, self._jacobian[0], self._jacobian[1], pose[:3, 3], self._body)
        speed = self._jacobian.reshape(6, 6) @ dq
        return ToolState(flange[:3, :3], pose[:3, 3] - flange[:3, 3], self.pose_vector(pose), speed)

    def momentum(self, dq: FloatArray) -> FloatArray:
        """(3,) linear momentum of the bare arm in base axes, at the angles that `tool` was last asked for [kg m/s]."""
        self._mujoco.mj_jacSubtreeCom(self._model, self._data, self._jacobian[0], 0)
        return np.asarray(self._mass * (self._jacobian[0] @ dq))

    def elbow(self, dq: FloatArray) -> FloatArray:
        """(3,) velocity of the elbow in base axes, at the angles that `tool` was last asked for [m/s]."""
        self._mujoco.mj_jacBody(self._model, self._data, self._jacobian[0], None, self._elbow)
        return np.asarray(self._jacobian[0] @ dq)
