"""Descriptions that depart from the format are read as ROS and Pinocchio read them, and every departure is told."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.robot import Robot, load_robot
from iparam.robot.urdf.elements import read_tree

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
AXIS = '<axis xyz="0 1 0"/>'
MASS = '<mass value="2"/>'
TENSOR = '<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0 0.2"/>{MASS}{TENSOR}</inertial>'


def write(
    folder: Path,
    joint: str = AXIS + LIMIT,
    inertial: str = INERTIAL,
    root: str = 'name="arm"',
    kind: str = "revolute",
    extra: str = "",
) -> Path:
    """Two links; what is given goes to the second of the two joints, to both links, to <robot>, and behind them all."""
    path = folder / "odd.urdf"
    path.write_text(
        f'<?xml version="1.0"?><robot {root}><link name="base"/>'
        f'<link name="a">{inertial}</link><link name="b">{inertial}</link>'
        f'<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>{LIMIT}</joint>'
        f'<joint name="j2" type="{kind}"><parent link="a"/><child link="b"/>{joint}</joint>{extra}</robot>',
        encoding="utf-8",
    )
    return path


def largest_difference(robot: Robot, path: Path, seed: int = 0) -> float:
    """Between our torques and Pinocchio's, as a share of them where they are above 1; other joints are held at zero."""
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio as the reference")
    model = pin.buildModelFromUrdf(str(path))
    others = [i for i in range(1, model.njoints) if model.names[i] not in robot.joint_names]
    if others:
        model = pin.buildReducedModel(model, others, pin.neutral(model))
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    model.armature = np.zeros(model.nv)
    data = model.createData()
    moving = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    order = [each.idx_v for each in moving]
    rng = np.random.default_rng(seed)
    q, dq, ddq = rng.uniform(-1.0, 1.0, (3, 4, robot.num_joints))
    ours, worst = iparam.inverse_dynamics(robot, q, dq, ddq), 0.0
    for row in range(len(q)):
        state = pin.neutral(model)
        for each, angle in zip(moving, q[row], strict=True):
            numbers = [np.cos(angle), np.sin(angle)] if each.nq == 2 else [angle]
            state[each.idx_q : each.idx_q + each.nq] = numbers
        velocity, acceleration = np.zeros((2, model.nv))
        velocity[order], acceleration[order] = dq[row], ddq[row]
        theirs = pin.rnea(model, data, state, velocity, acceleration)[order]
        worst = max(worst, float(np.abs(ours[row] - theirs).max() / max(1.0, np.abs(theirs).max())))
    return worst


READ_BY_BOTH: dict[str, tuple[dict[str, Any], str]] = {
    "a second origin": (
        {"joint": f'<origin xyz="0 0 1"/><origin xyz="3 0 0" rpy="1 0 0"/>{AXIS}{LIMIT}'},
        r"joint 'j2': has <origin> 2 times; the first counts",
    ),
    "a second axis": ({"joint": f'{AXIS}<axis xyz="1 0 0"/>{LIMIT}'}, r"has <axis> 2 times"),
    "a second inertial": ({"inertial": INERTIAL + f'<inertial><mass value="9"/>{TENSOR}</inertial>'}, "<inertial> 2"),
    "no lower and upper": (
        {"joint": f'{AXIS}<limit velocity="1" effort="1"/>'},
        r"joint 'j2': revolute without lower and upper limit, and was read as unlimited",
    ),
    "lower above upper": (
        {"joint": f'{AXIS}<limit lower="2" upper="-1" velocity="1" effort="1"/>'},
        r"joint 'j2' <limit>: has lower above upper, and was read the other way round",
    ),
    "a long axis": ({"joint": f'<axis xyz="0 3 4"/>{LIMIT}'}, r"joint 'j2': its <axis> is no unit vector"),
    "a mimic joint": ({"joint": f'{AXIS}{LIMIT}<mimic joint="j1"/>'}, r"joint 'j2': follows another, at 1 times 'j1'"),
    "no inertial": ({"inertial": ""}, r"link 'a', link 'b': moves, and has no mass in the file"),
    "no mass": ({"inertial": f"<inertial>{TENSOR}</inertial>"}, r"link 'a', link 'b': <inertial> without <mass>"),
    "no inertia": ({"inertial": f"<inertial>{MASS}</inertial>"}, r"<inertial>: has no <inertia>; .* a point mass"),
    "a default namespace": ({"root": 'name="arm" xmlns="http://www.ros.org"'}, ""),
    "unknown elements": (
        {"extra": '<!-- a remark --><gazebo reference="a"><joint name="x"/></gazebo><maker id="3"/>'},
        "",
    ),
    "meshes that are not there": (
        {"inertial": INERTIAL + '<visual><geometry><mesh filename="package://no/arm.stl"/></geometry></visual>'},
        "",
    ),
}


