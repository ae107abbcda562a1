"""Kinematics, dynamics and regressors against Pinocchio, on URDFs that this project did not write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import iparam

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.reference

SAMPLES = 200
RELATIVE = 1e-12
# Pinocchio orders twists [v, omega] and inertias [xx, xy, yy, xz, yz, zz].
TWIST_ORDER = [3, 4, 5, 0, 1, 2]
PHI_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
ARMS = {
    "ur5": "tool0",
    "ur10": "tool0",
    "panda": "panda_hand",
    "kinova": "j2s6s200_end_effector",
    "xarm7": "link_eef",
    "z1": "gripperMover",
    "tiago": "arm_tool_link",  # a prismatic torso, and a head and wheels to lock
    "double_pendulum": "link2",
}


@dataclass(frozen=True)
class Case:
    """The same arm in both libraries, and random states of it."""

    robot: iparam.Robot
    model: Any
    frame: int
    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray

    def states(self):
        """Pinocchio's data, and the state in its own coordinates: continuous joints are (cos, sin) there."""
        data = self.model.createData()
        for q, dq, ddq in zip(self.q, self.dq, self.ddq, strict=True):
            yield data, pin.integrate(self.model, pin.neutral(self.model), q), dq, ddq


@pytest.fixture(scope="module", params=[*ARMS, "maker ur5e", "maker ur10e", "maker ur20"])
def case(request: pytest.FixtureRequest) -> Case:
    name = request.param
    if name.startswith("maker "):
        # Ours from the catalogue, Pinocchio's from the maker's YAML: two readings of the same figures.
        name = name.removeprefix("maker ")
        path, robot = request.getfixturevalue("maker_urdf")(name), iparam.load_robot(name)
    else:
        path = request.getfixturevalue("example_robot_urdf")(name)
        robot = iparam.load_robot(path, tip=ARMS[name])
    model = request.getfixturevalue("pinocchio_model")(path, robot)
    rng = np.random.default_rng(7)
    q, dq, ddq = (rng.uniform(-3.0, 3.0, (SAMPLES, robot.num_joints)) for _ in range(3))
    return Case(robot, model, model.getFrameId(robot.tool_frame, pin.FrameType.BODY), q, dq, ddq)


def agree(ours: np.ndarray, theirs: list[np.ndarray], relative: float = RELATIVE) -> None:
    """Every sample agrees to ``relative`` of its own largest entry."""
    reference = np.array(theirs)
    axes = tuple(range(1, reference.ndim))
    scale = np.abs(reference).max(axis=axes, keepdims=True)
    worst = float((np.abs(ours - reference) / scale).max())
    assert ours.shape == reference.shape
    assert worst < relative, f"off by {worst:.1e} relative"


def test_poses(case: Case) -> None:
    theirs = []
    for data, q, _, _ in case.states():
        pin.framesForwardKinematics(case.model, data, q)
        theirs.append(data.oMf[case.frame].homogeneous.copy())
    agree(iparam.forward_kinematics(case.robot, case.q), theirs)


def test_all_frames(case: Case) -> None:
    ours = iparam.frame_poses(case.robot, case.q)
    root = case.robot.base_frame
    compared = [name for name in ours if case.model.existFrame(name, pin.FrameType.BODY)]
    assert set(ours) - set(compared) <= {"base"}  # the catalogue's name for the maker's base_link_inertia
    theirs: dict[str, list[np.ndarray]] = {name: [] for name in compared}
    for data, q, _, _ in case.states():
        pin.framesForwardKinematics(case.model, data, q)
        for name in compared:
            theirs[name].append(data.oMf[case.model.getFrameId(name, pin.FrameType.BODY)].homogeneous.copy())
    np.testing.assert_array_equal(ours[root], np.broadcast_to(np.eye(4), (SAMPLES, 4, 4)))
    for name in compared:
        agree(ours[name], theirs[name])


def test_jacobians_and_their_derivatives(case: Case) -> None:
    axes = {"tool": pin.LOCAL, "base": pin.LOCAL_WORLD_ALIGNED}
    for frame, reference in axes.items():
        jacobians, derivatives = [], []
        for data, q, dq, _ in case.states():
            pin.computeJointJacobiansTimeVariation(case.model, data, q, dq)
            pin.updateFramePlacements(case.model, data)
            jacobians.append(pin.getFrameJacobian(case.model, data, case.frame, reference)[TWIST_ORDER])
            derivatives.append(pin.getFrameJacobianTimeVariation(case.model, data, case.frame, reference)[TWIST_ORDER])
        agree(iparam.jacobian(case.robot, case.q, frame), jacobians)
        agree(iparam.jacobian_derivative(case.robot, case.q, case.dq, frame), derivatives)


