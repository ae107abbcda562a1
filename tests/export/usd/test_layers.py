"""A load in a stage: a layer over it or a copy of it, read back by usd-core; which body it is, and what is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from iparam.errors import ContradictionError, FileFormatError, InputError, MissingExtraError, UnknownNameError
from iparam.export import IdentifiedLoad, InconsistentLoadError, draw_loads, to_usd, write_into_stage
from iparam.export.usd.backend import require_usd
from iparam.files.kind import FileKind, kind_of
from iparam.spatial import InertialParameters, is_physically_consistent, transform_from

pytest.importorskip("pxr")
pxr = require_usd()

TURN = Rotation.from_euler("xyz", [30, -40, 50], degrees=True).as_matrix()
FRAME_IN_BODY = transform_from(TURN, [0.02, -0.03, 0.05])
OWN = InertialParameters(0.4, np.array([0.0, 0.001, -0.02]), np.diag([2e-4, 2e-4, 3e-4]))


def add_xform(stage: Any, path: str, T: np.ndarray | None = None, *, meters: float = 0.01, body: bool = False) -> Any:
    """T (4, 4) below its parent [m]."""
    xform = pxr.UsdGeom.Xform.Define(stage, path)
    if T is not None:
        matrix = np.array(T, dtype=float)
        matrix[:3, 3] /= meters
        xform.AddTransformOp().Set(pxr.Gf.Matrix4d(*matrix.T.ravel().tolist()))
    if body:
        pxr.UsdPhysics.RigidBodyAPI.Apply(xform.GetPrim())
    return xform.GetPrim()


def arm(path: Path, meters: float = 0.01, *, own: bool = False) -> Path:
    """Centimetres: links side by side below a robot that stands turned in the world, tool0 on the last of them."""
    stage = pxr.Usd.Stage.CreateNew(str(path))
    pxr.UsdGeom.SetStageMetersPerUnit(stage, meters)
    pxr.UsdGeom.SetStageUpAxis(stage, "Z")
    robot = add_xform(stage, "/arm", transform_from(TURN.T, [1.0, 2.0, 3.0]), meters=meters)
    stage.SetDefaultPrim(robot)
    add_xform(stage, "/arm/base", body=True, meters=meters)
    wrist = add_xform(stage, "/arm/wrist", transform_from(TURN @ TURN, [0.3, 0.2, 0.1]), body=True, meters=meters)
    add_xform(stage, "/arm/wrist/tool0", FRAME_IN_BODY, meters=meters)
    if own:
        api = pxr.UsdPhysics.MassAPI.Apply(wrist)
        api.CreateMassAttr(OWN.mass)
        api.CreateCenterOfMassAttr(pxr.Gf.Vec3f(*(OWN.center_of_mass / meters).tolist()))
        api.CreateDiagonalInertiaAttr(pxr.Gf.Vec3f(*(np.diag(OWN.inertia_about_com) / meters**2).tolist()))
    stage.GetRootLayer().Save()
    return path


def in_prim(path: Path, prim: str) -> tuple[np.ndarray, Any]:
    """phi in SI units in the prim's frame, by usd-core from the file, and the stage."""
    stage = pxr.Usd.Stage.Open(str(path))
    meters, kilograms = pxr.UsdGeom.GetStageMetersPerUnit(stage), pxr.UsdPhysics.GetStageKilogramsPerUnit(stage)
    api = pxr.UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath(prim))
    mass, diagonal, center, axes = api.ComputeMassProperties(lambda _: api.MassInformation())
    R = Rotation.from_quat([*axes.GetImaginary(), axes.GetReal()]).as_matrix()
    inertia = R @ np.diag(diagonal) @ R.T * kilograms * meters**2
    return InertialParameters(mass * kilograms, np.array(center) * meters, inertia).phi, stage


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """To 1e-6 of the largest of each kind: mass, first moment, inertia."""
    for part in (slice(0, 1), slice(1, 4), slice(4, 10)):
        np.testing.assert_allclose(found[part], expected[part], atol=1e-6 * np.abs(expected[part]).max(), rtol=0)


