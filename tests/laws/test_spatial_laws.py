"""Laws of SO(3), SE(3), spatial inertia and the parameter forms, over drawn values.

Tolerances: vectors and translations are drawn with lengths up to 10, where a handful of products in double precision
are off by less than 1e-13. The logarithm is computed from the quaternion, so it is as accurate near pi as elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm

from iparam import spatial
from iparam.spatial import InertialParameters

laws = settings(deadline=None, max_examples=100)


def vectors(size: int, bound: float) -> st.SearchStrategy[Any]:
    """Tuples made arrays: for so few numbers, drawing an array takes several times as long as checking the law."""
    return st.tuples(*[st.floats(-bound, bound)] * size).map(np.array)


@st.composite
def directions(draw: st.DrawFn) -> Any:
    """Unit vectors, the coordinate axes and near-axis directions among them."""
    v = draw(vectors(3, 1.0).filter(lambda x: np.linalg.norm(x) > 1e-3))
    return v / np.linalg.norm(v)


@st.composite
def twists(draw: st.DrawFn) -> Any:
    """[omega, v] with |omega| below pi, so that the logarithm gives it back."""
    angle = draw(st.floats(0.0, 3.1))
    return np.concatenate([angle * draw(directions()), draw(vectors(3, 10.0))])


poses = twists().map(spatial.exp_se3)
thetas = vectors(10, 2.0)


@st.composite
def bodies(draw: st.DrawFn) -> InertialParameters:
    """Consistent bodies of any shape: a random second moment about the centre of mass, never that of a flat body."""
    root = draw(vectors(9, 0.6)).reshape(3, 3) + 2.0 * np.eye(3)  # its diagonal dominates
    second = root @ root.T
    mass = draw(st.floats(0.01, 50.0))
    return InertialParameters(mass, draw(vectors(3, 2.0)), mass * (np.trace(second) * np.eye(3) - second))


@laws
@given(directions(), st.floats(0.0, np.pi - 1e-9))
@example(np.array([1.0, 0.0, 0.0]), 0.0)
@example(np.array([0.0, 0.6, -0.8]), 1e-12)
def test_log_undoes_exp(axis: Any, angle: float) -> None:
    assert_allclose(spatial.log_so3(spatial.exp_so3(angle * axis)), angle * axis, rtol=0, atol=1e-14)


@laws
@given(directions(), st.floats(1e-12, 1e-3))
def test_log_undoes_exp_near_zero_to_relative_precision(axis: Any, angle: float) -> None:
    found = spatial.log_so3(spatial.exp_so3(angle * axis))
    assert np.linalg.norm(found - angle * axis) <= 1e-14 * angle


@laws
@given(directions(), st.floats(1e-14, 1e-3))
def test_log_undoes_exp_near_pi(axis: Any, gap: float) -> None:
    vector = (np.pi - gap) * axis
    assert_allclose(spatial.log_so3(spatial.exp_so3(vector)), vector, rtol=0, atol=1e-14)


@laws
@given(directions())
@example(np.array([0.0, 0.0, -1.0]))
@example(np.full(3, 1.0 / np.sqrt(3.0)))
def test_exp_undoes_log_at_exactly_pi(axis: Any) -> None:
    half_turn = 2.0 * np.outer(axis, axis) - np.eye(3)
    vector = spatial.log_so3(half_turn)
    assert_allclose(np.linalg.norm(vector), np.pi, rtol=0, atol=1e-14)
    assert_allclose(np.abs(vector @ axis), np.pi, rtol=0, atol=1e-14)
    assert_allclose(spatial.exp_so3(vector), half_turn, rtol=0, atol=1e-14)


@laws
@given(vectors(3, 100.0))
def test_exp_is_a_rotation_and_log_is_at_most_pi(vector: Any) -> None:
    R = spatial.exp_so3(vector)
    assert spatial.is_rotation(R, tol=1e-14)
    back = spatial.log_so3(R)
    assert np.linalg.norm(back) <= np.pi * (1 + 1e-15)
    assert_allclose(spatial.exp_so3(back), R, rtol=0, atol=1e-14)


@laws
@given(vectors(3, 7.0))
@example(np.array([0.3, np.pi / 2, -0.4]))
@example(np.array([0.3, -np.pi / 2 + 1e-9, -0.4]))
def test_rotation_from_rpy_undoes_rpy(rpy: Any) -> None:
    R = spatial.rotation_from_rpy(rpy)
    back = spatial.rpy_from_rotation(R)
    assert abs(back[1]) <= np.pi / 2
    assert_allclose(spatial.rotation_from_rpy(back), R, rtol=0, atol=1e-14)


@laws
@given(twists())
@example(np.array([1e-9, 0.0, -1e-9, 1.0, 2.0, 3.0]))
def test_log_se3_undoes_exp_se3(twist: Any) -> None:
    assert_allclose(spatial.log_se3(spatial.exp_se3(twist)), twist, rtol=0, atol=1e-13)


@laws
@given(directions(), vectors(3, 10.0))
def test_exp_se3_undoes_log_se3_at_exactly_pi(axis: Any, p: Any) -> None:
    T = spatial.transform_from(2.0 * np.outer(axis, axis) - np.eye(3), p)
    assert_allclose(spatial.exp_se3(spatial.log_se3(T)), T, rtol=0, atol=1e-13)


@laws
@given(poses)
def test_inverse(T: Any) -> None:
    assert_allclose(spatial.inverse_transform(T) @ T, np.eye(4), rtol=0, atol=1e-13)


@laws
@given(poses, poses)
def test_adjoint_is_a_homomorphism(T1: Any, T2: Any) -> None:
    product = spatial.adjoint(T1) @ spatial.adjoint(T2)
    assert_allclose(spatial.adjoint(T1 @ T2), product, rtol=0, atol=1e-13)
    assert_allclose(spatial.adjoint(spatial.inverse_transform(T1)) @ spatial.adjoint(T1), np.eye(6), rtol=0, atol=1e-12)


@laws
@given(twists())
def test_adjoint_of_exp_is_exp_of_ad(twist: Any) -> None:
    """Ad(exp V) = expm(ad V), so ad is the derivative of Ad; expm is scipy's, accurate to about 1e-13 here."""
    assert_allclose(spatial.adjoint(spatial.exp_se3(twist)), expm(spatial.ad(twist)), rtol=0, atol=1e-11)


@laws
@given(twists())
def test_ad_is_the_derivative_of_adjoint(twist: Any) -> None:
    """Central difference: error h^2 |ad|^3 / 6, below 1e-8 for |V| < 20 and h = 1e-6, plus 1e-10 rounding."""
    h = 1e-6
    change = spatial.adjoint(spatial.exp_se3(h * twist)) - spatial.adjoint(spatial.exp_se3(-h * twist))
    assert_allclose(change / (2.0 * h), spatial.ad(twist), rtol=0, atol=1e-8)


@laws
@given(twists(), twists(), twists())
def test_ad_is_a_lie_bracket(a: Any, b: Any, c: Any) -> None:
    bracket = spatial.ad(a) @ b
    assert_allclose(bracket, -spatial.ad(b) @ a, rtol=0, atol=1e-13)
    commutator = spatial.ad(a) @ spatial.ad(b) - spatial.ad(b) @ spatial.ad(a)
    assert_allclose(spatial.ad(bracket) @ c, commutator @ c, rtol=0, atol=1e-11)


@laws
@given(bodies(), poses)
def test_moving_keeps_mass_and_principal_moments(body: InertialParameters, T: Any) -> None:
    moved = body.transformed(T)
    assert moved.mass == body.mass
    before, after = (np.linalg.eigvalsh(b.inertia_about_com) for b in (body, moved))
    assert_allclose(after, before, rtol=0, atol=1e-13 * before[-1])
    assert spatial.is_physically_consistent(moved.phi)


@laws
@given(bodies(), poses, vectors(6, 5.0))
def test_kinetic_energy_does_not_depend_on_the_frame(body: InertialParameters, T_ab: Any, twist_b: Any) -> None:
    twist_a = spatial.adjoint(T_ab) @ twist_b
    moved = spatial.transform_spatial_inertia(body.spatial_inertia, T_ab)
    in_b = 0.5 * twist_b @ body.spatial_inertia @ twist_b
    # In a the energy is a difference of terms as large as |G_a| |V_a|^2.
    atol = 1e-14 * (1.0 + np.abs(moved).max() * (twist_a @ twist_a))
    assert_allclose(0.5 * twist_a @ moved @ twist_a, in_b, rtol=0, atol=atol)
    assert_allclose(body.transformed(T_ab).spatial_inertia, moved, rtol=0, atol=1e-13 * np.abs(moved).max())


@laws
@given(bodies(), poses, poses)
def test_moving_twice_is_moving_once(body: InertialParameters, T_ab: Any, T_bc: Any) -> None:
    twice, once = body.transformed(T_bc).transformed(T_ab).phi, body.transformed(T_ab @ T_bc).phi
    assert_allclose(twice, once, rtol=0, atol=1e-13 * np.abs(once).max())


@laws
@given(bodies(), bodies(), poses)
def test_union_is_linear_in_phi_and_commutes_with_moving(a: InertialParameters, b: InertialParameters, T: Any) -> None:
    scale = np.abs(a.phi).max() + np.abs(b.phi).max()
    assert_allclose((a + b).phi, a.phi + b.phi, rtol=0, atol=1e-14 * scale)
    moved = (a + b).transformed(T).phi
    assert_allclose((a.transformed(T) + b.transformed(T)).phi, moved, rtol=0, atol=1e-13 * np.abs(moved).max())


@laws
@given(vectors(10, 1e3))
def test_pseudo_inertia_round_trip_of_any_phi(phi: Any) -> None:
    """Linear both ways, so it holds for inconsistent phi too."""
    back = spatial.phi_from_pseudo_inertia(spatial.pseudo_inertia_from_phi(phi))
    assert_allclose(back, phi, rtol=0, atol=1e-15 * max(1.0, np.abs(phi).max()) * 4)


@laws
@given(bodies())
def test_phi_round_trips(body: InertialParameters) -> None:
    phi, scale = body.phi, np.abs(body.phi).max()
    again = InertialParameters.from_phi(phi)
    assert_allclose(again.phi, phi, rtol=0, atol=1e-15 * scale)
    assert_allclose(again.center_of_mass, body.center_of_mass, rtol=1e-15, atol=1e-300)
    assert_allclose(again.inertia_about_com, body.inertia_about_com, rtol=0, atol=1e-15 * scale)
    assert_allclose(spatial.phi_from_log_cholesky(spatial.log_cholesky_from_phi(phi)), phi, rtol=0, atol=4e-15 * scale)


@laws
@given(thetas)
def test_log_cholesky_round_trip(theta: Any) -> None:
    """J is rounded once, which its condition number (up to about 1e8 here) magnifies in its factor."""
    phi = spatial.phi_from_log_cholesky(theta)
    assert spatial.is_physically_consistent(phi)
    condition = np.linalg.cond(spatial.pseudo_inertia_from_phi(phi))
    assert_allclose(spatial.log_cholesky_from_phi(phi), theta, rtol=0, atol=1e-15 * condition)


@laws
@given(thetas)
def test_log_cholesky_jacobian_is_the_derivative(theta: Any) -> None:
    """phi is exponential or quadratic in each entry: a central difference at 1e-5 is right to 1e-9 of the scale."""
    h = 1e-5
    steps = h * np.eye(10)
    change = spatial.phi_from_log_cholesky(theta + steps) - spatial.phi_from_log_cholesky(theta - steps)
    jacobian = spatial.log_cholesky_jacobian(theta)
    assert_allclose(change.T / (2.0 * h), jacobian, rtol=0, atol=2e-9 * np.abs(jacobian).max())
