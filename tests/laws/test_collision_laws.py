"""One collision geometry: what the check of a plan passes, the simulator runs; what it refuses, so does the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import iparam
from iparam.errors import FileFormatError
from iparam.excitation.constraints.collision import capsule_collision
from iparam.excitation.constraints.validation import validate
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.robot.collision.capsules import arm_shape
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.collision.scene import collision_scene, sampled_poses
from iparam.robot.model import Joint, JointKind, JointLimits, Link, Robot
from iparam.simulation import CollisionError, MujocoSimulator, Payload
from iparam.spatial import exp_so3
from iparam.spatial.transforms import transform_from
from iparam.trajectory import WindowedFourierTrajectory

mujoco = pytest.importorskip("mujoco")

DEEP = 1e-4
"""Depth from which two hulls count as touching [m]: MuJoCo's iterations end a little before that."""

QUICK = MujocoSimulator(settle_time=0.0, physics_rate=1000.0)


def at_rest(q: np.ndarray) -> WindowedFourierTrajectory:
    none = np.zeros((len(q), 1))
    return WindowedFourierTrajectory(q, none, none, base_freq=1.0, duration=0.01)


def verdicts(
    robot: Robot, payload: Payload | None, cell: WorkCell, clearance: float, q: np.ndarray
) -> list[tuple[bool, bool]]:
    """For poses q (T, n), whether the check passes and whether the simulator runs."""
    constraints = capsule_collision(robot, payload.boxes if payload else None, cell, clearance)
    scene = QUICK.load(robot, payload, cell, clearance)
    found = []
    for pose in q:
        passed = validate(at_rest(pose), constraints).satisfied
        try:
            scene.run(at_rest(pose))
        except CollisionError:
            found.append((passed, False))
        else:
            found.append((passed, True))
    return found


def random_arm(random: np.random.Generator, joints: int, shaped: bool = False) -> Robot:
    """Any lengths, any axes, with a sliding joint now and then.

    Its shape is that of its joints and masses; or, ``shaped``, most links have pieces of any kind, meshes too, one of
    them at times a mesh that is not there, and the rest of a robot is locked to its base and to one of its links.
    """

    def shape() -> tuple[LinkGeometry, ...]:
        return random_shape(random) if shaped and random.uniform() < 0.8 else ()

    links, chain = [Link("base", None, shape())], []
    for index in range(joints):
        origin = transform_from(exp_so3(random.normal(size=3)), random.normal(size=3) * random.choice([0.0, 0.1, 0.3]))
        kind = JointKind.PRISMATIC if random.uniform() < 0.2 else JointKind.REVOLUTE
        chain.append(Joint(f"j{index}", kind, links[-1].name, f"l{index}", origin, random.normal(size=3)))
        body = iparam.InertialParameters.box(random.uniform(0.2, 8.0), [0.1, 0.1, 0.2])
        links.append(Link(f"l{index}", body, shape()))
    chain.append(Joint("mount", JointKind.FIXED, links[-1].name, "tool", transform_from(np.eye(3), [0.0, 0.0, 0.1])))
    links.append(Link("tool"))
    for rest, holder in (("other arm", "base"), ("gripper", f"l{random.integers(joints)}")) if shaped else ():
        where = transform_from(exp_so3(random.normal(size=3)), random.normal(size=3) * 0.3)
        chain.append(Joint(f"{rest} locked", JointKind.FIXED, holder, rest, where))
        links.append(Link(rest, iparam.InertialParameters.box(1.0, [0.1, 0.1, 0.1]), random_shape(random)))
    unlimited = np.full(joints, np.inf)
    limits = JointLimits(np.full(joints, -2.5), np.full(joints, 2.5), unlimited, unlimited, unlimited)
    return Robot("any", tuple(chain), tuple(links), limits, "tool")


def random_shape(random: np.random.Generator) -> tuple[LinkGeometry, ...]:
    """One or two pieces of a link."""
    pieces = []
    for _ in range(random.integers(1, 3)):
        pose = transform_from(exp_so3(random.normal(size=3)), random.normal(size=3) * 0.05)
        kind = random.choice(list(GeometryKind))
        if kind != GeometryKind.MESH:
            count = {"box": 3, "ellipsoid": 3, "sphere": 1}.get(kind, 2)
            pieces.append(LinkGeometry(GeometryKind(kind), pose, tuple(random.uniform(0.02, 0.12, count))))
        elif random.uniform() < 0.2:
            pieces.append(LinkGeometry(GeometryKind.MESH, pose, reference="lost.stl"))
        else:
            corners = random.normal(size=(12, 3)) * 0.05
            pieces.append(LinkGeometry(GeometryKind.MESH, pose, faces=corners[ConvexHull(corners).simplices]))
    return tuple(pieces)


def random_payload(random: np.random.Generator) -> Payload | None:
    offset, turn = random.normal(size=3) * 0.05, random.normal(size=3)
    return [
        lambda: None,
        lambda: Payload.box(mass=0.5, size=random.uniform(0.02, 0.3, 3), offset=offset, rotation_rpy=turn),
        lambda: Payload.cylinder(mass=0.5, radius=0.05, length=0.2, offset=offset, rotation_rpy=turn),
        lambda: Payload.two_stage_cylinder(mass=0.5, radius1=0.05, length1=0.1, radius2=0.02, length2=0.1),
        lambda: Payload.sphere(mass=0.5, radius=0.08),
    ][random.integers(5)]()


