"""Estimates of parameters that are known from elsewhere."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation import Estimate

BODY = iparam.InertialParameters.box(8.1, [0.1, 0.15, 0.2])
PHI = BODY.phi + 0.0


def test_phi_becomes_mass_centre_and_inertia() -> None:
    found = Estimate.from_phi(np.array([2.0, 0.1, -0.2, 0.3, 0.13, 0.0, 0.03, 0.12, 0.06, 0.1]))
    assert found.mass == 2.0
    np.testing.assert_allclose(found.center_of_mass, [0.05, -0.1, 0.15], rtol=1e-15)
    # Steiner by hand: I - m (c.c E - c c')
    center = np.array([0.05, -0.1, 0.15])
    about_origin = np.array([[0.13, 0.0, 0.03], [0.0, 0.12, 0.06], [0.03, 0.06, 0.1]])
    np.testing.assert_array_equal(found.inertia_about_origin, about_origin)
    shift = 2.0 * (center @ center * np.eye(3) - np.outer(center, center))
    np.testing.assert_allclose(found.inertia_about_com, about_origin - shift, rtol=0, atol=1e-16)


def test_a_precision_that_nobody_knows_is_not_made_up(tmp_path: Path) -> None:
    found = Estimate.from_phi(PHI)
    assert np.isnan(found.covariance_phi).all()
    assert np.isnan(found.standard_deviation.mass)
    assert found.complete
    assert found.assessment["verdict"] == "usable"
    assert "nan" not in str(found) + repr(found) + found._repr_html_()
    found.save(tmp_path / "e.json")
    again = Estimate.load(tmp_path / "e.json")
    np.testing.assert_array_equal(again.phi, PHI)
    assert np.isnan(again.covariance_phi).all()
    stated = iparam.export.read_load(tmp_path / "e.json")
    for load in (stated, iparam.export.IdentifiedLoad.from_estimate(found, "tool0")):
        for name in set(iparam.export.FORMATS) - {"csv"}:  # which is for draws
            text = iparam.export.export_load(load, name)
            assert "8.1" in text, name
            assert not re.search(r"\bnan\b", text, re.IGNORECASE), name


def test_a_file_that_lost_only_a_part_of_its_deviations_is_refused(tmp_path: Path) -> None:
    found = Estimate.from_phi(PHI, np.diag(PHI**2 + 1.0))
    lost = dataclasses.replace(found, covariance_phi=np.full((10, 10), np.nan))
    lost.save(tmp_path / "e.json")
    with pytest.raises(iparam.FileFormatError, match="covariance_phi"):
        Estimate.load(tmp_path / "e.json")


def test_a_known_covariance_is_that_of_the_estimate() -> None:
    covariance = np.diag(np.arange(1.0, 11.0) * 1e-6)
    found = Estimate.from_phi(PHI, covariance, method="batch ls")
    assert found.method == "batch ls"
    np.testing.assert_array_equal(found.covariance_phi, covariance)
    np.testing.assert_allclose(found.standard_deviation.phi, np.sqrt(np.arange(1.0, 11.0)) * 1e-3)
    assert found.standard_deviation.mass == pytest.approx(1e-3)


@pytest.mark.parametrize("wrong", [np.ones(9), np.ones((2, 10)), np.full(10, np.nan), "ten"])
def test_what_is_no_phi(wrong: object) -> None:
    with pytest.raises(InputError):
        Estimate.from_phi(wrong)  # type: ignore[arg-type]
