"""phi, pseudo-inertia and InertialParameters: against volume integrals, hand values and bad input."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial
from iparam.errors import InputError
from iparam.spatial import InertialParameters

BODY = InertialParameters(2.0, [0.1, -0.2, 0.3], [[0.05, 0.01, -0.002], [0.01, 0.06, 0.003], [-0.002, 0.003, 0.04]])  # type: ignore[arg-type]
POSE = spatial.exp_se3([0.4, -0.9, 1.3, 0.5, -0.7, 0.2])


def moments(points: Any, masses: Any) -> tuple[float, Any, Any]:
    """Mass, first moment and second moment about the origin, summed over points."""
    homogeneous = np.column_stack([points, np.ones(len(points))])
    J = (homogeneous * masses[:, None]).T @ homogeneous
    return J[3, 3], J[:3, 3], J[:3, :3]


def gauss_legendre(low: float, high: float, order: int = 8) -> list[tuple[float, float]]:
    """Nodes and weights; exact for polynomials to degree 15, so exact for all integrals below but the angles."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return [(low + (x + 1) * (high - low) / 2, w * (high - low) / 2) for x, w in zip(nodes, weights, strict=True)]


def uniform_angle(count: int = 12) -> list[tuple[float, float]]:
    """The trapezoidal rule over a full turn: exact for trigonometric polynomials of degree below ``count``."""
    return [(2 * np.pi * k / count, 2 * np.pi / count) for k in range(count)]


def quadrature(shape: str, mass: float, *sizes: float) -> tuple[Any, Any]:
    """Points and masses of a body of uniform density, by a rule that integrates its moments exactly."""
    if shape == "box":
        rule = itertools.product(*(gauss_legendre(-s / 2, s / 2) for s in sizes))
        nodes = [((x, y, z), a * b * c) for (x, a), (y, b), (z, c) in rule]
    elif shape == "cylinder":
        radius, length = sizes
        rule = itertools.product(gauss_legendre(0, radius), uniform_angle(), gauss_legendre(-length / 2, length / 2))
        nodes = [((r * np.cos(f), r * np.sin(f), z), r * a * b * c) for (r, a), (f, b), (z, c) in rule]
    else:
        rule = itertools.product(gauss_legendre(0, sizes[0]), uniform_angle(), gauss_legendre(-1, 1))
        nodes = [
            ((r * np.sqrt(1 - u * u) * np.cos(f), r * np.sqrt(1 - u * u) * np.sin(f), r * u), r * r * a * b * c)
            for (r, a), (f, b), (u, c) in rule
        ]
    volumes = np.array([volume for _, volume in nodes])
    return np.array([point for point, _ in nodes]), mass * volumes / volumes.sum()


@pytest.mark.parametrize(
    ("body", "shape", "sizes"),
    [
        (InertialParameters.box(3.0, [0.2, 0.5, 0.7]), "box", (0.2, 0.5, 0.7)),
        (InertialParameters.cylinder(1.7, 0.3, 0.8), "cylinder", (0.3, 0.8)),
        (InertialParameters.sphere(2.2, 0.4), "sphere", (0.4,)),
    ],
)
def test_solids_match_the_volume_integral(body: InertialParameters, shape: str, sizes: tuple[float, ...]) -> None:
    points, masses = quadrature(shape, body.mass, *sizes)
    mass, first, second = moments(points, masses)
    assert mass == pytest.approx(body.mass, rel=1e-14)
    assert_allclose(body.center_of_mass, 0, atol=0)
    assert_allclose(first, 0, atol=1e-14)
    assert_allclose(body.inertia_about_com, np.trace(second) * np.eye(3) - second, rtol=1e-13, atol=1e-15)
    assert spatial.is_physically_consistent(body.phi) is True


