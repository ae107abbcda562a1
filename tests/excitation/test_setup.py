"""Planning for other arms and in a work cell, from the robot's own limits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.excitation.search.optimizer import optimize_excitation
from iparam.excitation.search.start_pose import default_start
from iparam.excitation.setup import PlanningLimits, SphereChecker, planning_problem, reference_problem
from iparam.robot.cell import Box, Plane, WorkCell, load_cell, save_cell
from iparam.robot.collision.shapes import PayloadBox
from iparam.spatial.transforms import rotation_from_rpy

UR5E = iparam.load_robot("ur5e")
SIZE = [0.10, 0.15, 0.20]
CELL = {
    "format": "iparam-cell/1",
    "ground_height": 0.0,
    "boxes": [{"name": "table", "center": [0.0, -0.6, 0.05], "size": [1.0, 0.6, 0.1]}],
    "planes": [
        {"name": "left wall", "point": [0.9, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]},
        {"name": "back wall", "point": [0.0, 0.9, 0.0], "normal": [0.0, -1.0, 0.0]},
    ],
}


def payload_of(mass: float) -> iparam.InertialParameters:
    pose = np.eye(4)
    pose[2, 3] = 0.1
    return iparam.InertialParameters.box(mass, SIZE).transformed(pose)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("name", "mass"), [("ur3e", 1.0), ("ur20", 8.0), ("cell", 2.0)])
def test_other_arms_and_a_cell_get_a_valid_motion(name: str, mass: float, tmp_path: Path) -> None:
    """Other makers' arms: tests/recovery/test_other_makers_arms.py."""
    cell = None
    if name == "cell":
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(CELL), encoding="utf-8")
        robot, cell = UR5E, load_cell(path)
    else:
        robot = iparam.load_robot(name)
    payload = payload_of(mass)
    problem = planning_problem(
        robot, payload=PayloadBox.from_size(SIZE), payload_parameters=payload, cell=cell, num_harmonics=4
    )
    result = optimize_excitation(problem, seed=0, time_budget=0.4, workers=1)
    assert result.condition_number < min(start.initial for start in result.starts)
    assert all(margin.margin >= 0.0 for margin in result.margins)
    # The robot's own limits, looked at without the planner's code.
    motion = result.trajectory.sample(1000.0)
    limits = robot.limits
    assert (motion.q >= limits.lower).all()
    assert (motion.q <= limits.upper).all()
    assert (np.abs(motion.dq) <= limits.velocity).all()
    torques = iparam.inverse_dynamics(robot.with_payload(payload), motion.q, motion.dq, motion.ddq)
    assert (np.abs(torques) <= limits.torque).all()
    if cell is not None:
        corners = np.array([[x, y, z, 1] for x in (-0.05, 0.05) for y in (-0.075, 0.075) for z in (0.0, 0.2)])
        points = (iparam.forward_kinematics(robot, motion.q) @ corners.T)[:, :3].transpose(0, 2, 1)
        assert points[..., 0].max() <= 0.9
        assert points[..., 1].max() <= 0.9
        over_table = (np.abs(points[..., 0]) < 0.5) & (np.abs(points[..., 1] + 0.6) < 0.3)
        assert (points[..., 2][over_table] >= 0.1).all()


LOADS = {"ur3e": 3.0, "ur5e": 5.0, "ur10e": 12.5, "ur20": 20.0}


