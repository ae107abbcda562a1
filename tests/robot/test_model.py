"""`Robot` and its parts refuse what makes no sense, and lump rigid links as the textbook says."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, IparamError, RobotModelError, UnknownNameError
from iparam.robot import Joint, JointKind, JointLimits, Link, Robot
from iparam.spatial import InertialParameters


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def two_joint_robot(**changes: object) -> Robot:
    fields: dict[str, object] = {
        "name": "two",
        "joints": (
            Joint("j1", JointKind.REVOLUTE, "base", "a", shift(z=0.1)),
            Joint("bolt", JointKind.FIXED, "a", "a2", shift(x=0.2)),
            Joint("j2", JointKind.PRISMATIC, "a2", "b", shift(y=0.3), np.array([0.0, 0.0, 1.0])),
        ),
        "links": (
            Link("base"),
            Link("a", InertialParameters(2.0, np.array([0.1, 0.0, 0.0]), np.diag([0.1, 0.2, 0.25]))),
            Link("a2", InertialParameters(1.0, np.array([0.0, 0.1, 0.0]), np.diag([0.01, 0.02, 0.025]))),
            Link("b", InertialParameters.sphere(0.5, 0.1)),
        ),
        "limits": JointLimits.unlimited(2),
        "tool_frame": "b",
    }
    return Robot(**(fields | changes))  # type: ignore[arg-type]


def test_names_and_order_follow_the_chain() -> None:
    robot = two_joint_robot()
    assert robot.num_joints == 2
    assert robot.joint_names == ("j1", "j2")
    assert robot.base_frame == "base"
    assert robot.frames == ("base", "a", "a2", "b")
    assert robot.link("a2").inertial is not None
    assert robot.armature.tolist() == [0.0, 0.0]
    assert "two" in repr(robot)


def test_rigid_links_are_lumped_as_by_hand() -> None:
    lumped = InertialParameters.from_phi(two_joint_robot().chain.phi[0])
    # Link a: 2 kg at x = 0.1; link a2: 1 kg at (0.2, 0.1, 0): centre of mass (0.4, 0.1, 0) / 3.
    assert lumped.mass == pytest.approx(3.0)
    np.testing.assert_allclose(lumped.center_of_mass, [0.4 / 3, 0.1 / 3, 0.0], atol=1e-15)
    xx = 0.1 + 0.01 + 1.0 * 0.1**2
    yy = 0.2 + 2.0 * 0.1**2 + 0.02 + 1.0 * 0.2**2
    zz = 0.25 + 2.0 * 0.1**2 + 0.025 + 1.0 * (0.2**2 + 0.1**2)
    xy = -1.0 * 0.2 * 0.1
    np.testing.assert_allclose(lumped.inertia_about_origin, [[xx, xy, 0], [xy, yy, 0], [0, 0, zz]], atol=1e-15)


def test_lumping_turns_the_inertia_of_a_turned_link() -> None:
    quarter_turn = np.array([[0.0, -1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    robot = Robot(
        "turned",
        (
            Joint("j", JointKind.REVOLUTE, "base", "a", np.eye(4)),
            Joint("bolt", JointKind.FIXED, "a", "plate", quarter_turn),
        ),
        (Link("base"), Link("a"), Link("plate", InertialParameters(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0])))),
        JointLimits.unlimited(1),
        "plate",
    )
    lumped = InertialParameters.from_phi(robot.chain.phi[0])
    np.testing.assert_allclose(lumped.inertia_about_com, np.diag([2.0, 1.0, 3.0]), atol=1e-15)
    np.testing.assert_allclose(lumped.center_of_mass, [0.5, 0.0, 0.0], atol=1e-15)


def test_with_tool_moves_the_tool_frame_only() -> None:
    robot = two_joint_robot()
    tool = robot.with_tool(shift(z=0.15)).with_tool(shift(x=0.01), name="tip")
    assert tool.tool_frame == "tip"
    assert tool.frames[-2:] == ("tcp", "tip")
    np.testing.assert_allclose(tool.chain.tool.ravel()[9:], [0.01, 0.0, 0.15], atol=1e-16)
    np.testing.assert_array_equal(tool.chain.phi, robot.chain.phi)
    assert robot.tool_frame == "b"
    with pytest.raises(RobotModelError, match="rigid"):
        robot.with_tool(2.0 * np.eye(4))
    with pytest.raises(InputError, match="shape"):
        robot.with_tool(np.eye(3))
    with pytest.raises(RobotModelError, match="more than once"):
        robot.with_tool(np.eye(4), name="a")


def test_with_payload_adds_its_parameters_to_the_last_body() -> None:
    payload = InertialParameters(0.7, np.array([0.0, 0.02, 0.05]), np.diag([0.01, 0.02, 0.015]))
    robot = two_joint_robot()
    loaded = robot.with_payload(payload)
    np.testing.assert_allclose(loaded.chain.phi[-1] - robot.chain.phi[-1], payload.phi, atol=1e-16)
    np.testing.assert_array_equal(loaded.chain.phi[0], robot.chain.phi[0])
    assert loaded.tool_frame == robot.tool_frame
    moved = robot.with_tool(shift(z=0.1)).with_payload(payload)
    np.testing.assert_allclose(
        moved.chain.phi[-1] - robot.chain.phi[-1], payload.transformed(shift(z=0.1)).phi, atol=1e-16
    )


def test_with_armature_takes_one_number_or_one_each() -> None:
    robot = two_joint_robot()
    assert robot.with_armature(0.3).armature.tolist() == [0.3, 0.3]
    assert robot.with_armature([0.1, 0.2]).armature.tolist() == [0.1, 0.2]
    with pytest.raises(InputError, match="2"):
        robot.with_armature([1.0, 2.0, 3.0])
    with pytest.raises(RobotModelError, match="negative"):
        robot.with_armature(-1.0)
    with pytest.raises(RobotModelError, match="2 numbers"):
        dataclasses.replace(robot, armature=np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tool_frame": "a"}, "not behind the last moving joint"),
        ({"limits": JointLimits.unlimited(3)}, "limits are for 3 joints, the robot moves 2"),
        ({"links": (Link("base"), Link("a"), Link("a"), Link("b"))}, "'a' more than once"),
        ({"links": (Link("base"), Link("a"), Link("b"))}, "refers to link 'a2'"),
        ({"links": (Link("base"), Link("a"), Link("a2"), Link("b"), Link("loose"))}, "'loose' is not connected"),
    ],
)
def test_a_robot_that_is_no_serial_chain_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RobotModelError, match=message):
        two_joint_robot(**changes)


def test_order_branches_and_loops_are_refused() -> None:
    first, bolt, second = two_joint_robot().joints
    with pytest.raises(RobotModelError, match="comes before"):
        two_joint_robot(joints=(bolt, first, second))
    links = (*two_joint_robot().links, Link("c"))
    side = Joint("j3", JointKind.REVOLUTE, "a", "c", np.eye(4))
    with pytest.raises(RobotModelError, match="branches"):
        two_joint_robot(joints=(first, bolt, second, side), links=links, limits=JointLimits.unlimited(3))
    again = Joint("again", JointKind.FIXED, "b", "a", np.eye(4))
    with pytest.raises(RobotModelError, match="loop"):
        two_joint_robot(joints=(first, bolt, second, again))
    with pytest.raises(RobotModelError, match="no moving joint"):
        Robot("still", (), (Link("base"),), JointLimits.unlimited(0), "base")


def test_unknown_names_are_listed() -> None:
    with pytest.raises(UnknownNameError, match="a2"):
        two_joint_robot().link("a3")
    with pytest.raises(UnknownNameError, match="base, a, a2, b"):
        two_joint_robot(tool_frame="tool0")


@pytest.mark.parametrize(
    "arguments",
    [
        {"origin": 2.0 * np.eye(4)},
        {"origin": np.diag([1.0, 1.0, -1.0, 1.0])},
        {"origin": np.eye(3)},
        {"origin": np.full((4, 4), np.nan)},
        {"axis": np.zeros(3)},
        {"axis": np.ones(2)},
        {"axis": np.array([0.0, np.nan, 1.0])},
        {"kind": "screw"},
    ],
)
def test_a_joint_checks_its_geometry(arguments: dict[str, object]) -> None:
    fields = {"name": "elbow", "kind": JointKind.REVOLUTE, "parent": "a", "child": "b", "origin": np.eye(4)}
    with pytest.raises(IparamError, match="elbow"):
        Joint(**(fields | arguments))  # type: ignore[arg-type]


def test_a_joint_normalises_its_axis_and_is_immutable() -> None:
    joint = Joint("j", "revolute", "a", "b", np.eye(4), [0, 3, 4])  # type: ignore[arg-type]
    assert joint.kind is JointKind.REVOLUTE
    np.testing.assert_allclose(joint.axis, [0.0, 0.6, 0.8], atol=1e-16)
    with pytest.raises(ValueError, match="read-only"):
        joint.axis[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        joint.name = "k"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("lower", [2.0, 0.0], "lower 2 is above upper 1"),
        ("velocity", [1.0, 0.0], "velocity must be positive"),
        ("torque", [-1.0, 1.0], "torque must be positive"),
        ("acceleration", [np.nan, 1.0], "without NaN"),
        ("upper", [1.0], "upper"),
        ("upper", [[1.0, 1.0]], "upper"),
        ("velocity", ["fast", "slow"], "velocity must be numbers"),
    ],
)
def test_limits_are_checked(field: str, value: object, message: str) -> None:
    good = {"lower": [-1, -1], "upper": [1, 1], "velocity": [1, 1], "acceleration": [1, 1], "torque": [1, 1]}
    with pytest.raises(RobotModelError, match=message):
        JointLimits(**(good | {field: value}))  # type: ignore[arg-type]


def test_limits_copy_what_they_are_given() -> None:
    upper = np.ones(2)
    limits = JointLimits(-upper, upper, upper, upper, upper)
    upper[0] = 5.0
    assert limits.upper.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        limits.upper[0] = 2.0
    assert np.isinf(JointLimits.unlimited(3).lower).all()


def test_people_are_told_of_a_joint_by_its_number_from_one_and_its_name() -> None:
    assert iparam.load_robot("ur5e").joint_label(2) == "joint 3 (elbow_joint)"


def bare_indices(path: Path) -> Iterator[str]:
    """Texts in which a joint is a Python index as it is, or which say that it is counted from 0."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        if "(from 0)" in ast.unparse(node):
            yield f"{path}:{node.lineno}"
        for before, value in zip(node.values, node.values[1:], strict=False):
            said = isinstance(before, ast.Constant) and re.search(r"\bjoints? $", str(before.value))
            if said and isinstance(value, ast.FormattedValue) and value.conversion == -1:
                index = isinstance(value.value, ast.Name) and value.value.id in ("joint", "j", "i", "index", "worst")
                if index:
                    yield f"{path}:{node.lineno}"


def test_no_message_counts_joints_from_zero(tmp_path: Path) -> None:
    sources = sorted(Path(iparam.__file__).parent.rglob("*.py"))
    assert len(sources) > 500
    assert not [found for path in sources for found in bare_indices(path)]
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        'a = f"joint {joint} stands"\nb = f"of joint {k} (from 0)"\nc = f"joint {joint!r}, joint {j + 1}"\n'
    )
    assert len(list(bare_indices(wrong))) == 2