@pytest.mark.reference
@pytest.mark.parametrize("case", READ_BY_BOTH)
def test_what_pinocchio_reads_is_read_alike(case: str, tmp_path: Path) -> None:
    parts, told = READ_BY_BOTH[case]
    path = write(tmp_path, **parts)
    robot = load_robot(path)
    assert largest_difference(robot, path) < 1e-9
    if not told:
        assert robot.notes == ()
    else:
        (sentence,) = [one for one in robot.notes if "moves, and has" not in one] or robot.notes
        assert re.search(told, sentence)


def test_what_ros_refuses_and_has_one_meaning_is_read_too(tmp_path: Path) -> None:
    bare = load_robot(write(tmp_path, AXIS))
    assert np.isinf(bare.limits.upper[1])
    (sentence,) = bare.notes
    assert sentence.startswith("joint 'j2': revolute without lower and upper limit, and was read as unlimited")
    partly = load_robot(write(tmp_path, f'{AXIS}<limit lower="-1" upper="2"/>'))
    assert partly.limits.lower[1] == -1.0
    assert np.isinf(partly.limits.velocity[1])
    assert partly.notes == ()  # the planner says what it does without: excitation/constraints/usable_limits.py
    nameless = load_robot(write(tmp_path, root=""))
    assert nameless.name == "odd"
    assert nameless.notes == ("<robot>: has no name, and is called 'odd' after its file",)
    material = '<material name="m"><color rgba="1 0 0 1"/></material>'
    assert load_robot(write(tmp_path, extra=2 * material)).notes == ()
    without = INERTIAL.replace('ixy="0.01"', "")
    robot = load_robot(write(tmp_path, inertial=without))
    inertial = robot.link("b").inertial
    assert inertial is not None
    assert inertial.inertia_about_com[1, 1] == 0.2
    assert "lacks products of inertia, which were read as 0" in robot.notes[0]


@pytest.mark.parametrize(
    ("limit", "lower", "upper"), [('lower="2"', 2.0, np.inf), ('upper="-1"', -np.inf, -1.0), ('lower="-2"', -2.0, 0.0)]
)
def test_one_end_of_a_range(limit: str, lower: float, upper: float, tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path, f'{AXIS}<limit {limit} velocity="1" effort="1"/>'))
    assert (robot.limits.lower[1], robot.limits.upper[1]) == (lower, upper)
    assert bool(robot.notes) == (lower != -2.0)


def test_many_alike_are_one_sentence(tmp_path: Path) -> None:
    extra = "".join(
        f'<link name="l{i}"/><joint name="k{i}" type="revolute"><parent link="{"b" if i == 0 else f"l{i - 1}"}"/>'
        f'<child link="l{i}"/><limit velocity="1" effort="1"/></joint>'
        for i in range(12)
    )
    robot = load_robot(write(tmp_path, extra=extra))
    assert len(robot.notes) == 2  # and the links are massless
    assert robot.notes[0].startswith("joint 'k0', joint 'k1', ")
    assert "joint 'k7' and 4 more: revolute without" in robot.notes[0]


