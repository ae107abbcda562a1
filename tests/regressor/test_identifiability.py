"""Base parameters of arms, and what wrench data determine of a payload."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.regressor.identifiability import (
    PARAMETER_NAMES,
    base_parameters,
    payload_identifiability,
)

KNOWN_RANKS = {"panda": ("panda_hand", 43), "ur5": ("tool0", 36), "xarm7": ("link_eef", 43)}


def random_states(robot: iparam.Robot, count: int = 40, seed: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-3.0, 3.0, (3, count, robot.num_joints))


def planar_arm(count: int, spacing: float = 0.5, tilt: float = 0.0) -> iparam.Robot:
    """Horizontal joints, parallel but for a tilt of each against the last: everything turns in one vertical plane."""
    ahead = np.eye(4)
    ahead[1:3, 1:3] = [[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]]
    ahead[0, 3] = spacing
    first = np.eye(4)
    first[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    joints = tuple(iparam.Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", ahead if i else first) for i in range(count))
    body = iparam.InertialParameters.box(1.0, [0.4, 0.1, 0.1])
    links = (iparam.Link("l0"), *(iparam.Link(f"l{i + 1}", body) for i in range(count)))
    return iparam.Robot("planar", joints, links, iparam.JointLimits.unlimited(count), f"l{count}")


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur10e", "ur16e"])
def test_a_six_joint_ur_has_36(name: str) -> None:
    found = base_parameters(iparam.load_robot(name))
    assert found.rank == 36
    assert found.weakest_kept > 1e6 * found.strongest_dropped
    # Only the turning of the first link shows, for its axis is vertical; the base carries the rest.
    hidden = {found.names[column] for column in found.never_identifiable}
    assert {name for name in found.names if name.endswith("1")} - hidden == {"Izz1"}


@pytest.mark.parametrize("name", KNOWN_RANKS)
def test_known_ranks_of_other_arms(name: str, example_robot_urdf) -> None:
    tip, rank = KNOWN_RANKS[name]
    robot = iparam.load_robot(example_robot_urdf(name), tip=tip)
    found = base_parameters(robot)
    assert found.rank == rank
    states = random_states(robot)
    matrix = iparam.joint_torque_regressor(robot, *states)
    assert np.linalg.matrix_rank(matrix.reshape(-1, 10 * robot.num_joints), 1e-7) == rank


def test_mounting_on_a_wall_shows_more() -> None:
    robot = iparam.load_robot("ur5e")
    found = base_parameters(robot, gravity=(9.81, 0.0, 0.0))
    assert found.rank == 38
    assert {"mx1", "my1"} <= {found.names[column] for column in found.independent}


@pytest.mark.parametrize("name", ["ur5e", "panda", "planar"])
def test_base_parameters_give_the_same_torques_as_all(name: str, request: pytest.FixtureRequest) -> None:
    if name == "panda":
        robot = iparam.load_robot(request.getfixturevalue("example_robot_urdf")("panda"), tip="panda_hand")
    else:
        robot = planar_arm(3) if name == "planar" else iparam.load_robot(name)
    found = base_parameters(robot)
    matrix = iparam.joint_torque_regressor(robot, *random_states(robot))
    phi = np.random.default_rng(10).normal(size=(5, 10 * robot.num_joints))
    torques = np.einsum("kic,bc->bki", matrix, phi)
    again = np.einsum("kic,bc->bki", matrix[..., found.independent], found.values(phi))
    np.testing.assert_allclose(again, torques, atol=1e-9 * np.abs(torques).max())
    own = found.values(robot.body_parameters.ravel())
    bare = iparam.inverse_dynamics(robot.with_armature(0.0), *random_states(robot))
    np.testing.assert_allclose(matrix[..., found.independent] @ own, bare, atol=1e-9 * np.abs(bare).max())


def test_the_choice_does_not_depend_on_the_random_states() -> None:
    robot = iparam.load_robot("ur10e")
    first, second, third = (
        base_parameters(robot),
        base_parameters(robot, seed=1),
        base_parameters(robot, samples=250, seed=2),
    )
    for other in (second, third):
        np.testing.assert_array_equal(first.independent, other.independent)
        np.testing.assert_allclose(first.grouping, other.grouping, atol=1e-10)
        assert first.never_identifiable == other.never_identifiable
        assert first.formulas() == other.formulas()


def test_formulas_of_a_double_pendulum_are_the_textbook_ones() -> None:
    # Khalil & Dombre: m2 and the parts across the plane regroup onto link 1 with the link length 0.5 m.
    assert base_parameters(planar_arm(2)).formulas() == (
        "mx1 + 0.5 m2",
        "my1",
        "Izz1 + 0.25 m2",
        "mx2",
        "my2",
        "Izz2",
    )
    assert base_parameters(planar_arm(2, 1.0)).formulas()[0] == "mx1 + m2"
    assert base_parameters(planar_arm(2, -1.0)).formulas()[0] == "mx1 - m2"


def test_formulas_of_the_ur5e() -> None:
    formulas = base_parameters(iparam.load_robot("ur5e")).formulas()
    assert formulas[0].startswith("Izz1 + Iyy2 + 0.1806 m3 + Iyy3 + ")
    assert "mx2 - 0.425 m3 - 0.425 m4 - 0.425 m5 - 0.425 m6" in formulas
    assert "Ixx6 - Iyy6" in formulas
    assert base_parameters(iparam.load_robot("ur5e")).formulas(digits=2)[0].startswith("Izz1 + Iyy2 + 0.18 m3")


def test_an_unclear_rank_is_refused() -> None:
    robot = planar_arm(3, tilt=1e-6)  # not quite parallel: more shows, but hardly
    with pytest.raises(iparam.InputError, match="not clear"):
        base_parameters(robot, tolerance=3e-6)
    assert base_parameters(robot).rank == base_parameters(planar_arm(3)).rank == 9
    with pytest.raises(iparam.InputError, match="samples"):
        base_parameters(robot, samples=1)


def test_a_rich_motion_determines_the_whole_payload() -> None:
    robot = iparam.load_robot("ur5e")
    matrix = iparam.wrench_regressor(robot, *random_states(robot))
    report = payload_identifiability(matrix)
    assert (report.rank, report.undetermined) == (10, ())
    assert report.condition_number == pytest.approx(report.singular_values[0] / report.singular_values[-1])
    # The units of the parameters do not matter.
    scaled = payload_identifiability(matrix * np.geomspace(1e-2, 1e2, 10))
    np.testing.assert_allclose(scaled.singular_values, report.singular_values, rtol=1e-10)


def test_poses_at_rest_tell_nothing_about_the_inertia() -> None:
    robot = iparam.load_robot("ur5e")
    q = random_states(robot)[0]
    matrix = iparam.wrench_regressor(robot, q, np.zeros(6), np.zeros(6))
    report = payload_identifiability(matrix)
    assert report.rank == 4
    assert report.undetermined == PARAMETER_NAMES[4:]
    assert report.condition_number == np.inf
    one = payload_identifiability(matrix[0])
    assert "m" not in one.undetermined
    assert {"mx", "my", "mz"} <= set(one.undetermined)


def test_turning_about_one_axis_leaves_the_rest_of_the_inertia_open() -> None:
    robot = iparam.load_robot("ur5e")
    q, dq, ddq = random_states(robot)
    still = np.arange(6) < 5
    pose = np.array([0.0, -1.2, 1.0, -1.0, -1.1, 0.0])
    matrix = iparam.wrench_regressor(
        robot, np.where(still, pose, q), np.where(still, 0.0, dq), np.where(still, 0.0, ddq)
    )
    report = payload_identifiability(matrix)
    assert {"Ixx", "Iyy", "Ixy"} <= set(report.undetermined)
    assert not {"m", "Izz", "Ixz", "Iyz"} & set(report.undetermined)


def test_no_samples_and_odd_shapes_are_refused() -> None:
    with pytest.raises(iparam.InputError, match="no samples"):
        payload_identifiability(np.zeros((0, 6, 10)))
    zero = payload_identifiability(np.zeros((3, 6, 10)))
    assert (zero.rank, zero.undetermined) == (0, PARAMETER_NAMES)


def test_fewer_joints_whose_torques_are_measured_show_fewer_parameters() -> None:
    robot = iparam.load_robot("ur5e")
    whole, last = base_parameters(robot), base_parameters(robot, joints=[5])
    q, dq, ddq = np.random.default_rng(2).uniform(-2.0, 2.0, (3, 100, 6))
    rows = iparam.joint_torque_regressor(robot, q, dq, ddq)[:, 5]
    assert last.rank == np.linalg.matrix_rank(rows, tol=1e-6 * np.linalg.norm(rows)) < whole.rank
    phi = robot.body_parameters.ravel()
    np.testing.assert_allclose(rows[:, last.independent] @ last.values(phi), rows @ phi, atol=1e-9)
    assert base_parameters(robot, joints=range(6)).independent.tolist() == whole.independent.tolist()
    for wrong in ([], [6], [-1]):
        with pytest.raises(InputError, match=r"joints must be some of 0\.\.5"):
            base_parameters(robot, joints=wrong)