def test_a_layer_of_its_own(load: IdentifiedLoad, tmp_path: Path) -> None:
    path = tmp_path / "payload.usda"
    path.write_text(to_usd(load), encoding="utf-8")
    found, stage = in_prim(path, "/payload")
    assert_same(found, load.phi)
    assert stage.GetDefaultPrim().GetPath() == "/payload"
    assert pxr.UsdGeom.GetStageMetersPerUnit(stage) == pxr.UsdPhysics.GetStageKilogramsPerUnit(stage) == 1.0
    assert "in the frame tool0" in stage.GetPrimAtPath("/payload").GetCustomDataByKey("iparam:comment")


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_turned_and_shifted_frame(load: IdentifiedLoad, tmp_path: Path, copy: bool, meters: float) -> None:
    """The load is in tool0, the mass in the frame of the wrist; the file is in another folder than the stage."""
    source = arm(tmp_path / "arm.usd", meters)
    before = source.read_bytes()
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "loaded.usda"
    written = write_into_stage(load, source, copy=copy, folder=target.parent)
    assert written.prim == "/arm/wrist"  # the one that has tool0
    target.write_text(written.text, encoding="utf-8")
    found, stage = in_prim(target, "/arm/wrist")
    assert_same(found, load.parameters.transformed(FRAME_IN_BODY).phi)
    assert stage.GetDefaultPrim().GetPath() == "/arm"
    assert pxr.UsdGeom.GetStageMetersPerUnit(stage) == meters
    assert stage.GetPrimAtPath("/arm/wrist/tool0")
    assert source.read_bytes() == before
    assert ("@../arm.usd@" in written.text) is not copy
    assert kind_of(target) is FileKind.EXPORTED_USD


def test_an_existing_mass_is_added_to_or_replaced_and_never_guessed(load: IdentifiedLoad, tmp_path: Path) -> None:
    source, target = arm(tmp_path / "arm.usda", own=True), tmp_path / "loaded.usda"
    with pytest.raises(ContradictionError, match=r"/arm/wrist weighs 0.4 kg already: say 'add' .*'replace'"):
        write_into_stage(load, source)
    of_load = load.parameters.transformed(FRAME_IN_BODY)
    for choice, expected in (("add", OWN + of_load), ("replace", of_load)):
        written = write_into_stage(load, source, own_mass=choice, folder=tmp_path)  # type: ignore[arg-type]
        target.write_text(written.text, encoding="utf-8")
        assert_same(in_prim(target, "/arm/wrist")[0], expected.phi)
        assert any("0.4 kg" in note for note in written.notes)


def test_a_mass_that_only_colliders_have_is_not_added_to(load: IdentifiedLoad, tmp_path: Path) -> None:
    source = arm(tmp_path / "arm.usda")
    stage = pxr.Usd.Stage.Open(str(source))
    stage.GetPrimAtPath("/arm/wrist").CreateAttribute("physics:mass", pxr.Sdf.ValueTypeNames.Float).Set(7.0)
    cube = pxr.UsdGeom.Cube.Define(stage, "/arm/wrist/cube").GetPrim()
    stage.Save()
    written = write_into_stage(load, source, own_mass="add")  # an attribute without its schema weighs nothing
    assert any("stated no mass of its own" in note for note in written.notes)
    pxr.UsdPhysics.CollisionAPI.Apply(cube)
    stage.Save()
    with pytest.raises(ContradictionError, match=r"/arm/wrist states no mass: .*own_mass = replace"):
        write_into_stage(load, source, own_mass="add")
    assert write_into_stage(load, source, own_mass="replace").prim == "/arm/wrist"


def test_a_file_of_no_format_and_a_reference_to_nothing_are_said(load: IdentifiedLoad, tmp_path: Path) -> None:
    (tmp_path / "junk.usd").write_bytes(b"\x00\x01junk")
    for copy in (False, True):
        with pytest.raises(FileFormatError, match=r"junk\.usd cannot be read as a USD stage"):
            write_into_stage(load, tmp_path / "junk.usd", copy=copy)
    stage = pxr.Usd.Stage.CreateNew(str(tmp_path / "broken.usda"))
    stage.DefinePrim("/world").GetPayloads().AddPayload("./gone.usda")
    stage.GetRootLayer().Save()
    with pytest.raises(InputError, match=r"no rigid body.*USD says: .*gone\.usda"):
        write_into_stage(load, tmp_path / "broken.usda")


