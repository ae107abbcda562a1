"""Mass properties of prims, read by usd-core: other units, scales, bodies at the edge of what can exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from iparam.errors import ContradictionError, InputError
from iparam.export.usd.backend import require_usd
from iparam.export.usd.mass import SI, PrimUnits, read_mass, single_precision, write_mass
from iparam.spatial import InertialParameters

pytest.importorskip("pxr")
pxr = require_usd()


def body(seed: int) -> InertialParameters:
    rng = np.random.default_rng(seed)
    points, masses = rng.normal(size=(6, 3)) * 0.1, rng.uniform(0.1, 1.0, 6)
    center = masses @ points / masses.sum()
    off = points - center
    inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, off, strict=True))
    return InertialParameters(float(masses.sum()), center, inertia)


def prim_with(scale: tuple[float, float, float] = (1.0, 1.0, 1.0), meters: float = 1.0) -> Any:
    stage = pxr.Usd.Stage.CreateInMemory()
    pxr.UsdGeom.SetStageMetersPerUnit(stage, meters)
    outer = pxr.UsdGeom.Xform.Define(stage, "/outer")
    outer.AddRotateXYZOp().Set((10, -20, 30))
    xform = pxr.UsdGeom.Xform.Define(stage, "/outer/body")
    xform.AddTranslateOp().Set((1, 2, 3))
    xform.AddScaleOp().Set(scale)
    prim = xform.GetPrim()
    pxr.UsdPhysics.RigidBodyAPI.Apply(prim)
    return stage, prim


def as_usd_computes_it(prim: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """By usd-core, as simulators ask it: mass, centre with the scale in it, tensor about it; in units of the stage."""
    api = pxr.UsdPhysics.RigidBodyAPI(prim)
    mass, diagonal, center, axes = api.ComputeMassProperties(lambda _: api.MassInformation())
    R = Rotation.from_quat([*axes.GetImaginary(), axes.GetReal()]).as_matrix()
    return mass, np.array(center), R @ np.diag(diagonal) @ R.T


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("meters", "kilograms"), [(1.0, 1.0), (0.01, 1.0), (0.001, 0.001), (0.3048, 14.5939)])
def test_usd_reads_what_was_written(seed: int, meters: float, kilograms: float) -> None:
    expected = body(seed)
    scale = (2.0, 0.5, 1.25)
    _stage, prim = prim_with(scale, meters)  # a stage that nobody holds is gone
    units = PrimUnits(meters, kilograms, np.array(scale))
    write_mass(pxr, prim, expected, units)
    mass, center, inertia = as_usd_computes_it(prim)
    assert mass * kilograms == pytest.approx(expected.mass, rel=1e-6)
    np.testing.assert_allclose(center * meters, expected.center_of_mass, atol=1e-6 * np.abs(center * meters).max())
    size = np.abs(expected.inertia_about_com).max()
    np.testing.assert_allclose(inertia * kilograms * meters**2, expected.inertia_about_com, atol=1e-6 * size)
    again = read_mass(pxr, prim, units)
    assert again is not None
    np.testing.assert_allclose(again.phi, expected.phi, atol=1e-6 * np.abs(expected.phi).max())


def test_the_quaternion_has_w_first_and_turns_the_axes_to_the_prim() -> None:
    """By hand: moments 1, 2, 2.5 along axes turned by 30 deg about z."""
    turn = Rotation.from_euler("z", 30, degrees=True).as_matrix()
    _stage, prim = prim_with()
    inertia = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    write_mass(pxr, prim, InertialParameters(1.0, np.zeros(3), inertia), SI)
    quaternion = prim.GetAttribute("physics:principalAxes").Get()
    assert quaternion.GetReal() == pytest.approx(np.cos(np.radians(15)), rel=1e-6)
    np.testing.assert_allclose(quaternion.GetImaginary(), [0.0, 0.0, np.sin(np.radians(15))], atol=1e-6)
    np.testing.assert_allclose(prim.GetAttribute("physics:diagonalInertia").Get(), [1.0, 2.0, 2.5], rtol=1e-6)


@pytest.mark.parametrize("seed", range(50))
def test_a_plate_stays_a_body_in_single_precision(seed: int) -> None:
    """Ixx + Iyy is above Izz by less than single precision can tell."""
    a, b = np.random.default_rng(seed).uniform(1e-4, 1.0, 2)
    moments = np.random.default_rng(seed).permutation([a, b, (a + b) * (1.0 - 1e-12)])
    rounded = single_precision(moments)
    assert 2.0 * rounded.max() <= rounded.sum()
    np.testing.assert_allclose(rounded, moments, rtol=1.3e-7)
    assert rounded.astype(np.float32).tolist() == rounded.tolist()


def test_samples_over_time_do_not_outlive_the_new_value() -> None:
    _stage, prim = prim_with()
    api = pxr.UsdPhysics.MassAPI.Apply(prim)
    api.CreateMassAttr().Set(7.0, 1.0)
    write_mass(pxr, prim, body(0), SI)
    assert api.GetMassAttr().Get(1.0) == pytest.approx(body(0).mass)


def test_what_is_not_stated_is_not_taken_for_zero() -> None:
    _stage, prim = prim_with()
    assert read_mass(pxr, prim, SI) is None
    api = pxr.UsdPhysics.MassAPI.Apply(prim)
    assert read_mass(pxr, prim, SI) is None
    api.CreateMassAttr(2.0)
    with pytest.raises(ContradictionError, match=r"2 kg and no physics:centerOfMass, .*own_mass = replace"):
        read_mass(pxr, prim, SI)
    api.CreateCenterOfMassAttr((0, 0, 0))
    with pytest.raises(ContradictionError, match="no physics:diagonalInertia"):
        read_mass(pxr, prim, SI)
    api.CreateDiagonalInertiaAttr((1, 2, 2.5))
    own = read_mass(pxr, prim, SI)  # principalAxes are not stated: those of the prim
    assert own is not None
    np.testing.assert_allclose(own.inertia_about_com, np.diag([1, 2, 2.5]))


@pytest.mark.parametrize("meters", [0.0, -1.0, 1e300, float("nan")])
def test_units_that_are_none(meters: float) -> None:
    with pytest.raises(InputError, match=r"metersPerUnit = .*: set it first"):
        PrimUnits(meters, 1.0, np.ones(3))
