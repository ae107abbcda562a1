"""Spatial inertia: against the kinetic energy of point masses, and every way an argument can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial
from iparam.errors import InputError

RNG = np.random.default_rng(11)
MASSES, POINTS = RNG.uniform(0.1, 1.0, 7), RNG.normal(size=(7, 3))
MASS = MASSES.sum()
COM = MASSES @ POINTS / MASS
INERTIA_ABOUT_COM = sum(
    m * ((p - COM) @ (p - COM) * np.eye(3) - np.outer(p - COM, p - COM)) for m, p in zip(MASSES, POINTS, strict=True)
)


def energy_of_points(twist: Any, points: Any) -> float:
    """From the definition: each mass with its own velocity."""
    velocities = twist[3:] + np.cross(twist[:3], points)
    return float(0.5 * MASSES @ (velocities**2).sum(axis=1))


def test_at_frame_gives_the_energy_of_the_points() -> None:
    G = spatial.spatial_inertia_at_frame(MASS, INERTIA_ABOUT_COM, COM)
    for twist in RNG.normal(size=(20, 6)):
        assert 0.5 * twist @ G @ twist == pytest.approx(energy_of_points(twist, POINTS), rel=1e-13)


def test_at_com_gives_the_energy_of_the_points_about_their_centre() -> None:
    G = spatial.spatial_inertia_at_com(MASS, INERTIA_ABOUT_COM)
    assert (G[:3, 3:] == 0).all()
    assert (G[3:, :3] == 0).all()
    for twist in RNG.normal(size=(20, 6)):
        assert 0.5 * twist @ G @ twist == pytest.approx(energy_of_points(twist, POINTS - COM), rel=1e-13)


def test_transform_goes_from_b_to_a() -> None:
    """The points are given in b; in a they are T_ab times that. The other direction would fail."""
    T_ab = spatial.exp_se3([0.3, -1.0, 0.6, 0.5, 2.0, -1.0])
    G_a = spatial.transform_spatial_inertia(spatial.spatial_inertia_at_frame(MASS, INERTIA_ABOUT_COM, COM), T_ab)
    points_a = POINTS @ T_ab[:3, :3].T + T_ab[:3, 3]
    for twist_a in RNG.normal(size=(20, 6)):
        assert 0.5 * twist_a @ G_a @ twist_a == pytest.approx(energy_of_points(twist_a, points_a), rel=1e-13)


def test_batches_broadcast() -> None:
    G = spatial.spatial_inertia_at_frame([1.0, 2.0], np.eye(3), np.zeros((4, 1, 3)))
    assert G.shape == (4, 2, 6, 6)
    assert_allclose(G[3, 1], np.diag([1, 1, 1, 2, 2, 2.0]))
    poses = spatial.exp_se3(RNG.normal(size=(2, 6)))
    moved = spatial.transform_spatial_inertia(G, poses)
    assert moved.shape == (4, 2, 6, 6)
    assert_allclose(moved[2, 1], spatial.transform_spatial_inertia(G[2, 1], poses[1]), atol=1e-14)
    assert spatial.spatial_inertia_at_com(np.zeros(0), np.zeros((0, 3, 3))).shape == (0, 6, 6)


def test_is_symmetric() -> None:
    skewed = np.eye(6)
    skewed[0, 1] = 1e-6
    assert spatial.is_symmetric(np.eye(6)) is True
    assert spatial.is_symmetric(skewed) is False
    assert spatial.is_symmetric(skewed, tol=1e-5) is True
    assert spatial.is_symmetric(1e-6 * skewed) is False, "the tolerance is relative"
    assert list(spatial.is_symmetric(np.stack([np.eye(6), skewed]))) == [True, False]  # type: ignore[arg-type]


def test_is_positive_definite() -> None:
    asymmetric = np.eye(3)
    asymmetric[0, 2] = 0.5
    singular = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    badly_scaled = np.diag([1e-20, 1.0, 1e12])
    cases = np.stack([np.eye(3), -np.eye(3), asymmetric, singular, badly_scaled, np.zeros((3, 3))])
    expected = [True, False, False, False, True, False]
    assert list(spatial.is_positive_definite(cases)) == expected  # type: ignore[arg-type]
    assert spatial.is_positive_definite(np.array([[1.0, 1.001], [1.001, 1.0]])) is False
    assert spatial.is_positive_definite(np.array([[1.0, 0.999], [0.999, 1.0]])) is True
    assert spatial.is_positive_definite(spatial.spatial_inertia_at_frame(MASS, INERTIA_ABOUT_COM, COM)) is True


def test_asymmetric_inertia_is_refused() -> None:
    asymmetric = np.eye(3)
    asymmetric[0, 1] = 0.1
    with pytest.raises(InputError, match="inertia_about_com is not symmetric"):
        spatial.spatial_inertia_at_com(1.0, asymmetric)
    with pytest.raises(InputError, match=r"inertia_about_com is not symmetric \(batch index 1\)"):
        spatial.spatial_inertia_at_com(1.0, np.stack([np.eye(3), asymmetric]))
    with pytest.raises(InputError, match="G is not symmetric"):
        spatial.transform_spatial_inertia(np.eye(6) + np.eye(6, k=1), np.eye(4))


def test_batches_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(InputError, match="do not broadcast"):
        spatial.spatial_inertia_at_com(np.ones(2), np.zeros((3, 3, 3)))
    with pytest.raises(InputError, match="do not broadcast"):
        spatial.transform_spatial_inertia(np.zeros((2, 6, 6)), np.broadcast_to(np.eye(4), (3, 4, 4)))


ENTRANCES: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda x: spatial.spatial_inertia_at_com(1.0, x), np.eye(3), "inertia_about_com"),
    (lambda x: spatial.spatial_inertia_at_frame(1.0, x, np.zeros(3)), np.eye(3), "inertia_about_com"),
    (lambda x: spatial.spatial_inertia_at_frame(1.0, np.eye(3), x), np.zeros(3), "center_of_mass"),
    (lambda x: spatial.transform_spatial_inertia(x, np.eye(4)), np.eye(6), "G"),
    (lambda x: spatial.transform_spatial_inertia(np.eye(6), x), np.eye(4), "T"),
    (spatial.is_symmetric, np.eye(6), "G"),
    (spatial.is_positive_definite, np.eye(6), "G"),
]


@pytest.mark.parametrize(("function", "good", "name"), ENTRANCES)
@pytest.mark.parametrize("bad", ["shape", "nan", "complex", "object"])
def test_bad_input_is_refused_by_name(function: Callable[..., Any], good: Any, name: str, bad: str) -> None:
    arguments = {
        "shape": np.zeros((*good.shape[:-1], 7)),
        "nan": good * np.nan,
        "complex": good.astype(complex),
        "object": good.astype(object),
    }
    function(good)
    with pytest.raises(InputError, match=f"^{name} must"):
        function(arguments[bad])


@pytest.mark.parametrize("mass", [np.nan, 1j, np.array(1.0, dtype=object), "heavy"])
def test_bad_mass_is_refused(mass: Any) -> None:
    with pytest.raises(InputError, match=r"^mass must"):
        spatial.spatial_inertia_at_com(mass, np.eye(3))
    with pytest.raises(InputError, match=r"^mass must"):
        spatial.spatial_inertia_at_frame(mass, np.eye(3), np.zeros(3))


@pytest.mark.parametrize("tol", [-1.0, np.nan, [0.1, 0.1]])
def test_bad_tolerance_is_refused(tol: Any) -> None:
    with pytest.raises(InputError, match="tol must"):
        spatial.is_symmetric(np.eye(3), tol=tol)
