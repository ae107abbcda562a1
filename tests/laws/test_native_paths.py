"""The SIMD path, the size of a batch, the number of threads and the memory layout change no digit beyond rounding."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import MotionArrays
from iparam.excitation.information.information import STEP, WrenchInformation
from iparam.excitation.information.torque_information import TorqueInformation
from iparam.motion import JointProcess, kalman_smooth
from iparam.native import recursions
from iparam.native import regressors as native
from iparam.native.distances import distances
from iparam.native.library import PATHS, path
from iparam.regressor.joint_torque import joint_torque_regressor_derivatives
from iparam.regressor.wrench import wrench_regressor_derivatives
from iparam.robot import batching
from iparam.robot.kinematics import frame_poses

ROUNDING = 1e-13
"""Share of the largest entry by which paths may differ: one fuses products and sums, another does not."""

SAMPLES = 23  # no multiple of any number of lanes
SUPPORTED = PATHS[: PATHS.index(path) + 1]

Results = dict[str, np.ndarray]


def mixed_chain(count: int) -> iparam.Robot:
    """Joints that turn and slide about axes in all directions, rotor inertias, a tool that is turned and far."""
    rng = np.random.default_rng(count)
    ur5e = iparam.load_robot("ur5e")
    joints, links = [], [iparam.Link("base")]
    for i in range(count):
        origin = np.eye(4)
        origin[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        origin[:3, 2] *= np.linalg.det(origin[:3, :3])
        origin[:3, 3] = rng.normal(0.0, 0.3, 3)
        axis = rng.normal(size=3)
        kind = "prismatic" if i % 3 == 1 else "revolute"
        name = f"l{i}"
        joints.append(iparam.Joint(f"j{i}", kind, links[-1].name, name, origin, axis / np.linalg.norm(axis)))
        links.append(iparam.Link(name, ur5e.link(ur5e.moving_joints[i % 6].child).inertial))
    limits = iparam.JointLimits.unlimited(count)
    robot = iparam.Robot("mixed", tuple(joints), tuple(links), limits, links[-1].name)
    return robot.with_tool(origin).with_armature(rng.uniform(0.1, 1.0, count))


ROBOTS = {"ur5e": lambda: iparam.load_robot("ur5e"), "3": lambda: mixed_chain(3), "11": lambda: mixed_chain(11)}


def states(robot: iparam.Robot) -> list[np.ndarray]:
    """q, dq, ddq (N, n) and a wrench at the tip (N, 6); some angles are far beyond a turn."""
    rng = np.random.default_rng(7)
    q, dq, ddq = rng.uniform(-3.0, 3.0, (3, SAMPLES, robot.num_joints))
    turning = ~robot.chain.prismatic
    q[::5, turning] += 1e4
    q[::7, turning] += 3e5
    return [q, dq, ddq, rng.normal(size=(SAMPLES, 6))]


def of_motion(robot: iparam.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, tip: np.ndarray) -> Results:
    """All that a native loop over samples computes, each (N, ...)."""
    motion, regressor = iparam.tool_motion(robot, q, dq, ddq), iparam.joint_torque_regressor(robot, q, dq, ddq)
    whole = iparam.newton_euler(robot, q, dq, ddq, tip_wrench=tip)
    torques = iparam.inverse_dynamics_derivatives(robot, q, dq, ddq, tip_wrench=tip)
    wrench = wrench_regressor_derivatives(robot, q, dq, ddq)
    arm = joint_torque_regressor_derivatives(robot, q, dq, ddq)
    return {
        "pose": motion.pose,
        "velocity": motion.linear_velocity,
        "angular velocity": motion.angular_velocity,
        "acceleration": motion.linear_acceleration,
        "angular acceleration": motion.angular_acceleration,
        "frames": np.stack(list(frame_poses(robot, q).values()), axis=-3),
        "jacobian": iparam.jacobian(robot, q, "tool"),
        "jacobian derivative": iparam.jacobian_derivative(robot, q, dq, "base"),
        "torques": iparam.inverse_dynamics(robot, q, dq, ddq, tip_wrench=tip),
        "torques without tip": iparam.inverse_dynamics(robot, q, dq, ddq),
        "mass matrix": iparam.mass_matrix(robot, q),
        "link poses": whole.motion.poses,
        "twists": whole.motion.twists,
        "accelerations": whole.motion.accelerations,
        "wrenches": whole.wrenches,
        "torques by links": whole.torques,
        "torques by q": torques.by_q,
        "torques by dq": torques.by_dq,
        "torques by ddq": torques.by_ddq,
        "wrench regressor": iparam.wrench_regressor(robot, q, dq, ddq),
        "wrench regressor by q": wrench.by_q,
        "wrench regressor by dq": wrench.by_dq,
        "wrench regressor by ddq": wrench.by_ddq,
        "torque regressor": regressor,
        "torque regressor by q": arm.by_q,
        "torque regressor by dq": arm.by_dq,
        "torque regressor by ddq": arm.by_ddq,
    }


def of_planner(robot: iparam.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, _: np.ndarray) -> Results:
    """Gradients of each sample's information, and those one step ahead, of which the Hessians are made."""
    rng, found = np.random.default_rng(3), {}
    informations = {"wrench": WrenchInformation(robot), "torque": TorqueInformation.of_robot(robot)}
    for name, information in informations.items():
        weights = rng.normal(size=(information.size, information.size))
        motion = MotionArrays(q.copy(), dq.copy(), ddq.copy(), np.zeros_like(q))
        gradient, hessian = information.weighted_curvature(motion, weights + weights.T)
        found[f"{name} gradient"] = gradient
        found[f"{name} gradients ahead"] = gradient[:, None] + STEP * hessian
        found[f"{name} gram changes"] = information.gram_changes(motion)[1]
    return found


