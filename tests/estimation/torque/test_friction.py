"""Friction models as columns of a regressor."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.estimation.torque.friction import DISSIPATIVE, PLAIN, TERMS, FrictionModel


def test_columns_are_those_of_the_formulas() -> None:
    model = FrictionModel((*TERMS, "stribeck:0.3", "saturating:2"), "smooth", smoothing_speed=0.02)
    q, dq = np.random.default_rng(0).normal(size=(2, 50, 3))
    load = np.random.default_rng(1).normal(0.0, 20.0, (50, 3))
    side = model.directions(np.zeros_like(dq), dq)
    found = model.columns(q, dq, side, load)
    assert tuple(found) == model.terms
    np.testing.assert_allclose(side, np.tanh(dq / 0.02))
    expected = {
        "viscous": dq,
        "forward": np.where(dq > 0.0, dq, 0.0),
        "backward": np.where(dq < 0.0, dq, 0.0),
        "coulomb": side,
        "stribeck": side * np.exp(-((dq / 0.1) ** 2)),
        "stribeck:0.3": side * np.exp(-((dq / 0.3) ** 2)),
        "saturating": np.tanh(dq / 0.5),
        "saturating:2": np.tanh(dq / 2.0),
        "quadratic": dq * np.abs(dq),
        "load": side * np.abs(load),
        "offset": np.ones_like(dq),
        "spring": q,
        "sine": np.sin(q),
        "cosine": np.cos(q),
        "sine2": 2.0 * np.sin(q) * np.cos(q),
        "cosine2": 1.0 - 2.0 * np.sin(q) ** 2,
        "sine3": 3.0 * np.sin(q) - 4.0 * np.sin(q) ** 3,
        "cosine3": 4.0 * np.cos(q) ** 3 - 3.0 * np.cos(q),
        "sine4": 2.0 * np.sin(2.0 * q) * np.cos(2.0 * q),
        "cosine4": 1.0 - 2.0 * np.sin(2.0 * q) ** 2,
        "sine6": 2.0 * np.sin(3.0 * q) * np.cos(3.0 * q),
        "cosine6": 1.0 - 2.0 * np.sin(3.0 * q) ** 2,
    }
    assert expected.keys() == found.keys()
    for term, column in expected.items():
        np.testing.assert_allclose(found[term], column, atol=1e-14, err_msg=term)
    assert not model.columns(q, dq, side)["load"].any()


def test_friction_takes_energy_out_of_any_motion() -> None:
    model = FrictionModel(DISSIPATIVE, "smooth")
    q, dq = np.linspace(-3.0, 3.0, 2 * 601).reshape(2, 601, 1)[::-1]
    for column in model.columns(q, dq, model.directions(dq, dq), np.full_like(dq, 7.0)).values():
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
    for term in ("stribeck:0", "stribeck:fast", "saturating:-1", "viscous:0.1", "stribeck:"):
        with pytest.raises(InputError, match=r"as in stribeck:0\.05"):
            FrictionModel((term,))
    for name in ("smoothing_speed", "presliding_distance"):
        with pytest.raises(InputError, match=name):
            FrictionModel(**{name: 0.0})
    with pytest.raises(InputError, match="shape"):
        FrictionModel().directions(np.zeros((3, 2)), np.zeros((4, 2)))
    assert PLAIN.terms == ("viscous", "coulomb", "offset")
