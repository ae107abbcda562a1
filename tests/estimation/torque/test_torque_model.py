"""The regressor of torques, with rotors, friction and load, against inverse dynamics; its rank and its names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.joint_data import JointData
from iparam.estimation.torque.robot_identification import grouped
from iparam.estimation.torque.torque_model import TorqueModel


@pytest.fixture(scope="module")
def data() -> JointData:
    q, dq, ddq = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 40, 6))
    return JointData(np.arange(40.0), q, dq, ddq, np.zeros((40, 6)))


def stacked(model: TorqueModel, data: JointData, run: int, parameters: np.ndarray, load: np.ndarray) -> np.ndarray:
    directions = model.friction.directions(data.q, data.dq)
    rows = model.rows(data, run, directions, load)
    columns = [model.joint_columns(j, run) for j in range(model.num_joints)]
    return np.column_stack([part @ parameters[own] for part, own in zip(rows, columns, strict=True)])


def test_rows_times_parameters_are_torques(data: JointData, robot: iparam.Robot, load: Any, truth: Any) -> None:
    friction = FrictionModel(("viscous", "coulomb", "offset", "quadratic", "load", "stribeck"), "smooth")
    model = TorqueModel(robot, friction, runs=2, run_terms=("viscous", "coulomb"), loaded_runs=(1,))
    parameters = np.zeros(model.size)
    parameters[:60] = robot.body_parameters.ravel()
    parameters[60:66] = truth.rotors
    rng = np.random.default_rng(1)
    terms: dict[tuple[str, int], np.ndarray] = {}
    for run in range(2):
        for term in friction.terms:
            if run == 0 or term in model.run_terms:
                parameters[model.friction_columns(term, run)] = rng.uniform(0.1, 2.0, 6)
            terms[term, run] = parameters[model.friction_columns(term, run)]
    parameters[model.load_columns] = load.phi
    side = np.tanh(data.dq / friction.smoothing_speed)
    for run, arm in ((0, robot), (1, robot.with_payload(load))):
        rigid = iparam.inverse_dynamics(arm, data.q, data.dq, data.ddq)
        expected = rigid + truth.rotors * data.ddq
        expected = expected + terms["viscous", run] * data.dq + terms["coulomb", run] * side + terms["offset", run]
        expected = expected + terms["quadratic", run] * data.dq * np.abs(data.dq)
        expected = expected + terms["load", run] * side * np.abs(rigid)
        expected = expected + terms["stribeck", run] * side * np.exp(-((data.dq / 0.1) ** 2))
        directions = friction.directions(data.q, data.dq)
        np.testing.assert_allclose(model.gear_torques(data, run, parameters), rigid, atol=1e-9)
        np.testing.assert_allclose(model.torques(data, run, directions, parameters), expected, atol=1e-9)
        np.testing.assert_allclose(stacked(model, data, run, parameters, rigid), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["ur3e", "ur10e"])
def test_a_six_joint_arm_has_36_base_parameters_and_four_rotors_of_its_own(name: str) -> None:
    model = TorqueModel(iparam.load_robot(name), FrictionModel(("viscous", "coulomb", "offset"), "smooth"))
    assert model.base.rank == 36
    names = [model.names[column] for column in model.independent]
    assert len(names) == 36 + 4 + 18
    assert [name for name in names if name.startswith("rotor")] == ["rotor3", "rotor4", "rotor5", "rotor6"]
    assert model.base.formulas()[0].startswith("Izz1 + Iyy2")


def test_grouping_changes_no_torque(data: JointData, robot: iparam.Robot) -> None:
    model = TorqueModel(robot, FrictionModel(("offset",), "smooth"))
    parameters = np.random.default_rng(0).normal(size=model.size)
    alone = np.zeros(model.size)
    alone[model.independent] = grouped(model) @ parameters
    side = model.friction.directions(data.q, data.dq)
    np.testing.assert_allclose(
        model.torques(data, 0, side, alone), model.torques(data, 0, side, parameters), rtol=1e-6, atol=1e-6
    )


def test_one_run_has_no_terms_of_its_own(robot: iparam.Robot) -> None:
    assert TorqueModel(robot, run_terms=("viscous",)).run_terms == ()
    with pytest.raises(InputError, match="run"):
        TorqueModel(robot, runs=2, loaded_runs=(2,))
