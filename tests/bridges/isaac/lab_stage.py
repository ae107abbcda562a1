"""An arm with its payload as a USD stage, as a user of Isaac Lab has one: links, joints, drives, nothing to collide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from scipy.spatial.transform import Rotation

from iparam.robot.model import Robot
from iparam.spatial import InertialParameters, transform_from


def write_stage(
    path: Path,
    robot: Robot,
    load: InertialParameters,
    joint: np.ndarray,
    tray: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """``/arm`` with a link a joint, and ``payload`` whose frame is the tool's, welded by a joint with a pose in it.

    A tray, a box that collides, has a pose (4, 4) in the tool frame and a size (3,) [m].
    """
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    root = UsdGeom.Xform.Define(stage, "/arm").GetPrim()
    stage.SetDefaultPrim(root)
    UsdPhysics.ArticulationRootAPI.Apply(root)
    pose, parent, chain = np.eye(4), "base", robot.chain
    _body(stage, parent, pose, InertialParameters(1.0, np.zeros(3), 0.01 * np.eye(3)))
    UsdPhysics.FixedJoint.Define(stage, "/arm/to_world").CreateBody1Rel().SetTargets(["/arm/base"])
    for i, moving in enumerate(robot.moving_joints):
        origin, link = _matrix(chain.origins[i]), f"link_{i}"
        pose = pose @ origin
        _body(stage, link, pose, InertialParameters.from_phi(chain.phi[i]))
        revolute = UsdPhysics.RevoluteJoint.Define(stage, f"/arm/{moving.name}")
        revolute.CreateAxisAttr("Z")
        _connect(revolute, parent, origin, link, np.eye(4))
        UsdPhysics.DriveAPI.Apply(revolute.GetPrim(), "angular").CreateTypeAttr("force")
        parent = link
    tool = _matrix(chain.tool[0])
    _body(stage, "payload", pose @ tool, load)
    _connect(UsdPhysics.FixedJoint.Define(stage, "/arm/weld"), parent, tool @ joint, "payload", joint)
    if tray is not None:
        cube = UsdGeom.Cube.Define(stage, "/arm/payload/tray")
        cube.CreateSizeAttr(1.0)
        cube.AddTranslateOp().Set(Gf.Vec3d(*tray[0][:3, 3].tolist()))
        cube.AddOrientOp().Set(_quaternion(tray[0][:3, :3]))
        cube.AddScaleOp().Set(Gf.Vec3f(*tray[1].tolist()))
        UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
    stage.GetRootLayer().Save()


def _body(stage: Any, name: str, pose: np.ndarray, inertial: InertialParameters) -> None:
    form = UsdGeom.Xform.Define(stage, f"/arm/{name}")
    form.AddTransformOp().Set(Gf.Matrix4d(*pose.T.ravel().tolist()))
    UsdPhysics.RigidBodyAPI.Apply(form.GetPrim())
    mass = UsdPhysics.MassAPI.Apply(form.GetPrim())
    values, axes = np.linalg.eigh(inertial.inertia_about_com)
    axes[:, 0] *= np.linalg.det(axes)
    mass.CreateMassAttr(inertial.mass)
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*inertial.center_of_mass.tolist()))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*values.tolist()))
    mass.CreatePrincipalAxesAttr(_quaternion(axes))


def _connect(joint: Any, parent: str, on_parent: np.ndarray, child: str, on_child: np.ndarray) -> None:
    joint.CreateBody0Rel().SetTargets([f"/arm/{parent}"])
    joint.CreateBody1Rel().SetTargets([f"/arm/{child}"])
    joint.CreateLocalPos0Attr(Gf.Vec3f(*on_parent[:3, 3].tolist()))
    joint.CreateLocalRot0Attr(_quaternion(on_parent[:3, :3]))
    joint.CreateLocalPos1Attr(Gf.Vec3f(*on_child[:3, 3].tolist()))
    joint.CreateLocalRot1Attr(_quaternion(on_child[:3, :3]))


def _quaternion(turn: np.ndarray) -> Any:
    x, y, z, w = Rotation.from_matrix(turn).as_quat().tolist()
    return Gf.Quatf(w, x, y, z)


def _matrix(row: np.ndarray) -> np.ndarray:
    return transform_from(row[:9].reshape(3, 3), row[9:])
