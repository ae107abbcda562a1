"""Collisions end a run, or refuse it before it begins, and name what touched."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.robot.cell import Box, Plane, WorkCell
from iparam.simulation import CollisionError, ComputedTorque, MujocoSimulator, Payload
from iparam.simulation.arm_scene import TRACKING_SLACK

HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
DOWN = HOME + np.array([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])


class TestCollisions:
    def test_the_ground(self, ur5e, box, there_and_back) -> None:
        with pytest.raises(CollisionError, match=r"collision at 0\.\d+ s: .*ground") as caught:
            MujocoSimulator().load(ur5e, box).run(there_and_back(HOME, DOWN))
        assert set(caught.value.bodies) == {"ground", "payload"}
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
        assert set(caught.value.bodies) == {"ground", "payload"}

    def test_a_start_pose_in_collision(self, ur5e, box, at_rest) -> None:
        with pytest.raises(CollisionError, match="collision in the start pose"):
            MujocoSimulator().load(ur5e, box).run(at_rest(DOWN))

    def test_a_body_without_a_shape_hits_nothing(self, ur5e, box, there_and_back) -> None:
        ghost = Payload.from_parameters(box.parameters)
        lower = HOME + np.array([0.0, 0.55, 0.0, 0.0, 0.0, 0.0])
        with pytest.raises(CollisionError):
            MujocoSimulator().load(ur5e, box).run(there_and_back(HOME, lower))
        MujocoSimulator().load(ur5e, ghost).run(there_and_back(HOME, lower))

    def test_a_clearance_is_to_be_kept(self, ur5e, box, there_and_back) -> None:
        lower = HOME + np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0])
        MujocoSimulator().load(ur5e, box).run(there_and_back(HOME, lower))
        with pytest.raises(
            CollisionError, match=r"payload is \d+\.?\d* mm too close to ground, of the 100 mm to be kept"
        ) as caught:
            MujocoSimulator().load(ur5e, box, clearance=0.1).run(there_and_back(HOME, lower))
        assert -0.1 < caught.value.depth < 0.0
        with pytest.raises(iparam.InputError, match="clearance"):
            MujocoSimulator().load(ur5e, box, clearance=-0.1)

    def test_an_arm_that_leaves_a_clear_trajectory_hits_and_the_message_says_so(self, ur5e, there_and_back) -> None:
        heavy = Payload.box(mass=4.0, size=(0.1, 0.15, 0.2))  # pulls a soft arm down by centimetres
        soft = MujocoSimulator(controller=ComputedTorque(bandwidth=3.0), settle_time=0.0)
        below = iparam.forward_kinematics(ur5e, HOME)[:3, 3] - [0.0, 0.0, 0.2 + 0.001 + 0.05]
        cell = WorkCell(boxes=(Box(below, [0.1, 0.1, 0.05], name="table"),))
        with pytest.raises(CollisionError, match=r"trajectory is clear, but the arm is .* rad off") as caught:
            soft.load(ur5e, heavy, cell).run(there_and_back(HOME, HOME))
        assert caught.value.tracking_error > 0.0
        assert caught.value.depth >= TRACKING_SLACK
