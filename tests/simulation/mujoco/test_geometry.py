"""Collisions stop a run and name what touched; the capsules do not raise false alarms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.robot.capsules import Capsule, colliding_bodies, link_capsules
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.simulation import CollisionError, MujocoSimulator, Payload

HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
DOWN = HOME + np.array([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])


class TestCollisions:
    def test_the_ground(self, ur5e, box, there_and_back) -> None:
        with pytest.raises(CollisionError, match=r"collision at 0\.\d+ s: .*the ground") as caught:
            MujocoSimulator().load(ur5e, box).run(there_and_back(HOME, DOWN))
        assert set(caught.value.bodies) == {"the ground", "payload"}
        assert 0.0 < caught.value.time < 1.0

    def test_without_a_ground_there_is_none(self, ur5e, box, there_and_back) -> None:
        cell = WorkCell(ground_height=None)
        MujocoSimulator().load(ur5e, box, cell).run(there_and_back(HOME, DOWN))

    def test_a_lower_ground(self, ur5e, box, there_and_back) -> None:
        MujocoSimulator().load(ur5e, box, WorkCell(ground_height=-0.6)).run(there_and_back(HOME, DOWN))

    def test_a_box_and_a_wall(self, ur5e, box, there_and_back) -> None:
        around = there_and_back(HOME, HOME + np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
        reached = iparam.forward_kinematics(ur5e, HOME + np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0]))[:3, 3]
        table = Box(reached, (0.05, 0.05, 0.05), name="crate")
        with pytest.raises(CollisionError, match="crate"):
            MujocoSimulator().load(ur5e, box, WorkCell(boxes=(table,))).run(around)
        start = iparam.forward_kinematics(ur5e, HOME)[:3, 3]
        wall = Plane(reached, start - reached, name="window")
        with pytest.raises(CollisionError, match="window"):
            MujocoSimulator().load(ur5e, box, WorkCell(planes=(wall,))).run(around)

    def test_things_of_one_name_are_told_apart(self, ur5e) -> None:
        things = [Box((2.0, 0.0, 0.5), (0.1, 0.1, 0.1)) for _ in range(2)]
        cell = WorkCell(boxes=tuple(things), planes=(Plane((3.0, 0.0, 0.0), (-1.0, 0.0, 0.0), name="box"),))
        model = MujocoSimulator().load(ur5e, None, cell).model
        assert {model.geom(name).name for name in ("box", "box 2", "box 3", "the ground")}

    def test_the_arm_itself(self, ur5e, there_and_back) -> None:
        scene = MujocoSimulator().load(ur5e, None, WorkCell(ground_height=None))
        with pytest.raises(CollisionError) as caught:
            scene.run(there_and_back(HOME, [0.0, -1.57, 3.0, 0.3, -1.57, 0.0]))
        assert set(caught.value.bodies) <= {*ur5e.frames, "payload"}

    def test_a_mesh_collides_too(self, ur5e, there_and_back, tmp_path) -> None:
        trimesh = pytest.importorskip("trimesh")
        trimesh.creation.box((0.1, 0.15, 0.2)).export(tmp_path / "part.stl")
        part = Payload.mesh(tmp_path / "part.stl", mass=1.0)
        with pytest.raises(CollisionError) as caught:
            MujocoSimulator().load(ur5e, part).run(there_and_back(HOME, DOWN))
        assert set(caught.value.bodies) == {"the ground", "payload"}

    def test_a_start_pose_in_collision(self, ur5e, box, at_rest) -> None:
        with pytest.raises(CollisionError, match="collision in the start pose"):
            MujocoSimulator().load(ur5e, box).run(at_rest(DOWN))

    def test_a_body_without_a_shape_hits_nothing(self, ur5e, box, there_and_back) -> None:
        ghost = Payload.from_parameters(box.parameters)
        lower = HOME + np.array([0.0, 0.55, 0.0, 0.0, 0.0, 0.0])
        with pytest.raises(CollisionError):
            MujocoSimulator().load(ur5e, box).run(there_and_back(HOME, lower))
        MujocoSimulator().load(ur5e, ghost).run(there_and_back(HOME, lower))


class TestCapsules:
    @pytest.mark.parametrize("name", iparam.robot_names())
    def test_no_false_alarm_when_the_wrist_turns(self, name: str) -> None:
        mujoco = pytest.importorskip("mujoco")
        robot = iparam.load_robot(name)
        model = MujocoSimulator().load(robot).model
        data, rng = mujoco.MjData(model), np.random.default_rng(0)
        for _ in range(300):
            # Wrist 1 within 70 degrees of straight ahead: folded back, the flange does hit the forearm.
            wrist_1 = rng.uniform(-2.8, -0.35)
            data.qpos = [rng.uniform(-3, 3), -1.57, 1.57, wrist_1, *rng.uniform(-3.0, 3.0, 2)]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            assert data.ncon == 0, data.qpos

    def test_parallel_links_lie_beside_each_other(self, ur5e) -> None:
        capsules = {c.frame: c for c in link_capsules(ur5e) if c.length > 0.3}
        assert set(capsules) == {"upper_arm_link", "forearm_link"}
        assert capsules["upper_arm_link"].start[2] > 0.1
        assert capsules["forearm_link"].start[2] < 0.05

    def test_they_are_given_in_the_frames_of_the_links(self, ur5e) -> None:
        # The chain of capsules is connected: the last point of a link is the first of the next one.
        poses = iparam.frame_poses(ur5e, HOME)
        ends = {}
        for capsule in link_capsules(ur5e):
            pose = poses[capsule.frame]
            start, end = (pose[:3, :3] @ point + pose[:3, 3] for point in (capsule.start, capsule.end))
            if capsule.body in ends:
                np.testing.assert_allclose(ends[capsule.body], start, atol=1e-9)
            elif capsule.body:
                np.testing.assert_allclose(ends[capsule.body - 1], start, atol=1e-9)
            ends[capsule.body] = end
        np.testing.assert_allclose(ends[6], poses["tool0"][:3, 3], atol=1e-9)

    def test_neighbours_are_not_tested(self, ur5e) -> None:
        pairs = colliding_bodies(ur5e, link_capsules(ur5e))
        assert all(j > i + 1 for i, j in pairs)
        assert (0, 2) not in pairs  # the shoulder between them has no length
        assert (0, 6) in pairs

    def test_radii_of_an_unknown_arm_follow_its_mass(self, ur5e) -> None:
        guessed = link_capsules(dataclasses.replace(ur5e, name="mine"))
        for capsule, known in zip(guessed, link_capsules(ur5e), strict=True):
            assert 0.5 * known.radius < capsule.radius < 2.0 * known.radius

    def test_refusals(self) -> None:
        with pytest.raises(iparam.InputError, match="radius"):
            Capsule(0, "base", np.zeros(3), np.ones(3), 0.0)
        with pytest.raises(iparam.InputError, match="half_extents"):
            Box((0, 0, 0), (1, 0, 1))
        with pytest.raises(iparam.InputError, match="must not be zero"):
            Plane((0, 0, 0), (0, 0, 0))
        with pytest.raises(iparam.InputError, match="needs Box objects"):
            WorkCell(boxes=(Plane((0, 0, 0), (0, 0, 1)),))  # type: ignore[arg-type]