def fastest(robot: iparam.Robot, motion: iparam.trajectory.TrajectorySamples, points: np.ndarray, frame: str) -> float:
    """Speed of points of a frame from where they are, without the planner's code [m/s]."""
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    places = (iparam.forward_kinematics(robot, motion.q, frame) @ homogeneous.T)[:, :3]
    return float(np.linalg.norm(np.diff(places, axis=0) / np.diff(motion.time)[:, None, None], axis=1).max())


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", ["ur5e", "ur10e", "ur3e", "ur20"])
def test_plans_keep_what_the_controller_allows_as_delivered(name: str) -> None:
    robot, load = iparam.load_robot(name), payload_of(LOADS[name])
    problem = planning_problem(robot, payload=PayloadBox.from_size(SIZE), payload_parameters=load, num_harmonics=3)
    motion = optimize_excitation(problem, seed=0, starts=1, workers=1).trajectory.sample(1000.0)
    corners = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.075, 0.075) for z in (0.0, 0.2)])
    speeds = [
        fastest(robot, motion, np.zeros((1, 3)), robot.tool_frame),
        fastest(robot, motion, corners, robot.tool_frame),
        fastest(robot, motion, np.zeros((1, 3)), "forearm_link"),
    ]
    assert max(speeds) <= 1.35 + 1e-3  # 1.5 m/s less the tolerance of 0.15; differences of places are that exact
    if name == "ur5e":
        whole = robot.with_payload(load)
        # The power of a weight is its momentum along gravity: three gravities give the three components.
        parts = [
            np.einsum("tn,tn->t", iparam.robot.gravity_torques(whole, motion.q, -axis), motion.dq) for axis in np.eye(3)
        ]
        assert np.linalg.norm(parts, axis=0).max() <= 25.0 - 3.0


def test_a_higher_speed_has_to_be_asked_for_and_a_lower_one_may_be() -> None:
    def bounds(**limits: float) -> dict[str, float]:
        problem = planning_problem(UR5E, limits=PlanningLimits(**limits))
        return {c.name: c.bound for c in problem.constraints if c.name in iparam.excitation.CONTROLLER_LIMITS}  # type: ignore[attr-defined]

    assert bounds() == pytest.approx({"tool speed": 1.35, "elbow speed": 1.35, "momentum": 22.0})
    assert bounds(speed=0.25) == pytest.approx({"tool speed": 0.25, "elbow speed": 1.35, "momentum": 22.0})
    assert bounds(speed=2.7) == pytest.approx({"tool speed": 2.7, "elbow speed": 2.7, "momentum": 44.0})


def test_every_arm_of_the_catalogue_has_a_limit_and_the_reference_problem_its_own() -> None:
    for name in iparam.robot.robot_names():
        constraints = planning_problem(iparam.load_robot(name)).constraints
        assert [c.bound for c in constraints if c.name == "tool speed"] == pytest.approx([1.35])  # type: ignore[attr-defined]
    assert not {c.name for c in reference_problem().constraints} & iparam.excitation.CONTROLLER_LIMITS


def test_half_of_the_limits_is_half_of_the_limits() -> None:
    problem = planning_problem(UR5E, limits=PlanningLimits(fraction=0.5, jerk=100.0, displacement=0.3))
    bounds = {c.name: c for c in problem.constraints}
    np.testing.assert_allclose(bounds["joint velocity"].upper, 0.5 * UR5E.limits.velocity)
    np.testing.assert_allclose(bounds["joint acceleration"].upper, 4.0)
    np.testing.assert_allclose(bounds["joint jerk"].upper, 50.0)
    np.testing.assert_allclose(bounds["joint position"].upper, UR5E.limits.upper)
    assert bounds["tool displacement"].radius == 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": "g"}, "unknown criterion 'g'; known: kappa, d, a, e"),
        ({"q0": [0.0] * 5}, "q0 must have shape"),
        ({"limits": {"fraction": 0.0}}, "fraction.*got 0.0"),
        ({"limits": {"velocity": [1.0, 2.0]}}, "one positive number or 6"),
        ({"limits": {"acceleration": -1.0}}, "one positive number or 6"),
        ({"limits": {"displacement": 0.0}}, "must be positive"),
        ({"limits": {"displacement": 500.0}}, "keeps the tool from nothing: ur5e reaches 1.2 m. Is it in millimetres"),
        ({"limits": {"velocity": 60.0}}, "more than 3 times the 3.142 of shoulder_pan_joint of ur5e: is it in degrees"),
        ({"limits": {"acceleration": 460.0}}, "more than 10 times the 8 of shoulder_pan_joint"),
        ({"payload": {"size": [100.0, 150.0, 200.0]}}, "extends to 219.4 m from tool0"),
        (
            {"cell": WorkCell((Box([900.0, 0.0, 0.0], [20.0] * 3, name="post"),))},
            "'post' of the work cell is 880 m away",
        ),
        ({"limits": {"displacement": 1e308}}, "keeps the tool from nothing"),
        ({"limits": {"velocity": 1e308}}, "max_velocity must stay within .*got 1e\\+308"),
        ({"payload": {"size": (1e308, 1.0, 1.0)}}, "half_extents must stay within"),
        ({"payload": {"size": (1.0, 1.0, 1.0), "center": (0.0, 0.0, -1e308)}}, "center must stay within"),
        ({"duration": 0.0}, "duration must be positive, got 0.0"),
        ({"base_freq": 0.0}, "base_freq must be positive, got 0.0"),
        ({"num_harmonics": 0}, "num_harmonics"),
        ({"fps": float("nan")}, "fps must be positive, got nan"),
    ],
)
def test_bad_requests_are_refused(arguments: dict[str, object], message: str) -> None:
    def request() -> None:
        limits = PlanningLimits(**arguments.get("limits", {}))  # type: ignore[arg-type]
        box = PayloadBox.from_size(**arguments["payload"]) if "payload" in arguments else None  # type: ignore[arg-type]
        planning_problem(UR5E, **{**arguments, "limits": limits, "payload": box})  # type: ignore[arg-type]

    with pytest.raises(iparam.InputError, match=message):
        request()


