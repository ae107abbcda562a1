"""Drives that turn with several joints: their names, their matrix, the torques that they ask of the joints."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation.torque import Coupling, FrictionModel, TorqueModel, couplings_of
from iparam.estimation.torque.joint_data import JointData


@pytest.mark.parametrize(
    ("name", "joints", "ratios"),
    [
        ("5+6", (4, 5), (1.0, 1.0)),
        ("5-6", (4, 5), (1.0, -1.0)),
        ("2+0.5*3", (1, 2), (1.0, 0.5)),
        ("4-0.25*5+6", (3, 4, 5), (1.0, -0.25, 1.0)),
    ],
)
def test_a_coupling_is_what_its_name_says(name: str, joints: tuple[int, ...], ratios: tuple[float, ...]) -> None:
    coupling = Coupling.parse(name)
    assert coupling == Coupling(joints, ratios)
    assert coupling.name == name


@pytest.mark.parametrize("text", ["", "5", "+5+6", "5*6", "5+", "5+x*6", "5 + 6", "0+1", "5+5", "5+0*6", "5+6\n"])
def test_what_is_no_coupling_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="coupl"):
        Coupling.parse(text)


def test_a_matrix_of_the_drives_has_a_coupling_for_each_row_of_several_entries() -> None:
    matrix = np.diag([1.0, -1.0, 2.0, 1.0, 1.0, 1.0])  # the sign and the gear of a drive of one joint are no coupling
    assert couplings_of(matrix, 6) == ()
    matrix[4:, 4:] = [[1.0, 1.0], [1.0, -1.0]]  # a differential wrist
    matrix[3] = [0.0, 0.0, -2.0, -1.0, 0.0, 0.0]
    assert [coupling.name for coupling in couplings_of(matrix.tolist(), 6)] == ["3+0.5*4", "5+6", "5-6"]
    assert couplings_of(["5+6", Coupling((0, 1), (1.0, -2.0))], 6) == (
        Coupling((4, 5), (1.0, 1.0)),
        Coupling((0, 1), (1.0, -2.0)),
    )
    assert couplings_of((), 6) == ()
    matrix[5] = matrix[4]
    for wrong in (matrix, np.eye(5), np.ones(6)):
        with pytest.raises(InputError, match=r"invertible matrix \(6, 6\)"):
            couplings_of(wrong, 6)


def test_the_power_of_a_coupled_drive_is_what_the_joints_are_given(robot: iparam.Robot) -> None:
    coupling = Coupling((3, 5), (1.0, -0.5))
    model = TorqueModel(robot, FrictionModel(("viscous",), "smooth"), couplings=(coupling,))
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.normal(size=(3, 50, 6))
    data = JointData(np.arange(50.0), q, dq, ddq, 0.0 * q)
    parameters = np.zeros(model.size)
    parameters[model.coupling_columns(0)] = [0.3, 2.0, 1.5]
    directions = model.directions(data)
    torque = model.torques(data, 0, directions, parameters)
    speed, acceleration = dq[:, 3] - 0.5 * dq[:, 5], ddq[:, 3] - 0.5 * ddq[:, 5]
    drive = 0.3 * acceleration + 2.0 * speed + 1.5 * np.tanh(speed / 0.01)
    np.testing.assert_allclose((torque * dq).sum(axis=1), drive * speed, rtol=1e-12, atol=1e-12)
    rows = model.rows(data, 0, directions, None)
    by_rows = [own @ parameters[model.joint_columns(joint, 0)] for joint, own in enumerate(rows)]
    np.testing.assert_allclose(np.transpose(by_rows), torque, rtol=1e-12, atol=1e-12)
    (found,) = model.coupled_drives(parameters)
    assert found.to_document() == {
        "joints": [4, 6],
        "ratios": [1.0, -0.5],
        "rotor_inertia": 0.3,
        "viscous": 2.0,
        "coulomb": 1.5,
    }


def test_couplings_that_the_arm_does_not_have_or_nothing_shows_are_refused(robot: iparam.Robot) -> None:
    with pytest.raises(InputError, match="has 6 joints, got the coupling 6\\+7"):
        TorqueModel(robot, couplings=(Coupling((5, 6), (1.0, 1.0)),))
    with pytest.raises(InputError, match="all left out"):
        TorqueModel(robot, couplings=(Coupling((4, 5), (1.0, 1.0)),), left_out=(4, 5))


def test_without_the_effort_of_a_joint_the_parameters_that_it_alone_shows_are_not_determined(
    robot: iparam.Robot,
) -> None:
    whole, part = TorqueModel(robot), TorqueModel(robot, left_out=(0,))
    names = {model: {model.names[column] for column in model.independent} for model in (whole, part)}
    # Joint 1 alone moves link 1, about z: no other joint's torque has anything of it.
    assert {"Izz1", "viscous1", "coulomb1"} <= names[whole]
    assert not {name for name in names[part] if name.endswith("1")}
    # What is left can be told apart by the other joints' torques: the columns are independent.
    rng = np.random.default_rng(1)
    q, dq, ddq = rng.uniform(-2.0, 2.0, (3, 200, 6))
    rows = iparam.joint_torque_regressor(robot, q, dq, ddq)[:, 1:].reshape(-1, 60)
    assert np.linalg.matrix_rank(rows[:, part.base.independent], tol=1e-6) == part.base.rank
    assert np.linalg.matrix_rank(rows, tol=1e-6) == part.base.rank
    with pytest.raises(InputError, match="joints 1 to 6: cannot leave out joints 7"):
        TorqueModel(robot, left_out=(6,))
    with pytest.raises(InputError, match="all joints are left out"):
        TorqueModel(robot, left_out=range(6))
