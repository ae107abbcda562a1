"""What a motion was planned with: in its file and back, and with what options say in its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, InputError
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.trajectory import (
    PlanConditions,
    PlannedPayload,
    PlanningLimits,
    WindowedFourierTrajectory,
    load_trajectory,
    save_trajectory,
)

MOTION = WindowedFourierTrajectory([0.5, -1.0], [[0.1, 0.2], [0.3, 0.4]], [[0.0, 0.0], [1.0, -0.25]], 0.1, 10.0)
TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
FULL = PlanConditions(
    payload=PlannedPayload.from_size([0.1, 0.15, 0.2], [0.01, 0.0, 0.12], 2.5),
    cell=WorkCell(
        (Box([1.0, 0.0, 0.2], [0.1, 0.2, 0.3], TURN, "table"),), (Plane([0, 1, 0], [0, -1, 0], "wall"),), None
    ),
    limits=PlanningLimits(velocity=[1.0, 2.0], jerk=50.0, fraction=0.8, displacement=0.4, speed=0.25, clearance=0.03),
)


def stored(tmp_path: Path, conditions: PlanConditions | None) -> Path:
    path = tmp_path / "t.json"
    save_trajectory(path, MOTION, robot="arm.urdf", fps=100.0, tool_frame="link_eef", conditions=conditions)
    return path


def test_there_and_back(tmp_path: Path) -> None:
    path = stored(tmp_path, FULL)
    back = load_trajectory(path)
    assert back.tool_frame == "link_eef"
    assert back.conditions is not None
    assert back.conditions.payload is not None
    assert back.conditions.to_config() == FULL.to_config()
    np.testing.assert_allclose(back.conditions.cell.boxes[0].rotation, TURN, atol=1e-15)
    assert back.conditions.cell.ground_height is None
    assert back.conditions.payload.mass == 2.5
    assert str(back.conditions) == str(FULL)


def test_that_there_was_no_payload_is_not_that_nobody_knows(tmp_path: Path) -> None:
    bare = load_trajectory(stored(tmp_path, PlanConditions())).conditions
    assert bare is not None
    assert bare.payload is None
    assert load_trajectory(stored(tmp_path, None)).conditions is None


def test_the_entries_are_in_config_as_designed(tmp_path: Path) -> None:
    document = json.loads(stored(tmp_path, FULL).read_text(encoding="utf-8"))
    assert document["tool_frame"] == "link_eef"
    assert document["config"]["payload"] == {"size": [0.1, 0.15, 0.2], "center": [0.01, 0.0, 0.12], "mass": 2.5}
    assert document["config"]["clearance"] == 0.03
    assert document["config"]["limits"]["fraction"] == 0.8
    assert document["config"]["cell"]["boxes"][0]["name"] == "table"


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("payload", {"size": [0.1, 0.1, -1.0]}, "three positive lengths"),
        ("payload", {"size": [0.1, 0.1, 0.1], "mass": -1.0}, "mass must not be negative"),
        ("payload", 3, "config.payload must be an object"),
        ("limits", {"fraction": 1.5}, "fraction must be above 0 and at most 1"),
        ("clearance", -0.1, "clearance must not be negative"),
        ("cell", {"walls": []}, "unknown key 'walls'"),
        ("preset", "mine", "preset must be 'reference' or none"),
    ],
)
def test_what_cannot_be_is_refused_with_the_file(tmp_path: Path, entry: str, value: object, message: str) -> None:
    path = stored(tmp_path, FULL)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["config"][entry] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as refused:
        load_trajectory(path)
    assert str(path) in str(refused.value)


def test_each_option_takes_the_place_of_its_own_entry_only() -> None:
    assert FULL.changed() is FULL
    heavier = FULL.changed(payload_mass=4.0, fraction=0.5)
    assert heavier.payload is not None
    assert heavier.payload.mass == 4.0
    assert heavier.payload.center.tolist() == [0.01, 0.0, 0.12]
    assert (heavier.limits.fraction, heavier.limits.clearance) == (0.5, 0.03)
    assert heavier.cell is FULL.cell
    larger = FULL.changed(payload_size=[0.2, 0.2, 0.4])
    assert larger.payload is not None
    assert larger.payload.center.tolist() == [0.0, 0.0, 0.2]  # the old centre was that of another box
    assert larger.payload.mass == 2.5
    assert FULL.changed(payload_size=[0.0, 0.0, 0.0]).payload is None
    with pytest.raises(InputError, match="payload_mass needs payload_size"):
        PlanConditions().changed(payload_mass=1.0)
    with pytest.raises(InputError, match="zeros is no payload"):
        FULL.changed(payload_size=[0.0, 0.0, 0.0], payload_mass=1.0)


def test_the_payload_is_that_of_a_solid_box() -> None:
    body = PlannedPayload.from_size([0.1, 0.15, 0.2], mass=2.0).parameters
    simulated = iparam.Payload.box(mass=2.0, size=[0.1, 0.15, 0.2]).parameters
    assert body is not None
    np.testing.assert_allclose(body.phi, simulated.phi, atol=1e-15)
    assert PlannedPayload.from_size([0.1, 0.15, 0.2]).parameters is None


def test_a_problem_takes_them_whole() -> None:
    robot = iparam.load_robot("ur5e")
    conditions = PlanConditions(
        payload=PlannedPayload.from_size([0.1, 0.15, 0.2], mass=2.0), limits=PlanningLimits(fraction=0.7)
    )
    one = iparam.planning_problem(robot, conditions=conditions)
    other = iparam.planning_problem(
        robot,
        payload=iparam.PayloadBox.from_size([0.1, 0.15, 0.2]),
        payload_parameters=iparam.Payload.box(mass=2.0, size=[0.1, 0.15, 0.2]).parameters,
        limits=PlanningLimits(fraction=0.7),
    )
    q = np.linspace(-1.0, 1.0, 60).reshape(10, 6)
    motion = WindowedFourierTrajectory(one.q0, 0.1 * q.T[:, :3], 0.1 * q.T[:, 3:6], 0.2, 5.0)
    margins = [iparam.excitation.validate(motion, problem.constraints).as_json() for problem in (one, other)]
    assert margins[0] == margins[1]
    with pytest.raises(InputError, match="conditions holds payload"):
        iparam.planning_problem(robot, conditions=conditions, cell=WorkCell())


def test_the_reference_problem_comes_back_from_its_conditions() -> None:
    conditions = iparam.excitation.reference_conditions()
    problem = iparam.planning_problem(iparam.load_robot("ur5e"), conditions=conditions)
    names = [constraint.name for constraint in problem.constraints]
    assert names == [constraint.name for constraint in iparam.excitation.reference_problem().constraints]
    with pytest.raises(InputError, match="for the ur5e, not for ur3e"):
        iparam.planning_problem(iparam.load_robot("ur3e"), conditions=conditions)


def test_a_plan_stays_away_from_everything_by_default() -> None:
    assert (PlanningLimits().clearance, PlanningLimits().fraction) == (0.02, 0.95)


def test_a_file_that_does_not_say_is_held_to_what_was_planned_before() -> None:
    earlier = PlanConditions.unstated()
    assert (earlier.limits.clearance, earlier.limits.fraction, earlier.payload) == (0.01, 1.0, None)