def of_shapes(robot: iparam.Robot, q: np.ndarray, *_: np.ndarray) -> Results:
    """Distances of shapes on the base from shapes on all bodies, and their gradients: near, far and overlapping."""
    rng, bodies, turn = np.random.default_rng(4), np.arange(robot.num_joints + 1.0)[:, None], np.eye(3).reshape(1, 9)
    capsules = np.hstack([bodies, rng.normal(0.0, 0.3, (len(bodies), 6)), 0.05 + 0.0 * bodies])
    boxes = np.hstack([bodies, 0.0 * bodies + turn, rng.normal(0.0, 0.2, (len(bodies), 3)), 0.0 * bodies + 0.3])
    boxes = np.hstack([boxes, rng.uniform(0.1, 0.5, (len(bodies), 2))])
    planes = np.array([[0.0, 0.6, 0.8, -0.1]])
    fixed = np.zeros(len(bodies), dtype=np.int64)
    pairs = np.column_stack([np.arange(len(bodies)), fixed])
    found = {
        "capsules": distances("capsule", robot.chain.address, pairs, (capsules,), q, True),
        "planes": distances(
            "plane", robot.chain.address, pairs, (capsules[:, [0, 1, 2, 3, 7]].copy(), planes), q, True
        ),
        "capsules and boxes": distances("box", robot.chain.address, pairs, (capsules, boxes), q, True),
        "boxes": distances("box_box", robot.chain.address, pairs[1:], (boxes,), q, True),
    }
    return {f"{name} {part}": values for name, both in found.items() for part, values in zip("dg", both, strict=True)}