def test_a_box_around_the_tool_is_named() -> None:
    tool = iparam.forward_kinematics(UR5E, default_start(UR5E))[:3, 3]
    cell = WorkCell(boxes=(Box(tool, [0.1, 0.1, 0.1], np.eye(3), "crate"),))
    problem = planning_problem(UR5E, q0=default_start(UR5E), payload=PayloadBox.from_size(SIZE), cell=cell)
    with pytest.raises(InfeasibleError, match=r"violates '(robot|payload)-box collision'.*crate"):
        problem.check_start()


def test_cells_are_read_from_files_and_bad_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "cell.json"
    path.write_text(json.dumps(CELL), encoding="utf-8")
    cell = load_cell(path)
    np.testing.assert_allclose(cell.boxes[0].half_extents, [0.5, 0.3, 0.05])
    assert [plane.name for plane in cell.planes] == ["left wall", "back wall"]
    assert isinstance(cell.planes[0], Plane)
    for content, message in (
        ("{", "not JSON"),
        ("[]", "must hold a JSON object"),
        (json.dumps({**CELL, "format": "iparam-cell/9"}), "not a work cell"),
        (json.dumps({**CELL, "walls": []}), "unknown key 'walls'"),
        (json.dumps({**CELL, "boxes": [{"center": [0, 0, 0]}]}), "'size' is missing"),
        (json.dumps({**CELL, "boxes": [{"center": [0, 0], "size": [1, 1, 1]}]}), "center"),
        (json.dumps({**CELL, "boxes": [{"center": [0, 0, 0], "size": [1, -1, 1]}]}), "positive"),
        (json.dumps({**CELL, "boxes": 3}), "list of objects"),
        (json.dumps({**CELL, "ground_height": "low"}), "ground_height"),
        (json.dumps(CELL) + " " * 1_000_000, "larger than 1 MB"),
        (json.dumps({**CELL, "ground_height": -1e308}), "ground_height must stay within"),
        (json.dumps({**CELL, "boxes": [{"center": [0, 0, 1e308], "size": [1, 1, 1]}]}), "must stay within"),
        (json.dumps({**CELL, "planes": [{"point": [0, 0, 0], "normal": [1e308] * 3}]}), "must stay within"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": "iparam-cell/1", "boxes": ' + "[" * 100_000, "nested too deeply"),
        (json.dumps(CELL)[:-1] + ', "boxes": []}', "the key 'boxes' is there more than once"),
        (json.dumps(CELL) + " " * 1_000_000, "larger than 1 MB"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(iparam.FileFormatError, match=message):
            load_cell(path)
    with pytest.raises(iparam.FileFormatError, match="does not exist"):
        load_cell(tmp_path / "none.json")
    with pytest.raises(iparam.FileFormatError, match="is a directory"):
        load_cell(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs a device that gives zeros for ever")
def test_a_cell_is_not_read_from_a_device() -> None:
    with pytest.raises(iparam.FileFormatError, match="is no file"):
        load_cell("/dev/zero")


def test_the_checker_of_the_reference_problem_takes_other_radii_margins_and_payloads() -> None:
    robot, q0 = iparam.load_robot("ur5e"), reference_problem().q0
    usual = SphereChecker()
    wide = SphereChecker(clearance=0.05)
    assert usual.least_clearance(robot, q0) > 0.0
    assert usual.least_clearance(robot, q0) - wide.least_clearance(robot, q0) == pytest.approx(0.03, abs=1e-12)
    thick = SphereChecker(link_radii=(0.075, 0.06, 0.05, 0.04, 0.04, 0.035), clearance=0.05)
    # The documents' first attempt, refused at q0: 0.2231 m from the payload's centre to a joint, 0.2246 m asked for.
    assert thick.least_clearance(robot, q0) == pytest.approx(0.2231 - (0.1346 + 0.04 + 0.05), abs=1e-4)
    sunk = SphereChecker(payload_half_extents=(0.05, 0.075, 0.5), payload_center=(0.0, 0.0, 0.5))
    assert sunk.least_clearance(robot, q0) < 0.0
    assert usual.least_clearance(robot, np.stack([q0, np.zeros(6)])).shape == (2,)
    assert usual.least_clearance(robot, np.zeros(6)) < 0.0  # the documents: at q = 0 the arm is in collision
    problem = reference_problem(checker=wide, velocity=np.pi)
    assert min(margin.margin for margin in problem.margins(np.zeros(problem.num_variables))) == pytest.approx(
        float(wide.least_clearance(robot, q0)), abs=1e-9
    )


@pytest.mark.parametrize(
    "value",
    [
        {"link_radii": [-0.06] * 6},
        {"link_radii": [[0.06] * 6]},
        {"clearance": -0.01},
        {"clearance": "wide"},
        {"ground_height": [0.0, 0.1]},
        {"payload_half_extents": [0.05]},
        {"payload_half_extents": [0.05, 0.0, 0.1]},
        {"payload_center": 0.1},
    ],
)
def test_a_checker_that_cannot_be_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(iparam.InputError, match=next(iter(value))):
        SphereChecker(**value)


def test_a_checker_of_another_arm_names_its_radii() -> None:
    with pytest.raises(iparam.InputError, match="link_radii"):
        SphereChecker(link_radii=[0.1] * 5).least_clearance(UR5E, np.zeros(6))


def test_the_velocity_of_the_reference_problem_is_one_number_or_one_a_joint() -> None:
    with pytest.raises(iparam.InputError, match=r"velocity .* \(2,\)"):
        reference_problem(velocity=[np.pi, np.pi])


def test_a_search_counts_its_evaluations() -> None:
    result = iparam.optimize_excitation(reference_problem(), starts=1, workers=1, time_budget=20.0)
    assert result.n_evaluations == result.starts[0].evaluations > 50


def test_a_cell_that_is_saved_is_read_back(tmp_path: Path) -> None:
    turned = Box([0.5, 0.1, 0.2], [0.1, 0.2, 0.3], rotation_from_rpy([0.1, -0.2, 0.3]), "table")
    cell = WorkCell((turned,), (Plane([-0.8, 0.0, 0.0], [1.0, 0.0, 0.0], "wall"),), None)
    save_cell(tmp_path / "cell.json", cell)
    found = load_cell(tmp_path / "cell.json")
    assert found.ground_height is None
    assert (found.boxes[0].name, found.planes[0].name) == ("table", "wall")
    np.testing.assert_allclose(found.boxes[0].center, turned.center)
    np.testing.assert_allclose(found.boxes[0].half_extents, turned.half_extents)
    np.testing.assert_allclose(found.boxes[0].rotation, turned.rotation, atol=1e-12)
    np.testing.assert_allclose(found.planes[0].normal, [1.0, 0.0, 0.0])