def test_sound_descriptions_need_no_remark_and_copies_keep_them(tmp_path: Path) -> None:
    assert load_robot(write(tmp_path)).notes == ()
    odd = load_robot(write(tmp_path, AXIS))
    assert odd.with_armature(0.1).notes == odd.notes != ()


@pytest.mark.reference
def test_measured_arms_agree_with_pinocchio(shared_data: Path) -> None:
    paths = sorted((shared_data / "real_arms").glob("*/*.urdf"))
    if not paths:
        pytest.skip(f"needs the arms, which are not in {shared_data}")
    for path in paths:
        assert largest_difference(load_robot(path), path) < 1e-9, path.name


def example_descriptions() -> list[Path]:
    """One description of each maker's, which differ more than those of one."""
    spec = importlib.util.find_spec("pinocchio")
    for folder in Path(spec.origin).parents if spec is not None and spec.origin else ():
        robots = folder / "share" / "example-robot-data" / "robots"
        if robots.is_dir():
            found = sorted(path for path in robots.rglob("*.urdf") if b"<link" in path.read_bytes())
            return list({path.relative_to(robots).parts[0]: path for path in found}.values())
    return []


@pytest.mark.reference
def test_the_longest_chain_of_every_example_agrees_with_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio as the reference")
    if not example_descriptions():
        pytest.skip("needs example-robot-data, which is not installed")
    compared = 0
    for path in example_descriptions():
        tree = read_tree(path)
        lengths = {
            leaf: sum(not joint.is_fixed for joint in tree.path(tree.root, leaf))
            for leaf in tree.links
            if leaf not in tree.below
        }
        tip = max(lengths, key=lambda leaf: lengths[leaf])
        if lengths[tip] == 0:
            continue
        robot = load_robot(path, tip=tip)
        try:
            difference = largest_difference(robot, path)
        except ValueError:  # a nameless robot, or names that Pinocchio cannot lock joints by
            continue
        compared += 1
        assert difference < 1e-9, path.name
    assert compared > 25, pin.__version__


@pytest.mark.parametrize(
    ("kind", "limit", "more", "expected", "told"),
    [
        ("revolute", 'lower="-2" upper="2"', 'soft_lower_limit="-1.5" soft_upper_limit="1"', (-1.5, 1.0), "narrower"),
        ("revolute", 'lower="-2" upper="2"', 'soft_upper_limit="1"', (-2.0, 1.0), "narrower"),
        ("revolute", 'lower="-2" upper="2"', 'soft_lower_limit="-3" soft_upper_limit="3"', (-2.0, 2.0), ""),
        ("revolute", 'lower="-2" upper="2"', 'soft_lower_limit="1" soft_upper_limit="-1"', (-2.0, 2.0), ""),
        ("revolute", 'lower="-2" upper="2"', "", (-2.0, 2.0), ""),
        ("continuous", 'lower="-1" upper="1"', "", (-np.inf, np.inf), "do not count"),
        ("continuous", 'lower="-7" upper="7"', "", (-np.inf, np.inf), ""),
        ("continuous", "", 'soft_lower_limit="-1" soft_upper_limit="1"', (-np.inf, np.inf), ""),
    ],
)
def test_ranges_beside_the_limit(
    kind: str, limit: str, more: str, expected: tuple[float, float], told: str, tmp_path: Path
) -> None:
    """What slows a joint down before its stop is its range; what a format ignores is said."""
    (tmp_path / "a.urdf").write_text(
        f'<robot name="a"><link name="b"/><link name="l"/><joint name="j" type="{kind}"><parent link="b"/>'
        f'<child link="l"/><axis xyz="0 0 1"/><limit {limit} velocity="1" effort="1"/>'
        f'<safety_controller k_velocity="1" {more}/></joint></robot>',
        encoding="utf-8",
    )
    robot = iparam.load_robot(tmp_path / "a.urdf")
    assert (robot.limits.lower[0], robot.limits.upper[0]) == expected
    notes = [note for note in robot.notes if "mass" not in note]
    assert len(notes) == bool(told)
    assert all(told in note for note in notes)