def of_series() -> Results:
    """What goes through a series sample by sample."""
    rng = np.random.default_rng(6)
    time = np.cumsum(rng.uniform(0.0018, 0.0022, 700))
    q = np.sin(3.0 * time[:, None] + np.arange(3.0)) + 5e-5 * rng.normal(size=(700, 3))
    found: Results = {}
    for order in (3, 4, 6):
        for name, at in {"even": 0.002 * np.arange(700.0), "uneven": time}.items():
            motion = kalman_smooth(at, q, [JointProcess(order, 5.0, 5e-5)] * 3)
            found |= {
                f"{name} {order}": np.stack([motion.q, motion.dq, motion.ddq]),
                f"{name} {order} variances": motion.covariance,
            }
    rows = rng.normal(size=(501, 17))
    factor, values, vectors = np.zeros((17, 17)), np.zeros(17), np.eye(17)
    recursions.fold_rows(factor, rows)
    for block in np.array_split(rows, 9):
        recursions.append_rows(values, vectors, block.copy())
    noise, total, of_svd = np.eye(11), np.empty(16), np.empty(16)
    ratios = [
        recursions.solve_total(factor, 6, noise, total),
        recursions.solve_total_of_svd(values, vectors, 6, noise, np.empty((17, 17)), of_svd),
    ]
    whiten, covariance, score, information = np.tri(6), np.eye(16), np.zeros(16), np.zeros(16)
    taken = [rows[k, :6].copy() for k in range(20)]
    squares = [
        recursions.add_innovation(whiten, rows[:6, :10].copy(), y, total, covariance, score, information) for y in taken
    ]
    products = np.einsum("cni,cnj->cij", rows[:480].reshape(6, 80, 17), rows[:480].reshape(6, 80, 17))
    change = recursions.change_information(products, 0.1 * np.eye(10), np.ones(6), total, np.eye(16), np.ones(10))
    side = np.sign(rows[:, :3])
    state = np.zeros((len(side) + 1, 3))
    recursions.presliding(side, np.exp(-np.abs(rows[:, :3])), state)
    return found | {
        "factor": factor,
        "solution": recursions.solve_triangle(factor),
        "singular values": values,
        "sums of squares": (vectors * values**2) @ vectors.T,  # the vectors' signs mean nothing
        "total": total,
        "total of values": of_svd,
        "ratios": np.array(ratios),
        "innovations": np.array(squares),
        "score": score,
        "information": information,
        "information on a change": change[0],
        "score of a change": change[1],
        "filtered": recursions.recursive_filter(np.array([[0.2, 0.3, 0.1], [1.0, -1.2, 0.5]]), rows),
        "tension": state,
    }


def everything(robot: iparam.Robot, *state: np.ndarray) -> Results:
    return of_motion(robot, *state) | of_planner(robot, *state) | of_shapes(robot, *state)


def assert_close(found: Results, expected: Results, share: float) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        worst = np.abs(found[name] - values).max()
        assert worst <= share * np.abs(values).max(), f"{name}: {worst}"


@pytest.mark.parametrize("other", SUPPORTED[:-1])
def test_every_path_computes_the_same(other: str, tmp_path: Path) -> None:
    environment = {**os.environ, "IPARAM_SIMD": other}
    command = [sys.executable, __file__, str(tmp_path / "found.npz")]
    subprocess.run(command, env=environment, check=True, timeout=300)
    with np.load(tmp_path / "found.npz") as file:
        assert str(file["path"]) == other
        for name, make in ROBOTS.items():
            robot = make()
            expected = everything(robot, *states(robot))
            assert_close({key: file[f"{name} {key}"] for key in expected}, expected, ROUNDING)
        expected = of_series()
        assert_close({key: file[f"series {key}"] for key in expected}, expected, ROUNDING)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("compute", [of_motion, of_planner, of_shapes])
def test_a_sample_has_the_same_digits_alone_and_in_any_batch(name: str, compute: Callable[..., Results]) -> None:
    robot = ROBOTS[name]()
    state = states(robot)
    expected = compute(robot, *state)
    for first, last in ((0, 1), (0, 7), (3, 11), (5, 21), (22, 23)):
        part = compute(robot, *(array[first:last] for array in state))
        assert_close(part, {key: values[first:last] for key, values in expected.items()}, 0.0)