def test_a_given_pose_wins_and_a_missing_frame_is_said(load: IdentifiedLoad, tmp_path: Path) -> None:
    source, target = arm(tmp_path / "arm.usda"), tmp_path / "loaded.usda"
    pose = transform_from(TURN.T, [0.1, 0.0, 0.0])
    written = write_into_stage(load, source, "base", pose=pose, folder=tmp_path)
    target.write_text(written.text, encoding="utf-8")
    assert_same(in_prim(target, "/arm/base")[0], load.parameters.transformed(pose).phi)
    elsewhere = write_into_stage(replace(load, frame="flange"), source, "/arm/base")
    assert any("No prim of" in note and "pose=" in note for note in elsewhere.notes)


def test_a_frame_on_a_body_that_a_fixed_joint_holds(load: IdentifiedLoad, tmp_path: Path) -> None:
    source, target = arm(tmp_path / "arm.usda"), tmp_path / "loaded.usda"
    stage = pxr.Usd.Stage.Open(str(source))
    forearm = add_xform(stage, "/arm/forearm", transform_from(np.eye(3), [0.3, 0.2, 0.0]), body=True)
    stage.GetRootLayer().Save()
    with pytest.raises(ContradictionError, match=r"/arm/wrist/tool0 has the name .* not rigidly connected"):
        write_into_stage(load, source, "forearm")
    joint = pxr.UsdPhysics.FixedJoint.Define(stage, "/arm/joint")
    joint.CreateBody0Rel().SetTargets([forearm.GetPath()])
    joint.CreateBody1Rel().SetTargets(["/arm/wrist"])
    stage.GetRootLayer().Save()
    target.write_text(write_into_stage(load, source, "forearm", folder=tmp_path).text, encoding="utf-8")
    wrist = transform_from(TURN @ TURN, [0.0, 0.0, 0.1])  # in the forearm, by hand
    assert_same(in_prim(target, "/arm/forearm")[0], load.parameters.transformed(wrist @ FRAME_IN_BODY).phi)


def test_the_scale_of_a_prim_and_of_those_above_it(load: IdentifiedLoad, tmp_path: Path) -> None:
    path = tmp_path / "part.usda"
    stage = pxr.Usd.Stage.CreateNew(str(path))
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    outer = pxr.UsdGeom.Xform.Define(stage, "/outer")
    outer.AddScaleOp().Set((0.01, 0.01, 0.01))
    part = pxr.UsdGeom.Xform.Define(stage, "/outer/part")
    part.AddRotateXYZOp().Set((10, 20, 30))
    part.AddScaleOp().Set((2, 3, 4))
    pxr.UsdPhysics.RigidBodyAPI.Apply(part.GetPrim())
    stage.GetRootLayer().Save()
    target = tmp_path / "loaded.usda"
    target.write_text(write_into_stage(load, path, folder=tmp_path).text, encoding="utf-8")
    assert_same(in_prim(target, "/outer/part")[0], load.phi)
    outer.AddScaleOp(opSuffix="uneven").Set((1, 5, 1))
    stage.GetRootLayer().Save()
    with pytest.raises(ContradictionError, match="sheared"):
        write_into_stage(load, path)


def test_instances_are_refused_with_the_way_out(load: IdentifiedLoad, tmp_path: Path) -> None:
    arm(tmp_path / "arm.usda")
    path = tmp_path / "cell.usda"
    stage = pxr.Usd.Stage.CreateNew(str(path))
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    for name in ("left", "right"):
        prim = stage.DefinePrim(f"/{name}")
        prim.GetReferences().AddReference("./arm.usda")
        prim.SetInstanceable(True)
    stage.GetRootLayer().Save()
    with pytest.raises(ContradictionError) as caught:
        write_into_stage(load, path, "/left/wrist")
    assert "/left/wrist lies inside the instanceable prim /left" in str(caught.value)
    assert "stage.GetPrimAtPath('/left').SetInstanceable(False)" in str(caught.value)
    stage.GetPrimAtPath("/left").SetInstanceable(False)  # as the message says
    stage.GetRootLayer().Save()
    target = tmp_path / "loaded.usda"
    written = write_into_stage(load, path, "/left/wrist", pose=np.eye(4), folder=tmp_path)
    target.write_text(written.text, encoding="utf-8")
    assert_same(in_prim(target, "/left/wrist")[0], load.phi)
    assert not pxr.Usd.Stage.Open(str(target)).GetPrimAtPath("/right/wrist").HasAPI(pxr.UsdPhysics.MassAPI)
    own = arm(tmp_path / "own.usda")
    with_flag = pxr.Usd.Stage.Open(str(own))
    with_flag.GetPrimAtPath("/arm/wrist").SetInstanceable(True)
    with_flag.GetRootLayer().Save()
    with pytest.raises(ContradictionError, match="/arm/wrist is instanceable"):
        write_into_stage(load, own)