def test_everything_about_a_placed_body_matches_the_sum_over_its_points() -> None:
    points, masses = quadrature("box", 3.0, 0.2, 0.5, 0.7)
    body = InertialParameters.box(3.0, [0.2, 0.5, 0.7]).transformed(POSE)
    placed = points @ POSE[:3, :3].T + POSE[:3, 3]
    mass, first, second = moments(placed, masses)
    inertia = np.trace(second) * np.eye(3) - second
    pseudo_inertia = np.block([[second, first[:, None]], [first[None, :], np.array([[mass]])]])
    assert_allclose(body.inertia_about_origin, inertia, rtol=1e-13, atol=1e-14)
    assert_allclose(body.phi, [mass, *first, *inertia[np.triu_indices(3)]], rtol=1e-13, atol=1e-14)
    assert_allclose(body.pseudo_inertia, pseudo_inertia, rtol=1e-13, atol=1e-14)
    assert_allclose(body.spatial_inertia[:3, :3], inertia, rtol=1e-13, atol=1e-14)


def test_phi_order_and_signs() -> None:
    """A unit point mass at (1, 2, 3): Ixx = 13, Ixy = -2, Ixz = -3, Iyy = 10, Iyz = -6, Izz = 5."""
    point = InertialParameters(1.0, np.array([1.0, 2.0, 3.0]), np.zeros((3, 3)))
    assert point.phi.tolist() == [1, 1, 2, 3, 13, -2, -3, 10, -6, 5]
    assert spatial.pseudo_inertia_from_phi(point.phi).tolist() == np.outer([1, 2, 3, 1], [1, 2, 3, 1]).tolist()


def test_inertia_matrix_and_its_inverse() -> None:
    assert spatial.inertia_matrix([1, 2, 3, 4, 5, 6]).tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]
    batch = np.arange(24.0).reshape(2, 2, 6)
    assert (spatial.inertia_entries(spatial.inertia_matrix(batch)) == batch).all()


def test_from_phi_undoes_phi() -> None:
    again = InertialParameters.from_phi(BODY.phi)
    assert again.mass == BODY.mass
    assert_allclose(again.center_of_mass, BODY.center_of_mass, rtol=1e-15)
    assert_allclose(again.inertia_about_com, BODY.inertia_about_com, atol=1e-16)


def test_spatial_inertia_moves_like_the_body() -> None:
    moved = spatial.transform_spatial_inertia(BODY.spatial_inertia, POSE)
    assert_allclose(BODY.transformed(POSE).spatial_inertia, moved, atol=1e-14)


def test_two_half_boxes_make_a_box() -> None:
    half = InertialParameters.box(1.5, [0.1, 0.5, 0.7])
    left = half.transformed(spatial.transform_from(np.eye(3), [-0.05, 0, 0]))
    right = half.transformed(spatial.transform_from(np.eye(3), [0.05, 0, 0]))
    whole = InertialParameters.box(3.0, [0.2, 0.5, 0.7])
    assert_allclose((left + right).phi, whole.phi, rtol=1e-14, atol=1e-16)
    assert_allclose((left + right).transformed(POSE).phi, (left.transformed(POSE) + right.transformed(POSE)).phi)


def test_sum_of_phi_is_phi_of_the_union() -> None:
    other = BODY.transformed(POSE)
    assert_allclose((BODY + other).phi, BODY.phi + other.phi, rtol=1e-14, atol=1e-15)
    with pytest.raises(TypeError):
        BODY + 1.0  # type: ignore[operator]


def test_a_small_body_far_away_keeps_its_inertia() -> None:
    """Through phi, 1e-9 kg m^2 beside 100 kg m^2 would lose all but four digits."""
    far = spatial.transform_from(np.eye(3), [10.0, 0, 0])
    tiny = InertialParameters.sphere(1.0, 5e-5)
    both = tiny.transformed(far) + tiny.transformed(far)
    assert_allclose(both.inertia_about_com, 2 * tiny.inertia_about_com, rtol=1e-14)


def test_massless_body() -> None:
    nothing = InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))
    assert not nothing.phi.any()
    assert not nothing.transformed(POSE).phi.any()
    assert not nothing.transformed(POSE).center_of_mass.any()
    assert_allclose((BODY + nothing).phi, BODY.phi, rtol=1e-15)
    assert not (nothing + nothing).phi.any()
    assert not InertialParameters.from_phi(np.zeros(10)).phi.any()
    assert not InertialParameters.sphere(0, 1.0).phi.any()


