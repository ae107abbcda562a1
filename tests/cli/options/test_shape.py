"""The options of a shape, and the command with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from iparam.cli.options.shape import ShapeOptions
from iparam.errors import IparamError


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    path = tmp_path / "box.stl"
    trimesh.creation.box([100.0, 50.0, 50.0]).export(path)
    return path


def test_the_options_place_scale_and_weigh_a_shape(mesh: Path) -> None:
    options = ShapeOptions(
        shape=mesh, shape_scale=0.001, shape_pose=(0.1, 0.0, 0.0, 0.0, 0.0, 90.0), density=("body=2600:2800",)
    )
    shape = options.known_shape()
    assert shape is not None
    np.testing.assert_allclose(shape.body(1.0).center_of_mass, [0.1, 0.0, 0.0], atol=1e-9)
    assert np.ptp(shape.parts[0].outline[:, 1]) > 0.09  # turned: long along y
    assert shape.parts[0].density == (2600.0, 2800.0)
    assert ShapeOptions().known_shape() is None
    box = ShapeOptions(shape_box=(0.1, 0.2, 0.3, 0.0, 0.0, 0.1)).known_shape()
    assert box is not None
    assert box.vague


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"density": ("body=2700",)}, "add --shape"),
        ({"shape_tolerance": 0.002}, "--shape-tolerance says something of a shape"),
        ({"shape_box": (0.1, 0.2)}, "--shape-box needs 3"),
        ({"shape_box": (0.1, 0.2, 0.3), "shape": "MESH"}, "leave one of the two out"),
        ({"shape": "MESH", "shape_scale": 0.001, "shape_pose": (1.0, 2.0)}, "--shape-pose needs 6"),
        ({"shape": "MESH", "shape_scale": 0.001, "density": ("2700",)}, "PART=KG/M3"),
        ({"shape": "MESH", "shape_scale": 0.001, "density": ("lid=2700",)}, "lid"),
        ({"shape": "MESH", "shape_scale": 0.001, "density": ("body=2.7g/cm3",)}, r"numbers in kg/m\^3"),
        ({"shape": "MESH"}, r"shape_scale = 0\.001"),
        ({"shape_box": (0.1, 0.2, 0.3), "shape_scale": 0.001}, "--shape-scale says something of a shape"),
        ({"shape_box": (100.0, 200.0, 300.0)}, "all in metres"),
    ],
)
def test_wrong_options_say_what_is_right(mesh: Path, options: dict[str, Any], word: str) -> None:
    given = {key: mesh if value == "MESH" else value for key, value in options.items()}
    with pytest.raises(IparamError, match=word):
        ShapeOptions(**given).known_shape()