def test_tool_motion(case: Case) -> None:
    motion = iparam.tool_motion(case.robot, case.q, case.dq, case.ddq)
    for ours, axes in ((motion, pin.LOCAL), (motion.in_base(), pin.LOCAL_WORLD_ALIGNED)):
        velocities, accelerations = [], []
        for data, q, dq, ddq in case.states():
            pin.forwardKinematics(case.model, data, q, dq, ddq)
            velocities.append(pin.getFrameVelocity(case.model, data, case.frame, axes).copy())
            accelerations.append(pin.getFrameClassicalAcceleration(case.model, data, case.frame, axes).copy())
        agree(ours.linear_velocity, [v.linear for v in velocities])
        agree(ours.angular_velocity, [v.angular for v in velocities])
        agree(ours.linear_acceleration, [a.linear for a in accelerations])
        agree(ours.angular_acceleration, [a.angular for a in accelerations])


def test_inverse_dynamics(case: Case) -> None:
    theirs = [pin.rnea(case.model, data, q, dq, ddq).copy() for data, q, dq, ddq in case.states()]
    agree(iparam.inverse_dynamics(case.robot, case.q, case.dq, case.ddq), theirs)
    agree(iparam.newton_euler(case.robot, case.q, case.dq, case.ddq).torques, theirs)


def test_inverse_dynamics_with_a_tip_wrench(case: Case) -> None:
    wrench = np.random.default_rng(8).normal(size=(SAMPLES, 6)) * 20.0
    theirs = []
    for (data, q, dq, ddq), tip in zip(case.states(), wrench, strict=True):
        torques = pin.rnea(case.model, data, q, dq, ddq)
        jacobian = pin.computeFrameJacobian(case.model, data, q, case.frame, pin.LOCAL)[TWIST_ORDER]
        theirs.append(torques + jacobian.T @ tip)
    agree(iparam.inverse_dynamics(case.robot, case.q, case.dq, case.ddq, tip_wrench=wrench), theirs)


def test_link_motions_and_wrenches(case: Case) -> None:
    result = iparam.newton_euler(case.robot, case.q, case.dq, case.ddq)
    twists, accelerations, wrenches = [], [], []
    for data, q, dq, ddq in case.states():
        pin.rnea(case.model, data, q, dq, ddq)
        joints = range(1, case.model.njoints)
        twists.append([data.v[i].vector[TWIST_ORDER] for i in joints])
        accelerations.append([data.a_gf[i].vector[TWIST_ORDER] for i in joints])
        wrenches.append([data.f[i].vector[TWIST_ORDER] for i in joints])
    agree(result.motion.twists, twists)
    agree(result.motion.accelerations, accelerations)
    agree(result.wrenches, wrenches)


def test_mass_matrix(case: Case) -> None:
    theirs = []
    for data, q, _, _ in case.states():
        upper = np.triu(pin.crba(case.model, data, q))
        theirs.append(upper + np.triu(upper, 1).T)
    agree(iparam.mass_matrix(case.robot, case.q), theirs)


def test_gravity_and_coriolis_torques(case: Case) -> None:
    gravity, coriolis = [], []
    for data, q, dq, _ in case.states():
        gravity.append(pin.computeGeneralizedGravity(case.model, data, q).copy())
        coriolis.append(pin.computeCoriolisMatrix(case.model, data, q, dq) @ dq)
    agree(iparam.gravity_torques(case.robot, case.q), gravity)
    agree(iparam.coriolis_centrifugal(case.robot, case.q, case.dq), coriolis)


def test_forward_dynamics(case: Case) -> None:
    torques = np.random.default_rng(9).normal(size=case.q.shape) * 10.0
    ours = iparam.forward_dynamics(case.robot, case.q, case.dq, torques)
    theirs = [
        pin.aba(case.model, data, q, dq, tau).copy()
        for (data, q, dq, _), tau in zip(case.states(), torques, strict=True)
    ]
    # Solving amplifies rounding by the condition number of M, which is 1e4 to 1e7 for these arms.
    agree(ours, theirs, relative=1e-8)


def test_wrench_regressor(case: Case) -> None:
    theirs = []
    for data, q, dq, ddq in case.states():
        pin.rnea(case.model, data, q, dq, ddq)
        pin.updateFramePlacements(case.model, data)
        # Its rows are [force, moment] already, as ours.
        theirs.append(pin.frameBodyRegressor(case.model, data, case.frame)[:, PHI_ORDER])
    agree(iparam.wrench_regressor(case.robot, case.q, case.dq, case.ddq), theirs)


def test_joint_torque_regressor(case: Case) -> None:
    count = case.robot.num_joints
    theirs = []
    for data, q, dq, ddq in case.states():
        matrix = pin.computeJointTorqueRegressor(case.model, data, q, dq, ddq).reshape(count, count, 10)
        theirs.append(matrix[:, :, PHI_ORDER].reshape(count, 10 * count))
    agree(iparam.joint_torque_regressor(case.robot, case.q, case.dq, case.ddq), theirs)