@pytest.mark.parametrize(("center", "inertia"), [([0.1, 0, 0], np.zeros((3, 3))), (np.zeros(3), np.eye(3))])
def test_a_stated_massless_body_has_nothing_else(center: Any, inertia: Any) -> None:
    with pytest.raises(InputError, match="mass 0"):
        InertialParameters(0.0, center, inertia)


def test_from_phi_takes_what_estimates_can_be() -> None:
    negative = np.array([-0.5, 0.1, 0.0, 0.2, 0.3, 0, 0, -0.4, 0, 0.1])
    body = InertialParameters.from_phi(negative)
    assert body.mass == -0.5
    assert_allclose(body.center_of_mass, [-0.2, 0, -0.4])
    assert_allclose(body.phi, negative, atol=1e-16)
    assert_allclose(body.transformed(np.eye(4)).phi, negative, atol=1e-16)
    inertia_only = np.array([0, 0, 0, 0, 0.3, 0, 0, 0.4, 0, 0.1])
    assert_allclose(InertialParameters.from_phi(inertia_only).transformed(np.eye(4)).phi, inertia_only)


def test_from_phi_refuses_a_first_moment_without_mass() -> None:
    with pytest.raises(InputError, match=r"mass 0 but first moment \[0.0, 1.0, 0.0\]"):
        InertialParameters.from_phi([0, 0, 1, 0, 1, 0, 0, 1, 0, 1])
    with pytest.raises(InputError, match="too close to 0"):
        InertialParameters.from_phi([1e-310, 0, 1, 0, 1, 0, 0, 1, 0, 1])
    with pytest.raises(InputError, match="mass 0"):
        BODY + InertialParameters.from_phi([-BODY.mass, 1, 0, 0, 1, 0, 0, 1, 0, 1])


def test_value_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        BODY.mass = 3.0  # type: ignore[misc]
    for array in (BODY.center_of_mass, BODY.inertia_about_com, BODY.transformed(POSE).center_of_mass):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    heavier = dataclasses.replace(BODY, mass=3.0)
    assert heavier.mass == 3.0
    assert (heavier.inertia_about_com == BODY.inertia_about_com).all()


def test_caller_keeps_ownership_of_its_arrays() -> None:
    center = np.zeros(3)
    body = InertialParameters(1.0, center, np.eye(3))
    center[0] = 5.0
    assert body.center_of_mass[0] == 0.0


def test_inertia_from_a_file_with_ten_digits_is_made_symmetric() -> None:
    inertia = np.eye(3)
    inertia[0, 1], inertia[1, 0] = 0.1, 0.1 + 1e-10
    stored = InertialParameters(1.0, np.zeros(3), inertia).inertia_about_com
    assert (stored == stored.T).all()


def with_mass(value: Any) -> Any:
    return InertialParameters(value, np.zeros(3), np.eye(3))


SINGLE: list[tuple[Callable[..., Any], Any, str]] = [
    (with_mass, np.array(1.0), "mass"),
    (lambda x: InertialParameters(1.0, x, np.eye(3)), np.zeros(3), "center_of_mass"),
    (lambda x: InertialParameters(1.0, np.zeros(3), x), np.eye(3), "inertia_about_com"),
    (InertialParameters.from_phi, np.arange(1.0, 11.0), "phi"),
    (BODY.transformed, np.eye(4), "T_ab"),
    (lambda x: InertialParameters.box(1.0, x), np.ones(3), "size"),
    (lambda x: InertialParameters.box(x, np.ones(3)), np.array(1.0), "mass"),
    (lambda x: InertialParameters.cylinder(x, 1.0, 1.0), np.array(1.0), "mass"),
    (lambda x: InertialParameters.cylinder(1.0, x, 1.0), np.array(1.0), "radius"),
    (lambda x: InertialParameters.cylinder(1.0, 1.0, x), np.array(1.0), "length"),
    (lambda x: InertialParameters.sphere(x, 1.0), np.array(1.0), "mass"),
    (lambda x: InertialParameters.sphere(1.0, x), np.array(1.0), "radius"),
]
BATCHED: list[tuple[Callable[..., Any], Any, str]] = [
    (spatial.inertia_matrix, np.ones(6), "six"),
    (spatial.inertia_entries, np.eye(3), "matrix"),
    (spatial.pseudo_inertia_from_phi, np.ones(10), "phi"),
    (spatial.phi_from_pseudo_inertia, np.eye(4), "J"),
]


