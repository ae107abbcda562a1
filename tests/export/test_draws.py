"""Draws of a load: files that others read as bodies, a table, and what each says of itself."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.export import FORMATS, IdentifiedLoad, draw_loads, draws_to_csv, export_load, to_csv, to_mjcf
from iparam.spatial import is_physically_consistent


@pytest.fixture
def known(load: IdentifiedLoad) -> IdentifiedLoad:
    deviations = np.array([2e-3, 1e-4, 1e-4, 1e-4, *[2e-4] * 6])
    return replace(load, covariance_phi=np.diag(deviations**2))


def table(text: str) -> np.ndarray:
    return np.genfromtxt(StringIO("".join(f"{line}\n" for line in text.splitlines() if line[0] != "#")), delimiter=",")


def test_each_draw_is_a_body_and_a_model_of_mujoco(known: IdentifiedLoad) -> None:
    mujoco = pytest.importorskip("mujoco")
    drawn = draw_loads(known, 20, seed=3)
    assert drawn.share > 0.99
    assert drawn.caution == ""
    for load in drawn.loads:
        assert is_physically_consistent(load.phi)
        body = to_mjcf(load).replace("<mujocoinclude>", "<mujoco><worldbody>")
        model = mujoco.MjModel.from_xml_string(body.replace("</mujocoinclude>", "</worldbody></mujoco>"))
        assert model.body_mass[1] == pytest.approx(load.mass, rel=1e-12)
        np.testing.assert_allclose(
            np.sort(model.body_inertia[1]), np.linalg.eigvalsh(load.inertia_about_com), rtol=1e-9
        )


def test_mass_center_and_inertia_scatter_as_their_deviations_say(known: IdentifiedLoad) -> None:
    """The table's columns are functions of phi: to first order their deviations are those of the comment."""
    rows = table(draws_to_csv(draw_loads(known, 2000).loads))[1:]
    assert rows.shape == (2000, 10)
    mean = np.array([known.mass, *known.center_of_mass, *known.inertia_about_com[np.triu_indices(3)]])
    assert known.deviations is not None
    assert np.abs((rows.mean(axis=0) - mean) / known.deviations).max() < 4.5 / np.sqrt(2000)
    assert np.abs(rows.std(axis=0) / known.deviations - 1.0).max() < 4.5 / np.sqrt(2 * 2000)


def test_one_load_is_a_table_of_one_row(load: IdentifiedLoad) -> None:
    text = to_csv(load)
    assert text.splitlines()[-2].startswith("mass,center_of_mass_x,center_of_mass_y,center_of_mass_z,inertia_xx,")
    assert table(text)[1].tolist() == [2.0, 0.07, 0.06, 0.09, 0.0306, 0.0004, 0.0006, 0.024, -0.0132, 0.013]


@pytest.mark.parametrize("name", ["urdf", "mjcf", "sdf", "csv"])
def test_the_comment_states_the_uncertainty(name: str, known: IdentifiedLoad, load: IdentifiedLoad) -> None:
    text = export_load(known, name)
    assert "Uncertainty of the estimate, in tool0: standard deviations" in text
    assert "mass 0.002 kg; centre of mass x y z 8.6e-05 7.8e-05 0.0001 m;" in text
    assert "Uncertainty" not in export_load(load, name)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_that_it_is_a_draw(name: str, known: IdentifiedLoad) -> None:
    if name == "usd":
        pytest.importorskip("pxr")
    drawn = draw_loads(known, 2, seed=4).loads[1]
    assert "Draw 2 of 2 from the posterior of the load (seed 4), not the estimate itself." in export_load(drawn, name)


def test_by_hand_the_deviation_of_the_center(known: IdentifiedLoad) -> None:
    """c = h / m: sd(c)^2 = (sd(h)^2 + c^2 sd(m)^2) / m^2, here (1e-8 + 0.0049 * 4e-6) / 4 for x."""
    assert known.deviations is not None
    assert known.deviations[1] == pytest.approx(np.sqrt((1e-8 + 0.0049 * 4e-6) / 4.0), rel=1e-12)


def test_without_a_covariance_there_is_nothing_to_draw_from(load: IdentifiedLoad) -> None:
    with pytest.raises(InputError, match="states no covariance"):
        draw_loads(load, 3)
