"""What would explain data that contradict a shape."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.estimation.shape.conftest import box_points, hollow_box

from iparam.arrays import FloatArray
from iparam.estimation import Shape
from iparam.estimation.shape.contradiction import believed_densities, contradiction, unevenness
from iparam.estimation.shape.posterior.placement import placed_posterior
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.spatial.transforms import exp_so3, rotation_from_rpy, transform_from

AT_REST = np.diag([1e3, *[1e4] * 3, *[0.0] * 6])[:4]
MOVING = np.diag([1e3, *[1e4] * 3, *[1e5] * 6])


def said_of(shape: Shape, rows: FloatArray, phi: FloatArray) -> str:
    data = DataRows(rows, rows @ phi)
    found, _ = placed_posterior(shape, data, phi[0])
    return contradiction(shape, data, phi[0], found, telling=len(rows) == 10)


def test_a_file_in_another_frame_is_said_to_be_elsewhere(hammer: Shape) -> None:
    """From rests: nothing of it is mirrored or scaled, which would explain such a centre of mass as well by chance."""
    phi = hammer.body(1.5, densities=[1.0, 3.0]).phi
    shift = np.eye(4)
    shift[:3, 3] = 0.0, 0.2, -0.1
    said = said_of(hammer.deformed(shift), AT_REST, phi)
    assert "in another place" in said
    assert "--shape-pose estimate" in said  # and no numbers: other densities have the same centre of mass elsewhere
    assert "several materials" not in said  # which it has


def test_one_body_that_the_data_contradict_may_be_of_several_materials(hammer: Shape) -> None:
    points, volumes = (np.concatenate([getattr(part, name) for part in hammer.parts]) for name in ("points", "volumes"))
    shift = np.eye(4)
    shift[1, 3] = 0.3
    said = said_of(Shape.from_points(points, volumes).deformed(shift), AT_REST, hammer.body(1.5).phi)
    assert "If it is of several materials, each needs a body of its own in the file." in said


def test_rests_never_say_that_they_show_an_inertia(hammer: Shape) -> None:
    phi = hammer.body(1.5).phi
    shift = np.eye(4)
    shift[:3, 3] = 0.0, 0.3, 0.0
    assert "they show a centre of mass along y" in said_of(hammer.deformed(shift), AT_REST, phi)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_densities_that_rests_speak_against_are_left_open(hammer: Shape, factor: float) -> None:
    phi = hammer.body(1.5).phi
    data, density = DataRows(AT_REST, AT_REST @ phi), factor * 1.5 / hammer.volume
    found, said = believed_densities(
        hammer.with_densities(dict.fromkeys(("head", "handle"), (density,) * 2)), data, 1.5
    )
    assert all(part.density is None for part in found.parts)
    assert "The data contradict a stated density" in said
    assert f"not {density:.0f}" in said
    assert "inertia" not in said


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_density_is_found_by_motion_too_and_its_value_told(hammer: Shape, factor: float) -> None:
    body = hammer.body(1.5, densities=[1.0, 3.0])
    true = 3.0 * 1.5 / (hammer.parts[0].volume + 3.0 * hammer.parts[1].volume)
    data, given = DataRows(MOVING, MOVING @ body.phi), factor * true
    _, said = believed_densities(hammer.with_densities({"head": (0.95 * given, 1.05 * given)}), data, 1.5)
    told = float(said.split("of head (")[1].split(" kg/m^3")[0])
    assert abs(told / true - 1.0) < 0.1
    right = hammer.with_densities({"head": (0.95 * true, 1.05 * true)})
    assert believed_densities(right, data, 1.5) == (right, "")
    assert not said_of(right, MOVING, body.phi)


def test_a_shape_whose_place_is_sought_can_be_wrong_as_well(hammer: Shape) -> None:
    phi = hammer.body(1.5, densities=[1.0, 3.0]).phi
    assert not said_of(hammer.roughly(0.02, 0.3), MOVING, phi)
    flat = hammer.deformed(np.diag([1.0, 0.3, 0.3, 1.0]))
    assert said_of(flat.roughly(0.02, 0.3), MOVING, phi)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("rows", [AT_REST, MOVING])
def test_a_file_in_another_unit_would_be_of_no_material(hammer: Shape, rows: FloatArray, factor: float) -> None:
    body = hammer.body(2700.0 * hammer.volume)
    assert not said_of(hammer, rows, body.phi)
    center = body.center_of_mass
    T = np.diag([factor] * 3 + [1.0])
    T[:3, 3] = (1.0 - factor) * center
    said = said_of(hammer.deformed(T), rows, body.phi)
    assert f"if it were {1.0 / factor:.2g} times as long" in said
    assert "--shape-scale" in said


def test_points_whose_volumes_have_another_unit_are_of_no_density(hammer: Shape) -> None:
    body = hammer.body(2700.0 * hammer.volume)
    parts = tuple(dataclasses.replace(part, volumes=1e9 * part.volumes) for part in hammer.parts)
    assert not dataclasses.replace(hammer, parts=parts).metric
    assert not said_of(dataclasses.replace(hammer, parts=parts), AT_REST, body.phi)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("axis", range(3))
def test_a_turned_file_is_said_to_be_turned(hammer: Shape, axis: int) -> None:
    middle = hammer.bounds[1]
    T = np.eye(4)
    T[:3, :3] = exp_so3(np.radians(90.0) * np.eye(3)[axis])
    T[:3, 3] = middle - T[:3, :3] @ middle
    said = said_of(hammer.deformed(T), MOVING, hammer.body(1.5, densities=[1.0, 3.0]).phi)
    assert said.count("turned by") == 1
    told = said.split(f"about {'xyz'[axis]} in its place (--shape-pose ")[1].split(")")[0]
    assert "-0 " not in told
    numbers = np.array([float(word) for word in told.split()])
    pose = transform_from(rotation_from_rpy(np.radians(numbers[3:])), numbers[:3])
    # What is said puts it back, up to what it looks the same from.
    assert not said_of(hammer.deformed(T).placed(pose), MOVING, hammer.body(1.5, densities=[1.0, 3.0]).phi)


@pytest.mark.parametrize("density", [1500.0, 2700.0])
def test_a_hollow_part_is_said_to_be_one(density: float) -> None:
    """That a load may be hollow is no contradiction, whatever its mean density."""
    size, place = np.array([0.12, 0.1, 0.08]), np.array([0.02, 0.0, 0.15])
    box = Shape.from_points(box_points(size, place), np.full(512, np.prod(size) / 512))
    phi = hollow_box(density * box.volume, size, place, wall=0.005).phi
    data = DataRows(MOVING, MOVING @ phi)
    found, _ = placed_posterior(box, data, phi[0])
    assert not contradiction(box, data, phi[0], found, telling=True)
    assert "Hollow or uneven parts would explain that" in unevenness(box, data, found)
    np.testing.assert_allclose(found.phi, phi, rtol=0.02, atol=1e-6)


def test_a_density_within_what_was_given_is_not_called_another_one(hammer: Shape) -> None:
    handle = Shape(hammer.parts[:1])
    density = 1.5 / handle.volume
    given = handle.with_densities({"handle": (0.3 * density, 2.0 * density)})
    phi = handle.deformed(grown(handle)).body(1.5).phi
    _, said = believed_densities(given, DataRows(MOVING, MOVING @ phi), 1.5)
    assert "another mean density" not in said
    assert "hollow" in said


def grown(shape: Shape) -> FloatArray:
    """(4, 4) a quarter larger in its place, which has the second moments of a thin shell."""
    T = np.diag([1.25] * 3 + [1.0])
    T[:3, 3] = -0.25 * shape.body(1.0).center_of_mass
    return T