@pytest.mark.parametrize(("function", "good", "name"), SINGLE + BATCHED)
@pytest.mark.parametrize("bad", ["shape", "nan", "inf", "complex", "object"])
def test_bad_input_is_refused_by_name(function: Callable[..., Any], good: Any, name: str, bad: str) -> None:
    arguments = {
        "shape": np.ones((*good.shape[:-1], 7)),
        "nan": good * np.nan,
        "inf": np.full_like(good, np.inf),
        "complex": good.astype(complex),
        "object": good.astype(object),
    }
    function(good)
    with pytest.raises(InputError, match=f"^{name} must"):
        function(arguments[bad])


@pytest.mark.parametrize(("function", "good", "name"), SINGLE)
def test_one_body_is_not_a_batch(function: Callable[..., Any], good: Any, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name} must have shape"):
        function(np.stack([good, good]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: with_mass(-1.0), "mass must be at least 0, got -1"),
        (lambda: InertialParameters(1.0, np.zeros(3), np.eye(3) + np.eye(3, k=1)), "not symmetric"),
        (lambda: InertialParameters.box(-1.0, np.ones(3)), "mass must be at least 0"),
        (lambda: InertialParameters.box(1.0, [1.0, 0.0, 1.0]), "size must be positive"),
        (lambda: InertialParameters.cylinder(1.0, -1.0, 1.0), "radius must be positive"),
        (lambda: InertialParameters.cylinder(1.0, 1.0, 0.0), "length must be positive"),
        (lambda: InertialParameters.sphere(1.0, 0.0), "radius must be positive"),
        (lambda: BODY.transformed(2 * np.eye(4)), "T_ab is not a rigid transform"),
        (lambda: spatial.phi_from_pseudo_inertia(np.eye(4) + np.eye(4, k=1)), "J is not symmetric"),
        (lambda: spatial.inertia_entries(np.eye(3) + np.eye(3, k=1)), "matrix is not symmetric"),
    ],
)
def test_bad_values_are_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("batch", [(0,), (3,), (2, 3)])
def test_a_batch_is_the_single_results_stacked(batch: tuple[int, ...]) -> None:
    phi = np.random.default_rng(1).normal(size=(*batch, 10))
    J = spatial.pseudo_inertia_from_phi(phi)
    assert J.shape == (*batch, 4, 4)
    for index in np.ndindex(*batch):
        assert (J[index] == spatial.pseudo_inertia_from_phi(phi[index])).all()
    assert spatial.phi_from_pseudo_inertia(J).shape == phi.shape


def test_every_public_name_resolves() -> None:
    assert len(set(spatial.__all__)) == len(spatial.__all__)
    for name in spatial.__all__:
        assert getattr(spatial, name).__doc__, name


@pytest.mark.parametrize(
    "make",
    [
        lambda: InertialParameters(1e10, np.zeros(3), np.eye(3)),
        lambda: InertialParameters(1.0, np.array([0.0, -1e308, 0.0]), np.eye(3)),
        lambda: InertialParameters(1.0, np.zeros(3), 1e308 * np.eye(3)),
        lambda: InertialParameters.box(1.0, (1e155, 1.0, 1.0)),
        lambda: InertialParameters.cylinder(1.0, 1e308, 1.0),
        lambda: InertialParameters.sphere(1e308, 1.0),
    ],
)
def test_a_body_beyond_all_measure_is_refused_and_does_not_overflow(make: Any) -> None:
    with pytest.raises(InputError, match=r"must stay within \+-1e\+09, got .*: in SI units\?"):
        make()
