"""Which prim of a stage carries a load, whether it can be written to, and where the load's frame is in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError, UnknownNameError
from iparam.export.usd.mass import PrimUnits

_MOST_NAMED = 20
_RIGID = 1e-5
"""By how much the axes of a prim may deviate from right angles: files hold single-precision matrices."""


class NoBodyError(InputError):
    """A stage has no rigid body at all."""


class StageBodies:
    """The rigid bodies of a stage (prims with PhysicsRigidBodyAPI), those inside instances included.

    Args:
        pxr: the modules of usd-core.
        stage: composed, with its payloads loaded.
        file: its name, for messages.
    """

    def __init__(self, pxr: Any, stage: Any, file: str) -> None:
        self.pxr, self.stage, self.file = pxr, stage, file
        everything = pxr.Usd.TraverseInstanceProxies(pxr.Usd.PrimDefaultPredicate)
        self.prims = list(pxr.Usd.PrimRange.Stage(stage, everything))
        self.bodies = [prim for prim in self.prims if prim.HasAPI(pxr.UsdPhysics.RigidBodyAPI)]
        self._poses = pxr.UsdGeom.XformCache(pxr.Usd.TimeCode.EarliestTime())

    def body(self, path: str | None, frame: str) -> Any:
        """The prim that carries the load, which can be written to.

        Args:
            path: of the prim, or the name of a rigid body; None for the only one, or the one with the load's frame.
            frame: of the load.
        """
        if not self.bodies:
            raise NoBodyError(
                f"{self.file} has no rigid body, and the mass of anything else counts for nothing: apply "
                "PhysicsRigidBodyAPI to the prim that is to weigh something"
            )
        prim = self._chosen(frame) if path is None else self._named(path)
        self._require_writable(prim)
        return prim

    def _chosen(self, frame: str) -> Any:
        owners = {str(body.GetPath()): body for prim in self._called(frame) if (body := self.owner(prim))}
        if len(owners) == 1:
            return next(iter(owners.values()))
        if len(self.bodies) == 1:
            return self.bodies[0]
        raise InputError(
            f"{self.file} has {len(self.bodies)} rigid bodies: say which one carries the load: {_listed(self.bodies)}",
            argument="prim",
        )

    def _named(self, path: str) -> Any:
        known = [str(body.GetPath()) for body in self.bodies]
        if not path.startswith("/"):
            found = [body for body in self.bodies if body.GetName() == path]
            if len(found) != 1:
                several = f" {len(found)} rigid bodies have that name: give the path." if found else ""
                raise UnknownNameError("prim", path, known[:_MOST_NAMED], hint=several.strip(), argument="prim")
            return found[0]
        valid = self.pxr.Sdf.Path.IsValidPathString(path)
        prim = self.stage.GetPrimAtPath(path) if valid else None
        if not prim:
            raise UnknownNameError(
                "prim", path, known[:_MOST_NAMED], hint="These are the rigid bodies of the stage.", argument="prim"
            )
        if not prim.HasAPI(self.pxr.UsdPhysics.RigidBodyAPI):
            owner = self.owner(prim)
            way_out = f"it is a part of {owner.GetPath()}: give that one" if owner else f"choose {_listed(self.bodies)}"
            raise InputError(
                f"{path} is no rigid body (it lacks PhysicsRigidBodyAPI), so a simulator would not take its mass: "
                f"{way_out}"
            )
        return prim

    def _require_writable(self, prim: Any) -> None:
        instance = prim
        while instance and not (instance.IsInstance() or instance.IsInstanceable()):
            instance = instance.GetParent()
        if instance and not instance.IsPseudoRoot():
            inside = (
                "is instanceable" if instance == prim else f"lies inside the instanceable prim {instance.GetPath()}"
            )
            raise ContradictionError(
                f"{prim.GetPath()} {inside}, which all its copies share, so that it cannot weigh something of its own. "
                f"Switch that off first (instanceable = false at {instance.GetPath()}; in Python "
                f"stage.GetPrimAtPath('{instance.GetPath()}').SetInstanceable(False)) and save the stage, or write the "
                "load into the file that the instance refers to"
            )

    def owner(self, prim: Any) -> Any:
        """The rigid body that a prim is or is a part of; None if there is none."""
        while prim and not prim.HasAPI(self.pxr.UsdPhysics.RigidBodyAPI):
            prim = prim.GetParent()
        return prim or None

    def has_colliders(self, prim: Any) -> bool:
        """Whether a simulator would compute a mass of a prim that states none, from its colliders or its parts."""
        physics = self.pxr.UsdPhysics
        parts = self.pxr.Usd.PrimRange(prim, self.pxr.Usd.TraverseInstanceProxies(self.pxr.Usd.PrimDefaultPredicate))
        return any(
            part.HasAPI(physics.CollisionAPI) or (part != prim and part.HasAPI(physics.MassAPI)) for part in parts
        )

    def units(self, prim: Any) -> PrimUnits:
        """How numbers at the prim become SI units."""
        return PrimUnits(
            float(self.pxr.UsdGeom.GetStageMetersPerUnit(self.stage)),
            float(self.pxr.UsdPhysics.GetStageKilogramsPerUnit(self.stage)),
            self._pose(prim)[1],
        )

    def pose_of_frame(self, body: Any, frame: str) -> FloatArray | None:
        """(4, 4) of the prim called ``frame`` in the body, without scales [m]; None if the stage has none."""
        named = self._called(frame)
        if not named or body.GetName() == frame:
            return None if not named else np.eye(4)
        rigid = self._joined_to(body)
        inside = [prim for prim in named if (owner := self.owner(prim)) and str(owner.GetPath()) in rigid]
        if not inside:
            raise ContradictionError(
                f"{_listed(named)} has the name of the load's frame, but is not rigidly connected to {body.GetPath()}: "
                "choose the body that it belongs to, or say where the frame is",
                argument="pose",
            )
        meters = float(self.pxr.UsdGeom.GetStageMetersPerUnit(self.stage))
        of_body = self._pose(body)[0]
        poses = []
        for prim in inside:
            pose = np.linalg.inv(of_body) @ self._pose(prim)[0]
            pose[:3, 3] *= meters
            poses.append(pose)
        if not all(np.allclose(pose, poses[0], atol=1e-9) for pose in poses[1:]):
            raise ContradictionError(
                f"several prims are called {frame!r}: {_listed(inside)}. Say where it is", argument="pose"
            )
        return poses[0]

    def _called(self, frame: str) -> list[Any]:
        return [prim for prim in self.prims if prim.GetName() == frame]

    def _joined_to(self, body: Any) -> set[str]:
        """Paths of the bodies that fixed joints connect with this one, itself included."""
        pairs = []
        for prim in self.prims:
            if prim.IsA(self.pxr.UsdPhysics.FixedJoint):
                joint = self.pxr.UsdPhysics.FixedJoint(prim)
                ends = [str(end) for side in (joint.GetBody0Rel(), joint.GetBody1Rel()) for end in side.GetTargets()]
                if len(ends) == 2 and joint.GetJointEnabledAttr().Get() is not False:
                    pairs.append(ends)
        joined, before = {str(body.GetPath())}, 0
        while len(joined) > before:
            before = len(joined)
            joined |= {end for pair in pairs if joined & set(pair) for end in pair}
        return joined

    def _pose(self, prim: Any) -> tuple[FloatArray, FloatArray]:
        """(4, 4) of a prim in the world, in units of the stage, and the scale (3,) that was taken out of it."""
        matrix = np.array(self._poses.GetLocalToWorldTransform(prim)).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        with np.errstate(all="ignore"):
            R = matrix[:3, :3] / scale
        if not np.isfinite(R).all() or np.abs(R.T @ R - np.eye(3)).max() > _RIGID or np.linalg.det(R) < 0.0:
            raise ContradictionError(
                f"{prim.GetPath()} is sheared, mirrored or squeezed to nothing by its transforms, so it has no frame "
                "that a body can be given in: remove that from the stage"
            )
        u, _, v = np.linalg.svd(R)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = u @ v, matrix[:3, 3]
        return pose, scale


def _listed(prims: Iterable[Any]) -> str:
    paths = [str(prim.GetPath()) for prim in prims]
    rest = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return f"{', '.join(paths[:_MOST_NAMED])}{rest}"
