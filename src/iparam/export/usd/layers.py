"""The text of USD layers that hold a load: one of its own, one that overrides a stage, or a copy of a stage's root."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from iparam.errors import ContradictionError, InputError
from iparam.export.comment import comment_lines, frame_of, uncertainty
from iparam.export.load import IdentifiedLoad, InconsistentLoadError
from iparam.export.usd.backend import checked_source, copied_layer, overriding_layer, quiet, require_usd, text_of
from iparam.export.usd.bodies import NoBodyError, StageBodies
from iparam.export.usd.mass import SI, PrimUnits, read_mass, write_mass
from iparam.spatial.transforms import is_transform

COMMENT = "iparam:comment"
"""Of the prim's custom data: where frame, units and remarks stand."""


@dataclass(frozen=True)
class StageText:
    """A layer to be written.

    Attributes:
        text: as usda.
        prim: path of the body that weighs more, or otherwise, now.
        notes: what a reader should know, a sentence each.
    """

    text: str
    prim: str
    notes: tuple[str, ...]


def to_usd(load: IdentifiedLoad) -> str:
    """A layer with the load as a rigid body ``/payload`` in metres and kilograms, to be referenced and joined."""
    pxr = require_usd()
    stage = pxr.Usd.Stage.CreateInMemory()
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    pxr.UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z)
    prim = pxr.UsdGeom.Xform.Define(stage, "/payload").GetPrim()
    stage.SetDefaultPrim(prim)
    pxr.UsdPhysics.RigidBodyAPI.Apply(prim)
    write_mass(pxr, prim, load, SI)
    place = f"The prim's frame is {frame_of(load)}: reference it there and fix it with a joint to the flange."
    _state(prim, comment_lines(load, place, _statement(SI), *uncertainty(load)))
    return f"{stage.GetRootLayer().ExportToString().rstrip()}\n"


def write_into_stage(
    load: IdentifiedLoad,
    source: str | os.PathLike[str],
    prim: str | None = None,
    *,
    pose: ArrayLike | None = None,
    own_mass: Literal["add", "replace"] | None = None,
    copy: bool = False,
    folder: str | os.PathLike[str] = ".",
    force: bool = False,
) -> StageText:
    """A layer that makes a rigid body of a stage weigh what was identified. The stage's own files stay as they are.

    Units, scale and pose are the stage's: metersPerUnit, kilogramsPerUnit, the transforms of the prim and those above.

    Args:
        load: what was identified.
        source: file of the stage.
        prim: path or name of the rigid body; not needed where the stage has one only, or one prim of the name of the
            load's frame.
        pose: (4, 4) of the load's frame in the prim's [m]. If it is not given, the prim called as the load's frame
            tells it, which must not move against the body; if there is none, the two frames are taken for one.
        own_mass: where the body states a mass already: ``add`` the load to it (it carries the load), or ``replace`` it
            (it is the load).
        copy: the text of the whole root layer with the load in it, instead of a layer that overrides the stage.
        folder: in which the text will stand, for relative paths.
        force: also write what no real body can be like, else an `InconsistentLoadError`, and what its own data refute,
            else a `RefutedResultError`.
    """
    if not force:
        load.require_consistency()
        load.require_credit()
    if load.mass <= 0.0:
        raise InconsistentLoadError(f"USD takes a mass of 0 or less for none, and the load has {load.mass:.6g} kg")
    pxr, path = require_usd(), checked_source(source)
    if copy and path.suffix.lower() == ".usdz":
        raise InputError(f"{source} is a package, of which there is no copy as text: unpack it", argument="copy")
    said: list[str] = []
    try:
        with quiet(pxr, str(source), said):
            layer = copied_layer(pxr, path) if copy else overriding_layer(pxr, path)
            stage = pxr.Usd.Stage.Open(layer)
            bodies = StageBodies(pxr, stage, str(source))
            body = bodies.body(prim, load.frame)
            notes = _write(pxr, bodies, body, load, pose, own_mass)
            text = text_of(pxr, layer, Path(os.path.abspath(folder)))
    except NoBodyError as error:  # perhaps because a file that the stage refers to is not there
        raise InputError(" ".join([f"{error}.", *_of_usd(said)]) if said else str(error)) from None
    return StageText(f"{text.rstrip()}\n", str(body.GetPath()), (*notes, *_of_usd(said)))