def behind_idle_joints(robot: iparam.Robot, count: int) -> iparam.Robot:
    """The same arm on ``count`` joints that carry nothing else."""
    links = [iparam.Link(f"idle{i}") for i in range(count)]
    names = [*(link.name for link in links), robot.base_frame]
    joints = [
        iparam.Joint(f"idle joint {i}", "revolute", names[i], names[i + 1], np.eye(4), np.array([0.0, 0.0, 1.0]))
        for i in range(count)
    ]
    limits = iparam.JointLimits.unlimited(count + robot.num_joints)
    whole = iparam.Robot("idle", (*joints, *robot.joints), (*links, *robot.links), limits, robot.tool_frame)
    return whole.with_armature(np.concatenate([np.zeros(count), robot.armature]))


@pytest.mark.parametrize("count", range(1, 9))
def test_what_is_specialised_for_the_number_of_joints_computes_the_same(count: int) -> None:
    """Joints that rest under the base make the chain one of the general path."""
    robot, idle = mixed_chain(count), 9
    q, dq, ddq, tip = states(robot)
    before = np.zeros((SAMPLES, idle))
    motion = [np.concatenate([before, array], axis=1) for array in (q, dq, ddq)]
    general = of_motion(behind_idle_joints(robot, idle), *motion, tip)
    parts: dict[str, Any] = {
        "pose": ...,
        "velocity": ...,
        "angular velocity": ...,
        "acceleration": ...,
        "angular acceleration": ...,
        "jacobian": np.s_[..., idle:],
        "jacobian derivative": np.s_[..., idle:],
        "torques": np.s_[..., idle:],
        "torques without tip": np.s_[..., idle:],
        "mass matrix": np.s_[..., idle:, idle:],
        "wrench regressor": ...,
        "torque regressor": np.s_[..., idle:, 10 * idle :],
    }
    special = of_motion(robot, q, dq, ddq, tip)
    found = {name: general[name][part] for name, part in parts.items()}
    assert_close(found, {name: special[name] for name in parts}, ROUNDING)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_result_that_no_cache_holds_has_the_same_digits(name: str) -> None:
    """It is written in another way; one number further, the lines of the cache begin elsewhere."""
    robot = ROBOTS[name]()
    samples = 9_000_000 // (80 * robot.num_joints**2)
    q, dq, ddq = np.random.default_rng(5).uniform(-3.0, 3.0, (3, samples, robot.num_joints))
    whole = iparam.joint_torque_regressor(robot, q, dq, ddq)
    parts = [
        iparam.joint_torque_regressor(robot, q[k : k + 50], dq[k : k + 50], ddq[k : k + 50])
        for k in range(0, samples, 50)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    shifted = np.empty(whole.size + 1)[1:].reshape(whole.shape)
    native.joint_torque_regressor(robot.chain.address, np.array([0.0, 0.0, -9.81]), q, dq, ddq, shifted)
    np.testing.assert_array_equal(whole, shifted)


@pytest.mark.parametrize("name", ROBOTS)
def test_threads_change_no_digit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = ROBOTS[name]()
    expected = of_motion(robot, *states(robot))
    monkeypatch.setattr(batching, "SMALLEST_SHARE", 1)
    monkeypatch.setattr(batching, "_num_threads", 5)
    assert_close(of_motion(robot, *states(robot)), expected, 0.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_memory_layout_changes_no_digit(name: str) -> None:
    robot = ROBOTS[name]()
    state = states(robot)
    expected = of_motion(robot, *state)
    by_columns = [np.asfortranarray(array) for array in state]
    strided = [np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3] for array in state]
    fixed = [array.copy() for array in state]
    for array in fixed:
        array.flags.writeable = False
    for others in (by_columns, strided, fixed):
        assert_close(of_motion(robot, *others), expected, 0.0)


if __name__ == "__main__":
    found: dict[str, object] = {"path": path} | {f"series {key}": values for key, values in of_series().items()}
    for label, build in ROBOTS.items():
        one = build()
        found |= {f"{label} {key}": values for key, values in everything(one, *states(one)).items()}
    np.savez(sys.argv[1], **found)
