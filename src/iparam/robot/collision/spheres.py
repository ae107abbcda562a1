"""`sphere_scene`: an arm as spheres at its joints, as in the reference problem: rough, quick and smooth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.robot.collision.distances import Distances
from iparam.robot.collision.scene import CollisionScene
from iparam.robot.collision.shapes import GROUND, PAYLOAD, HalfSpace, PayloadBox, PlacedCapsule, PlacedPoint
from iparam.robot.model import Robot


def sphere_scene(
    robot: Robot, radii: ArrayLike, payload: Sequence[PayloadBox] = (), ground: float = 0.01
) -> CollisionScene:
    """Spheres of joints that are not neighbours keep their clearance, and so do the spheres around the payload's boxes
    and those of all joints but the last two; spheres and the payload's corners stay above the ground.

    Args:
        robot: the arm.
        radii: (n,) of the spheres [m].
        payload: boxes on its tool frame.
        ground: height that nothing may reach below [m].
    """
    sizes = as_float_array(radii, "radii", (robot.num_joints,))
    none, count = np.zeros(3), robot.num_joints
    spheres = tuple(
        PlacedCapsule(joint.name, i + 1, none, none, float(sizes[i])) for i, joint in enumerate(robot.moving_joints)
    )
    balls = tuple(PlacedPoint(sphere.name, sphere.body, none, sphere.radius) for sphere in spheres)
    boxes = [box.placed(robot) for box in payload]
    around = tuple(box.enclosing_sphere() for box in boxes)
    corners = tuple(PlacedPoint(PAYLOAD, box.body, corner) for box in boxes for corner in box.corners)
    floor = (HalfSpace(GROUND, np.array([0.0, 0.0, 1.0]), ground),)

    def above_ground(name: str, points: tuple[PlacedPoint, ...]) -> Distances:
        return Distances(
            name, robot, points=points, planes=floor, plane_pairs=tuple((i, 0) for i in range(len(points)))
        )

    links = tuple((i, j) for i in range(count) for j in range(i + 2, count))
    carried = tuple((count + k, i) for k in range(len(around)) for i in range(count - 2))
    groups = (  # with whether a clearance is kept beyond not touching
        (above_ground("robot-ground collision", balls), False),
        (Distances("robot-robot collision", robot, spheres, capsule_pairs=links), True),
        (above_ground("payload-ground collision", corners), False),
        (Distances("payload-robot collision", robot, (*spheres, *around), capsule_pairs=carried), True),
    )
    some = [(group, far) for group, far in groups if group.pairs]

    def each(value: float, group: Distances) -> FloatArray:
        return np.full(len(group.pairs), value)

    return CollisionScene(
        robot,
        tuple(group for group, _ in some),
        tuple(each(np.inf if far else 0.0, group) for group, far in some),
        tuple(each(0.0, group) for group, _ in some),
        touching=(),
    )