@pytest.mark.thorough
@settings(max_examples=24, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([0.0, 0.01, 0.05]), st.booleans())
def test_any_arm_any_payload_any_cell(seed: int, joints: int, clearance: float, shaped: bool) -> None:
    random = np.random.default_rng(seed)
    robot, payload = random_arm(random, joints, shaped), random_payload(random)
    cell = WorkCell(
        boxes=(Box(random.normal(size=3) * 0.5, random.uniform(0.05, 0.3, 3), exp_so3(random.normal(size=3)), "box"),),
        planes=(Plane(random.normal(size=3), random.normal(size=3), "wall"),),
        ground_height=None if random.uniform() < 0.5 else -0.8,
    )
    found = verdicts(robot, payload, cell, clearance, sampled_poses(robot, 8, seed))
    assert all(passed is ran for passed, ran in found)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_no_pose_passes_in_which_the_shapes_themselves_touch(seed: int, joints: int) -> None:
    random = np.random.default_rng(seed)
    robot = random_arm(random, joints, shaped=True)
    assert_never_optimistic(robot, sampled_poses(robot, 40, seed))


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_link8"), ("xarm7", None)])
def test_no_pose_passes_in_which_the_meshes_of_an_arm_touch(
    name: str, tip: str | None, example_robot_urdf: Callable[[str], Path]
) -> None:
    robot = iparam.load_robot(example_robot_urdf(name), tip=tip)
    passed, touching = assert_never_optimistic(robot, sampled_poses(robot, 200, 3))
    assert passed > 5
    assert touching > 5


def assert_never_optimistic(robot: Robot, q: np.ndarray) -> tuple[int, int]:
    """Poses q (T, n) in which MuJoCo finds hulls of the description's shapes touching are refused, whatever MuJoCo's
    pair is, but for those that are said to be untested. How many poses pass, and in how many hulls touch.
    """
    scene = collision_scene(robot, cell=WorkCell(ground_height=None))
    bodies = dict(zip(robot.frames, robot.chain.frame_bodies.tolist(), strict=True))
    spec, geoms, frames = mujoco.MjSpec(), [], []
    for link in robot.links:
        parts = []
        for piece in link.geometry:
            with contextlib.suppress(FileFormatError):
                parts.append(piece.triangles().reshape(-1, 3))
        for part in parts:
            name = f"mesh{len(geoms)}"
            middle = part.mean(axis=0)
            spec.add_mesh(
                name=name, uservert=(part - middle).ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            )
            body = spec.worldbody.add_body(name=name, mocap=True)
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
            geoms.append((link.name, middle))
            frames.append(link.name)
    if not geoms:
        return 0, 0
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    left_out = {frozenset(pair) for pair in (*scene.touching, *scene.apart)}
    names = {capsule.link for capsule in arm_shape(robot).capsules}

    def known(link: str) -> str:
        """The name that a shape of many links on one body goes by."""
        return link if link in names else next(frame for frame, body in bodies.items() if body == bodies[link])

    pairs = [
        (i, j)
        for i, one in enumerate(frames)
        for j, other in enumerate(frames[:i])
        if abs(bodies[one] - bodies[other]) > 1 and frozenset((known(one), known(other))) not in left_out
    ]
    passed = touching = 0
    for pose in q:
        for place, (link, middle) in enumerate(geoms):
            where = iparam.forward_kinematics(robot, pose, frame=link)
            data.mocap_pos[place] = where[:3, :3] @ middle + where[:3, 3]
            mujoco.mju_mat2Quat(data.mocap_quat[place], np.ascontiguousarray(where[:3, :3]).ravel())
        mujoco.mj_kinematics(model, data)
        gaps = [mujoco.mj_geomDistance(model, data, i, j, 0.01, np.zeros(6)) for i, j in pairs]
        clear = scene.first_contact(pose[None]) is None
        passed += clear
        touching += min(gaps, default=1.0) < -DEEP
        assert not (clear and min(gaps, default=1.0) < -DEEP)
    return passed, touching


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("name", "tip"),
    [("panda", "panda_hand_tcp"), ("xarm7", None), ("kinova", "j2s6s200_end_effector"), ("ur5", "tool0")],
)
def test_other_makers_arms(name: str, tip: str | None, example_robot_urdf: Callable[[str], Path]) -> None:
    robot = iparam.load_robot(example_robot_urdf(name), tip=tip)
    payload = Payload.cylinder(mass=0.3, radius=0.03, length=0.08)
    found = verdicts(robot, payload, WorkCell(), 0.01, sampled_poses(robot, 40, seed=5))
    assert all(passed is ran for passed, ran in found)
    assert {passed for passed, _ in found} == {True, False}


def test_a_box_that_contains_the_payload_passes_only_what_the_payload_itself_passes() -> None:
    robot = iparam.load_robot("ur5e")
    payload = Payload.cylinder(mass=0.5, radius=0.06, length=0.2, rotation_rpy=(0.4, 0.7, 0.0))
    corners = np.array([[box.center - box.half_extents, box.center + box.half_extents] for box in payload.boxes])
    lower, upper = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    planned = iparam.PayloadBox.from_size(upper - lower + 0.01, 0.5 * (lower + upper))
    constraints = capsule_collision(robot, planned)
    scene = QUICK.load(robot, payload)
    passed = [pose for pose in sampled_poses(robot, 60, 2) if validate(at_rest(pose), constraints).satisfied]
    assert len(passed) > 5
    for pose in passed:
        scene.run(at_rest(pose))
