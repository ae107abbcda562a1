"""The shapes of a MuJoCo model's bodies, as they are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.spatial.transforms import transform_from

_UNBOUNDED = ("mjGEOM_PLANE", "mjGEOM_HFIELD")


def mjcf_geometry(mujoco: Any, model: Any, body: int, missing: list[str]) -> tuple[LinkGeometry, ...]:
    """The shape of a body: what can collide on it, or what is seen of it if nothing can. Planes are no body's shape.

    Args:
        mujoco: the module.
        model: compiled.
        body: its index.
        missing: files of meshes that were taken out of it, because they are not there.
    """
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = list(range(first, first + count))
    collide = [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]
    found = [_piece(mujoco, model, geom) for geom in collide or geoms]
    lost = [LinkGeometry(GeometryKind.MESH, np.eye(4), reference=file) for file in missing]
    return (*(piece for piece in found if piece is not None), *lost)


def lost_meshes(mujoco: Any, spec: Any) -> list[list[str]]:
    """For each body of a specification, the world first, the files of the meshes that are part of its shape."""
    lost = []
    for body in spec.bodies:
        geoms = [(geom, bool(geom.contype or geom.conaffinity)) for geom in body.geoms]
        collides = any(can for _, can in geoms)
        lost.append(
            [
                _file(spec, geom.meshname)
                for geom, can in geoms
                if (geom.type == mujoco.mjtGeom.mjGEOM_MESH or geom.meshname) and (can or not collides)
            ]
        )
    return lost


def _file(spec: Any, name: str) -> str:
    mesh = next((mesh for mesh in spec.meshes if mesh.name == name), None)
    return mesh.file if mesh is not None and mesh.file else name


def _piece(mujoco: Any, model: Any, geom: int) -> LinkGeometry | None:
    matrix = np.empty(9)
    quaternion = np.array(model.geom_quat[geom])
    mujoco.mju_quat2Mat(matrix, quaternion / np.linalg.norm(quaternion))
    pose = transform_from(matrix.reshape(3, 3), np.array(model.geom_pos[geom]))
    kind, size = mujoco.mjtGeom(int(model.geom_type[geom])).name, np.array(model.geom_size[geom])
    if kind in _UNBOUNDED:
        return None
    if kind == "mjGEOM_BOX":
        return LinkGeometry(GeometryKind.BOX, pose, tuple(2.0 * size))
    if kind == "mjGEOM_SPHERE":
        return LinkGeometry(GeometryKind.SPHERE, pose, (size[0],))
    if kind == "mjGEOM_ELLIPSOID":
        return LinkGeometry(GeometryKind.ELLIPSOID, pose, tuple(size))
    if kind in ("mjGEOM_CYLINDER", "mjGEOM_CAPSULE"):
        return LinkGeometry(GeometryKind(kind.removeprefix("mjGEOM_").lower()), pose, (size[0], 2.0 * size[1]))
    mesh = int(model.geom_dataid[geom])
    faces = _faces(model, mesh) if mesh >= 0 else None
    name = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_MESH), mesh) if mesh >= 0 else kind
    return LinkGeometry(GeometryKind.MESH, pose, reference=name or "mesh", faces=faces)


def _faces(model: Any, mesh: int) -> FloatArray:
    """(F, 3, 3) corners of a mesh's triangles in the frame that it is compiled in [m]."""
    vertices, faces = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    points = np.array(model.mesh_vert[vertices : vertices + int(model.mesh_vertnum[mesh])], dtype=np.float64)
    return np.asarray(points[np.array(model.mesh_face[faces : faces + int(model.mesh_facenum[mesh])])])
