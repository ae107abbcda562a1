"""Limits that a description does not give are assumed or left untested, and named; those that it gives are never
widened.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.excitation.constraints.usable_limits import usable_limits
from iparam.excitation.setup import PlanningLimits, planning_problem

JOINTS = (("lift", "prismatic", "0 0 1"), ("turn", "revolute", "0 0 1"), ("bend", "revolute", "0 1 0"))
RANGE = {"lift": 'lower="0" upper="0.3"', "turn": 'lower="-3" upper="3"', "bend": 'lower="-2" upper="2"'}
BODY = '<inertial><origin xyz="0 0 .1"/><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"/></inertial>'


def urdf(limits: dict[str, str]) -> str:
    """A lift, a turning and a bending joint with the given attributes of <limit>; none for "-"."""
    links = "".join(f'<link name="l{i}">{BODY}</link>' for i in range(4))
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="0 0 .3"/>'
        f'<axis xyz="{axis}"/>' + (f"<limit {limits[name]}/>" if limits[name] != "-" else "") + "</joint>"
        for i, (name, kind, axis) in enumerate(JOINTS)
    )
    return f'<robot name="arm">{links}{joints}</robot>'


def mjcf(limits: dict[str, str]) -> str:
    """The same arm; limits of a joint are "range" alone, or with a motor's "force"."""
    text, motors = "", ""
    for name, kind, axis in reversed(JOINTS):
        slide = "slide" if kind == "prismatic" else "hinge"
        text = (
            f'<body pos="0 0 .3"><joint name="{name}" type="{slide}" axis="{axis}" {limits[name]}/>'
            f'<geom type="sphere" size=".03"/>{text}</body>'
        )
    return f'<mujoco><compiler angle="radian"/><worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>'


ZEROS = {name: f'{bounds} velocity="0" effort="0"' for name, bounds in RANGE.items()}
MISSING = dict(RANGE)
SOME = {**ZEROS, "turn": 'lower="-3" upper="3" velocity="2" effort="50"'}
MUJOCO = {"lift": 'range="0 .3"', "turn": 'range="-3 3"', "bend": ""}


@pytest.mark.parametrize(
    ("file", "text", "unknown"),
    [
        ("arm.urdf", urdf(ZEROS), (0, 1, 2)),
        ("arm.urdf", urdf(MISSING), (0, 1, 2)),
        ("arm.urdf", urdf({**MISSING, "bend": "-"}), (0, 1, 2)),
        ("arm.urdf", urdf(SOME), (0, 2)),
        ("arm.xml", mjcf(MUJOCO), (0, 1, 2)),
    ],
)
def test_every_format_s_missing_limits_are_assumed_and_named(
    file: str, text: str, unknown: tuple[int, ...], tmp_path: Path
) -> None:
    if file.endswith(".xml"):
        pytest.importorskip("mujoco")
    (tmp_path / file).write_text(text, encoding="utf-8")
    robot = iparam.load_robot(tmp_path / file, tip="l3" if "xml" not in file else "body_3")
    usable = usable_limits(robot, PlanningLimits())
    assert usable.assumed["velocity"] == usable.unlimited["torque"] == unknown
    assert usable.assumed["acceleration"] == (0, 1, 2)
    np.testing.assert_array_equal(usable.velocity, [0.25, 1.0 if 1 in unknown else 2.0, 1.0])
    np.testing.assert_array_equal(usable.acceleration, [2.0, 8.0, 8.0])
    named = f"any joint of {robot.name}" if len(unknown) == 3 else "lift, bend"
    said = {one.values["limit"]: one for one in usable.remarks}
    assert said["velocity"].values["joints"] == said["torque"].values["joints"] == named
    assert said["velocity"].values["assumed"] == "0.25 m/s and 1 rad/s"
    assert (said["velocity"].code, said["torque"].code) == ("limit-assumed", "limit-untested")
    assert f"{len(unknown)} of 3 joints are assumed" in usable.reservation
    # What is assumed is kept by what is planned.
    bounds = {c.name: c for c in planning_problem(robot, q0=[0.1, 0.0, 0.5], limits=PlanningLimits()).constraints}
    np.testing.assert_allclose(bounds["joint velocity"].upper, 0.95 * usable.velocity)


def test_what_is_asked_for_never_widens_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf(SOME), encoding="utf-8")
    robot = iparam.load_robot(tmp_path / "arm.urdf")
    usable = usable_limits(robot, PlanningLimits(velocity=3.0, acceleration=[1.0, 20.0, 20.0], torque=80.0))
    np.testing.assert_array_equal(usable.velocity, [3.0, 2.0, 3.0])
    np.testing.assert_array_equal(usable.acceleration, [1.0, 20.0, 20.0])
    np.testing.assert_array_equal(usable.torque, [80.0, 50.0, 80.0])
    assert usable.remarks == ()
    assert usable.reservation == ""
    assert usable_limits(iparam.load_robot("ur5e"), PlanningLimits()).remarks == ()


def test_a_range_of_one_point_is_no_range(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf({**SOME, "turn": 'lower="0" upper="0" velocity="1"'}), encoding="utf-8")
    with pytest.raises(InfeasibleError, match=r"arm.urdf: joint 'turn' has lower = upper = 0.*lock = turn=0$"):
        planning_problem(iparam.load_robot(tmp_path / "arm.urdf"))
    held = iparam.load_robot(tmp_path / "arm.urdf", lock={"turn": 0.0})
    assert held.lock == {"turn": 0.0}  # said again by what is planned: without it, the joint would move
    planning_problem(held, q0=[0.1, 0.5])


def test_a_slide_without_ends_is_not_moved(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf({**SOME, "lift": 'velocity="1" effort="9"'}), encoding="utf-8")
    with pytest.raises(InfeasibleError, match=r"arm.urdf: joint 'lift' slides, .* no range: .*lock=\.\.\."):
        usable_limits(iparam.load_robot(tmp_path / "arm.urdf"), PlanningLimits())
    held = iparam.load_robot(tmp_path / "arm.urdf", lock={"lift": 0.2})
    assert held.joint_names == ("turn", "bend")
    assert held.locked_joints == ("lift",)
    assert held.lock == {"lift": 0.2}
    np.testing.assert_allclose(iparam.forward_kinematics(held, [0.0, 0.0])[2, 3], 0.3 + 0.2 + 0.3 + 0.3)
    usable_limits(held, PlanningLimits())
