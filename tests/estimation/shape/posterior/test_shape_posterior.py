"""Data and shape together: silence is filled, good data win, intervals hold what they say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.estimation.shape.conftest import box_points, hollow_box

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import Shape
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.shape.contradiction import LIKELIER
from iparam.estimation.shape.posterior.cells import shape_cells
from iparam.estimation.shape.posterior.density_model import DensityModel
from iparam.estimation.shape.posterior.prior import SIZES, hypotheses
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.estimation.shape.posterior.shape_posterior import WRONG, shape_posterior
from iparam.estimation.shape.posterior.summary import LARGEST_MOVE, shrink_to_ellipsoid
from iparam.spatial import inertia_entries, is_physically_consistent
from iparam.spatial.derived import derived_covariance, mass_com_inertia

AT_REST = np.array([1e-3, *[1e-4] * 3, *[np.inf] * 6])
PRECISE = np.array([1e-4, *[1e-5] * 3, *[1e-5] * 6])


def rows_of(
    body: iparam.InertialParameters, deviations: FloatArray, rng: np.random.Generator | None = None
) -> DataRows:
    """Data with those standard deviations (10,) of phi, infinite for none; without errors if no ``rng``."""
    seen = np.isfinite(deviations)
    rows = np.diag(1.0 / deviations)[seen]
    errors = 0.0 if rng is None else rng.standard_normal(int(seen.sum()))
    return DataRows(rows, rows @ body.phi + errors)


def errors(found: FloatArray, body: iparam.InertialParameters) -> FloatArray:
    """(6,) of the inertia about the centre of mass, as shares of its largest moment."""
    gap = iparam.InertialParameters.from_phi(found).inertia_about_com - body.inertia_about_com
    return np.asarray(inertia_entries(gap) / np.linalg.eigvalsh(body.inertia_about_com)[-1])


def test_a_good_shape_tells_the_inertia_where_the_data_say_nothing_of_it(hammer: Shape) -> None:
    body = hammer.body(0.6, densities=[1.0, 1.0])
    found = shape_posterior(hammer, rows_of(body, AT_REST), 0.6)
    assert np.abs(errors(found.phi, body)).max() < 0.03
    assert found.wrong < 0.05
    # A steel head on a wooden handle: the centre of mass tells which is heavier.
    body = hammer.body(0.6, densities=[0.7, 7.85])
    found = shape_posterior(hammer, rows_of(body, AT_REST), 0.6)
    uniform = np.abs(errors(hammer.body(0.6).phi, body)).max()
    assert np.abs(errors(found.phi, body)).max() < 0.25 * uniform
    assert found.densities[1, 0] > 4.0 * found.densities[0, 0]


def test_every_sample_and_their_mean_are_possible_bodies(hammer: Shape) -> None:
    found = shape_posterior(hammer, rows_of(hammer.body(0.6), AT_REST, np.random.default_rng(0)), 0.6)
    assert np.all(is_physically_consistent(found.samples))
    assert is_physically_consistent(found.phi)


@pytest.mark.thorough
def test_intervals_hold_95_percent_of_the_loads_that_are_held_possible(hammer: Shape) -> None:
    """Bodies drawn from all of the prior in its proportions, at rest: as many as stated, not fewer and not all."""
    mass, rng = 0.6, np.random.default_rng(5)
    model, tried = DensityModel(shape_cells(hammer), mass), hypotheses(hammer, mass, trusted=False)
    unit, chances = model.cells.to_tool(mass), np.exp(tried.belief) / np.exp(tried.belief).sum()
    inside = []
    for index in rng.choice(len(chances), size=60, p=chances).tolist():
        spread, factors = tried.spreads[index], np.ones(12)
        if tried.stated[index]:
            values, beliefs = np.array(SIZES).T
            factors[6:9] = rng.choice(values, size=3, p=beliefs)
        spread = dataclasses.replace(spread, surface=spread.surface * factors)
        z = model.means(spread) + rng.standard_normal(model.num_unknowns)
        z[0] = 0.0
        phi = unit @ model((z * model.scales(spread))[None])[0][0]
        body = iparam.InertialParameters.from_phi(phi * (mass / phi[0]))
        found = shape_posterior(hammer, rows_of(body, AT_REST, rng), mass)
        half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
        inside.append(np.abs(mass_com_inertia(found.phi) - mass_com_inertia(body.phi)) <= half)
    assert 0.91 < np.mean(inside) < 0.98
    assert np.mean(inside, axis=0).min() > 0.83  # of 60: three standard deviations below 95 %


def test_good_data_win_against_a_wrong_shape_and_it_is_said(hammer: Shape) -> None:
    body = iparam.InertialParameters.box(0.6, [0.2, 0.05, 0.1]).transformed(
        iparam.spatial.exp_se3([0.1, 0.3, 0.2, -0.05, 0.06, 0.1])
    )
    found = shape_posterior(hammer, rows_of(body, PRECISE, np.random.default_rng(1)), 0.6)
    assert found.wrong > WRONG
    unit = np.sqrt(np.diag(found.covariance))
    assert (np.abs(found.phi - body.phi) < 4.0 * unit).all()
    assert (unit < 3.0 * PRECISE).all()
    right = shape_posterior(hammer, rows_of(hammer.body(0.6, [1.0, 5.0]), PRECISE, np.random.default_rng(2)), 0.6)
    assert right.wrong < 0.1


def test_exact_data_and_a_known_density_do_no_harm(hammer: Shape) -> None:
    body = hammer.body(0.6, [1.0, 2.0])
    found = shape_posterior(hammer, rows_of(body, np.full(10, 1e-12)), 0.6)
    np.testing.assert_allclose(found.phi, body.phi, rtol=1e-3, atol=1e-5)
    density = 0.6 / hammer.volume
    known = hammer.with_densities({"handle": (density, density), "head": (density, density)})
    sure = shape_posterior(known, rows_of(known.body(0.6), AT_REST), 0.6)
    loose = shape_posterior(hammer, rows_of(known.body(0.6), AT_REST), 0.6)
    ratio = np.diag(sure.covariance)[4:] / np.diag(loose.covariance)[4:]
    assert ratio.max() < 1.2  # the place is as uncertain as before
    assert ratio.min() < 0.5


def test_a_shape_that_is_a_little_wrong_moves_no_more_than_good_data_allow(hammer: Shape) -> None:
    """Nobody can notice it; so it must not cost more than a fifth of the error, and it would cost twice that."""
    body = hammer.body(0.6, [1.0, 5.0])
    larger = hammer.deformed(np.diag([1.03, 1.03, 1.03, 1.0]))
    sharp = 0.1 * PRECISE
    rows = rows_of(body, sharp, np.random.default_rng(3))
    for shape in (hammer, larger):
        found = shape_posterior(shape, rows, 0.6)
        left = rows.rows @ found.phi - rows.values
        # Whitened, so that no linear combination of phi moves by more of its own standard deviation.
        assert np.linalg.norm(left) <= LARGEST_MOVE + 1e-6
        assert (np.diag(found.covariance) > (0.5 * sharp) ** 2).all()
        assert is_physically_consistent(found.phi)
    silent = rows_of(body, np.array([1e-3, *[1e-4] * 3, *[3e-3] * 6]), np.random.default_rng(4))
    found = shape_posterior(hammer, silent, 0.6)
    assert np.abs(errors(found.phi, body)).max() < 0.1
    assert np.abs(silent.rows[4:] @ found.phi - silent.values[4:]).max() > LARGEST_MOVE  # the shape won


def test_a_plate_of_the_wrong_thickness_moves_no_more_than_good_data_allow() -> None:
    """The data know its inertia to a thousandth and its thickness hardly: what they leave open is no reason to err."""
    size, scale = np.array([0.2, 0.06, 0.01]), np.diag([1.0, 1.0, 1.5, 1.0])
    plate = Shape.from_points(box_points(size, np.array([0.0, 0.0, 0.1])), np.full(512, np.prod(size) / 512))
    body = plate.body(0.2)
    deviations = np.array([1e-4, *[1e-5] * 3, *[5e-7] * 6])
    rows = rows_of(body, deviations, np.random.default_rng(0))
    free = np.linalg.solve(rows.rows, rows.values)
    alone = free if is_physically_consistent(free) else nearest_consistent(free, rows.information)
    found = shape_posterior(plate.deformed(scale), rows, 0.2)
    assert np.linalg.norm(rows.rows @ (found.phi - alone)) <= LARGEST_MOVE + 1e-3
    assert is_physically_consistent(found.phi)


def test_a_heavy_end_is_not_one_of_solid_parts(hammer: Shape) -> None:
    ends = []
    for part in hammer.parts:
        along = part.points[:, 1] - part.points[:, 1].mean()
        ends.append(np.exp(2.5 * along / np.abs(along).max()))
    uneven = Shape(
        tuple(
            dataclasses.replace(part, volumes=part.volumes * end) for part, end in zip(hammer.parts, ends, strict=True)
        )
    )
    found = shape_posterior(hammer, rows_of(uneven.body(0.6), PRECISE, np.random.default_rng(1)), 0.6)
    assert found.unlikely > LIKELIER
    solid = shape_posterior(hammer, rows_of(hammer.body(0.6, [1.0, 5.0]), PRECISE, np.random.default_rng(1)), 0.6)
    assert solid.unlikely < LIKELIER


def test_a_move_is_taken_to_the_nearest_point_of_the_ellipsoid() -> None:
    most, moved = np.array([0.5, 0.5, 1e4]), np.array([3.0, -4.0, 100.0])
    kept = shrink_to_ellipsoid(moved, most)
    there = kept * moved
    np.testing.assert_allclose(np.sum((there / most) ** 2), 1.0, rtol=1e-9)
    step, normal = there - moved, there / most**2
    np.testing.assert_allclose(np.cross(step, normal), 0.0, atol=1e-9 * np.linalg.norm(normal))  # along the normal
    assert kept[2] > 0.999  # what the data do not determine stays
    np.testing.assert_array_equal(shrink_to_ellipsoid(0.1 * most, most), 1.0)


def test_stated_intervals_hold_95_percent_of_the_samples(hammer: Shape) -> None:
    found = shape_posterior(hammer, rows_of(hammer.body(0.6, [1.0, 5.0]), AT_REST, np.random.default_rng(0)), 0.6)
    half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
    inside = np.abs(mass_com_inertia(found.samples) - mass_com_inertia(found.phi)) <= half
    np.testing.assert_allclose(inside.mean(axis=0), 0.95, atol=0.02)


def test_a_shape_in_its_place_may_still_be_too_thick(hammer: Shape) -> None:
    """A centre of mass that fits says nothing of the thickness, which rests do not show."""
    handle = Shape(hammer.parts[:1])
    known = handle.with_densities({"handle": (0.6 / (0.75 * handle.volume),) * 2})
    squeeze = np.diag([0.75, 1.0, 1.0, 1.0])
    squeeze[0, 3] = 0.25 * 0.02  # in its place, where each side is off by almost four tolerances
    body = handle.deformed(squeeze).body(0.6)
    found = shape_posterior(known, rows_of(body, AT_REST, np.random.default_rng(0)), 0.6)
    assert found.wrong < 0.1
    half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
    assert (np.abs(mass_com_inertia(found.phi) - mass_com_inertia(body.phi)) <= half).all()


def test_a_load_that_is_lighter_than_plastic_may_be_hollow(hammer: Shape) -> None:
    """The mass tells at rest that it is not solid; how it is, nothing tells."""
    handle, size, place = Shape(hammer.parts[:1]), np.array([0.03, 0.025, 0.24]), np.array([0.02, 0.0, 0.15])
    light, heavy = 400.0 * handle.volume, 2700.0 * handle.volume
    widths = {}
    for mass in (light, heavy):
        body = handle.body(mass)
        found = shape_posterior(handle, rows_of(body, AT_REST), mass)
        half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
        gap = np.abs(mass_com_inertia(found.phi) - mass_com_inertia(body.phi))
        assert (gap <= half).all()
        # About its axis, where most of it is farther out; not so its length, which walls hardly change.
        widths[mass] = half[9] / body.inertia_about_com[2, 2]
        assert gap[9] < 0.05 * body.inertia_about_com[2, 2]  # solid is still what is most likely
        if mass == light:  # as walls of aluminium are, of 1 mm
            hollow = hollow_box(mass, size, place, wall=0.001)
            assert hollow.inertia_about_com[2, 2] > 1.5 * body.inertia_about_com[2, 2]
            assert (np.abs(mass_com_inertia(found.phi) - mass_com_inertia(hollow.phi)) <= half).all()
    assert widths[heavy] < 0.6 * widths[light]
    unitless = Shape(tuple(dataclasses.replace(part, volumes=1e6 * part.volumes) for part in handle.parts))
    found = shape_posterior(unitless, rows_of(handle.body(heavy), AT_REST), heavy)
    half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
    assert half[9] / handle.body(heavy).inertia_about_com[2, 2] > 1.5 * widths[heavy]  # nobody can tell its density
