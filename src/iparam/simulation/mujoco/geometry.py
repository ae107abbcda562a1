"""The geometry that MuJoCo tests for contact: the arm's capsules, the payload's shape and the cell."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.capsules import colliding_bodies, link_capsules
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.simulation.payload import Payload
from iparam.simulation.shapes import Solid, SolidKind, TriangleMesh

GROUND = "the ground"
CELL_SIZE = 10.0  # half the drawn size of planes [m]; their contact has no bounds

# Who meets whom, as MuJoCo's (contype, conaffinity): two shapes are tested if one's contype has a bit of the other's
# conaffinity. What stands on the ground, the base and the first moving link, may reach into it.
_ARM, _STANDING, _GROUND, _CELL = (1, 3), (2, 3), (0, 1), (0, 3)


def add_arm_geometry(mujoco: Any, spec: Any, bodies: list[Any], robot: Robot) -> None:
    """Capsules on the bodies, and the exclusion of pairs that always touch.

    Args:
        mujoco: the module.
        spec: the model.
        bodies: the base, the n moving bodies and the payload.
        robot: the arm.
    """
    capsules = link_capsules(robot)
    for capsule in capsules:
        turn = robot.chain.link_turns[capsule.body - 1].reshape(3, 3).T if capsule.body else np.eye(3)
        start, end = turn @ capsule.start, turn @ capsule.end
        place: dict[str, Any] = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "pos": start}
        if capsule.length > 1e-9:
            place = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "fromto": [*start, *end]}
        meets = _ARM if capsule.body > 1 else _STANDING
        _add(bodies[capsule.body], meets, size=(capsule.radius, 0.0, 0.0), **place)
    tested = set(colliding_bodies(robot, capsules))
    last = robot.num_joints
    for i, j in combinations(range(len(bodies)), 2):
        # The payload is part of the last body.
        if (min(i, last), min(j, last)) not in tested:
            spec.add_exclude(bodyname1=bodies[i].name, bodyname2=bodies[j].name)


def add_payload_geometry(mujoco: Any, spec: Any, body: Any, payload: Payload) -> None:
    """The payload's solids and the convex hulls of its meshes, on ``body``, whose frame is the tool's."""
    for index, piece in enumerate(payload.shape):
        if isinstance(piece, TriangleMesh):
            name = f"iparam_payload_{index}"
            mesh = spec.add_mesh(name=name, uservert=piece.vertices.ravel(), userface=piece.faces.ravel())
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX  # unused; the exact kind refuses tiny meshes
            _add(body, _ARM, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
        else:
            _add(
                body, _ARM, quat=_quaternion(mujoco, piece.pose[:3, :3]), pos=piece.pose[:3, 3], **_solid(mujoco, piece)
            )


def add_cell_geometry(mujoco: Any, spec: Any, cell: WorkCell) -> None:
    """The cell's boxes, walls and ground, fixed to the world, which is the robot's base frame."""
    world, names = spec.worldbody, [GROUND]
    wide = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": (CELL_SIZE, CELL_SIZE, 0.1)}
    if cell.ground_height is not None:
        _add(world, _GROUND, name=GROUND, pos=(0.0, 0.0, cell.ground_height), **wide)
    for wall in cell.planes:
        quaternion = np.empty(4)
        mujoco.mju_quatZ2Vec(quaternion, wall.normal)
        _add(world, _CELL, name=_new_name(wall.name, names), pos=wall.point, quat=quaternion, **wide)
    for box in cell.boxes:
        place = {"pos": box.center, "quat": _quaternion(mujoco, box.rotation), "size": box.half_extents}
        _add(world, _CELL, name=_new_name(box.name, names), type=mujoco.mjtGeom.mjGEOM_BOX, **place)


def _new_name(wanted: str, names: list[str]) -> str:
    """``wanted``, with a number if it is taken; noted in ``names``."""
    count = 1
    name = wanted
    while name in names:
        count += 1
        name = f"{wanted} {count}"
    names.append(name)
    return name


def _add(body: Any, meets: tuple[int, int], **options: Any) -> None:
    body.add_geom(contype=meets[0], conaffinity=meets[1], **options)


def _solid(mujoco: Any, solid: Solid) -> dict[str, Any]:
    """Type and size as MuJoCo wants them: half lengths."""
    if solid.kind is SolidKind.BOX:
        return {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": 0.5 * np.array(solid.size)}
    if solid.kind is SolidKind.CYLINDER:
        return {"type": mujoco.mjtGeom.mjGEOM_CYLINDER, "size": (solid.size[0], 0.5 * solid.size[1], 0.0)}
    return {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": (solid.size[0], 0.0, 0.0)}


def _quaternion(mujoco: Any, rotation: FloatArray) -> FloatArray:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion
