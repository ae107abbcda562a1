"""Friction models as columns of a regressor."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.estimation.torque.friction import PLAIN, TERMS, FrictionModel


def test_columns_are_those_of_the_formulas() -> None:
    model = FrictionModel(TERMS, "smooth", smoothing_speed=0.02, stribeck_speed=0.3)
    dq = np.random.default_rng(0).normal(size=(50, 3))
    load = np.random.default_rng(1).normal(0.0, 20.0, (50, 3))
    side = model.directions(np.zeros_like(dq), dq)
    found = model.columns(dq, side, load)
    assert tuple(found) == TERMS
    np.testing.assert_allclose(side, np.tanh(dq / 0.02))
    np.testing.assert_allclose(found["viscous"], dq)
    np.testing.assert_allclose(found["coulomb"], side)
    np.testing.assert_allclose(found["offset"], 1.0)
    np.testing.assert_allclose(found["quadratic"], dq * np.abs(dq))
    np.testing.assert_allclose(found["load"], side * np.abs(load))
    np.testing.assert_allclose(found["stribeck"], side * np.exp(-((dq / 0.3) ** 2)))
    assert not model.columns(dq, side)["load"].any()


def test_friction_takes_energy_out_of_any_motion() -> None:
    model = FrictionModel(("coulomb", "viscous", "quadratic", "stribeck"), "smooth")
    dq = np.linspace(-3.0, 3.0, 601)[:, None]
    for column in model.columns(dq, model.directions(dq, dq)).values():
        assert (column * dq >= 0.0).all()


def test_presliding_keeps_its_tension_at_rest_and_follows_a_reversal() -> None:
    model = FrictionModel(presliding_distance=1e-3)
    there = np.linspace(0.0, 0.1, 200)
    path = np.concatenate([there, np.full(100, 0.1), 0.1 - there])[:, None]
    side = model.directions(path, np.gradient(path, axis=0))
    assert np.abs(side).max() <= 1.0
    np.testing.assert_allclose(side[199:300, 0], side[199, 0])
    assert side[199, 0] == pytest.approx(1.0, abs=1e-9)
    assert side[-1, 0] == pytest.approx(-1.0, abs=1e-9)
    exact = 1.0 - np.exp(-there / 1e-3)  # from rest without tension
    np.testing.assert_allclose(side[:200, 0], exact, atol=1e-12)


def test_presliding_can_be_continued() -> None:
    model = FrictionModel()
    path = np.cumsum(np.random.default_rng(0).normal(0.0, 1e-3, (400, 2)), axis=0)
    whole = model.directions(path, path)
    first = model.directions(path[:201], path[:201])
    np.testing.assert_array_equal(model.directions(path[200:], path[200:], first[-1]), whole[200:])


def test_bad_models_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="friction term"):
        FrictionModel(("viscous", "sticky"))
    with pytest.raises(InputError, match="more than once"):
        FrictionModel(("viscous", "viscous"))
    with pytest.raises(UnknownNameError, match="direction"):
        FrictionModel(direction="sharp")  # type: ignore[arg-type]
    for name in ("smoothing_speed", "presliding_distance", "stribeck_speed"):
        with pytest.raises(InputError, match=name):
            FrictionModel(**{name: 0.0})
    with pytest.raises(InputError, match="shape"):
        FrictionModel().directions(np.zeros((3, 2)), np.zeros((4, 2)))
    assert PLAIN.terms == ("viscous", "coulomb", "offset")
