"""Shapes check themselves, and are bodies like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.estimation import Part, Shape
from iparam.spatial import exp_se3


def test_a_shape_of_one_density_is_the_body_that_it_fills(hammer: Shape) -> None:
    handle = iparam.InertialParameters.box(0.18, [0.03, 0.025, 0.24]).transformed(exp_se3([0, 0, 0, 0.02, 0, 0.15]))
    head = iparam.InertialParameters.box(0.1155, [0.03, 0.11, 0.035]).transformed(exp_se3([0, 0, 0, 0.02, 0.01, 0.28]))
    np.testing.assert_allclose(hammer.body(0.2955).phi, (handle + head).phi, rtol=1e-12, atol=1e-15)
    denser = hammer.body(0.18 + 3 * 0.1155, densities=[1.0, 3.0])
    np.testing.assert_allclose(denser.phi, (handle + head + head + head).phi, rtol=1e-12, atol=1e-15)
    pose = exp_se3([0.2, 0.3, -0.4, 0.1, 0.0, 0.2])
    np.testing.assert_allclose(
        hammer.placed(pose).body(1.0).phi, hammer.body(1.0).transformed(pose).phi, rtol=1e-9, atol=1e-12
    )


def test_a_box_is_a_volume_of_unknown_filling() -> None:
    shape = Shape.box([0.1, 0.2, 0.3], [0.0, 0.0, 0.15])
    solid = iparam.InertialParameters.box(2.0, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(shape.body(2.0).inertia_about_com, solid.inertia_about_com, rtol=1e-9, atol=1e-15)
    assert shape.vague
    assert shape.volume == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"points": np.zeros((3, 2))}, "points"),
        ({"volumes": [1.0, -1.0, 1.0]}, "not positive"),
        ({"volumes": [1.0]}, "as many volumes"),
        ({"points": 1000.0 * np.eye(3)}, "scale = 0.001"),
        ({"points": [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]]}, "fill no volume"),
        ({"points": np.full((3, 3), np.nan)}, "finite"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_what_is_no_shape_is_refused(change: dict[str, object], word: str) -> None:
    given: dict[str, Any] = {"points": 0.1 * np.eye(3), "volumes": np.ones(3), "tolerance": 1e-3}
    with pytest.raises(InputError, match=word):
        Shape.from_points(**given | change)


def test_densities_are_of_parts_that_are_there_and_of_materials(hammer: Shape) -> None:
    known = hammer.with_densities({"head": (7850.0, 7850.0)})
    assert [part.density for part in known.parts] == [None, (7850.0, 7850.0)]
    with pytest.raises(UnknownNameError, match="handle"):
        hammer.with_densities({"heed": (7850.0, 7850.0)})
    for density in ((0.0, 1.0), (3.0, 2.0), (1.0, 7.8e6)):
        with pytest.raises(InputError, match="2700 aluminium"):
            hammer.with_densities({"head": density})
    with pytest.raises(InputError, match="different names"):
        Shape((hammer.parts[0], Part("handle", hammer.parts[1].moments, hammer.parts[1].outline)))