def test_a_copy_keeps_what_it_refers_to(load: IdentifiedLoad, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    arm(tmp_path / "parts" / "arm.usda")
    path = tmp_path / "parts" / "cell.usda"
    stage = pxr.Usd.Stage.CreateNew(str(path))
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.DefinePrim("/robot").GetReferences().AddReference("./arm.usda")
    stage.DefinePrim("/lost").GetReferences().AddReference("./nothing.usda")
    stage.GetRootLayer().Save()
    written = write_into_stage(load, path, "/robot/wrist", copy=True, folder=tmp_path)
    assert "@./parts/arm.usda@" in written.text
    assert str(tmp_path) not in written.text
    assert any("nothing.usda" in note for note in written.notes)  # said, and not on the terminal
    target = tmp_path / "copy.usda"
    target.write_text(written.text, encoding="utf-8")
    found = pxr.Usd.Stage.Open(pxr.Sdf.Layer.FindOrOpen(str(target)), pxr.Usd.Stage.LoadNone)
    assert found.GetPrimAtPath("/robot/wrist").GetAttribute("physics:mass").Get() == pytest.approx(2.0)


def test_wrong_files_and_prims(load: IdentifiedLoad, bad_load: IdentifiedLoad, tmp_path: Path) -> None:
    source = arm(tmp_path / "arm.usda")
    with pytest.raises(UnknownNameError, match=r"unknown prim '/arm/wirst'; did you mean '/arm/wrist'\?.*/arm/base"):
        write_into_stage(load, source, "/arm/wirst")
    with pytest.raises(UnknownNameError, match="/arm/base, /arm/wrist"):
        write_into_stage(load, source, "/not a path")
    with pytest.raises(InputError, match="it is a part of /arm/wrist: give that one"):
        write_into_stage(load, source, "/arm/wrist/tool0")
    with pytest.raises(InputError, match=r"/arm is no rigid body .* choose /arm/base, /arm/wrist"):
        write_into_stage(load, source, "/arm")
    with pytest.raises(InputError, match=r"has 2 rigid bodies: say which one .* /arm/base, /arm/wrist"):
        write_into_stage(replace(load, frame="flange"), source)
    with pytest.raises(InconsistentLoadError):
        write_into_stage(bad_load, source)
    with pytest.raises(InputError, match="must be a rigid transform"):
        write_into_stage(load, source, pose=2.0 * np.eye(4))
    broken, empty = tmp_path / "broken.usda", tmp_path / "empty.usda"
    broken.write_text('#usda 1.0\ndef "a" {', encoding="utf-8")
    empty.write_text("#usda 1.0\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"broken.usda cannot be read as a USD stage"):
        write_into_stage(load, broken)
    with pytest.raises(InputError, match="has no rigid body"):
        write_into_stage(load, empty)
    with pytest.raises(FileFormatError, match="does not exist"):
        write_into_stage(load, tmp_path / "none.usd")
    with pytest.raises(InputError, match=r"is no USD file: its name ends in \.usd"):
        write_into_stage(load, tmp_path / "arm.urdf")


def test_without_usd_core_the_extra_is_named(
    load: IdentifiedLoad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = arm(tmp_path / "arm.usda")
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"needs usd-core, .*pip install 'iparam\[usd\]'"):
        to_usd(load)
    with pytest.raises(MissingExtraError, match=r"iparam\[usd\]"):
        write_into_stage(load, source)


def test_draws_stay_bodies_in_single_precision(load: IdentifiedLoad, tmp_path: Path) -> None:
    wide = replace(load, covariance_phi=np.diag(np.array([2e-3, 1e-4, 1e-4, 1e-4, *[2e-3] * 6]) ** 2))
    target = tmp_path / "payload.usda"
    for place, drawn in enumerate(draw_loads(wide, 20).loads):
        target = tmp_path / f"payload_{place}.usda"
        target.write_text(to_usd(drawn), encoding="utf-8")
        assert is_physically_consistent(in_prim(target, "/payload")[0])
