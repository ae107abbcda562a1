"""Stand-ins for what users of Isaac have: exactly the documented attributes that the bridge reads or calls.

Behind them is one arm that takes its set points exactly, one physics step at a time, and weighs its load: the wrench
belongs to the state before the step, with the acceleration of that step, as in PhysX and MuJoCo. What Isaac Lab 3.0
itself does was seen in `test_record_isaac_lab.py`, which runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.regressor import wrench_regressor
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot


class Tensor:
    """Of torch: what of it is needed to get numbers out, and to make another one on the same device."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self._values

    def new_tensor(self, values: Any) -> Tensor:
        return Tensor(values)


class ProxyArray:
    """Of Isaac Lab 3: warp underneath, ``torch`` gives the tensor."""

    def __init__(self, values: Any) -> None:
        self.torch = Tensor(values)


class WarpArray:
    """Of Isaac Sim 6."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def numpy(self) -> np.ndarray:
        return self._values


class Physics:
    """Two environments of an arm with a finger joint in front of its own, whose order is reversed."""

    def __init__(self, robot: Robot, phi: np.ndarray, dt: float) -> None:
        self.robot, self.phi, self.dt = robot, phi, dt
        self.names = ["finger", *reversed(robot.joint_names)]
        self.links = ["base", *(f"link_{place}" for place in range(robot.num_joints)), "payload"]
        self.q = np.zeros((2, len(self.names)))
        self.dq, self.target = self.q.copy(), self.q.copy()
        self.previous: np.ndarray | None = None
        self.wrench, self.tool, self.tool_after = np.zeros(6), np.eye(4), np.eye(4)
        self.steps = 0

    def arm(self, row: np.ndarray) -> np.ndarray:
        return row[1:][::-1]

    def step(self) -> None:
        now, following = self.arm(self.q[0]), self.arm(self.target[0])
        before = now if self.previous is None else self.previous
        dq, ddq = (following - before) / (2 * self.dt), (following - 2 * now + before) / self.dt**2
        self.wrench = wrench_regressor(self.robot, now, dq, ddq) @ self.phi
        self.tool, self.tool_after = forward_kinematics(self.robot, np.stack([now, following]))
        self.dq = (self.target - self.q) / self.dt
        self.previous, self.q = now, self.target.copy()
        self.steps += 1

    def in_joint(self, pose: np.ndarray, length: float = 1.0, mass: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque at a joint frame whose pose in the tool is given, in other units."""
        R, p = pose[:3, :3], pose[:3, 3]
        force, torque = self.wrench[:3], self.wrench[3:]
        return R.T @ force / (mass * length), R.T @ (torque - np.cross(p, force)) / (mass * length**2)

    def in_joint_after_step(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of Isaac Lab 3.0 on Newton: the wrench at the centre of mass in world axes, brought to the joint by
        the pose after the step.
        """
        center, force, torque = self.phi[1:4] / self.phi[0], self.wrench[:3], self.wrench[3:]
        turn = self.tool_after[:3, :3].T @ self.tool[:3, :3]
        of_load = turn @ (torque - np.cross(center, force))
        R, p = pose[:3, :3], pose[:3, 3]
        return R.T @ turn @ force, R.T @ (of_load + np.cross(center - p, turn @ force))

    def rows(self, values: np.ndarray) -> np.ndarray:
        """(2, links, 3), the payload's row in environment 0 only."""
        found = np.zeros((2, len(self.links), 3))
        found[0, -1] = values
        return found


class LabArticulation:
    """``isaaclab.assets.Articulation`` of Isaac Lab 3."""

    def __init__(self, physics: Physics) -> None:
        self._physics, self._buffer = physics, physics.target.copy()
        self.joint_names = physics.names
        self.data = LabArticulationData(physics)

    def set_joint_position_target_index(self, *, target: Tensor, joint_ids: Any = None, env_ids: Any = None) -> None:
        self._buffer[:, joint_ids] = target.numpy()

    def set_joint_velocity_target_index(self, *, target: Tensor, joint_ids: Any = None, env_ids: Any = None) -> None:
        assert target.numpy().shape == (2, len(joint_ids))

    def write_data_to_sim(self) -> None:
        self._physics.target = self._buffer.copy()


class LabArticulationData:
    def __init__(self, physics: Physics) -> None:
        self._physics = physics

    @property
    def joint_pos(self) -> ProxyArray:
        return ProxyArray(self._physics.q)

    @property
    def joint_vel(self) -> ProxyArray:
        return ProxyArray(self._physics.dq)


class JointWrenchSensor:
    """Of Isaac Lab 3: no entry for the root."""

    is_initialized = True

    def __init__(self, physics: Physics, pose: np.ndarray, backend: str) -> None:
        self.__backend_name__ = backend
        self.body_names = physics.links[1:]
        self.data = JointWrenchSensorData(physics, pose, backend)


class JointWrenchSensorData:
    def __init__(self, physics: Physics, pose: np.ndarray, backend: str) -> None:
        self._physics, self._pose = physics, pose
        self._read = physics.in_joint_after_step if backend == "newton" else physics.in_joint

    @property
    def force(self) -> ProxyArray | None:
        return ProxyArray(self._physics.rows(self._read(self._pose)[0])[:, 1:])

    @property
    def torque(self) -> ProxyArray | None:
        return ProxyArray(self._physics.rows(self._read(self._pose)[1])[:, 1:])


class SimArticulation:
    """``isaacsim.core.experimental.prims.Articulation`` of Isaac Sim 6, in a stage of centimetres."""

    def __init__(self, physics: Physics, pose: np.ndarray, length: float = 0.01) -> None:
        self._physics, self._pose, self._length = physics, pose, length
        self.dof_names, self.link_names = physics.names, physics.links

    def get_dof_positions(self) -> WarpArray:
        return WarpArray(self._physics.q)

    def get_dof_velocities(self) -> WarpArray:
        return WarpArray(self._physics.dq)

    def set_dof_position_targets(self, positions: Any, *, indices: Any = None, dof_indices: Any = None) -> None:
        self._physics.target[:, dof_indices] = positions

    def set_dof_velocity_targets(self, velocities: Any, *, indices: Any = None, dof_indices: Any = None) -> None:
        assert np.shape(velocities) == (2, len(dof_indices))

    def get_link_incoming_joint_force(self) -> tuple[WarpArray, WarpArray]:
        force, torque = self._physics.in_joint(self._pose, self._length)
        return WarpArray(self._physics.rows(force)), WarpArray(self._physics.rows(torque))


class LegacyArticulation:
    """``isaacsim.core.prims.Articulation`` (``ArticulationView``) before Isaac Sim 6."""

    def __init__(self, physics: Physics, pose: np.ndarray) -> None:
        self._physics, self._pose = physics, pose
        self.dof_names, self.body_names = physics.names, physics.links

    def get_joint_positions(self) -> np.ndarray:
        return self._physics.q

    def get_joint_velocities(self) -> np.ndarray:
        return self._physics.dq

    def set_joint_position_targets(self, positions: Any, indices: Any = None, joint_indices: Any = None) -> None:
        self._physics.target[:, joint_indices] = positions

    def set_joint_velocity_targets(self, velocities: Any, indices: Any = None, joint_indices: Any = None) -> None:
        assert velocities.shape == (2, len(joint_indices))

    def get_measured_joint_forces(self, indices: Any = None, joint_indices: Any = None) -> np.ndarray:
        return np.concatenate([self._physics.rows(part) for part in self._physics.in_joint(self._pose)], axis=-1)


class ContactSensor:
    """Of Isaac Lab, on the payload: forces in the world, which is turned against the robot's base."""

    def __init__(self, physics: Physics, base: np.ndarray, *, points: bool) -> None:
        self.body_names = ["payload"]
        self.data = ContactSensorData(physics, base, points)


class ContactSensorData:
    def __init__(self, physics: Physics, base: np.ndarray, points: bool) -> None:
        self._physics, self._base, self._points = physics, base, points

    @property
    def net_forces_w(self) -> Tensor:
        R = (self._base @ self._physics.tool)[:3, :3]
        return Tensor([[R @ self._physics.wrench[:3]], [np.zeros(3)]])

    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Three points around the tool with forces that make up the wrench; the fourth has no contact."""
        points = np.array([[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [np.nan] * 3])
        torque, force = self._physics.wrench[3:], self._physics.wrench[:3]
        A = np.vstack([np.hstack([np.eye(3)] * 3), np.hstack([_cross(point) for point in points[:3]])])
        each = np.linalg.lstsq(A, np.concatenate([force, torque]), rcond=None)[0].reshape(3, 3)
        T = self._base @ self._physics.tool
        return np.vstack([each @ T[:3, :3].T, np.full(3, np.nan)]), points @ T[:3, :3].T + T[:3, 3]

    @property
    def force_matrix_w(self) -> Tensor | None:
        return Tensor([[self._parts()[0]], [np.zeros((4, 3))]]) if self._points else None

    @property
    def contact_pos_w(self) -> Tensor | None:
        return Tensor([[self._parts()[1]], [np.zeros((4, 3))]]) if self._points else None


def _cross(p: np.ndarray) -> np.ndarray:
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
