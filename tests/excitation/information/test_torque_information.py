"""Information about the arm's base parameters, and the planner's function on it: exact gradients."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import MotionArrays
from iparam.excitation.constraints.torque_limit import TorqueLimitConstraint
from iparam.excitation.information.torque_information import TorqueInformation, arm_scales
from iparam.excitation.search.barrier import BarrierFunction, Smoothing
from iparam.excitation.search.optimizer import optimize_excitation
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.setup import planning_problem, reference_problem

STEP = 1e-5


def prismatic_arm() -> iparam.Robot:
    """Two revolute joints about x and y on either side of a slide along a slanted axis."""
    body = iparam.InertialParameters.box(1.0, [0.1, 0.2, 0.3])
    shift = np.eye(4)
    shift[:3, 3] = [0.2, 0.1, 0.3]
    joints = tuple(
        iparam.Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", shift, axis)
        for i, (kind, axis) in enumerate(
            (("revolute", [1.0, 0, 0]), ("prismatic", [1.0, 2.0, 1.0]), ("revolute", [0, 1.0, 0]))
        )
    )
    links = (iparam.Link("l0"), *(iparam.Link(f"l{i + 1}", body) for i in range(3)))
    return iparam.Robot("slide", joints, links, iparam.JointLimits.unlimited(3), "l3")


@pytest.fixture(scope="module", params=["ur5e", "prismatic"])
def information(request: pytest.FixtureRequest) -> TorqueInformation:
    robot = iparam.load_robot("ur5e") if request.param == "ur5e" else prismatic_arm()
    plain = TorqueInformation.of_robot(robot, gravity=(0.0, 1.0, -9.7))
    rng = np.random.default_rng(0)
    return dataclasses.replace(
        plain, row_weights=rng.uniform(0.5, 2.0, robot.num_joints), column_scales=rng.uniform(0.5, 2.0, plain.size)
    )


@pytest.fixture(scope="module")
def motion(information: TorqueInformation) -> MotionArrays:
    return MotionArrays(*np.random.default_rng(1).uniform(-2.0, 2.0, (4, 5, information.robot.num_joints)))


def shifted(motion: MotionArrays, sample: int, order: int, joint: int, step: float) -> MotionArrays:
    arrays = [np.array(part) for part in motion]
    arrays[order][sample, joint] += step
    return MotionArrays(*arrays)


@pytest.mark.thorough(keep=1)
def test_gram_is_that_of_the_weighted_base_regressor(information: TorqueInformation, motion: MotionArrays) -> None:
    full = iparam.joint_torque_regressor(information.robot, motion.q, motion.dq, motion.ddq, information.gravity)
    columns = full[..., information.independent] * information.column_scales
    expected = np.einsum("kic,i,kid->cd", columns, information.row_weights, columns)
    np.testing.assert_allclose(information.gram(motion), expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(information.gram_changes(motion)[0], expected, rtol=1e-12, atol=1e-9)
    # Sorted and independent: the Gram matrix of enough samples has full rank.
    assert information.gram(motion).shape == (information.size, information.size)


def test_gram_changes_against_central_differences(information: TorqueInformation, motion: MotionArrays) -> None:
    _, changes = information.gram_changes(motion)
    for sample in (0, 4):
        for order in range(3):
            for joint in range(information.robot.num_joints):
                ahead, behind = (
                    information.gram(shifted(motion, sample, order, joint, sign * STEP)) for sign in (1.0, -1.0)
                )
                difference = (ahead - behind) / (2 * STEP)
                np.testing.assert_allclose(
                    changes[sample, order, joint], difference, atol=1e-7 * (1.0 + np.abs(ahead).max())
                )


@pytest.mark.thorough(keep=1)
def test_weighted_gradient_is_exact_and_the_hessian_follows_it(
    information: TorqueInformation, motion: MotionArrays
) -> None:
    rng = np.random.default_rng(2)
    weights = rng.normal(size=(information.size, information.size))
    weights = weights + weights.T
    gradient, hessian = information.weighted_curvature(motion, weights)
    _, changes = information.gram_changes(motion)
    exact = np.einsum("kojcd,cd->koj", changes, weights).reshape(gradient.shape)
    np.testing.assert_allclose(gradient, exact, atol=1e-11 * np.abs(exact).max())
    np.testing.assert_array_equal(hessian, hessian.swapaxes(1, 2))
    joints, one = information.robot.num_joints, MotionArrays(*(part[2:3] for part in motion))
    for column in range(3 * joints):
        order, joint = divmod(column, joints)
        ahead, behind = (
            information.weighted_curvature(shifted(one, 0, order, joint, sign * STEP), weights)[0][0]
            for sign in (1.0, -1.0)
        )
        difference = (ahead - behind) / (2 * STEP)
        np.testing.assert_allclose(hessian[2, column], difference, atol=1e-4 * np.abs(hessian[2]).max())


def test_survives_pickling(information: TorqueInformation, motion: MotionArrays) -> None:
    again = pickle.loads(pickle.dumps(information))  # noqa: S301  what a worker process is given
    np.testing.assert_array_equal(again.gram_changes(motion)[1], information.gram_changes(motion)[1])


@pytest.fixture(scope="module")
def problem() -> ExcitationProblem:
    """The reference problem, but for the arm itself, within its torque limits while it carries 1 kg."""
    wrench = reference_problem()
    robot = wrench.robot
    payload = iparam.InertialParameters.box(1.0, [0.1, 0.15, 0.2])
    return dataclasses.replace(
        wrench,
        information=TorqueInformation.of_robot(robot),
        constraints=(*wrench.constraints, TorqueLimitConstraint.of_robot(robot, payload)),
    )


@pytest.mark.parametrize("criterion", ["kappa", "d", "a", "e"])
def test_barrier_function_of_the_arm_has_the_gradient_of_its_value(problem: ExcitationProblem, criterion: str) -> None:
    function = BarrierFunction(dataclasses.replace(problem, criterion=criterion), 50.0, 20.0, {})
    smoothing = Smoothing(order=8.0, barrier=1e-2)
    rng = np.random.default_rng(4)
    x = 0.15 * rng.normal(size=problem.num_variables)  # a feasible motion of kappa 290
    expansion = function.expand(x, smoothing)
    assert expansion.value == pytest.approx(function.value(x, smoothing), rel=1e-9)
    for _ in range(4):
        direction = rng.normal(size=x.size)
        direction /= np.linalg.norm(direction)
        h = 1e-5
        slope = (function.value(x + h * direction, smoothing) - function.value(x - h * direction, smoothing)) / (2 * h)
        scale = float(np.linalg.norm(expansion.gradient))
        assert expansion.gradient @ direction == pytest.approx(slope, abs=1e-5 * scale)


@pytest.mark.parametrize(
    "change",
    [
        {"independent": [3, 2, 1]},
        {"independent": [58, 59, 60]},
        {"independent": [0.5, 1.5]},
        {"row_weights": np.zeros(6)},
        {"column_scales": np.ones(3)},
    ],
)
def test_senseless_input_is_refused(change: dict) -> None:
    fields = {"independent": [9, 11, 12, 14], "row_weights": np.ones(6), "column_scales": np.ones(4)} | change
    with pytest.raises(iparam.InputError, match=next(iter(change))):
        TorqueInformation(iparam.load_robot("ur5e"), **fields)


def test_a_motion_for_the_whole_arm_tells_all_base_parameters_apart() -> None:
    ur5e = iparam.load_robot("ur5e")
    raw = TorqueInformation.of_robot(ur5e)
    information = dataclasses.replace(raw, column_scales=arm_scales(raw))
    problem = planning_problem(ur5e, information=information, num_harmonics=4)
    result = optimize_excitation(problem, seed=0, time_budget=1.5, workers=1)
    assert all(margin.margin >= 0.0 for margin in result.margins)
    assert result.condition_number < 0.2 * min(start.initial for start in result.starts)
    # Looked at without the planner's code: the scaled base regressor of the sampled motion.
    motion = result.trajectory.sample(problem.fps)
    step = problem.subsample
    Y = iparam.joint_torque_regressor(ur5e, motion.q[::step], motion.dq[::step], motion.ddq[::step])
    base = iparam.base_parameters(ur5e)
    stacked = (Y[..., base.independent] * information.column_scales).reshape(-1, base.rank)
    assert np.linalg.cond(stacked) == pytest.approx(result.condition_number, rel=1e-6)