def _write(
    pxr: Any, bodies: StageBodies, body: Any, load: IdentifiedLoad, pose: ArrayLike | None, own_mass: str | None
) -> list[str]:
    """Set the mass properties of a prim; returns what to say about it."""
    notes, path, units = [], body.GetPath(), bodies.units(body)
    if not pxr.UsdGeom.StageHasAuthoredMetersPerUnit(bodies.stage):
        notes.append(f"{bodies.file} does not state metersPerUnit, so USD's default counts: {units.meters:g} m.")
    placed = _given_pose(pose) if pose is not None else bodies.pose_of_frame(body, load.frame)
    if placed is None:
        placed = np.eye(4)
        notes.append(
            f"No prim of {bodies.file} is called {load.frame}: the frame of {path} was taken for it. "
            "State its pose if it is elsewhere."
        )
    added = load.parameters.transformed(placed)
    stated = body.GetAttribute("physics:mass").Get(pxr.Usd.TimeCode.EarliestTime()) or 0.0
    if not body.HasAPI(pxr.UsdPhysics.MassAPI):
        stated = 0.0  # an attribute without its schema counts for nothing
    if stated > 0.0 and own_mass is None:
        raise ContradictionError(
            f"{path} weighs {stated * units.kilograms:.6g} kg already: say 'add' if it carries the load, "
            "'replace' if it is the load",
            argument="own_mass",
        )
    own = read_mass(pxr, body, units) if own_mass == "add" else None
    if own_mass == "add" and own is None and bodies.has_colliders(body):
        raise ContradictionError(
            f"{path} states no mass: a simulator computes it from its colliders, and no load can be added to that. "
            "State its mass, centre of mass and inertia, or replace it",
            argument="own_mass",
            value=own_mass,
            fix={"own_mass": "replace"},
        )
    if own is not None:
        did = f"Added to {path}: {load.mass:.6g} kg to {own.mass:.6g} kg of its own."
    elif stated > 0.0:
        did = f"The load takes the place of what {path} weighed, {stated * units.kilograms:.6g} kg."
    else:
        did = f"{path} stated no mass of its own; what its colliders would weigh no longer counts."
    notes.append(did)
    write_mass(pxr, body, added if own is None else own + added, units)
    _state(body, comment_lines(load, did, _statement(units), *uncertainty(load)))
    return notes


def _statement(units: PrimUnits) -> str:
    """What the attributes mean, in units of the stage."""
    kg, m = ("" if factor == 1.0 else f"{factor:g} " for factor in (units.kilograms, units.meters))
    square = f"({m}m)^2" if m else "m^2"
    return (
        f"physics:mass [{kg}kg]; centerOfMass [{m}m] in the prim's space; diagonalInertia [{kg}kg {square}] about the "
        "centre of mass, along the principalAxes (quaternion, w first); single precision."
    )


def _given_pose(pose: ArrayLike) -> Any:
    given = np.asarray(pose, dtype=np.float64)
    if given.shape != (4, 4) or not is_transform(given):
        raise InputError(argument="pose", value=given.shape, expected="a rigid transform (4, 4)")
    return given


def _state(prim: Any, lines: Sequence[str]) -> None:
    prim.SetCustomDataByKey(COMMENT, "\n".join(line for line in lines if line))


def _of_usd(said: Sequence[str]) -> list[str]:
    """What USD complained of, once each and not too much."""
    unique = list(dict.fromkeys(" ".join(text.split())[:300] for text in said))
    return [f"USD says: {text}" for text in unique[:3]] + ([f"USD says {len(unique) - 3} more."] if unique[3:] else [])
